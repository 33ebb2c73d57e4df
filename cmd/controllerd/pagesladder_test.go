//go:build peers

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/shelf/ui/uitest"
	"svc.internal/controller/store"
)

// phone is a tab that counts what a finger does.
type phone struct {
	*uitest.Tab
	taps, fields int
	scrolled     float64 // windows
}

// touch taps on what a JavaScript expression finds.
func (p *phone) touch(element string) { p.taps++; p.scrolled += p.Thumb(element) }

// press taps on the button or link with a text, exactly, or that and "again": of what a busy machine did not manage. Of several
// texts it takes which is there.
func (p *phone) press(texts ...string) {
	list, _ := json.Marshal(texts)
	p.touch(fmt.Sprintf(`[...(document.querySelector("dialog[open]") || document).querySelectorAll("a,button,summary")].find(e => %s.includes((e.getAttribute("aria-label") || e.innerText).trim().replace(/ again$/, "")) && e.getClientRects().length)`, list))
}

// pressUntil presses what has a text until the page says something.
func (p *phone) pressUntil(text, says string) {
	p.Insist(func() { p.press(text) }, fmt.Sprintf("document.body.innerText.includes(%q)", says))
}

// addUntil presses until the new bus is there and something was found on it: a device that we play ourselves gets no processor for a
// moment, answers into the next question, and is to be looked for once more.
func (p *phone) addUntil(says string) {
	p.Insist(func() { p.press("Add this bus", "Scan") }, fmt.Sprintf("document.body.innerText.includes(%q)", says))
}

// choose taps on what a label says.
func (p *phone) choose(text string) {
	p.touch(fmt.Sprintf(`[...document.querySelectorAll("label")].find(l => l.innerText.includes(%q))`, text))
}

// pick chooses of a list: a tap opens it, a second one chooses.
func (p *phone) pick(selector, value string) { p.taps += 2; pick(p.Tab, selector, value) }

// pick chooses of a list what has a value or a text.
func pick(tab *uitest.Tab, selector, value string) {
	tab.Wait(fmt.Sprintf(`(() => { const s = document.querySelector(%q); s.value = [...s.options].find(o => o.value === %[2]q || o.text === %[2]q).value; return s.dispatchEvent(new Event("change", {bubbles: true})); })()`, selector, value))
}

// claim makes the first user of a controller.
func (p *phone) claim(t *testing.T, address, dataDir string) {
	t.Helper()
	var code []byte
	waitFor(t, uitest.Patience, "the claim code of a controller that has just started", func() (there bool) {
		var err error
		code, err = os.ReadFile(filepath.Join(dataDir, api.ClaimFile))
		return err == nil && len(code) > 0
	})
	p.Go(address)
	p.fill("input[name=code]", strings.TrimSpace(string(code)))
	p.fill("input[name=password]", housePassword)
	p.press("Claim this controller")
}

// addBus adds a bus at an adapter, by the name of that, or at the address of a gateway, once it was found out what is there.
func (p *phone) addBus(t *testing.T, at, name string) {
	t.Helper()
	p.press("Add a bus")
	if strings.Contains(at, ":") {
		p.choose("A gateway in the network")
		p.fill("input[name=address]", at)
	} else {
		p.choose(at)
	}
	p.press("Find out")
	// It may take minutes.
	if !p.Becomes(`document.querySelector("input[name=name]")`, 6*time.Minute) {
		t.Fatalf("%s was not found out in 6 min; the page says %q", name, uitest.Eval[string](p.Tab, "document.body.innerText"))
	}
	p.fill("input[name=name]", name)
	p.press("Add this bus")
	p.WaitText("New devices on " + name)
	p.Wait(`/The scan goes on|found, /.test(document.body.innerText)`) // whoever leaves before has none
}

func (p *phone) fill(selector, text string) { p.fields++; p.Type(selector, text) }

