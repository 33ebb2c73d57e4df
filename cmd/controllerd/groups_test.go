package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/store"
)

// rememberGroups lets the daemon know the group tables of a bus as from before a
// restart.
func (h *house) rememberGroups(bus string) {
	h.t.Helper()
	db, err := store.Open(h.t.Context(), h.dataDir, slog.New(slog.DiscardHandler))
	if err != nil {
		h.t.Fatal(err)
	}
	defer db.Close()
	for _, b := range h.site.Buses {
		if b.Name != bus {
			continue
		}
		var memory appliance.BusGroups
		for _, n := range h.site.Nodes {
			if n.Bus == b.UUID {
				memory.Tables = append(memory.Tables, appliance.GroupTable{Device: n.Address, Held: h.holds(bus, n.Address), Known: true})
			}
		}
		if err := db.SaveGroups(h.t.Context(), b.UUID, memory); err != nil {
			h.t.Fatal(err)
		}
	}
}

// holds are the groups that a simulated device really holds.
func (h *house) holds(bus, address string) []string {
	h.t.Helper()
	groups, err := h.building.Groups(bus, address)
	if err != nil {
		h.t.Fatal(err)
	}
	return groups
}

func (h *house) wipe(bus, address string, groups ...string) {
	h.t.Helper()
	if err := h.building.SetGroups(bus, address, groups); err != nil {
		h.t.Fatal(err)
	}
}

// groupSite has a line of six gears and a bus of four motors, none of them in a
// group of ours: clusters on each, and one across both.
const groupSite = `
site: {name: Groups}
buses:
  - {name: line, driver: dali, port: "@DIR@/line", options: {gateway: atx}}
  - {name: facade, driver: sdn, port: "@DIR@/facade"}
nodes:
  - {id: 1, name: Desk 1, bus: line, address: 0, profile: dali-dt6}
  - {id: 2, name: Desk 2, bus: line, address: 1, profile: dali-dt6}
  - {id: 3, name: Desk 3, bus: line, address: 2, profile: dali-dt6}
  - {id: 4, name: Wall 1, bus: line, address: 3, profile: dali-dt6}
  - {id: 5, name: Wall 2, bus: line, address: 4, profile: dali-dt6}
  - {id: 6, name: Door, bus: line, address: 5, profile: dali-dt6}
  - {id: 11, name: Motor 1, bus: facade, address: 06.00.01, profile: somfy-sdn-30dc}
  - {id: 12, name: Motor 2, bus: facade, address: 06.00.02, profile: somfy-sdn-30dc}
  - {id: 13, name: Motor 3, bus: facade, address: 06.00.03, profile: somfy-sdn-30dc}
  - {id: 14, name: Motor 4, bus: facade, address: 06.00.04, profile: somfy-sdn-30dc}
shades:
  - {id: 501, name: South 1, node: 11, output: 1, travelUp: 6s, travelDown: 6s}
  - {id: 502, name: South 2, node: 12, output: 1, travelUp: 6s, travelDown: 6s}
  - {id: 503, name: South 3, node: 13, output: 1, travelUp: 6s, travelDown: 6s}
  - {id: 504, name: East, node: 14, output: 1, travelUp: 6s, travelDown: 6s}
clusters:
  - {id: 1, name: Desks, nodes: [1, 2, 3]}
  - {id: 2, name: Walls, nodes: [4, 5]}
  - {id: 3, name: South, shades: [501, 502, 503]}
  - {id: 4, name: Corner, nodes: [3, 4], shades: [503, 504]}
`

// groupHouse is a building whose frames are looked at.
type groupHouse struct {
	*house
	seen   map[string]uint64 // how far the frames of a bus were looked at
	halves int               // of table writes that are sent twice
	motors int               // table writes to motors
}

// tableWrites counts writes to group tables since the building was built.
func (g *groupHouse) tableWrites() int {
	g.t.Helper()
	for _, bus := range []string{"line", "facade"} {
		frames, err := g.building.Log(bus, g.seen[bus], 0)
		if err != nil {
			g.t.Fatal(err)
		}
		for _, f := range frames {
			g.seen[bus] = f.Seq
			var b [2]byte
			fmt.Sscanf(f.Hex, "%2x%2x", &b[0], &b[1])
			switch {
			case f.Direction != "request":
			case bus == "facade" && b[0]^0xFF == 0x51: // SET_GROUP_ADDR, inverted on the wire
				g.motors++
			case bus == "line" && b[0] < 0x80 && b[0]&1 == 1 && b[1] >= 0x60 && b[1] < 0x80: // ADD TO, REMOVE FROM GROUP
				g.halves++
			}
		}
	}
	return g.halves/2 + g.motors
}

// groups is what the command line tells of a bus.
func (g *groupHouse) groups(bus string) (out api.Groups) {
	g.t.Helper()
	text := g.desk().must("bus", "groups", bus, "--json")
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		g.t.Fatalf("%v in %s", err, text)
	}
	return out
}

