package sim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line/cable"
)

// Options of a building. The zero value is a quiet building without faults.
type Options struct {
	// Seed of everything random: faults, noise. The same seed and the same
	// exchanges on a bus give the same faults.
	Seed int64
	// BaseLoad in W that every meter sees besides the outputs of its bus.
	BaseLoad float64
	// SilentGateways: a Modbus TCP gateway does not answer for a unit that does
	// not exist, instead of exception 0B.
	SilentGateways bool
	// Latency by profile, in place of the family's own.
	Latency map[string]time.Duration
	// DALIFade is how long DALI gear takes from 0 to 100 %, where the node's option
	// fade does not say. Zero jumps, which is
	// fade time 0, the reset value of DALI gear.
	DALIFade time.Duration
	// NewGear names DALI buses whose gear comes from its box: it has no short address
	// and is in no group. Nodes are told apart by what the site says all the same.
	NewGear []string
	// DALISpeed is how many times faster than real DALI lines and the serial ports of
	// their gateways are; zero means 1.
	DALISpeed float64
	// Cables, if not nil, are what the buses are plugged into, instead of pseudo-terminals
	// and sockets of this machine. Then the building waits with package time alone, for
	// virtual time (testing/synctest).
	Cables *cable.Net
	// Log may be nil.
	Log *slog.Logger
}

// Building is a whole simulated site.
type Building struct {
	log   *slog.Logger
	buses []*bus // in site order
	ready chan struct{}

	// The same moment on both clocks.
	zero   time.Time
	zeroNs int64

	mu     sync.Mutex
	faults []*running // ascending ID
	nextID int
}

// New puts a device behind every node of site. Disabled buses are left out. It
// opens nothing: [Building.Run] does. The errors of all broken entries come
// together.
func New(site appliance.Site, opts Options) (*Building, error) {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	bd := &Building{log: opts.Log, ready: make(chan struct{}), zero: time.Now()}
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return nil, fmt.Errorf("read the monotonic clock: %w", err)
	}
	bd.zeroNs = ts.Nano()
	var errs []error
	for _, name := range opts.NewGear {
		if !slices.ContainsFunc(site.Buses, func(b appliance.Bus) bool { return b.Name == name && b.Driver == "dali" }) {
			errs = append(errs, fmt.Errorf("new gear on bus %q: the site has no DALI line of that name", name))
		}
	}
	for _, s := range site.Buses {
		if s.Disabled {
			continue
		}
		var nodes []appliance.Node
		for _, n := range site.Nodes {
			if n.Bus == s.UUID {
				nodes = append(nodes, n)
			}
		}
		if s.Driver == "modbus" && s.Line == (appliance.LineSettings{}) {
			s.Line = factoryLine(nodes)
		}
		b, err := newBus(s, opts, opts.Log)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if play := players[s.Driver]; play != nil {
			b.player, err = play(s, nodes, site.Shades, opts)
		} else {
			err = b.assemble(nodes, site.Shades, opts)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("bus %s: %w", s.Name, err))
			continue
		}
		bd.buses = append(bd.buses, b)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return bd, nil
}

// Run plays the building until ctx ends, and returns nil then; an error means a
// port could not be had. A building runs once.
func (bd *Building) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	waiting := make(chan struct{}, len(bd.buses))
	for _, b := range bd.buses {
		var once sync.Once
		ready := func() {
			once.Do(func() {
				bd.log.Info("bus ready", "bus", b.name, "port", bd.Port(b.name))
				waiting <- struct{}{}
			})
		}
		if b.player != nil {
			g.Go(func() error { b.collecting(ctx); return nil })
		}
		g.Go(func() error {
			switch {
			case b.kind != kindSerial:
				return b.runSocket(ctx, ready)
			case b.cables != nil:
				return b.runCable(ctx, ready)
			}
			return b.runSerial(ctx, ready)
		})
	}
	g.Go(func() error {
		for range bd.buses {
			select {
			case <-waiting:
			case <-ctx.Done():
				return nil
			}
		}
		close(bd.ready)
		return nil
	})
	err := g.Wait()
	for _, f := range bd.Faults() {
		bd.RemoveFault(f.ID)
	}
	return err
}

// Ready is closed when all buses are there.
func (bd *Building) Ready() <-chan struct{} { return bd.ready }

