package control

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/shade"
)

// settle judges the outcome of one exchange of a command. This is the one place where a
// retry is decided.
func (b *bus) settle(p *piece, res appliance.Result, err error, now time.Time) {
	writing := !p.verifying()
	if writing && !res.Sent.IsZero() && !p.out() {
		b.noteSent(p, res.Sent)
	}
	p.outAt = time.Time{}
	if err != nil && b.tryAgain(p, err, now) {
		return
	}
	if d := b.devices[p.exchange().Device]; d != nil && p.tries > 0 {
		// Answers to the earlier tries may still be on their way.
		d.rest(writing, now.Add(p.exchange().Late))
	}
	switch {
	case !writing:
		b.settleRead(p, res, err, now)
	case err == nil:
		b.settleStep(p, res, now)
	case errors.Is(err, appliance.ErrRefused) && len(p.chain.Wants) > 1 && p.members[0].writes+1 < maxWrites:
		// A combined frame was refused: the device may do it one by one.
		left := p.open()
		for _, m := range left {
			m.writes++
		}
		b.replace(p, b.again(p, left, b.driver().Repair))
	default:
		b.replace(p, nil)
		b.fail(p, err)
	}
}

// noteSent notes for the members of a piece that its frame went out.
func (b *bus) noteSent(p *piece, at time.Time) {
	for _, m := range p.open() {
		if m.stage() == appliance.StageAccepted {
			m.before = b.beliefs.of(m.target.Ref).read
		}
		m.sent(at)
		if motor := b.motors[m.target.Shade]; motor != nil {
			b.tell(motor, at, shade.Sent{Order: m.order, Group: p.chain.Group && motor.channel.PositionMeasured})
		}
		b.beliefs.asked(m)
	}
}

// tryAgain decides about a repetition and when.
func (b *bus) tryAgain(p *piece, err error, now time.Time) bool {
	switch {
	case errors.Is(err, appliance.ErrPreempted):
		return true
	case errors.Is(err, appliance.ErrBusy):
		p.notBefore = now.Add(min(busyPause<<min(p.tries, 8), busyPauseMost))
	case errors.Is(err, appliance.ErrDamaged) && p.tries+1 < maxTriesDamaged:
	case errors.Is(err, appliance.ErrSilent) && p.tries+1 < maxTriesSilent && !p.offline && !b.isGone(p.exchange().Device):
	case p.duty == mustStop && !p.verifying():
		p.notBefore = now.Add(stopPause)
	default:
		return false
	}
	p.tries++
	return now.Before(p.deadline())
}

// isGone reports whether a device is known to be offline.
func (b *bus) isGone(name string) bool {
	d := b.devices[name]
	return d != nil && !d.online && d.suspect() && !d.lastSeen.IsZero()
}

// settleStep goes on after a frame that was written as it should.
func (b *bus) settleStep(p *piece, res appliance.Result, now time.Time) {
	p.pos, p.tries = p.pos+1, 0
	if !p.verifying() {
		return
	}
	p.sentAt, p.looks, p.notBefore = res.Sent, 0, time.Time{}
	b.told(p, now)
	switch {
	case p.chain.Unverifiable:
		b.replace(p, nil)
		for _, m := range p.open() {
			m.unverifiable()
		}
	case len(p.chain.Verify) == 0:
		b.replace(p, nil)
		for _, m := range p.open() {
			if p.chain.Group {
				m.fail(fmt.Errorf("%w: nothing confirms it", appliance.ErrSilent))
				continue
			}
			m.accept()
		}
	default:
		if !p.fadeEnd.IsZero() { // it is confirmed at the end of the fade only, and may have to be repaired
			b.prolong(p, p.fadeEnd.Add(3*p.airtime()))
		}
		b.replace(p, b.byDevice(p))
	}
}

// prolong lets a piece live until a moment, if whoever asked waits so long.
func (b *bus) prolong(p *piece, until time.Time) {
	p.expires = later(p.expires, earlier(until, p.members[0].record.ceiling()))
}

