package control

import (
	"context"
	"errors"
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

// task is what the bus does next: an exchange and whom to tell.
type task struct {
	exchange *appliance.Exchange
	kind     taskKind
	expiry   time.Time            // zero: none
	out      func(sent time.Time) // when its frame is out, and others use the bus; nil: nothing is to be noted
	lent     bool                 // it was out while others used the bus
	settle   func(res appliance.Result, err error, now time.Time)
}

// taskKind says what a task gives way to, and what its outcome tells.
type taskKind uint8

const (
	taskRead    taskKind = iota // gives way until it is begun
	taskWrite                   // the same, to a STOP only
	taskStop                    // the same, of a shade that nobody else stops: it costs what a probe costs
	taskJob                     // does not give way
	taskFinding                 // the same: whether a device that counts as online is gone
	taskLong                    // a job's exchange that lasts: gives way until an answer begins
	taskProbe                   // of a device that is offline: the same
	taskAttempt                 // a command to one: the same
)

// idleMost is how long the bus sleeps at most, to keep its health current.
const idleMost = time.Second

// How long until it looks again whether the port is there: before the first attempt to
// open it has ended, which takes milliseconds, and afterwards.
const (
	lookOpening = 5 * time.Millisecond
	lookDown    = 100 * time.Millisecond
)

// next picks the most urgent exchange: of commands by rank, then of jobs, then whether
// somebody who fell silent is gone, then whether somebody is back, then polls, a scan and
// group tables in turn. Without one it says how long to wait.
//
// Probes go before polls, since they are few: a bus that cannot meet its freshness
// targets always has a poll that is due, and would never find out who is gone and
// who is back. A scan takes turns with polls for the same reason.
func (b *bus) next(now time.Time) (*task, time.Duration) {
	if b.opening() {
		return nil, lookOpening
	}
	if !b.up {
		return nil, lookDown
	}
	if !b.room(false) {
		return nil, idleMost // until one is back
	}
	wake := now.Add(idleMost)
	sooner := func(at time.Time) {
		if !at.IsZero() {
			wake = earlier(wake, at)
		}
	}
	p, at := b.nextPiece(now)
	if p != nil {
		return b.pieceTask(p, now), 0
	}
	sooner(at)
	if !b.room(true) {
		return nil, max(0, wake.Sub(now))
	}
	tick, stop := b.nextTick()
	sooner(tick)
	fits := func(took time.Duration) bool { return stop.IsZero() || now.Add(took).Before(stop) }

	if t := b.nextErrand(fits); t != nil {
		return t, 0
	}
	finding, at := b.nextFinding(now, fits)
	if finding != nil && !b.found {
		b.found = true // at most every other exchange
		return finding, 0
	}
	b.found = false
	if finding == nil {
		sooner(at)
	}
	t, at := b.nextProbe(now, fits)
	if t != nil {
		return t, 0
	}
	sooner(at)
	mayScan := stop.IsZero() || stop.Sub(now) > time.Second // longer than any probe of a scan
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
	poll, at := b.schedule.pick(now, func(p *pollState) bool {
		d := b.device(p.Device)
		return !d.suspect() && !d.asked && !d.restReads.After(now)
	})
	if poll != nil && fits(poll.Airtime) {
		b.scanTurn = true
		return b.pollTask(poll, taskRead, now), 0
	}
	sooner(at)
	if mayScan {
		if t := b.nextScan(); t != nil {
			return t, 0
		}
		if t := b.groups.next(now, true); t != nil {
			return t, 0
		}
	}
	if finding != nil {
		return finding, 0
	}
	return nil, max(0, wake.Sub(now))
}

// nextPiece picks the first ready piece of the lowest rank; without one it says when the
// first becomes ready or expires.
func (b *bus) nextPiece(now time.Time) (*piece, time.Time) {
	var best *piece
	bestRank := ranks
	var soonest time.Time
	for _, p := range b.pieces {
		d := b.devices[p.exchange().Device]
		r := p.rankOf(d != nil && d.suspect())
		if r >= bestRank || d != nil && d.asked || !b.room(r >= rankRetry) {
			continue
		}
		if at := b.readyAt(p, r, d); at.After(now) {
			at = earlier(at, p.deadline())
			if soonest.IsZero() || at.Before(soonest) {
				soonest = at
			}
			continue
		}
		best, bestRank = p, r
	}
	return best, soonest
}

// readyAt is when a piece may go on. A write does not wait for a late answer to an
// earlier one: while one could come, its acknowledgement is not believed before it was
// confirmed by reading. A read waits, since nothing else would confirm it, and so does a
// write that nothing confirms but its acknowledgement.
func (b *bus) readyAt(p *piece, r rank, d *device) time.Time {
	switch {
	case d == nil:
	case p.verifying():
		return later(p.notBefore, d.restReads)
	case r == rankStopBehind && d.suspect() && !d.online:
		return later(p.notBefore, b.probes.allowed(time.Now())) // it costs what a probe costs
	case len(p.chain.Verify) == 0 && !p.chain.Unverifiable && !p.stops():
		return later(p.notBefore, d.restWrites)
	}
	return p.notBefore
}

// nextFinding asks a device that counts as online and did not answer when it was last
// asked, until it is known whether it is gone. That is not throttled.
func (b *bus) nextFinding(now time.Time, fits func(time.Duration) bool) (*task, time.Time) {
	p, at := b.dueProbe(now, func(d *device) bool { return d.suspect() && d.online && !d.asked })
	if p == nil || !fits(p.Worst) { // it will hardly answer now
		return nil, at
	}
	return b.pollTask(p, taskFinding, now), time.Time{}
}

// nextProbe asks one device that is offline, within the bus time allowed for that.
func (b *bus) nextProbe(now time.Time, fits func(time.Duration) bool) (*task, time.Time) {
	p, at := b.dueProbe(now, func(d *device) bool { return d.suspect() && !d.online && !d.asked })
	if p == nil {
		return nil, at
	}
	if at := b.probes.allowed(now); !at.IsZero() {
		return nil, at
	}
	if !fits(p.Worst) {
		return nil, time.Time{}
	}
	return b.pollTask(p, taskProbe, now), time.Time{}
}

// dueProbe returns a read of the device that has waited longest to be asked whether it
// answers; without one, when the first is due.
func (b *bus) dueProbe(now time.Time, of func(*device) bool) (*pollState, time.Time) {
	var best *pollState
	var due, soonest time.Time
	for _, p := range b.schedule.polls {
		d := b.device(p.Device)
		if !of(d) {
			continue
		}
		at := later(d.probeAt, d.restReads)
		if at.After(now) {
			if soonest.IsZero() || at.Before(soonest) {
				soonest = at
			}
			continue
		}
		if best == nil || at.Before(due) {
			best, due = p, at
		}
	}
	return best, soonest
}

// do performs a task.
func (b *bus) do(ctx context.Context, t *task) {
	var y appliance.Yield
	if t.kind != taskJob && t.kind != taskFinding {
		var ok bool
		if y.Begin, ok = b.beginExchange(t.kind == taskWrite || t.kind == taskStop); !ok {
			t.settle(appliance.Result{}, appliance.ErrPreempted, time.Now()) // something came in meanwhile: look again
			return
		}
	}
	y.Apart = b.apart(t)
	if t.kind >= taskLong && y.Apart == nil {
		y.Answer = y.Begin
	}
	gone := b.devices[t.exchange.Device]
	start := time.Now()
	if t.kind == taskProbe && (gone.fails%probeWhole != 0 || gone.quick()) {
		giveUp := func() { b.interrupt(y.Begin) }
		if y.Apart != nil {
			enough := make(chan struct{})
			y.Answer, giveUp = enough, func() { close(enough) }
		}
		defer time.AfterFunc(probeWait, giveUp).Stop()
	}
	res, err := t.exchange.Do(&sendBy{ctx, t.expiry}, y)
	end := time.Now()
	b.endExchange()
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = errClosed
	}
	took := end.Sub(start)
	gaveUp := t.kind == taskProbe && errors.Is(err, appliance.ErrPreempted) && took >= probeWait
	if errors.Is(err, appliance.ErrPreempted) && res.Sent.IsZero() { // nothing happened on the wire
		if gaveUp { // it was never free, and others have their turn too
			b.probes.spend(end, took)
			b.failed(gone, t, err, end)
		}
		t.settle(res, err, end)
		return
	}
	if gone != nil && err == nil {
		gone.slowest = max(gone.slowest, took)
	}
	wasted := err != nil && gone != nil && !gone.online
	b.use.add(end, took/time.Duration(b.most()), wasted || errors.Is(err, appliance.ErrSilent) && !t.isJob())
	switch {
	case wasted && t.kind == taskAttempt:
		b.attempts.spend(end, took)
	case wasted && (t.kind == taskProbe || t.kind == taskStop):
		b.probes.spend(end, took)
	}
	if errors.Is(err, appliance.ErrSilent) {
		b.makeUpFor(t.exchange.Device, took)
	}
	b.keepStops(t.exchange, took)
	b.account(t, res, err, end)
	if gaveUp {
		b.failed(gone, t, appliance.ErrSilent, end)
	}
	t.settle(res, err, end)
}

