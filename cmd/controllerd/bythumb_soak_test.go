//go:build peers && soak

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/ui/uitest"
	"svc.internal/controller/sim"
	"svc.internal/controller/site/sitefile"
)

// What a thumb needs where the script needs nothing: to look and to tap, and to type a name.
const (
	perTap   = 2 * time.Second
	perField = 8 * time.Second
)

// thumb is an installer with a phone in the demo building, whose eyes are the simulator.
type thumb struct {
	*phone
	t        *testing.T
	building *house // what hangs off the box
	box      *desk
	began    time.Time
	looked   time.Duration // at pages, by the test, which no installer does
}

// station looks at a page in both themes.
func (w *thumb) station(name string) {
	w.t.Helper()
	began := time.Now()
	for _, dark := range []bool{true, false} {
		w.Look(uitest.Look{Width: 360, Height: 740, Scale: 2, Touch: true, Dark: dark})
		inspect(w.t, w.Tab, "thumb-"+name+map[bool]string{true: "-dark", false: "-light"}[dark])
	}
	w.looked += time.Since(began)
}

// needed is the time that passed for an installer, who taps and types no faster than people do.
func (w *thumb) needed() time.Duration {
	return time.Since(w.began) - w.looked + time.Duration(w.taps)*perTap + time.Duration(w.fields)*perField
}

