package appliance

import (
	"context"
	"fmt"
	"time"
)

// errand is one exchange that somebody wants done by itself.
type errand struct {
	ctx      context.Context
	exchange Exchange
	done     chan errandDone
}

type errandDone struct {
	res Result
	err error
}

// nextErrand takes the errand that waits, if one does. Errands and polls take
// turns, since whoever runs errands waits for each.
func (b *bus) nextErrand(fits func(*Exchange) bool) *task {
	if b.errand == nil {
		select {
		case b.errand = <-b.errands:
		default:
			return nil
		}
	}
	if !fits(&b.errand.exchange) {
		return nil
	}
	e := b.errand
	b.errand = nil
	if err := e.ctx.Err(); err != nil {
		e.done <- errandDone{err: err}
		return nil
	}
	e.exchange.Device = "" // its outcome says nothing about what is polled there
	expiry, _ := e.ctx.Deadline()
	return &task{exchange: &e.exchange, kind: taskJob, expiry: expiry, settle: func(res Result, err error, _ time.Time) {
		e.done <- errandDone{res, err}
	}}
}

// Perform does one exchange of a driver's own making (an installer's tool, a step
// of commissioning) behind commands and in turn with polling, and returns its
// outcome. It fails with ErrBusDown when the bus is closed.
func (c *Controller) Perform(ctx context.Context, busName string, e Exchange) (Result, error) {
	b, err := c.bus(busName)
	if err != nil {
		return Result{}, err
	}
	job := &errand{ctx: ctx, exchange: e, done: make(chan errandDone, 1)}
	select {
	case b.errands <- job:
	case <-ctx.Done():
		return Result{}, ctx.Err()
	case <-b.closed:
		return Result{}, fmt.Errorf("bus %s: %w: it was closed", busName, ErrBusDown)
	}
	select {
	case d := <-job.done:
		return d.res, d.err
	case <-ctx.Done():
		return Result{}, ctx.Err()
	case <-b.closed:
		return Result{}, fmt.Errorf("bus %s: %w: it was closed", busName, ErrBusDown)
	}
}

// Identify makes a device show itself.
func (c *Controller) Identify(ctx context.Context, busName, address string) error {
	b, err := c.bus(busName)
	if err != nil {
		return err
	}
	driver, ok := b.driver().(Identifier)
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
