package control

import (
	"context"
	"sync/atomic"
	"time"

	"svc.internal/controller/appliance/engine"
)

// flights are the exchanges of a bus that are out at once. Behind some gateways several
// may be, each with another device: whoever has asked lends the lead while it waits for
// the answer, and has it back before it looks at that. So the engine is still
// touched by one goroutine at a time, and a device is asked one thing at a time.
type flights struct {
	out   map[uint64]time.Time // tasks whose answer is awaited while others lead, and since when
	holds atomic.Int32         // who waits for all of them to be back: none begins
	calm  chan struct{}        // closed when the last is back; nil: nobody waits
}

// most is how many exchanges may be out at once.
func (b *bus) most() int { return max(1, b.present.Load().Opened.InFlight) }

// apart gives an exchange the means to lend the lead.
func (b *bus) apart(task uint64) func(time.Time, func()) {
	return func(sent time.Time, wait func()) {
		b.mail.endExchange()
		b.feed(engine.Out{Task: task, Sent: sent})
		f := &b.flights
		f.out[task] = sent
		b.mail.poke()
		<-b.lead
		defer func() {
			b.lead <- struct{}{}
			delete(f.out, task)
			if f.calm != nil && len(f.out) == 0 {
				close(f.calm)
				f.calm = nil
			}
		}()
		wait()
	}
}

// progress is when the bus last got on: now, unless an answer has been awaited since before.
func (b *bus) progress(now time.Time) time.Time {
	for _, since := range b.flights.out {
		now = earlier(now, since)
	}
	return now
}

// fly does a task for the bus's goroutine, which goes on meanwhile; the lead comes along.
func (b *bus) fly(ctx context.Context, p *engine.Perform) {
	defer b.mail.poke()
	defer func() { <-b.lead }()
	b.perform(ctx, p)
}

// quiet takes the lead when no answer is awaited, unless ctx or the bus ends before.
func (b *bus) quiet(ctx context.Context, over <-chan struct{}) error {
	f := &b.flights
	f.holds.Add(1)
	defer b.mail.poke()
	defer f.holds.Add(-1)
	for {
		select {
		case b.lead <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		case <-over:
			return engine.ErrClosed
		}
		if len(f.out) == 0 {
			return nil
		}
		if f.calm == nil {
			f.calm = make(chan struct{})
		}
		calm := f.calm
		<-b.lead
		select {
		case <-calm:
		case <-ctx.Done():
			return ctx.Err()
		case <-over:
			return engine.ErrClosed
		}
	}
}

// atBoundary does something between two frames, when no answer is awaited, unless ctx or
// the bus has ended.
func (b *bus) atBoundary(ctx context.Context, do func()) error {
	if err := b.quiet(ctx, b.closed); err != nil {
		return err
	}
	defer func() { <-b.lead; b.mail.poke() }()
	do()
	return nil
}
