package understand

import "testing"

// A question is read in well under a millisecond, whatever is said around it.
func BenchmarkTalk(b *testing.B) {
	names := house()
	for b.Loop() {
		Read("Sorry to bother you again, but my boss would really like to know, if you don't mind, which lights are still on in the lobby, thanks a lot", names, now)
		Read("Entschuldigen Sie die Störung, mein Chef würde gern mal wissen, welche Lampen in der Lobby noch brennen, vielen Dank im Voraus", names, now)
	}
}

func BenchmarkLexicons(b *testing.B) {
	for b.Loop() {
		readLexicon(English, english+absentIn(English), talkEnglish)
		readLexicon(German, german+absentIn(German), talkGerman)
	}
}
