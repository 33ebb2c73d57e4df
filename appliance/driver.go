package appliance

import (
	"context"
	"log/slog"
	"time"
)

// Driver speaks one protocol on one bus. It decides about bytes; when something
// is sent, in which order and how often it is retried is decided by the core.
//
// All methods but Run are called by one goroutine at a time, as is the Do of every
// [Exchange]: a driver needs no locks for its own state. While an exchange waits by
// [Yield.Apart], those with other devices go on.
type Driver interface {
	// Run keeps the port or connection open until ctx ends, re-opening it when it
	// is lost. It returns nil when ctx ended and an error only when the bus can
	// never work (a setting is impossible).
	Run(ctx context.Context) error

	// Plan turns what one command wants of things on this bus into chains. Every
	// want appears in exactly one chain. The driver uses the fewest frames: one
	// group or broadcast frame where the devices have one that covers exactly
	// these things, one frame for neighbouring outputs of a device.
	Plan(want []Want) []Chain

	// Repair plans the same without group or broadcast frames, for members that
	// a chain left behind.
	Repair(want []Want) []Chain

	// Polls lists the reads that keep the bus's things fresh. Asked once for every
	// configuration.
	Polls() []Poll
}

// Exchange is one indivisible conversation on a bus: a frame out and its answer,
// if one is due. (A sequence that the protocol forbids to interrupt, such as a
// DALI send-twice, is one exchange.) It is the unit of pre-emption.
type Exchange struct {
	// Device names the device addressed, for back-off and statistics; empty for a
	// group or broadcast frame.
	Device string
	// Airtime is how long the bus is busy when the device answers as it should,
	// silences included; Worst when it does not answer.
	Airtime, Worst time.Duration
	// Late is how long after a time-out an answer may still come that could be
	// mistaken for the answer to the device's next read, if this is a read, or write,
	// if it is a write. That long the device is not asked for another read, and the
	// acknowledgement of another write is believed only when a read confirms it.
	// Zero where answers carry a transaction number.
	Late time.Duration
	// Do performs the exchange. It does not begin a frame that cannot be out
	// before the deadline of ctx (ErrExpired). Its error wraps one of ErrSilent,
	// ErrDamaged, ErrRefused, ErrBusy, ErrBusDown, ErrExpired, ErrPreempted.
	//
	// One that finds, when its turn comes, that there is nothing to do sends nothing
	// and returns the zero Result; the last of a chain's Steps always sends.
	//
	// y says when to make room for something more urgent.
	Do func(ctx context.Context, y Yield) (Result, error)
	// Refs are the things that a read tells about.
	Refs []Ref
	// Split, if not nil, gives smaller reads that together read the same, for a
	// device that refused this one; none if it cannot be cut.
	Split func() []Exchange
}

// Result of an exchange.
type Result struct {
	Sent     time.Time // when the last byte was on the wire; zero: nothing was sent
	Readings []Reading
}

// Chain is what must happen in order for some things to take what was wanted.
// Between its exchanges others may use the bus.
type Chain struct {
	Wants []Want
	// Steps write; a thing is acknowledged when all steps are.
	Steps []Exchange
	// Verify reads back what the steps wrote, any number of exchanges. Their
	// readings are compared with Wants. Empty where nothing can be read.
	Verify []Exchange
	// Group: the steps are group or broadcast frames that nobody acknowledges;
	// the verification is the acknowledgement.
	Group bool
	// Unverifiable: the hardware can neither acknowledge nor be read (DMX); sent
	// counts as acknowledged and the ledger says so.
	Unverifiable bool
}

// Class of a value decides how fresh it is kept.
type Class uint8

// The classes, see [Freshness].
const (
	ClassLight Class = iota
	ClassShade
	ClassPower
)

// Poll is a read that is repeated.
type Poll struct {
	Exchange
	Class Class
	// Within: it is put so often at least, whatever the freshness targets are, for a device
	// that must be asked lest it goes to its safe state. 0: it need not.
	Within time.Duration
}

// Channel is what a driver learned from the profile about one channel of a node
// or one shade.
type Channel struct {
	Abilities    Ability
	KelvinMin    Kelvin
	KelvinMax    Kelvin
	MinLevel     Level         // lowest level above off; wants are raised to it
	Fade         time.Duration // longest time from one level to another that the device takes by itself
	Clips        bool          // the device may move a value to limits of its own; believed once it was seen going there
	Unverifiable bool
	// Lag is how long after it was told the device may still show what it had before;
	// 0: up to three quarters of a second, as most.
	Lag              time.Duration
	PositionMeasured bool // shades: the device reports its position itself
	// ReverseDelay is how long a shade's device waits by itself before it runs the
	// other way.
	ReverseDelay time.Duration
	// Release is how long after a shade was at its end the relay that holds it there is
	// switched off; 0: 5 s; below 0: never.
	Release time.Duration
}

