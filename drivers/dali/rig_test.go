package dali

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
	"svc.internal/controller/drivers/line/cable"
	"svc.internal/controller/drivers/line/pty"
	"svc.internal/controller/sim/dalisim"
)

// rig is a driver on a simulated line, with the real line engine between them.
type rig struct {
	t    testing.TB
	sim  *dalisim.Line
	net  *cable.Net // that the gateway is plugged into; nil: a pseudo-terminal of this machine
	link string
	stop func() // unplugs the gateway
}

// newRig has its serial port in memory, for a bubble of virtual time.
func newRig(t testing.TB, cfg dalisim.Config) *rig {
	t.Helper()
	cfg.Virtual = true
	return plugged(t, cfg, &rig{t: t, net: &cable.Net{}, link: "/gateway"})
}

// ptyRig has a pseudo-terminal, and real time.
func ptyRig(t testing.TB, cfg dalisim.Config) *rig {
	t.Helper()
	return plugged(t, cfg, &rig{t: t, link: filepath.Join(t.TempDir(), "gateway")})
}

func plugged(t testing.TB, cfg dalisim.Config, r *rig) *rig {
	t.Helper()
	var err error
	if r.sim, err = dalisim.New(cfg); err != nil {
		t.Fatal(err)
	}
	r.plug()
	t.Cleanup(func() { r.stop() })
	return r
}

// plug connects the gateway, under whatever name the kernel gives it.
func (r *rig) plug() {
	r.t.Helper()
	end, pull := r.end()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.sim.Serve(ctx, end)
	}()
	r.stop = func() {
		cancel()
		pull()
		<-done
		r.stop = func() {}
	}
}

// end makes a serial port and gives its devices' end.
func (r *rig) end() (end io.ReadWriter, pull func() error) {
	r.t.Helper()
	if r.net != nil {
		line, err := r.net.Plug(r.link)
		if err != nil {
			r.t.Fatal(err)
		}
		return line, line.Close
	}
	p, err := pty.Open()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := p.Link(r.link); err != nil {
		r.t.Fatal(err)
	}
	return p.Master(), p.Close
}

// open makes drivers on the ports of the rig.
func (r *rig) open(cfg appliance.BusConfig) (appliance.Opened, error) {
	if r.net == nil {
		return Open(cfg)
	}
	return OpenOn(cfg, r.net.Ports())
}

func (r *rig) bus(gateway string, options map[string]string) appliance.Bus {
	o := map[string]string{"gateway": gateway}
	for k, v := range options {
		o[k] = v
	}
	return appliance.Bus{UUID: appliance.UUID{1}, Name: "attic", Driver: "dali", Port: r.link, Options: o}
}

// driver runs a bare driver.
func (r *rig) driver(gateway string, nodes ...appliance.Node) *Driver {
	r.t.Helper()
	o, err := r.open(appliance.BusConfig{Bus: r.bus(gateway, nil), Nodes: nodes})
	if err != nil {
		r.t.Fatal(err)
	}
	for id, err := range o.BrokenNodes {
		r.t.Fatalf("node %d: %v", id, err)
	}
	d := o.Driver.(*Driver)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	r.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			r.t.Errorf("Run: %v", err)
		}
	})
	waitFor(r.t, "the port is open", func() bool { return d.Link() == nil })
	return d
}

// core runs the real core with this driver and a site of one line. Node n is at
// short address n-1; all are in cluster 1.
func (r *rig) core(gateway string, options map[string]string, nodes []appliance.Node) *control.Controller {
	r.t.Helper()
	bus := r.bus(gateway, options)
	site := appliance.Site{Buses: []appliance.Bus{bus}, Clusters: []appliance.Cluster{{ID: 1, Name: "all"}}, Settings: quick}
	for _, n := range nodes {
		n.Bus = bus.UUID
		site.Nodes = append(site.Nodes, n)
		site.Clusters[0].Nodes = append(site.Clusters[0].Nodes, n.ID)
	}
	return r.run(site)
}

// run runs the core with a site until the test ends.
func (r *rig) run(site appliance.Site) *control.Controller {
	r.t.Helper()
	ctl := control.New(control.Options{Drivers: map[string]appliance.OpenFunc{"dali": r.open}})
	ctl.Apply(site, nil)
	if f := ctl.Snapshot().Faults; len(f) > 0 {
		r.t.Fatalf("quarantined: %+v", f)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- ctl.Run(ctx) }()
	r.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			r.t.Errorf("Run: %v", err)
		}
	})
	return ctl
}

// quick lets gear be read twice a second.
var quick = appliance.Settings{Freshness: appliance.Freshness{Light: 500 * time.Millisecond, Power: time.Second}}

// nodesOf makes n nodes of a profile, at short addresses from 0.
func nodesOf(n int, profile string, groups ...string) []appliance.Node {
	var list []appliance.Node
	for i := range n {
		list = append(list, appliance.Node{
			ID: appliance.ID(i + 1), UUID: appliance.UUID{2, byte(i)}, Name: fmt.Sprintf("lamp %d", i),
			Address: fmt.Sprint(i), Profile: profile, Groups: groups,
		})
	}
	return list
}

// gearsOf makes n LED gears at short addresses from 0.
func gearsOf(n int, change func(i int, g *dalisim.GearConfig)) []dalisim.GearConfig {
	list := make([]dalisim.GearConfig, n)
	for i := range list {
		list[i] = dalisim.GearConfig{Short: i}
		if change != nil {
			change(i, &list[i])
		}
	}
	return list
}

func waitFor(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(3 * time.Minute)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// allOnline waits until every node answers and its level is known.
func allOnline(t testing.TB, ctl *control.Controller) {
	t.Helper()
	waitFor(t, "every gear was read", func() bool {
		for _, n := range ctl.Snapshot().Nodes {
			if !n.Online || !n.Level.OK() {
				return false
			}
		}
		return true
	})
}

func do(t testing.TB, ctl *control.Controller, cmd appliance.Command) appliance.Entry {
	t.Helper()
	e, err := ctl.Do(context.Background(), cmd)
	if err != nil {
		t.Fatalf("%+v: %v", cmd, err)
	}
	return e
}

func mustDo(t testing.TB, ctl *control.Controller, cmd appliance.Command) appliance.Entry {
	t.Helper()
	e := do(t, ctl, cmd)
	if !e.OK() {
		t.Fatalf("%+v: %s", cmd, e.Err)
	}
	return e
}

func one(id appliance.ID) appliance.Target {
	return appliance.Target{Scope: appliance.One, ID: id}
}

var everything = appliance.Target{Scope: appliance.All}

func levelTo(target appliance.Target, l appliance.Level) appliance.Command {
	return appliance.Command{Kind: appliance.LightLevel, Target: target, Level: l}
}
