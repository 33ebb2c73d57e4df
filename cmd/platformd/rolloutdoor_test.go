package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/panel"
	"svc.internal/controller/platform/panel/roomos/roomostest"
)

const rollOutPath = "/api/conferencing/rollout"

// reachable are settings that let roll-outs go to the devices that tests play.
var reachable = map[string]string{"ROOMOS_NETWORKS": "127.0.0.0/8"}

// rolledOut is the last that was told of each device, and the number of devices that were not begun; -1: nobody said.
func rolledOut(text string) (last map[string]map[string]any, left int) {
	last, left = map[string]map[string]any{}, -1
	for part := range strings.SplitSeq(text, "\n\n") {
		event, data, _ := strings.Cut(part, "\n")
		var told map[string]any
		if json.Unmarshal([]byte(strings.TrimPrefix(data, "data: ")), &told) != nil {
			continue
		}
		switch event {
		case "event: device":
			last[told["deviceId"].(string)] = told
		case "event: end":
			left = int(told["left"].(float64))
		}
	}
	return last, left
}

// at gives a room's device an address.
func (e *estate) at(id, address string) {
	e.t.Helper()
	e.admin.api("PUT", "/api/conferencing/devices/"+id, fmt.Sprintf(`{"address":%q}`, address)).want(e.t, 200, "say where the device is")
}

// order is the body of a roll-out; more are members besides.
func order(action, password, more string, ids ...string) string {
	list, _ := json.Marshal(ids)        // texts can be written
	secret, _ := json.Marshal(password) // so can this
	return fmt.Sprintf(`{"action":%q,"deviceIds":%s,"username":%q,"password":%s%s}`, action, list, roomostest.User, secret, more)
}

func TestARollOutFromAPageTellsWhatBecameOfEachDevice(t *testing.T) {
	t.Parallel()
	e := newEstate(t, reachable)
	devices := map[string]*roomostest.Device{}
	for _, id := range []string{"lobby", "board"} {
		devices[id] = roomostest.New(t)
		devices[id].Plays = true
		e.room(id, id, "[1]")
		e.at(id, devices[id].Address())
	}
	e.room("away", "Away", "[1]")
	e.at("away", "127.0.0.2:1") // nobody is there
	roll := func(body string) map[string]map[string]any {
		t.Helper()
		last, left := rolledOut(e.admin.api("POST", rollOutPath, body).want(t, 200, "roll out").text)
		if left != 0 {
			t.Errorf("%d devices were not begun", left)
		}
		return last
	}
	version := func(id string) any {
		t.Helper()
		return e.admin.api("GET", "/api/conferencing/devices/"+id, "").want(t, 200, "read the device").member("data.macroVersion")
	}

	// Nobody vouches for the devices: they are sent nothing, and how to know them is told.
	last := roll(order("install", roomostest.Password, "", "lobby", "board", "away"))
	for id, d := range devices {
		asked, _ := d.Seen(panel.MacroName)
		print, _ := last[id]["fingerprint"].(string)
		if last[id]["is"] != "untrusted" || len(print) != 64 || asked > 0 {
			t.Fatalf("%s was asked %d times, and is told as %v", id, asked, last[id])
		}
		e.admin.api("PUT", "/api/conferencing/devices/"+id, `{"fingerprint":"`+strings.ToUpper(print)+`"}`).want(t, 200, "know it by that")
	}
	if why, _ := last["away"]["error"].(string); last["away"]["is"] != "failed" || !strings.Contains(why, "no answer") {
		t.Errorf("a device that is away is told as %v", last["away"])
	}

	// A wrong password is tried once.
	last = roll(order("install", "guessed", "", "lobby"))
	if asked, _ := devices["lobby"].Seen(panel.MacroName); last["lobby"]["is"] != "failed" || asked != 1 {
		t.Errorf("a wrong password was tried %d times: %v", asked, last["lobby"])
	}

	// With all that is needed it is done, and the macro says so itself.
	last = roll(order("install", roomostest.Password, "", "lobby", "board"))
	for id, d := range devices {
		if last[id]["is"] != "asks" || last[id]["macroVersion"] != float64(panel.MacroVersion) || version(id) != float64(panel.MacroVersion) {
			t.Errorf("%s is told as %v, and runs %v", id, last[id], version(id))
		}
		if _, macro := d.Seen(panel.MacroName); !strings.Contains(macro, `const deviceId = "`+id+`";`) || !strings.Contains(macro, `const platform = "`+e.url+`";`) {
			t.Errorf("%s has the macro %.400s", id, macro)
		}
	}

	// An older one is brought up to date.
	if _, err := e.db.ChangeRoomDevice(t.Context(), "lobby", func(d *platform.RoomDevice) error { d.Macro = -1; return nil }); err != nil {
		t.Fatal(err)
	}
	if last = roll(order("install", roomostest.Password, "", "lobby")); last["lobby"]["is"] != "asks" || version("lobby") != float64(panel.MacroVersion) {
		t.Errorf("after the update: %v", last)
	}

	// Taken off it runs none, and the room's tablets go on; forgotten it is gone.
	last = roll(order("remove", roomostest.Password, "", "lobby"))
	if _, macro := devices["lobby"].Seen(panel.MacroName); last["lobby"]["is"] != "removed" || macro != "" || version("lobby") != nil {
		t.Errorf("taken off: %v, it has %q and runs %v", last, macro, version("lobby"))
	}
	d, err := e.db.RoomDevice(t.Context(), "lobby")
	if err != nil || !d.Deployed || d.Address == "" {
		t.Errorf("the room is %+v %v", d, err)
	}
	if last = roll(order("remove", roomostest.Password, `,"forget":true`, "board")); last["board"]["is"] != "removed" {
		t.Errorf("forgotten: %v", last)
	}
	e.admin.api("GET", "/api/conferencing/devices/board", "").want(t, 404, "a device that is forgotten")
}

