package engine

import (
	"log/slog"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/shade"
)

// Action is something that has to be done for the engine: one of the types below and those
// of jobs and groups.
type Action interface{ action() }

// Perform asks for an exchange. Its end comes as [Over].
type Perform struct {
	Task     uint64
	Exchange *appliance.Exchange
	Expiry   time.Time // no byte goes out later; zero: never mind
	GivesWay GivesWay  // until its first byte is out
	Answer   bool      // to commands also while it waits for an answer
	Patience time.Duration
	Apart    bool // others may use the bus while it waits for an answer
}

// GivesWay says what an exchange gives way to.
type GivesWay uint8

// An exchange gives way to nothing, to a STOP, or to any command.
const (
	ToNone GivesWay = iota
	ToStop
	ToCommands
)

// Wake asks for a [Look] at a moment, if nothing happens before.
type Wake struct{ At time.Time }

// Begin tells that the engine gives a command itself; it is known by this ID from now on.
type Begin struct {
	ID     uint64
	Kind   appliance.Kind
	Target appliance.Want
	Why    string
}

// Member names what a command wants of one thing.
type Member struct {
	Command uint64
	Place   int // in the command, see [Command.Places]
}

// Due tells by when what a command wants of this bus is done or has failed, unless it is read back until whoever asked does not
// wait any longer. Of what has failed at once it does not tell.
type Due struct {
	Command uint64
	At      time.Time
}

// Staged tells how far a member has come, at a moment.
type Staged struct {
	Member
	Stage appliance.Stage
	At    time.Time
}

// Pending tells why a member will have failed of which nothing else is heard in time.
type Pending struct {
	Member
	Why error
}

// Ended tells what became of a member.
type Ended struct {
	Member
	Outcome Outcome
	At      time.Time // it was read, if it was
	Why     error     // it failed, if it did
}

// Learned tells what is known of channels from now on.
type Learned struct {
	Readings []appliance.Reading
	Source   appliance.Source
}

// Expect has the level shown that a channel was ordered, as long as its device may fade to it,
// and AsRead ends that.
type (
	Expect struct {
		Ref   appliance.Ref
		Level appliance.Level
		Fade  time.Duration
	}
	AsRead struct{ Ref appliance.Ref }
)

// Standing tells that nodes are online or not. Seen is when; zero: nothing new.
type Standing struct {
	Nodes  []appliance.ID
	Online bool
	Seen   time.Time
}

// Shade tells what is known of a shade. Unheard: it may run by a frame that nobody
// acknowledged.
type Shade struct {
	ID      appliance.ID
	View    shade.View
	Unheard bool
}

// Health tells how the bus is, once a second. Names, devices' troubles and when somebody
// looked are not in it.
type Health struct{ State appliance.BusState }

// Log tells people something.
type Log struct {
	Level slog.Level
	Text  string
	Args  []any
}

func (Perform) action()  {}
func (Wake) action()     {}
func (Begin) action()    {}
func (Due) action()      {}
func (Staged) action()   {}
func (Pending) action()  {}
func (Ended) action()    {}
func (Learned) action()  {}
func (Expect) action()   {}
func (AsRead) action()   {}
func (Standing) action() {}
func (Shade) action()    {}
func (Health) action()   {}
func (Log) action()      {}
