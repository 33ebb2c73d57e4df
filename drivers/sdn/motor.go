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

	at       position // as last read
	hasAt    bool
	readAt   time.Time // when
	since    time.Time // when the position was first read as it is, after the last frame that may move it
	still    bool      // it was read again later and was the same
	sentAt   time.Time // when it was last sent somewhere
	orderAt  time.Time // when it was last sent somewhere or stopped, by whomever
	restless bool      // may be moving: not proven still
	running  bool      // was last seen running
	headed   byte      // in this direction
	standing bool      // status says it stands; where, has not been read since
	goal     int       // percent it was last sent to; <0: not known
	stopping bool      // our own last order was to stop
	aim      int       // else where that sent it, as goal
	state    status    // as last read
	hasState bool
	told     bool // the status was read after the position

	missed time.Time // when a question was last not answered as it should
	twin   bool      // another motor with this address was heard, and told of

	table groupTable
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

const (
	// stillAfter is how long a motor has to be read in one place until that counts
	// as standing: the slowest ones make several pulses in that time.
	stillAfter = 500 * time.Millisecond
	// startLimit is how long after an accepted command a motor may still say that it
	// stands, or go on as before. An inference: no document tells how soon a motor
	// starts, or turns round.
	startLimit = time.Second
)

// sent notes that a frame which moves or stops the motor went out; goal is the
// percent it was sent to, or less than 0. Called with the driver's lock held.
func (m *motor) sent(stop bool, goal int, at time.Time) {
	m.stopping, m.aim = stop, goal
	m.ordered(stop, goal, at)
}

// ordered does so for an order by whomever. Called with the driver's lock held.
func (m *motor) ordered(stop bool, goal int, at time.Time) {
	m.restless, m.running, m.still, m.standing = true, false, false, false
	m.goal, m.since, m.sentAt, m.orderAt = goal, time.Time{}, at, at
	if stop {
		m.sentAt = time.Time{}
	}
}

// wasOut notes when a frame that was announced to sent really was out. What was
// overheard while it waited for the line is older than the order, and proves nothing
// of what comes after it.
func (m *motor) wasOut(at time.Time) {
	m.driver.mu.Lock()
	defer m.driver.mu.Unlock()
	m.ordered(m.stopping, m.aim, at)
}

// takePosition learns a position that was read, and returns what it shows.
func (m *motor) takePosition(p position, at time.Time) []appliance.Reading {
	m.driver.mu.Lock()
	defer m.driver.mu.Unlock()
	old, had, oldAt := m.at, m.hasAt, m.readAt
	m.at, m.hasAt, m.readAt, m.told = p, true, at, false
	if m.since.IsZero() || !had || apart(old, p) {
		m.since = at
	}
	m.still = at.Sub(m.since) >= stillAfter
	v := appliance.Values{}
	if p.known() {
		v.Has, v.Position = appliance.CanPosition, m.positionOf(p.Percent)
	}
	switch {
	case m.standing:
		// It stood before this was read, and nobody sent it anywhere since.
		v.Has, v.Motion = v.Has|appliance.CanMove, appliance.Stopped
		m.rest()
	case had && p.known() && old.known() && apart(old, p):
		direction, sure := m.way(old, p, oldAt)
		switch {
		case sure:
			m.running, m.headed = true, direction
			v.Has, v.Motion = v.Has|appliance.CanMove, m.motionOf(direction)
		case !m.restless:
			v.Has, v.Motion = v.Has|appliance.CanMove, appliance.Moving
		}
		m.restless = true
	}
	return m.readings(v, at)
}

// way is the direction in which a motor went between two positions; sure means that
// it goes there still, as far as they can tell. One from before the last order says
// nothing of what came after it. Soon after the order only the way to its goal does:
// any other may be the rest of what the motor did before, until it has braked.
func (m *motor) way(old, p position, oldAt time.Time) (direction byte, sure bool) {
	direction = directionDown
	if p.Pulses < old.Pulses {
		direction = directionUp
	}
	switch since := oldAt.Sub(m.orderAt); {
	case since <= 0:
		return direction, false
	case since > startLimit:
		return direction, true
	case direction == directionDown:
		return direction, m.goal >= int(p.Percent)
	}
	return direction, m.goal >= 0 && m.goal <= int(p.Percent)
}

// apart reports whether a motor moved between two reads; a pulse or two is the
// sensor.
func apart(a, b position) bool {
	way := int(a.Pulses) - int(b.Pulses)
	return way < -2 || way > 2
}

// takeStatus learns a status that was read, and returns what it shows. That a
// motor stands is only told once its position is that of the place where it
// stands.
func (m *motor) takeStatus(s status, at time.Time) []appliance.Reading {
	m.driver.mu.Lock()
	defer m.driver.mu.Unlock()
	m.noteState(s)
	m.told = true
	if s.State == stateRunning {
		m.restless, m.running, m.headed, m.standing = true, true, s.Direction, false
		m.still, m.since = false, time.Time{}
		return m.readings(appliance.Values{Has: appliance.CanMove, Motion: m.motionOf(s.Direction)}, at)
	}
	arrived := m.goal >= 0 && m.hasAt && int(m.at.Percent) == m.goal && s.Cause == causeReached
	if m.restless && !m.still && !arrived {
		m.running = false
		m.standing = at.Sub(m.sentAt) > startLimit
		return nil
	}
	m.rest()
	return m.readings(appliance.Values{Has: appliance.CanMove, Motion: appliance.Stopped}, at)
}

// rest notes that the motor is proven still.
func (m *motor) rest() {
	m.restless, m.running, m.standing, m.goal = false, false, false, -1
}

// standsAt reports whether the motor was proven to stand at goal.
func (m *motor) standsAt(goal int) bool {
	return !m.restless && m.hasAt && m.at.known() && int(m.at.Percent) == goal
}

// noteState tells people once when a motor has trouble, and when it is over.
func (m *motor) noteState(s status) {
	trouble, had := s.trouble(), m.hasState && m.state.trouble()
	if trouble && (!had || m.state.Cause != s.Cause || m.state.State != s.State) {
		m.driver.log.Warn("shade motor has trouble", "motor", m.key, "status", s)
	}
	if had && !trouble {
		m.driver.log.Info("shade motor is well again", "motor", m.key, "status", s)
	}
	m.state, m.hasState = s, true
}

// trouble reports whether a motor cannot move until somebody sees to it.
func (s status) trouble() bool { return s.State == stateBlocked || s.State == stateLocked }

// Troubles gives the motors that are blocked or locked, and what they say of it.
func (d *Driver) Troubles() map[string]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make(map[string]string)
	for _, m := range d.all {
		if m.hasState && m.state.trouble() {
			out[m.key] = m.state.String()
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

// asksStatus decides what a motor that may be moving is asked next: where it is, as
// long as that changes; what it does, when it seems to have arrived.
func (m *motor) asksStatus() bool {
	m.driver.mu.Lock()
	defer m.driver.mu.Unlock()
	switch {
	case !m.restless || m.standing || !m.hasAt || m.told:
		return false
	case !m.running || m.still:
		return true
	}
	return int(m.at.Percent) == m.goal || m.at.Percent == 0 || m.at.Percent >= 100
}
