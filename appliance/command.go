package appliance

import (
	"fmt"
	"time"
)

// Scope of a target.
type Scope uint8

// The scopes, numbered as the public contract numbers targetType.
const (
	All       Scope = 1
	InCluster Scope = 2
	One       Scope = 3
)

// Target says whom a command addresses: everything, one cluster, or one node
// (lights) or shade (shades).
type Target struct {
	Scope Scope
	ID    ID // cluster, node or shade; 0 with All
}

// Kind of a command.
type Kind uint8

// The kinds. The first five address lights, the others shades.
const (
	LightOn     Kind = iota + 1 // last non-zero level, 100 if none is known
	LightOff                    //
	LightLevel                  // Command.Level
	LightKelvin                 // Command.Kelvin
	LightRGBW                   // Command.RGBW, and Command.Level unless KeepLevel
	ShadeOpen
	ShadeClose
	ShadeStop
	ShadeMoveTo // Command.Position
)

// IsShade reports whether k addresses shades.
func (k Kind) IsShade() bool { return k >= ShadeOpen }

// Command is something that somebody wants done.
type Command struct {
	Kind      Kind
	Target    Target
	Channel   int // lights: 0 all channels of each node, else that one
	Level     Level
	KeepLevel bool
	Kelvin    Kelvin
	RGBW      RGBW
	Position  Position
	Origin    Origin
	// Expiry is when the command is worth nothing any more; zero lets the core
	// choose: 2 s plus the bus time of its fan-out, at most 10 s.
	Expiry time.Time
}

// Origin says who caused a command, through which door, and why.
type Origin struct {
	Who string // user name, key name, rule name
	Via string // "public-api", "automation", …
	Why string // free text; may be empty
}

// ViaShadeEngine is the door of what nobody gave: the runs and stops with which a shade on relays goes its way.
const ViaShadeEngine = "shade engine"

// Stage of a command at one member.
type Stage uint8

// The stages, in the order they are reached.
const (
	StageAccepted     Stage = iota // waiting
	StageSent                      // its last frame is on the wire
	StageAcknowledged              // the hardware confirmed it
	StageObserved                  // read back and found as wanted
	StageUnverifiable              // sent; the hardware cannot confirm
	StageFailed                    // see Err
)

// Member is what became of a command at one thing.
type Member struct {
	Ref   Ref
	Stage Stage
	// When each stage was reached; zero if it was not.
	SentAt, AcknowledgedAt, ObservedAt time.Time
	// Err is why the member failed, for people; empty if it did not.
	Err string
	// Cause is the same for callers, who compare it with errors.Is; nil for a member that did not fail, or of an entry from before a restart.
	Cause error
	// Offline members of a cluster are named, not waited for.
	Offline bool
}

// Entry of the ledger: one command and all that became of it.
type Entry struct {
	ID         string // sortable by time, safe in a header
	Command    Command
	AcceptedAt time.Time
	DoneAt     time.Time // zero: still running
	Members    []Member
	// Err is why the whole command failed, for people; empty on success.
	Err string
}

// OK reports whether every addressed online member acknowledged.
func (e Entry) OK() bool { return e.Err == "" && !e.DoneAt.IsZero() }

// String names a target for people.
func (t Target) String() string {
	switch t.Scope {
	case All:
		return "the site"
	case InCluster:
		return fmt.Sprintf("cluster %d", t.ID)
	}
	return fmt.Sprintf("target %d", t.ID)
}