// TestABuildingIsCommissionedFromAPhone: an installer on a ladder, a box that knows nothing, no site file. What he does is counted.
func TestABuildingIsCommissionedFromAPhone(t *testing.T) {
	t.Parallel()
	h := box(t, boxSite)
	h.stop()
	db, err := store.Open(t.Context(), h.dataDir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range db.Users() {
		if err := db.RemoveUser(t.Context(), u.Name); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	h.unplug("motors")
	h.serve()
	p := &phone{Tab: uitest.Open(t).Tab(t, uitest.Look{Width: 360, Height: 740, Scale: 2, Touch: true})}
	began := time.Now()

	p.claim(t, h.url, h.dataDir)
	p.press("To the buses")
	p.press("Add a bus")

	// Adapters come and go while one looks.
	p.WaitText("Test relays")
	h.unplug("stage")
	p.Wait(`!document.body.innerText.includes("Test stage")`)
	h.plug("motors")
	p.WaitText("Test motors")
	inspect(t, p.Tab, "addbus-360-light-en")

	// A serial line: found out, named by itself, added, scanned.
	p.choose("Test motors")
	inspect(t, p.Tab, "findout-360-light-en")
	p.pressUntil("Find out", "Somfy SDN")
	p.WaitText("Add this bus")
	inspect(t, p.Tab, "foundout-360-light-en")
	p.addUntil("1 found, 0 named")
	p.WaitText("06.00.01")
	p.fill("input[name=name]", "South")
	inspect(t, p.Tab, "commission-motor-360-light-en")
	p.pressUntil("Next", "1 device was named.")
	if s := h.daemon.core.Snapshot().Shades; len(s) != 1 || s[0].Shade.Name != "South" {
		t.Errorf("an SDN motor became %+v", s)
	}

	// Relays: two of them move a shade, the rest are lights.
	p.press("Buses")
	p.press("Add a bus")
	p.choose("Test relays")
	p.pressUntil("Find out", "WB-MR6C")
	p.addUntil("1 found, 0 named")
	p.choose("Some of each")
	p.choose("Outputs 1 and 2 move a shade")
	p.fill("input[name=name]", "Hall")
	inspect(t, p.Tab, "commission-relays-360-light-en")
	p.pressUntil("Next", "by moving it")
	inspect(t, p.Tab, "commission-check-360-light-en")
	p.pressUntil("Find out which way is up", "Which way did it go?")
	inspect(t, p.Tab, "commission-went-360-light-en")
	p.press("Up")
	p.press("Go on")
	if s := h.daemon.core.Snapshot(); len(s.Shades) != 2 || len(s.Nodes) != 5 {
		t.Errorf("made of the relays: %d nodes, %d shades", len(s.Nodes), len(s.Shades))
	}

	// A gateway in the network, by its address; a wrong one is told within seconds.
	_, office, _ := strings.Cut(h.port("office"), "://")
	p.press("Buses")
	p.press("Add a bus")
	p.choose("A gateway in the network")
	p.fill("input[name=address]", "127.0.0.1:9")
	p.press("Find out")
	wrong := time.Now()
	p.WaitText("check the port")
	t.Logf("a gateway that is not there was told after %.1f s", time.Since(wrong).Seconds())
	inspect(t, p.Tab, "findout-wrong-360-light-en")
	p.fill("input[name=address]", office)
	p.pressUntil("Find out", "WB-MDM3")
	p.addUntil("1 found, 0 named")
	p.fill("input[name=name]", "Lamp")
	inspect(t, p.Tab, "commission-dimmer-360-light-en")
	p.pressUntil("Next", "1 device was named.")
	h.awaitOnline()
	t.Logf("commissioned in %d taps and %d typed fields, %.0f s", p.taps, p.fields, time.Since(began).Seconds())

	// A change of mind: three lights become one, and three again.
	id := h.daemon.core.Snapshot().Nodes[len(h.daemon.core.Snapshot().Nodes)-3].Node.ID
	p.Go(fmt.Sprintf("%s/devices/%d", h.url, id))
	p.Press("Outputs")
	p.choose("One light, all outputs together")
	inspect(t, p.Tab, "outputs-360-light-en")
	p.Press("Save")
	p.Wait(fmt.Sprintf(`location.pathname === "/devices/%d" && document.querySelectorAll("table tbody tr").length >= 3`, id))

	// The bus is changed, and one without devices removed.
	p.Go(h.url + "/buses")
	inspect(t, p.Tab, "buses-some-360-light-en")
	p.Click(`a[href="/buses/Modbus%202"]`)
	p.Press("Change")
	p.Type("dialog input[name=name]", "Offices")
	p.Shot("changebus-360-light-en", false)
	p.Press("Save")
	p.Wait(`document.querySelector("h1").innerText === "Offices"`)
	for _, r := range p.Foreign(h.url) {
		t.Errorf("request to another origin: %s", r)
	}
}

// TestTheNewPagesInOtherLooks: wide, dark and in German.
func TestTheNewPagesInOtherLooks(t *testing.T) {
	t.Parallel()
	h := box(t, boxSite)
	browser := uitest.Open(t)
	for _, look := range []uitest.Look{{Width: 1440, Height: 900, Dark: true}, {Width: 320, Height: 640, Language: "de", Touch: true, Dark: true}} {
		tab := browser.Tab(t, look)
		name := fmt.Sprintf("%d-dark", look.Width)
		tab.Go(h.url + "/login")
		tab.Type("input[name=username]", "operator")
		tab.Type("input[name=password]", housePassword)
		tab.Keys("\r")
		tab.Wait(`document.querySelector(".live")`)
		tab.Go(h.url + "/buses")
		inspect(t, tab, "nobuses-"+name)
		tab.Go(h.url + "/add/bus")
		p := &phone{Tab: tab}
		p.choose("Test gear")
		tab.Click(`.button.big:last-of-type`)
		inspect(t, tab, "addbus-known-"+name)
	}
}
