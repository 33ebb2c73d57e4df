package shade

import (
	"math"
	"time"
)

const (
	// usualPatience is how long a shade may run unread and still be taken to have arrived.
	usualPatience = 10 * time.Second
	// lostAfter is when a shade of which nothing was heard since is no longer taken to be
	// moving: the slowest have arrived.
	lostAfter = 3 * time.Minute
	// perMove is what the estimate loses with every start and stop, in percent points:
	// relays, brakes and slack of the fabric.
	perMove = 1
	// perSurprise is lost at least when the shade is read doing something else.
	perSurprise = 5
	// stillFor is how long a motor that says it runs may tell one position and be shown moving.
	stillFor = 5 * time.Second
	// knownMost is how uncertain a position may be before it counts as unknown.
	knownMost = 100
)

// Motion is what a motor is read doing.
type Motion uint8

// The motions. Moving: towards a position, direction not known.
const (
	MotionUnknown Motion = iota
	Standing
	Opening
	Closing
	Moving
)

func (m Motion) running() bool { return m >= Opening }

// dirs are the directions in which the motor may be running.
func (m Motion) dirs() Dirs {
	switch m {
	case Opening:
		return Up
	case Closing:
		return Down
	case Moving:
		return Up | Down
	}
	return 0
}

func (m Motion) dir() int {
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
	return Standing
}

func (k Kind) dir() int {
	switch k {
	case Open:
		return +1
	case Close:
		return -1
	}
	return 0
}

// Pose is where the shade is and what it does, as far as is known.
type Pose struct {
	From        float64   // position at Since, 0 closed to 100 open
	Since       time.Time // when Dir began to change the position
	Dir         int       // +1 opening, -1 closing, 0 still
	Uncertainty float64   // in percent points; knownMost: From means nothing
	Restored    bool      // From is of before a restart
	Motion      Motion

	HeardAt    time.Time // when it last acknowledged or told something
	SeenAt     time.Time // when it was last asked for a reading that told of then
	MeasuredAt time.Time // when the motor last told its position
	MovedAt    time.Time // when it last told another one than before, or was sent somewhere
	LookedAt   time.Time // when it was last asked for because it was due at its end
	Seen       bool      // it was read running so
	Proven     bool      // it was read standing, and nothing was sent since that moves it
	// Doubt is when the first frame was sent that may have changed Dir and was not
	// acknowledged; zero: there is none.
	Doubt time.Time

	Ran      int       // direction in which the motor last ran
	RanAt    time.Time // when it was last read to
	Released time.Time // when it was last told, or seen, to stand; zero: it may be running
}

// moving reports whether the shade moves as far as is known.
func (p *Pose) moving() bool { return p.Dir != 0 || p.Motion.running() }

// stuck reports whether a motor that says that it runs has told the same position for longer
// than the slowest takes for a point.
func (p *Pose) stuck(s *Settings) bool {
	return s.Measures && p.Motion.running() && p.MeasuredAt.Sub(p.MovedAt) >= stillFor
}

// atEnd reports whether the shade stands at an end for certain.
func (p *Pose) atEnd() bool {
	return p.arrived() && p.Doubt.IsZero()
}

// arrived reports whether it was at an end for certain when it last stood.
func (p *Pose) arrived() bool {
	return p.Dir == 0 && p.Uncertainty == 0 && (p.From <= 0 || p.From >= 100)
}

// position at a moment, 0 to 100.
func (p *Pose) position(s *Settings, now time.Time) float64 {
	if p.Dir == 0 || s.Measures || !s.timed() || !now.After(p.Since) {
		return p.From
	}
	return math.Max(0, math.Min(100, p.From+float64(p.Dir)*s.way(now.Sub(p.Since), p.Dir)))
}

// way in percent points that a shade makes in a time.
func (s *Settings) way(t time.Duration, dir int) float64 {
	travel := s.TravelDown
	if dir > 0 {
		travel = s.TravelUp
	}
	return 100 * float64(t) / float64(travel)
}

// wayMost is how far a shade may get in a time.
func (s *Settings) wayMost(t time.Duration) float64 {
	return math.Max(s.way(t, +1), s.way(t, -1))
}

// costs makes the estimate less certain.
func (p *Pose) costs(points float64) {
	if p.Uncertainty += points; !p.known() {
		p.forget() // it may be no number, of a shade whose speed nobody knows
	}
}

func (p *Pose) forget() { p.Uncertainty = knownMost }

// known reports whether From means something.
func (p *Pose) known() bool { return p.Uncertainty < knownMost }

