package automation

import (
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/cloud/wire"
)

// The ledger says who asked and through which door, whatever the age of the platform.
func TestTheLedgerSaysWhoAskedAndThroughWhat(t *testing.T) {
	for _, c := range []struct {
		about    string
		action   wire.WidgetAction
		who, via string
	}{
		{"a key", wire.WidgetAction{Origin: wire.OriginAPI, By: `key "BMS"`}, `key "BMS"`, "assistant"},
		{"a platform from before", wire.WidgetAction{Origin: wire.OriginAPI}, "api", "assistant"},
		{"a panel", wire.WidgetAction{Origin: wire.OriginPanel, WorkspaceName: "Lobby"}, "panel Lobby", "panel"},
		{"a voice", wire.WidgetAction{Origin: wire.OriginVoice, WorkspaceName: "Lobby"}, "voice Lobby", "voice"},
		{"a panel in a room without a name", wire.WidgetAction{Origin: wire.OriginPanel}, "panel", "panel"},
		{"a long name", wire.WidgetAction{Origin: wire.OriginAPI, By: strings.Repeat("x", 300)}, strings.Repeat("x", 40) + "…", "assistant"},
	} {
		c.action.WidgetID, c.action.Action, c.action.Value = wire.LightPower, wire.Changed, "on"
		if got, want := originOf(c.action), (appliance.Origin{Who: c.who, Via: c.via, Why: "light_power changed on"}); got != want {
			t.Errorf("%s: got %+v, want %+v", c.about, got, want)
		}
	}
}

// What people ask for at panels, by voice or in a chat is set by hand: rules let it be.
func TestWhatComesFromThePlatformIsSetByHand(t *testing.T) {
	for _, origin := range []string{wire.OriginPanel, wire.OriginVoice, wire.OriginAPI} {
		e := newEngine(time.Now())
		ref := appliance.Ref{Node: 2, Channel: 1}
		e.hand(appliance.Entry{AcceptedAt: time.Now(), Command: appliance.Command{Origin: originOf(wire.WidgetAction{Origin: origin})},
			Members: []appliance.Member{{Ref: ref}}})
		if len(e.hands) != 1 {
			t.Errorf("%s is taken for a rule", origin)
		}
	}
}
