package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/drivers/line/cable"
	"svc.internal/controller/sim"
)

// True travel times of calibrationSite, which the controller does not know.
const (
	motorUp, motorDown   = 5 * time.Second, 4 * time.Second
	relayUp, relayDown   = 2600 * time.Millisecond, 2100 * time.Millisecond
	motorShade           = 5001
	relayShade, swapped  = 5002, 5003
	calibrationSlowBuses = `
site: {name: Calibration}
buses:
  - {name: motors, driver: sdn, port: "@DIR@/motors"}
  - {name: relays, driver: modbus, port: "@DIR@/relays", line: {baudRate: 9600, parity: none, stopBits: 2}}
nodes:
  - {id: 1, name: Motor, bus: motors, address: 06.00.01, profile: somfy-sdn-30dc}
  - {id: 2, name: Relays, bus: relays, address: 2, profile: wirenboard-wb-mr6c}
shades:
  - {id: 5001, name: Measured, node: 1, output: 1, travelUp: 5s, travelDown: 4s}
  - {id: 5002, name: Watched, node: 2, output: 1, travelUp: 2600ms, travelDown: 2100ms}
  - {id: 5003, name: Swapped, node: 2, output: 2, travelUp: 4s, travelDown: 4s, inverted: true}
`
)

// calibrationHouse plays the site as it says, and tells the controller nothing of travel times and wiring.
func (h *house) calibrationHouse() *house { return h.calibrationOf(calibrationSlowBuses) }

func (h *house) calibrationOf(site string) *house {
	h.t.Helper()
	h.dataDir, h.tokens = filepath.Join(h.t.TempDir(), "data"), map[string]string{}
	h.readSite(site)
	h.play()
	for i := range h.site.Shades {
		s := &h.site.Shades[i]
		s.TravelUp, s.TravelDown, s.Inverted = 30*time.Second, 0, false
	}
	h.fillStore()
	return h
}

// truth is where a shade really is.
func (h *house) truth(id appliance.ID) sim.DeviceShade {
	h.t.Helper()
	for _, d := range h.building.Devices() {
		for _, s := range d.Shades {
			if s.ShadeID == id {
				return s
			}
		}
	}
	h.t.Fatalf("no simulated shade %d", id)
	return sim.DeviceShade{}
}

// exchangesOf counts those of every bus since it was opened.
func (h *house) exchangesOf() map[string]uint64 {
	out := map[string]uint64{}
	for _, b := range h.daemon.core.Snapshot().Buses {
		out[b.Bus.Name] = b.Stats.Exchanges
	}
	return out
}

// client is a command that goes on while a test answers its questions: a process of its own, or in a bubble a goroutine.
type client struct {
	t         *testing.T
	interrupt func() // as Ctrl-C does
	kill      func() // as SIGKILL does; nil in a bubble
	in        io.WriteCloser
	out       strings.Builder
	ended     chan struct{}
	exit      int // once it has ended

	mu   sync.Mutex
	said strings.Builder
	read int // of said, by expect
}

func (c *client) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.said.Write(p)
}

// talkTo starts a command.
func (d *desk) talkTo(args ...string) *client {
	d.t.Helper()
	c := &client{t: d.t, ended: make(chan struct{})}
	end := d.start(c, args)
	d.t.Cleanup(func() {
		end()
		<-c.ended
		if d.t.Failed() {
			d.t.Logf("%s said:\n%s%s", strings.Join(args, " "), c.said.String(), c.out.String())
		}
	})
	return c
}