// told notes what members were told.
func (b *bus) told(p *piece, now time.Time) {
	for _, m := range p.open() {
		m.writes++
		ch := b.channel(m.target.Ref)
		if ch.Fade > 0 {
			p.fadeEnd = later(p.fadeEnd, p.sentAt.Add(ch.Fade))
		}
		if !p.chain.Group {
			m.acknowledged(now)
		}
		if motor := b.motors[m.target.Shade]; motor != nil {
			b.tell(motor, now, shade.Ack{Order: m.order.ID})
		}
		switch {
		case m.target.Shade != 0:
		case p.chain.Unverifiable:
			b.state.learn([]appliance.Reading{{Ref: m.target.Ref, Values: m.target.Values, At: p.sentAt}}, appliance.Sent)
		case len(p.chain.Verify) == 0 && !p.chain.Group:
			b.state.learn([]appliance.Reading{{Ref: m.target.Ref, Values: m.target.Values, At: p.sentAt}}, appliance.Acknowledged)
		case speaksOfLevel(m.target.Values):
			b.state.expect(m.target.Ref, m.target.Level, ch.Fade)
		}
	}
}

// byDevice divides a piece whose members were told by the devices that they hang off.
// Each is read back and repaired by itself, whatever becomes of the others. Nobody waits
// for a device that is known not to answer: the frame reached it if anything did.
func (b *bus) byDevice(p *piece) []*piece {
	var order []*device
	parts := map[*device]*piece{}
	for i, m := range p.members {
		d := b.deviceFor(m.target.Ref)
		if parts[d] == nil {
			n := *p
			n.chain.Wants, n.members, n.chain.Verify = nil, nil, nil
			parts[d], order = &n, append(order, d)
		}
		n := parts[d]
		n.chain.Wants, n.members = append(n.chain.Wants, p.chain.Wants[i]), append(n.members, m)
	}
	for _, e := range p.chain.Verify {
		n := parts[b.devices[e.Device]]
		if n == nil {
			return []*piece{p} // it reads what is not theirs: only the driver knows how
		}
		n.chain.Verify = append(n.chain.Verify, e)
	}
	var out []*piece
	for _, d := range order {
		n := parts[d]
		switch {
		case p.chain.Group && d != nil && !d.online && d.suspect():
			for _, m := range n.open() {
				b.leaveOut(m)
			}
		case p.chain.Group && n.goesOn():
			out = append(out, b.again(n, n.open(), b.driver().Repair)...)
		case len(n.chain.Verify) == 0:
			out = append(out, b.judged(n)...)
		default:
			out = append(out, n)
		}
	}
	return out
}

// goesOn reports whether shades that may have been moving were told to move by a frame that
// nobody acknowledged: that they move proves nothing, so each is told alone.
func (p *piece) goesOn() bool {
	return slices.ContainsFunc(p.open(), func(m *member) bool {
		return m.target.Shade != 0 && m.target.Motion != appliance.Stop && m.before.Motion != appliance.Stopped && m.writes < maxWrites
	})
}

// deviceFor is the device that a thing hangs off.
func (b *bus) deviceFor(ref appliance.Ref) *device {
	if m := b.motors[ref.Shade]; m != nil {
		return b.deviceOf[m.shade.Node]
	}
	return b.deviceOf[ref.Node]
}

// settleRead collects what was read back and, after the last read, judges it. A read
// that is too large for the device is taken apart.
func (b *bus) settleRead(p *piece, res appliance.Result, err error, now time.Time) {
	at := p.pos - len(p.chain.Steps)
	if parts := smaller(*p.exchange(), err); len(parts) > 0 {
		p.chain.Verify, p.tries = slices.Replace(slices.Clone(p.chain.Verify), at, at+1, parts...), 0
		return
	}
	if err == nil {
		b.learn(res.Readings, res.Sent)
		b.trials.saw(res)
		for _, r := range res.Readings {
			if m := p.of(r.Ref); m != nil {
				m.got = merge(m.got, r)
			}
		}
	} else {
		p.readErr = err
	}
	asked := p.exchange().Device
	p.pos, p.tries = p.pos+1, 0
	for errors.Is(err, appliance.ErrSilent) && !p.over() && p.exchange().Device == asked {
		p.pos++ // it would not answer that either
	}
	if !p.over() && len(p.open()) > 0 {
		return
	}
	b.replace(p, b.judged(p))
}

