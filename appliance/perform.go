package appliance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// task is what the bus does next: an exchange and whom to tell.
type task struct {
	exchange *Exchange
	write    bool
	expiry   time.Time // zero: none
	yields   bool      // gives way to anything more urgent until an answer begins
	steady   bool      // does not give way even before it is begun
	dead     bool      // spent on a device that does not answer
	settle   func(res Result, err error, now time.Time)
}

// idleMost is how long the bus sleeps at most, to keep its health current.
const idleMost = time.Second

// How long until it looks again whether the port is there: before the first attempt to
// open it has ended, which takes milliseconds, and afterwards.
const (
	lookOpening = 5 * time.Millisecond
	lookDown    = 100 * time.Millisecond
)

// next picks the most urgent exchange: STOP, then commands in their order, then
// their verification, then an errand, then probes of silent devices, then polls
// and a scan in turn. Without one it says how long to wait.
//
// Probes go before polls, since they are few: a bus that cannot meet its freshness
// targets always has a poll that is due, and would never find out who is gone and
// who is back. A scan takes turns with polls for the same reason.
func (b *bus) next(now time.Time) (*task, time.Duration) {
	wake := now.Add(idleMost)
	if b.opening() {
		return nil, lookOpening
	}
	if !b.up {
		return nil, lookDown
	}
	if w, at := b.nextWork(now); w != nil {
		return b.workTask(w, now), 0
	} else if !at.IsZero() {
		wake = earlier(wake, at)
	}
	leg := b.nextLeg()
	if !leg.IsZero() {
		wake = earlier(wake, leg)
	}
	fits := func(e *Exchange) bool { return leg.IsZero() || now.Add(e.Airtime).Before(leg) }

	if t := b.nextErrand(fits); t != nil {
		return t, 0
	}
	t, at := b.nextProbe(now, fits)
	if t != nil {
		return t, 0
	}
	if !at.IsZero() {
		wake = earlier(wake, at)
	}
	mayScan := leg.IsZero() || leg.Sub(now) > time.Second // longer than any probe of a scan
	if b.scanTurn && mayScan {
		if t := b.nextScan(); t != nil {
			b.scanTurn = false
			return t, 0
		}
		if t := b.groups.next(now, false); t != nil {
			b.scanTurn = false
			return t, 0
		}
	}
	p, at := b.schedule.pick(now, func(p *pollState) bool {
		d := b.device(p.Device)
		return !d.suspect() && !d.restReads.After(now)
	})
	if p != nil && fits(&p.Exchange) {
		b.scanTurn = true
		return b.pollTask(p, now), 0
	}
	if !at.IsZero() {
		wake = earlier(wake, at)
	}
	if mayScan {
		if t := b.nextScan(); t != nil {
			return t, 0
		}
		if t := b.groups.next(now, true); t != nil {
			return t, 0
		}
	}
	return nil, max(0, wake.Sub(now))
}

// nextWork picks the first ready work of the highest rank (STOP, commands, their
// verification, verification that was not answered before, stops that were not heard);
// without one it says when the first becomes ready or expires.
func (b *bus) nextWork(now time.Time) (*work, time.Time) {
	var best *work
	bestRank := 5
	var soonest time.Time
	for _, w := range b.works {
		rank := 1
		switch {
		case w.verifying && w.tries == 0:
			rank = 2
		case w.verifying, w.lone:
			rank = 3
		case w.unheard():
			rank = 4
		case w.stop:
			rank = 0
		}
		if rank >= bestRank {
			continue
		}
		if at := b.readyAt(w); at.After(now) {
			if soonest.IsZero() || at.Before(soonest) {
				soonest = at
			}
			if w.expiry.Before(soonest) {
				soonest = w.expiry
			}
			continue
		}
		best, bestRank = w, rank
	}
	return best, soonest
}