// await waits until a condition holds that is asked for on the command line.
func (g *groupHouse) await(most time.Duration, what string, holds func() bool) {
	g.t.Helper()
	for deadline := time.Now().Add(atMost(most)); !holds(); time.Sleep(500 * time.Millisecond) {
		if time.Now().After(deadline) {
			g.t.Fatalf("after %v still not: %s", most, what)
		}
	}
}

// claims are the groups of the clusters that are in use.
func (g *groupHouse) claims() (inUse map[string]string) {
	inUse = map[string]string{}
	for _, bus := range []string{"line", "facade"} {
		for _, c := range g.groups(bus).Clusters {
			if c.Ready {
				inUse[bus+" "+c.Name] = c.Group
			}
		}
	}
	return inUse
}

// read reports whether all tables were read since the start.
func (g *groupHouse) read() bool {
	for _, bus := range []string{"line", "facade"} {
		have := g.groups(bus)
		if !have.Surveyed || slices.ContainsFunc(have.Devices, func(d api.GroupDevice) bool { return d.ReadAt == nil }) {
			return false
		}
	}
	return true
}

// allow changes the option groups of both buses, by an import.
func (g *groupHouse) allow(mode string) {
	g.t.Helper()
	db, err := store.Open(g.t.Context(), g.dataDir, slog.New(slog.DiscardHandler))
	if err != nil {
		g.t.Fatal(err)
	}
	defer db.Close()
	for i := range g.site.Buses {
		options := map[string]string{"groups": mode}
		for k, v := range g.site.Buses[i].Options {
			if k != "groups" {
				options[k] = v
			}
		}
		g.site.Buses[i].Options = options
	}
	if _, err := db.Import(g.t.Context(), g.site, store.ImportOptions{By: "tests"}); err != nil {
		g.t.Fatal(err)
	}
}

// frames sends a command and tells the frames that went out.
func (g *groupHouse) frames(bus, path, body string) (groups, singles int) {
	g.t.Helper()
	before := g.lastOrder(bus)
	if status, message := g.control(path, body); status != 1 {
		g.t.Errorf("%s %s: status %d: %s", path, body, status, message)
	}
	return groupsAndSingles(g.orders(bus, before))
}

func (g *groupHouse) mustBeOneFrame(bus, path, body string) {
	g.t.Helper()
	if groups, singles := g.frames(bus, path, body); groups != 1 || singles != 0 {
		g.t.Errorf("%s %s: %d group frames and %d to one device, want one group frame", path, body, groups, singles)
	}
}

func TestClustersAreGroupsOfTheDevices(t *testing.T) {
	t.Parallel()
	virtualBuilding(t, groupSite, func(t *testing.T, h *house) {
		g := &groupHouse{house: h, seen: map[string]uint64{}}
		keypad := []string{"01.01.05", "01.01.FE"}
		g.wipe("facade", "06.00.01", keypad...)
		g.wipe("line", "0", "15", "3")
		g.serve()

		g.await(2*time.Minute, "all tables read", g.read)
		if _, singles := g.frames("line", "channelControl", `{"targetType":2,"targetId":1,"command":"DIM","dimLevel":31}`); singles != 3 {
			t.Errorf("%d frames to single gear, want three: there is no group", singles)
		}
		if n := g.tableWrites(); n != 0 {
			t.Fatalf("%d table writes although nobody allowed any", n)
		}

		g.allow("keep")
		for _, enough := range []int{1, 6} { // killed after the first write, and in the middle
			waitFor(t, 2*time.Minute, "tables being written", func() bool { return g.tableWrites() >= enough })
			g.killDaemon()
			g.serve()
		}
		want := map[string]string{
			"line Desks": "14", "line Walls": "13", "line Corner": "12", "facade South": "01.01.FD", "facade Corner": "01.01.FC",
		}
		g.await(3*time.Minute, "every cluster a group", func() bool { return len(g.claims()) == len(want) })
		if got := g.claims(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("groups %v, want %v", got, want)
		}
		g.inStep(want, keypad)
		// Each device is written once for each group, but for those that the kills caught
		// between writing and remembering.
		if n := g.tableWrites(); n < 12 || n > 14 {
			t.Errorf("%d table writes, want 12 and one more for each kill at most", n)
		}
		g.moveByOneFrame()

		g.killDaemon()
		g.serve()
		g.await(time.Minute, "groups in use as before the restart", func() bool { return len(g.claims()) == len(want) })
		g.mustBeOneFrame("line", "channelControl", `{"targetType":2,"targetId":1,"command":"DIM","dimLevel":66}`)

		g.repairWiped(want)
	})
}

