package appliance

import (
	"fmt"
	"math"
	"slices"
	"time"
)

const (
	// unwatchedMost is how long a shade may run without being read and still be taken to
	// have arrived; longer where shades that move are read more rarely than that.
	unwatchedMost = 10 * time.Second
	// lostAfter is when a shade whose device has not answered since is no longer shown
	// as moving: the slowest have arrived.
	lostAfter = 3 * time.Minute
	// travelMargin is how much longer than its travel time a shade is taken to run
	// before it is certainly at an end.
	travelMargin = 0.10
	// driftPerMove is what the model loses in certainty with every start and stop,
	// in percent points: relays, brakes and slack of the fabric.
	driftPerMove = 1.0
	// wallSwitchDrift is added when a movement was only noticed by polling.
	wallSwitchDrift = 5.0
)

// mover knows where one shade is and where it goes. For a motor that measures its
// position it only listens; for one that does not it models the position from
// travel times and decides when to stop. It has no clock and sends nothing: the
// bus tells it what happened when, and asks what is due.
type mover struct {
	shade   Shade
	channel Channel

	dir         int       // +1 opening, -1 closing, 0 still, as far as is known
	since       time.Time // when dir began to change the position
	from        float64   // position at since
	known       bool      // from is based on an end stop or a measurement
	uncertainty float64
	restored    bool
	at          time.Time // of the newest knowledge
	measured    time.Time // when the motor last told its position
	motion      Motion    // as last seen or caused
	ran         int       // direction the motor last ran
	released    time.Time // when it was last told, or seen, to stand; zero: may be running

	legs []leg
	// owed is a stop that was planned or sent, and not acknowledged: whatever takes its
	// place may fail.
	owed bool
	// unproven: it was on such a way when it acknowledged something else, and has not
	// been seen doing that.
	unproven bool
	went     bool          // it was moving when its polls were last looked at
	unread   time.Duration // how long it may run without being read, see unwatchedMost
}

// leg is one part of a way to a position.
type leg struct {
	motion  Motion        // Open, Close or Stop
	lasts   time.Duration // until the next leg; 0: the last one
	due     time.Time     // when it was to start; zero: at once
	started time.Time     // zero: not yet
}

// legLate is how much later than it was due a leg may begin. Then the shade is left
// where it is: nothing starts to move late.
const legLate = time.Second

func newMover(s Shade, c Channel) *mover {
	return &mover{shade: s, channel: c, uncertainty: 100, unread: unwatchedMost}
}

// restore takes the position known before a restart. Nobody watched since.
func (m *mover) restore(p Position, at time.Time) {
	m.from, m.known, m.restored, m.at, m.measured = float64(p), true, true, at, at
	m.uncertainty = wallSwitchDrift
}

// modelled reports whether the position has to be computed.
func (m *mover) modelled() bool { return !m.channel.PositionMeasured }

// calibrated reports whether it can be.
func (m *mover) calibrated() bool { return m.shade.TravelUp > 0 && m.shade.TravelDown > 0 }

func (m *mover) travel(dir int) time.Duration {
	if dir > 0 {
		return m.shade.TravelUp
	}
	return m.shade.TravelDown
}

// position at a moment, 0 to 100.
func (m *mover) position(now time.Time) float64 {
	if m.dir == 0 || !m.modelled() || !m.calibrated() || !now.After(m.since) {
		return m.from
	}
	moved := 100 * float64(now.Sub(m.since)) / float64(m.travel(m.dir))
	return math.Max(0, math.Min(100, m.from+float64(m.dir)*moved))
}

