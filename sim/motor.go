package sim

import (
	"math"
	"time"
)

// direction of a motor's relays: what the coils say, before wiring.
type direction int

// The directions.
const (
	still   direction = 0
	opening direction = 1
	closing direction = -1
)

// defaultTravel is how long a shade takes from end to end if the site does not
// say.
const defaultTravel = 20 * time.Second

// motor is a shade on a pair of relays. The relays run for a configured time and
// drop by themselves; the shade stops at its ends; the two directions are never
// on together and a reversal waits for the dead time.
type motor struct {
	up, down time.Duration // true travel from end to end
	inverted bool          // wired the other way round: the opening relay lowers
	watts    float64       // while it runs

	// Registers of the device.
	openTime, closeTime uint16 // s the relay stays on
	deadTime            uint16 // ms between the directions

	position float64 // true position at since: 0 closed … 100 open
	since    time.Time
	stuck    bool // the motor hums and nothing moves

	relay   direction // on now
	drop    time.Time // when it drops by itself
	pending direction // waits for the dead time
	begin   time.Time // when pending starts
	last    direction // relay that was on last
	stopped time.Time // when it dropped
}

// advance brings the motor to now.
func (m *motor) advance(now time.Time) {
	for {
		switch {
		case m.relay != still && !m.drop.After(now):
			at := m.drop
			m.travel(at)
			m.release(at)
		case m.pending != still && !m.begin.After(now):
			dir, at := m.pending, m.begin
			m.travel(at)
			m.pending = still
			m.engage(at, dir)
		default:
			m.travel(now)
			return
		}
	}
}

// travel moves the shade as the relays were since the last look.
func (m *motor) travel(to time.Time) {
	gone := to.Sub(m.since)
	if m.since.IsZero() || gone < 0 {
		gone = 0
	}
	m.since = to
	if m.stuck {
		return
	}
	switch m.effective() {
	case opening:
		m.position = math.Min(100, m.position+100*gone.Seconds()/m.up.Seconds())
	case closing:
		m.position = math.Max(0, m.position-100*gone.Seconds()/m.down.Seconds())
	}
}

// effective is the direction the shade is driven in, wiring considered.
func (m *motor) effective() direction {
	if m.inverted {
		return -m.relay
	}
	return m.relay
}

func (m *motor) engage(at time.Time, dir direction) {
	m.relay = dir
	seconds := m.openTime
	if dir == closing {
		seconds = m.closeTime
	}
	m.drop = at.Add(time.Duration(seconds) * time.Second)
}

func (m *motor) release(at time.Time) {
	m.last, m.stopped, m.relay = m.relay, at, still
}

// run asks for a direction, or for a stop with still.
func (m *motor) run(now time.Time, dir direction) {
	m.advance(now)
	if dir == still {
		m.pending = still
		if m.relay != still {
			m.release(now)
		}
		return
	}
	if m.relay == dir {
		m.engage(now, dir)
		return
	}
	if m.relay != still {
		m.release(now)
	}
	ready := m.stopped.Add(time.Duration(m.deadTime) * time.Millisecond)
	if m.last == -dir && ready.After(now) {
		m.pending, m.begin = dir, ready
		return
	}
	m.pending = still
	m.engage(now, dir)
}

// asked is the direction that runs or waits for the dead time.
func (m *motor) asked() direction {
	if m.pending != still {
		return m.pending
	}
	return m.relay
}

// moving reports whether the shade really travels.
func (m *motor) moving(now time.Time) bool {
	m.advance(now)
	switch m.effective() {
	case opening:
		return !m.stuck && m.position < 100
	case closing:
		return !m.stuck && m.position > 0
	}
	return false
}

func (m *motor) power(now time.Time) float64 {
	if m.moving(now) {
		return m.watts
	}
	return 0
}

// coil is the coil of one direction: 1 runs it, 0 stops it if it runs.
func (m *motor) coil(dir direction) cell {
	return cell{
		get: func(now time.Time) uint16 {
			m.advance(now)
			return bit(m.asked() == dir)
		},
		set: func(now time.Time, v uint16) {
			m.advance(now)
			switch {
			case v != 0:
				m.run(now, dir)
			case m.asked() == dir:
				m.run(now, still)
			}
		},
	}
}
