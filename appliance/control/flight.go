package control

import (
	"context"
	"sync/atomic"
	"time"

	"svc.internal/controller/appliance"
)

// flights are the exchanges of a bus that are out at once. Behind some gateways several
// may be, each with another device: whoever has asked lends the lead while it waits for
// the answer, and has it back before it looks at that. So what a bus knows is still
// touched by one goroutine at a time, and a device is asked one thing at a time.
type flights struct {
	out   map[*task]time.Time // exchanges whose answer is awaited while others lead, and since when
	holds atomic.Int32        // who waits for all of them to be back: none begins
	calm  chan struct{}       // closed when the last is back; nil: nobody waits
}

// spare is left to commands: what may take its whole time-out begins only if so many
// more could.
const spare = 1

// most is how many exchanges may be out at once.
func (b *bus) most() int { return max(1, b.present.Load().opened.InFlight) }

// room reports whether another exchange may begin; of one that gives way to commands,
// whether one of those could as well.
func (b *bus) room(yields bool) bool {
	most := b.most()
	if most == 1 {
		return true
	}
	if yields {
		most -= spare
	}
	return len(b.out) < most && b.holds.Load() == 0
}

// apart gives an exchange the means to lend the lead; nil if it keeps it.
func (b *bus) apart(t *task) func(time.Time, func()) {
	d := b.devices[t.exchange.Device]
	if b.most() == 1 || d == nil || t.isJob() {
		return nil
	}
	return func(sent time.Time, wait func()) {
		b.endExchange()
		if t.out != nil {
			t.out(sent)
		}
		b.out[t] = sent
		d.asked = true
		t.lent = true
		b.poke()
		<-b.lead
		defer func() {
			b.lead <- struct{}{}
			delete(b.out, t)
			d.asked = false
			if b.calm != nil && len(b.out) == 0 {
				close(b.calm)
				b.calm = nil
			}
		}()
		wait()
	}
}

// progress is when the bus last got on: now, unless an answer has been awaited since before.
func (b *bus) progress(now time.Time) time.Time {
	for _, since := range b.out {
		now = earlier(now, since)
	}
	return now
}

// out reports whether the frame of a piece is out, while others use the bus.
func (p *piece) out() bool { return !p.outAt.IsZero() }

// wentOut notes that the frame of a piece is out, before others have the bus.
func (b *bus) wentOut(p *piece, sent time.Time) {
	p.outAt = sent
	if !p.verifying() {
		b.noteSent(p, sent)
	}
}

// back settles a piece whose answer was awaited while others had the bus: newer commands
// may have taken parts of it, and the port may be gone.
func (b *bus) back(p *piece, res appliance.Result, err error, now time.Time) {
	left := p.open()
	switch {
	case len(left) == 0:
		b.replace(p, nil)
		if err == nil {
			b.learn(res.Readings, res.Sent)
			b.trials.saw(res)
		}
	case err != nil && !b.up && !b.opening() && !p.stops():
		b.replace(p, nil)
		b.fail(p, b.why)
	case p.overtaken && !p.verifying():
		b.replace(p, b.again(p, left, b.driver().Plan))
	default:
		b.settle(p, res, err, now)
	}
	p.outAt, p.overtaken = time.Time{}, false
}

// fly does a task for the bus's goroutine, which goes on meanwhile; the lead comes along.
func (b *bus) fly(ctx context.Context, t *task) {
	defer b.poke()
	defer func() { <-b.lead }()
	b.do(ctx, t)
}

// quiet takes the lead when no answer is awaited, unless ctx or the bus ends before.
func (b *bus) quiet(ctx context.Context, over <-chan struct{}) error {
	b.holds.Add(1)
	defer b.poke()
	defer b.holds.Add(-1)
	for {
		select {
		case b.lead <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		case <-over:
			return errClosed
		}
		if len(b.out) == 0 {
			return nil
		}
		if b.calm == nil {
			b.calm = make(chan struct{})
		}
		calm := b.calm
		<-b.lead
		select {
		case <-calm:
		case <-ctx.Done():
			return ctx.Err()
		case <-over:
			return errClosed
		}
	}
}
