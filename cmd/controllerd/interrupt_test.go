package main

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/ui/uitest"
	"svc.internal/controller/sim"
)

// sentTo counts the frames of the log of a simulated bus that keep finds, from a
// number on; it returns the number of the last.
func (h *house) sentTo(bus string, from uint64, keep func(sim.Frame) bool) (n int, last uint64) {
	h.t.Helper()
	list, err := h.building.Log(bus, from, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	last = from
	for _, f := range list {
		if last = f.Seq; f.Direction == sim.Request && keep(f) {
			n++
		}
	}
	return n, last
}

// TestCtrlCEndsAScan interrupts 'bus scan' in the middle, on each field bus: it has to
// end at once with what it has found, and the daemon has to leave off searching and
// go on with its devices. On one it is a process that gets the signal.
func TestCtrlCEndsAScan(t *testing.T) {
	t.Parallel()
	for _, c := range []interrupted{
		{"rtu", "1", func(f sim.Frame) bool { return !strings.HasPrefix(f.Hex, "01") }, 5},
		{"line", "0", func(f sim.Frame) bool { return f.Hex >= "05" && f.Hex < "80" }, 5},            // addresses from 2
		{"shades", "06.00.01", func(f sim.Frame) bool { return strings.HasPrefix(f.Hex, "bf") }, 12}, // GET_NODE_ADDR
	} {
		t.Run(c.bus, func(t *testing.T) {
			t.Parallel()
			virtually(t, interruptedSite, c.scan)
		})
		if c.bus != "rtu" {
			continue
		}
		t.Run("a process", func(t *testing.T) {
			drivertest.Long(t)
			t.Parallel()
			c.scan(t, newHouse(t, interruptedSite))
		})
	}
}

// interrupted is a bus of interruptedSite, and a device on it.
type interrupted struct {
	bus, address string
	// search tells frames that only a scan sends.
	search func(f sim.Frame) bool
	least  int // of these before Ctrl-C
}

const interruptedSite = `
site: {name: Interrupted, freshness: {light: 500ms, idleShade: 1s}}
buses:
  - {name: rtu, driver: modbus, port: "@DIR@/rtu", line: {baudRate: 19200, parity: even, stopBits: 1}}
  - {name: line, driver: dali, port: "@DIR@/line", options: {gateway: luba}}
  - {name: shades, driver: sdn, port: "@DIR@/shades"}
nodes:
  - {id: 1, name: Lamps, bus: rtu, address: 1, profile: wirenboard-wb-mdm3}
  - {id: 2, name: Gear, bus: line, address: 0, profile: dali-dt6}
  - {id: 3, name: Motor, bus: shades, address: 06.00.01, profile: somfy-sdn-30dc}
shades:
  - {id: 501, name: Shade, node: 3, output: 1}
`

// scan interrupts one.
func (c interrupted) scan(t *testing.T, h *house) {
	d := h.desk()
	_, from := h.sentTo(c.bus, 0, c.search)
	for n := 1; n > 0; n, from = h.sentTo(c.bus, from, c.search) {
		h.pass(time.Second, time.Now()) // the daemon looks who is on a line when it starts, too
	}
	out := c.scanned(t, h, from)
	for tries := 1; out == "" && h.net == nil && tries < 10; tries++ { // this machine woke too late for the first answers, which count for nothing then
		_, from = h.sentTo(c.bus, from, c.search)
		out = c.scanned(t, h, from)
	}
	if c.bus != "shades" { // motors are told of after all of them were searched for
		var found []api.Found
		if err := json.Unmarshal([]byte(out), &found); err != nil || len(found) == 0 || found[0].Address != c.address {
			t.Errorf("what it had found: %v in %s", err, out)
		}
	}
	// One frame may have been under way; then the daemon's own work only.
	polls := func() uint64 {
		for _, b := range d.buses() {
			if b.Name == c.bus {
				return b.Stats.Exchanges
			}
		}
		return 0
	}
	settled := polls()
	waitFor(t, 10*time.Second, "a poll after the scan", func() bool { return polls() > settled })
	_, from = h.sentTo(c.bus, from, c.search)
	settled = polls()
	waitFor(t, 20*time.Second, "more polls", func() bool { return polls() > settled+3 })
	if n, _ := h.sentTo(c.bus, from, c.search); n != 0 {
		t.Errorf("%d more frames of a scan that nobody waits for", n)
	}
	waitFor(t, 20*time.Second, "every node online", func() bool {
		return !slices.ContainsFunc(d.buses(), func(b api.BusDetail) bool { return b.Name == c.bus && b.Online != b.Nodes })
	})
	// Nothing is in the way of the next one.
	if s := d.run("bus", "scan", c.bus, "--last", "2", "--json"); s.code != 0 {
		t.Errorf("the next scan: exit code %d: %s", s.code, s.err)
	}
}

// scanned interrupts one that has begun, and returns what it printed.
func (c interrupted) scanned(t *testing.T, h *house, from uint64) string {
	t.Helper()
	scan := h.desk().talkTo("bus", "scan", c.bus, "--json")
	waitFor(t, 30*time.Second, "the scan is under way", func() bool {
		n, _ := h.sentTo(c.bus, from, c.search)
		return n >= c.least
	})
	pressed := time.Now()
	scan.interrupt()
	code := scan.code()
	took, most := time.Since(pressed), 2*time.Second
	if h.net == nil {
		most *= 10 // a process ends when a busy machine comes to it
	}
	t.Logf("ended %v after Ctrl-C: %d, %s", ms(took), code, scan.said.String())
	if code != 1 || took > most || !strings.Contains(scan.said.String(), "stopped before the end; what is not listed was not looked for") {
		t.Errorf("%v after Ctrl-C: exit code %d, %q", took, code, scan.said.String())
	}
	return scan.out.String()
}

// TestCtrlCEndsAScanOfADeadBus: while a port is gone, a scan that was given up must
// not stay in the way of the next one.
func TestCtrlCEndsAScanOfADeadBus(t *testing.T) {
	t.Parallel()
	virtually(t, `
buses: [{name: rtu, driver: modbus, port: "@DIR@/rtu", line: {baudRate: 19200, parity: even, stopBits: 1}}]
nodes: [{id: 1, name: Lamps, bus: rtu, address: 1, profile: wirenboard-wb-mdm3}]
`, func(t *testing.T, h *house) {
		d := h.desk()
		plug := h.fault(sim.Fault{Kind: sim.FaultUnplug, Bus: "rtu"})
		waitFor(t, 20*time.Second, "the port gone", func() bool { return !d.buses()[0].Up })
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		over := make(chan error, 1)
		go func() {
			over <- h.daemon.core.Scan(ctx, "rtu", appliance.ScanOptions{Last: 2}, func(string) {}, func(appliance.Found) {})
		}()
		select {
		case err := <-over:
			if err == nil {
				t.Error("a bus that is down was scanned")
			}
		case <-time.After(uitest.Patience):
			t.Fatal("a scan of a bus that is down does not end when its caller leaves")
		}
		plug()
		waitFor(t, 30*time.Second, "the port back", func() bool { return d.buses()[0].Up })
		if s := d.run("bus", "scan", "rtu", "--last", "2"); s.code != 0 || !strings.Contains(s.out, "WB-MDM3") {
			t.Errorf("the next scan: exit code %d\n%s%s", s.code, s.out, s.err)
		}
	})
}

// TestCtrlCEndsCommissioning interrupts 'bus commission' in the middle: what has an
// address keeps it, no further one is given, and the command to go on is named.
func TestCtrlCEndsCommissioning(t *testing.T) {
	t.Parallel()
	const all = 24
	gearInBubble(t, all, func(t *testing.T, h *house) {
		d := h.desk()
		h.serve()
		d.awaitBusUp("line")
		run := d.talkTo("bus", "commission", "line", "--yes", "--json")
		waitFor(t, time.Minute, "some gear addressed", func() bool { return len(h.shorts()) >= 4 })
		pressed := time.Now()
		run.interrupt()
		code := run.code()
		took := time.Since(pressed)
		if code != 1 || took > 2*time.Second || !strings.Contains(run.said.String(), "Go on with: controllerd bus commission line") {
			t.Errorf("%v after Ctrl-C: exit code %d, %q", took, code, run.said.String())
		}
		// The daemon still closes what it opened; then another job may use the line.
		waitFor(t, 20*time.Second, "the line free for another job", func() bool {
			return d.run("bus", "commission", "line", "--dry-run").code == 0
		})
		if n := len(h.shorts()); n < 4 || n == all {
			t.Errorf("%d of %d gears have an address", n, all)
		}
		d.must("bus", "commission", "line", "--yes")
		h.uniqueShorts(all)
	})
}
