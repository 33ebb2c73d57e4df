package dalisim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// babbler is a device on the line that asks gear for levels now and then, and listens
// to nobody.
type babbler struct {
	rate float64 // part of the time that its frames take, below 1
	next moment
}

// Chatter lets such a device talk for a part of the time, above 0 and below 1. Its
// frames collide with those of the gateway and with answers. Rate 0 ends it.
func (l *Line) Chatter(rate float64) error {
	if rate < 0 || rate >= 1 {
		return fmt.Errorf("rate %v: want 0, or less than 1", rate)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.babbler = nil
	if rate > 0 {
		l.babbler = &babbler{rate: rate, next: l.clock.now()}
	}
	select {
	case l.poke <- struct{}{}:
	default:
	}
	return nil
}

// after plans the next frame, with pauses from nothing to twice their mean. Called
// with the line's mu held.
func (b *babbler) after(over moment, rng *rand.Rand) {
	b.next = over + moment(2*rng.Float64()*(1/b.rate-1)*float64(forward))
}

// burstIn tells whether the device begins a frame from one moment to another, and
// when that is over. Such a frame is lost.
func (l *Line) burstIn(from, to moment) (over moment, hit bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.babbler
	if b == nil || b.next < from || b.next >= to {
		return 0, false
	}
	over = b.next + forward
	l.note(Sent{At: l.clock.world(over), Frame: l.babble(), Foreign: true, Lost: true})
	b.after(over, l.rng)
	return over, true
}

// babble is what the device says: QUERY ACTUAL LEVEL to some gear.
func (l *Line) babble() uint16 {
	short := byte(0)
	if len(l.gears) > 0 {
		short = l.gears[l.rng.IntN(len(l.gears))].short & 0x3F
	}
	return uint16(short)<<9 | 0x1A0
}

// untilBurst is how long the world has to wait for the next frame of the device.
func (l *Line) untilBurst() (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.babbler == nil {
		return 0, false
	}
	return max(0, time.Until(l.clock.world(l.babbler.next))), true
}

// babbled puts a frame of the device that is due on the line, where nobody else is.
func (s *session) babbled(ctx context.Context) bool { return s.babbledBefore(ctx, s.line.clock.now()) }

// babbledBefore does so if the frame begins before a moment, or with it.
func (s *session) babbledBefore(ctx context.Context, t moment) bool {
	l := s.line
	l.mu.Lock()
	b := l.babbler
	if b == nil || b.next > t || ctx.Err() != nil {
		l.mu.Unlock()
		return false
	}
	// Nobody may have served the line for a while.
	begin := max(b.next, l.busyTill, l.clock.now()-forward)
	b.after(begin+forward, l.rng)
	frame := l.babble()
	l.mu.Unlock()
	s.once(ctx, order{kind: orderForeign, frame: frame}, 0, begin)
	return true
}

// findGap lets the babbling device finish what it begins before a frame, as every
// gateway listens first; what it begins within the frame collides with it. A gateway
// that does not report that sends the frame again by itself; for the others collided
// is true, and has been reported.
func (s *session) findGap(ctx context.Context, o order, begin moment) (at moment, collided bool) {
	l := s.line
	for ctx.Err() == nil {
		if s.babbledBefore(ctx, begin) {
			low, high := l.model.gap(o)
			l.mu.Lock()
			begin = max(begin, l.busyTill+l.between(low, high))
			l.mu.Unlock()
			continue
		}
		over, hit := l.burstIn(begin, begin+forward)
		if !hit {
			break
		}
		if o.kind != orderForeign {
			s.conflict(ctx, over)
			if l.model.outcome(resultConflict, 0, over) != nil {
				return over, true
			}
		}
		begin = over
	}
	return begin, false
}

// Duplicate puts a second gear with the short address of another one on the line,
// which has the highest level and draws random addresses of its own, or takes it off.
// It hears, obeys and answers by itself. [Line.Devices] tells of the first.
func (l *Line) Duplicate(index int, on bool) error {
	if index < 0 || index >= len(l.gears) {
		return fmt.Errorf("gear %d: want 0 to %d", index, len(l.gears)-1)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	first := l.gears[index]
	i := slices.IndexFunc(l.twins, func(g *gear) bool { return g.like == first })
	switch {
	case on && i < 0:
		c := first.cfg
		c.Level = c.Max
		g := newGear(c, rand.New(rand.NewPCG(l.cfg.Seed, uint64(1000+index))))
		g.short, g.groups, g.like = first.short, first.groups, first
		l.twins = append(l.twins, g)
	case !on && i >= 0:
		l.twins = slices.Delete(l.twins, i, i+1)
	}
	return nil
}
