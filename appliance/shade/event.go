package shade

import (
	"errors"
	"time"
)

// Event is something that happened to a shade: one of the types below.
type Event interface{ step(m *machine) }

// Command is what somebody wants of the shade.
type Command struct {
	Seq      uint64 // commands with a higher one are newer
	Kind     Kind
	Position float64   // of MoveTo, 0 to 100
	Holder   uint64    // the calibration that gives it; 0: none
	Accepted time.Time // when it came to the program
	Expires  time.Time // zero: never
}

// Sent tells that a frame of an order is on the wire. It is told of an order that was
// replaced or cancelled meanwhile, too.
type Sent struct {
	Order Order
	Group bool // one frame for several devices
}

// Ack tells that the hardware acknowledged the last frame of an order, or that a frame
// is out which nobody acknowledges.
type Ack struct{ Order uint64 }

// Read is what the motor, or its relay, was read doing.
type Read struct {
	Asked    time.Time // when the question was on the wire
	Motion   Motion
	Position float64
	Place    bool // Position means something
	// Reached: it stands, and takes its last order for carried out.
	Reached bool
}

// Failed tells that the engine has given up an order.
type Failed struct {
	Order uint64
	// Unread: it was acknowledged, and could not be read back.
	Unread bool
}

// Tick tells that the time [State.Wake] has come.
type Tick struct{}

// Lost tells that the bus cannot be used any more.
type Lost struct{}

// Back tells that the bus can be used again.
type Back struct{}

// Configure brings other settings.
type Configure struct{ Settings Settings }

// Halt tells that nobody will drive the shade any more: it is removed, disabled, set
// aside, or hung off another output.
type Halt struct{}

// Quit tells that the program ends in good order: what only we would stop is stopped.
type Quit struct{}

// Release tells that a calibration lets go of the shade.
type Release struct{ Holder uint64 }

// Stood tells that somebody saw the shade stand at a place.
type Stood struct{ Position float64 }

// Restored tells where the shade stood when the program ended.
type Restored struct {
	Position, Uncertainty float64
	At                    time.Time
}

// Action is something that the engine has to do for a shade: one of the types below.
type Action interface{ action() }

// Send hands an order to the engine, in place of any that it has.
type Send struct{ Order Order }

// Cancel takes an order back that was not confirmed.
type Cancel struct {
	Order uint64
	Why   error
}

// Confirm tells that an order was read to be obeyed.
type Confirm struct {
	Order uint64
	Also  uint64 // another that counts as confirmed with it; 0: none
}

// Join tells that the command which was handed in wants what an order wants that is with the
// engine: it has the outcome of that.
type Join struct{ Order uint64 }

// Keep takes an order off the engine that was read to be obeyed, and leaves its command
// open: an order that follows confirms it.
type Keep struct{ Order uint64 }

// Refuse turns down the command that was handed in.
type Refuse struct{ Why error }

// ReadNow asks for a reading at once.
type ReadNow struct{}

// GiveUp tells that a shade which only we would stop could not be stopped for a minute.
type GiveUp struct{}

// Log tells people something.
type Log struct{ Text string }

func (Send) action()    {}
func (Cancel) action()  {}
func (Confirm) action() {}
func (Join) action()    {}
func (Keep) action()    {}
func (Refuse) action()  {}
func (ReadNow) action() {}
func (GiveUp) action()  {}
func (Log) action()     {}

// Why a command is refused or an order cancelled.
var (
	ErrSuperseded = errors.New("superseded by a newer command")
	ErrDown       = errors.New("the bus is down")
	ErrNoTravel   = errors.New("go to a position without travel times; set them, until then only 0 and 100 can be reached")
	ErrExpired    = errors.New("the deadline passed before the bus came to it")
	ErrWall       = errors.New("somebody moves the shade at the wall")
	ErrStill      = errors.New("the shade was not read to move")
	ErrWrong      = errors.New("the shade could not be sent on as planned")
)
