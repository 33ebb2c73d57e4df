package modbus

import (
	"context"
	"fmt"

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
			steps = append(steps, d.prepare(w.thing))
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
		return op{things: []*thing{t}, at: t.place(c), n: 1, phase: phase, words: []uint16{on}}
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

// prepare makes sure of a setting before a shade is moved: it is read, and only
// if it is another one, which happens once in a device's life, written in the
// same exchange.
func (d *Driver) prepare(t *thing) appliance.Exchange {
	spec, at := t.out.spec.Prepare, t.place(t.out.prepare)
	want := uint16(spec.Value)
	q := request{unit: t.unit.number, fn: at.table.reads(), addr: at.addr, qty: 1}
	settled := timing{timeout: t.unit.timeout, guard: t.unit.guard}
	return d.exchange(t.unit, q, func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
		a, reply, err := d.ask(ctx, y, q, settled)
		if err == nil && a.word() != want {
			d.log.Info("setting a device up for its shades", "bus", d.name, "unit", t.unit.number, "register", at.addr, "was", a.word(), "now", want)
			f := frame{unit: t.unit, ops: []op{{at: at, n: 1, words: []uint16{want}}}}
			write := settled
			write.actuates = true
			_, reply, err = d.ask(ctx, appliance.Yield{}, f.request(t.unit.number, []uint16{want}), write)
		}
		if err != nil {
			err = fmt.Errorf("%s (unit %d, %s %d): %w", spec.What, t.unit.number, at.table, at.addr, err)
		}
		return appliance.Result{Sent: reply.Sent}, err
	})
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