// aim turns a wanted motion into the first one to send, and remembers the rest. It
// forgets whatever was planned before, unless it fails.
func (m *mover) aim(w Values, now time.Time) (Motion, error) {
	motion := w.Motion
	if motion == MoveTo && m.modelled() {
		switch {
		case w.Position >= 100:
			motion = Open
		case w.Position <= 0:
			motion = Close
		case !m.calibrated():
			return 0, fmt.Errorf("%w: go to %d %% without travel times; set them, until then only 0 and 100 can be reached", ErrUnable, w.Position)
		}
	}
	m.owed = m.owed || m.unproven || m.dir != 0 && len(m.legs) > 0
	m.legs, m.unproven = nil, false
	if motion != MoveTo || !m.modelled() {
		return motion, nil
	}
	m.settle(now)
	if m.dir != 0 {
		m.legs = append(m.legs, leg{motion: Stop, lasts: m.channel.ReverseDelay})
	}
	target, at := float64(w.Position), m.position(now)
	if !m.known {
		end, full := Open, m.shade.TravelUp
		at = 100
		if target < 50 {
			end, full, at = Close, m.shade.TravelDown, 0
		}
		m.legs = append(m.legs,
			leg{motion: end, lasts: full + time.Duration(travelMargin*float64(full))},
			leg{motion: Stop, lasts: m.channel.ReverseDelay})
	}
	switch way := target - at; {
	case way >= 0.5:
		m.legs = append(m.legs, leg{motion: Open, lasts: time.Duration(way / 100 * float64(m.shade.TravelUp))})
	case way <= -0.5:
		m.legs = append(m.legs, leg{motion: Close, lasts: time.Duration(-way / 100 * float64(m.shade.TravelDown))})
	}
	m.legs = append(m.legs, leg{motion: Stop})
	// Two stops in a row would be one too many.
	if len(m.legs) >= 2 && m.legs[0].motion == Stop && m.legs[1].motion == Stop {
		m.legs = m.legs[1:]
	}
	return m.legs[0].motion, nil
}

// due returns the motion to send next and when, if a way is under way.
func (m *mover) due() (Motion, time.Time, bool) {
	if len(m.legs) < 2 || m.legs[0].started.IsZero() {
		return 0, time.Time{}, false
	}
	return m.legs[1].motion, m.legs[0].started.Add(m.legs[0].lasts), true
}

// onTheWay reports whether the shade is to be stopped some time.
func (m *mover) onTheWay() bool {
	_, _, under := m.due()
	return under || m.owed
}

// next goes on to the following leg, whose motion is being sent.
func (m *mover) next() {
	if len(m.legs) > 1 {
		m.legs[1].due = m.legs[0].started.Add(m.legs[0].lasts)
	}
	if len(m.legs) > 0 {
		m.legs = m.legs[1:]
	}
}

// abandon forgets the way: the shade stays where it is going.
func (m *mover) abandon() { m.legs, m.owed = nil, false }

// lost: nobody could ask for so long that what it was last seen doing tells nothing.
func (m *mover) lost(now time.Time) {
	if !m.moving() || now.Sub(m.at) < lostAfter {
		return
	}
	m.dir, m.motion, m.legs = 0, MotionUnknown, nil
	if m.modelled() {
		m.known, m.uncertainty = false, 100
	}
}

// endAtNextStop leaves the shade where it stops next on its way.
func (m *mover) endAtNextStop() {
	if i := slices.IndexFunc(m.legs, func(l leg) bool { return l.motion == Stop }); i >= 0 {
		m.legs = m.legs[:i+1]
	}
}

// did records that the motor acknowledged a motion that was on the wire at a
// moment.
func (m *mover) did(motion Motion, at time.Time) {
	m.owed, m.unproven = false, m.owed && motion != Stop
	m.settle(at)
	begins := m.begins(motion, at)
	if len(m.legs) > 0 && m.legs[0].motion == motion && m.legs[0].started.IsZero() {
		m.legs[0].started = begins
	}
	if len(m.legs) > 0 && m.legs[0].motion == Stop {
		late := !m.legs[0].due.IsZero() && at.Sub(m.legs[0].due) > legLate
		if len(m.legs) == 1 || late {
			m.legs = nil
		}
	}
	m.at = at
	if motion == MoveTo {
		m.motion = Moving
		return
	}
	if motion == Stop && !m.modelled() {
		return // it says itself when it stands; until then it counts as moving
	}
	dir := direction(motion)
	if dir == m.dir && dir != 0 {
		return // goes on as it did
	}
	m.turn(dir, begins)
	if m.uncertainty < 100 {
		m.uncertainty += driftPerMove
	}
}

// begins tells when a motor told to do something at a moment begins to do it: a
// device waits by itself before it runs the other way.
func (m *mover) begins(motion Motion, at time.Time) time.Time {
	dir := direction(motion)
	if dir == 0 {
		if motion == Stop && m.released.IsZero() {
			m.released = at
		}
		return at
	}
	begins := at
	if m.ran == -dir {
		stood := m.released
		if stood.IsZero() {
			stood = at
		}
		begins = later(at, stood.Add(m.channel.ReverseDelay))
	}
	m.ran, m.released = dir, time.Time{}
	return begins
}

// turn changes the direction from a moment on.
func (m *mover) turn(dir int, at time.Time) {
	m.from = m.position(at)
	if dir != 0 && m.modelled() && !m.calibrated() {
		m.known, m.uncertainty = false, 100 // it leaves a place for nobody knows where
	}
	m.dir, m.since = dir, at
	m.motion = motionOf(dir)
}

