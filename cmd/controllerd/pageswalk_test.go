//go:build peers

package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/ui/uitest"
	"svc.internal/controller/store"
)

// walkSite has a bit of everything that the walk needs.
const walkSite = `
site: {name: House on the hill}
buses:
  - {name: tcp, driver: modbus, port: "tcp://127.0.0.1:0"}
  - {name: motors, driver: sdn, port: "@DIR@/motors"}
  - {name: relays, driver: modbus, port: "tcp://127.0.0.1:0"}
nodes:
  - {id: 1, name: Dimmer 1, bus: tcp, address: 1, profile: wirenboard-wb-mdm3, outputs: [1]}
  - {id: 2, name: Dimmer 2, bus: tcp, address: 1, profile: wirenboard-wb-mdm3, outputs: [2]}
  - {id: 3, name: Relays, bus: tcp, address: 3, profile: waveshare-relay-8ch}
  - {id: 4, name: Motor, bus: motors, address: 06.00.01, profile: somfy-sdn-30dc}
  - {id: 5, name: Shade relays, bus: relays, address: 5, profile: wirenboard-wb-mr6c}
shades:
  - {id: 5001, name: Roller, node: 4, output: 1, travelUp: 3s, travelDown: 3s}
  - {id: 5002, name: Blind, node: 5, output: 1, travelUp: 3s, travelDown: 3s}
clusters:
  - {id: 1, name: Study, nodes: [1, 2], shades: [5001]}
  - {id: 2, name: Cellar, nodes: [3]}
`

// unclaimed is a house that nobody has an account in.
func unclaimed(t *testing.T) *house {
	h := newBuilding(t, walkSite)
	db, err := store.Open(t.Context(), h.dataDir, slog.New(slog.DiscardHandler))
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
	h.serve()
	h.awaitOnline()
	return h
}

