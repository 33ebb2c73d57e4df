package modbus

import (
	"context"
	"fmt"
	"time"

	"svc.internal/controller/appliance"
)

// shadeSteps plans the shades of one unit. A direction is energised only after
// the other was switched off by a write of its own; never both in one state of
// the coils.
func (d *Driver) shadeSteps(u *unit, wishes []wish) []appliance.Exchange {
	var steps []appliance.Exchange
	var ops []op
	for _, w := range wishes {
		if w.Motion != appliance.Stop && w.thing.out.prepare != nil {
			steps = append(steps, d.prepare(w.thing)...)
		}
		ops = append(ops, w.thing.motionOps(w.Motion, len(wishes) > 1)...)
	}
	if len(ops) == 0 {
		return []appliance.Exchange{{Device: u.key, Do: func(context.Context, appliance.Yield) (appliance.Result, error) {
			return appliance.Result{}, fmt.Errorf("bus %s: unit %d: %w: a shade of this device can open, close and stop", d.name, u.number, appliance.ErrRefused)
		}}}
	}
	return d.steps(d.frames(u, ops), steps)
}

// motionOps are the coils to write. With several shades in a device the coils of
// a pair are written together, so that neighbouring pairs share a frame.
func (t *thing) motionOps(m appliance.Motion, several bool) []op {
	up, down := t.out.open, t.out.close
	if t.inverted {
		up, down = down, up
	}
	set := func(c *cell, on uint16, phase int) op {
		return op{things: t.alone, at: t.place(c), n: 1, phase: phase, words: []uint16{on}}
	}
	run, other := up, down
	switch m {
	case appliance.Stop:
		return []op{set(up, 0, phaseClear), set(down, 0, phaseClear)}
	case appliance.Open:
	case appliance.Close:
		run, other = down, up
	default:
		return nil
	}
	ops := []op{set(other, 0, phaseClear), set(run, 1, phaseSwitch)}
	if x, _, known := t.number(run); several && !(known && x != 0) {
		// Not running that way: clearing its own coil as well costs nothing.
		ops = append(ops, set(run, 0, phaseClear))
	}
	if several {
		ops = append(ops, set(other, 0, phaseSwitch))
	}
	return ops
}

// prepare makes sure of a setting before a shade is moved: one exchange reads it,
// the next writes it, but only if it is another one, which happens once in a
// device's life; else that sends nothing. They are two, since one exchange is one
// frame: whoever waits for the frame in flight waits for no more than that.
func (d *Driver) prepare(t *thing) []appliance.Exchange {
	spec, at := t.out.spec.Prepare, t.place(t.out.prepare)
	want := uint16(spec.Value)
	failed := func(err error) error {
		return fmt.Errorf("%s (unit %d, %s %d): %w", spec.What, t.unit.number, at.table, at.addr, err)
	}
	right := false
	q := request{unit: t.unit.number, fn: at.table.reads(), addr: at.addr, qty: 1}
	look := d.exchange(t.unit, q, func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
		sure := !time.Now().Before(t.unit.doubtful)
		a, reply, err := d.ask(ctx, y, q, timing{timeout: t.unit.timeout, guard: t.unit.guard})
		if err != nil {
			return appliance.Result{Sent: reply.Sent}, failed(err)
		}
		if right = sure && a.word() == want; !right {
			d.log.Info("setting a device up for its shades", "bus", d.name, "unit", t.unit.number, "register", at.addr, "was", a.word(), "now", want)
		}
		return appliance.Result{Sent: reply.Sent}, nil
	})
	set := d.writeExchange(frame{unit: t.unit, ops: []op{{at: at, n: 1, words: []uint16{want}}}})
	write := set.Do
	set.Do = func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
		if right {
			return appliance.Result{}, nil
		}
		res, err := write(ctx, y)
		if err != nil {
			err = failed(err)
		}
		return res, err
	}
	return []appliance.Exchange{look, set}
}

// word is the first thing a unit said, as a number.
func (a answer) word() uint16 {
	if len(a.words) > 0 {
		return a.words[0]
	}
	if len(a.bits) > 0 && a.bits[0] {
		return 1
	}
	return 0
}