// Port is where clients find a bus: the path of the line's link, or
// tcp://host:port with the port really taken where the site said 0. Empty before
// the bus was ready for the first time.
func (bd *Building) Port(busName string) string {
	b, err := bd.bus(busName)
	if err != nil {
		return ""
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.where
}

func (bd *Building) bus(name string) (*bus, error) {
	for _, b := range bd.buses {
		if b.name == name {
			return b, nil
		}
	}
	return nil, fmt.Errorf("no bus %q in this building: %w", name, ErrUnknown)
}

// ErrUnknown: no such bus, device, output or fault.
var ErrUnknown = errors.New("unknown")

// monotonic is t on the machine's CLOCK_MONOTONIC, in ns.
func (bd *Building) monotonic(t time.Time) int64 {
	return bd.zeroNs + int64(t.Sub(bd.zero))
}

// AddFault puts a fault in force and returns its ID.
func (bd *Building) AddFault(f Fault) (int, error) {
	if err := f.check(); err != nil {
		return 0, err
	}
	buses, unit, err := bd.concerned(f)
	if err != nil {
		return 0, err
	}
	bd.mu.Lock()
	defer bd.mu.Unlock()
	if len(bd.faults) >= maxFaults {
		return 0, fmt.Errorf("%d faults are in force already; delete some", maxFaults)
	}
	bd.nextID++
	f.ID = bd.nextID
	r := &running{Fault: f, unit: unit}
	for _, b := range buses {
		b.impose(r)
	}
	if f.Kind == FaultClose { // over as soon as it happened
		for _, b := range buses {
			b.lift(r)
		}
		return f.ID, nil
	}
	bd.faults = append(bd.faults, r)
	if f.DurationMs > 0 {
		t := time.AfterFunc(time.Duration(f.DurationMs)*time.Millisecond, func() { bd.RemoveFault(f.ID) })
		r.stop = func() { t.Stop() }
	}
	bd.log.Info("fault begins", "id", f.ID, "kind", f.Kind, "bus", f.Bus, "address", f.Address, "rate", f.Rate)
	return f.ID, nil
}

// Faults lists the faults in force, oldest first.
func (bd *Building) Faults() []Fault {
	bd.mu.Lock()
	defer bd.mu.Unlock()
	out := []Fault{}
	for _, r := range bd.faults {
		f := r.Fault
		f.Hits = r.hits.Load()
		out = append(out, f)
	}
	return out
}

// RemoveFault ends a fault; false if it is not in force.
func (bd *Building) RemoveFault(id int) bool {
	bd.mu.Lock()
	defer bd.mu.Unlock()
	i := slices.IndexFunc(bd.faults, func(r *running) bool { return r.ID == id })
	if i < 0 {
		return false
	}
	r := bd.faults[i]
	bd.faults = slices.Delete(bd.faults, i, i+1)
	if r.stop != nil {
		r.stop()
	}
	for _, b := range bd.buses {
		b.lift(r)
	}
	bd.log.Info("fault ends", "id", id, "kind", r.Kind)
	return true
}

// impose puts a fault in force on this bus.
func (b *bus) impose(r *running) {
	b.mu.Lock()
	b.faults = append(b.faults, r)
	switch r.Kind {
	case FaultUnplug:
		b.pulled++
		b.cuts++
	case FaultClose:
		b.cuts++
	case FaultHang:
		if b.hanging++; b.hanging == 1 {
			b.awake = make(chan struct{})
		}
	case FaultStuck:
		b.freeze(r.unit)
	case FaultPower:
		b.halt(r.unit)
	}
	if r.Kind.ofPort() {
		r.hits.Add(1)
		b.faultHits[r.Kind]++
	}
	b.afflict()
	b.mu.Unlock()
	b.nudge()
}

// lift takes a fault off this bus, if it is there.
func (b *bus) lift(r *running) {
	b.mu.Lock()
	i := slices.Index(b.faults, r)
	if i >= 0 {
		b.faults = slices.Delete(b.faults, i, i+1)
		switch r.Kind {
		case FaultUnplug:
			b.pulled--
		case FaultHang:
			if b.hanging--; b.hanging == 0 {
				close(b.awake)
			}
		case FaultStuck:
			b.freeze(r.unit)
		}
		b.afflict()
	}
	b.mu.Unlock()
	b.nudge()
}

// halt stops the motors of a unit (0: all), as a power cut does.
func (b *bus) halt(number int) {
	now := time.Now()
	for n, u := range b.units {
		if number == 0 || int(n) == number {
			for _, m := range u.motors {
				m.run(now, still)
			}
		}
	}
}

// freeze makes the motors of a unit (0: all) stuck or free, as the faults in
// force say.
func (b *bus) freeze(number int) {
	now := time.Now()
	for n, u := range b.units {
		if number != 0 && int(n) != number {
			continue
		}
		stuck := slices.ContainsFunc(b.faults, func(r *running) bool {
			return r.Kind == FaultStuck && (r.unit == 0 || r.unit == int(n))
		})
		for _, m := range u.motors {
			m.advance(now)
			m.stuck = stuck
		}
	}
}