// makeUpFor gives the commands to other devices the time that one took by its silence.
func (b *bus) makeUpFor(silent string, took time.Duration) {
	for _, p := range b.pieces {
		if p.exchange().Device != silent && p.duty == noDuty {
			b.prolong(p, p.expires.Add(took))
		}
	}
}

// keepStops gives the STOPs that wait to be repeated behind others the time that those took.
func (b *bus) keepStops(other *appliance.Exchange, took time.Duration) {
	for _, p := range b.pieces {
		if p.stops() && !p.verifying() && p.tries > 0 && p.exchange() != other && p.duty == noDuty {
			b.prolong(p, p.expires.Add(took))
		}
	}
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

// account keeps the health of the device and the counters. What jobs ask is not counted:
// a scan finds nobody at most addresses, which tells nothing of the wiring.
func (b *bus) account(t *task, res appliance.Result, err error, now time.Time) {
	if t.isJob() {
		return
	}
	e := t.exchange
	var d *device
	both := []*appliance.BusStats{&b.stats}
	if e.Device != "" {
		d = b.device(e.Device)
		both = append(both, &d.stats)
	}
	for _, s := range both {
		count(s, err)
	}
	if d == nil {
		return
	}
	switch {
	case err == nil && t.writes() && !d.online && d.polled:
		// An adapter that echoes acknowledges most writes: only a read tells.
	case err == nil, errors.Is(err, appliance.ErrRefused), errors.Is(err, appliance.ErrBusy):
		if d.success(now) {
			b.groups.cameBack(e.Device)
			b.state.setOnline(slices.DeleteFunc(slices.Clone(d.nodes), func(id appliance.ID) bool { return b.absent[id] }), true, now)
			b.log.Info("device answers", "device", e.Device)
		}
	case errors.Is(err, appliance.ErrSilent) && errors.Is(err, context.DeadlineExceeded):
		// The command's time was over, not the device's.
		d.rest(t.writes(), now.Add(e.Worst+e.Late))
	case errors.Is(err, appliance.ErrSilent), errors.Is(err, appliance.ErrDamaged):
		if errors.Is(err, appliance.ErrSilent) {
			d.rest(t.writes(), now.Add(e.Late))
		}
		b.failed(d, t, err, now)
	case errors.Is(err, appliance.ErrPreempted) && !res.Sent.IsZero():
		d.rest(t.writes(), now.Add(e.Late))
	}
}

// failed notes that a device did not answer, and tells once what follows from it.
func (b *bus) failed(d *device, t *task, err error, now time.Time) {
	d.why = err
	switch gone := d.failure(t.kind != taskAttempt, now); {
	case gone:
		b.groups.lostDevice(d.name)
		b.state.setOnline(d.nodes, false, time.Time{})
		b.log.Warn("device is offline", "device", d.name, "why", err)
	case d.lastSeen.IsZero() && d.fails == offlineAfter:
		b.log.Warn("device does not answer", "device", d.name, "why", err)
	}
}

// writes reports whether the task's exchange is a write.
func (t *task) writes() bool {
	return t.kind == taskWrite || t.kind == taskStop || t.kind == taskAttempt
}

// isJob reports whether a job asks, and no command, poll or probe.
func (t *task) isJob() bool { return t.kind == taskJob || t.kind == taskLong }

// rest leaves the device alone with questions of one kind.
func (d *device) rest(write bool, until time.Time) {
	if write {
		d.restWrites = later(d.restWrites, until)
		return
	}
	d.restReads = later(d.restReads, until)
}

func count(s *appliance.BusStats, err error) {
	s.Exchanges++
	switch {
	case err == nil:
	case errors.Is(err, appliance.ErrSilent):
		s.Silent++
	case errors.Is(err, appliance.ErrDamaged):
		s.Damaged++
	case errors.Is(err, appliance.ErrRefused):
		s.Refused++
	case errors.Is(err, appliance.ErrBusy):
		s.Busy++
	case errors.Is(err, appliance.ErrBusDown):
		s.Down++
	case errors.Is(err, appliance.ErrExpired):
		s.Expired++
	case errors.Is(err, appliance.ErrPreempted):
		s.Preempted++
	}
}

func (b *bus) pollTask(p *pollState, kind taskKind, now time.Time) *task {
	before := p.last
	p.last = now
	return &task{exchange: &p.Exchange, kind: kind, settle: func(res appliance.Result, err error, now time.Time) {
		switch {
		case errors.Is(err, appliance.ErrPreempted) && res.Sent.IsZero():
			p.last = before // it is as urgent as it was
		case err == nil:
			p.answered, p.refusals = true, 0
			b.learn(res.Readings, res.Sent)
			b.trials.saw(res)
		case errors.Is(err, appliance.ErrDamaged):
			// What came need not have been the answer: that may still be under way.
			b.device(p.Device).rest(false, now.Add(p.Late))
		case errors.Is(err, appliance.ErrRefused):
			if b.schedule.refuse(p) {
				b.log.Warn("device refuses to tell a value; check its profile", "device", p.Device, "why", err)
			}
		}
	}}
}

func (b *bus) pieceTask(p *piece, now time.Time) *task {
	e := p.exchange()
	b.schedule.note(e)
	t := &task{exchange: e, kind: taskRead, expiry: p.deadline(), out: func(sent time.Time) { b.wentOut(p, sent) }}
	t.settle = func(res appliance.Result, err error, now time.Time) {
		if t.lent {
			b.back(p, res, err, now)
			return
		}
		b.settle(p, res, err, now)
	}
	switch {
	case p.offline && !p.verifying():
		t.kind = taskAttempt
	case !p.verifying() && p.duty == mustStop:
		t.kind = taskStop
	case !p.verifying():
		t.kind = taskWrite
	}
	if d := b.devices[e.Device]; d != nil && t.writes() && p.tries == 0 && d.restWrites.After(now) {
		p.chain.Group = true // it need not be this one that is acknowledged: only reading confirms it
	}
	return t
}
