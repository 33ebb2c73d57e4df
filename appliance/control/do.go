package control

import (
	"context"
	"fmt"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/engine"
)

// Do carries out a command and returns when every member's outcome is known, or
// when the command's deadline has passed, or ctx ends (the command itself goes on
// then until its deadline). Entry.OK tells whether it succeeded.
//
// The error says why nothing was begun: it wraps ErrNotFound, ErrUnable,
// ErrOutOfRange or ErrOverloaded, and the entry is in the ledger all the same.
func (c *Controller) Do(ctx context.Context, cmd appliance.Command) (appliance.Entry, error) {
	return c.do(ctx, cmd, nil, nil)
}

// DoTelling is [Controller.Do], and tells, as soon as a bus has planned its part, by when that is done or has failed: 2 s and the
// bus time of the fan-out there from then on, at most the command's deadline. Of several buses the latest counts. told is
// called by several goroutines and must not block.
func (c *Controller) DoTelling(ctx context.Context, cmd appliance.Command, told func(due time.Time)) (appliance.Entry, error) {
	return c.do(ctx, cmd, nil, told)
}

// do carries out a command, of a trial if by is not nil.
func (c *Controller) do(ctx context.Context, cmd appliance.Command, by *Trial, told func(due time.Time)) (appliance.Entry, error) {
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
	run.told = told
	if by != nil {
		run.holder = by.number
	}
	ceiling := run.ceiling()
	c.dispatch(run)
	c.order.Unlock()
	release()
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

// dispatch hands each bus its part. Members whose bus is not running have failed.
func (c *Controller) dispatch(run *record) {
	snap := c.Snapshot()
	buses := *c.buses.Load()
	var on []*bus
	parts := map[*bus]engine.Command{}
	for i, want := range run.wants {
		b := buses[snap.BusOf(want.Ref)]
		if b == nil {
			run.ended(engine.Ended{Member: engine.Member{Place: i}, Outcome: engine.Failed, Why: fmt.Errorf("%w: its bus is not running", appliance.ErrBusDown)})
			continue
		}
		part, ok := parts[b]
		if !ok {
			on = append(on, b)
			part = engine.Command{
				ID: run.seq, Accepted: run.entry.AcceptedAt, Ceiling: run.ceiling(), Single: run.entry.Command.Target.Scope == appliance.One, Holder: run.holder,
			}
		}
		part.Wants, part.Places = append(part.Wants, want), append(part.Places, i)
		parts[b] = part
	}
	for _, b := range on {
		part := parts[b]
		if b.mail.put(mail{event: part, record: run}) {
			continue
		}
		for _, place := range part.Places {
			run.ended(engine.Ended{Member: engine.Member{Place: place}, Outcome: engine.Failed, Why: engine.ErrClosed})
		}
	}
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