// start starts a command for a client; end ends it, come what may.
func (d *desk) start(c *client, args []string) (end func()) {
	d.t.Helper()
	if d.house != nil {
		in, typed := io.Pipe()
		ctx, cancel := context.WithCancel(d.t.Context())
		c.in, c.interrupt = typed, cancel
		go func() {
			defer close(c.ended)
			c.exit = d.house.inProcess(ctx, d.dataDir, in, &c.out, c, args)
			in.Close()
		}()
		return func() { cancel(); typed.Close() }
	}
	cmd := d.command(context.Background(), args...)
	var err error
	if c.in, err = cmd.StdinPipe(); err != nil {
		d.t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = &c.out, c
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	c.interrupt, c.kill = func() { cmd.Process.Signal(os.Interrupt) }, func() { cmd.Process.Kill() }
	go func() { defer close(c.ended); cmd.Wait(); c.exit = cmd.ProcessState.ExitCode() }()
	return c.kill
}

// expect waits until the command says something that it has not said before, and
// returns the submatch; empty if the command ended.
func (c *client) expect(pattern *regexp.Regexp) string {
	c.t.Helper()
	for deadline := time.After(atMost(30 * time.Second)); ; {
		c.mu.Lock()
		text := c.said.String()[c.read:]
		if m := pattern.FindStringSubmatchIndex(text); m != nil {
			c.read += m[1]
			c.mu.Unlock()
			return text[m[2]:m[3]]
		}
		c.mu.Unlock()
		select {
		case <-c.ended:
			return ""
		case <-deadline:
			c.t.Fatalf("waited for %v; it said %q", pattern, text)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (c *client) answer(line string) { io.WriteString(c.in, line+"\n") }

// code waits for the end.
func (c *client) code() int {
	c.t.Helper()
	select {
	case <-c.ended:
	case <-time.After(atMost(time.Minute)):
		c.t.Fatalf("not ended; it said %q", c.said.String())
	}
	return c.exit
}

func (c *client) result() (r api.ShadeResult) {
	c.t.Helper()
	if code := c.code(); code != 0 {
		c.t.Fatalf("exit code %d: %s", code, c.said.String())
	}
	if err := json.Unmarshal([]byte(c.out.String()), &r); err != nil {
		c.t.Fatalf("%v in %s", err, c.out.String())
	}
	return r
}

var stands = regexp.MustCompile(`It goes (up|down)\. Press Enter when it stands`)

// watch plays the person before a shade: they look at what is really there.
func (h *house) watch(c *client, shade appliance.ID) {
	h.t.Helper()
	for {
		way := c.expect(stands)
		if way == "" {
			return
		}
		end := map[string]float64{"up": 100, "down": 0}[way]
		waitFor(h.t, 20*time.Second, "the shade at its end", func() bool { return h.truth(shade).ExactPosition == end })
		c.answer("")
	}
}

func measuredWithin(t *testing.T, what string, got *api.Travel, truth time.Duration) {
	t.Helper()
	off := math.Abs(got.Seconds - truth.Seconds())
	t.Logf("%s: %.2f s ± %.2f s, truly %v", what, got.Seconds, got.Uncertainty, truth)
	if off > got.Uncertainty || got.Uncertainty > truth.Seconds()/4 {
		t.Errorf("%s: %.2f s ± %.2f s, and it is %v", what, got.Seconds, got.Uncertainty, truth)
	}
}

// TestShadesAreCalibrated does one after the other in one house.
func TestShadesAreCalibrated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := (&house{t: t, net: &cable.Net{}}).calibrationHouse()
		h.serve()
		h.awaitOnline()
		for _, part := range []struct {
			name string
			test func(*testing.T, *house)
		}{
			{"and listed", shadesAreListed},
			{"by their own position", motorIsMeasured},
			{"by a person", relaysAreWatched},
			{"in their direction", directionIsFound},
			{"until Ctrl-C", ctrlCStopsTheShade},
			{"until somebody else commands them", theRoomWins},
			{"until nobody can answer any more", endedInput},
		} {
			h.part(part.name, func() { part.test(t, h) })
		}
	})
}

func shadesAreListed(t *testing.T, h *house) {
	var list []api.Shade
	if err := json.Unmarshal([]byte(h.desk().must("shade", "list", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 3 || list[0].ID != motorShade || !list[0].Measured || list[1].Measured || list[1].TravelUp != 30 || list[1].TravelDown != 0 || !list[1].Online {
		t.Errorf("got %+v", list)
	}
	if out := h.desk().must("shade", "list"); !strings.Contains(out, "Watched") || !strings.Contains(out, "relays") {
		t.Errorf("got %s", out)
	}
	for _, wrong := range [][]string{{"calibrate", "Nobody", "--yes"}, {"calibrate", "5001", "--runs", "99", "--yes"}, {"calibrate", "5001"}} {
		if s := h.desk().run(append([]string{"shade"}, wrong...)...); s.code != 1 || !strings.Contains(s.err, "controllerd: ") {
			t.Errorf("%v: exit code %d, %s", wrong, s.code, s.err)
		}
	}
	if s := h.desk().run("shade", "direction", "5001", "--answer", "left"); s.code != 2 {
		t.Errorf("--answer left: exit code %d, want 2", s.code)
	}
}

func motorIsMeasured(t *testing.T, h *house) {
	d := h.desk()
	before := h.exchangesOf()
	c := d.talkTo("shade", "calibrate", "Measured", "--yes", "--json")
	r := c.result()
	measuredWithin(t, "up", r.Up, motorUp)
	measuredWithin(t, "down", r.Down, motorDown)
	if r.Watched || !r.Saved || r.Old.TravelUp != 30 {
		t.Errorf("got %+v", r)
	}
	if export := d.must("site", "export"); !strings.Contains(export, "travelUp: "+time.Duration(r.New.TravelUp*float64(time.Second)).Round(time.Millisecond).String()) || !strings.Contains(export, "id: 5001") {
		t.Errorf("the export does not have the new time %v:\n%s", r.New.TravelUp, export)
	}
	for bus, n := range h.exchangesOf() {
		if n < before[bus] {
			t.Errorf("bus %s was opened anew: it counts %d exchanges and had %d", bus, n, before[bus])
		}
	}
	e := h.lastEntries("console")
	if len(e) == 0 || e[0].Command.Origin.Who != h.typist() || e[0].Command.Origin.Why != "calibration" {
		t.Errorf("the ledger has %+v of the run", e)
	}
}

func relaysAreWatched(t *testing.T, h *house) {
	d := h.desk()
	if status, message := h.control("shadeControl", `{"targetType":3,"targetId":5002,"command":"POS","posValue":50}`); status != 0 {
		t.Fatalf("POS 50 without travel times: %s", message)
	}
	c := d.talkTo("shade", "calibrate", "5002", "--yes", "--json", "--runs", "1")
	h.watch(c, relayShade)
	r := c.result()
	measuredWithin(t, "up", r.Up, relayUp)
	measuredWithin(t, "down", r.Down, relayDown)
	if sh := h.daemon.core.Snapshot().Shade(relayShade); sh.Position.Value != 100 || sh.Uncertainty != 0 {
		t.Errorf("somebody saw it stand open, and it is shown at %+v ± %d", sh.Position, sh.Uncertainty)
	}
	if status, message := h.control("shadeControl", `{"targetType":3,"targetId":5002,"command":"POS","posValue":40}`); status != 1 {
		t.Fatalf("POS 40 right after the calibration: %s", message)
	}
	waitFor(t, 10*time.Second, "the shade on its way", func() bool { return h.truth(relayShade).Moving })
	waitFor(t, 20*time.Second, "the shade at rest", func() bool { return !h.truth(relayShade).Moving })
	at := h.truth(relayShade).ExactPosition
	t.Logf("sent to 40 %% with the new times it stands at %.1f %%", at)
	if at < 34 || at > 46 {
		t.Errorf("sent to 40 %% it stands at %.1f %%", at)
	}
}

var whichWay = regexp.MustCompile(`(Which way) did it go\?`)

func directionIsFound(t *testing.T, h *house) {
	d := h.desk()
	before := h.truth(swapped).ExactPosition
	c := d.talkTo("shade", "direction", "Swapped", "--json")
	c.answer("y")
	if c.expect(whichWay) == "" {
		t.Fatalf("it ended: %s", c.said.String())
	}
	went := h.truth(swapped).ExactPosition - before
	c.answer("what?")
	c.expect(regexp.MustCompile(`(Please answer)`))
	c.answer(map[bool]string{true: "u", false: "d"}[went > 0])
	r := c.result()
	if r.Old.Inverted || !r.New.Inverted || !r.Saved {
		t.Errorf("told to go up it went %+.1f points: %+v", went, r)
	}
	t.Logf("told to go up it went %+.1f points", went)
	if at := h.truth(swapped); math.Abs(at.ExactPosition-before) > 5 || at.Moving {
		t.Errorf("it was at %.1f %% and is at %+v", before, at)
	}
	h.awaitOnline()
	if status, message := h.control("shadeControl", `{"targetType":3,"targetId":5003,"command":"UP"}`); status != 1 {
		t.Fatal(message)
	}
	waitFor(t, 10*time.Second, "the shade really open", func() bool { return h.truth(swapped).ExactPosition == 100 })
	site := d.must("site", "export")
	if !strings.Contains(site, "inverted: true") {
		t.Errorf("the export does not say that it is inverted:\n%s", site)
	}
	if out := d.must("shade", "direction", "5003", "--answer", "down", "--dry-run"); !strings.Contains(out, "inverted: yes → no") || !strings.Contains(out, "nothing was saved") {
		t.Errorf("dry run: %s", out)
	}
	if now := d.must("site", "export"); now != site {
		t.Errorf("a dry run saved something:\n%s", now)
	}
}

// me is the account of the system that these tests run as.
func me(t *testing.T) string {
	t.Helper()
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	return u.Username
}

// underWay are the jobs that another console sees.
func (d *desk) underWay() (list []api.Job) {
	d.t.Helper()
	var all []api.Job
	if err := json.Unmarshal([]byte(d.must("job", "list", "--json")), &all); err != nil {
		d.t.Fatal(err)
	}
	for _, j := range all {
		if j.State == "queued" || j.State == "running" {
			list = append(list, j)
		}
	}
	return list
}

// A calibration that one console began goes on when that is killed with no
// chance to say goodbye, and is seen and cancelled from another.
func TestACalibrationOutlivesItsConsole(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	// Down takes long: a console that is to cancel it begins late on a busy machine.
	h := (&house{t: t}).calibrationOf(strings.NewReplacer("travelDown: 4s}", "travelDown: 10s}", "travelDown: 2100ms", "travelDown: 8s").Replace(calibrationSlowBuses))
	h.serve()
	h.awaitOnline()
	d := h.desk()
	for _, part := range []struct {
		bus   string
		shade appliance.ID
	}{{"relays", relayShade}, {"motors", motorShade}} {
		c := d.talkTo("shade", "calibrate", fmt.Sprint(part.shade), "--yes")
		waitFor(t, 20*time.Second, "the shade on its way", func() bool { return h.truth(part.shade).Moving })
		c.kill()
		<-c.ended
		killed := h.truth(part.shade)
		list := d.underWay()
		if len(list) != 1 {
			t.Fatalf("%s: another console sees %+v", part.bus, list)
		}
		seen := list[0]
		if seen.Kind != "calibrate" || seen.Shade != part.shade || seen.By != me(t) {
			t.Errorf("%s: another console sees %+v", part.bus, seen)
		}
		if out := d.must("job", "show", seen.ID); !strings.Contains(out, "calibrate") || !strings.Contains(out, fmt.Sprint("shade ", part.shade)) {
			t.Errorf("%s: shown as %s", part.bus, out)
		}
		follower := d.talkTo("job", "follow", seen.ID)
		// It is cancelled at once then: on a busy machine a console takes long to begin, and the shade is not to arrive meanwhile.
		waitFor(t, 30*time.Second, "the shade goes on, down in the end", func() bool {
			s := h.truth(part.shade)
			return s.Motion == "closing" && s.ExactPosition < 90 && s.ExactPosition > 10 && math.Abs(s.ExactPosition-killed.ExactPosition) > 5 || h.press(follower, part.shade)
		})
		if out := d.must("job", "cancel", seen.ID); !strings.Contains(out, "cancelled by "+me(t)) {
			t.Errorf("%s: %s", part.bus, out)
		}
		if s := h.truth(part.shade); s.Moving || s.ExactPosition < 1 || s.ExactPosition > 99 {
			t.Errorf("%s: cancelled, and the shade is %+v", part.bus, s)
		}
		if code := follower.code(); code != 1 || !strings.Contains(follower.said.String(), "cancelled by ") {
			t.Errorf("%s: who followed it ended with %d: %s", part.bus, code, follower.said.String())
		}
		if list := d.underWay(); len(list) != 0 {
			t.Errorf("%s: still under way: %+v", part.bus, list)
		}
		if s := d.run("job", "cancel", seen.ID); s.code != 1 || !strings.Contains(s.err, "cancelled") {
			t.Errorf("%s: cancelled twice: exit code %d, %s", part.bus, s.code, s.err)
		}
	}
	if s := d.run("job", "show", "nothing"); s.code != 1 || !strings.Contains(s.err, "no job") {
		t.Errorf("a job that is not there: exit code %d, %s", s.code, s.err)
	}
}

// Ctrl-C stops a shade at once.
func ctrlCStopsTheShade(t *testing.T, h *house) {
	c := h.desk().talkTo("shade", "calibrate", fmt.Sprint(motorShade), "--yes")
	waitFor(t, 20*time.Second, "the shade on its way down", func() bool {
		s := h.truth(motorShade)
		return s.Motion == "closing" && s.ExactPosition < 80 && s.ExactPosition > 20
	})
	before := h.lastOrder("motors")
	pressed := time.Now()
	c.interrupt()
	if code := c.code(); code != 1 || !strings.Contains(c.said.String(), "the shade was stopped, and nothing is saved") {
		t.Errorf("exit code %d: %s", code, c.said.String())
	}
	stop := h.orders("motors", before)[0]
	if len(stop.Changes) != 1 || stop.Changes[0].Motion != "stopped" {
		t.Errorf("the first order after Ctrl-C is %+v, want a stop", stop)
	}
	t.Logf("stopped %v after Ctrl-C", ms(stop.At.Sub(pressed)))
	if s := h.truth(motorShade); s.Moving || s.ExactPosition < 1 {
		t.Errorf("it runs on: %+v", s)
	}
}

// press plays a person who is there for the first leg only.
func (h *house) press(c *client, shade appliance.ID) bool {
	if h.truth(shade).ExactPosition == 100 {
		c.mu.Lock()
		asked := strings.Contains(c.said.String()[c.read:], "It goes up. Press Enter")
		if asked {
			c.read = c.said.Len()
		}
		c.mu.Unlock()
		if asked {
			c.answer("")
		}
	}
	return false
}

// theRoomWins commands the shade through the API while it is calibrated.
func theRoomWins(t *testing.T, h *house) {
	c := h.desk().talkTo("shade", "calibrate", "5001", "--yes")
	waitFor(t, 30*time.Second, "the shade on its way down", func() bool { s := h.truth(motorShade); return s.Motion == "closing" && s.ExactPosition < 90 })
	if s := h.desk().run("shade", "calibrate", "5001", "--yes"); s.code != 1 || !strings.Contains(s.err, "shade 5001: a job is under way already (calibrate, begun by "+h.typist()+")") || !strings.Contains(s.err, "job cancel") {
		t.Errorf("a second one at the same time: exit code %d, %q", s.code, s.err)
	}
	if status, message := h.control("shadeControl", `{"targetType":3,"targetId":5001,"command":"STOP"}`); status != 1 {
		t.Error(message)
	}
	if code := c.code(); code != 1 || !strings.Contains(c.said.String(), "the person in the room wins") {
		t.Errorf("exit code %d: %s", code, c.said.String())
	}
	before := h.lastOrder("motors")
	if s := h.truth(motorShade); s.Moving {
		t.Errorf("after STOP: %+v", s)
	}
	if s := h.desk().run("shade", "list"); s.code != 0 || h.lastOrder("motors") != before {
		t.Errorf("something was sent after STOP")
	}
}

// lastEntries are the newest commands that came through a door, newest first.
func (h *house) lastEntries(via string) (out []appliance.Entry) {
	h.t.Helper()
	var all []appliance.Entry
	waitFor(h.t, 10*time.Second, "the ledger to be written", func() bool {
		var err error
		all, err = h.daemon.db.Entries(h.t.Context(), 50, "")
		if err != nil {
			h.t.Fatal(err)
		}
		out = nil
		for _, e := range all {
			if e.Command.Origin.Via == via {
				out = append(out, e)
			}
		}
		return len(out) > 0
	})
	return out
}

// After a power cut in the middle of a run nothing moves by itself, and the old
// times stand.
func TestPowerCutDuringACalibration(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := (&house{t: t, net: &cable.Net{}}).calibrationHouse()
		before := h.desk().must("site", "export")
		h.serve()
		h.awaitOnline()
		c := h.desk().talkTo("shade", "calibrate", "5002", "--yes")
		waitFor(t, 20*time.Second, "the shade on its way", func() bool { return h.truth(relayShade).Moving })
		h.killDaemon()
		if code := c.code(); code != 1 || !strings.Contains(c.said.String(), "hung up") {
			t.Errorf("the client ended with %d: %s", code, c.said.String())
		}
		writes := h.writes()
		h.serve()
		h.awaitOnline()
		waitFor(t, 20*time.Second, "the actuator to end the movement by itself", func() bool { return !h.truth(relayShade).Moving })
		if now := h.writes(); now != writes {
			t.Errorf("%d orders after the power came back, want none", now-writes)
		}
		if after := h.desk().must("site", "export"); after != before {
			t.Errorf("the site changed:\n%s\nwas\n%s", after, before)
		}
	})
}

// A daemon that is told to end stops the shade first.
func TestEndOfTheDaemonStopsTheShade(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := (&house{t: t, net: &cable.Net{}}).calibrationHouse()
		h.serve()
		h.awaitOnline()
		if h.truth(motorShade).ExactPosition != 50 {
			t.Fatalf("at %v at first", h.truth(motorShade))
		}
		c := h.desk().talkTo("shade", "calibrate", fmt.Sprint(motorShade), "--yes")
		waitFor(t, 20*time.Second, "the shade on its way", func() bool { return h.truth(motorShade).Moving })
		h.stop()
		if s := h.truth(motorShade); s.Moving || s.ExactPosition > 99 {
			t.Errorf("the daemon ended and left %+v", s)
		}
		if code := c.code(); code != 1 || !strings.Contains(c.said.String(), "the daemon ended or hung up") {
			t.Errorf("whoever followed it ended with %d: %s", code, c.said.String())
		}
	})
}
