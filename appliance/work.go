package appliance

import (
	"slices"
	"time"
)

// job is the part of a command that falls on one bus, on its way to the goroutine
// that owns the bus.
type job struct {
	run     *running
	wants   []Want
	members []int // of run, parallel to wants
	expiry  time.Time
	ceiling time.Time // expiry is extended by the bus time of the fan-out up to this
	alone   bool      // one specific target: tried even if it is offline
	last    bool      // stops a shade that nobody else would stop
	way     bool      // sends shades on ways that the bus has to end
}

// stops reports whether the job stops shades.
func (j job) stops() bool {
	return len(j.wants) > 0 && j.wants[0].Shade != 0 && j.wants[0].Motion == Stop
}

// work is one chain of a command, waiting or between two exchanges.
type work struct {
	run     *running
	chain   Chain
	members []int // parallel to chain.Wants; -1: no longer ours
	expiry  time.Time
	stop    bool // stops a shade: goes before everything
	lone    bool // to a device that is offline: one try, gives way to others
	aside   bool // one of a set, to a device that is offline: nobody counts on it
	last    bool // stops a shade that nobody else would stop: tried until it expires
	way     bool // sends shades on ways that the bus has to end

	verifying bool
	pos       int // next of chain.Steps or chain.Verify
	tries     int // of the exchange at pos
	notBefore time.Time
	unsure    bool      // the acknowledgement may be that of an earlier frame
	attempted bool      // something was sent, so the device may have obeyed
	fadeEnd   time.Time // until then another level may be one on the way
	repairs   int
	got       []Reading // parallel to chain.Wants while verifying; zero: not read
	before    []Values  // parallel to chain.Wants: what was last read; nil: nothing of use
}

// maxTries of one exchange of a command, by what went wrong.
const (
	maxTriesSilent  = 3
	maxTriesDamaged = 6
	maxRepairs      = 2
	busyPause       = 50 * time.Millisecond
	busyPauseMost   = 800 * time.Millisecond
	lastPause       = 500 * time.Millisecond // between tries to stop what nobody else would
)

// exchange returns what the work needs done next.
func (w *work) exchange() *Exchange {
	if w.verifying {
		return &w.chain.Verify[w.pos]
	}
	return &w.chain.Steps[w.pos]
}

// unheard: a stop that nobody else would send, to a device that has not heard it. It
// must not keep others waiting.
func (w *work) unheard() bool { return w.last && !w.verifying && w.tries >= maxTriesSilent }

// open reports whether any member still waits for this work.
func (w *work) open() bool {
	return slices.ContainsFunc(w.members, func(m int) bool { return m >= 0 })
}

// each calls f for the members that still wait, and closes those for which it
// returns true.
func (w *work) each(f func(want Want, member int) (closed bool)) {
	for i, m := range w.members {
		if m >= 0 && f(w.chain.Wants[i], m) {
			w.members[i] = -1
		}
	}
}

// place of a thing among the wants; -1 if it is not wanted.
func (w *work) place(ref Ref) int {
	return slices.IndexFunc(w.chain.Wants, func(want Want) bool { return want.Ref == ref })
}

// read returns what verification told of a thing; ok is false if it told nothing.
func (w *work) read(ref Ref) (got Reading, ok bool) {
	if i := w.place(ref); i >= 0 {
		got = w.got[i]
	}
	return got, got.Ref == ref
}

// stood is what a thing had before, as far as that is of use.
func (w *work) stood(ref Ref) (v Values) {
	if i := w.place(ref); i >= 0 && w.before != nil {
		v = w.before[i]
	}
	return v
}

// remaining returns the wants that are still ours, with their members.
func (w *work) remaining() (wants []Want, members []int) {
	for i, m := range w.members {
		if m >= 0 {
			wants = append(wants, w.chain.Wants[i])
			members = append(members, m)
		}
	}
	return wants, members
}

// aspect is a part of a thing's state that one command replaces as a whole.
type aspect uint8

const (
	aspectLight aspect = 1 << iota
	aspectTune
	aspectColour
	aspectMotion
)

func aspectsOf(a Ability) aspect {
	var out aspect
	if a&(CanSwitch|CanDim) != 0 {
		out |= aspectLight
	}
	if a&CanTune != 0 {
		out |= aspectTune
	}
	if a&CanColour != 0 {
		out |= aspectColour
	}
	if a&(CanMove|CanPosition) != 0 {
		out |= aspectMotion
	}
	return out
}

// newest remembers which command last wanted something of each aspect of a thing.
type newest map[Ref]*[4]uint64

func (n newest) note(ref Ref, a aspect, seq uint64) {
	marks := n[ref]
	if marks == nil {
		marks = new([4]uint64)
		n[ref] = marks
	}
	for i := range marks {
		if a&(1<<i) != 0 {
			marks[i] = seq
		}
	}
}

// overtaken reports whether a newer command than seq wants any of these aspects.
func (n newest) overtaken(ref Ref, a aspect, seq uint64) bool {
	marks := n[ref]
	if marks == nil {
		return false
	}
	for i := range marks {
		if a&(1<<i) != 0 && marks[i] > seq {
			return true
		}
	}
	return false
}

// agrees reports whether what was read is what was wanted, as far as both speak of
// the same.
func agrees(want Values, got Reading) bool {
	both := want.Has & got.Has
	if speaksOfLevel(want) && speaksOfLevel(got.Values) && want.Level != got.Level {
		return false
	}
	if both.Has(CanTune) && want.Kelvin != got.Kelvin {
		return false
	}
	if both.Has(CanColour) && want.RGBW != got.RGBW {
		return false
	}
	if both.Has(CanMove) {
		return motionAgrees(want, got)
	}
	return true
}

// motionAgrees judges a shade. A device that stands, and takes its order for carried
// out as far as limits of its own allow, has done what it could.
func motionAgrees(want Values, got Reading) bool {
	still := got.Motion == Stopped
	if still && got.Reached && want.Motion != Stop {
		return true
	}
	switch want.Motion {
	case Open:
		return got.Motion == Opening || got.Motion == Moving || still && got.Has.Has(CanPosition) && got.Position == 100
	case Close:
		return got.Motion == Closing || got.Motion == Moving || still && got.Has.Has(CanPosition) && got.Position == 0
	case Stop:
		return still
	case MoveTo:
		return !still && got.Motion != MotionUnknown || got.Has.Has(CanPosition) && got.Position == want.Position
	}
	return true
}
