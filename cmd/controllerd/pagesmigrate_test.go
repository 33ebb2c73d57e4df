//go:build peers

package main

import (
	"testing"

	"svc.internal/controller/shelf/ui/uitest"
	"svc.internal/controller/tools/conformance/onezero"
)

// TestAHouseIsTakenOverInTheBrowser goes from the address of a Controller 1.0 to its house
// here, and back.
func TestAHouseIsTakenOverInTheBrowser(t *testing.T) {
	t.Parallel()
	other := onezero.New(onezero.NewHouse(3, 8, 4), onezero.Habits{})
	_, _, url := oldHouse(t, other)
	h := newBuilding(t, everydaySite)
	h.serve()
	tab := uitest.Open(t).Tab(t, uitest.Look{Width: 390, Height: 844, Scale: 2, Touch: true})
	logIn(h, tab, "admin")
	tab.Click(`nav a[href="/more"]`)
	tab.Click(`a[href="/more/migrate"]`)
	tab.WaitText("Nothing was taken over yet.")
	tab.Press("Look at its certificate")
	tab.WaitText("this is needed")
	tab.Shot("migrate-wrong-390-light-en", true)
	tab.Type("input[name=url]", url)
	tab.Type("input[name=username]", onezero.Username)
	tab.Type("input[name=password]", onezero.Password)
	tab.Press("Look at its certificate")
	tab.WaitText("Is it this one?")
	inspect(t, tab, "migrate-known-390-light-en")
	tab.Press("It is; read its house")
	tab.WaitText("What would come over from")
	tab.WaitText("Leave out what is in conflict") // cluster 1 and nodes 1 to 3 are other things here
	inspect(t, tab, "migrate-preview-390-light-en")
	tab.Shot("migrate-preview-whole-390-light-en", true)
	tab.Wait(`[...document.querySelectorAll("label.check")].find(l => l.innerText.startsWith("Leave out")).click() || true`)
	tab.Press("Take it over")
	tab.WaitText("Taken over as migration 1")
	tab.WaitText("Nothing is new there.")
	inspect(t, tab, "migrate-done-390-light-en")
	tab.Look(uitest.Look{Width: 1440, Height: 900, Dark: true})
	inspect(t, tab, "migrate-done-1440-dark-en")
	tab.Press("Take back migration 1")
	tab.WaitText("The IDs stay reserved")
	tab.Submit()
	tab.WaitText("taken back ")
	tab.WaitText("Take it over") // it could come over again
	inspect(t, tab, "migrate-undone-1440-dark-en")
	if site, _, err := h.daemon.db.Site(t.Context()); err != nil || len(site.Nodes) != len(h.site.Nodes) {
		t.Errorf("after taking it back there are %d nodes, %v", len(site.Nodes), err)
	}
	if n := other.Controls(); n != 0 {
		t.Errorf("%d control calls reached the other controller", n)
	}
}
