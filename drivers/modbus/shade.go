package modbus

import (
	"context"
	"fmt"
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

// shadeSteps plans the shades of one unit. A direction is energised only after
// the other was switched off by a write of its own, and was read to be off: relays
// stick. Never both in one state of the coils.
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
	frames := d.frames(u, ops)
	off := slices.IndexFunc(frames, func(f frame) bool { return f.ops[0].phase > phaseClear })
	if off < 0 {
		return d.steps(frames, steps) // they stop
	}
	steps = append(d.steps(frames[:off], steps), d.released(u, wishes)...)
	return d.steps(frames[off:], steps)
}

// releaseMost is how long the relay of the other direction is waited for: its register
// may show late that it has released.
const releaseMost = time.Second

// released reads that the relays of the other directions are off.
func (d *Driver) released(u *unit, wishes []wish) []appliance.Exchange {
	var needs []need
	for _, w := range wishes {
		if other := w.thing.opposite(w.Motion); other != nil {
			needs = append(needs, need{at: w.thing.place(other), n: other.spec.words(), thing: w.thing})
		}
	}
	looks := d.readExchanges(u, needs)
	var since time.Time // when they were first read, and one was on
	for i, look := range looks {
		looks[i].Do = func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
			sure := !time.Now().Before(u.doubtful)
			res, err := look.Do(ctx, y)
			if err != nil {
				return res, err
			}
			res.Readings = nil // the core asks for them when everything is written
			for _, w := range wishes {
				x, _, known := w.thing.number(w.thing.opposite(w.Motion))
				if sure && known && x == 0 || i < len(looks)-1 {
					continue
				}
				if since.IsZero() {
					since = time.Now()
				}
				if time.Since(since) < releaseMost {
					return res, fmt.Errorf("unit %d: %w: the relay of the other direction is on still", u.number, appliance.ErrBusy)
				}
				return res, fmt.Errorf("unit %d: %w: the relay of the other direction does not release, so this one stays off", u.number, appliance.ErrRefused)
			}
			return res, nil
		}
	}
	return looks
}

// opposite is the coil that must be off before a shade is sent somewhere; nil if it is
// not sent anywhere.
func (t *thing) opposite(m appliance.Motion) *cell {
	switch {
	case m == appliance.Open && !t.inverted, m == appliance.Close && t.inverted:
		return t.out.close
	case m == appliance.Close, m == appliance.Open:
		return t.out.open
	}
	return nil
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

// prepare makes sure of a setting before a shade is moved: one exchange reads it,
// the last writes it, but only if it is another one, which happens once in a
// device's life; else that sends nothing. They are several, since one exchange is one
// frame: whoever waits for the frame in flight waits for no more than that. Where the
// answer to an earlier question may have come in place of this one's, it is read again:
// to write what is set already would stop a motor that runs.
func (d *Driver) prepare(t *thing) []appliance.Exchange {
	spec, at := t.out.spec.Prepare, t.place(t.out.prepare)
	want := uint16(spec.Value)
	failed := func(err error) error {
		return fmt.Errorf("%s (unit %d, %s %d): %w", spec.What, t.unit.number, at.table, at.addr, err)
	}
	sure, right := false, false
	q := request{unit: t.unit.number, fn: at.table.reads(), addr: at.addr, qty: 1}
	look := d.exchange(t.unit, q, func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
		if sure {
			return appliance.Result{}, nil
		}
		doubtful := time.Now().Before(t.unit.doubtful)
		a, reply, err := d.ask(ctx, y, q, timing{timeout: t.unit.timeout, guard: t.unit.guard})
		if err != nil {
			return appliance.Result{Sent: reply.Sent}, failed(err)
		}
		sure, right = !doubtful, a.word() == want
		return appliance.Result{Sent: reply.Sent}, nil
	})
	set := d.writeExchange(frame{unit: t.unit, ops: []op{{at: at, n: 1, words: []uint16{want}}}})
	write := set.Do
	set.Do = func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
		if right {
			return appliance.Result{}, nil
		}
		d.log.Info("setting a device up for its shades", "bus", d.name, "unit", t.unit.number, "register", at.addr, "to", want)
		res, err := write(ctx, y)
		if err != nil {
			err = failed(err)
		}
		return res, err
	}
	return []appliance.Exchange{look, look, set}
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
