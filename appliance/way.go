package appliance

import (
	"slices"
	"time"
)

// A shade whose position is modelled goes to a place by legs, which its bus sends when
// they are due. This is what the bus does for them; what is known of the shade itself is
// its mover.

// legsDue sends shades on the next part of their way when it is time.
func (b *bus) legsDue(now time.Time) {
	for id, m := range b.movers {
		motion, at, ok := m.due()
		if !ok || at.After(now) {
			continue
		}
		m.next()
		if late := now.Sub(at); motion != Stop && late > legLate {
			// Nothing starts to move late; it may only stop late.
			m.abandon()
			b.showShade(id, m)
			b.log.Warn("shade left where it is: the bus could not send it on in time", "shade", id, "late", late)
			continue
		}
		b.sendLeg(id, motion, at)
	}
}

// sendLeg commands one motion of a shade's way, or its end, that was due at a moment.
func (b *bus) sendLeg(id ID, motion Motion, due time.Time) {
	now := time.Now()
	if motion == Stop {
		b.movers[id].owed = true
		due = now
	}
	kind := map[Motion]Kind{Open: ShadeOpen, Close: ShadeClose, Stop: ShadeStop}[motion]
	target := Want{Ref{Shade: id}, Values{Has: CanMove, Motion: motion}}
	r := b.begin(Command{Kind: kind, Target: Target{One, id}, Origin: Origin{Via: "shade engine", Why: "way to a position"}}, target)
	owes := begins
	if motion == Stop {
		owes = mustStop
	}
	b.enqueue(job{members: r.members, expiry: legExpiry(motion, due), duty: owes}, now)
}

// legExpiry is when a leg is worth nothing any more. A stop never is.
func legExpiry(m Motion, due time.Time) time.Time {
	if m == Stop {
		return due.Add(time.Minute)
	}
	return due.Add(legLate)
}

// nextLeg is when the next timed motion is due; zero if there is none.
func (b *bus) nextLeg() time.Time {
	var next time.Time
	for _, m := range b.movers {
		if _, at, ok := m.due(); ok && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// abandon gives up the way of a shade that could not be sent on it. One that may move
// all the same, on this way or on the one before, is stopped: nobody would stop it at
// its goal.
func (b *bus) abandon(p *piece, of *member) {
	want := of.target
	m := b.movers[want.Shade]
	if want.Shade == 0 || m == nil {
		return
	}
	planned := len(m.legs) > 0
	if want.Motion == Stop && planned && !m.legs[0].started.IsZero() {
		return // it acknowledged that it stands, and goes on from there
	}
	moves := m.owed || planned && (of.told() || want.Motion == Stop)
	m.abandon()
	b.showShade(want.Shade, m)
	switch {
	case !moves:
	case b.why == errClosed:
		m.owed = true // for the bus that takes its place
	case p.duty != mustStop:
		b.sendLeg(want.Shade, Stop, time.Now())
	}
}

// disobeyed stops shades that go on as they were sent before, although they have
// acknowledged something else: nobody would stop them at their goals.
func (b *bus) disobeyed(readings []Reading) {
	for _, r := range readings {
		if m := b.movers[r.Shade]; m != nil && m.unproven && seen(r.Motion) != 0 {
			m.owed, m.unproven = true, false
			b.sendLeg(r.Shade, Stop, time.Now())
		}
	}
}

// forgive drops the stop of a shade that somebody has taken over at the wall.
func (b *bus) forgive(id ID) {
	b.pieces = slices.DeleteFunc(b.pieces, func(p *piece) bool {
		if p.duty != mustStop || p.verifying() {
			return false
		}
		for _, m := range p.open() {
			if m.target.Shade == id {
				m.fail(ErrSuperseded)
			}
		}
		return len(p.open()) == 0
	})
}

// onTheWay reports whether a shade is to be stopped some time.
func (b *bus) onTheWay() bool {
	for _, m := range b.movers {
		if m.onTheWay() {
			return true
		}
	}
	return false
}

// goOn takes over shades that are on their way from the bus that had them before:
// nobody else would stop them at their goals.
func (b *bus) goOn(before *bus) {
	now := time.Now()
	for id, was := range before.movers {
		m := b.movers[id]
		if m == nil || !sameMotor(&m.shade, &was.shade) {
			continue
		}
		same := m.channel == was.channel && m.shade.Inverted == was.shade.Inverted
		switch {
		case same && (was.onTheWay() || was.dir != 0):
			was.retune(m.shade, now)
			b.movers[id] = was
		case was.onTheWay():
			m.owed = true // what is left of its way means something else now
		}
		if b.movers[id].owed {
			b.sendLeg(id, Stop, now)
		}
	}
}
