//go:build peers

package main

import (
	"fmt"
	"net/url"
	"testing"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/panel"
	"svc.internal/controller/shelf/ui/uitest"
)

// The page of rooms tells which macros devices run, and offers what they need, for the eyes of administrators on a phone
// and on a desk.
func TestThePageOfRoomsTellsMacrosAndPicksZonesByName(t *testing.T) {
	t.Parallel()
	e := newEstate(t, nil)
	codes := map[string]string{}
	for _, id := range []string{"lobby", "board", "plain"} {
		codes[id] = e.room(id, map[string]string{"lobby": "Lobby", "board": "Board room on the first floor", "plain": "Plain"}[id], "[1]")
	}
	tell := func(id string, version int) {
		e.ask("GET", fmt.Sprintf("/api/conferencing/panels/%s?macro=%d", url.PathEscape(id), version), "", "Authorization: Bearer "+codes[id]).want(t, 200, "a macro asks")
	}
	tell("lobby", panel.MacroVersion)
	d, err := e.db.RoomDevice(t.Context(), "board")
	if err != nil {
		t.Fatal(err)
	}
	d.Macro = -1 // older than any that there is
	if _, err := e.db.ChangeRoomDevice(t.Context(), "board", func(old *platform.RoomDevice) error { *old = d; return nil }); err != nil {
		t.Fatal(err)
	}
	e.admin.api("PUT", "/api/conferencing/devices/plain", `{"clusterIds":[1,77]}`).want(t, 200, "a cluster that is not there")
	browser := uitest.Open(t)
	for _, look := range []uitest.Look{
		{Width: 390, Height: 844, Touch: true}, {Width: 390, Height: 844, Touch: true, Dark: true, Language: "de"},
		{Width: 1280, Height: 900}, {Width: 1280, Height: 900, Dark: true, Language: "de"},
	} {
		name := fmt.Sprintf("%d-%t", look.Width, look.Dark)
		tab := browser.Tab(t, look)
		e.enter(tab, "ada")
		tab.Go(e.url + "/rooms")
		tab.Wait(`document.querySelectorAll("a[download]").length === 3`)
		tab.Shot("rooms-whole-"+name, true)
		inspect(t, tab, "rooms-"+name)
		if look.Language == "de" {
			continue
		}
		for _, text := range []string{fmt.Sprintf("Macro %d, current.", panel.MacroVersion), fmt.Sprintf("an update to %d is there", panel.MacroVersion), "No macro has asked yet."} {
			tab.WaitText(text)
		}
		tab.Press("Change Plain")
		tab.WaitText("77: not there")
		inspect(t, tab, "rooms-zones-"+name)
		tab.Press("77: not there")
		tab.Press("Canteen")
		tab.Submit()
		tab.WaitText("Acts on zones 1 and 2")
		e.admin.api("PUT", "/api/conferencing/devices/plain", `{"clusterIds":[1,77]}`).want(t, 200, "as before")
	}
}
