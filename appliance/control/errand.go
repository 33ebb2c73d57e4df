package control

import (
	"context"
	"fmt"
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

// errand is one exchange that somebody wants done by itself.
type errand struct {
	ctx      context.Context
	exchange appliance.Exchange
	done     chan errandDone
}

type errandDone struct {
	res appliance.Result
	err error
}

// givenUp reports whether nobody waits for it any more.
func (e *errand) givenUp() bool { return e.ctx.Err() != nil }

// nextErrand takes the first errand that somebody still waits for. Errands and polls take
// turns, since whoever runs errands waits for each.
func (b *bus) nextErrand(fits func(time.Duration) bool) *task {
	b.errands = slices.DeleteFunc(b.errands, (*errand).givenUp)
	if len(b.errands) == 0 || !fits(b.errands[0].exchange.Airtime) {
		return nil
	}
	e := b.errands[0]
	b.errands = b.errands[1:]
	e.exchange.Device = "" // its outcome says nothing about what is polled there
	expiry, _ := e.ctx.Deadline()
	return &task{exchange: &e.exchange, kind: taskJob, expiry: expiry, settle: func(res appliance.Result, err error, _ time.Time) {
		e.done <- errandDone{res, err}
	}}
}

// Perform does one exchange of a driver's own making (an installer's tool, a step
// of commissioning) behind commands and in turn with polling, and returns its
// outcome. It fails with ErrBusDown when the bus is closed.
func (c *Controller) Perform(ctx context.Context, busName string, e appliance.Exchange) (appliance.Result, error) {
	b, err := c.bus(busName)
	if err != nil {
		return appliance.Result{}, err
	}
	job := &errand{ctx: ctx, exchange: e, done: make(chan errandDone, 1)}
	if err := b.atBoundary(ctx, func() { b.errands = append(slices.DeleteFunc(b.errands, (*errand).givenUp), job) }); err != nil {
		return appliance.Result{}, fmt.Errorf("bus %s: %w", busName, err)
	}
	select {
	case d := <-job.done:
		return d.res, d.err
	case <-ctx.Done():
		return appliance.Result{}, ctx.Err()
	case <-b.closed:
		return appliance.Result{}, fmt.Errorf("bus %s: %w", busName, errClosed)
	}
}

// Identify makes a device show itself.
func (c *Controller) Identify(ctx context.Context, busName, address string) error {
	b, err := c.bus(busName)
	if err != nil {
		return err
	}
	driver, ok := b.driver().(appliance.Identifier)
	if !ok {
		return fmt.Errorf("bus %s: its driver %q cannot make a device show itself; switch or move it instead", busName, b.config().Bus.Driver)
	}
	e, err := driver.Identify(address)
	if err != nil {
		return err
	}
	if _, err := c.Perform(ctx, busName, e); err != nil {
		return fmt.Errorf("identify %s on bus %s: %w", address, busName, err)
	}
	return nil
}
