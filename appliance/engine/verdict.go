package engine

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"svc.internal/controller/appliance"
)

// lookPauses are between two read-backs of a device that has something else than it was
// ordered: some show late what they do. fadeLook is the same while it fades.
var lookPauses = [...]time.Duration{50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond}

const (
	fadeLook = 200 * time.Millisecond
	// lagUsual is how long after a write a device may still show what was before, unless
	// its profile says otherwise: the sum of the pauses.
	lagUsual = 750 * time.Millisecond
	// lagGroup is how long that is waited for after a frame that nobody acknowledged.
	lagGroup = 200 * time.Millisecond
)

// judged compares what the members were ordered with what was read back. It returns what
// has to be done for those that do not have it: nothing, reading again later, or telling
// each again.
func (s *State) judged(p *piece) []*piece {
	var lookAt time.Time
	for _, m := range p.open() {
		switch at, confirmed := s.verdict(p, m); {
		case confirmed:
			s.confirm(m, m.got.At)
			s.do(AsRead{m.target.Ref})
		default:
			lookAt = later(lookAt, at)
		}
	}
	left := p.open()
	if !lookAt.IsZero() {
		p.pos, p.looks, p.notBefore, p.readErr = len(p.chain.Steps), p.looks+1, lookAt, nil
		s.prolong(p, lookAt.Add(commandTime))
		for _, m := range left {
			m.got = appliance.Reading{}
		}
		return []*piece{p}
	}
	var again []*member
	for _, m := range left {
		was := s.differs(m)
		if was {
			s.do(AsRead{m.target.Ref})
		}
		switch {
		case s.repairable(m, was):
			s.groups.doubt(p, m)
			again = append(again, m)
		case was:
			s.fail(m, mismatch(m.target.Values, m.got))
			s.gaveUp(m, false)
		default:
			unread := m.stage == appliance.StageAcknowledged
			s.failMember(m, cmp.Or(p.readErr, appliance.ErrSilent))
			s.gaveUp(m, unread)
		}
	}
	if len(again) == 0 {
		return nil
	}
	return s.again(p, again, s.driver().Repair)
}

// differs reports whether the member was read since it was ordered, and has something else
// than it should.
func (s *State) differs(m *member) bool {
	return m.got.Ref == m.target.Ref && aspectsOf(m.target.Has)&aspectsOf(m.got.Has) != 0 &&
		(m.target.Shade != 0 || !agrees(m.target.Values, m.got)) // a shade's machine has the say
}

// verdict on a member that was read back: it has what it should, or it is to be read
// again at a moment, or, with neither, it has not.
func (s *State) verdict(p *piece, m *member) (lookAt time.Time, confirmed bool) {
	ch := s.wiring.channel(m.target.Ref)
	lag := cmp.Or(ch.Lag, lagUsual)
	motor := s.motors[m.target.Shade]
	switch {
	case motor.timed(m.target.Motion):
		lag = 0
	case p.chain.Group: // it may as well have missed the frame
		lag = min(lag, lagGroup)
	}
	lagsUntil := p.sentAt.Add(lag)
	fading := m.got.At.Before(p.fadeEnd)
	if !s.differs(m) {
		read := aspectsOf(m.target.Has) & aspectsOf(m.got.Has)
		// What it does not tell of counts by its own acknowledgement.
		whole := read == aspectsOf(m.target.Has) || p.readErr == nil && m.stage == appliance.StageAcknowledged
		return time.Time{}, read != 0 && whole
	}
	if !fading || m.writes > 1 {
		s.disproved(m, mismatch(m.target.Values, m.got))
	}
	switch {
	case fading:
		return earlier(p.fadeEnd, s.now.Add(fadeLook)), false
	case s.beliefs.explain(m):
		return time.Time{}, true
	case motor != nil && motor.state.Undecided(readOf(m.got, m.got.At)):
		return s.now.Add(lookPauses[min(p.looks, len(lookPauses)-1)]), false
	case p.slow && m.target.Shade == 0: // it said that it needs time
		return s.now.Add(lookPauses[min(p.looks, len(lookPauses)-1)]), false
	case m.got.At.Before(lagsUntil):
		at := s.now.Add(max(lookPauses[min(p.looks, len(lookPauses)-1)], p.chain.Verify[0].Airtime))
		return later(at, earlier(lagsUntil, s.now.Add(lookPauses[len(lookPauses)-1]))), false
	}
	return time.Time{}, false
}

// repairable reports whether a member that is not confirmed may be ordered again. The
// movement of a shade whose way is timed may not: whoever stopped it meanwhile meant it.
func (s *State) repairable(m *member, wasRead bool) bool {
	if m.writes >= maxWrites || !wasRead && m.stage == appliance.StageAcknowledged {
		return false
	}
	return !s.motors[m.target.Shade].timed(m.target.Motion)
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
