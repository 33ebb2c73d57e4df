package control

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/engine"
)

// ErrScanning: a scan of this bus is under way already.
var ErrScanning = errors.New("a scan is under way already")

// scanJob is a search for devices that runs behind everything else.
type scanJob struct {
	next  func() (appliance.ScanStep, bool)
	stop  func()
	found func(appliance.Found)
	step  func(address string)
	done  chan error
	asked uint64    // the engine's job; what comes of others is not ours
	down  time.Time // since when its bus has been down; zero: it is up
}

// scanPatience is how long a scan waits for a bus that goes down in its middle: an
// adapter that is put back is there again after some seconds.
const scanPatience = 10 * time.Second

// goOnScan has the next step of a scan done.
func (b *bus) goOnScan(s *scanJob, number *atomic.Uint64) {
	step, ok := s.next()
	if !ok {
		b.endScan(nil)
		return
	}
	s.step(step.Address)
	s.asked = number.Add(1)
	b.desk.asked[s.asked] = func(res appliance.Result, err error) {
		if f, ok := step.Judge(res, err); ok {
			if f.Finding == "" {
				f.Finding = appliance.FoundDevice
			}
			f.Nodes = b.nodesAt(f.Address)
			s.found(f)
		}
		b.goOnScan(s, number)
	}
	b.desk.next = append(b.desk.next, engine.Ask{Job: s.asked, Exchange: step.Exchange, Scan: true})
}

// checkScan ends a scan whose bus is down and stays so.
func (b *bus) checkScan(now time.Time) {
	s := b.desk.scan
	if s == nil {
		return
	}
	switch why := b.down(); {
	case why == nil, errors.Is(why, appliance.ErrOpening):
		s.down = time.Time{}
	case s.down.IsZero():
		s.down = now
	case now.Sub(s.down) > scanPatience:
		b.endScan(fmt.Errorf("bus %s: the scan was given up, since the bus has been down for %v: %w", b.config().Bus.Name, scanPatience, why))
	}
}

// breakOffScan ends a scan that cannot go on: the site changed, or the program ends.
func (b *bus) breakOffScan() {
	b.endScan(fmt.Errorf("bus %s: the scan was broken off by an import or the daemon's end, so that what is not listed was not looked for; scan again: %w", b.config().Bus.Name, engine.ErrClosed))
}

func (b *bus) endScan(err error) {
	s := b.desk.scan
	if s == nil {
		return
	}
	b.desk.scan = nil
	delete(b.desk.asked, s.asked)
	b.desk.next = append(b.desk.next, engine.Withdraw{Job: s.asked})
	s.stop()
	s.done <- err
}

// Scan searches a bus for devices, configured or not, behind commands and in turn
// with polling. It calls step before each address is probed and found for whatever
// there is to tell, both on the bus's goroutine, and returns when it is through or
// ctx ends.
func (c *Controller) Scan(ctx context.Context, busName string, opts appliance.ScanOptions, step func(address string), found func(appliance.Found)) error {
	b, err := c.bus(busName)
	if err != nil {
		return err
	}
	scanner, ok := b.driver().(appliance.Scanner)
	if !ok {
		return fmt.Errorf("bus %s: its driver %q cannot scan", busName, b.config().Bus.Driver)
	}
	next, stop := iter.Pull(scanner.Scan(opts))
	job := &scanJob{next: next, stop: stop, found: found, step: step, done: make(chan error, 1)}
	err = b.atBoundary(ctx, func() {
		if b.desk.scan != nil {
			stop()
			job.done <- ErrScanning
			return
		}
		b.desk.scan = job
		b.goOnScan(job, &c.jobs.number)
	})
	if err != nil {
		stop()
		return fmt.Errorf("bus %s: %w", busName, err)
	}
	select {
	case err := <-job.done:
		return err
	case <-ctx.Done():
		b.atBoundary(context.Background(), func() {
			if b.desk.scan == job {
				b.endScan(ctx.Err())
			}
		})
		return <-job.done
	}
}
