//go:build peers

package main

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/ui/uitest"
)

// corridorSite is a line of dimmers that nobody has named.
const corridorSite = `
site: {name: Corridor}
buses:
  - {name: lamps, driver: modbus, port: "tcp://127.0.0.1:0"}
nodes:
  - {id: 1, name: One, bus: lamps, address: 1, profile: wirenboard-wb-mr6c}
  - {id: 2, name: Two, bus: lamps, address: 2, profile: wirenboard-wb-mdm3}
  - {id: 3, name: Three, bus: lamps, address: 3, profile: wirenboard-wb-mdm3}
  - {id: 4, name: Four, bus: lamps, address: 4, profile: wirenboard-wb-mdm3}
  - {id: 5, name: Five, bus: lamps, address: 5, profile: wirenboard-wb-mdm3}
  - {id: 6, name: Six, bus: lamps, address: 6, profile: wirenboard-wb-mdm3}
`

// named tells what the site has at an address.
func (h *house) named(address string) (names []string) {
	for _, n := range h.daemon.core.Snapshot().Nodes {
		if n.Node.Address == address {
			names = append(names, n.Node.Name)
		}
	}
	return names
}

// TestTwoPhonesNameOneBus: two installers, one line, a scan that goes on meanwhile. What a finger does is counted.
func TestTwoPhonesNameOneBus(t *testing.T) {
	t.Parallel()
	h := box(t, corridorSite)
	port := h.port("lamps")
	name, driver := "Lamps", "modbus"
	h.door(http.StatusCreated, http.MethodPost, "/buses", api.BusEdit{Name: &name, Driver: &driver, Port: &port}, nil)
	browser := uitest.Open(t)
	look := uitest.Look{Width: 360, Height: 740, Scale: 2, Touch: true}
	a, b := &phone{Tab: browser.Tab(t, look)}, &phone{Tab: browser.Tab(t, look)}
	for user, p := range map[string]*phone{"operator": a, "admin": b} {
		p.Go(h.url + "/login")
		p.Type("input[name=username]", user)
		p.Type("input[name=password]", housePassword)
		p.Keys("\r")
		p.Wait(`document.querySelector(".live")`)
		p.Go(h.url + "/commission/Lamps")
	}
	a.press("Scan this bus")

	// What is found is there to be named while the scan goes on; an output of it shows itself, and is left as it was.
	a.WaitText("The scan goes on")
	a.WaitText("Identify by output")
	before := h.writes()
	inspect(t, a.Tab, "flow-first-360-light-en")
	a.taps++
	a.Click(`button[aria-label="Identify output 3"]`)
	h.await(uitest.Patience, "relay 3 switched three times and back", func() bool { return h.writes() >= before+6 })
	h.await(uitest.Patience, "the relay as it was", func() bool { return targets(h.device(1))[2] == 0 })
	a.choose("6 lights")
	a.fill("input[name=name]", "Hall")
	a.press("Next")
	b.WaitText("Hall 1, Hall 2")
	if got := h.named("1"); len(got) != 6 {
		t.Fatalf("named at address 1: %v", got)
	}

	// Both are before the next; one is faster, and the other is told.
	b.WaitText("1 was named by somebody else meanwhile: Hall 1")
	b.press("Next")
	b.WaitText("Lamps, address 2")
	b.fill("input[name=name]", "Other")
	a.WaitText("Lamps, address 2")
	a.choose("One light")
	a.fill("input[name=name]", "Lobby")
	a.press("Next")
	b.WaitText("2 was named by somebody else meanwhile: Lobby")
	inspect(t, b.Tab, "flow-taken-360-light-en")
	edit := api.DeviceEdit{Address: "2", Profile: "wirenboard-wb-mdm3", New: true, Lights: []api.DeviceLight{{Name: "Other"}}}
	h.door(http.StatusConflict, http.MethodPost, "/buses/Lamps/devices", edit, nil)
	edit.Lights[0].Name = "Lobby"
	h.door(http.StatusOK, http.MethodPost, "/buses/Lamps/devices", edit, nil)
	if got := h.named("2"); !slices.Equal(got, []string{"Lobby"}) {
		t.Errorf("named at address 2: %v", got)
	}
	b.press("Next")
	b.WaitText("Lamps, address 3")

	// A phone without its network keeps what was typed where one sees it, through a sleep too, and sends it when it can.
	a.WaitText("Lamps, address 3")
	uitest.Eval[bool](a.Tab, `(window.fetch = () => Promise.reject(new TypeError("no network")), true)`)
	a.choose("One light")
	a.fill("input[name=name]", "Stairs")
	a.press("Next")
	a.WaitText("1 entry waits until the controller answers:")
	a.WaitText("Lamps, address 4")
	inspect(t, a.Tab, "flow-offline-360-light-en")
	if got := h.named("3"); len(got) > 0 {
		t.Errorf("the network is gone, and the device at address 3 is named %v", got)
	}
	a.Go(h.url + "/commission/Lamps")
	a.WaitText("6 found, 3 named")
	h.await(uitest.Patience, "the name that waited", func() bool { return slices.Equal(h.named("3"), []string{"Stairs"}) })
	a.Wait(`!localStorage.getItem("outbox")`)
	b.WaitText("Stairs")

	// The same at a desk.
	desk := &phone{Tab: browser.Tab(t, uitest.Look{Width: 1440, Height: 900, Dark: true, Language: "de"})}
	desk.Go(h.url + "/login")
	desk.Type("input[name=username]", "operator")
	desk.Type("input[name=password]", housePassword)
	desk.Keys("\r")
	desk.Wait(`document.querySelector(".live")`)
	desk.Go(h.url + "/commission/Lamps")
	desk.WaitText("6 gefunden, 3 benannt")
	inspect(t, desk.Tab, "flow-1440-dark-de")
	desk.press("Mehrere auf einmal")
	desk.fill("input[name=name]", "Flur 1")
	inspect(t, desk.Tab, "flow-many-1440-dark-de")

	// Several at once, in the order in which they are touched.
	taps := a.taps
	a.press("Several at once")
	a.fill("input[name=name]", "Corridor 01")
	a.Tab.Wait(`(() => { const s = document.querySelector("select[name=way]"); s.value = "whole"; return s.dispatchEvent(new Event("change", {bubbles: true})); })()`)
	a.taps++
	for _, address := range []string{"6", "4", "5"} {
		a.taps++
		a.Wait(fmt.Sprintf(`(e => e && (e.click(), true))([...document.querySelectorAll(".list .main")].find(e => e.querySelector(".sub").innerText.split(" ")[0] === %q))`, address))
	}
	a.WaitText("Corridor 03")
	inspect(t, a.Tab, "flow-many-360-light-en")
	a.press("Give 3 names")
	a.WaitText("6 found, 6 named")
	t.Logf("three devices at once: %d taps; all: %d taps, %d typed fields", a.taps-taps, a.taps, a.fields)
	for address, want := range map[string]string{"6": "Corridor 01", "4": "Corridor 02", "5": "Corridor 03"} {
		if got := h.named(address); !slices.Equal(got, []string{want}) {
			t.Errorf("address %s is %v, want %s", address, got, want)
		}
	}
	inspect(t, a.Tab, "flow-done-360-light-en")

	// A note is there for whoever comes next, at every light of the device.
	s := h.daemon.core.Snapshot()
	var hall []appliance.ID
	for _, n := range s.Nodes {
		if n.Node.Address == "1" {
			hall = append(hall, n.Node.ID)
		}
	}
	a.Go(fmt.Sprintf("%s/devices/%d", h.url, hall[0]))
	a.press("Note")
	a.fill("dialog textarea[name=note]", "Behind the panel left of the lift, fuse F12")
	a.press("Save")
	a.WaitText("fuse F12")
	inspect(t, a.Tab, "flow-note-360-light-en")
	b.Go(fmt.Sprintf("%s/devices/%d", h.url, hall[3]))
	b.WaitText("Behind the panel left of the lift")
	for _, r := range append(a.Foreign(h.url), b.Foreign(h.url)...) {
		t.Errorf("request to another origin: %s", r)
	}
}
