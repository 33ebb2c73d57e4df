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
	if m.wants(c) {
		m.do(Join{m.Order.ID})
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

// wants reports whether what is out for somebody wants the same as a command: whoever repeats
// it has nothing sent anew, which would only begin to count from then on.
func (m *machine) wants(c Command) bool {
	o := m.Order
	same := c.Kind == o.Kind && (c.Kind != MoveTo || c.Position == o.Position)
	return same && m.Phase == Asked && o.out() && o.Command != 0 && o.Ends == ByItself && m.Route == Route{} && c.Holder == 0 && m.Holder == 0
}

// unable tells why a command cannot be carried out.
func (m *machine) unable(c Command) error {
	between := c.Kind == MoveTo && c.Position > 0 && c.Position < 100
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
