package understand

import (
	"strings"
	"testing"
)

// Words that may change what is asked are in no class of words that add nothing, wherever they stand.
func TestWhatAddsNothingChangesNothing(t *testing.T) {
	for lang, words := range map[Lang]string{
		English: "not never no none only except without other next last back still again already almost nearly every each all both any some more less most least since until before after yesterday tomorrow " +
			"today tonight on off up down open closed lights which who when where why how many average than and or lobby",
		German: "nicht nie kein nur ausser ohne andere nächste letzte zurück noch wieder schon fast jede alle beide mehr weniger am seit bis vor nach gestern morgen heute an aus auf zu offen geschlossen lichter welche " +
			"wer wann wo warum wie viele durchschnitt als und",
	} {
		for w := range strings.FieldsSeq(words) {
			s := &sentence{t: cut("xx " + w + " xx"), lex: lexicons[lang], f: Frame{Lang: lang}}
			if s.asideless(Names{}); len(s.t) != 3 {
				t.Errorf("%q adds nothing to a question", w)
			}
			s = &sentence{t: cut(w + " xx yy"), lex: lexicons[lang], f: Frame{Lang: lang}}
			if s.asideless(Names{}); len(s.t) != 3 {
				t.Errorf("%q adds nothing to the beginning of a question", w)
			}
		}
	}
}
