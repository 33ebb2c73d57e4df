package engine

import (
	"errors"
	"log/slog"
	"slices"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/shade"
)

// act carries out what a machine wants.
func (s *State) act(m *motor, now time.Time, a shade.Action) {
	switch a := a.(type) {
	case shade.Send:
		s.send(m, a.Order, now)
	case shade.Cancel:
		if p, of := s.carries(m, a.Order); of != nil {
			s.cancelled(of, a.Why)
			s.drop(p, of)
		} else if m.begun != nil && m.begun.order.ID == a.Order {
			s.cancelled(m.begun, a.Why)
			m.begun = nil
		}
	case shade.Keep:
		s.keep(m, a.Order)
	case shade.Confirm:
		if p, of := s.carries(m, a.Order); of != nil {
			s.confirm(of, now)
			s.drop(p, of)
		}
		if m.begun != nil && m.begun.order.ID == a.Also {
			s.confirm(m.begun, now)
			m.begun = nil
		}
	case shade.ReadNow:
		s.schedule.readNow(m.shade.ID)
	case shade.GiveUp:
		s.do(Log{slog.LevelError, "shade may still move: it was not heard to stop for a minute", []any{"shade", m.shade.ID}})
	case shade.Log:
		s.warn("shade "+a.Text, "shade", m.shade.ID)
	}
}

// cancelled ends a member whose order the machine has taken back, and tells people why: an
// installer with a dead relay should not look for somebody else who commands the shade.
func (s *State) cancelled(of *member, why error) {
	has := s.beliefs.of(of.target.Ref).read
	switch {
	case why == nil, errors.Is(why, shade.ErrSuperseded):
		why = appliance.ErrSuperseded
	case errors.Is(why, shade.ErrExpired):
		why = errTooLate
	case errors.Is(why, shade.ErrWall):
	case of.stage == appliance.StageAcknowledged && has.Motion != appliance.MotionUnknown && has.Motion != appliance.Moving:
		why = mismatch(of.target.Values, appliance.Reading{Values: has})
	}
	s.end(of, Failed, time.Time{}, why)
}

// send carries out an order that the machine gives by itself.
func (s *State) send(m *motor, o shade.Order, now time.Time) {
	if s.link.closed { // for the bus that takes its place
		s.hand(m, now, shade.Failed{Order: o.ID})
		return
	}
	target := appliance.Want{Ref: appliance.Ref{Shade: m.shade.ID}, Values: valuesOf(o)}
	kind := map[shade.Kind]appliance.Kind{shade.Open: appliance.ShadeOpen, shade.Close: appliance.ShadeClose, shade.Stop: appliance.ShadeStop}[o.Kind]
	s.keep(m, o.Confirms)
	s.begun++
	of := &member{command: &Command{ID: Own + s.begun, Accepted: s.now, Ceiling: s.now.Add(CommandMost), Single: true}, target: target, order: o}
	why, owed := "way to a position", noDuty
	switch {
	case o.Releases:
		why, owed = "relay released at the end of the travel", mayStop
	case o.Kind == shade.Stop:
		owed = mustStop
	}
	s.do(Begin{ID: of.command.ID, Kind: kind, Target: target, Why: why})
	s.enqueue([]*member{of}, owed, o.Expires)
}

// carries finds the member, and its piece, that carries an order of a shade.
func (s *State) carries(m *motor, order uint64) (*piece, *member) {
	if order == 0 {
		return nil, nil
	}
	for _, p := range s.pieces {
		if of := p.of(appliance.Ref{Shade: m.shade.ID}); of != nil && of.order.ID == order {
			return p, of
		}
	}
	return nil, nil
}

// keep takes the member of an order out of its piece and leaves it open: a later order
// confirms it, too.
func (s *State) keep(m *motor, order uint64) {
	if p, of := s.carries(m, order); of != nil {
		m.begun = of
		s.lift(p, of)
	}
}

// lift takes a member out of its piece that is open still.
func (s *State) lift(p *piece, of *member) {
	p.members[slices.Index(p.members, of)] = &member{command: of.command, place: of.place, outcome: LeftOut, target: of.target}
	if len(p.open()) == 0 {
		s.replace(p, nil)
	}
}

// unconfirmed ends a member whose order was replaced by one that was to confirm it, and will not.
func (s *State) unconfirmed(m *motor, why error) {
	if m.begun != nil && !m.state.Confirming(m.begun.order.ID) {
		s.fail(m.begun, why)
		m.begun = nil
	}
}

// drop takes a member out of its piece.
func (s *State) drop(p *piece, of *member) {
	of.order = shade.Order{}
	if len(p.open()) == 0 {
		s.replace(p, nil)
	}
}

// gaveUp tells the machine that an order has failed.
func (s *State) gaveUp(of *member, unread bool) {
	m := s.motors[of.target.Shade]
	if m == nil || of.order.ID == 0 {
		return
	}
	if m.begun != nil && of.order.Confirms == m.begun.order.ID && of.because != nil {
		s.end(m.begun, Failed, time.Time{}, of.because) // it was this one's to confirm
	}
	s.hand(m, s.now, shade.Failed{Order: of.order.ID, Unread: unread})
}