// advance ends a movement that is due at the end of the travel and of which nothing was
// read lately, or that nobody has heard of for too long.
func (p *Pose) advance(s *Settings, now time.Time) {
	unseen := !p.Seen || !p.Doubt.IsZero() || now.Sub(p.SeenAt) > s.patience()
	if arrives := p.arrives(s); !arrives.IsZero() && !now.Before(arrives) && unseen {
		p.Dir, p.Motion = 0, MotionUnknown
		p.forget() // nobody saw it arrive; somebody, or a power cut, may have stopped it on the way
	}
	if p.moving() && !now.Before(p.HeardAt.Add(lostAfter)) {
		p.Dir, p.Motion = 0, MotionUnknown
		if !s.Measures {
			p.forget()
		}
	}
}

// end is where the shade is once it has run to the end of its travel.
func (p *Pose) end() float64 {
	if p.Dir > 0 {
		return 100
	}
	return 0
}

// arrives is when a shade that runs is certainly at the end of its travel; zero: it does
// not, or nobody can tell.
func (p *Pose) arrives(s *Settings) time.Time {
	if p.Dir == 0 || s.Measures || !s.timed() {
		return time.Time{}
	}
	way := 100.0
	if p.known() {
		way = math.Min(100, math.Abs(p.end()-p.From)+p.Uncertainty)
	}
	return p.Since.Add(s.takes(way+runMargin, motionOf(p.Dir).dirs()))
}

// due reports whether a shade should be at its end by now, and was not asked about it yet.
func (p *Pose) due(s *Settings, now time.Time) bool {
	at := p.arrives(s)
	return p.LookedAt.Before(at) && !now.Before(at)
}

// arrive makes the position certain: the relay is on still when the shade is at its end.
func (p *Pose) arrive(at time.Time) {
	p.From, p.Since, p.Uncertainty, p.Restored, p.Motion = p.end(), at, 0, false, Standing
	p.Dir = 0
}

// turn changes the direction from a moment on.
func (p *Pose) turn(s *Settings, dir int, at time.Time) {
	was := p.From
	p.From = p.position(s, at)
	if p.Dir != 0 && !p.Seen && p.known() {
		p.costs(math.Abs(p.From - was)) // nobody has seen that it moved at all
	}
	if dir != 0 && !s.Measures && !s.timed() {
		p.forget() // it leaves a place for nobody knows where
	}
	p.Dir, p.Since, p.Motion, p.Seen = dir, at, motionOf(dir), false
}

// frame takes note that a frame is on the wire.
func (p *Pose) frame(k Kind, at time.Time) {
	if k != Stop {
		p.Proven, p.MovedAt = false, at
	}
	if p.Doubt.IsZero() && (k.dir() != p.Dir || k == MoveTo) {
		p.Doubt = at
	}
}

// acknowledged takes note that the last frame, sent at a moment, was acknowledged.
// changed is when another one was sent before it: since a frame in doubt the shade may have
// turned round.
func (p *Pose) acknowledged(s *Settings, k Kind, at, changed time.Time) {
	arrived := p.arrived()
	if p.Doubt.Before(at) && !p.Doubt.IsZero() && !s.Measures {
		p.costs(s.wayMost(at.Sub(p.Doubt)))
		if p.Dir != 0 && s.timed() && !changed.Before(p.Doubt) {
			p.costs(s.way(at.Sub(p.Doubt), p.Dir))
		}
	}
	p.Doubt, p.HeardAt = time.Time{}, at
	switch {
	case k == MoveTo:
		p.Motion = Moving
		return
	case k == Stop && s.Measures: // it says itself when it stands; until then it is moving
		return
	}
	again := !p.Released.IsZero()
	begins := p.begins(s, k.dir(), at)
	if soonest := p.RanAt.Add(s.ReverseDelay); arrived && s.timed() && begins.After(at) { // its relay may have dropped by itself since
		p.costs(s.way(min(begins.Sub(at), begins.Sub(soonest)), k.dir()))
	}
	if k.dir() == p.Dir {
		if k == Stop && again && p.Ran != 0 && !p.Proven { // it need not have obeyed the one before
			p.costs(s.wayMost(at.Sub(p.Since)))
			p.Since = at
		}
		return
	}
	p.turn(s, k.dir(), at)
	p.Since = begins
	if p.known() {
		p.costs(perMove)
	}
}

// begins tells when a motor that was told something at a moment begins to do it.
func (p *Pose) begins(s *Settings, dir int, at time.Time) time.Time {
	if dir == 0 {
		if p.Released.IsZero() {
			p.Released = at
		}
		return at
	}
	begins := at
	if p.Ran == -dir {
		stood := p.Released
		if stood.IsZero() {
			stood = at
		}
		if stands := stood.Add(s.ReverseDelay); stands.After(at) {
			begins = stands
		}
	}
	p.Ran, p.Released = dir, time.Time{}
	return begins
}

