package control

import (
	"strings"
	"testing"
	"unicode/utf8"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/engine"
)

// wordy is a driver whose devices complain at length.
type wordy struct {
	appliance.Driver
	says map[string]string
}

func (w wordy) Troubles() map[string]string { return w.says }

func TestTroubleOfADeviceIsShownAndBounded(t *testing.T) {
	bus := func() *appliance.BusState {
		return &appliance.BusState{Up: true, Devices: []appliance.DeviceState{{Device: "1", Nodes: []appliance.ID{7, 8}}, {Device: "2"}, {Device: "3", Trouble: "refuses"}}}
	}
	st := bus()
	addTroubles(wordy{says: map[string]string{"1": "lamp failure", "2": strings.Repeat("ü", engine.BriefMost+1), "9": "not of this bus", "": "another master"}}, st)
	got := st.Devices
	if st.Fault != "another master" {
		t.Errorf("of the bus itself: %q", st.Fault)
	}
	if got[0].Trouble != "lamp failure" || got[2].Trouble != "refuses" {
		t.Fatalf("%+v", got)
	}
	if n := utf8.RuneCountInString(got[1].Trouble); n != engine.BriefMost || !strings.HasSuffix(got[1].Trouble, "ü…") {
		t.Errorf("%d characters: %q", n, got[1].Trouble)
	}
	st = bus()
	if addTroubles(asker{}, st); st.Devices[0].Trouble != "" {
		t.Errorf("a driver without the ability: %+v", st)
	}
}
