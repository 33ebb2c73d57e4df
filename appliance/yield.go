package appliance

import "time"

// Yield tells an exchange when something more urgent waits behind it. The zero
// Yield never does.
type Yield struct {
	// Begin, when closed, ends an exchange of whose frame no byte is out with
	// ErrPreempted and nothing sent; it is begun again later. Afterwards it is of no
	// consequence.
	//
	// That makes the silence before a frame worth nothing to a poll that a command
	// overtakes: without it a command that comes in that silence would wait for the
	// whole poll.
	Begin <-chan struct{}
	// Answer, when closed, ends the wait for an answer with ErrPreempted, as long as
	// no byte of it has come. Without Apart, it is never closed before Begin is.
	Answer <-chan struct{}
	// Apart, if not nil, has the exchange wait for its answer while others use the bus:
	// it is called once the frame is out, at sent, with what waits, which must touch
	// nothing of the driver's but its line.
	Apart func(sent time.Time, wait func())
}
