package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/shade"
)

// judge takes the outcome of one exchange of a command. This is the one place where a
// retry is decided.
func (s *State) judge(p *piece, res appliance.Result, err error) {
	writing := !p.verifying()
	if writing && !res.Sent.IsZero() && !p.out() {
		s.noteSent(p, res.Sent)
	}
	p.outAt = time.Time{}
	if writing && errors.Is(err, appliance.ErrAccepted) {
		p.slow, err = true, nil
	}
	if err != nil && s.tryAgain(p, err) {
		return
	}
	if d := s.devices[p.exchange().Device]; d != nil && p.tries > 0 {
		// Answers to the earlier tries may still be on their way.
		d.rest(writing, s.now.Add(p.exchange().Late))
	}
	switch {
	case !writing:
		s.judgeRead(p, res, err)
	case err == nil:
		s.judgeStep(p, res)
	case errors.Is(err, appliance.ErrRefused) && len(p.chain.Wants) > 1 && p.members[0].writes+1 < maxWrites:
		// A combined frame was refused: the device may do it one by one.
		left := p.open()
		for _, m := range left {
			m.writes++
		}
		s.replace(p, s.again(p, left, s.driver().Repair))
	default:
		s.replace(p, nil)
		s.failPiece(p, err)
	}
}

// noteSent notes for the members of a piece that its frame went out.
func (s *State) noteSent(p *piece, at time.Time) {
	for _, m := range p.open() {
		if m.stage == appliance.StageAccepted {
			m.before = s.beliefs.of(m.target.Ref).read
		}
		s.sent(m, at)
		if motor := s.motors[m.target.Shade]; motor != nil {
			s.hand(motor, at, shade.Sent{Order: m.order, Group: p.chain.Group && motor.channel.PositionMeasured})
		}
		s.beliefs.ordered(m)
	}
}

// judgeStep goes on after a frame that was written as it should.
func (s *State) judgeStep(p *piece, res appliance.Result) {
	p.pos, p.tries = p.pos+1, 0
	if !p.verifying() {
		return
	}
	p.sentAt, p.looks, p.notBefore = res.Sent, 0, time.Time{}
	s.ordered(p)
	switch {
	case p.chain.Unverifiable:
		s.replace(p, nil)
		for _, m := range p.open() {
			s.end(m, Unverifiable, time.Time{}, nil)
		}
	case len(p.chain.Verify) == 0:
		s.replace(p, nil)
		for _, m := range p.open() {
			if p.chain.Group {
				s.fail(m, fmt.Errorf("%w: nothing confirms it", appliance.ErrSilent))
				continue
			}
			s.end(m, Accepted, time.Time{}, nil)
		}
	default:
		if !p.fadeEnd.IsZero() { // it is confirmed at the end of the fade only, and may have to be repaired
			s.prolong(p, p.fadeEnd.Add(3*p.airtime()))
		}
		s.replace(p, s.byDevice(p))
	}
}

// prolong lets a piece live until a moment, if whoever asked waits so long.
func (s *State) prolong(p *piece, until time.Time) {
	p.expires = later(p.expires, earlier(until, p.ceiling))
}

// ordered notes what members were ordered.
func (s *State) ordered(p *piece) {
	for _, m := range p.open() {
		m.writes++
		ch := s.wiring.channel(m.target.Ref)
		if ch.Fade > 0 {
			p.fadeEnd = later(p.fadeEnd, p.sentAt.Add(ch.Fade))
		}
		if !p.chain.Group {
			s.acknowledged(m, s.now)
		}
		if motor := s.motors[m.target.Shade]; motor != nil {
			s.hand(motor, s.now, shade.Ack{Order: m.order.ID})
		}
		switch {
		case m.target.Shade != 0:
		case p.chain.Unverifiable:
			s.do(Learned{[]appliance.Reading{{Ref: m.target.Ref, Values: m.target.Values, At: p.sentAt}}, appliance.Sent})
		case len(p.chain.Verify) == 0 && !p.chain.Group:
			s.do(Learned{[]appliance.Reading{{Ref: m.target.Ref, Values: m.target.Values, At: p.sentAt}}, appliance.Acknowledged})
		case m.target.SpeaksOfLevel():
			s.do(Expect{m.target.Ref, m.target.Level, ch.Fade})
		}
	}
}

