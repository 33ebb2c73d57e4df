package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
)

// What keys, panels and voices ask for stands in the controller's ledger, whichever door they come through: who, through what, and
// which gesture it was. Once each.
func TestTheControllersLedgerSaysWhoAskedAtThePlatform(t *testing.T) {
	e := newEstate(t, map[string]string{"WEBEX_WEBHOOK_SECRET": hookSecret})
	code := e.room("lobby", "Lobby", "[1]")
	_, key := e.admin.newKey(`{"name":"BMS","permissions":{"control":true}}`)
	_, other := e.admin.newKey(`{"name":"Cleaner's \"app\"","permissions":{"control":true}}`)
	chat := func(session, key string) func(string) {
		return func(message string) {
			e.ask("POST", chatPath, fmt.Sprintf(`{"message":%q,"sessionId":%q}`, message, session), "X-API-Key: "+key).want(t, 200, message)
		}
	}
	plain := func(message string) {
		e.ask("POST", mcpPath, fmt.Sprintf(`{"method":"tools/call","tool":"chat","arguments":{"message":%q,"sessionId":"plain"}}`, message), "X-API-Key: "+key).want(t, 200, message)
	}
	rpc := func(message string) {
		e.ask("POST", mcpPath, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"chat","arguments":{"message":%q,"sessionId":"rpc"}}}`, message),
			"X-API-Key: "+key, "Content-Type: application/json", "Accept: application/json, text/event-stream").want(t, 200, message)
	}
	tap := func(body string) { // once, whatever is told of it
		e.ask("POST", "/api/conferencing/panels/lobby/widget", body, "Authorization: Bearer "+code).want(t, 200, body)
	}
	ordered := func(say func(string), order string) func() {
		return func() { say(order); say("yes") }
	}
	for _, door := range []struct {
		name string
		act  func()
		want appliance.Origin
	}{
		{"chat", ordered(chat("one", key), "set the lobby to 11 %"), appliance.Origin{Who: `key "BMS"`, Via: "assistant", Why: "light_brightness released 28"}},
		{"chat, another key", ordered(chat("two", other), "set the lobby to 12 %"), appliance.Origin{Who: `key "Cleaner's "app""`, Via: "assistant", Why: "light_brightness released 31"}},
		{"MCP, plain", ordered(plain, "set the lobby to 13 %"), appliance.Origin{Who: `key "BMS"`, Via: "assistant", Why: "light_brightness released 33"}},
		{"MCP, JSON-RPC", ordered(rpc, "close the lobby shades"), appliance.Origin{Who: `key "BMS"`, Via: "assistant", Why: "shade_position released 0"}},
		{"MCP, typed", func() {
			call := func(arguments string) answer {
				return e.ask("POST", mcpPath, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"order","arguments":`+arguments+`}}`,
					"X-API-Key: "+key, "Content-Type: application/json", "Accept: application/json, text/event-stream").want(t, 200, arguments)
			}
			_, id, found := strings.Cut(call(`{"things":"lights","do":"set","percent":17,"places":["Lobby"]}`).text, `"order":"`)
			id, _, _ = strings.Cut(id, `"`)
			if !found {
				t.Error("an order without a name")
			}
			call(fmt.Sprintf(`{"order":%q,"confirm":true}`, id))
		}, appliance.Origin{Who: `key "BMS"`, Via: "assistant", Why: "light_brightness released 43"}},
		{"voice", func() { e.say("lobby", "lights to 14 percent").want(t, 200, "say") }, appliance.Origin{Who: "voice Lobby", Via: "voice", Why: "light_brightness released 36"}},
		{"a sentence at the panel", func() {
			e.ask("POST", "/api/conferencing/panels/lobby/say", `{"text":"lights to 15 percent"}`, "Authorization: Bearer "+code).want(t, 200, "say")
		}, appliance.Origin{Who: "voice Lobby", Via: "voice", Why: "light_brightness released 38"}},
		{"a tap of the panel's page", func() {
			tap(`{"widgetId":"light_brightness","type":"released","value":"41"}`)
		}, appliance.Origin{Who: "panel Lobby", Via: "panel", Why: "light_brightness released 41"}},
		{"a tap of the macro", func() {
			tap(`{"widgetId":"shade_stop","type":"clicked","value":"","source":"macro-1","seq":1}`)
		}, appliance.Origin{Who: "panel Lobby", Via: "panel", Why: "shade_stop clicked "}},
		{"a tap by webhook", func() {
			e.notify(`[`+gesture("lobby", "light_brightness", "released", "44", time.Now())+`]`).want(t, 204, "notification")
		}, appliance.Origin{Who: "panel Lobby", Via: "panel", Why: "light_brightness released 44"}},
	} {
		door.act()
		var found []appliance.Entry
		eventually(t, door.name+" in the ledger", func() bool {
			found = slices.DeleteFunc(slices.Clone(e.core.RecentEntries()), func(x appliance.Entry) bool { return x.Command.Origin != door.want })
			return len(found) > 0
		})
		if len(found) != 1 {
			t.Errorf("%s: %d entries", door.name, len(found))
		}
	}
	for _, x := range e.core.RecentEntries() {
		if o := x.Command.Origin; o.Who == "" && !strings.HasPrefix(o.Via, "shade") || o.Via == "" || o.Via == "api" {
			t.Errorf("somebody without a name is in the ledger: %+v", o)
		}
	}
}

// Who switched a light, and since when it is as it is, is answered from what its controller reports.
func TestTheAssistantTellsWhoSwitchedIt(t *testing.T) {
	drivertest.Long(t)
	e := newEstate(t, nil)
	code := e.room("lobby", "Lobby", "[1]")
	_, key := e.admin.newKey(`{"name":"BMS","rateLimit":100000}`)
	answered := func(message string, want ...string) {
		t.Helper()
		var got string
		eventually(t, message, func() bool {
			got = e.ask("POST", chatPath, `{"message":"`+message+`"}`, "X-API-Key: "+key).want(t, 200, message).str("reply")
			return !slices.ContainsFunc(want, func(w string) bool { return !strings.Contains(got, w) })
		})
		t.Log(message, got)
	}
	answered("who switched the lobby lights off", "No such command of the controller is reported since")
	e.tap("lobby", code, `{"widgetId":"light_power","type":"changed","value":"on"}`).want(t, 200, "tap")
	e.tap("lobby", code, `{"widgetId":"light_power","type":"changed","value":"off"}`).want(t, 200, "tap")
	answered("who switched the lobby lights off", "Lobby 1 and 2: switched off", "by panel Lobby at a panel")
	answered("since when are the lobby lights off", "Lobby 1 and 2: off since")
	answered("who switched the lights in the canteen on", "No such command of the controller is reported since")
}
