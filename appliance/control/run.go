package control

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"svc.internal/controller/appliance/engine"
	"svc.internal/controller/appliance/shade"
)

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