// merge adds what a second read told of the same thing.
func merge(a, r appliance.Reading) appliance.Reading {
	v := a.Values
	if speaksOfLevel(r.Values) {
		v.Level = r.Level
	}
	if r.Has.Has(appliance.CanTune) {
		v.Kelvin = r.Kelvin
	}
	if r.Has.Has(appliance.CanColour) {
		v.RGBW = r.RGBW
	}
	if r.Has.Has(appliance.CanMove) {
		v.Motion = r.Motion
	}
	if r.Has.Has(appliance.CanPosition) {
		v.Position = r.Position
	}
	v.Has |= r.Has
	return appliance.Reading{Ref: r.Ref, Values: v, At: r.At, Reached: r.Reached, Why: r.Why}
}

// lookPauses are between two read-backs of a device that has something else than it was
// told: some show late what they do. fadeLook is the same while it fades.
var lookPauses = [...]time.Duration{50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond}

const (
	fadeLook = 200 * time.Millisecond
	// lagUsual is how long after a write a device may still show what was before, unless
	// its profile says otherwise: the sum of the pauses.
	lagUsual = 750 * time.Millisecond
	// lagGroup is how long that is waited for after a frame that nobody acknowledged.
	lagGroup = 200 * time.Millisecond
)

// judged compares what the members were told with what was read back. It returns what
// has to be done for those that do not have it: nothing, reading again later, or telling
// each again.
func (b *bus) judged(p *piece) []*piece {
	now := time.Now()
	var lookAt time.Time
	for _, m := range p.open() {
		switch at, confirmed := b.verdict(p, m, now); {
		case confirmed:
			m.read(m.got.At)
			b.state.settled(m.target.Ref)
		default:
			lookAt = later(lookAt, at)
		}
	}
	left := p.open()
	if !lookAt.IsZero() {
		p.pos, p.looks, p.notBefore, p.readErr = len(p.chain.Steps), p.looks+1, lookAt, nil
		b.prolong(p, lookAt.Add(commandTime))
		for _, m := range left {
			m.got = appliance.Reading{}
		}
		return []*piece{p}
	}
	var again []*member
	for _, m := range left {
		was := b.differs(m)
		if was {
			b.state.settled(m.target.Ref)
		}
		switch {
		case b.repairable(m, was):
			b.groups.doubt(p, m)
			again = append(again, m)
		case was:
			m.fail(mismatch(m.target.Values, m.got))
			b.gaveUp(m, false)
		default:
			unread := m.stage() == appliance.StageAcknowledged
			b.failMember(m, cmp.Or(p.readErr, appliance.ErrSilent))
			b.gaveUp(m, unread)
		}
	}
	if len(again) == 0 {
		return nil
	}
	return b.again(p, again, b.driver().Repair)
}

// differs reports whether the member was read since it was told, and has something else
// than it should.
func (b *bus) differs(m *member) bool {
	return m.got.Ref == m.target.Ref && aspectsOf(m.target.Has)&aspectsOf(m.got.Has) != 0 &&
		(m.target.Shade != 0 || !agrees(m.target.Values, m.got)) // a shade's machine has the say
}

// verdict on a member that was read back: it has what it should, or it is to be read
// again at a moment, or, with neither, it has not.
func (b *bus) verdict(p *piece, m *member, now time.Time) (lookAt time.Time, confirmed bool) {
	ch := b.channel(m.target.Ref)
	lag := cmp.Or(ch.Lag, lagUsual)
	motor := b.motors[m.target.Shade]
	switch {
	case motor.timed(m.target.Motion):
		lag = 0
	case p.chain.Group: // it may as well have missed the frame
		lag = min(lag, lagGroup)
	}
	settledAt := p.sentAt.Add(lag)
	fading := m.got.At.Before(p.fadeEnd)
	if !b.differs(m) {
		read := aspectsOf(m.target.Has) & aspectsOf(m.got.Has)
		// What it does not tell of counts by its own acknowledgement.
		whole := read == aspectsOf(m.target.Has) || p.readErr == nil && m.stage() == appliance.StageAcknowledged
		return time.Time{}, read != 0 && whole
	}
	if !fading || m.writes > 1 {
		m.disproved(mismatch(m.target.Values, m.got))
	}
	switch {
	case fading:
		return earlier(p.fadeEnd, now.Add(fadeLook)), false
	case b.beliefs.explain(m):
		return time.Time{}, true
	case motor != nil && motor.state.Undecided(readOf(m.got, m.got.At)):
		return now.Add(lookPauses[min(p.looks, len(lookPauses)-1)]), false
	case m.got.At.Before(settledAt):
		at := now.Add(max(lookPauses[min(p.looks, len(lookPauses)-1)], p.chain.Verify[0].Airtime))
		return later(at, earlier(settledAt, now.Add(lookPauses[len(lookPauses)-1]))), false
	}
	return time.Time{}, false
}

