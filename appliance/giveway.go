package appliance

import (
	"context"
	"time"
)

// exchangeContext is what an exchange runs in: the bus's own context, with the
// deadline of its command, and word of what waits behind it. The deadline is for
// the frame to be out, so it ends nothing by itself: the answer to a frame that was
// out in time is awaited, whatever the hour, since only it tells what happened.
type exchangeContext struct {
	context.Context
	expiry  time.Time // zero: none
	giveWay <-chan struct{}
}

func (c *exchangeContext) Deadline() (time.Time, bool) {
	if c.expiry.IsZero() {
		return c.Context.Deadline()
	}
	return c.expiry, true
}

type giveWayKey struct{}

func (c *exchangeContext) Value(key any) any {
	if key == (giveWayKey{}) {
		return c.giveWay
	}
	return c.Context.Value(key)
}

// WithGiveWay returns a context whose GiveWay is ch.
func WithGiveWay(ctx context.Context, ch <-chan struct{}) context.Context {
	return &exchangeContext{Context: ctx, giveWay: ch}
}

// GiveWay returns a channel that is closed when something more urgent waits than
// the exchange that ctx was made for. Before the first byte of its frame is out,
// the exchange then ends with ErrPreempted and is begun again later; afterwards it
// is of no consequence. Nil, which is never closed, if ctx is of no exchange.
//
// That makes the silence before a frame worth nothing to a poll that a command
// overtakes: without it a command that comes in that silence would wait for the
// whole poll.
func GiveWay(ctx context.Context) <-chan struct{} {
	ch, _ := ctx.Value(giveWayKey{}).(<-chan struct{})
	return ch
}