// settle ends a movement that has reached its end stop, which makes the position
// certain again.
func (m *mover) settle(now time.Time) {
	if m.dir == 0 || !m.modelled() || !m.calibrated() {
		return
	}
	way := m.from
	if m.dir > 0 {
		way = 100 - m.from
	}
	if !m.known {
		way = 100
	}
	needs := (way/100 + travelMargin) * float64(m.travel(m.dir))
	if now.Sub(m.since) < time.Duration(needs) {
		return
	}
	if now.Sub(m.at) > m.unread {
		// Nobody saw it arrive; somebody may have stopped it on the way.
		m.dir, m.known, m.uncertainty, m.motion = 0, false, 100, MotionUnknown
		return
	}
	m.from = 0
	if m.dir > 0 {
		m.from = 100
	}
	m.dir, m.known, m.uncertainty, m.restored = 0, true, 0, false
	m.motion = Stopped
	m.at = now
}

// observe takes what the motor, or its relay, was seen doing.
func (m *mover) observe(v Values, at time.Time) {
	if m.channel.PositionMeasured {
		if v.Has.Has(CanPosition) {
			m.from, m.known, m.uncertainty, m.restored = float64(v.Position), true, 0, false
			m.at, m.measured = at, at
		}
		if v.Motion != MotionUnknown {
			m.motion, m.at = v.Motion, at
			m.dir = seen(v.Motion)
		}
		return
	}
	if v.Motion == MotionUnknown {
		return
	}
	m.settle(at)
	dir := seen(v.Motion)
	if dir == 0 || dir == m.dir {
		m.unproven = false
	}
	switch {
	case dir != 0:
		m.ran, m.released = dir, time.Time{}
	case m.released.IsZero():
		m.released = at
	}
	atEnd := m.known && (dir > 0 && m.from >= 100 || dir < 0 && m.from <= 0)
	switch {
	case dir == m.dir || atEnd && m.dir == 0:
		// As expected; at an end stop the relay stays on while the motor stands.
	default:
		// Somebody pressed the wall switch, or the device stopped by itself, at some
		// moment since the last look.
		start := m.owed && m.dir == 0 // of ours, which nobody confirmed
		m.turn(dir, at)
		m.abandon()
		m.owed = start
		m.uncertainty = math.Min(100, m.uncertainty+wallSwitchDrift)
	}
	if m.motion == MotionUnknown {
		m.motion = v.Motion
	}
	m.at = at
}

// moving reports whether the shade needs to be watched closely.
func (m *mover) moving() bool {
	return m.dir != 0 || len(m.legs) > 0 || m.motion == Moving || m.motion == Opening || m.motion == Closing
}

// pauses reports whether the shade stands on its way, to run the other way next. A
// client that waits until it has arrived must not take it for standing.
func (m *mover) pauses() bool {
	return m.motion == Stopped && len(m.legs) > 1 && m.legs[0].motion == Stop && !m.legs[0].started.IsZero()
}

// show fills in what readers see.
func (m *mover) show(sh *ShadeState, now time.Time) {
	m.settle(now)
	sh.Motion = m.motion
	if m.pauses() {
		sh.Motion = Moving
	}
	sh.LastSeen = newer(sh.LastSeen, m.at)
	if !m.known {
		sh.Position, sh.Uncertainty = Known[Position]{}, 0
		return
	}
	source, at := Measured, m.at
	switch {
	case !m.modelled():
		at = m.measured // that it moves says nothing of where it is
		if m.restored {
			source = Restored
		}
	case m.restored && m.dir == 0:
		source = Restored
	default:
		source = Estimated
		if m.dir != 0 && now.Sub(m.at) <= m.unread {
			at = now // else nobody has seen for long that it goes on
		}
	}
	sh.Position = Known[Position]{Position(math.Floor(m.position(now) + 0.5)), at, source}
	sh.Uncertainty = int(math.Ceil(m.uncertainty))
	if m.channel.PositionMeasured {
		sh.Uncertainty = 0
	}
}

// direction of a motion that is asked for.
func direction(m Motion) int {
	switch m {
	case Open:
		return +1
	case Close:
		return -1
	}
	return 0
}

// seen is the direction of a motion that was observed.
func seen(m Motion) int {
	switch m {
	case Opening:
		return +1
	case Closing:
		return -1
	}
	return 0
}

func motionOf(dir int) Motion {
	switch {
	case dir > 0:
		return Opening
	case dir < 0:
		return Closing
	}
	return Stopped
}
