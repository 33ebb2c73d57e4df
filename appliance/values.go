package appliance

import "time"

// Level is relative light output in percent, 0 (off) to 100. A switched output
// has two levels: 0 and 100.
type Level int

// Kelvin is a colour temperature.
type Kelvin int

// RGBW is a colour, each component 0 to 255, independent of the level.
type RGBW struct{ R, G, B, W uint8 }

// Position of a shade in percent: 100 is fully open (up), 0 fully closed (down).
// Drivers whose protocol counts the other way convert at their edge.
type Position int

// Motion is what a shade is asked to do, or seen doing.
type Motion uint8

// What a shade may be asked (Open … MoveTo) and what it may be seen doing
// (Stopped … Moving). MotionUnknown, the zero value, is neither.
const (
	MotionUnknown Motion = iota
	Open                 // run to the upper end
	Close                // run to the lower end
	Stop                 // stop now
	MoveTo               // run to a position

	Stopped // proven still
	Opening
	Closing
	Moving // towards a position, direction not known
)

// Ability says what a channel or shade can do, and which fields of [Values] mean
// something. A set is the sum of its members.
type Ability uint16

// The abilities.
const (
	CanSwitch   Ability = 1 << iota // on and off: levels 0 and 100 only
	CanDim                          // Values.Level
	CanTune                         // Values.Kelvin
	CanColour                       // Values.RGBW
	CanMeasure                      // Values.Power
	CanMove                         // Values.Motion: open, close, stop
	CanPosition                     // Values.Position, measured by the device or modelled from travel time
)

// Has reports whether a contains all of b.
func (a Ability) Has(b Ability) bool { return a&b == b }

// Values are what is wanted of, or was read from, one channel or shade. Has names
// the fields that mean something; CanSwitch and CanDim both mean Level.
type Values struct {
	Has      Ability
	Level    Level
	Kelvin   Kelvin
	RGBW     RGBW
	Power    float64 // active power in W, negative when exported
	Motion   Motion
	Position Position
}

// SpeaksOfLevel reports whether v tells a level.
func (v Values) SpeaksOfLevel() bool { return v.Has&(CanDim|CanSwitch) != 0 }

// Ref names one controllable thing: channel Channel (from 1) of node Node, or else
// shade Shade, with Node and Channel zero.
type Ref struct {
	Node    ID
	Channel int
	Shade   ID
}

// Want is a target for one thing.
type Want struct {
	Ref
	Values
}

// Reading is what a device said of one thing, and when its answer was complete.
type Reading struct {
	Ref
	Values
	At time.Time
	// Reached says of a shade that stands: its device takes its last order for carried
	// out, as far as limits of its own allow. That counts as what was wanted, wherever
	// it stands; the position shown is the one read.
	Reached bool
	// Absent: the gateway says that this thing behind it does not answer. It counts as
	// offline, although the gateway is not.
	Absent bool
	// Why tells people what keeps a device from doing what it was told ("locked, last
	// down, by the network"); empty if nothing is known to.
	Why string
}
