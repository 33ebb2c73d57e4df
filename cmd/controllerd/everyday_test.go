package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
)

const everydaySite = `
site: {name: Everyday}
buses:
  - {name: rtu, driver: modbus, port: "@DIR@/rtu", line: {baudRate: 19200, parity: even, stopBits: 1}}
nodes:
  - {id: 1, name: Lobby, bus: rtu, address: 1, profile: wirenboard-wb-mdm3, outputs: [1]}
  - {id: 2, name: Stairs, bus: rtu, address: 1, profile: wirenboard-wb-mdm3, outputs: [2]}
  - {id: 3, name: Meter, bus: rtu, address: 9, profile: eastron-sdm120}
clusters:
  - {id: 4, name: Ground floor, nodes: [1, 2]}
`

// TestTheEverydayFromTheCommandLine: looking, switching, renaming, replacing, finding.
func TestTheEverydayFromTheCommandLine(t *testing.T) {
	t.Parallel()
	virtually(t, strings.Replace(everydaySite, "clusters:", "  - {id: 5, name: Cellar, bus: rtu, address: 3, profile: waveshare-relay-8ch, outputs: [1, 2]}\nclusters:", 1), func(t *testing.T, h *house) {
		d := h.desk()
		wants := func(t *testing.T, out string, words ...string) {
			t.Helper()
			for _, w := range words {
				if !strings.Contains(out, w) {
					t.Errorf("%q is not in\n%s", w, out)
				}
			}
		}
		fails := func(t *testing.T, code int, word string, args ...string) {
			t.Helper()
			if s := d.run(args...); s.code != code || !strings.Contains(s.err, word) {
				t.Errorf("%v: exit code %d, %q; want %d and %q", args, s.code, s.err, code, word)
			}
		}
		levels := func() (one, two int) {
			var list []api.Node
			if err := json.Unmarshal([]byte(d.must("light", "list", "--json")), &list); err != nil || len(list) != 3 {
				t.Fatalf("%v: %d lights", err, len(list))
			}
			return list[0].Level.Value, list[1].Level.Value
		}
		h.part("lights", func() {
			d.must("light", "off", "--all")
			wants(t, d.must("light", "dim", "40", "Lobby"), "Lobby", "done")
			if one, two := levels(); one != 40 || two != 0 {
				t.Errorf("levels %d and %d", one, two)
			}
			wants(t, d.must("light", "list"), "LEVEL", "40 %", "Stairs", "online")
			d.must("light", "dim", "25%", "--cluster", "Ground floor")
			if one, two := levels(); one != 25 || two != 25 {
				t.Errorf("levels %d and %d", one, two)
			}
			d.must("light", "off", "1", "2")
			var entries []api.Entry
			if err := json.Unmarshal([]byte(d.must("light", "on", "2", "--json")), &entries); err != nil || len(entries) != 1 || !entries[0].OK || entries[0].Who != h.typist() || entries[0].Via != "console" {
				t.Errorf("%v %+v", err, entries)
			}
			if one, two := levels(); one != 0 || two != 25 {
				t.Errorf("levels %d and %d", one, two)
			}
			wants(t, d.must("light", "dim", "40", "Cellar", "Lobby"), "5   Cellar  on: it cannot be dimmed\n", "1   Lobby   done\n")
			out := d.must("light", "dim", "0", "Cellar", "Lobby")
			wants(t, out, "5   Cellar  done\n")
			if strings.Count(out, "Cellar") != 1 {
				t.Errorf("a light of two channels is not told once:\n%s", out)
			}
			fails(t, 2, "want a level", "light", "dim", "140", "Lobby")
			fails(t, 2, "name the lights", "light", "on")
			fails(t, 2, "name the lights, or give --cluster or --all, not both", "light", "on", "Lobby", "--all")
			fails(t, 1, `light "Attic": not found; 'controllerd light list' shows`, "light", "on", "Attic")
			fails(t, 1, `light "Meter"`, "light", "on", "Meter")
		})
		h.part("clusters", func() {
			wants(t, d.must("cluster", "list"), "Ground floor", "2/2", "(0 to 25)")
			fails(t, 1, "cluster list", "light", "off", "--cluster", "Attic")
		})
		h.part("a device blinks and is as before", func() {
			before := h.writes()
			wants(t, d.must("node", "identify", "Lobby"), "1 Lobby")
			blinked := h.writes() - before
			if one, two := levels(); blinked < 6 || one != 0 || two != 25 {
				t.Errorf("after %d writes the levels are %d and %d", blinked, one, two)
			}
			wants(t, d.must("bus", "identify", "rtu", "1"), "1 on rtu")
			if one, two := levels(); one != 0 || two != 25 {
				t.Errorf("levels %d and %d", one, two)
			}
			for _, args := range [][]string{{"node", "identify", "Lobby"}, {"bus", "identify", "rtu", "1"}} {
				var j api.Job
				if err := json.Unmarshal([]byte(d.must(append(args, "--json")...)), &j); err != nil || j.Kind != "identify" || j.State != "done" {
					t.Errorf("%v: %v %+v", args, err, j)
				}
			}
			fails(t, 1, "none there", "bus", "identify", "rtu", "9")
		})
		h.part("nodes", func() {
			wants(t, d.must("node", "list"), "Meter", "eastron-sdm120", "1 [2]")
			wants(t, d.must("node", "rename", "Lobby", "Entrance"), "name Lobby → Entrance")
			wants(t, d.must("node", "replace", "Entrance", "--address", "7"), "1 Entrance: address 1 → 7")
			n := h.daemon.core.Snapshot().Node(1).Node
			if n.Name != "Entrance" || n.Address != "7" || n.ID != 1 {
				t.Errorf("it is %+v", n)
			}
			if cl := h.daemon.core.Snapshot().Cluster(4).Cluster; len(cl.Nodes) != 2 || cl.Nodes[0] != appliance.ID(1) {
				t.Errorf("its cluster is %+v", cl)
			}
			fails(t, 2, "address", "node", "replace", "Entrance")
			fails(t, 1, `node 1: there is no bus "attic"; 'controllerd bus list' shows those there are`, "node", "replace", "Entrance", "--address", "7", "--bus", "attic")
			fails(t, 1, "node 1: name: is missing\n", "node", "rename", "Entrance", "")
			for _, args := range [][]string{{"identify", "attic", "1"}, {"groups", "attic"}, {"groups", "attic", "--write"}, {"service", "attic"}, {"service", "attic", "motor"}, {"monitor", "attic"}} {
				fails(t, 1, "'controllerd bus list' shows those there are\n", append([]string{"bus"}, args...)...)
			}
			var renamed, replaced api.Node
			for out, args := range map[*api.Node][]string{&renamed: {"rename", "2", "Stairwell"}, &replaced: {"replace", "3", "--address", "8"}} {
				if err := json.Unmarshal([]byte(d.must(append([]string{"node"}, append(args, "--json")...)...)), out); err != nil {
					t.Errorf("%v: %v", args, err)
				}
			}
			if renamed.Name != "Stairwell" || replaced.ID != 3 || replaced.Address != "8" {
				t.Errorf("got %+v and %+v", renamed, replaced)
			}
			d.must("node", "rename", "2", "Stairs")
			d.must("node", "replace", "1", "--address", "1")
		})
		h.part("a device of several outputs", func() {
			replace := func(args ...string) said { return d.run(append([]string{"node", "replace"}, args...)...) }
			if s := replace("1", "--address", "7"); s.code != 0 || !strings.Contains(s.err, "1 other node (2) is still at address 1; if the whole device was exchanged, replace the rest too: controllerd node replace 2 --device --address 7") {
				t.Errorf("one node of two: exit code %d, %q", s.code, s.err)
			}
			wants(t, d.must("node", "replace", "2", "--device", "--address", "7"), "2 Stairs: address 1 → 7")
			if s := replace("1", "--device", "--address", "1", "--profile", "wirenboard-wb-mao4"); s.code != 0 || s.err != "" ||
				s.out != "1 Entrance: address 7 → 1\n1 Entrance: profile wirenboard-wb-mdm3 → wirenboard-wb-mao4\n2 Stairs: address 7 → 1\n2 Stairs: profile wirenboard-wb-mdm3 → wirenboard-wb-mao4\n" {
				t.Errorf("the whole device: exit code %d, %q, %q", s.code, s.out, s.err)
			}
			fails(t, 1, "if the whole device was exchanged, give --device", "node", "replace", "2", "--address", "1", "--profile", "wirenboard-wb-mdm3")
			wants(t, d.must("node", "replace", "2", "--device", "--address", "1", "--profile", "wirenboard-wb-mdm3"), "1 Entrance: profile wirenboard-wb-mao4 → wirenboard-wb-mdm3")
		})
		h.part("what would set something aside is refused", func() {
			before := d.must("site", "export")
			fails(t, 1, `nothing was changed: node 3 (Meter) would be set aside: there is no profile "nope"`, "node", "replace", "3", "--address", "9", "--profile", "nope")
			fails(t, 1, "the unit must be a number from 1 to 247", "node", "replace", "1", "--address", "400")
			fails(t, 1, "unit 1 is a wirenboard-wb-mdm3 already (node 1)", "node", "replace", "3", "--address", "1")
			if after := d.must("site", "export"); after != before {
				t.Errorf("the site is\n%s\nit was\n%s", after, before)
			}
		})
		h.part("another profile alone", func() {
			wants(t, d.must("node", "replace", "3", "--address", "9", "--profile", "eastron-sdm220"), "3 Meter: profile eastron-sdm120 → eastron-sdm220")
			wants(t, d.must("node", "replace", "3", "--address", "9", "--profile", "eastron-sdm220"), "3 Meter: nothing changed")
			wants(t, d.must("node", "replace", "3", "--address", "9", "--profile", "eastron-sdm120"), "3 Meter: profile eastron-sdm220 → eastron-sdm120")
		})
		h.part("a light that is set aside is shown, and mended", func() {
			// Its profile goes away behind the program's back, as one of an installer's own may.
			gone := func(n *appliance.Node) error { n.Profile = "gone"; return nil }
			if err := h.daemon.db.UpdateDevice(t.Context(), 1, "test", gone, nil); err != nil {
				t.Fatal(err)
			}
			waitFor(t, 10*time.Second, "the light is set aside", func() bool { return h.daemon.core.Snapshot().Node(2).Fault != "" })
			wants(t, d.must("light", "list"), "Entrance", `set aside: there is no profile "gone"`)
			wants(t, d.must("node", "list"), `set aside: there is no profile "gone"`)
			if list := d.must("light", "list"); strings.Contains(list, "Meter") {
				t.Errorf("the lights are\n%s", list)
			}
			fails(t, 1, `light 1 (Entrance) is set aside: there is no profile "gone"`, "light", "on", "1")
			if s := d.run("node", "rename", "2", "Stairs up"); s.code != 0 || !strings.Contains(s.err, "2 Stairs up is still set aside") {
				t.Errorf("renamed: exit code %d, %q", s.code, s.err)
			}
			d.must("node", "rename", "2", "Stairs")
			d.must("node", "replace", "1", "--device", "--address", "1", "--profile", "wirenboard-wb-mdm3")
			wants(t, d.must("light", "on", "1"), "done")
		})
		h.part("the site as a file", func() {
			export := d.must("site", "export")
			wants(t, export, "- 1 # Entrance", "- 2 # Stairs")
			file := d.write("again.yaml", strings.ReplaceAll(export, "name: Stairs", "name: Staircase"))
			wants(t, d.must("site", "import", file, "--preview"), "OLD → NEW", "name Stairs → Staircase", "nothing was changed")
			wants(t, d.must("site", "import", file), "1 changed")
			wants(t, d.must("site", "import", file), "0 changed")
		})
	})
}

// TestTheEverydayWithoutADaemon: help is there, and what needs a daemon says so.
func TestTheEverydayWithoutADaemon(t *testing.T) {
	t.Parallel()
	lonely, mistyped := &desk{t: t, dataDir: t.TempDir()}, &desk{t: t, dataDir: filepath.Join(t.TempDir(), "typo")}
	for _, what := range []string{"light", "node", "cluster", "job"} {
		if out := lonely.must(what, "--help"); !strings.Contains(out, "Usage:") || !strings.Contains(out, "list") {
			t.Errorf("help of %s:\n%s", what, out)
		}
	}
	lonely.must("key", "add", "dashboard")
	for _, what := range []string{"light", "node", "cluster", "shade", "job"} {
		if s := lonely.run(what, "list"); s.code != 1 || !strings.Contains(s.err, "no daemon is running on the data directory "+lonely.dataDir+"; start it first") {
			t.Errorf("%s list: exit code %d, %s", what, s.code, s.err)
		}
		if s := mistyped.run(what, "list"); s.code != 1 || !strings.Contains(s.err, mistyped.dataDir+": there is no controller's database in it; is --data-dir right?") {
			t.Errorf("%s list where nothing is: exit code %d, %s", what, s.code, s.err)
		}
	}
}
