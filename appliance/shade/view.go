package shade

import (
	"math"
	"time"
)

// Source of a position.
type Source uint8

// A position is measured by the motor, computed, or of before a restart.
const (
	Measured Source = iota + 1
	Estimated
	OfBefore
)

// View is what readers see of a shade.
type View struct {
	Motion      Motion
	Source      Source // 0: the position is not known
	Position    float64
	At          time.Time // of the position
	Uncertainty float64
	HeardAt     time.Time
	Watch       bool // it is to be read often
}

// View shows a shade at a moment.
func (s State) View(now time.Time) View {
	p, set := s.Pose, s.Settings
	p.advance(&set, now)
	v := View{Motion: p.Motion, HeardAt: p.HeardAt, Watch: s.watches(&p)}
	if p.stuck(&set) {
		v.Motion = Standing
	}
	if s.Route.Ahead && (s.Order.Kind == Stop || s.Phase == OnRoute) && v.Motion == Standing {
		v.Motion = Moving // it pauses, or is at an end on its way; who waits until it stands waits for its arrival
	}
	if s.Unheard() {
		p.costs(set.wayMost(now.Sub(p.Doubt))) // it may have obeyed a frame that nobody acknowledged
	}
	if !p.known() {
		return v
	}
	v.Position, v.Uncertainty, v.At, v.Source = p.position(&set, now), math.Ceil(p.Uncertainty), p.HeardAt, Estimated
	switch {
	case set.Measures:
		v.Source, v.At, v.Uncertainty = Measured, p.MeasuredAt, 0 // that it moves says nothing of where it is
	case p.Dir != 0 && now.Sub(p.SeenAt) <= set.patience():
		v.At = now
	}
	if p.Restored && (set.Measures || p.Dir == 0) {
		v.Source = OfBefore
	}
	return v
}

func (s *Settings) patience() time.Duration {
	if s.Patience > 0 {
		return s.Patience
	}
	return usualPatience
}

// Wake is when the machine wants a [Tick]; zero: never.
func (s State) Wake() time.Time {
	var wake time.Time
	at := func(t time.Time) {
		if !t.IsZero() && (wake.IsZero() || t.Before(wake)) {
			wake = t
		}
	}
	switch s.Phase {
	case Idle:
		at(s.release())
	case Asked:
		if s.Order.Kind == Stop && s.Route.Ahead && !s.Due.IsZero() {
			at(s.Due.Add(lateMost))
		}
	case OnRoute:
		at(s.Due)
	case Stopping:
		at(s.Stopping.Add(stopFor))
		if !s.Order.out() {
			at(s.Due)
		}
	}
	if arrives := s.Pose.arrives(&s.Settings); s.Pose.LookedAt.Before(arrives) {
		at(arrives)
	}
	if s.Pose.moving() {
		at(s.Pose.HeardAt.Add(lostAfter))
	}
	return wake
}

// Watch reports whether the shade is to be read often.
func (s State) Watch() bool { return s.watches(&s.Pose) }

func (s State) watches(p *Pose) bool { return p.moving() || s.Phase != Idle || s.Unheard() }

// Unheard reports whether the shade may have obeyed a frame that nobody acknowledged, and no reading has told since.
func (s State) Unheard() bool { return !s.Pose.Doubt.IsZero() && !s.Settings.Measures }