// byDevice divides a piece whose members were ordered by the devices that they hang off.
// Each is read back and repaired by itself, whatever becomes of the others. Nobody waits
// for a device that is known not to answer: the frame reached it if anything did.
func (s *State) byDevice(p *piece) []*piece {
	var order []*device
	parts := map[*device]*piece{}
	for i, m := range p.members {
		d := s.deviceFor(m.target.Ref)
		if parts[d] == nil {
			n := *p
			n.chain.Wants, n.members, n.chain.Verify = nil, nil, nil
			parts[d], order = &n, append(order, d)
		}
		n := parts[d]
		n.chain.Wants, n.members = append(n.chain.Wants, p.chain.Wants[i]), append(n.members, m)
	}
	for _, e := range p.chain.Verify {
		n := parts[s.devices[e.Device]]
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
				s.leaveOut(m)
			}
		case p.chain.Group && n.goesOn():
			out = append(out, s.again(n, n.open(), s.driver().Repair)...)
		case len(n.chain.Verify) == 0:
			out = append(out, s.judged(n)...)
		default:
			out = append(out, n)
		}
	}
	return out
}

// goesOn reports whether shades that may have been moving were ordered to move by a frame that
// nobody acknowledged: that they move proves nothing, so each is ordered alone.
func (p *piece) goesOn() bool {
	return slices.ContainsFunc(p.open(), func(m *member) bool {
		return m.target.Shade != 0 && m.target.Motion != appliance.Stop && m.before.Motion != appliance.Stopped && m.writes < maxWrites
	})
}

// deviceFor is the device that a thing hangs off.
func (s *State) deviceFor(ref appliance.Ref) *device {
	if m := s.motors[ref.Shade]; m != nil {
		return s.deviceOf[m.shade.Node]
	}
	return s.deviceOf[ref.Node]
}

// judgeRead collects what was read back and, after the last read, judges it. A read
// that is too large for the device is taken apart.
func (s *State) judgeRead(p *piece, res appliance.Result, err error) {
	at := p.pos - len(p.chain.Steps)
	if parts := smaller(*p.exchange(), err); len(parts) > 0 {
		p.chain.Verify, p.tries = slices.Replace(slices.Clone(p.chain.Verify), at, at+1, parts...), 0
		return
	}
	if err != nil {
		p.readErr = err
		s.readBack(p, nil, err)
		return
	}
	s.readBack(p, s.learn(res.Readings, res.Sent), nil)
}

// readBack notes what was read of the members of a piece, and goes on to what is to be read next.
func (s *State) readBack(p *piece, readings []appliance.Reading, err error) {
	for _, r := range readings {
		if m := p.of(r.Ref); m != nil {
			m.got = merge(m.got, r)
		}
	}
	if err == nil {
		for _, m := range p.open() {
			m.tried = nil
		}
	}
	asked := p.exchange().Device
	p.pos, p.tries = p.pos+1, 0
	for errors.Is(err, appliance.ErrSilent) && !p.over() && p.exchange().Device == asked {
		p.pos++ // it would not answer that either
	}
	if !p.over() && len(p.open()) > 0 {
		return
	}
	s.replace(p, s.judged(p))
}

// merge adds what a second read said of the same thing.
func merge(a, r appliance.Reading) appliance.Reading {
	v := a.Values
	if r.SpeaksOfLevel() {
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

// failPiece ends a piece for all its members.
func (s *State) failPiece(p *piece, err error) {
	for _, m := range p.open() {
		if p.offline && !m.command.Single && !p.verifying() {
			s.end(m, LeftOut, time.Time{}, nil)
		} else {
			s.failMember(m, err)
		}
		s.gaveUp(m, p.verifying())
	}
}

// leaveOut ends a member that nobody waits for. What its shade was ordered may be obeyed.
func (s *State) leaveOut(m *member) {
	s.end(m, LeftOut, time.Time{}, nil)
	s.gaveUp(m, false)
}

// failMember ends a member; what it was ordered is not shown any more.
func (s *State) failMember(m *member, err error) {
	s.fail(m, err)
	s.do(AsRead{m.target.Ref})
}

// dropExpired ends the pieces whose time is over.
func (s *State) dropExpired() {
	var over []*piece
	s.pieces = slices.DeleteFunc(s.pieces, func(p *piece) bool {
		late := !p.deadline().After(s.now) && !p.out()
		if late {
			over = append(over, p)
		}
		return late
	})
	for _, p := range over {
		s.failPiece(p, errTooLate)
	}
}