func TestARollOutIsForAdministratorsAndAsksNobodyElsewhere(t *testing.T) {
	t.Parallel()
	e := newEstate(t, map[string]string{"ROOMOS_NETWORKS": "10.99.0.0/16"})
	d := roomostest.New(t)
	for i, id := range []string{"lobby", "twin", "nowhere", "bare"} {
		e.room(id, id, "[1]")
		if i < 2 {
			e.at(id, d.Address())
		}
	}
	e.at("bare", "10.99.0.1")
	e.admin.api("DELETE", "/api/conferencing/devices/bare/deploy", "").want(t, 200, "withdraw")
	good := order("install", roomostest.Password, "", "lobby")
	e.ask("POST", rollOutPath, good).want(t, 401, "a stranger")
	e.newPerson("bob", platform.RoleUser).api("POST", rollOutPath, good).want(t, 403, "a user")
	e.newPerson("eve", platform.RoleUser).api("GET", rollOutPath, "").want(t, 403, "a user who looks")
	for body, status := range map[string]int{
		`{}`: 400, `[]`: 400, order("reboot", "x", "", "lobby"): 400, order("install", "x", ""): 400, order("install", "", "", "lobby"): 400,
		order("install", "x", "", "nobody"): 400, order("install", "x", `,"platform":"http://platform.example"`, "lobby"): 400,
		order("install", "x", "", "nowhere"): 409, order("install", "x", "", "bare"): 409, order("install", "x", "", "lobby", "twin"): 409,
		order("install", strings.Repeat("x", 70_000), "", "lobby"): 413,
	} {
		e.admin.api("POST", rollOutPath, body).want(t, status, body[:min(len(body), 200)])
	}
	e.admin.api("PUT", "/api/conferencing/devices/lobby", `{"address":"https://10.99.0.1"}`).want(t, 400, "an address that is none")
	e.admin.api("PUT", "/api/conferencing/devices/lobby", `{"fingerprint":"abc"}`).want(t, 400, "a fingerprint that is none")
	last, _ := rolledOut(e.admin.api("POST", rollOutPath, good).want(t, 200, "roll out").text)
	why, _ := last["lobby"]["error"].(string)
	if asked, _ := d.Seen(panel.MacroName); last["lobby"]["is"] != "failed" || !strings.Contains(why, "ROOMOS_NETWORKS") || asked > 0 {
		t.Errorf("an address elsewhere was asked %d times: %v", asked, last["lobby"])
	}
	closed := newEstate(t, nil)
	closed.admin.api("POST", rollOutPath, good).want(t, 409, "where no network is named")
	if got := closed.admin.api("GET", rollOutPath, "").want(t, 200, "where devices may be").text; !strings.Contains(got, `"networks":[]`) {
		t.Errorf("it tells %s", got)
	}
}