func TestWalkFromClaimToReport(t *testing.T) {
	t.Parallel()
	h := unclaimed(t)
	browser := uitest.Open(t)
	tab := browser.Tab(t, uitest.Look{Width: 360, Height: 740, Scale: 2, Touch: true})

	// Claim: whatever address was opened; a wrong code is told at its field.
	tab.Go(h.url + "/devices")
	tab.WaitText("Claim this controller")
	inspect(t, tab, "claim-360-light-en")
	code, err := os.ReadFile(filepath.Join(h.dataDir, api.ClaimFile))
	if err != nil {
		t.Fatal(err)
	}
	tab.Type("input[name=code]", "AAAA-BBBB-CCCC")
	tab.Type("input[name=password]", housePassword)
	tab.Keys("\r")
	tab.WaitText("is not the claim code")
	tab.Noted("status of 403")
	tab.Type("input[name=code]", strings.ToLower(strings.TrimSpace(string(code))))
	tab.Keys("\r")
	tab.WaitText("Study")
	if _, err := os.Stat(filepath.Join(h.dataDir, api.ClaimFile)); err == nil {
		t.Error("the claim code is still there")
	}

	// Dim with a finger; the simulated lamps do it, and another browser sees it.
	other := browser.Tab(t, uitest.Look{Width: 1440, Height: 900})
	logIn(h, other, "admin")
	h.until(func() { tap(tab, `.card:has(a[href="/clusters/1"]) .slider`, .3) }, 30, 1, 2)
	for _, see := range []*uitest.Tab{tab, other} {
		see.Wait(`document.querySelector('.card a[href="/clusters/1"] .value').innerText === "30%"`)
	}
	// With keys in the other browser.
	h.until(func() {
		other.Wait(`document.querySelector('.card:has(a[href="/clusters/1"]) .slider input').focus() || true`)
		other.Keys(kb.End)
	}, 100, 1, 2)
	tab.Wait(`document.querySelector('.card a[href="/clusters/1"] .value').innerText === "100%"`)
	h.until(func() { tab.Press("Study on") }, 0, 1, 2)
	tab.Wait(`document.querySelector('.card a[href="/clusters/1"] .value').innerText === "Off"`)

	// The ledger tells who did it.
	tab.Click(`nav a[href="/more"]`)
	tab.WaitText("Study: off")
	tab.Click(`a[href^="/more/ledger/"]`)
	tab.WaitText("Everybody who was meant has it.")
	tab.WaitText("admin · on these pages")
	inspect(t, tab, "ledger-360-light-en")

	// A scan tells at once what it finds, and a light can be made to show itself.
	tab.Click(`nav a[href="/buses"]`)
	tab.Click(`a[href="/buses/tcp"]`)
	tab.Press("Scan this bus")
	tab.WaitText("Scan again")
	tab.Wait(`[...document.querySelectorAll("tbody tr")].some(r => r.innerText.includes("wirenboard-wb-mdm3") && r.innerText.includes("Dimmer 1"))`)
	inspect(t, tab, "scan-360-light-en")
	tab.Click(`tbody a[href="/devices/1"]`)
	tab.WaitText("Identify")
	before := h.writes()
	tab.Press("Identify")
	tab.WaitText("It shows itself now")
	h.await(uitest.Patience, "a light that shows itself", func() bool { return h.writes() >= before+6 })
	h.awaitLevels(0, 1)
	inspect(t, tab, "identify-360-light-en")

	// Shade: up by the button, then measured.
	tab.Click(`nav a[href="/devices"]`)
	tab.Type("input[type=search]", "Roller")
	tab.Click(`a[href="/shades/5001"]`)
	tab.Press("Close Roller")
	h.await(uitest.Patience, "the shade down", func() bool { s := h.truth(5001); return s.Position == 0 && !s.Moving })
	tab.Wait(`document.querySelector(".title .sub").innerText.includes("closed")`)
	tab.Press("Calibrate")
	tab.Press("Measure the times")
	tab.Wait(`document.querySelector("progress")`)
	tab.Shot("calibrating-360-light-en", false)
	const measured, again = `document.body.innerText.includes("Shall the new times replace the old ones?")`, `document.body.innerText.includes("try again while its bus is quiet")`
	for range 5 { // a busy machine reads too rarely, says so, and a person does as it says
		if tab.Wait(measured + "||" + again); tab.Becomes(measured, time.Second) {
			break
		}
		tab.Press("Measure the times")
		tab.Wait(`document.querySelector("progress")`)
	}
	tab.Wait(measured)
	inspect(t, tab, "calibrated-beside-360-light-en")
	tab.Press("Take the new times")
	tab.WaitText("Measured and saved")
	inspect(t, tab, "calibrated-360-light-en")
	if s := h.daemon.core.Snapshot().Shade(5001).Shade; s.TravelUp < 2*time.Second || s.TravelUp > 4*time.Second {
		t.Errorf("measured %v up, the motor takes 3 s", s.TravelUp)
	}

	// One that nobody but a person sees standing, too.
	tab.Click(`nav a[href="/devices"]`)
	tab.Type("input[type=search]", "Blind")
	tab.Click(`a[href="/shades/5002"]`)
	tab.Press("Calibrate")
	tab.Press("Measure the times")
	watch(tab, func() bool { return !h.truth(5002).Moving })
	inspect(t, tab, "watched-360-light-en")

	// A scene keeps how the room is; a rule does something by itself.
	tab.Click(`nav a[href="/"]`)
	tab.Click(`.card a[href="/clusters/1"]`)
	tab.WaitText("Save as scene")
	h.until(func() { tap(tab, `.card .slider`, .6) }, 60, 1, 2)
	tab.Wait(`document.querySelector(".card .value").innerText !== "Off"`)
	tab.Press("Save as scene")
	tab.Type("dialog input[name=name]", "Reading")
	tab.Press("Save")
	tab.Wait(`[...document.querySelectorAll(".chip")].some(c => c.innerText.includes("Reading"))`)
	inspect(t, tab, "scene-360-light-en")
	h.until(func() { tab.Press("Study on") }, 0, 1, 2)
	h.until(func() { tab.Press("Reading") }, 60, 1, 2)
	tab.Click(`nav a[href="/rules"]`)
	tab.WaitText("Nothing happens by itself yet.")
	inspect(t, tab, "norules-360-light-en")
	tab.Press("New rule")
	tab.Type("dialog input[name=name]", "Night")
	inspect(t, tab, "newrule-360-light-en")
	choose := func(name, value string) {
		t.Helper()
		tab.Wait(fmt.Sprintf(`(() => { const s = document.querySelector('select[name=%q]'); s.value = %q; return s.dispatchEvent(new Event("change", {bubbles: true})); })()`, name, value))
	}
	choose("does.0", "warn-off")
	tab.WaitText("Warn at this level, in percent")
	tab.Press("One more step")
	tab.Wait(`document.querySelector('select[name="does.1"]')`)
	choose("does.1", "light-level")
	choose("after.1", "5")
	tab.Type(`input[name=except]`, "12-24..01-02")
	tab.Press("When would it have acted?")
	tab.Wait(`/(Once|\d+ times) since/.test(document.querySelector("dialog").innerText)`)
	inspect(t, tab, "stepsrule-360-light-en")
	tab.Press("Remove step 2")
	tab.Press("Save")
	tab.WaitText("The next 14 days")
	inspect(t, tab, "rules-360-light-en")
	h.until(func() { tab.Press("Try Night") }, 0, 1, 2)

	// What passes on a bus can be watched.
	tab.Click(`nav a[href="/buses"]`)
	tab.Click(`a[href="/buses/tcp"]`)
	tab.Press("Start monitor")
	tab.Wait(`document.querySelector(".frames li")`)
	tab.WaitText("read holding registers request · unit 1")
	inspect(t, tab, "monitor-360-light-en")
	tab.Type(".row input[type=search]", "unit 3")
	tab.Wait(`[...document.querySelectorAll(".frames li")].length && [...document.querySelectorAll(".frames li")].every(r => /unit 3/i.test(r.innerText))`)
	tab.Press("Pause")
	tab.Wait(`/Paused; [1-9]/.test(document.body.innerText)`)
	tab.Press("Go on")
	tab.Press("Stop monitor")

	// The report has everything on paper.
	tab.Click(`nav a[href="/more"]`)
	tab.Click(`a[href="/more/report"]`)
	tab.WaitText("Dimmer 2")
	pdf := tab.PDF()
	if pages := len(regexp.MustCompile(`/Type\s*/Page\b`).FindAll(pdf, -1)); !bytes.HasPrefix(pdf, []byte("%PDF")) || pages < 1 || pages > 3 {
		t.Errorf("the report is %d bytes with %d pages", len(pdf), pages)
	}

	// Whoever has logged out asks for nothing more, however long the answer takes.
	uitest.Eval[bool](tab, `(() => { const ask = fetch; window.came = []; window.fetch = async (...of) => { const answer = await ask(...of); came.push(String(of[0]));
		if (String(of[0]).endsWith("/logout")) await new Promise((go) => setTimeout(go, 11000)); return answer; }; return true; })()`)
	tab.Click(`nav a[href="/more"]`)
	tab.Wait(`came.some((path) => path.includes("/ledger?"))`) // what the page itself asks for has come; it shows what the stream told before that
	tab.Press("Log out")
	tab.WaitText("Password")
	tab.Go(h.url + "/buses")
	tab.WaitText("Password")
	for _, r := range append(tab.Foreign(h.url), other.Foreign(h.url)...) {
		t.Errorf("request to another origin: %s", r)
	}
}

