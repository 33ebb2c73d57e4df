package engine

import (
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/shade"
)

// Event is something that happened: one of the types below and those of jobs and groups.
type Event interface{ step(s *State) }

// Look tells that it is time to look what has to be done; its answer has a [Perform] or a
// [Wake]. The bus may be used if Down is nil; as long as that is [appliance.ErrOpening],
// nothing is known yet.
type Look struct {
	Down error
	Wait bool // nothing may begin
}

// Link tells whether the bus may be used, as Down of [Look] does, before what was handed in meanwhile is judged by that: a command
// that comes just after the port is not refused for what was.
type Link struct{ Down error }

// Command is the part of a command that falls on this bus.
type Command struct {
	ID       uint64 // newer commands have higher ones, all below [Own]
	Wants    []appliance.Want
	Places   []int // of the wants in the command, for [Member]
	Accepted time.Time
	Ceiling  time.Time // whoever asked does not wait longer
	Single   bool      // one thing is meant, so that nobody else stands in for it
	Holder   uint64    // the calibration that gives it; 0: none
}

// Stops reports whether the command stops shades.
func (c *Command) Stops() bool { return len(c.Wants) > 0 && stops(c.Wants[0]) }

// Own is the first ID of the commands that the engine gives itself, see [Begin].
const Own = 1 << 63

// Reported brings what devices said unasked.
type Reported struct{ Readings []appliance.Reading }

// Out tells that the frame of an exchange is out, at Sent, and that others use the bus
// until its answer is there.
type Out struct {
	Task uint64
	Sent time.Time
}

// Over tells how an exchange ended that began at Began.
type Over struct {
	Task   uint64
	Result appliance.Result
	Err    error
	Began  time.Time
}

// ForShade hands an event to the machine of a shade.
type ForShade struct {
	Shade appliance.ID
	Event shade.Event
}

// Retune brings other travel times of a shade, or another name.
type Retune struct{ Shade appliance.Shade }

// Watch has a shade read as often as can be, for a calibration, or ends that.
type Watch struct {
	Shade appliance.ID
	Often bool
}

// Park leaves the wire alone until the bus is configured anew. Commands wait meanwhile,
// but for runs of shades whose time counts already: they end as ordered.
type Park struct{}

// Close ends the bus for good: what waits has failed.
type Close struct{}

// Show has everything shown that readers see of devices, once a site is in force that
// a configuration belongs to, and what is not of Kept read again: it may have been read too soon.
type Show struct{ Kept map[appliance.ID]bool }
