package control

import (
	"context"
	"fmt"
	"time"

	"svc.internal/controller/appliance"
)

const (
	// A light that cannot show itself blinks so often, and is so long each way.
	blinks    = 3
	blinkTime = 700 * time.Millisecond
)

// blink makes the lights at one address of a bus, or only one of them, blink by commands,
// and leaves them as they were. Whoever commands one meanwhile wins. Where the site has none, an output is borrowed.
func (c *Controller) blink(ctx context.Context, what Showing, by appliance.Origin) error {
	lights := c.lightsAt(what.Bus, what.Address, what.Node)
	if len(lights) == 0 {
		return c.borrow(ctx, what)
	}
	for _, n := range lights {
		if !n.Online || !n.Level.OK() {
			return fmt.Errorf("node %d (%s): %w: nobody knows how bright it is, so that it could not be put back", n.Node.ID, n.Node.Name, appliance.ErrUnreachable)
		}
	}
	by.Why = "identify"
	for range blinks {
		err := c.otherwise(ctx, lights, by)
		pause(ctx)
		// Also for whoever gave it up.
		if back := c.asTheyWere(context.WithoutCancel(ctx), lights, by); err == nil {
			err = back
		}
		if err != nil {
			return err
		}
		if pause(ctx); ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

const (
	// backTime is what putting back what was borrowed may take, backTries how often it is looked at
	// whether it is as it was: lamps may be on their way for a moment.
	backTime  = 10 * time.Second
	backTries = 5
)

// Showing is what is to show itself: a device of a bus and, for devices that the site does not have and that
// can be seen by their outputs only, its profile and a light output of it, from 1; 0: the first.
type Showing struct {
	Bus, Address string
	Node         appliance.ID // only this one of the lights at the address; 0: all
	Profile      string
	Output       int
}

// borrow switches an output of a device that the site does not have, and leaves it as it was.
func (c *Controller) borrow(ctx context.Context, what Showing) (err error) {
	b, err := c.bus(what.Bus)
	if err != nil {
		return err
	}
	borrower, ok := b.driver().(appliance.Borrower)
	if !ok || what.Profile == "" || len(b.nodesAt(what.Address)) > 0 {
		return fmt.Errorf("bus %s, address %s: %w: devices of this driver show themselves by their lights, and the site has none there", what.Bus, what.Address, appliance.ErrUnable)
	}
	var loan appliance.Borrowed
	lent := make(chan error, 1)
	if err := b.atBoundary(ctx, func() {
		var err error
		loan, err = borrower.Borrow(what.Address, what.Profile, max(what.Output, 1))
		lent <- err
	}); err != nil {
		return err
	}
	if err := <-lent; err != nil {
		return fmt.Errorf("bus %s: %w", what.Bus, err)
	}
	all := func(ctx context.Context, list []appliance.Exchange) error {
		for _, e := range list {
			if _, err := c.Perform(ctx, what.Bus, e); err != nil {
				return fmt.Errorf("identify %s on bus %s: %w", what.Address, what.Bus, err)
			}
		}
		return nil
	}
	if err := all(ctx, loan.Read); err != nil {
		return err
	}
	if err := loan.Err(); err != nil {
		return fmt.Errorf("identify %s on bus %s: %w", what.Address, what.Bus, err)
	}
	back := func() error { // also for whoever gave it up
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), backTime)
		defer cancel()
		return all(ctx, loan.Back)
	}
	for range blinks {
		err := all(ctx, loan.Other)
		pause(ctx)
		if undone := back(); err == nil {
			err = undone
		}
		if err != nil {
			return err
		}
		if pause(ctx); ctx.Err() != nil {
			return ctx.Err()
		}
	}
	for range backTries {
		if err = all(ctx, loan.Read); err == nil {
			err = loan.Err()
		}
		if err == nil {
			return nil
		}
		pause(ctx)
	}
	return err
}

// pause lets people see how it is.
func pause(ctx context.Context) {
	t := time.NewTimer(blinkTime)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// lightsAt are the lights of the site at an address, or only one of them.
func (c *Controller) lightsAt(busName, address string, only appliance.ID) (lights []*appliance.NodeState) {
	s := c.Snapshot()
	for _, b := range s.Buses {
		if b.Bus.Name != busName {
			continue
		}
		for _, n := range s.Nodes {
			if n.Node.Bus == b.Bus.UUID && n.Node.Address == address && n.IsLight() && (only == 0 || only == n.Node.ID) {
				lights = append(lights, n)
			}
		}
	}
	return lights
}

// otherwise switches lights off that are on, and has those that are off shine.
func (c *Controller) otherwise(ctx context.Context, lights []*appliance.NodeState, by appliance.Origin) error {
	for _, n := range lights {
		cmd := appliance.Command{Kind: appliance.LightOff, Target: appliance.Target{Scope: appliance.One, ID: n.Node.ID}, Origin: by}
		if n.Level.Value == 0 {
			cmd.Kind, cmd.Level = appliance.LightLevel, 100
		}
		if err := c.obeyed(ctx, cmd); err != nil {
			return err
		}
	}
	return nil
}

// asTheyWere gives lights the levels that they had, channel by channel.
func (c *Controller) asTheyWere(ctx context.Context, lights []*appliance.NodeState, by appliance.Origin) error {
	for _, n := range lights {
		now := c.Snapshot().Node(n.Node.ID)
		if now == nil || !now.Level.OK() || (now.Level.Value > 0) == (n.Level.Value > 0) {
			continue // it never was otherwise, or somebody has switched it meanwhile
		}
		for i, ch := range n.Channels {
			if !ch.Level.OK() || ch.Level == now.Channels[i].Level {
				continue
			}
			cmd := appliance.Command{Kind: appliance.LightLevel, Target: appliance.Target{Scope: appliance.One, ID: n.Node.ID}, Channel: i + 1, Level: ch.Level.Value, Origin: by}
			if err := c.obeyed(ctx, cmd); err != nil {
				return err
			}
		}
	}
	return nil
}

// obeyed does a command; one that failed is an error.
func (c *Controller) obeyed(ctx context.Context, cmd appliance.Command) error {
	e, err := c.Do(ctx, cmd)
	if err == nil && !e.OK() {
		err = fmt.Errorf("node %d: %s", cmd.Target.ID, e.Err)
	}
	return err
}
