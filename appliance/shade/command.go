package shade

import "time"

// stopWins is how long after a stop a move that came with it is not carried out: of the
// two that a person, or two, gave at once, the stop counts.
const stopWins = 20 * time.Millisecond

func (c Command) step(m *machine) {
	overtaken := c.Kind != Stop && !m.Last.StopAt.IsZero() && !c.Accepted.After(m.Last.StopAt.Add(stopWins))
	if c.Seq < m.Last.Seq || overtaken {
		m.do(Refuse{ErrSuperseded})
		return
	}
	if c.Kind == Stop {
		m.Last.Seq = c.Seq
		if c.Holder == 0 {
			m.Last.StopAt = c.Accepted
		}
	}
	if why := m.unable(c); why != nil {
		m.do(Refuse{why})
		switch {
		case m.held():
			m.wrong() // the calibration has lost the shade
		case c.Kind == Stop && m.Phase == OnRoute && !m.Order.run():
			m.free(ErrSuperseded)
		case c.Kind == Stop:
			m.endRoute() // at its next stop
		}
		return
	}
	m.Last.Seq = c.Seq
	if order := m.wants(c); order != 0 {
		m.do(Join{order})
		return
	}
	m.Holder = c.Holder
	m.Route, m.Due = Route{}, time.Time{}
	m.Phase = Asked
	o := Order{Kind: c.Kind, Position: c.Position, Command: c.Seq, Expires: c.Expires}
	switch {
	case c.Kind == Stop:
	case c.Kind == MoveTo && !m.Settings.Measures:
		o = m.begin(c)
	case c.Holder != 0:
		o.Ends = ByHolder
	}
	m.send(o)
}

// wants is the order out for somebody who wants the same as a command; 0: none. Whoever repeats
// it has nothing sent anew, which would only begin to count from then on.
func (m *machine) wants(c Command) uint64 {
	o := m.Order
	switch {
	case c.Holder != 0 || m.Holder != 0:
		return 0
	case m.onWayTo(c):
		return m.wayOf()
	}
	kind := c.Kind
	if end := c.end(); end != 0 && !m.Settings.Measures {
		kind = end
	}
	same := kind == o.Kind && (kind != MoveTo || c.Position == o.Position)
	if !same || m.Phase != Asked || !o.out() || o.Command == 0 || o.Ends != ByItself || m.Route != (Route{}) {
		return 0
	}
	return o.ID
}

// onWayTo reports whether a timed shade is on its way to the position that a command wants.
func (m *machine) onWayTo(c Command) bool {
	asked := m.Phase == Asked || m.Phase == OnRoute
	return asked && c.Kind == MoveTo && c.end() == 0 && m.Route.Goal == c.Position && !m.Route.Ended && !m.Settings.Measures
}

// wayOf is the order that somebody waits for who sent the shade on its way; 0: he knows already.
func (m *machine) wayOf() uint64 {
	o := m.Order
	switch {
	case m.Route.Confirms != 0:
		return m.Route.Confirms
	case !o.out() || o.Denied:
		return 0
	case o.Command != 0:
		return o.ID
	}
	return o.Confirms
}

// end is the order that brings a shade to the end that a position is; 0: it is none.
func (c Command) end() Kind {
	switch {
	case c.Kind != MoveTo:
		return 0
	case c.Position >= 100:
		return Open
	case c.Position <= 0:
		return Close
	}
	return 0
}

// unable tells why a command cannot be carried out.
func (m *machine) unable(c Command) error {
	between := c.Kind == MoveTo && c.end() == 0
	switch {
	case m.Down:
		return ErrDown
	case !c.Expires.IsZero() && !c.Expires.After(m.now):
		return ErrExpired
	case between && !m.Settings.Measures && !m.Settings.timed():
		return ErrNoTravel
	}
	return nil
}

// timed reports whether the position can be computed.
func (s *Settings) timed() bool { return s.TravelUp > 0 && s.TravelDown > 0 }
