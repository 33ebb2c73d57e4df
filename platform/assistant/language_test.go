package assistant

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/sitetest"
)

// words that stand in no German sentence of the assistant.
var englishWords = regexp.MustCompile(`(?i)\b(the|to|what|reading|looking|routed|answer|is|ready|online|not measured|of)\b`)

// Stages, the state and proposals are in the language of the question; where there are no words, in the one that the asker prefers.
func TestWhatIsSaidBesideAnAnswerIsInItsLanguage(t *testing.T) {
	e := on(sitetest.New())
	german := func(what string, r platform.Reply, err error) platform.Reply {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		texts := []string{}
		for _, u := range r.Updates {
			texts = append(texts, u.Message)
		}
		if len(texts) == 0 {
			t.Errorf("%s has no stages", what)
		}
		for _, text := range texts {
			if bad := englishWords.FindAllString(text, -1); bad != nil {
				t.Errorf("%s: English %v in the stage %q", what, bad, text)
			}
		}
		return r
	}
	ask := func(in platform.Inquiry) platform.Reply {
		t.Helper()
		in.Owner, in.Session, in.Control = "ada", "s", true
		r, err := e.Ask(t.Context(), in, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	german("a question", ask(platform.Inquiry{Message: "Welche Lichter sind an?"}), nil)
	german("an order", ask(platform.Inquiry{Message: "Schalte das Licht in der Lobby aus"}), nil)
	german("its yes", ask(platform.Inquiry{Message: "ok"}), nil)
	if r := ask(platform.Inquiry{Message: "ja"}); !strings.HasPrefix(r.Text, "Nichts wartet auf ein Ja oder Nein.") {
		t.Errorf("a yes to nothing: %s", r.Text)
	}
	for _, u := range ask(platform.Inquiry{Message: "Which lights are on?", Lang: "de"}).Updates { // the words count
		if strings.Contains(u.Message, "Frage") {
			t.Errorf("an English question has the stage %q", u.Message)
		}
	}

	r, err := e.Health(t.Context(), platform.Inquiry{Owner: "ada", Lang: "de"})
	german("the state", r, err)
	if bad := englishWords.FindAllString(strings.ReplaceAll(r.Text, "online", ""), -1); bad != nil || !strings.Contains(r.Text, "Belegung") {
		t.Errorf("English %v in the state: %s", bad, r.Text)
	}
	var s state
	if err := json.Unmarshal(r.Data, &s); err != nil || len(s.NotMeasured) == 0 || s.NotMeasured[0] != "occupancy" {
		t.Errorf("the data is for programs: %v %v", s.NotMeasured, err)
	}
	if r, err = e.Health(t.Context(), platform.Inquiry{Owner: "ada"}); err != nil || !strings.HasPrefix(r.Text, "Status ok: ") || !strings.HasPrefix(r.Updates[0].Message, "Looking") {
		t.Errorf("without a language: %s %v", r.Text, err)
	}

	r, err = e.Propose(t.Context(), platform.Wish{Target: platform.TargetEnergy, Lang: "de"}, nil)
	german("proposals", r, err)
	if !strings.Contains(r.Text, "Geändert wurde nichts.") || strings.Contains(r.Text, "Assumptions") {
		t.Errorf("proposals: %s", r.Text)
	}
	if r, err = e.Propose(t.Context(), platform.Wish{Target: platform.TargetEnergy}, nil); err != nil || !strings.Contains(r.Text, "Nothing was changed.") {
		t.Errorf("proposals without a language: %s %v", r.Text, err)
	}
}
