// Package control runs a building: it takes commands, has the buses carry them out, keeps
// what is known for readers, the ledger of what was commanded, and the long jobs of
// installers.
package control

import (
	"context"
	"errors"
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
		nodes[i].Name = ""
	}
	for i := range shades {
		shades[i].Name, shades[i].TravelUp, shades[i].TravelDown = "", 0, 0
	}
	return []any{c.Bus, c.Freshness, nodes, shades}
}

// Run serves all buses until ctx ends, then ends the jobs, which may have shades to
// stop, stops the shades that nobody else would stop, ends the buses, and writes the
// journal a last time.
func (c *Controller) Run(ctx context.Context) error {
	ended := ctx
	ctx, end := context.WithCancel(context.WithoutCancel(ended))
	defer end()
	c.mu.Lock()
	if !c.phase.CompareAndSwap(notBegun, running) {
		c.mu.Unlock()
		return errors.New("controller: Run was called twice")
	}
	defer context.AfterFunc(ended, func() { c.jobs.end(); c.stopShades(); end() })()
	for _, b := range *c.buses.Load() {
		c.start(b)
	}
	c.mu.Unlock()

	c.wg.Go(func() { c.publishLoop(ctx) })
	c.wg.Go(func() { c.watchBeats(ctx) })
	c.wg.Go(func() { c.book.run(ctx) })
	c.keepJournal(ctx)
	c.mu.Lock()
	c.phase.Store(over)
	for _, b := range *c.buses.Load() {
		b.stop()
	}
	c.mu.Unlock()
	c.wg.Wait()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), journalEvery)
	defer cancel()
	if err := c.saveJournal(last); err != nil {
		c.opts.Log.Error("last state and ledger could not be written at the end", "why", err)
	}
	return nil
}

// EndJobs has all jobs give up in an orderly way, as [Controller.Run] does at its end: what
// they moved is stopped. Commands go on, and no job begins any more.
func (c *Controller) EndJobs() { c.jobs.end() }

// start runs a bus: its line and its goroutine.
func (c *Controller) start(b *bus) {
	ctx, stop := context.WithCancel(context.Background())
	b.stop = stop
	c.plug(b)
	c.wg.Go(func() {
		b.run(ctx)
		b.unplug()
	})
}

// plug has the driver of a bus open its port.
func (c *Controller) plug(b *bus) {
	ctx, cancel := context.WithCancel(context.Background())
	driver, log, released := b.driver(), b.log, make(chan struct{})
	b.unplug = func() { cancel(); <-released }
	c.wg.Go(func() {
		defer close(released)
		if err := driver.Run(ctx); err != nil && ctx.Err() == nil {
			log.Error("bus cannot work", "why", err)
		}
	})
}

// close ends a bus and waits until its port is free for another, which will drive what it
// drove; nil: there is none.
func (c *Controller) close(b *bus, then *engine.Wiring) {
	select {
	case <-b.closed:
		return
	default:
	}
	if b.stop == nil {
		return
	}
	c.halt(b, then)
	b.stop()
	<-b.closed
	b.unplug()
}

// haltMost is how long a site that is being put in force waits for shades to stop.
const haltMost = 5 * time.Second

// halt stops shades that move on a bus and are not the same ones in what comes then:
// nobody would stop them at their goals.
func (c *Controller) halt(b *bus, then *engine.Wiring) {
	var rest []<-chan struct{}
	now := b.present.Load()
	for _, s := range now.Config.Shades {
		if then == nil || !then.Drives(now, s) {
			rest = append(rest, b.hand(s.ID, shade.Halt{}))
		}
	}
	b.await(rest, haltMost)
}

// stopShades stops what only the program would stop, since it ends.
func (c *Controller) stopShades() {
	c.mu.Lock()
	buses := *c.buses.Load()
	c.mu.Unlock()
	var all sync.WaitGroup
	for _, b := range buses {
		all.Go(func() {
			var rest []<-chan struct{}
			for _, s := range b.config().Shades {
				rest = append(rest, b.hand(s.ID, shade.Quit{}))
			}
			b.await(rest, haltMost)
		})
	}
	all.Wait()
}

// publishLoop makes what polling learned visible, in bunches.
func (c *Controller) publishLoop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.state.kick:
		}
		c.state.publish()
		select {
		case <-ctx.Done():
			return
		case <-time.After(publishEvery):
		}
	}
}

// keepJournal writes behind until ctx ends.
func (c *Controller) keepJournal(ctx context.Context) {
	t := time.NewTicker(journalEvery)
	defer t.Stop()
	failing := false // said once, and once when it is over: a disk may be full for days
	for many := c.ledger.many; ; {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		case <-many:
		}
		many = nil // a journal that fails is tried again at its usual time
		err := c.saveJournal(ctx)
		switch {
		case err != nil && !failing:
			c.opts.Log.Error("last state and ledger could not be written; trying again", "why", err)
		case err == nil && failing:
			c.opts.Log.Info("last state and ledger are written again")
		}
		if failing = err != nil; !failing {
			many = c.ledger.many
		}
	}
}

// saveJournal writes what changed; nothing is written when nothing did. What fails is
// kept for the next time.
func (c *Controller) saveJournal(ctx context.Context) error {
	if c.opts.Journal == nil {
		return nil
	}
	batch := appliance.Batch{States: c.state.takeUnsaved(), Entries: c.ledger.takeUnsaved()}
	if len(batch.States) == 0 && len(batch.Entries) == 0 {
		return nil
	}
	err := c.opts.Journal.SaveBatch(ctx, batch)
	if err != nil {
		c.state.putUnsaved(batch.States)
		c.ledger.putUnsaved(batch.Entries)
	}
	return err
}

// Ready returns nil when every bus that is not quarantined has been started and makes
// progress. It takes no lock: a site that is being put in force closes buses, which takes
// its time, and a bus that is stuck may hold one.
func (c *Controller) Ready() error {
	switch c.phase.Load() {
	case notBegun:
		return errors.New("buses are not started yet")
	case over:
		return errors.New("the controller has ended")
	}
	now := time.Now()
	for _, b := range *c.buses.Load() {
		if still := b.beat.missing(now); still > 0 {
			return fmt.Errorf("bus %s makes no progress: nobody has looked after it for %v", b.config().Bus.Name, still.Round(time.Second))
		}
	}
	return nil
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
