// Package control runs a building: it takes commands, has the buses carry them out, keeps
// what is known for readers, the ledger of what was commanded, and the long jobs of
// installers.
package control

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/engine"
	"svc.internal/controller/appliance/shade"
)

const (
	// commandsMost bounds the commands under way at once; stops have as many places
	// again, so that they are never turned away by others.
	commandsMost = 256
	// journalEvery bounds how much history a power cut may cost: the journal itself
	// may take 2 s more to reach the disk.
	journalEvery = 3 * time.Second
	// motionWritten is how soon it is on the disk that a shade moves: where it stood is known no
	// more, should the power fail. Those that begin within that time are written together.
	motionWritten = 200 * time.Millisecond
)

// Options of a controller.
type Options struct {
	// Drivers by the name that a bus asks for.
	Drivers map[string]appliance.OpenFunc
	// Journal keeps last state and ledger; nil: they end with the process.
	Journal appliance.Journal
	// GroupBook keeps which group belongs to which cluster; nil: it ends with the
	// process.
	GroupBook appliance.GroupBook
	// SaveShade makes durable what was found out about a shade, and sees to it that it
	// is put in force; nil: calibrations cannot be saved.
	SaveShade func(ctx context.Context, id appliance.ID, to appliance.ShadeSettings) error
	// DataDir is handed to drivers for installers' own files.
	DataDir string
	Log     *slog.Logger
}

// The phases of a controller: no bus is started before it runs, nor once it is over.
const (
	notBegun int32 = iota
	running
	over
)

// Controller turns commands into frames and frames into state.
type Controller struct {
	opts   Options
	state  *state
	ledger ledger
	book   *groupBook
	seq    atomic.Uint64
	active atomic.Int32 // commands under way
	trials trials
	jobs   *Jobs
	order  sync.Mutex // of commands that several buses get

	mu    sync.Mutex              // of Apply and Run, never of a reader or a command
	left  map[appliance.UUID]*bus // closed while shades were on their way
	buses atomic.Pointer[map[appliance.UUID]*bus]
	phase atomic.Int32 // changed under mu
	wg    sync.WaitGroup
}

// New makes a controller without a site.
func New(opts Options) *Controller {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	c := &Controller{opts: opts, jobs: newJobs(), left: map[appliance.UUID]*bus{}, state: newState(), ledger: ledger{many: make(chan struct{}, 1), feed: appliance.NewFeed[appliance.Entry](entriesFollowed)}, book: newGroupBook(opts.GroupBook, opts.Log)}
	c.buses.Store(&map[appliance.UUID]*bus{})
	return c
}

// Snapshot returns the present state. It takes no lock.
func (c *Controller) Snapshot() *appliance.Snapshot { return c.state.current.Load() }

// Restore fills in what the journal knows from before the restart, marked as such. It
// fails if it is not known which group belongs to which cluster.
// Call it after the first Apply and before Run. Nothing moves by itself.
func (c *Controller) Restore(ctx context.Context) error {
	if err := c.book.load(ctx); err != nil {
		return fmt.Errorf("load groups: %w", err)
	}
	if c.opts.Journal == nil {
		return nil
	}
	saved, err := c.opts.Journal.LoadStates(ctx)
	if err != nil { // a nicety: it is read from the devices again
		c.opts.Log.Error("last state could not be loaded", "why", err)
		return nil
	}
	c.state.restore(saved)
	for _, b := range *c.buses.Load() {
		cfg := *b.config()
		if opened, err := c.opts.Drivers[cfg.Bus.Driver](cfg); err == nil { // what was known tells drivers apart what registers alone do not say
			b.configure(&engine.Wiring{Config: cfg, Opened: opened}, false)
		}
		for _, s := range cfg.Shades {
			if sh := c.Snapshot().Shade(s.ID); sh != nil && sh.Position.OK() {
				was := shade.Restored{Position: float64(sh.Position.Value), Uncertainty: float64(sh.Uncertainty), At: sh.Position.At}
				b.feed(engine.ForShade{Shade: s.ID, Event: was})
			}
		}
	}
	return nil
}