// look takes what was read into the pose.
func (m *machine) look(r Read) {
	p := &m.Pose
	if m.Settings.Measures {
		if r.Place {
			if r.Position != p.From || p.MeasuredAt.IsZero() {
				p.MovedAt = m.now
			}
			p.From, p.Uncertainty, p.Restored = r.Position, 0, false
			p.HeardAt, p.MeasuredAt = m.now, m.now
		}
		if r.Motion != MotionUnknown {
			p.Motion, p.Dir, p.HeardAt, p.SeenAt = r.Motion, r.Motion.dir(), m.now, r.Asked
			p.Proven = r.Motion == Standing && (p.Proven || m.settled(r))
		}
		return
	}
	if r.Motion == MotionUnknown {
		return
	}
	dir := r.Motion.dir()
	// At an end stop the relay stays on while the motor stands.
	held := p.Dir == 0 && p.Uncertainty == 0 && (dir > 0 && p.From >= 100 || dir < 0 && p.From <= 0)
	switch {
	case dir != 0 && dir == p.Dir && p.Seen && asked(r, p.SeenAt) > m.Settings.patience():
		m.surprise(dir, r) // somebody may have stopped it meanwhile, and sent it on
	case dir == p.Dir || held:
		if !p.Doubt.IsZero() && m.settled(r) {
			if dir == 0 || !m.Last.Changed.Before(p.Doubt) { // it may have run meanwhile, or stood
				p.costs(m.Settings.wayMost(r.Asked.Sub(p.Doubt)))
			}
			p.Doubt = time.Time{}
		}
	case m.ofBefore(r):
		if p.Dir == 0 && dir != 0 && dir != p.Ran {
			p.costs(m.unseen(r)) // before, it did not stand
		}
		return
	default:
		m.surprise(dir, r)
	}
	if p.Motion == MotionUnknown && p.Dir == 0 {
		p.Motion = Standing
	}
	m.Holds &= r.Motion.dirs()
	p.HeardAt, p.SeenAt = m.now, r.Asked
	p.Proven = dir == 0 && (p.Proven || m.settled(r))
	p.Seen = p.Seen || dir != 0 && m.proves(r.Asked)
	switch {
	case dir != 0:
		p.Ran, p.RanAt, p.Released = dir, r.Asked, time.Time{}
	case p.Released.IsZero():
		p.Released = r.Asked
	}
	if at := p.arrives(&m.Settings); !at.IsZero() && !r.Asked.Before(at) && p.Seen && p.Doubt.IsZero() {
		p.arrive(r.Asked)
	}
}

// surprise: somebody pressed the wall switch, or the device stopped by itself, or did not
// obey, at some moment since the last look.
func (m *machine) surprise(dir int, r Read) {
	p := &m.Pose
	p.turn(&m.Settings, dir, r.Asked)
	if p.SeenAt.IsZero() && dir != 0 {
		p.Motion = MotionUnknown // the relay may have been on for long, and the shade at its end
	}
	p.Doubt = time.Time{}
	if p.known() {
		p.costs(m.unseen(r))
	}
}

// unseen is how far the shade may have got since it was last read, in percent points.
func (m *machine) unseen(r Read) float64 {
	if m.Pose.SeenAt.IsZero() || !m.Settings.timed() {
		return 100
	}
	return math.Max(perSurprise, m.Settings.wayMost(r.Asked.Sub(m.Pose.SeenAt)))
}

// ofBefore reports whether a surprising reading may tell of the time before a frame.
func (m *machine) ofBefore(r Read) bool {
	unread := m.Order.run() && m.Order.Stage >= StageSent && m.Order.Stage != StageRead && m.Phase != Idle
	return asked(r, m.Last.FrameAt) < m.Settings.lag() || unread && r.Motion == Standing && m.early(r.Asked)
}

// settled reports whether a reading was asked for so late after the last frame that what
// it tells is what comes of it.
func (m *machine) settled(r Read) bool {
	wait := m.Settings.lag() + m.Settings.ReverseDelay
	if m.Last.Frame != Stop {
		wait = beginsWithin + m.Settings.ReverseDelay
	}
	if m.Last.Frame == Stop && r.Motion == Standing {
		return m.Last.Changed.IsZero() || asked(r, m.Last.Changed) >= wait
	}
	return m.Last.FrameAt.IsZero() || asked(r, m.Last.FrameAt) >= wait
}