// at are the nodes of the building at an address.
func (w *thumb) at(bus, address string) (nodes []appliance.Node) {
	i := slices.IndexFunc(w.building.site.Buses, func(b appliance.Bus) bool { return b.Name == bus })
	for _, n := range w.building.site.Nodes {
		if n.Bus == w.building.site.Buses[i].UUID && n.Address == address {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// names are what people call what hangs off a device: its shades, or its lights.
func (w *thumb) names(bus, address string) (names []string, cluster string) {
	for _, n := range w.at(bus, address) {
		own := len(names)
		for _, s := range w.building.site.Shades {
			if s.Node == n.ID {
				names = append(names, s.Name)
				cluster = w.cluster(func(c appliance.Cluster) bool { return slices.Contains(c.Shades, s.ID) })
			}
		}
		if len(names) == own {
			names = append(names, n.Name)
			cluster = w.cluster(func(c appliance.Cluster) bool { return slices.Contains(c.Nodes, n.ID) })
		}
	}
	return names, cluster
}

func (w *thumb) cluster(has func(appliance.Cluster) bool) string {
	i := slices.IndexFunc(w.building.site.Clusters, has)
	if i < 0 {
		return ""
	}
	return w.building.site.Clusters[i].Name
}

// blink has a device show itself, and waits until the simulator says that this one did.
func (w *thumb) blink(bus, address, button string) {
	w.t.Helper()
	frames, err := w.building.building.Log(bus, 0, 1)
	if err != nil {
		w.t.Fatal(err)
	}
	writes, err := w.building.building.Writes(bus, 0, 1)
	if err != nil {
		w.t.Fatal(err)
	}
	var frame, write uint64
	if len(frames) > 0 {
		frame = frames[0].Seq
	}
	if len(writes) > 0 {
		write = writes[0].Seq
	}
	var ids []appliance.ID
	for _, n := range w.at(bus, address) {
		ids = append(ids, n.ID)
	}
	w.touch(button)
	tapped := time.Now()
	waitFor(w.t, uitest.Patience, bus+" "+address+" to show itself", func() bool {
		if time.Since(tapped) > 10*time.Second { // whoever saw nothing taps again
			w.t.Logf("%s %s did not show itself; the page says %q", bus, address, uitest.Eval[string](w.Tab, `document.querySelector(".toast").innerText + document.querySelector(".jobs").innerText`))
			w.touch(button)
			tapped = time.Now()
		}
		var changes []sim.Change
		frames, _ := w.building.building.Log(bus, frame, 0)
		for _, f := range frames {
			changes = append(changes, f.Changes...)
			if identifies(bus, address, f.Hex) {
				return true
			}
		}
		writes, _ := w.building.building.Writes(bus, write, 0)
		for _, f := range writes {
			changes = append(changes, f.Changes...)
		}
		return slices.ContainsFunc(changes, func(c sim.Change) bool { return slices.Contains(ids, c.NodeID) })
	})
}

// identifies reports whether a frame tells gear (IDENTIFY DEVICE) or a motor (CTRL_WINK, its bits inverted) to show itself. How
// it does so is its maker's matter, so that nothing that the simulator knows of it changes.
func identifies(bus, address, frame string) bool {
	b, err := hex.DecodeString(frame)
	if err != nil {
		return false
	}
	switch {
	case bus == "tower" && len(b) == 2:
		return fmt.Sprint(b[0]>>1) == address && b[0]&1 == 1 && b[1] == 0x25
	case bus == "shades-tower" && len(b) > 8:
		return ^b[0] == 0x05 && fmt.Sprintf("%02X.%02X.%02X", ^b[8], ^b[7], ^b[6]) == address
	}
	return false
}

// into chooses the cluster of what is named, which may be new.
func (w *thumb) into(cluster string) {
	w.Wait(`document.querySelector("select[name=cluster]")`)
	chosen := uitest.Eval[string](w.Tab, `(s => s.options[s.selectedIndex].text)(document.querySelector("select[name=cluster]"))`)
	switch {
	case chosen == cluster:
	case uitest.Eval[bool](w.Tab, fmt.Sprintf(`[...document.querySelectorAll("select[name=cluster] option")].some(o => o.text === %q)`, cluster)):
		w.pick("select[name=cluster]", cluster)
	default:
		w.pick("select[name=cluster]", "new")
		w.fill("input[name=other]", cluster)
	}
}

// row is the button of a list's row that stands for an address.
const row = `[...document.querySelectorAll("li")].find(l => l.querySelector(".sub")?.innerText.split(" ")[0] === %q)?.querySelector(%q)`

// one names the device on the screen, after it showed itself.
func (w *thumb) one(bus, address string) {
	w.t.Helper()
	w.WaitText(bus + ", address " + address)
	w.blink(bus, address, `[...document.querySelectorAll("button")].find(b => b.innerText.trim() === "Identify" || b.ariaLabel === "Identify output 1")`)
	names, cluster := w.names(bus, address)
	w.fill("input[name=name]", names[0])
	w.into(cluster)
	w.press("Next")
	w.Wait(fmt.Sprintf("!document.body.innerText.includes(%q)", bus+", address "+address))
}

// many names devices at once, each of which showed itself.
func (w *thumb) many(bus, way string, addresses ...string) {
	w.t.Helper()
	for open := false; !open; { // a thumb that missed taps again
		w.press("Several at once")
		for began := time.Now(); !open && time.Since(began) < 3*time.Second; {
			open = uitest.Eval[bool](w.Tab, `!!document.querySelector("button.main")`)
		}
	}
	names, cluster := w.names(bus, addresses[0])
	w.fill("input[name=name]", names[0])
	w.into(cluster)
	if uitest.Eval[bool](w.Tab, fmt.Sprintf(`!!(s => s && s.value !== %q)(document.querySelector("select[name=way]"))`, way)) {
		w.pick("select[name=way]", way)
	}
	for _, a := range addresses {
		w.blink(bus, a, fmt.Sprintf(row, a, "button.square"))
		w.touch(fmt.Sprintf(row, a, "button.main"))
	}
	for closed := false; !closed; {
		w.touch(`document.querySelector("form .next button[type=submit]")`)
		closed = w.Becomes(`!document.querySelector("button.main")`, 10*time.Second)
	}
}

// scanned waits for the end of a bus's scan, whose devices are all of those that hang there.
func (w *thumb) scanned(bus string) (devices int) {
	w.t.Helper()
	w.WaitText("found, ")
	waitFor(w.t, 10*time.Minute, "the scan of "+bus, func() bool {
		return !strings.Contains(uitest.Eval[string](w.Tab, "document.body.innerText"), "The scan goes on")
	})
	found := uitest.Eval[[]string](w.Tab, `[...document.querySelectorAll("li .item .sub")].map(e => e.innerText.split(" ")[0])`)
	for _, b := range w.building.site.Buses {
		for _, n := range w.building.site.Nodes {
			if b.Name != bus || n.Bus != b.UUID {
				continue
			}
			if devices++; !slices.Contains(found, n.Address) {
				w.t.Errorf("bus %s: address %s (%s) was not found: %q", bus, n.Address, n.Name, found)
			}
			for _, s := range w.building.site.Shades {
				if s.Node == n.ID {
					devices++
				}
			}
		}
	}
	return devices
}

// toDevices goes to what a bus's scan has found.
func (w *thumb) toDevices(bus string) {
	w.press("Buses")
	w.touch(fmt.Sprintf(`document.querySelector('a.button[href="/commission/%s"]')`, bus))
	w.WaitText("New devices on " + bus)
}

// motor is a shade's, as it is in truth.
func (w *thumb) motor(bus, address string, output int) (moving bool, motion string) {
	for _, d := range w.building.building.DevicesOn(bus) {
		for _, s := range d.Shades {
			if d.Address == address && s.Output == output {
				return s.Moving, s.Motion
			}
		}
	}
	w.t.Fatalf("%s %s has no shade %d", bus, address, output)
	return false, ""
}

// whichWay says which way each of some shades of relays goes, as seen.
func (w *thumb) whichWay(bus, address string, outputs ...int) {
	for _, o := range outputs {
		w.WaitText("by moving it")
		w.press("Find out which way is up")
		went := ""
		waitFor(w.t, uitest.Patience, "the question which way it went", func() bool {
			if moving, motion := w.motor(bus, address, o); moving {
				went = motion
			}
			return strings.Contains(uitest.Eval[string](w.Tab, "document.body.innerText"), "Which way did it go?")
		})
		w.press(map[string]string{"opening": "Up", "closing": "Down", "": "It did not move"}[went])
		const shade = `/Check (.*) by moving it/.exec(document.body.innerText)?.[1] ?? ""`
		for was := uitest.Eval[string](w.Tab, shade); uitest.Eval[string](w.Tab, shade) == was; { // a thumb that missed taps again
			w.press("Go on")
			w.Becomes(fmt.Sprintf("(%s) !== %q", shade, was), 3*time.Second)
		}
	}
}

// site is what the box knows.
func (w *thumb) site() appliance.Site {
	w.t.Helper()
	s, err := sitefile.Parse("export", []byte(w.box.must("site", "export")))
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// photograph is the picture of a plan on a wall.
func photograph(t *testing.T) []byte {
	m := image.NewGray(image.Rect(0, 0, 1600, 1200))
	for x := range 1600 {
		for y := range 1200 {
			m.SetGray(x, y, color.Gray{Y: 235})
			if x%400 < 6 || y%400 < 6 || x > 1593 || y > 1193 {
				m.SetGray(x, y, color.Gray{Y: 90})
			}
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, m); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestSoakABuildingByThumb is an installer with a phone and nothing else, before a controller that knows nothing, at the wires of
// the demo building: claim, seven buses, all that hangs off them found, 60 devices named and put into rooms, each after it
// showed itself, 24 motors and five pairs of relays as shades, a floor with all of it on its plan, the report, a backup, and
// its restore on another empty controller. Truth is looked at in the simulator.
func TestSoakABuildingByThumb(t *testing.T) {
	if _, err := program(); err != nil { // is built before anybody waits for it
		t.Fatal(err)
	}
	building := bare(t, demoSite(t))
	building.plugAll()
	box := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	served := box.serve("--devices", building.devices)
	w := &thumb{t: t, building: building, box: box, began: time.Now(),
		phone: &phone{Tab: uitest.Open(t).Tab(t, uitest.Look{Width: 360, Height: 740, Scale: 2, Touch: true})}}
	part := func(what string, do func()) {
		taps, fields, scrolled, began, needed := w.taps, w.fields, w.scrolled, time.Now().Add(-w.looked), w.needed()
		do()
		t.Logf("%s: %d taps, %d typed fields, scrolled by %.0f windows; the script %.1f min, a thumb some %.1f min", what, w.taps-taps, w.fields-fields,
			w.scrolled-scrolled, (time.Since(began) - w.looked).Minutes(), (w.needed() - needed).Minutes())
	}
	address := func(bus string) string { _, a, _ := strings.Cut(building.port(bus), "://"); return a }

	part("claimed, and the first light named", func() {
		w.claim(t, served.url, box.dataDir)
		w.press("To the buses")
		w.addBus(t, address("offices"), "offices")
		w.one("offices", "1/0")
	})
	if took := w.needed(); took > 3*time.Minute {
		t.Errorf("the first light had its name after %v, at most 3 min", took)
	}
	w.station("first")

	part("six more buses", func() {
		for _, b := range []string{"shades-tower", "tower", "ground-floor", "upper-floor", "annex", "stage"} {
			w.press("Buses")
			at := "Test " + b
			if b == "annex" {
				at = address(b)
			}
			began := time.Now()
			w.addBus(t, at, b)
			t.Logf("bus %s was there after %.0f s", b, time.Since(began).Seconds())
		}
	})
	w.press("Buses")
	w.station("buses")

	upTo := func(n int, to func(int) string) (list []string) {
		for i := range n {
			list = append(list, to(i))
		}
		return list
	}
	plain := func(from int) func(int) string { return func(i int) string { return fmt.Sprint(from + i) } }
	gear := func(from int) func(int) string { return func(i int) string { return fmt.Sprint("1/", from+i) } }
	named := time.Duration(0)
	part("60 devices named and placed, the first light not counted", func() {
		began := w.needed()
		w.toDevices("offices")
		w.many("offices", "whole", upTo(15, gear(1))...)
		w.many("offices", "whole", upTo(16, gear(16))...)
		w.toDevices("upper-floor")
		for i := range 8 {
			w.one("upper-floor", fmt.Sprint(i+1))
		}
		w.many("upper-floor", "lights", upTo(3, plain(11))...)
		w.many("upper-floor", "lights", upTo(3, plain(14))...)
		w.toDevices("ground-floor")
		w.many("ground-floor", "lights", "1", "2")
		w.toDevices("tower")
		w.many("tower", "whole", upTo(12, plain(0))...)
		named = w.needed() - began
	})
	if named > 15*time.Minute {
		t.Errorf("60 devices were named after %v, at most 15 min", named)
	}
	w.station("named")
	part("24 motors as shades", func() {
		w.toDevices("shades-tower")
		for side := range 4 {
			w.many("shades-tower", "shades", upTo(6, func(i int) string { return fmt.Sprintf("06.1%d.0%d", side, i+1) })...)
		}
	})

	part("five pairs of relays as shades, which way is up", func() {
		w.toDevices("ground-floor")
		w.touch(fmt.Sprintf(row, "41", "button"))
		w.choose("3 shades")
		w.fill("input[name=name]", "Lobby shade")
		w.into("Lobby")
		w.press("Next")
		w.WaitText("by moving it")
		w.station("check")
		w.whichWay("ground-floor", "41", 1, 2, 3)
		w.touch(fmt.Sprintf(row, "43", "button"))
		w.choose("Some of each")
		w.choose("Outputs 1 and 2 move a shade")
		w.choose("Outputs 3 and 4 move a shade")
		w.fill("input[name=name]", "Canteen relay")
		w.touch(`document.querySelector("form summary")`)
		w.fill("input[name=name2]", "Canteen shade 2")
		w.fill("input[name=name3]", "Canteen shade 3")
		w.into("Canteen")
		w.station("some")
		w.press("Next")
		w.whichWay("ground-floor", "43", 1, 2)
	})
	part("four of them measured", func() {
		for _, s := range w.site().Shades {
			if !regexp.MustCompile(`^(Lobby shade|Canteen shade 2)`).MatchString(s.Name) {
				continue
			}
			on := appliance.NodeIn(w.site().Nodes, s.Node).Address
			w.press("Devices")
			w.fill("input[type=search]", s.Name)
			w.touch(fmt.Sprintf(`document.querySelector('a[href="/shades/%d"]')`, s.ID))
			w.press("Calibrate")
			w.press("Measure the times")
			w.Wait(`!document.body.innerText.includes("Measured and saved")`) // which way is up, before
			w.taps += watch(w.Tab, func() bool { moving, _ := w.motor("ground-floor", on, s.Output); return !moving })
		}
	})
	w.station("measured")

	// All that hangs off the buses was found.
	devices := 0
	for _, b := range building.site.Buses {
		w.Go(served.url + "/commission/" + b.Name)
		devices += w.scanned(b.Name)
	}
	t.Logf("%d devices were found on %d buses, %.1f min after the box had power (the script's)", devices, len(building.site.Buses), (time.Since(w.began) - w.looked).Minutes())
	if devices != 245 {
		t.Errorf("%d devices hang off the buses, want 245", devices)
	}

	put := map[string]uitest.Point{}
	part("a floor, its picture, and all of it on the plan", func() {
		w.press("More")
		w.touch(`document.querySelector('a[href="/plan"]')`)
		w.press("New floor")
		w.fill("dialog input[name=name]", "Whole house")
		w.taps += 2
		chooseFile(w.Tab, "dialog input[type=file]", photograph(t))
		for _, c := range w.site().Clusters {
			w.choose(c.Name)
		}
		w.press("Save")
		w.Wait(`document.querySelector(".plan img")?.complete && document.querySelector(".plan img").style.transform`)
		w.press("Arrange")
		w.touch(`[...document.querySelectorAll(".pick")].find(b => b.innerText.trim() === "Atrium colour 1")`)
		inHand := func() string {
			return uitest.Eval[string](w.Tab, `/Tap where (.*) stands/.exec(document.body.innerText)?.[1] ?? ""`)
		}
		w.WaitText("Tap where")
		for i := 0; inHand() != ""; i++ {
			name, at := inHand(), uitest.Point{X: .05 + .09*float64(i%11), Y: .05 + .09*float64(i/11)}
			w.taps++
			w.Touch(onPlan(w.Tab, at.X, at.Y))
			put[name] = at
			w.Wait(fmt.Sprintf(`/Tap where (.*) stands/.exec(document.body.innerText)?.[1] !== %q`, name))
			if i == 40 {
				w.station("arranging")
			}
		}
		w.WaitText(fmt.Sprintf("%d things on the plan", len(put)))
		w.press("Done arranging")
	})
	w.station("plan")

	// What the box knows is what is true, and what stands on the plan stands where the thumb was.
	site := w.site()
	lights, shades := 0, 0
	for _, n := range site.Nodes {
		b := site.Buses[slices.IndexFunc(site.Buses, func(b appliance.Bus) bool { return b.UUID == n.Bus })]
		want := slices.ContainsFunc(w.at(b.Name, n.Address), func(m appliance.Node) bool { return m.Name == n.Name && slices.Equal(m.Outputs, n.Outputs) })
		relay := strings.HasPrefix(n.Name, "Canteen relay")
		if moves := slices.ContainsFunc(site.Shades, func(s appliance.Shade) bool { return s.Node == n.ID }); moves && !relay {
			continue
		}
		if lights++; !want && !relay {
			t.Errorf("%s is not what hangs at %s %s: %v", n.Name, b.Name, n.Address, w.at(b.Name, n.Address))
		}
	}
	for _, s := range site.Shades {
		shades++
		n := appliance.NodeIn(site.Nodes, s.Node)
		b := site.Buses[slices.IndexFunc(site.Buses, func(b appliance.Bus) bool { return b.UUID == n.Bus })]
		if names, _ := w.names(b.Name, n.Address); !slices.Contains(names, s.Name) {
			t.Errorf("%s is not what moves at %s %s: %q", s.Name, b.Name, n.Address, names)
		}
		for _, true := range building.site.Shades {
			if true.Name == s.Name && s.TravelUp != 0 && (math.Abs((true.TravelUp-s.TravelUp).Seconds()) > 1.5 || math.Abs((true.TravelDown-s.TravelDown).Seconds()) > 1.5) {
				t.Errorf("%s was measured as %v up and %v down, and takes %v and %v", s.Name, s.TravelUp, s.TravelDown, true.TravelUp, true.TravelDown)
			}
		}
	}
	if lights != 72 || shades != 29 || len(put) != lights+shades {
		t.Errorf("%d lights, %d shades, %d things on the plan, want 72, 29 and all of them", lights, shades, len(put))
	}
	called := map[string]bool{}
	for _, c := range site.Clusters {
		if called[c.Name] {
			t.Errorf("two clusters are called %q", c.Name)
		}
		called[c.Name] = true
	}
	for _, s := range site.Division.Floors[0].Plan.Spots {
		name := ""
		if n := appliance.NodeIn(site.Nodes, s.Node); n != nil {
			name = n.Name
		}
		for _, h := range site.Shades {
			if h.ID == s.Shade {
				name = h.Name
			}
		}
		if at := put[name]; math.Abs(s.X-at.X) > .02 || math.Abs(s.Y-at.Y) > .02 {
			t.Errorf("%q stands at %.2f, %.2f, put there at %+v", name, s.X, s.Y, at)
		}
	}

	var backup []byte
	part("the report and a backup", func() {
		w.press("More")
		w.touch(`document.querySelector('a[href="/more/report"]')`)
		w.WaitText("Tower west shade 6")
		if pdf := w.PDF(); !bytes.HasPrefix(pdf, []byte("%PDF")) {
			t.Errorf("the report is %d bytes, and no PDF", len(pdf))
		}
		text := uitest.Eval[string](w.Tab, "document.body.innerText")
		for name := range put {
			if !strings.Contains(text, name) {
				t.Errorf("the report does not have %s", name)
			}
		}
		w.station("report")
		w.press("More")
		w.touch(`document.querySelector('a[href="/more/backup"]')`)
		w.taps++ // the browser asks where the file is to be
		w.Wait(`document.querySelector('a[href="/api/v1/backup"]')`)
		code := uitest.Eval[string](w.Tab, `fetch(document.querySelector('a[href="/api/v1/backup"]').href).then(r => r.bytes()).then(b => b.toBase64())`)
		var err error
		if backup, err = base64.StdEncoding.DecodeString(code); err != nil {
			t.Fatal(err)
		}
	})
	part("its restore on an empty controller", func() {
		want := box.must("site", "export")
		for _, r := range w.Foreign(served.url) {
			t.Errorf("request to another origin: %s", r)
		}
		other := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
		there := other.serve()
		w.Ignore("status of 503", "net::ERR_") // of the time in which the controller starts anew
		w.claim(t, there.url, other.dataDir)
		w.press("More")
		w.touch(`document.querySelector('a[href="/more/backup"]')`)
		w.taps += 2
		w.Wait(`document.querySelector("input[type=file]")`)
		chooseFile(w.Tab, "input[type=file]", backup)
		w.press("Try it")
		w.WaitText("It is whole and can be restored.")
		w.station("restore")
		w.press("Restore it")
		w.fill("#typed", "admin")
		w.taps++
		w.Submit()
		w.Wait(`document.querySelector("input[name=username]")`)
		w.Console()
		w.fill("input[name=username]", "admin")
		w.fill("input[name=password]", housePassword)
		w.taps++
		w.Keys("\r")
		w.press("Home")
		w.WaitText("Lobby")
		if got := other.must("site", "export"); got != want {
			t.Errorf("restored\n%s\nwant\n%s", got, want)
		}
	})
	t.Logf("all of it: %d taps, %d typed fields, scrolled by %.0f windows; the script %.1f min, a thumb some %.1f min (%v a tap, %v a field)",
		w.taps, w.fields, w.scrolled, (time.Since(w.began) - w.looked).Minutes(), w.needed().Minutes(), perTap, perField)
}
