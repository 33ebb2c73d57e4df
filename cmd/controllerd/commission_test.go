package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/drivers/line/cable"
	"svc.internal/controller/sim"
)

// gearInBubble does something with a line of gear fresh from its box.
func gearInBubble(t *testing.T, n int, do func(t *testing.T, h *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		do(t, (&house{t: t, net: &cable.Net{}}).newGear(n))
	})
}

// newGear is a house with a line of gear fresh from its box, of which the site knows
// nothing but the port.
func (h *house) newGear(n int) *house {
	h.t.Helper()
	text := `
site: {name: New}
buses:
  - {name: line, driver: dali, port: "@DIR@/line", options: {gateway: atx}}
nodes:
`
	for i := range n {
		profile := []string{"dali-dt6", "dali-dt8-tc"}[i%2]
		text += fmt.Sprintf("  - {name: Box %d, bus: line, address: %d, profile: %s}\n", i, i, profile)
	}
	h.dataDir, h.tokens, h.options = filepath.Join(h.t.TempDir(), "data"), map[string]string{}, sim.Options{NewGear: []string{"line"}, DALISpeed: 40}
	h.readSite(text)
	h.play()
	h.site.Nodes = nil
	h.fillStore()
	return h
}

// oneNode is a site file with the line and one node on it.
func (h *house) oneNode(id, address int) string {
	return fmt.Sprintf(`
buses: [{name: line, driver: dali, port: %q, options: {gateway: atx}}]
nodes: [{id: %d, name: Known, bus: line, address: %d, profile: dali-dt6}]
`, h.site.Buses[0].Port, id, address)
}

// shorts are the short addresses that the gear of a house has, ascending.
func (h *house) shorts() (list []int) {
	h.t.Helper()
	for _, d := range h.building.Devices() {
		if *d.ShortAddress >= 0 {
			list = append(list, *d.ShortAddress)
		}
	}
	slices.Sort(list)
	return list
}

// uniqueShorts checks that each of n gears has an address of its own.
func (h *house) uniqueShorts(n int) {
	h.t.Helper()
	list := h.shorts()
	if len(list) != n || len(slices.Compact(list)) != n {
		h.t.Fatalf("short addresses %v, want %d different ones", h.shorts(), n)
	}
}

// TestCommissioningIsContinuedAfterADaemonWasKilled gives addresses to 64 gears by
// the command line. The daemon is killed in the middle; afterwards some of the gear
// is in the site and obeys while the rest is given addresses.
func TestCommissioningIsContinuedAfterADaemonWasKilled(t *testing.T) {
	t.Parallel()
	const all = 64
	gearInBubble(t, all, func(t *testing.T, h *house) {
		d := h.desk()
		h.serve()
		d.awaitBusUp("line")

		first := make(chan said)
		go func() { first <- d.run("bus", "commission", "line", "--yes", "--json") }()
		waitFor(t, time.Minute, "a third of the gear addressed", func() bool { return len(h.shorts()) > all/3 })
		h.killDaemon()
		cut := <-first
		if cut.code != 1 || !strings.Contains(cut.err, "Go on with: controllerd bus commission line") {
			t.Errorf("cut off: exit code %d, %q", cut.code, cut.err)
		}
		before := h.shorts()
		t.Logf("killed when %d of %d gears had an address", len(before), all)

		h.serve()
		d = h.desk()
		d.awaitBusUp("line")
		d.must("site", "import", d.write("known.yaml", h.oneNode(1, before[0])))
		waitFor(t, 30*time.Second, "the first lamp online", func() bool {
			var nodes []struct{ ID int }
			h.get("/svc/api/getActiveNodes", &nodes)
			return len(nodes) == 1
		})

		draft := filepath.Join(t.TempDir(), "new.yaml")
		second := make(chan said)
		go func() { second <- d.run("bus", "commission", "line", "--yes", "--json", "--site", draft) }()
		var slowest time.Duration
		commands := 0
		var done said
		for running := true; running; {
			select {
			case done = <-second:
				running = false
			case <-time.After(20 * time.Millisecond): // as fast as a slider is dragged
				began := time.Now()
				status, message := h.control("channelControl", fmt.Sprintf(`{"targetType":3,"targetId":1,"command":"DIM","dimLevel":%d}`, 20+commands%60))
				if slowest = max(slowest, time.Since(began)); status != 1 {
					t.Fatalf("command %d during commissioning: %s", commands, message)
				}
				commands++
			}
		}
		if done.code != 0 {
			t.Fatalf("exit code %d: %s", done.code, done.err)
		}
		h.uniqueShorts(all)
		var rows []struct{ Address, Outcome, Profile string }
		if err := json.Unmarshal([]byte(strings.SplitN(done.out, "\n]", 2)[0]+"\n]"), &rows); err != nil {
			t.Fatalf("%v in %s", err, done.out)
		}
		kept, assigned := 0, 0
		for _, r := range rows {
			switch r.Outcome {
			case "kept", "shared, now of one gear":
				kept++
			case "assigned":
				assigned++
			}
			if !strings.HasPrefix(r.Profile, "dali-dt") {
				t.Errorf("address %s: profile %q", r.Address, r.Profile)
			}
		}
		t.Logf("second run: %d kept, %d assigned; %d commands meanwhile, the slowest answered after %v", kept, assigned, commands, ms(slowest))
		if kept+assigned != all || commands < 10 {
			t.Errorf("%d kept and %d assigned of %d, %d commands", kept, assigned, all, commands)
		}

		// What it wrote makes the rest of the site.
		d.must("site", "import", draft)
		h.await(time.Minute, "all gear online", func() bool {
			buses := d.buses()
			return len(buses) == 1 && buses[0].Online == all && buses[0].Nodes == all
		})
	})
}

