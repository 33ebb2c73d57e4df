package sdnsim

import (
	"math"
	"time"
)

// Motor describes one motor. Address is required; zero values of the others are
// those of a common one.
type Motor struct {
	Address string // 06.1A.2B; two may have the same, as it happens
	Type    byte   // node type, 2 = 30 mm DC, 6, 7, 8, 9
	Label   string // up to 16 characters
	Groups  []string
	// Limit is the down limit in pulses from the up limit; 0: 10000, negative: the
	// limits are not set.
	Limit int
	// Up and Down are the times from end to end; 0: 20 s.
	Up, Down time.Duration
	// Open is where it stands at the beginning, 0 closed … 100 open.
	Open float64
}

// States, causes and sources as the status tells them.
const (
	stopped, running, blocked, locked = 0, 1, 2, 3
	down, up, unknown                 = 0, 1, 0xFF
	byItself, byNetwork, bySwitch     = 0, 1, 2

	reached, explicit, winked = 0x00, 0x01, 0x02
	noLimits, obstacle, hot   = 0x10, 0x20, 0x22
	tooLong, powerCycle       = 0x30, 0xFF
)

// NACK reasons.
const (
	badData, badMessage, badLength = 0x01, 0x10, 0x11
	isLocked, limitsMissing        = 0x20, 0x22
	ipMissing, outOfRange          = 0x23, 0x24
	inSecurity, lastIP             = 0x27, 0x28
)

const (
	startDelay = 60 * time.Millisecond  // from a command to the first pulse
	turnDelay  = 400 * time.Millisecond // between the directions
	patience   = 3 * time.Second        // of a motor that turns and does not move
	winkTime   = 800 * time.Millisecond
)

// motor is a motor at work. Its position is computed when somebody looks.
type motor struct {
	Motor
	address uint32
	groups  [16]uint32
	ips     [16]int // pulses; -1: not set
	label   [16]byte

	pulses float64 // where it was at since
	since  time.Time
	dir    int     // +1 down, -1 up, 0 at rest
	target float64 // pulses
	begin  time.Time

	state, last, source, cause byte

	// Troubles.
	obstacleAt int // percent closed beyond which it cannot go down; <0: none
	hot        bool
	stuck      bool
	lockedBy   bool
	lockLevel  byte
	refuse     byte // reason of every refusal; 0: none
	busyFor    int  // that many commands are answered with busy
	labelled   bool // keeps its label
	deafUntil  time.Time
	miss       float64 // part of the frames that it does not hear
	dumb       float64 // part of its answers that are not given
	garble     float64 // part of its answers that are damaged
	slow       time.Duration

	winks  int
	frames uint64
	orders uint64
}

// hasLimits reports whether it knows its limits.
func (m *motor) hasLimits() bool { return m.Limit > 0 }

func (m *motor) speed() float64 {
	if m.dir < 0 {
		return float64(m.Limit) / m.Up.Seconds()
	}
	return float64(m.Limit) / m.Down.Seconds()
}

// advance brings the motor to now.
func (m *motor) advance(now time.Time) {
	if m.dir == 0 || !now.After(m.begin) {
		return
	}
	if m.stuck {
		if now.Sub(m.begin) > patience {
			m.halt(blocked, byItself, tooLong)
		}
		return
	}
	from := m.since
	if m.begin.After(from) {
		from = m.begin
	}
	at := m.pulses + float64(m.dir)*m.speed()*now.Sub(from).Seconds()
	m.since = now
	if wall := float64(m.obstacleAt) / 100 * float64(m.Limit); m.dir > 0 && m.obstacleAt >= 0 && at >= wall {
		m.pulses = math.Max(m.pulses, wall)
		m.halt(blocked, byItself, obstacle)
		return
	}
	if float64(m.dir)*(at-m.target) >= 0 {
		m.pulses = m.target
		m.halt(stopped, m.source, reached)
		return
	}
	m.pulses = at
}

func (m *motor) halt(state, source, cause byte) {
	m.dir, m.state, m.source, m.cause = 0, state, source, cause
}

// send starts a movement to a place in pulses.
func (m *motor) send(now time.Time, to float64, source byte) {
	m.advance(now)
	to = math.Max(0, math.Min(float64(m.Limit), to))
	dir := 0
	switch {
	case to > m.pulses:
		dir = 1
	case to < m.pulses:
		dir = -1
	}
	m.target = to
	if dir == 0 {
		m.halt(stopped, source, reached)
		return
	}
	m.source, m.cause, m.state = source, explicit, running
	m.last = up
	if dir > 0 {
		m.last = down
	}
	if dir == m.dir {
		return
	}
	m.begin = now.Add(startDelay)
	if m.dir != 0 {
		m.begin = now.Add(turnDelay)
	}
	m.dir, m.since = dir, m.begin
}

// stop where it is.
func (m *motor) stop(now time.Time, source byte) {
	m.advance(now)
	if m.dir != 0 {
		m.halt(stopped, source, explicit)
	}
}

// percent closed, as the motor tells it.
func (m *motor) percent() byte {
	if !m.hasLimits() {
		return unknown
	}
	return byte(math.Floor(100*m.pulses/float64(m.Limit) + 0.5))
}

// protects tells why the motor will not move; 0 if it will.
func (m *motor) protects() byte {
	switch {
	case m.refuse != 0:
		return m.refuse
	case m.lockedBy:
		return isLocked
	case m.hot:
		return inSecurity
	case !m.hasLimits():
		return limitsMissing
	}
	return 0
}
