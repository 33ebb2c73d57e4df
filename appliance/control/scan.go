package control

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"svc.internal/controller/appliance"
)

// ErrScanning: a scan of this bus is under way already.
var ErrScanning = errors.New("a scan is under way already")

// scanJob is a search for devices that runs behind everything else.
type scanJob struct {
	ctx   context.Context
	next  func() (appliance.ScanStep, bool)
	stop  func()
	found func(appliance.Found)
	step  func(address string)
	done  chan error
	late  *appliance.ScanStep // one that had to wait
	down  time.Time           // since when its bus has been down; zero: it is up
}

// scanPatience is how long a scan waits for a bus that goes down in its middle: an
// adapter that is put back is there again after some seconds.
const scanPatience = 10 * time.Second

// scanMost is how long a step of a scan may keep a command waiting.
const scanMost = time.Second

// take gives the step that had to wait, or the next one.
func (s *scanJob) take() (appliance.ScanStep, bool) {
	if step := s.late; step != nil {
		s.late = nil
		return *step, true
	}
	return s.next()
}

// nextScan probes the next address.
func (b *bus) nextScan() *task {
	b.checkScan(time.Now())
	s := b.scan
	if s == nil {
		return nil
	}
	step, ok := s.take()
	if !ok {
		b.endScan(nil)
		return nil
	}
	// What takes long gives way to a command even while it waits for its answer, and
	// is not begun when a shade would have to be stopped meanwhile.
	long := step.Exchange.Worst > scanMost
	if _, stop := b.nextTick(); long && !stop.IsZero() && !time.Now().Add(step.Exchange.Worst).Before(stop) {
		s.late = &step
		return nil
	}
	kind := taskJob
	if long {
		kind = taskLong
	}
	again, device := step, b.devices[step.Exchange.Device]
	step.Exchange.Device = "" // strangers are not kept in the books
	s.step(step.Address)
	return &task{exchange: &step.Exchange, kind: kind, settle: func(res appliance.Result, err error, now time.Time) {
		if errors.Is(err, appliance.ErrPreempted) && res.Sent.IsZero() {
			s.late = &again
			return
		}
		switch { // the answer may still come
		case device == nil:
		case errors.Is(err, appliance.ErrPreempted):
			device.rest(false, now.Add(step.Exchange.Worst+step.Exchange.Late))
		case errors.Is(err, appliance.ErrSilent), errors.Is(err, appliance.ErrDamaged):
			device.rest(false, now.Add(step.Exchange.Late))
		}
		f, ok := step.Judge(res, err)
		if !ok {
			return
		}
		if f.Finding == "" {
			f.Finding = appliance.FoundDevice
		}
		f.Nodes = b.nodesAt(f.Address)
		s.found(f)
	}}
}

// checkScan ends a scan that nobody waits for any more, and one whose bus is down and
// stays so.
func (b *bus) checkScan(now time.Time) {
	s := b.scan
	switch {
	case s == nil:
	case s.ctx.Err() != nil:
		b.endScan(s.ctx.Err())
	case b.up || b.opening():
		s.down = time.Time{}
	case s.down.IsZero():
		s.down = now
	case now.Sub(s.down) > scanPatience:
		b.endScan(fmt.Errorf("bus %s: the scan was given up, since the bus has been down for %v: %w", b.config().Bus.Name, scanPatience, b.why))
	}
}

// breakOffScan ends a scan that cannot go on: the site changed, or the program ends.
func (b *bus) breakOffScan() {
	b.endScan(fmt.Errorf("bus %s: the scan was broken off by an import or the daemon's end, so that what is not listed was not looked for; scan again: %w", b.config().Bus.Name, errClosed))
}

func (b *bus) endScan(err error) {
	if b.scan == nil {
		return
	}
	b.scan.stop()
	b.scan.done <- err
	b.scan = nil
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
	job := &scanJob{ctx: ctx, next: next, stop: stop, found: found, step: step, done: make(chan error, 1)}
	err = b.atBoundary(ctx, func() {
		if b.scan != nil {
			stop()
			job.done <- ErrScanning
			return
		}
		b.scan = job
	})
	if err != nil {
		stop()
		return fmt.Errorf("bus %s: %w", busName, err)
	}
	return <-job.done
}