// buses asks the daemon how its buses are.
func (d *desk) buses() (list []api.BusDetail) {
	d.t.Helper()
	if err := json.Unmarshal([]byte(d.must("bus", "list", "--json")), &list); err != nil {
		d.t.Fatal(err)
	}
	return list
}

func (d *desk) awaitBusUp(name string) {
	d.t.Helper()
	waitFor(d.t, 30*time.Second, "bus "+name+" up", func() bool {
		return slices.ContainsFunc(d.buses(), func(b api.BusDetail) bool { return b.Name == name && b.Up })
	})
}

func TestCommissionByTheCommandLine(t *testing.T) {
	t.Parallel()
	gearInBubble(t, 6, func(t *testing.T, h *house) {
		h.serve()
		d := h.desk()
		d.awaitBusUp("line")
		table := func(args ...string) (rows []struct{ Address, Outcome string }) {
			t.Helper()
			if err := json.Unmarshal([]byte(d.must(append([]string{"bus", "commission", "line", "--json"}, args...)...)), &rows); err != nil {
				t.Fatal(err)
			}
			return rows
		}
		h.part("refuses to change anything unasked", func() {
			if s := d.run("bus", "commission", "line"); s.code != 2 || !strings.Contains(s.err, "--yes") {
				t.Errorf("exit code %d: %s", s.code, s.err)
			}
		})
		h.part("tells beforehand what it would do", func() {
			if rows := table("--dry-run"); len(rows) != 6 || rows[0].Outcome != "would be assigned" || len(h.shorts()) != 0 {
				t.Errorf("%+v, addresses %v", rows, h.shorts())
			}
		})
		h.part("gives only the addresses named", func() {
			s := d.run("bus", "commission", "line", "--yes", "--addresses", "7,20-22")
			if s.code != 1 || !strings.Contains(s.err, "no address was left for 2 gears") || !slices.Equal(h.shorts(), []int{7, 20, 21, 22}) {
				t.Errorf("exit code %d: %s, addresses %v", s.code, s.err, h.shorts())
			}
		})
		h.part("leaves addresses of the site to their lamps", func() {
			d.must("site", "import", d.write("known.yaml", h.oneNode(1, 0)))
			waitFor(t, 10*time.Second, "the new site", func() bool { return len(h.daemon.core.Snapshot().Nodes) == 1 })
			d.awaitBusUp("line")
			table("--yes")
			if got := h.shorts(); !slices.Equal(got, []int{1, 2, 7, 20, 21, 22}) {
				t.Errorf("addresses %v", got)
			}
		})
		h.part("begins anew", func() {
			if rows := table("--all", "--dry-run"); len(rows) != 10 {
				t.Errorf("%d rows %+v, want six that are there and the four new addresses", len(rows), rows)
			}
			table("--all", "--yes")
			if got := h.shorts(); !slices.Equal(got, []int{0, 1, 2, 3, 4, 5}) {
				t.Errorf("addresses %v", got)
			}
		})
		h.part("goes on where somebody pressed Ctrl-C", func() {
			run := d.talkTo("bus", "commission", "line", "--all", "--yes")
			waitFor(t, 60*time.Second, "two gears with an address", func() bool { return len(h.shorts()) == 2 })
			run.interrupt()
			if code := run.code(); code == 0 || !strings.Contains(run.said.String(), "stopped before the job was done") {
				t.Fatalf("exit code %d: %s", code, run.said.String())
			}
			waitFor(t, 20*time.Second, "the line free for another run", func() bool {
				return d.run("bus", "commission", "line", "--yes", "--addresses", "0-5").code == 0
			})
			h.uniqueShorts(6)
		})
		h.part("tells what is wrong", func() {
			for _, c := range []struct {
				args []string
				want string
			}{
				{[]string{"bus", "commission", "nowhere", "--yes"}, "bus list"},
				{[]string{"bus", "commission", "line", "--yes", "--addresses", "64"}, "addresses"},
				{[]string{"bus", "commission", "line", "--yes", "--addresses", "9-4"}, "9-4"},
				{[]string{"bus", "service", "line", "polish"}, "it has commission, scenes"},
				{[]string{"bus", "service", "line", "scenes", "adress=4"}, `input "adress" is unknown; it takes address`},
				{[]string{"bus", "service", "line", "scenes", "address=40"}, "bus scan"},
			} {
				if s := d.run(c.args...); s.code == 0 || !strings.Contains(s.err, c.want) {
					t.Errorf("%q: exit code %d, %q, want %q", c.args, s.code, s.err, c.want)
				}
			}
		})
		h.part("writes no site file over another", func() {
			path := d.write("there.yaml", "mine")
			s := d.run("bus", "commission", "line", "--yes", "--site", path)
			if text, _ := os.ReadFile(path); s.code != 2 || string(text) != "mine" {
				t.Errorf("exit code %d, file %q", s.code, text)
			}
		})
	})
}