// readyAt is when a work may go on. A write never waits for a late answer to an
// earlier one; while one could come, an acknowledgement is not believed before it
// was confirmed by reading. A read waits, since nothing else would confirm it.
func (b *bus) readyAt(w *work) time.Time {
	d := b.devices[w.exchange().Device]
	switch {
	case d == nil:
	case w.verifying:
		return later(w.notBefore, d.restReads)
	case w.unheard() && d.suspect() && !d.online:
		return later(w.notBefore, b.probes.allowed(time.Now())) // it costs what a probe costs
	}
	return w.notBefore
}

// nextProbe asks one device that does not answer, within the bus time allowed for
// that.
func (b *bus) nextProbe(now time.Time, fits func(*Exchange) bool) (*task, time.Time) {
	var best *pollState
	var soonest time.Time
	for _, p := range b.schedule.polls {
		d := b.device(p.Device)
		if !d.suspect() {
			continue
		}
		at := later(d.probeAt, d.restReads)
		if at.After(now) {
			if soonest.IsZero() || at.Before(soonest) {
				soonest = at
			}
			continue
		}
		if best == nil || sooner(d, b.device(best.Device)) {
			best = p
		}
	}
	if best == nil {
		return nil, soonest
	}
	if at := b.probes.allowed(now); !at.IsZero() {
		return nil, at
	}
	if !fits(&best.Exchange) {
		return nil, time.Time{}
	}
	t := b.pollTask(best, now)
	d := b.device(best.Device)
	t.yields, t.dead = !d.online || d.cut < cutMost, true
	return t, time.Time{}
}

// sooner reports whether a is asked before b: one that counts as online is not known
// to be gone, and is not read meanwhile.
func sooner(a, b *device) bool {
	if a.online != b.online {
		return a.online
	}
	return a.probeAt.Before(b.probeAt)
}

// do performs a task.
func (b *bus) do(ctx context.Context, t *task) {
	var y Yield
	if !t.steady {
		var ok bool
		if y.Begin, ok = b.beginExchange(t.write && !t.yields); !ok {
			t.settle(Result{}, ErrPreempted, time.Now()) // something came in meanwhile: look again
			return
		}
	}
	if t.yields {
		y.Answer = y.Begin
	}
	start := time.Now()
	res, err := t.exchange.Do(&sendBy{ctx, t.expiry}, y)
	end := time.Now()
	b.endExchange()
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = errClosed
	}
	if errors.Is(err, ErrPreempted) && res.Sent.IsZero() {
		t.settle(res, err, end) // nothing happened on the wire
		return
	}
	dead := t.dead && err != nil
	b.use.add(end, end.Sub(start), dead || errors.Is(err, ErrSilent))
	b.account(t, res, err, end)
	if errors.Is(err, ErrSilent) || dead {
		b.probes.refill(end)
		b.probes.spend(end.Sub(start), dead)
	}
	t.settle(res, err, end)
}

// sendBy is the context of an exchange: the bus's own, with the deadline of its
// command. The deadline is for the frame to be out, so it ends nothing by itself:
// the answer to a frame that was out in time is awaited, whatever the hour, since
// only it tells what happened.
type sendBy struct {
	context.Context
	expiry time.Time // zero: none
}

func (c *sendBy) Deadline() (time.Time, bool) {
	if c.expiry.IsZero() {
		return c.Context.Deadline()
	}
	return c.expiry, true
}

// account keeps the health of the device and the counters.
func (b *bus) account(t *task, res Result, err error, now time.Time) {
	e := t.exchange
	var d *device
	both := []*BusStats{&b.stats}
	if e.Device != "" {
		d = b.device(e.Device)
		both = append(both, &d.stats)
	}
	for _, s := range both {
		s.count(err)
	}
	if d == nil {
		return
	}
	switch {
	case err == nil, errors.Is(err, ErrRefused), errors.Is(err, ErrBusy):
		if d.success(now) {
			b.groups.cameBack(e.Device)
			b.state.setOnline(d.nodes, true, now)
			b.log.Info("device answers", "device", e.Device)
		}
	case errors.Is(err, ErrSilent) && errors.Is(err, context.DeadlineExceeded):
		// The command's time was over, not the device's.
		d.rest(t.write, now.Add(e.Worst+e.Late))
	case errors.Is(err, ErrSilent), errors.Is(err, ErrDamaged):
		if errors.Is(err, ErrSilent) {
			d.rest(t.write, now.Add(e.Late))
		}
		if d.failure(now) {
			b.groups.lostDevice(e.Device)
			b.state.setOnline(d.nodes, false, time.Time{})
			b.log.Warn("device is offline", "device", e.Device, "why", err)
		}
	case errors.Is(err, ErrPreempted) && !res.Sent.IsZero():
		d.cut++
		d.rest(t.write, now.Add(e.Late))
	}
}

