package sdn

import (
	"time"

	"svc.internal/controller/appliance"
)

// motor is one shade motor and what is known of it.
type motor struct {
	driver   *Driver
	node     appliance.ID
	shade    appliance.ID // 0: none hangs off it
	address  Address
	key      string
	kind     NodeType
	inverted bool
	groups   []Address

	// Guarded by Driver.mu, since other masters' frames tell things too.

	said   said
	course course
	missed time.Time // when a question was last not answered as it should
	twin   bool      // another motor with this address was heard, and told of
	table  groupTable
}

// ref is the shade that readings are about.
func (m *motor) ref() appliance.Ref { return appliance.Ref{Shade: m.shade} }

// percentOf converts a position, 100 = open, to the motor's percent.
func (m *motor) percentOf(p appliance.Position) byte {
	p = min(max(p, 0), 100)
	if m.inverted {
		return byte(p)
	}
	return byte(100 - p)
}

// positionOf converts the motor's percent.
func (m *motor) positionOf(percent byte) appliance.Position {
	if m.inverted {
		return appliance.Position(percent)
	}
	return 100 - appliance.Position(percent)
}

// motionOf converts a direction of the motor.
func (m *motor) motionOf(direction byte) appliance.Motion {
	switch {
	case direction == directionUp && !m.inverted, direction == directionDown && m.inverted:
		return appliance.Opening
	case direction == directionUp, direction == directionDown:
		return appliance.Closing
	}
	return appliance.Moving
}

// noteState tells people once when a motor has trouble, and when it is over.
func (m *motor) noteState(s status) {
	was := m.said.status
	switch trouble, had := s.trouble(), m.troubled(); {
	case trouble && (!had || was.Cause != s.Cause || was.State != s.State):
		m.driver.log.Warn("shade motor has trouble", "motor", m.key, "status", s)
	case had && !trouble:
		m.driver.log.Info("shade motor is well again", "motor", m.key, "status", s)
	}
}

// troubled reports whether the motor said last that it has trouble. Called with the
// driver's lock held.
func (m *motor) troubled() bool { return !m.said.statusAt.IsZero() && m.said.status.trouble() }

// trouble reports whether a motor cannot move until somebody sees to it.
func (s status) trouble() bool { return s.State == stateBlocked || s.State == stateLocked }

// Troubles gives the motors that are blocked or locked, and what they say of it.
func (d *Driver) Troubles() map[string]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make(map[string]string)
	for _, m := range d.site.all {
		if m.troubled() {
			out[m.key] = m.said.status.String()
		}
	}
	return out
}

func (m *motor) readings(v appliance.Values, at time.Time) []appliance.Reading {
	if m.shade == 0 || v.Has == 0 {
		return nil
	}
	return []appliance.Reading{{Ref: m.ref(), Values: v, At: at}}
}
