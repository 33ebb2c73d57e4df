package control

import (
	"context"
	"fmt"

	"svc.internal/controller/appliance"
)

// Groups tells how the groups of a bus stand, without asking any device.
func (c *Controller) Groups(busName string) (appliance.Grouping, error) {
	b, err := c.grouperBus(busName)
	if err != nil {
		return appliance.Grouping{}, err
	}
	return b.groups.shown(), nil
}

// WriteGroups reads the tables of all devices that answer and brings them in step,
// whether or not the site has them kept. It calls step as it goes, on the bus's
// goroutine, and returns when it is through or ctx ends. The error names the devices
// that are not in step.
func (c *Controller) WriteGroups(ctx context.Context, busName string, step func(appliance.GroupProgress)) error {
	b, err := c.grouperBus(busName)
	if err != nil {
		return err
	}
	if b.groups.shown().Mode == appliance.GroupsOff {
		return fmt.Errorf("bus %s: its option groups is off: groups are neither read nor written", busName)
	}
	if err := b.linkDown(); err != nil {
		return err
	}
	order := &groupOrder{ctx: ctx, step: step, done: make(chan error, 1)}
	if err := b.groups.submit(order); err != nil {
		return fmt.Errorf("bus %s: %w", busName, err)
	}
	b.poke()
	select {
	case err := <-order.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-b.closed:
		return fmt.Errorf("bus %s: %w: it was closed", busName, appliance.ErrBusDown)
	}
}

func (c *Controller) grouperBus(name string) (*bus, error) {
	b, err := c.bus(name)
	if err != nil {
		return nil, err
	}
	if b.groups == nil {
		return nil, fmt.Errorf("bus %s: its driver %q knows no group tables", name, b.config().Bus.Driver)
	}
	return b, nil
}