// Apply puts a site in force. Buses that did not change go on undisturbed; others take
// what changed between two frames, and are opened anew only if they are on another port
// or speak otherwise on it, for which commands wait. Entries that cannot work are
// quarantined and listed in the snapshot's faults; faults found elsewhere are listed with
// them.
func (c *Controller) Apply(site appliance.Site, faults []appliance.Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := *c.buses.Load()
	build := newBuilder(c, &site, faults)
	next := make(map[appliance.UUID]*bus, len(site.Buses))
	var opened []*bus
	var changed []func()
	for i := range site.Buses {
		cfg, ok := build.busConfig(i)
		if !ok {
			continue
		}
		id := cfg.Bus.UUID
		b := old[id]
		switch {
		case b == nil:
		case sameBus(*b.config(), cfg):
			build.adopt(b)
			b.retune(cfg.Shades)
			next[id] = b
			continue
		case b.stop != nil && c.phase.Load() == running && b.config().Bus.Driver == cfg.Bus.Driver:
			if done, ok := c.change(b, cfg, build); ok {
				build.adopt(b)
				next[id], changed = b, append(changed, done)
				continue
			}
		}
		if b != nil {
			c.close(b, build.rehearse(cfg))
		}
		if made := build.newBus(cfg); made != nil {
			if b == nil {
				b = c.left[id]
			}
			if b != nil {
				made.goOn(b)
			}
			delete(c.left, id)
			next[id] = made
			opened = append(opened, made)
		}
	}
	for id, b := range old {
		if next[id] != b {
			c.close(b, nil)
		}
		if next[id] == nil && b.underway() {
			c.left[id] = b // they were not heard to stop; the bus may come back
		}
	}
	build.finish()
	for _, done := range changed {
		done()
	}
	for _, b := range opened {
		b.looked(b.present.Load(), nil)
	}
	c.buses.Store(&next)
	if c.phase.Load() == running {
		for _, b := range opened {
			c.start(b)
		}
	}
}

// sameBus reports whether a bus may go on as it is. Names do not matter to it, and
// travel times it takes over while it runs.
func sameBus(a, b appliance.BusConfig) bool {
	return reflect.DeepEqual(nameless(a), nameless(b))
}

// sameWire reports whether two entries of a bus speak of the same devices, in the same way.
func sameWire(a, b appliance.Bus) bool {
	a.Name = b.Name
	return reflect.DeepEqual(a, b)
}

func nameless(c appliance.BusConfig) any {
	nodes, shades := slices.Clone(c.Nodes), slices.Clone(c.Shades)
	for i := range nodes {
		nodes[i].Name, nodes[i].Note = "", ""
	}
	for i := range shades {
		shades[i].Name, shades[i].TravelUp, shades[i].TravelDown = "", 0, 0
	}
	return []any{c.Bus, c.Freshness, nodes, shades}
}

// bus finds a running bus by name.
func (c *Controller) bus(name string) (*bus, error) {
	for _, b := range *c.buses.Load() {
		if b.config().Bus.Name == name {
			return b, nil
		}
	}
	return nil, fmt.Errorf("bus %q: %w, or quarantined", name, appliance.ErrNotFound)
}

// Recorder returns the flight recorder of a bus.
func (c *Controller) Recorder(busName string) (appliance.Recorder, error) {
	b, err := c.bus(busName)
	if err != nil {
		return nil, err
	}
	r, ok := b.driver().(appliance.Recorder)
	if !ok {
		return nil, fmt.Errorf("bus %s: its driver %q records nothing", busName, b.config().Bus.Driver)
	}
	return r, nil
}

// entriesFollowed finished commands wait for a slow follower of the ledger.
const entriesFollowed = 128

// Entries is where finished commands can be followed.
func (c *Controller) Entries() *appliance.Feed[appliance.Entry] { return c.ledger.feed }

// RecentEntries are the finished commands in the ledger's memory, in no order.
func (c *Controller) RecentEntries() []appliance.Entry { return c.ledger.recent() }

// Entry returns a finished command from the ledger's memory.
func (c *Controller) Entry(id string) (appliance.Entry, bool) { return c.ledger.find(id) }
