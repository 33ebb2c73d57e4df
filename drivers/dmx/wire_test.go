package dmx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
	"svc.internal/controller/drivers/line/cable"
	"svc.internal/controller/drivers/line/pty"
	"svc.internal/controller/sim/dmxsim"
)

// plug is a simulated widget on a serial port that can be pulled.
type plug struct {
	t      testing.TB
	path   string // that the driver opens
	widget *dmxsim.Widget
	open   bool // an Open DMX line instead of a widget
	stop   func()
}

// copper is what the widgets of tests in a bubble are plugged into, each at a port of its own.
var (
	copper  cable.Net
	plugged atomic.Int64
)

// memoryDir has the ports in memory: none of this machine is there.
const memoryDir = "/memory/"

// openWire opens a bus where its port is.
func openWire(cfg appliance.BusConfig) (appliance.Opened, error) {
	if strings.HasPrefix(cfg.Bus.Port, memoryDir) {
		return OpenOn(cfg, copper.Ports())
	}
	return Open(cfg)
}

// newPlug has a port in memory.
func newPlug(t testing.TB, w *dmxsim.Widget) *plug {
	t.Helper()
	p := &plug{t: t, widget: w, path: fmt.Sprint(memoryDir, plugged.Add(1))}
	t.Cleanup(p.pull)
	return p
}

// ptyPlug has a pseudo-terminal, for real time.
func ptyPlug(t testing.TB, w *dmxsim.Widget) *plug {
	t.Helper()
	p := &plug{t: t, widget: w, path: filepath.Join(t.TempDir(), "dmx")}
	t.Cleanup(p.pull)
	return p
}

// far is the devices' end of a serial port.
type far interface {
	io.ReadWriteCloser
	SetReadDeadline(time.Time) error
}

// end makes a serial port.
func (p *plug) end() (end far, pull func() error) {
	p.t.Helper()
	if strings.HasPrefix(p.path, memoryDir) {
		line, err := copper.Plug(p.path)
		if err != nil {
			p.t.Fatal(err)
		}
		return line, line.Close
	}
	pair, err := pty.Open()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := pair.Link(p.path); err != nil {
		p.t.Fatal(err)
	}
	return pair.Master(), pair.Close
}

// put plugs the widget in, under a new name each time.
func (p *plug) put() {
	p.t.Helper()
	end, pull := p.end()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		serve := func() error { return p.widget.Serve(ctx, end) }
		if p.open {
			serve = func() error { return p.widget.ServeOpen(ctx, end) }
		}
		if err := serve(); err != nil && ctx.Err() == nil {
			p.t.Errorf("widget: %v", err)
		}
	}()
	p.stop = func() { cancel(); pull(); <-done }
}

func (p *plug) pull() {
	if p.stop != nil {
		p.stop()
		p.stop = nil
	}
}

// building is the real core with one DMX bus.
type building struct {
	t    testing.TB
	core *control.Controller
	site appliance.Site
}

func startBuilding(t testing.TB, port string, options map[string]string, nodes []appliance.Node, journal appliance.Journal) *building {
	t.Helper()
	bus := appliance.Bus{UUID: appliance.NewUUID(), Name: "stage", Driver: "dmx", Port: port, Options: options}
	site := appliance.Site{Name: "test", Buses: []appliance.Bus{bus}}
	for i, n := range nodes {
		n.Bus = bus.UUID
		if n.ID == 0 {
			n.ID = appliance.ID(i + 1)
		}
		if n.UUID.IsZero() {
			n.UUID = appliance.NewUUID()
		}
		if n.Name == "" {
			n.Name = fmt.Sprintf("lamp %d", n.ID)
		}
		site.Nodes = append(site.Nodes, n)
	}
	b := &building{t: t, site: site, core: control.New(control.Options{
		Drivers: map[string]appliance.OpenFunc{"dmx": openWire}, Journal: journal, Log: slog.New(slog.DiscardHandler),
	})}
	b.core.Apply(site, nil)
	if err := b.core.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := b.core.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("core: %v", err)
		}
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
	return b
}

func (b *building) do(cmd appliance.Command) appliance.Entry {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 3*time.Minute)
	defer cancel()
	out, err := b.core.Do(ctx, cmd)
	if err != nil {
		b.t.Fatalf("%+v: %v", cmd, err)
	}
	return out
}

// up waits until the interface was found.
func (b *building) up() {
	b.t.Helper()
	eventually(b.t, "the bus is up and its nodes online", func() bool {
		s := b.core.Snapshot()
		for _, n := range s.Nodes {
			if !n.Online && n.Fault == "" {
				return false
			}
		}
		return len(s.Buses) == 1 && s.Buses[0].Up
	})
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(3 * time.Minute)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("still not: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func mustWidget(t testing.TB, cfg dmxsim.Config) *dmxsim.Widget {
	t.Helper()
	w, err := dmxsim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// fixturesOf gives the widget what the site has.
func fixturesOf(nodes []appliance.Node) (list []dmxsim.Node) {
	for _, n := range nodes {
		list = append(list, dmxsim.Node{Name: n.Name, Address: n.Address, Profile: n.Profile, Options: n.Options})
	}
	return list
}

func words(t testing.TB, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", want)
		return
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}
