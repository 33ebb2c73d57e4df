package control

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

// Do carries out a command and returns when every member's outcome is known, or
// when the command's deadline has passed, or ctx ends (the command itself goes on
// then until its deadline). Entry.OK tells whether it succeeded.
//
// The error says why nothing was begun: it wraps ErrNotFound, ErrUnable,
// ErrOutOfRange or ErrOverloaded, and the entry is in the ledger all the same.
func (c *Controller) Do(ctx context.Context, cmd appliance.Command) (appliance.Entry, error) {
	return c.do(ctx, cmd, nil)
}

// do carries out a command, of a trial if that is not nil.
func (c *Controller) do(ctx context.Context, cmd appliance.Command, by *Trial) (appliance.Entry, error) {
	now := time.Now()
	defer c.active.Add(-1)
	if n := c.active.Add(1); n > commandsMost && (cmd.Kind != appliance.ShadeStop || n > 2*commandsMost) {
		err := fmt.Errorf("%w: %d already", appliance.ErrOverloaded, n-1)
		return c.refuse(cmd, now, err), err
	}
	wants, err := resolve(c.Snapshot(), cmd)
	if err != nil {
		return c.refuse(cmd, now, err), err
	}
	release, err := c.admit(cmd, wants, by)
	if err != nil {
		return c.refuse(cmd, now, err), err
	}
	c.order.Lock() // the newest of two commands at once is the same on every bus
	run := newRecord(c.seq.Add(1), cmd, wants, now)
	if by != nil {
		run.holder = by.number
	}
	ceiling := run.ceiling()
	only := c.dispatch(run, time.Time{})
	c.order.Unlock()
	release()
	if only != nil {
		only.drive(ctx, run)
	}
	if run.over() {
		return c.finish(run), nil
	}
	deadline := time.NewTimer(time.Until(ceiling))
	defer deadline.Stop()
	select {
	case <-run.done:
	case <-deadline.C:
	case <-ctx.Done():
		go c.outlive(run, ceiling)
		return run.view(), ctx.Err()
	}
	return c.finish(run), nil
}

// outlive keeps the books of a command whose caller has left.
func (c *Controller) outlive(run *record, ceiling time.Time) {
	deadline := time.NewTimer(time.Until(ceiling))
	defer deadline.Stop()
	select {
	case <-run.done:
	case <-deadline.C:
	}
	c.finish(run)
}

// finish closes a command's entry and makes what it changed visible.
func (c *Controller) finish(run *record) appliance.Entry {
	e := run.finish(time.Now(), c.nameOf)
	c.state.publish()
	c.ledger.add(e)
	return e
}

// refuse records a command that was not begun.
func (c *Controller) refuse(cmd appliance.Command, now time.Time, err error) appliance.Entry {
	e := appliance.Entry{ID: newEntryID(now), Command: cmd, AcceptedAt: now, DoneAt: now, Err: err.Error()}
	c.ledger.add(e)
	return e
}

// beginInternal opens an entry for a command that a bus gives itself.
func (c *Controller) beginInternal(cmd appliance.Command, target appliance.Want) *record {
	now := time.Now()
	run := newRecord(c.seq.Add(1), cmd, []appliance.Want{target}, now)
	go c.outlive(run, now.Add(time.Minute))
	return run
}

// dispatch hands each bus its part. Members whose bus is not running have failed. If
// all is the business of one bus, that is returned, for the caller to drive. expiry is
// when it is worth nothing any more; zero: the bus chooses.
func (c *Controller) dispatch(run *record, expiry time.Time) *bus {
	snap := c.Snapshot()
	buses := *c.buses.Load()
	type part struct {
		bus     *bus
		members []*member
	}
	parts := make([]part, 0, 1) // few: they are found by looking at each
	for _, m := range run.members {
		b := buses[snap.BusOf(m.target.Ref)]
		if b == nil {
			m.fail(fmt.Errorf("%w: its bus is not running", appliance.ErrBusDown))
			continue
		}
		k := slices.IndexFunc(parts, func(p part) bool { return p.bus == b })
		if k < 0 {
			k = len(parts)
			parts = append(parts, part{bus: b})
		}
		parts[k].members = append(parts[k].members, m)
	}
	j := job{expiry: expiry, ceiling: cmp.Or(expiry, run.ceiling())}
	for _, p := range parts {
		j.members = p.members
		p.bus.submit(j)
	}
	if len(parts) == 1 {
		return parts[0].bus
	}
	for _, p := range parts {
		p.bus.poke()
	}
	return nil
}

// nameOf names a thing for people.
func (c *Controller) nameOf(r appliance.Ref) string {
	s := c.Snapshot()
	if r.Shade != 0 {
		if sh := s.Shade(r.Shade); sh != nil {
			return fmt.Sprintf("shade %d (%s)", r.Shade, sh.Shade.Name)
		}
		return fmt.Sprintf("shade %d", r.Shade)
	}
	n := s.Node(r.Node)
	if n == nil {
		return fmt.Sprintf("node %d", r.Node)
	}
	if len(n.Channels) > 1 {
		return fmt.Sprintf("node %d (%s) channel %d", r.Node, n.Node.Name, r.Channel)
	}
	return fmt.Sprintf("node %d (%s)", r.Node, n.Node.Name)
}