// repairable reports whether a member that is not confirmed may be told again. The
// movement of a shade whose way is timed may not: whoever stopped it meanwhile meant it.
func (b *bus) repairable(m *member, wasRead bool) bool {
	if m.writes >= maxWrites || !wasRead && m.stage() == appliance.StageAcknowledged {
		return false
	}
	return !b.motors[m.target.Shade].timed(m.target.Motion)
}

// fail ends a piece for all its members.
func (b *bus) fail(p *piece, err error) {
	for _, m := range p.open() {
		if p.offline && !m.record.single() && !p.verifying() {
			m.leaveOut()
		} else {
			b.failMember(m, err)
		}
		b.gaveUp(m, p.verifying())
	}
}

// leaveOut ends a member that nobody waits for. What its shade was told may be obeyed.
func (b *bus) leaveOut(m *member) {
	m.leaveOut()
	b.gaveUp(m, false)
}

// failMember ends a member; what it was told is not shown any more.
func (b *bus) failMember(m *member, err error) {
	m.fail(err)
	b.state.settled(m.target.Ref)
}

var errTooLate = fmt.Errorf("%w: the deadline passed before the bus came to it", appliance.ErrExpired)

// dropExpired ends the pieces whose time is over.
func (b *bus) dropExpired(now time.Time) {
	var over []*piece
	b.pieces = slices.DeleteFunc(b.pieces, func(p *piece) bool {
		late := !p.deadline().After(now) && !p.out()
		if late {
			over = append(over, p)
		}
		return late
	})
	for _, p := range over {
		b.fail(p, errTooLate)
	}
}

// mismatch tells that a device reports something else than was wanted, and why if
// it says so.
func mismatch(want appliance.Values, got appliance.Reading) error {
	if got.Why != "" {
		return fmt.Errorf("%w: %s instead of %s: %s", appliance.ErrMismatch, describe(got.Values), describe(want), got.Why)
	}
	return fmt.Errorf("%w: %s instead of %s", appliance.ErrMismatch, describe(got.Values), describe(want))
}

// describe tells values to people.
func describe(v appliance.Values) string {
	switch {
	case v.Has.Has(appliance.CanPosition) && v.Motion == appliance.MoveTo:
		return fmt.Sprintf("go to %d %%", v.Position)
	case v.Has.Has(appliance.CanPosition) && v.Has.Has(appliance.CanMove):
		return fmt.Sprintf("%v at %d %%", v.Motion, v.Position)
	case v.Has.Has(appliance.CanPosition):
		return fmt.Sprintf("at %d %%", v.Position)
	case v.Has.Has(appliance.CanMove):
		return v.Motion.String()
	case v.Has.Has(appliance.CanColour):
		return fmt.Sprintf("%d:%d:%d:%d", v.RGBW.R, v.RGBW.G, v.RGBW.B, v.RGBW.W)
	case v.Has.Has(appliance.CanTune):
		return fmt.Sprintf("%d K", v.Kelvin)
	}
	return fmt.Sprintf("%d %%", v.Level)
}

// smaller reads instead of this one, if a device refused it; none if it cannot be cut.
func smaller(e appliance.Exchange, err error) []appliance.Exchange {
	if e.Split == nil || !errors.Is(err, appliance.ErrRefused) {
		return nil
	}
	return e.Split()
}
