package shade

import (
	"math"
	"time"
)

const (
	// runMargin is how much longer than its travel time a shade is taken to run, in
	// percent, before it is certainly at an end.
	runMargin = 10
	// lookFor is how long it runs on at an end, until it is read to do so still: only that
	// proves that nothing stopped it on its way. Long enough to ask twice.
	lookFor = 2 * time.Second
	// sureMost is how uncertain the position may be, in percent points, without going to
	// an end first.
	sureMost = 40
	// nearEnough: it is there.
	nearEnough = 0.5
	// lateMost is how much later than it was due a run may begin. Then the shade is left
	// where it is: nothing starts to move late.
	lateMost = time.Second
)

// begin plans the way of a timed shade to a position, and gives its first order.
func (m *machine) begin(c Command) Order {
	o := Order{Kind: c.end(), Command: c.Seq, Expires: c.Expires}
	if o.Kind != 0 {
		if c.Holder != 0 {
			o.Ends = ByHolder
		}
		return o
	}
	m.Route = Route{Goal: c.Position, Ahead: true}
	if m.Pose.Proven || m.Pose.atEnd() {
		if run, ok := m.nextRun(); ok {
			o.Kind, o.Lasts, o.Ends = run.Kind, run.Lasts, ByRoute
			return o
		}
		m.Route = Route{}
	}
	o.Kind = Stop
	return o
}

// nextRun takes the next run from the route: to the end nearer to the goal, if nobody
// knows where the shade is, else to the goal. There is none if it is there, or if it has
// been to an end and nobody knows all the same.
func (m *machine) nextRun() (Order, bool) {
	o := Order{Ends: ByRoute}
	if !m.Pose.known() || m.Pose.Uncertainty > sureMost {
		if m.Route.Referenced {
			m.do(Log{"left where it is: it was not read on its way to an end, so nobody knows where it stands"})
			return Order{}, false
		}
		m.Route.Referenced = true
		o.Kind = Open
		if m.Route.Goal < 50 {
			o.Kind = Close
		}
		o.Lasts = m.Settings.takes(100+runMargin, o.dirs()) + lookFor
		return o, true
	}
	m.Route.Ahead = false
	way := m.Route.Goal - m.Pose.position(&m.Settings, m.now)
	o.Kind = Open
	if way < 0 {
		o.Kind = Close
	}
	o.Lasts = m.Settings.takes(math.Abs(way), o.dirs())
	return o, math.Abs(way) >= nearEnough
}

// there reports whether a shade that stands is at the goal of its way already.
func (m *machine) there() bool {
	p := &m.Pose
	return p.known() && p.Uncertainty <= sureMost && math.Abs(m.Route.Goal-p.position(&m.Settings, m.now)) < nearEnough
}

// takes is how long a shade takes for a way in percent points.
func (s *Settings) takes(points float64, d Dirs) time.Duration {
	travel := s.TravelDown
	if d == Up {
		travel = s.TravelUp
	}
	return time.Duration(points / 100 * float64(travel))
}
