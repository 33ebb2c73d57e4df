package control_test

import (
	"math"
	"time"

	"svc.internal/controller/appliance"
)

// motor is what really happens behind a shade of the copper.
type motor struct {
	up, down time.Duration // from end to end
	rest     time.Duration // it waits before it runs the other way
	inverted bool          // wired the other way round
	stuck    bool
	deaf     bool    // to orders
	top      float64 // its upper limit, in percent
	reached  bool    // it says that it has arrived wherever it stands
	why      string  // what it says keeps it

	at    float64 // percent open at since
	dir   int     // +1 up, -1 down
	goal  float64
	since time.Time

	on    int       // the direction it is powered in, moving or not
	ran   int       // the one it was powered in before
	stood time.Time // when it was last told to stop or turn
}

// turn makes it do what it is told.
func (m *motor) turn(v appliance.Values) {
	m.advance()
	if m.deaf {
		return
	}
	if m.on != 0 {
		m.ran, m.stood = m.on, time.Now()
	}
	m.dir, m.goal = 0, 0
	switch {
	case v.Motion == appliance.Open, v.Motion == appliance.MoveTo && float64(v.Position) > m.at:
		m.dir, m.goal = 1, 100
	case v.Motion == appliance.Close, v.Motion == appliance.MoveTo && float64(v.Position) < m.at:
		m.dir = -1
	}
	if v.Motion == appliance.MoveTo {
		m.goal = float64(v.Position)
	}
	if m.inverted {
		m.dir, m.goal = -m.dir, 100-m.goal
	}
	m.goal, m.on = math.Min(m.goal, m.top), m.dir
	if m.stuck || m.at == m.goal {
		m.dir = 0
	}
	if ready := m.stood.Add(m.rest); m.dir == -m.ran && ready.After(m.since) {
		m.since = ready
	}
}

// advance brings it to now.
func (m *motor) advance() {
	now := time.Now()
	gone := max(0, now.Sub(m.since).Seconds())
	if now.After(m.since) {
		m.since = now
	}
	switch {
	case m.dir > 0:
		m.at = math.Min(m.goal, m.at+100*gone/m.up.Seconds())
	case m.dir < 0:
		m.at = math.Max(m.goal, m.at-100*gone/m.down.Seconds())
	}
	if m.dir != 0 && m.at == m.goal {
		m.dir = 0
	}
}

// tell says where it is.
func (m *motor) tell(r appliance.Ref) appliance.Reading {
	m.advance()
	at, dir := m.at, m.dir
	if m.inverted {
		at, dir = 100-at, -dir
	}
	v := appliance.Values{Has: appliance.CanMove | appliance.CanPosition, Motion: appliance.Stopped, Position: appliance.Position(math.Round(at))}
	switch dir {
	case 1:
		v.Motion = appliance.Opening
	case -1:
		v.Motion = appliance.Closing
	}
	return appliance.Reading{Ref: r, Values: v, At: time.Now(), Reached: m.reached, Why: m.why}
}
