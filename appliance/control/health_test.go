package control

import (
	"strings"
	"testing"
	"unicode/utf8"

	"svc.internal/controller/appliance"
)

// wordy is a driver whose devices complain at length.
type wordy struct {
	appliance.Driver
	says map[string]string
}

func (w wordy) Troubles() map[string]string { return w.says }

func TestTroubleOfADeviceIsShownAndBounded(t *testing.T) {
	b := &bus{
		schedule: &schedule{},
		known:    known{devices: map[string]*device{"1": {name: "1", nodes: []appliance.ID{7, 8}}, "2": {name: "2"}, "3": {name: "3"}}},
	}
	b.present.Store(&wiring{opened: appliance.Opened{Driver: wordy{says: map[string]string{"1": "lamp failure", "2": strings.Repeat("ü", troubleMost+1), "9": "not of this bus"}}}})
	got := b.deviceStates()
	if len(got) != 3 || got[0].Trouble != "lamp failure" || len(got[0].Nodes) != 2 || got[2].Trouble != "" {
		t.Fatalf("%+v", got)
	}
	if n := utf8.RuneCountInString(got[1].Trouble); n != troubleMost || !strings.HasSuffix(got[1].Trouble, "ü…") {
		t.Errorf("%d characters: %q", n, got[1].Trouble)
	}
	b.present.Store(&wiring{})
	if got := b.deviceStates(); len(got) != 3 || got[0].Trouble != "" {
		t.Errorf("a driver without the ability: %+v", got)
	}
}
