package control

import (
	"context"
	"fmt"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/engine"
)

// Perform does one exchange of a driver's own making (an installer's tool, a step
// of commissioning) behind commands and in turn with polling, and returns its
// outcome. It fails with ErrBusDown when the bus is closed.
func (c *Controller) Perform(ctx context.Context, busName string, e appliance.Exchange) (appliance.Result, error) {
	b, err := c.bus(busName)
	if err != nil {
		return appliance.Result{}, err
	}
	type outcome struct {
		res appliance.Result
		err error
	}
	done := make(chan outcome, 1)
	job := engine.Ask{Job: c.jobs.number.Add(1), Exchange: e}
	job.Expiry, _ = ctx.Deadline()
	if !b.mail.put(mail{event: job, answer: func(res appliance.Result, err error) { done <- outcome{res, err} }}) {
		return appliance.Result{}, fmt.Errorf("bus %s: %w", busName, engine.ErrClosed)
	}
	select {
	case d := <-done:
		return d.res, d.err
	case <-ctx.Done():
		b.mail.put(mail{event: engine.Withdraw{Job: job.Job}})
		return appliance.Result{}, ctx.Err()
	case <-b.closed:
		return appliance.Result{}, fmt.Errorf("bus %s: %w", busName, engine.ErrClosed)
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