// watch is a person before a shade that is measured, who presses when it came to stand, or did not begin to move within two seconds.
func watch(tab *uitest.Tab, stands func() bool) (taps int) {
	reads := func(text string) bool {
		return strings.Contains(uitest.Eval[string](tab, "document.body.innerText"), text)
	}
	var asked time.Time // since when the question is there and the shade has stood
	for began := time.Now(); !reads("Measured and saved") && time.Since(began) < 5*uitest.Patience; time.Sleep(50 * time.Millisecond) {
		switch {
		case reads("May the next run begin?"):
			tab.Press("Begin")
			taps++
			asked = time.Time{}
		case reads("Shall the new times replace the old ones?"):
			tab.Press("Take the new times")
			taps++
			tab.WaitText("Measured and saved")
		case !reads("It stands"):
			asked = time.Time{}
		case !stands():
			asked = time.Now().Add(-2 * time.Second)
		case asked.IsZero():
			asked = time.Now()
		case time.Since(asked) > 2*time.Second:
			tab.Press("It stands")
			taps++
			asked = time.Time{}
		}
	}
	tab.WaitText("Measured and saved")
	return taps
}

// TestPagesWithoutTheController: what one sees when it is gone, and when it is back.
func TestPagesWithoutTheController(t *testing.T) {
	t.Parallel()
	h := newBuilding(t, walkSite)
	h.serveAt("127.0.0.2:0") // which nobody else asks for, so that the port is free when the controller comes back
	h.awaitOnline()
	tab := uitest.Open(t).Tab(t, uitest.Look{Width: 360, Height: 740, Touch: true})
	logIn(h, tab, "operator")
	address := h.url
	tab.Ignore("net::ERR_") // the browser notes each attempt to connect
	h.stop()
	tab.WaitText("Not reachable; values from")
	tab.Shot("gone-360-light-en", false)
	for _, wrong := range tab.Axe() {
		t.Error(wrong)
	}
	tap(tab, `.card .slider`, .9)
	tab.WaitText("There is no answer.")
	h.serveAt(strings.TrimPrefix(address, "https://"))
	h.awaitOnline()
	tab.Wait(`document.querySelector(".live").innerText === "Live"`)
	tab.Wait(`!document.querySelector(".banner")`)
	if got := h.device(1).Channels[0].TargetLevel; got == 90 {
		t.Error("what was asked while the controller was gone was done afterwards")
	}
	h.until(func() { tap(tab, `.card:has(a[href="/clusters/1"]) .slider`, .5) }, 50, 1, 2)
}