// Opened is a bus ready to run: what a driver makes of the installer's entries.
type Opened struct {
	Driver Driver
	// Device gives the device key (see [Exchange.Device]) of each node.
	Device map[ID]string
	// Channels of each node, channel 1 first; Shades by shade ID.
	Channels map[ID][]Channel
	Shades   map[ID]Channel
	// InFlight is how many exchanges may be out at once, each with another device; 0: one.
	// With more than one, no frame is for several devices: it would not wait for what they
	// were asked before.
	InFlight int
	// Broken entries, by node or shade: they are quarantined, the rest runs.
	BrokenNodes  map[ID]error
	BrokenShades map[ID]error
}

// BusConfig is what a driver opens a bus with.
type BusConfig struct {
	Bus   Bus
	Nodes []Node // those of this bus, ascending ID
	// Shades of these nodes, ascending ID. Their travel times are the core's business.
	Shades []Shade
	// Freshness targets of the site; what a driver reads together may depend on it.
	Freshness Freshness
	// Last gives the last value known of a thing from before a restart, for a
	// driver that must tell apart what a register alone does not say.
	Last func(Ref) (Values, bool)
	// Report takes what devices say unasked. Safe to call from any goroutine.
	Report func([]Reading)
	Log    *slog.Logger
	// DataDir holds installers' own files, profiles/ among them. Empty: none.
	DataDir string
}

// OpenFunc makes a driver for one bus. It opens no port: [Driver.Run] does. An
// error quarantines the bus; errors of single entries go to [Opened].
type OpenFunc func(cfg BusConfig) (Opened, error)

// Abilities that a driver may have besides.

// Configurer takes other nodes, shades and targets while its port stays open. Without it a
// bus is opened anew for them.
type Configurer interface {
	// Configure takes the place of Open, for a bus whose own entry is the same. What is
	// known of devices that stay is kept. It is called between two exchanges; exchanges
	// given out before may still be done, and belong to things that stay. False: it takes
	// opening anew; then nothing has changed.
	Configure(cfg BusConfig) (Opened, bool)
}

// Recorder shows the frames that pass on a bus.
type Recorder interface {
	// Recent returns the last frames, oldest first.
	Recent() []Frame
	// Follow sends every frame from now on until ctx ends, then closes the
	// channel. A reader too slow for its bounded buffer loses frames, never the
	// bus time; the next one that it gets tells how many.
	Follow(ctx context.Context) <-chan Frame
}

// Linker tells whether the port or connection is there.
type Linker interface {
	// Link returns nil when the bus is usable, else why not: an error that wraps
	// ErrBusDown, and ErrOpening as well until the first attempt to open has ended.
	// Safe from any goroutine.
	Link() error
}

// Identifier makes a device show itself: a lamp blinks, a motor winks.
type Identifier interface {
	// Identify gives the exchange that does it, for an address in the words of the
	// driver, configured or not. Called from any goroutine.
	Identify(address string) (Exchange, error)
}

// Borrower shows a device that the site does not have by one of its outputs, which is switched and put
// back. It is for drivers whose devices cannot show themselves, see [Identifier].
type Borrower interface {
	// Borrow gives a light output, from 1, of a device with that profile at an address in the
	// words of the driver. It fails with ErrUnable where the output cannot be read, so that it
	// could not be put back. Called between two exchanges.
	Borrow(address, profile string, output int) (Borrowed, error)
}

// Borrowed is an output on loan. Read is done first, and Err asked whether it may be switched; then
// Other makes it dark if it shone, else shine, and Back what Read found at first. Err after a later Read says
// whether it is that. Exchanges with nothing to do send nothing.
type Borrowed struct {
	Read, Other, Back []Exchange
	Err               func() error
}

// Troubled knows what devices say is wrong with them.
type Troubled interface {
	// Troubles gives what devices last said is wrong with them, in a few words of the
	// driver, by device (see [Exchange.Device]); those that are well are left out. What is
	// wrong with the bus itself is there without a name.
	Troubles() map[string]string
}

// Direction of a frame as seen from the controller.
type Direction uint8

// Directions. Discarded bytes were received and could not be used.
const (
	FrameSent Direction = iota
	FrameReceived
	FrameDiscarded
)

// Frame is one piece of traffic in a bus's flight recorder.
type Frame struct {
	At        time.Time
	Direction Direction
	Bytes     []byte
	Note      string // why discarded, port lost, port found; empty for ordinary frames
	// Lost frames passed between the one before and this one, and are missing: whoever
	// follows was too slow.
	Lost int
}
