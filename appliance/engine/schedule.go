package engine

import (
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

// refresh is the part of its period after which a value is read again, so that it
// is renewed before it gets older than its target.
const refresh = 0.8

// What a device refuses to tell is asked half as often with every refusal, down to
// once in refusedMost, or in ailingMost if it has answered it before: something ails it.
const (
	refusedMost = 10 * time.Minute
	ailingMost  = time.Minute
)

// oftenest is how often a shade that is calibrated is read, as far as its bus has the time.
const oftenest = 150 * time.Millisecond

// pollState is a poll and when it was last begun.
type pollState struct {
	appliance.Poll
	last     time.Time
	answered bool // ever
	refusals int  // in a row
	warned   bool // of a refusal
}

// schedule decides which poll is the most urgent.
type schedule struct {
	fresh  appliance.Freshness
	polls  []*pollState
	motors map[appliance.ID]*motor

	// The longest exchanges that commands had, see bounds.
	typical, worst time.Duration
}

// adopt takes other polls. One that asks the same as one before, about things that are as
// they were, keeps its turn.
func (s *schedule) adopt(fresh appliance.Freshness, polls []appliance.Poll, kept func([]appliance.Ref) bool) {
	old := slices.Clone(s.polls)
	s.fresh, s.polls = orDefaults(fresh), make([]*pollState, len(polls))
	for i, p := range polls {
		s.polls[i] = &pollState{Poll: p}
		k := slices.IndexFunc(old, func(o *pollState) bool {
			return o.Device == p.Device && o.Class == p.Class && o.Within == p.Within && slices.Equal(o.Refs, p.Refs)
		})
		if k >= 0 && kept(p.Refs) {
			*s.polls[i] = *old[k]
			s.polls[i].Poll = p
			old = slices.Delete(old, k, k+1)
		}
	}
}

// orDefaults fills in the targets that are not set.
func orDefaults(f appliance.Freshness) appliance.Freshness {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	def(&f.Light, 5*time.Second)
	def(&f.MovingShade, time.Second)
	def(&f.IdleShade, 15*time.Second)
	def(&f.Power, 30*time.Second)
	return f
}

// renew makes everything due, after an outage.
func (s *schedule) renew() {
	for _, p := range s.polls {
		p.last = time.Time{}
	}
}

// period is how often p is asked at this moment.
func (s *schedule) period(p *pollState) time.Duration {
	period, most := s.target(p), refusedMost
	if p.Within > 0 {
		period, most = min(period, p.Within), min(most, p.Within)
	}
	if p.answered && p.Within == 0 {
		most = ailingMost
	}
	return max(period, min(period<<min(p.refusals, 16), most))
}

// target is the age at which what p reads is old, if the device tells it.
func (s *schedule) target(p *pollState) time.Duration {
	switch p.Class {
	case appliance.ClassPower:
		return s.fresh.Power
	case appliance.ClassShade:
		for _, r := range p.Refs {
			switch m := s.motors[r.Shade]; {
			case m == nil:
			case m.often:
				return oftenest
			case m.state.Watch():
				return s.fresh.MovingShade
			}
		}
		return s.fresh.IdleShade
	}
	return s.fresh.Light
}

// readNow makes the reads of a shade due: it came to rest, and where it stands is shown at
// once and not when their turn comes.
func (s *schedule) readNow(id appliance.ID) {
	for _, p := range s.polls {
		if p.Class == appliance.ClassShade && slices.Contains(p.Refs, appliance.Ref{Shade: id}) {
			p.last = time.Time{}
		}
	}
}

// pick returns the poll that is the most overdue for its target among those that
// may is true for, and otherwise when the next one is due.
func (s *schedule) pick(now time.Time, may func(*pollState) bool) (*pollState, time.Time) {
	var best *pollState
	var bestAge float64
	var next time.Time
	for _, p := range s.polls {
		if !may(p) {
			continue
		}
		period := s.period(p)
		due := p.last.Add(time.Duration(refresh * float64(period)))
		if p.last.IsZero() {
			due = now
		}
		if due.After(now) {
			if next.IsZero() || due.Before(next) {
				next = due
			}
			continue
		}
		age := float64(1 << 30)
		if !p.last.IsZero() {
			age = float64(now.Sub(p.last)) / float64(period)
		}
		if best == nil || age > bestAge {
			best, bestAge = p, age
		}
	}
	return best, next
}

// refuse handles a device's refusal: smaller reads if there are any, else the question
// is put more rarely. What the device has answered before is not too large for it. It
// reports whether somebody should know, which is once a device.
func (s *schedule) refuse(p *pollState) (news bool) {
	if !p.answered {
		if parts := smaller(p.Exchange, appliance.ErrRefused); len(parts) > 0 {
			for i, q := range s.polls {
				if q == p {
					s.polls = append(s.polls[:i], s.polls[i+1:]...)
					break
				}
			}
			for _, part := range parts {
				s.polls = append(s.polls, &pollState{Poll: appliance.Poll{Exchange: part, Class: p.Class, Within: p.Within}})
			}
			return false
		}
	}
	p.refusals++
	news = !slices.ContainsFunc(s.polls, func(q *pollState) bool { return q.Device == p.Device && q.warned })
	p.warned = true
	return news
}

// refused counts the questions that a device last refused.
func (s *schedule) refused(device string) (n int) {
	for _, p := range s.polls {
		if p.Device == device && p.refusals > 0 {
			n++
		}
	}
	return n
}

// demand is the part of the bus's time that the targets ask for.
func (s *schedule) demand() float64 {
	var d float64
	for _, p := range s.polls {
		d += float64(p.Airtime) / (refresh * float64(s.period(p)))
	}
	return d
}

// note counts an exchange of a command for the bounds: a write may be longer than
// every read.
func (s *schedule) note(e *appliance.Exchange) {
	s.typical, s.worst = max(s.typical, e.Airtime), max(s.worst, e.Worst)
}

// bounds returns the longest exchange when the device answers and when it does
// not.
func (s *schedule) bounds() (typical, worst time.Duration) {
	typical, worst = s.typical, s.worst
	for _, p := range s.polls {
		typical = max(typical, p.Airtime)
		worst = max(worst, p.Worst)
	}
	return typical, max(worst, typical)
}
