package understand

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
)

// What voice obeys, chat obeys, and the same way: the sentences that voice is tried with mean the same where the building has names.
func TestChatObeysWhatVoiceObeys(t *testing.T) {
	names := house()
	acting, apart := 0, 0
	for _, file := range []string{"../voice/testdata/utterances.jsonl", "../voice/testdata/otherwise.jsonl"} {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for in := bufio.NewScanner(f); in.Scan(); {
			var l struct {
				Text string `json:"text"`
			}
			if err := json.Unmarshal(in.Bytes(), &l); err != nil {
				t.Fatal(err)
			}
			voice := Read(l.Text, Names{}, now)
			if len(voice.Do) == 0 || voice.Unclear != nil {
				if chat := Read(l.Text, names, now); len(chat.Do) > 0 && chat.Unclear == nil && len(chat.Do[0].Places) == 0 {
					t.Errorf("%q: voice does nothing, chat %s", l.Text, chat)
				}
				continue
			}
			acting++
			chat := Read(l.Text, names, now)
			switch {
			case chat.String() == voice.String():
			case chat.Unclear != nil && (chat.Unclear.Why == Elsewhere || chat.Unclear.Why == Missing): // "in here" is nowhere for who writes
				apart++
			case len(chat.Do) == 1 && len(chat.Do[0].Places) > 0 && chat.Do[0].Switch == voice.Do[0].Switch: // the building has meeting rooms
				apart++
			default:
				t.Errorf("%q: voice hears %s, chat %s", l.Text, voice, chat)
			}
		}
	}
	if apart > 20 {
		t.Errorf("%d of %d orders differ", apart, acting)
	}
	t.Logf("%d orders, %d of them of “here”, which is nowhere for who writes, or of rooms that the building has", acting, apart)
}