// rest leaves the device alone with questions of one kind.
func (d *device) rest(write bool, until time.Time) {
	if write {
		d.restWrites = later(d.restWrites, until)
		return
	}
	d.restReads = later(d.restReads, until)
}

func (s *BusStats) count(err error) {
	s.Exchanges++
	switch {
	case err == nil:
	case errors.Is(err, ErrSilent):
		s.Silent++
	case errors.Is(err, ErrDamaged):
		s.Damaged++
	case errors.Is(err, ErrRefused):
		s.Refused++
	case errors.Is(err, ErrBusy):
		s.Busy++
	case errors.Is(err, ErrBusDown):
		s.Down++
	case errors.Is(err, ErrExpired):
		s.Expired++
	case errors.Is(err, ErrPreempted):
		s.Preempted++
	}
}

func (b *bus) pollTask(p *pollState, now time.Time) *task {
	before := p.last
	p.last = now
	return &task{exchange: &p.Exchange, settle: func(res Result, err error, now time.Time) {
		switch {
		case errors.Is(err, ErrPreempted) && res.Sent.IsZero():
			p.last = before // it is as urgent as it was
		case err == nil:
			p.answered, p.refusals = true, 0
			b.learn(res.Readings)
			b.disobeyed(res.Readings)
			b.trials.saw(res)
		case errors.Is(err, ErrDamaged):
			// What came need not have been the answer: that may still be under way.
			b.device(p.Device).rest(false, now.Add(p.Late))
		case errors.Is(err, ErrRefused):
			if b.schedule.refuse(p) {
				b.log.Warn("device refuses to tell a value; check its profile", "device", p.Device, "why", err)
			}
		}
	}}
}

func (b *bus) workTask(w *work, now time.Time) *task {
	e := w.exchange()
	b.schedule.note(e)
	t := &task{exchange: e, write: !w.verifying, expiry: w.expiry, settle: func(res Result, err error, now time.Time) {
		b.settleWork(w, res, err, now)
	}}
	if w.lone {
		t.yields, t.dead = true, true
	}
	if d := b.devices[e.Device]; d != nil && t.write && w.tries == 0 && d.restWrites.After(now) {
		w.unsure = true
	}
	return t
}

// remove takes a work out of the queue.
func (b *bus) remove(w *work) {
	if i := slices.Index(b.works, w); i >= 0 {
		b.works = slices.Delete(b.works, i, i+1)
	}
}

// fail ends a work for all its members.
func (b *bus) fail(w *work, err error) {
	w.each(func(want Want, m int) bool {
		if w.verifying {
			w.run.conclude(m, err) // what was acknowledged goes on
			return true
		}
		if w.aside {
			w.run.offline(m)
		} else {
			w.run.fail(m, err)
		}
		b.abandon(w, want)
		return true
	})
}

var errTooLate = fmt.Errorf("%w: the deadline passed before the bus came to it", ErrExpired)

// dropExpired ends the works whose time is over.
func (b *bus) dropExpired(now time.Time) {
	for i := 0; i < len(b.works); i++ {
		if w := b.works[i]; !w.expiry.After(now) {
			b.works = slices.Delete(b.works, i, i+1)
			i--
			b.expire(w)
		}
	}
}

// expire drops a work that is too late: members that acknowledged keep that.
func (b *bus) expire(w *work) {
	w.each(func(want Want, m int) bool {
		if w.aside && !w.verifying {
			w.run.offline(m)
		} else {
			w.run.conclude(m, errTooLate)
		}
		if !w.verifying {
			b.abandon(w, want)
		}
		return true
	})
}
