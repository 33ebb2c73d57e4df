package main

import (
	"slices"
	"strings"
	"testing"

	"svc.internal/controller/appliance"
)

// What keys, panels and voices ask for stands in the controller's ledger with who and through what.
func TestTheControllersLedgerSaysWhoAskedAtThePlatform(t *testing.T) {
	e := newEstate(t, nil)
	code := e.room("lobby", "Lobby", "[1]")
	_, key := e.admin.newKey(`{"name":"BMS","permissions":{"control":true}}`)
	for _, message := range []string{"turn on the lobby lights", "yes"} {
		e.ask("POST", chatPath, `{"message":"`+message+`","sessionId":"s"}`, "X-API-Key: "+key).want(t, 200, message)
	}
	e.tap("lobby", code, `{"widgetId":"light_power","type":"changed","value":"off"}`).want(t, 200, "tap")
	e.ask("POST", "/api/conferencing/voice/action", `{"deviceId":"lobby","text":"lights on"}`, "X-Voice-Action-Token: "+e.voice).want(t, 200, "say")
	for _, want := range []appliance.Origin{{Who: `key "BMS"`, Via: "assistant"}, {Who: "panel Lobby", Via: "panel"}, {Who: "voice Lobby", Via: "voice"}} {
		eventually(t, want.Who+" in the ledger", func() bool {
			return slices.ContainsFunc(e.core.RecentEntries(), func(x appliance.Entry) bool {
				o := x.Command.Origin
				return o.Who == want.Who && o.Via == want.Via && strings.HasPrefix(o.Why, "light_")
			})
		})
	}
}
