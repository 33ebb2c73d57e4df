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
	same := func(text string) {
		voice := Read(text, Names{}, now)
		chat := Read(text, names, now)
		if len(voice.Do) == 0 || voice.Unclear != nil {
			if len(chat.Do) > 0 && chat.Unclear == nil && len(chat.Do[0].Places) == 0 {
				t.Errorf("%q: voice does nothing, chat %s", text, chat)
			}
			return
		}
		acting++
		switch {
		case chat.String() == voice.String():
		case chat.Unclear != nil && (chat.Unclear.Why == Elsewhere || chat.Unclear.Why == Missing): // "in here" is nowhere for who writes
			apart++
		case len(chat.Do) == 1 && len(chat.Do[0].Places) > 0 && chat.Do[0].Switch == voice.Do[0].Switch: // the building has meeting rooms
			apart++
		case len(chat.Do) == 0 && len(chat.Places) > 0: // likewise: "the meeting is over"
			apart++
		default:
			t.Errorf("%q: voice hears %s, chat %s", text, voice, chat)
		}
	}
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
			same(l.Text)
		}
	}
	for _, l := range readSet(t, "room.tsv") {
		same(l.text)
	}
	if apart*100 > 3*acting {
		t.Errorf("%d of %d orders differ", apart, acting)
	}
	t.Logf("%d orders, %d of them of “here”, which is nowhere for who writes, or of rooms that the building has", acting, apart)
}
