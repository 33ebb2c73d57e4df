package main

import (
	"math"
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

// moved looks whether a shade that was confirmed goes where it was sent, or is there. An actuator waits before it turns
// round.
func (h *history) moved(o *order, x *thing) {
	if len(h.rivals(x, o, o.from, o.to)) > 0 || o.verb == "POS" && x.timed && h.lost(x, o) {
		return
	}
	for {
		s := h.truth(x.id)
		at := s.ExactPosition
		switch {
		case o.verb == "UP" && (s.Motion == "opening" || at > 99.5),
			o.verb == "DOWN" && (s.Motion == "closing" || at < 0.5),
			o.verb == "STOP" && !s.Moving,
			o.verb == "POS" && (s.Moving || math.Abs(at-float64(o.value)) <= h.within(x)):
			return
		}
		most := settles
		if x.timed && o.verb == "POS" && (at < 0.5 || at > 99.5) { // it makes sure that it is at an end, and comes from there
			if most = endLasts; h.wasIll(x, o.from) || h.restartedSince(o.from) {
				return // not if it was not read on its way there, or by a daemon that knows of no way
			}
		}
		if len(h.rivals(x, o, o.to, time.Now())) > 0 || h.broke(x, o.from) {
			return
		}
		if now := time.Now(); now.Sub(o.to) > most {
			shown := h.boss.Load().core.Snapshot().Shade(x.id)
			h.wrong("false 1: %v (%s at %s %s), which is %+v %v later, and shown at %v ±%d", o, x.make, x.bus, x.at, s, now.Sub(o.to), shown.Position.Value, shown.Uncertainty)
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// hums is how long a motor that is stuck says that it runs, and longer if it is sent on in the same direction meanwhile.
const hums = 5 * time.Second

// broke reports whether something holds a shade up that its controller need not have known: a motor that got stuck, which
// shows to nobody if it has no eyes, and else only when it has hummed for a while, or lost its power after it was seen to run.
func (h *history) broke(x *thing, since time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.broken[x.bus+"/"+x.at]
	sentOn := func(o *order) bool { return o.from.After(p.at) && o.from.Before(since) && since.Sub(o.from) < hums }
	return !p.at.IsZero() && (!p.at.Before(since) || p.stuck && (x.timed && time.Now().Before(p.until) || since.Sub(p.at) < hums || slices.ContainsFunc(h.orders[x], sentOn)))
}

// lost reports whether nobody can know where a shade without eyes was when an order came: in this round somebody at the wall was
// at it, or it was stuck.
func (h *history) lost(x *thing, o *order) bool {
	h.mu.Lock()
	b := h.broken[x.bus+"/"+x.at]
	h.mu.Unlock()
	return b.hides() && b.at.Before(o.from) || h.pushedBefore(x, o)
}

// pushedBefore reports whether somebody at the wall was at a thing in this round: of a shade without eyes that may have been over
// before anybody looked.
func (h *history) pushedBefore(x *thing, o *order) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.orders[x], func(p *order) bool { return p.verb == "press" && p.from.Before(o.from) })
}

// glance compares a shade without eyes that stands with what is shown of it, whatever else goes on.
func (h *history) glance(x *thing) {
	if !x.timed {
		return
	}
	shown, s := h.boss.Load().core.Snapshot().Shade(x.id), h.truth(x.id)
	if shown == nil || shown.Motion != appliance.Stopped || !shown.Position.OK() || shown.Position.Source == appliance.Restored || s.Moving {
		return
	}
	h.mu.Lock()
	hidden := h.broken[x.bus+"/"+x.at].hides() || slices.ContainsFunc(h.orders[x], func(o *order) bool { return o.verb == "press" })
	h.mu.Unlock()
	if within := h.within(x); !hidden && math.Abs(s.ExactPosition-float64(shown.Position.Value)) > within {
		h.wrong("shade %d (%s at %s %s): shown %v ±%d (%v), and it is %.1f", x.id, x.make, x.bus, x.at, shown.Position.Value, shown.Uncertainty, shown.Position.Source, s.ExactPosition)
	}
}

// within is how wrong the position of a shade may be: that of one without eyes is reckoned.
func (h *history) within(x *thing) float64 {
	return math.Max(6, float64(h.boss.Load().core.Snapshot().Shade(x.id).Uncertainty)+3)
}

// standing compares a shade at rest with what is shown of it.
func (h *history) standing(x *thing, shown *appliance.ShadeState) {
	s := h.truth(x.id)
	if s.Moving {
		h.wrong("shade %d at %s runs on: %+v", x.id, x.bus, s)
	}
	within := h.within(x)
	if shown.Position.OK() && shown.Position.Source != appliance.Restored && math.Abs(s.ExactPosition-float64(shown.Position.Value)) > within {
		h.wrong("shade %d (%s at %s %s): shown %v ±%d (%v), and it is %.1f", x.id, x.make, x.bus, x.at, shown.Position.Value, shown.Uncertainty, shown.Position.Source, s.ExactPosition)
	}
	if shown.Motion != appliance.Stopped && shown.Motion != appliance.MotionUnknown {
		h.wrong("shade %d (%s at %s %s): shown %v, and it stands", x.id, x.make, x.bus, x.at, shown.Motion)
	}
}
