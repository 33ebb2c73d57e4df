package sdn_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
	"svc.internal/controller/drivers"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/drivers/line/cable"
	"svc.internal/controller/sim/sdnsim"
)

func TestMain(m *testing.M) { os.Exit(drivertest.SideBySide(m, 4)) }

// house is a bus of simulated motors on a line in memory, the driver on its other end, and
// the real core above, in a bubble of virtual time.
type house struct {
	t   *testing.T
	sim *sdnsim.Bus
	ctl *control.Controller
	of  appliance.Site
}

type plan struct {
	sim     sdnsim.Config
	options map[string]string
	nodes   func([]appliance.Node)  // changes before the start
	shades  func([]appliance.Shade) // changes before the start
	strange int                     // the last motors are not in the site
	fresh   appliance.Freshness
	// unread: no table is known from before, as at the very first start.
	unread bool
	site   func(*appliance.Site) // changes before the start
}

// motors makes n motors with addresses 06.1A.00 and on.
func motors(n int) []sdnsim.Motor {
	list := make([]sdnsim.Motor, n)
	for i := range list {
		list[i] = sdnsim.Motor{Address: address(i), Type: 2, Open: 100}
	}
	return list
}

func address(i int) string { return fmt.Sprintf("06.1A.%02X", i) }

// quick lets motors answer fast, for tests that are not about time.
func quick(motors []sdnsim.Motor) sdnsim.Config {
	return sdnsim.Config{Motors: motors, AnswerMin: 5 * time.Millisecond, AnswerMax: 15 * time.Millisecond, Quiet: 25 * time.Millisecond, BaudRate: 19200}
}

const firstShade = 5001

func build(t *testing.T, p plan) *house {
	t.Helper()
	p.sim.Virtual = true
	sim, err := sdnsim.New(p.sim)
	if err != nil {
		t.Fatal(err)
	}
	const path = "/port"
	var ground cable.Net
	port, err := ground.Plug(path)
	if err != nil {
		t.Fatal(err)
	}
	bus := appliance.Bus{UUID: appliance.NewUUID(), Name: "shades", Driver: "sdn", Port: path, Options: p.options}
	bus.Line.BaudRate = p.sim.BaudRate
	book := memory{bus.UUID: {}}
	if !p.unread {
		book[bus.UUID] = asHeld(sim)
	}
	h := &house{t: t, sim: sim, ctl: control.New(control.Options{
		Drivers: drivers.On(ground.Ports()), GroupBook: book, Log: slog.New(slog.DiscardHandler),
	})}
	site := appliance.Site{Name: "house", Buses: []appliance.Bus{bus}}
	site.Settings.Freshness = p.fresh
	for i, m := range p.sim.Motors[:len(p.sim.Motors)-p.strange] {
		id := appliance.ID(i + 1)
		site.Nodes = append(site.Nodes, appliance.Node{UUID: appliance.NewUUID(), ID: id, Name: m.Address, Bus: bus.UUID, Address: m.Address, Profile: "somfy-sdn-30dc", Groups: m.Groups})
		site.Shades = append(site.Shades, appliance.Shade{UUID: appliance.NewUUID(), ID: firstShade + id - 1, Name: m.Address, Node: id, Output: 1})
	}
	cluster := appliance.Cluster{UUID: appliance.NewUUID(), ID: 1, Name: "first four"}
	for i := range min(4, len(site.Shades)) {
		cluster.Shades = append(cluster.Shades, site.Shades[i].ID)
	}
	site.Clusters = append(site.Clusters, cluster)
	if p.nodes != nil {
		p.nodes(site.Nodes)
	}
	if p.shades != nil {
		p.shades(site.Shades)
	}
	if p.site != nil {
		p.site(&site)
	}
	h.of = site
	h.ctl.Apply(site, nil)
	if err := h.ctl.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { done <- sim.Serve(ctx, port) }()
	go func() { done <- h.ctl.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		port.Close()
	})
	return h
}

// memory is what was known of groups before a restart.
type memory map[appliance.UUID]appliance.BusGroups

func (m memory) LoadGroups(context.Context) (map[appliance.UUID]appliance.BusGroups, error) {
	return m, nil
}

// SaveGroups keeps nothing: these houses start once.
func (memory) SaveGroups(context.Context, appliance.UUID, appliance.BusGroups) error { return nil }

// asHeld are the tables as the motors have them.
func asHeld(sim *sdnsim.Bus) (groups appliance.BusGroups) {
	for _, d := range sim.Devices() {
		groups.Tables = append(groups.Tables, appliance.GroupTable{Device: d.Address, Held: d.Groups, Known: true})
	}
	return groups
}

// wait fails the test if a condition does not come true in time.
func (h *house) wait(limit time.Duration, what string, met func() bool) {
	h.t.Helper()
	for until := time.Now().Add(limit); !met(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			h.t.Fatalf("not within %v: %s; %s", limit, what, h)
		}
	}
}

// String shows what the core and the motors say, for failures.
func (h *house) String() string {
	text := ""
	for i, d := range h.sim.Devices() {
		text += fmt.Sprintf("\n  motor %s: %+v", d.Address, d)
		if sh := h.ctl.Snapshot().Shade(firstShade + appliance.ID(i)); sh != nil {
			text += fmt.Sprintf("\n    shown: %v %+v online %v", sh.Motion, sh.Position, sh.Online)
		}
	}
	return text
}

// awake waits until every shade's position and motion are known.
func (h *house) awake() {
	h.t.Helper()
	h.wait(30*time.Second, "everything read", func() bool {
		for _, sh := range h.ctl.Snapshot().Shades {
			if !sh.Online || !sh.Position.OK() || sh.Motion == appliance.MotionUnknown {
				return false
			}
		}
		return true
	})
}

func one(i int) appliance.Target {
	return appliance.Target{Scope: appliance.One, ID: firstShade + appliance.ID(i)}
}

var (
	everything = appliance.Target{Scope: appliance.All}
	firstFour  = appliance.Target{Scope: appliance.InCluster, ID: 1}
)

func (h *house) do(c appliance.Command) appliance.Entry {
	h.t.Helper()
	e, err := h.ctl.Do(context.Background(), c)
	if err != nil {
		h.t.Fatalf("%+v: %v", c, err)
	}
	return e
}

// must carries out a command that has to succeed.
func (h *house) must(c appliance.Command) appliance.Entry {
	h.t.Helper()
	e := h.do(c)
	if !e.OK() {
		h.t.Fatalf("%+v: %s%s", c, e.Err, h)
	}
	return e
}

func moveTo(target appliance.Target, p appliance.Position) appliance.Command {
	return appliance.Command{Kind: appliance.ShadeMoveTo, Target: target, Position: p}
}

func kind(k appliance.Kind, target appliance.Target) appliance.Command {
	return appliance.Command{Kind: k, Target: target}
}

func (h *house) shade(i int) *appliance.ShadeState {
	return h.ctl.Snapshot().Shade(firstShade + appliance.ID(i))
}

// orders counts the CTRL messages that were heard from message n on: alone, and to
// several.
func (h *house) orders(n int) (alone, many int) {
	for _, m := range h.sim.Heard(n) {
		switch {
		case m.Foreign || m.Message.ID > 6:
		case m.Message.Dst == 0 || m.Message.Dst == 0xFFFFFF:
			many++
		default:
			alone++
		}
	}
	return alone, many
}

func (h *house) mark() int { return len(h.sim.Heard(0)) }
