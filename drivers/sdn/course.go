package sdn

import (
	"time"

	"svc.internal/controller/appliance"
)

// said is what a motor told last, asked or not.
type said struct {
	position   position
	positionAt time.Time // zero: never
	since      time.Time // when the position was first read as it is, after the last frame that may move it
	status     status
	statusAt   time.Time // zero: never
}

// course is what is known of where a motor goes.
type course struct {
	phase   phase
	headed  byte      // direction in which it was seen to run
	goal    int       // percent it was last sent to; <0: not known
	ours    aim       // our own last order
	sentAt  time.Time // when it was last sent somewhere
	orderAt time.Time // when it was last sent somewhere or stopped, by whomever
}

// phase tells whether a motor moves, as far as it was seen to.
type phase uint8

const (
	suspect  phase = iota // may be moving: not proven still
	running               // was seen running, and not proven still since
	standing              // its status says that it stands; where, has not been read since
	resting               // proven still
)

// aim is what an order comes to: a stop, or the percent it sends a motor to.
type aim struct {
	stop bool
	goal int // <0: not known
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

// sent notes that a frame which moves or stops the motor went out. Called with the
// driver's lock held.
func (m *motor) sent(e aim, at time.Time) {
	m.course.ours = e
	m.ordered(e, at)
}

// ordered does so for an order by whomever. Called with the driver's lock held.
func (m *motor) ordered(e aim, at time.Time) {
	c := &m.course
	c.phase, c.goal, c.sentAt, c.orderAt = suspect, e.goal, at, at
	if e.stop {
		c.sentAt = time.Time{}
	}
	m.said.since = time.Time{}
}

// wasOut notes when a frame that was announced to sent really was out. What was
// overheard while it waited for the line is older than the order, and proves nothing
// of what comes after it.
func (m *motor) wasOut(at time.Time) {
	m.driver.mu.Lock()
	defer m.driver.mu.Unlock()
	m.ordered(m.course.ours, at)
}

// takePosition learns a position that was read, and returns what it shows.
func (m *motor) takePosition(p position, at time.Time) []appliance.Reading {
	m.driver.mu.Lock()
	defer m.driver.mu.Unlock()
	old, oldAt, c := m.said.position, m.said.positionAt, &m.course
	m.said.position, m.said.positionAt = p, at
	if m.said.since.IsZero() || oldAt.IsZero() || apart(old, p) {
		m.said.since = at
	}
	v := appliance.Values{}
	if p.known() {
		v.Has, v.Position = appliance.CanPosition, m.positionOf(p.Percent)
	}
	switch {
	case c.phase == standing:
		// It stood before this was read, and nobody sent it anywhere since.
		v.Has, v.Motion = v.Has|appliance.CanMove, appliance.Stopped
		m.rest()
	case !oldAt.IsZero() && p.known() && old.known() && apart(old, p):
		direction, sure := m.way(old, p, oldAt)
		switch {
		case sure:
			c.phase, c.headed = running, direction
			v.Has, v.Motion = v.Has|appliance.CanMove, m.motionOf(direction)
		case c.phase == resting:
			c.phase = suspect
			v.Has, v.Motion = v.Has|appliance.CanMove, appliance.Moving
		}
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
	switch since := oldAt.Sub(m.course.orderAt); {
	case since <= 0:
		return direction, false
	case since > startLimit:
		return direction, true
	case direction == directionDown:
		return direction, m.course.goal >= int(p.Percent)
	}
	return direction, m.course.goal >= 0 && m.course.goal <= int(p.Percent)
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
	m.said.status, m.said.statusAt = s, at
	c := &m.course
	if s.State == stateRunning {
		c.phase, c.headed = running, s.Direction
		m.said.since = time.Time{}
		return m.readings(appliance.Values{Has: appliance.CanMove, Motion: m.motionOf(s.Direction)}, at)
	}
	arrived := c.goal >= 0 && m.said.at(c.goal) && s.Cause == causeReached
	if c.phase != resting && !m.said.still() && !arrived {
		if c.phase = suspect; at.Sub(c.sentAt) > startLimit {
			c.phase = standing
		}
		return nil
	}
	m.rest()
	return m.readings(appliance.Values{Has: appliance.CanMove, Motion: appliance.Stopped}, at)
}

// still reports whether the position was read again later and was the same.
func (s *said) still() bool {
	return !s.since.IsZero() && s.positionAt.Sub(s.since) >= stillAfter
}

// at reports whether a percent is where the motor was last.
func (s *said) at(percent int) bool {
	return !s.positionAt.IsZero() && int(s.position.Percent) == percent
}

// rest notes that the motor is proven still.
func (m *motor) rest() {
	m.course.phase, m.course.goal = resting, -1
}

// standsAt reports whether the motor was proven to stand at goal.
func (m *motor) standsAt(goal int) bool {
	return m.course.phase == resting && m.said.at(goal)
}

// asksStatus decides what a motor that may be moving is asked next: where it is, as
// long as that changes; what it does, when it seems to have arrived.
func (m *motor) asksStatus() bool {
	m.driver.mu.Lock()
	defer m.driver.mu.Unlock()
	c, s := m.course, m.said
	switch {
	case c.phase == resting || c.phase == standing || s.positionAt.IsZero() || s.statusAt.After(s.positionAt):
		return false
	case c.phase == suspect || s.still():
		return true
	}
	return s.at(c.goal) || s.position.Percent == 0 || s.position.Percent >= 100
}
