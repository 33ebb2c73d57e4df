package shade

import (
	"errors"
	"time"
)

// State of one shade. It is a value: whoever holds one may copy and compare it.
type State struct {
	Settings Settings
	Pose     Pose
	Phase    Phase
	Order    Order // the last one handed to the engine
	Route    Route
	Due      time.Time // of the run, the pause or the next stop; zero: nothing is timed
	MustStop Dirs
	Stopping time.Time // since when a stop is pending
	Holder   uint64    // the calibration that has the shade; 0: none
	Last     Last
	Down     bool // its bus cannot be used
	Holds    Dirs // the relay that is on by an acknowledged frame of ours, unless it releases by itself
	// Unreleased is when it was last tried in vain to switch off the relay that holds it at its end.
	Unreleased time.Time
}

// Settings are what site, profile and driver say of the shade.
type Settings struct {
	Measures   bool // the motor tells its position itself
	Unreadable bool // nothing tells what the motor does: an acknowledgement is all there is
	Inverted   bool // which way "up" is; only a change of it matters here
	// TravelUp and TravelDown are the times from end to end; 0: not known.
	TravelUp, TravelDown time.Duration
	// ReverseDelay is how long the actuator waits by itself before it runs the other way.
	ReverseDelay time.Duration
	// Lag is how long after a frame a reading may tell of the time before it; 0: 250 ms.
	Lag time.Duration
	// Patience is how long the shade may run without being read and still be taken to
	// have arrived; 0: 10 s.
	Patience time.Duration
	// Release is how long after the shade was at its end its relay is switched off; 0: 5 s;
	// below 0: never.
	Release time.Duration
}

// Phase of a shade, see the package.
type Phase uint8

// The phases.
const (
	Idle Phase = iota
	Asked
	OnRoute
	Stopping
)

// Kind of an order.
type Kind uint8

// The kinds.
const (
	Open Kind = iota + 1
	Close
	Stop
	MoveTo // a position, by a motor that measures it
)

// Ends says what ends a movement.
type Ends uint8

// A movement ends at the end of the travel or where the motor itself takes it; when its
// route says so; or when the calibration that holds the shade does.
const (
	ByItself Ends = iota
	ByRoute
	ByHolder
)

// Stage of an order.
type Stage uint8

// The stages. An order that is waiting, sent or acknowledged is with the engine; one that
// was read or has ended is not.
const (
	StageNone Stage = iota
	StageWaiting
	StageSent
	StageAcknowledged
	StageRead
	StageEnded
)

// Frame says how an order went out.
type Frame uint8

// A shade that was proven to stand when the frame reached it may be believed when it is
// seen moving; else it may be moving for another reason.
const (
	Unicast Frame = iota
	UnicastUnproven
	GroupFromRest
	GroupUnproven
)

// alone reports whether the shade was told by itself.
func (f Frame) alone() bool { return f <= UnicastUnproven }

// Order is one thing that the motor is told.
type Order struct {
	ID       uint64
	Kind     Kind
	Position float64 // of MoveTo
	Command  uint64  // sequence number of the command that wants it; 0: our own
	Ends     Ends
	Lasts    time.Duration // until a route ends it
	Expires  time.Time
	// Confirms is an earlier order that counts as confirmed with this one; 0: none.
	Confirms uint64
	Denied   bool // it was read not to be obeyed when that had to show
	Releases bool // it switches off the relay of a shade that is at its end

	Stage  Stage
	Frame  Frame
	SentAt time.Time // its last frame
	AckAt  time.Time
}

// out reports whether the order is with the engine.
func (o Order) out() bool { return o.Stage >= StageWaiting && o.Stage <= StageAcknowledged }

// Confirming reports whether an order may still be confirmed.
func (s State) Confirming(order uint64) bool {
	return s.Route.Confirms == order || s.Order.out() && (s.Order.ID == order || s.Order.Confirms == order)
}

// run reports whether the order moves the shade.
func (o Order) run() bool { return o.Kind != Stop && o.Kind != 0 }

// dirs are the directions in which the order may make the motor run.
func (o Order) dirs() Dirs {
	switch o.Kind {
	case Open:
		return Up
	case Close:
		return Down
	case MoveTo:
		return Up | Down
	}
	return 0
}

// Route is the way of a timed shade to a position, as far as it was not begun.
type Route struct {
	Goal  float64
	Ahead bool // another run follows the order that is out, or the pause
	Ended bool // none follows any more: it ends where it is stopped
	// Confirms is the stop that the way began with, which was obeyed and proves nothing of
	// the run for which it made room: that confirms it; 0: none.
	Confirms uint64
	// Referenced: it has been to an end on this way already, to learn where it is.
	Referenced bool
}

// Last is what went before.
type Last struct {
	Order  uint64 // the highest number that was given to an order
	Seq    uint64 // of the newest command that was taken
	StopAt time.Time
	// Frame is the kind and position of the last order that was on the wire, at FrameAt;
	// Changed is when one that wanted something else was there before.
	Frame    Kind
	Position float64
	FrameAt  time.Time
	Changed  time.Time
}

// Dirs is a set of directions.
type Dirs uint8

// The directions.
const (
	Up Dirs = 1 << iota
	Down
)

// mirrored swaps the directions.
func (d Dirs) mirrored() Dirs { return d>>1&Up | d<<1&Down }

// New is the state of a shade of which nothing is known at a moment. Whoever drove it
// before may have sent it a frame just then.
func New(s Settings, at time.Time) State {
	return State{Settings: s, Pose: Pose{Uncertainty: knownMost}, Last: Last{Changed: at}}
}

// Check reports which of its invariants a state breaks; nil: none.
func (s State) Check() error {
	switch {
	case s.Phase == Idle && s.MustStop != 0:
		return errors.New("idle, and something has to be stopped")
	case s.Phase == Idle && s.Order.out():
		return errors.New("idle, and an order is out")
	case s.Phase == Stopping && s.MustStop == 0:
		return errors.New("stopping, and nothing has to be stopped")
	case s.Phase == Asked && !s.Order.out():
		return errors.New("asked, and no order is out")
	case s.Phase >= OnRoute && s.Wake().IsZero() && !s.Order.out() && s.Holder == 0:
		return errors.New("on its way or stopping, and nobody will go on")
	case s.Phase == OnRoute && s.Order.run() && s.MustStop == 0:
		return errors.New("on its way, and nobody would stop it")
	}
	return nil
}