// inStep checks the tables in the devices.
func (g *groupHouse) inStep(want map[string]string, keypad []string) {
	g.t.Helper()
	for address, clusters := range map[string][]string{"0": {"line Desks"}, "1": {"line Desks"}, "2": {"line Desks", "line Corner"}, "3": {"line Walls", "line Corner"},
		"4": {"line Walls"}, "5": nil, "06.00.01": {"facade South"}, "06.00.02": {"facade South"}, "06.00.03": {"facade South", "facade Corner"}, "06.00.04": {"facade Corner"}} {
		bus := "line"
		if strings.Contains(address, ".") {
			bus = "facade"
		}
		var groups []string
		for _, c := range clusters {
			groups = append(groups, want[c])
		}
		switch address {
		case "0":
			groups = append(groups, "15", "3")
		case "06.00.01":
			groups = append(groups, keypad...)
		}
		got := slices.Clone(g.holds(bus, address))
		slices.Sort(got)
		slices.Sort(groups)
		if !slices.Equal(got, groups) {
			g.t.Errorf("%s holds %v, want %v", address, got, groups)
		}
	}
}

func (g *groupHouse) moveByOneFrame() {
	g.mustBeOneFrame("line", "channelControl", `{"targetType":2,"targetId":1,"command":"DIM","dimLevel":40}`)
	g.mustBeOneFrame("line", "channelControl", `{"targetType":2,"targetId":4,"command":"DIM","dimLevel":50}`)
	g.mustBeOneFrame("facade", "shadeControl", `{"targetType":2,"targetId":3,"command":"POS","posValue":80}`)
	start := g.device(6).Channels[0].TargetLevel // nobody told it anything
	for id, level := range map[appliance.ID]int{1: 40, 2: 40, 3: 50, 4: 50, 5: start} {
		if got := g.device(id).Channels[0].TargetLevel; got < level-1 || got > level+1 {
			g.t.Errorf("node %d is at %d, want %d", id, got, level)
		}
	}
	if s := g.device(14).Shades[0]; s.Position != 50 || s.Moving {
		g.t.Errorf("the shade that nobody meant: %+v", s)
	}
}

// repairWiped resets a motor and a gear to factory settings. The motor misses the
// next group frame, is told by itself and written again; for the gear an installer
// does not wait for that.
func (g *groupHouse) repairWiped(want map[string]string) {
	g.await(2*time.Minute, "all tables read", g.read)
	waitFor(g.t, 30*time.Second, "shades at rest", func() bool { return !g.device(11).Shades[0].Moving && !g.device(12).Shades[0].Moving })
	g.await(time.Minute, "a table old enough to be doubted", func() bool {
		devices := g.groups("facade").Devices
		i := slices.IndexFunc(devices, func(d api.GroupDevice) bool { return d.Device == "06.00.02" })
		return time.Since(*devices[i].ReadAt) > 6*time.Second
	})
	g.wipe("facade", "06.00.02")
	if groups, singles := g.frames("facade", "shadeControl", `{"targetType":2,"targetId":3,"command":"POS","posValue":20}`); groups != 1 || singles < 1 {
		g.t.Errorf("%d group frames and %d to one motor, want the group and a repair", groups, singles)
	}
	waitFor(g.t, time.Minute, "the motor in its group again", func() bool {
		return slices.Equal(g.holds("facade", "06.00.02"), []string{want["facade South"]})
	})
	g.wipe("line", "3")
	out := g.desk().run("bus", "groups", "line", "--write")
	if out.code != 0 || !strings.Contains(out.err, "3: writing: into "+want["line Corner"]+" "+want["line Walls"]) || !strings.Contains(out.out, "in step") {
		g.t.Errorf("%+v", out)
	}
	if got := g.holds("line", "3"); len(got) != 2 {
		g.t.Errorf("gear 3 holds %v", got)
	}
	g.await(time.Minute, "all in use again", func() bool { return len(g.claims()) == len(want) })
	waitFor(g.t, 30*time.Second, "shades at rest", func() bool { return !g.device(11).Shades[0].Moving && !g.device(12).Shades[0].Moving })
	waitFor(g.t, 30*time.Second, "one frame again", func() bool {
		groups, singles := g.frames("facade", "shadeControl", `{"targetType":2,"targetId":3,"command":"POS","posValue":90}`)
		return groups == 1 && singles == 0
	})
	g.t.Logf("%s", g.desk().must("bus", "groups", "facade"))
}

func TestGroupsOfABusThatHasNone(t *testing.T) {
	t.Parallel()
	virtually(t, smallSite, func(t *testing.T, h *house) {
		for what, c := range map[string]struct {
			args []string
			says string
		}{
			"a bus without tables":           {[]string{h.site.Buses[0].Name}, "knows no group tables"},
			"a bus without tables, to write": {[]string{h.site.Buses[0].Name, "--write"}, "knows no group tables"},
			"no such bus":                    {[]string{"cellar"}, "cellar"},
			"no bus named":                   {nil, "arg"},
		} {
			if s := h.desk().run(append([]string{"bus", "groups"}, c.args...)...); s.code == 0 || s.out != "" || !strings.Contains(s.err, c.says) {
				t.Errorf("%s: %+v", what, s)
			}
		}
		h.stop()
		if s := h.desk().run("bus", "groups", h.site.Buses[0].Name); s.code == 0 || !strings.Contains(s.err, "no daemon") {
			t.Errorf("without a daemon: %+v", s)
		}
	})
}
