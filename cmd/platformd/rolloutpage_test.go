//go:build peers

package main

import (
	"fmt"
	"strings"
	"testing"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/panel"
	"svc.internal/controller/platform/panel/roomos/roomostest"
	"svc.internal/controller/shelf/ui/uitest"
)

// looks are a phone and a desk, by day and by night.
var looks = []uitest.Look{
	{Width: 390, Height: 844, Touch: true}, {Width: 390, Height: 844, Touch: true, Dark: true, Language: "de"},
	{Width: 1280, Height: 900}, {Width: 1280, Height: 900, Dark: true, Language: "de"},
}

// The whole way of whoever sets rooms up: where devices are, by what they are known, onto two of them, the newer macro, off again.
func TestThePageRollsOutToDevices(t *testing.T) {
	t.Parallel()
	e := newEstate(t, reachable)
	names := map[string]string{"lobby": "Lobby", "board": "Board room on the first floor"}
	devices := map[string]*roomostest.Device{}
	for id, name := range names {
		devices[id] = roomostest.New(t)
		devices[id].Plays = true
		e.room(id, name, "[1]")
	}
	e.room("plain", "Plain", "[1]")
	browser := uitest.Open(t)
	tab := browser.Tab(t, uitest.Look{Width: 1280, Height: 900})
	e.enter(tab, "ada")
	tab.Go(e.url + "/rooms")
	tab.Press("Roll out")
	tab.WaitText("No address yet.")
	inspect(t, tab, "rollout-empty")
	shots := func(name string) {
		t.Helper()
		for _, look := range looks {
			tab.Look(look)
			tab.Shot(fmt.Sprintf("%s-%d-%t", name, look.Width, look.Dark), true)
			inspect(t, tab, fmt.Sprintf("%s-seen-%d-%t", name, look.Width, look.Dark))
		}
		tab.Look(looks[2])
	}

	for id, name := range names {
		tab.Press("Address of " + name)
		tab.Type("dialog input[name=address]", devices[id].Address())
		inspect(t, tab, "rollout-address")
		tab.Submit()
		tab.WaitText(devices[id].Address())
	}
	run := func(button, password string) {
		t.Helper()
		tab.Type("input[name=username]", roomostest.User)
		tab.Type("input[name=password]", password)
		tab.Press(button)
	}

	// Nobody vouches for them: the person does, one by one.
	run("Roll out to 2 devices", roomostest.Password)
	tab.WaitText("0 of 2 done. 2 not.")
	shots("rollout-untrusted")
	for id, name := range names {
		if asked, _ := devices[id].Seen(panel.MacroName); asked > 0 {
			t.Errorf("%s was asked %d times before somebody knew it", name, asked)
		}
		tab.Press("It is this one: the certificate of " + name)
		tab.Wait(fmt.Sprintf(`!document.querySelector('[aria-label=%q]')`, "It is this one: the certificate of "+name))
	}
	run("Roll out to 2 devices", roomostest.Password)
	tab.WaitText("2 of 2 done.")
	tab.WaitText(fmt.Sprintf("Done: macro %d runs and reaches the platform.", panel.MacroVersion))
	shots("rollout-done")

	// One has an older macro, and one that is away is told as such.
	for _, id := range []string{"lobby", "board"} {
		devices[id].Hang()
		if _, err := e.db.ChangeRoomDevice(t.Context(), id, func(d *platform.RoomDevice) error {
			d.Macro = -1
			if id == "board" {
				d.Address = "127.0.0.1:1"
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	tab.Go(e.url + "/rooms")
	tab.WaitText("2 of 2 run an older macro.")
	shots("rooms-older")
	tab.Press("Update")
	run("Roll out to 2 devices", roomostest.Password)
	tab.WaitText("1 of 2 done. 1 not.")
	tab.WaitText("Not done: let macros run and ask: no answer")
	shots("rollout-partly")
	// What was typed is kept by nobody but the page itself.
	stored := uitest.Eval[string](tab, `JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])`)
	if strings.Contains(stored, roomostest.Password) {
		t.Errorf("the password is kept: %s", stored)
	}

	german := browser.Tab(t, looks[1])
	e.enter(german, "ada")
	german.Go(e.url + "/rollout")
	german.WaitText("An 1 Gerät verteilen")
	german.Shot("rollout-de", true)
	inspect(t, german, "rollout-seen-de")

	// Off, and forgotten.
	tab.Wait(`(() => { const s = document.querySelector("select[name=action]"); s.value = "remove"; s.dispatchEvent(new Event("change", {bubbles: true})); return true; })()`)
	tab.WaitText("Take off from 0 devices")
	inspect(t, tab, "rollout-remove")
	tab.Wait(`([...document.querySelectorAll("label.check")].find((l) => l.innerText.includes("Lobby")).querySelector("input").click(), true)`)
	tab.Wait(`([...document.querySelectorAll("label.check")].find((l) => l.innerText.includes("Forget")).querySelector("input").click(), true)`)
	tab.Press("Take off from 1 device")
	tab.WaitText("1 of 1 done.")
	tab.Wait(`!document.body.innerText.includes("Lobby")`)
	if _, macro := devices["lobby"].Seen(panel.MacroName); macro != "" {
		t.Errorf("it still has the macro")
	}
	if d, err := e.db.RoomDevice(t.Context(), "lobby"); err == nil {
		t.Errorf("it is still known: %+v", d)
	}
}