// TestViewerOnlyLooks: what the role forbids is not there.
func TestViewerOnlyLooks(t *testing.T) {
	t.Parallel()
	h := newHouse(t, walkSite)
	tab := uitest.Open(t).Tab(t, uitest.Look{Width: 360, Height: 740})
	logIn(h, tab, "viewer")
	for _, path := range []string{"/", "/clusters/1", "/devices/1", "/shades/5001", "/buses/tcp", "/commission/shade/5001"} {
		tab.Go(h.url + path)
		tab.Wait(`document.querySelector(".live") && !document.querySelector(".skeleton")`)
		if got := uitest.Eval[int](tab, `document.querySelectorAll("input[type=range], [role=switch], main button:not(.chip):not([aria-pressed])").length`); got != 0 {
			t.Errorf("%s: a viewer has %d controls", path, got)
		}
	}
	tab.Go(h.url + "/")
	tab.Wait(`document.querySelector(".card")`)
	inspect(t, tab, "viewer-360-light-en")
}

// TestEverythingIsReachedWithKeys goes through the home page with the Tab key.
func TestEverythingIsReachedWithKeys(t *testing.T) {
	t.Parallel()
	h := newHouse(t, walkSite)
	tab := uitest.Open(t).Tab(t, uitest.Look{Width: 1440, Height: 900})
	logIn(h, tab, "operator")
	tab.Wait(`document.querySelectorAll("input[type=range]:enabled").length > 1`) // the shade's can be moved once its position is known
	all := strings.Join(tab.Stops(60), "\n")
	for _, want := range []string{"a House on the hill", "button All lights off", "input Level of Study", "button Study on", "input Opening of Study",
		"button Close Study", "button Stop Study", "button Open Study", "button Cellar on", "a Devices", "a Buses", "a More"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not reached; reached are\n%s", want, all)
		}
	}
	for until := time.Now().Add(uitest.Patience); ; { // both within a second and a half
		tab.Keys("g")
		tab.Keys("b")
		if tab.Becomes(`document.body.innerText.includes("3 buses")`, 5*time.Second) {
			break
		}
		if time.Now().After(until) {
			t.Fatal("g, b does not lead to the buses")
		}
	}
	tab.Wait(`document.activeElement.tagName === "H1"`) // the focus on a new page
}

// tap puts a finger on a slider at a share of its width.
func tap(tab *uitest.Tab, selector string, at float64) {
	tab.Wait(fmt.Sprintf(`document.querySelector(%q).getBoundingClientRect().width > 0`, selector))
	r := uitest.Eval[[]float64](tab, fmt.Sprintf(`(() => { const s = document.querySelector(%q); s.scrollIntoView({block: "center"}); const r = s.getBoundingClientRect(); return [r.left, r.top + r.height / 2, r.width]; })()`, selector))
	tab.Touch(uitest.Point{X: r[0] + 5 + (r[2]-10)*at, Y: r[1]})
}

// until does something on a page, and again every 15 s until simulated lamps have a level: what a busy machine did not come to within
// the time of a command is given up by then, and a person does it again.
func (h *house) until(do func(), level int, nodes ...appliance.ID) {
	h.t.Helper()
	do()
	next := time.Now().Add(15 * time.Second)
	h.await(uitest.Patience, fmt.Sprintf("level %d", level), func() bool {
		if h.haveLevel(level, nodes) {
			return true
		}
		if time.Now().After(next) {
			do()
			next = time.Now().Add(15 * time.Second)
		}
		return false
	})
}

// awaitLevels waits until simulated lamps have a level.
func (h *house) awaitLevels(level int, nodes ...appliance.ID) {
	h.t.Helper()
	h.await(uitest.Patience, fmt.Sprintf("level %d", level), func() bool { return h.haveLevel(level, nodes) })
}

func (h *house) haveLevel(level int, nodes []appliance.ID) bool {
	for _, id := range nodes {
		for _, c := range h.device(id).Channels {
			if d := c.TargetLevel - level; d < -1 || d > 1 {
				return false
			}
		}
	}
	return true
}
