package scripted_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
	"svc.internal/controller/drivers"
	"svc.internal/controller/drivers/line/cable"
)

// profiles of the Modbus devices here.
var profiles = map[string]string{
	"lamp": `name: lamp
title: a lamp with one register, its level in percent
source: this test
outputs:
  - kind: light
    level: {read: {table: holding, address: 3}, write: {table: holding, address: 3}, map: percent}
`,
	"pair": `name: pair
title: two lamps
source: this test
outputs:
  - kind: light
    count: 2
    level: {read: {table: holding, address: 3, stride: 1}, write: {table: holding, address: 3, stride: 1}, map: percent}
`,
	"blind": `name: blind
title: two relays that move a shade
source: this test
outputs:
  - kind: shade
    reverseDelay: 300ms
    open: {table: coil, address: 0}
    close: {table: coil, address: 1}
`,
}

// copper is what everything here is plugged into: each device has a port of its own.
var (
	copper  cable.Net
	plugged atomic.Int64
)

// plug puts devices on a serial line in memory until the test ends.
func plug(t *testing.T, serve func(port io.ReadWriter)) (path string) {
	t.Helper()
	path = fmt.Sprint("/dev/line", plugged.Add(1))
	line, err := copper.Plug(path)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { serve(line) })
	t.Cleanup(func() { line.Close(); wg.Wait() })
	return path
}

// house is a controller on scripted devices.
type house struct {
	*control.Controller
	t    *testing.T
	log  *logbook
	stop func() // called when the test ends, at the latest
}

// profilesIn makes a directory with the profiles.
func profilesIn(t *testing.T) (dataDir string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "profiles"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range profiles {
		if err := os.WriteFile(filepath.Join(dir, "profiles", name+".yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// start runs a controller until the test ends, and waits until nodes are online.
func start(t *testing.T, site appliance.Site, online int) *house {
	t.Helper()
	h := &house{t: t, log: &logbook{}}
	h.Controller = control.New(control.Options{Drivers: drivers.On(copper.Ports()), DataDir: profilesIn(t), Log: slog.New(slog.NewTextHandler(h.log, nil))})
	h.Apply(site, nil)
	if f := h.Snapshot().Faults; len(f) > 0 {
		t.Fatalf("%+v", f)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error)
	go func() { ran <- h.Run(ctx) }()
	h.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(h.stop)
	h.wait(20*time.Second, fmt.Sprint(online, " nodes online"), func() bool { return h.online() == online })
	return h
}

func (h *house) online() (n int) {
	for _, x := range h.Snapshot().Nodes {
		if x.Online {
			n++
		}
	}
	return n
}

// wait for a condition.
func (h *house) wait(most time.Duration, what string, is func() bool) time.Duration {
	h.t.Helper()
	began := time.Now()
	for !is() {
		if time.Since(began) > most {
			h.t.Fatalf("waited %v for %s\n%s", most, what, h.log)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return time.Since(began)
}

func (h *house) do(c appliance.Command) appliance.Entry {
	h.t.Helper()
	e, err := h.Do(context.Background(), c)
	if err != nil {
		h.t.Fatal(err)
	}
	return e
}

// dim one node, or with 0 all.
func (h *house) dim(node appliance.ID, l appliance.Level) appliance.Entry {
	h.t.Helper()
	target := appliance.Target{Scope: appliance.One, ID: node}
	if node == 0 {
		target = appliance.Target{Scope: appliance.All}
	}
	return h.do(appliance.Command{Kind: appliance.LightLevel, Target: target, Level: l})
}

func (h *house) shade(id appliance.ID, k appliance.Kind, p appliance.Position) appliance.Entry {
	h.t.Helper()
	target := appliance.Target{Scope: appliance.One, ID: id}
	if id == 0 {
		target = appliance.Target{Scope: appliance.All}
	}
	return h.do(appliance.Command{Kind: k, Target: target, Position: p})
}

// oneBus is a site of one bus with n nodes at addresses from 1.
func oneBus(bus appliance.Bus, n int, profile string) appliance.Site {
	bus.UUID, bus.Name = appliance.UUID{1}, "bus"
	s := appliance.Site{Buses: []appliance.Bus{bus}}
	for i := range n {
		id := appliance.ID(i + 1)
		s.Nodes = append(s.Nodes, appliance.Node{ID: id, UUID: appliance.UUID{2, byte(i)}, Name: fmt.Sprint("lamp ", id), Bus: bus.UUID, Address: fmt.Sprint(id), Profile: profile})
	}
	return s
}

// fast polls everything twice a second.
func fast(s appliance.Site) appliance.Site {
	s.Settings.Freshness = appliance.Freshness{Light: 500 * time.Millisecond}
	return s
}
