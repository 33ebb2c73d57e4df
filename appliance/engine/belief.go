package engine

import (
	"time"

	"svc.internal/controller/appliance"
)

// belief is what a bus knows of one thing: what it was read to have, and was last ordered.
// Drivers keep no such memory; those that need one to tell apart what registers alone do
// not say ask for it ([BusConfig.Asked]).
type belief struct {
	read    appliance.Values // parts that were read
	ordered appliance.Values // parts that were ordered
	stood   appliance.Values // what was read before the command that ordered it so
	level   limits           // of what the device takes, as far as it has shown them
	tune    limits
	place   limits
	clips   bool // it has such limits, see [Channel.Clips]
	// lost is when the last order ended that was sent, and of which nothing was read: it may be obeyed yet. Zero: of the last one something was.
	lost time.Time
}

// lostFor is how long what was lost on the way to a lamp may be obeyed yet: a gateway may have it. A guess.
const lostFor = 30 * time.Second

// limits of a value; 0: not shown yet.
type limits struct{ low, high int }

type beliefs map[appliance.Ref]*belief

// of a thing; of one that is not on the bus, nothing is known.
func (b beliefs) of(ref appliance.Ref) *belief {
	if known := b[ref]; known != nil {
		return known
	}
	return &belief{}
}

// saw takes what was read. It strikes out that a shade reached its limit if it did not.
func (b beliefs) saw(readings []appliance.Reading) {
	for i, r := range readings {
		known := b[r.Ref]
		if known == nil {
			continue
		}
		if r.Reached {
			readings[i].Reached = known.arrived(r)
		}
		known.read = merge(appliance.Reading{Values: known.read}, r).Values
		if r.SpeaksOfLevel() {
			known.level.exceeded(int(r.Level))
		}
		if r.Has.Has(appliance.CanTune) {
			known.tune.exceeded(int(r.Kelvin))
		}
		if r.Has.Has(appliance.CanPosition) {
			known.place.exceeded(max(1, int(r.Position)))
		}
	}
}

// ordered notes what a member was ordered.
func (b beliefs) ordered(m *member) {
	if known := b[m.target.Ref]; known != nil {
		known.stood = m.before
		known.read.Has &^= m.target.Has & appliance.CanMove // it need not stand any more
		known.read.Motion = appliance.MotionUnknown
		known.ordered = merge(appliance.Reading{Values: known.ordered}, appliance.Reading{Values: m.target.Values}).Values
	}
}

// ended notes whether anything was read of a member since it was sent something: then nothing of that is under way.
func (b beliefs) ended(m *member, now time.Time) {
	known := b[m.target.Ref]
	switch {
	case known == nil || m.stage < appliance.StageSent:
	case m.outcome == Confirmed, m.why != nil:
		known.lost = time.Time{}
	default:
		known.lost = now
	}
}

// explain reports whether what was read of a member, and is not what was wanted, is as
// near as its device goes. One that stands where it stood although something else was
// wanted is at its limit, or does not obey: only one that has been seen moving there
// tells which. Before anything was read it is not believed.
func (b beliefs) explain(m *member) bool {
	known, want, got := b[m.target.Ref], m.target.Values, m.got
	if known == nil || !known.clips {
		return false
	}
	learns := known.lost.IsZero() || m.got.At.After(known.lost.Add(lostFor))
	if want.SpeaksOfLevel() && got.SpeaksOfLevel() && want.Level != got.Level {
		stood := -1
		if m.before.SpeaksOfLevel() {
			stood = int(m.before.Level)
		}
		if want.Level == 0 || !known.level.explain(stood, int(want.Level), int(got.Level), learns) {
			return false
		}
	}
	if want.Has.Has(appliance.CanTune) && got.Has.Has(appliance.CanTune) && want.Kelvin != got.Kelvin {
		stood := -1
		if m.before.Has.Has(appliance.CanTune) {
			stood = int(m.before.Kelvin)
		}
		if !known.tune.explain(stood, int(want.Kelvin), int(got.Kelvin), learns) {
			return false
		}
	}
	// What is left must agree.
	want.Level, want.Kelvin = got.Level, got.Kelvin
	return agrees(want, got)
}

// arrived reports whether a shade that stands, and says that it carried its order out as
// far as limits of its own allow, went there. One that has not moved says the same of its
// order before; and one that was not read to stand when it was ordered has perhaps only ended
// that one.
func (b *belief) arrived(r appliance.Reading) bool {
	if r.Motion != appliance.Stopped || !r.Has.Has(appliance.CanPosition) {
		return false
	}
	goal, at, stood := int(b.ordered.Position), int(r.Position), -1
	switch b.ordered.Motion {
	case appliance.Open:
		goal = 100
	case appliance.Close:
		goal = 0
	}
	if b.stood.Motion == appliance.Stopped && b.stood.Has.Has(appliance.CanPosition) {
		stood = int(b.stood.Position)
	}
	nearEnd := goal == 100 && at >= 100-endSlack || goal == 0 && at <= endSlack
	return b.place.explain(stood, goal, at, true) || nearEnd
}

// endSlack is how far from the end of its percent a motor may have its end limit, in
// points: there it is believed although it was never seen going there. A guess.
const endSlack = 5

// coarse is how far a device has to have gone before that shows a limit, in points. The arc
// power of DALI has steps of up to three, and a step is read as what was ordered last if
// that is one of its numbers (IEC 62386-102, 9.3).
const coarse = 3

// explain reports whether a device that was ordered want and has got went to its limit: one
// that went the other way was on its way to somewhere else. stood is what it had before;
// negative: nobody knows. Nobody's limit is 0, the end of every range that counts. Less
// than coarse is no way: it may be the same step of the device, read as another number. Without
// learns it counts only if it went there before: what it has may be an older order that was lost.
func (l *limits) explain(stood, want, got int, learns bool) bool {
	limit := &l.high
	if want < got {
		limit = &l.low
	}
	if learns && stood >= 0 && (want-stood)*(got-stood) > 0 && max(got-stood, stood-got) >= coarse {
		*limit = got
	}
	return stood >= 0 && got > 0 && *limit == got
}

// exceeded forgets a limit that the device has passed.
func (l *limits) exceeded(value int) {
	if value > l.high {
		l.high = 0
	}
	if value > 0 && value < l.low {
		l.low = 0
	}
}
