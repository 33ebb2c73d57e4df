package modbus

import (
	"context"
	"fmt"
	"slices"

	"svc.internal/controller/appliance"
)

var _ appliance.Borrower = (*Driver)(nil)

// Borrow gives a light output of a device that the site does not have, to be switched and put back.
// Where an output has switches, only these are touched unless it is dark at level 0: then its level is too.
func (d *Driver) Borrow(address, profile string, output int) (appliance.Borrowed, error) {
	p, err := d.library.Find(profile)
	if err != nil {
		return appliance.Borrowed{}, err
	}
	at, err := parseAddress(address, p)
	if err != nil {
		return appliance.Borrowed{}, err
	}
	if output < 1 || output > len(p.lights) {
		return appliance.Borrowed{}, fmt.Errorf("output %d: %w: a %s has outputs 1 to %d", output, appliance.ErrOutOfRange, p.Title, len(p.lights))
	}
	u := d.newUnit(at.unit, p, 0)
	l := &loan{unit: u, thing: &thing{unit: u, out: p.lights[output-1], address: at}}
	if err := l.places(); err != nil {
		return appliance.Borrowed{}, err
	}
	return appliance.Borrowed{Read: l.reads(d), Other: l.writes(d, l.other), Back: l.writes(d, l.back), Err: l.judge}, nil
}

// loan is an output on loan.
type loan struct {
	unit  *unit
	thing *thing
	spots []spot  // numbers first, switches last
	pairs []*cell // switches that must not be on together with it: a shade may hang off both

	read map[point][]uint16 // what the last read said
	was  map[point][]uint16 // what the first one said; nil: there was none
}

// spot is a place that makes an output shine.
type spot struct {
	read, write point
	words       int
	dark, full  []uint16
	isSwitch    bool
	unknown     func([]uint16) bool // nil: it always tells
}

// places finds what the output is made of.
func (l *loan) places() error {
	t := l.thing
	values := []*value{t.out.level}
	if t.out.hasColour() {
		values = t.out.colour[:]
	}
	for _, v := range values {
		switch {
		case v == nil:
		case v.read == nil || v.write == nil:
			return fmt.Errorf("%w: a %s does not tell what the output is, so that it could not be put back", appliance.ErrUnable, l.unit.profile.Title)
		default:
			dark, full := v.spec.turned(v.spec.bottom()), v.spec.turned(v.spec.top())
			if v == t.out.level {
				dark, full = v.spec.levelRaw(0, ""), v.spec.levelRaw(100, "")
			}
			l.spots = append(l.spots, spot{
				read: t.place(v.read), write: t.place(v.write), words: v.read.spec.words(), dark: v.write.spec.pack(dark), full: v.write.spec.pack(full),
				unknown: func(w []uint16) bool { raw := v.read.spec.number(w); return v.spec.unknown(raw) || v.spec.absent(raw) },
			})
		}
	}
	for _, c := range t.out.switches {
		l.spots = append(l.spots, spot{read: t.place(c), write: t.place(c), words: 1, dark: []uint16{0}, full: []uint16{1}, isSwitch: true})
	}
	if len(l.spots) == 0 {
		return fmt.Errorf("%w: output %d of a %s is nothing that shines", appliance.ErrUnable, t.out.number, l.unit.profile.Title)
	}
	for _, shade := range l.unit.profile.shades {
		if !slices.Contains(shade.occupies, t.out.number) {
			continue
		}
		for _, n := range shade.occupies {
			if n != t.out.number && n <= len(l.unit.profile.lights) {
				l.pairs = append(l.pairs, l.unit.profile.lights[n-1].switches...)
			}
		}
	}
	return nil
}

// reads are what tells how the output is, and its pairs.
func (l *loan) reads(d *Driver) []appliance.Exchange {
	var list []appliance.Exchange
	add := func(at point, words int) {
		q := request{unit: l.unit.number, fn: at.table.reads(), addr: at.addr, qty: uint16(words)}
		list = append(list, d.exchange(l.unit, q, func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
			a, reply, err := d.ask(ctx, y, q, timing{timeout: l.unit.timeout, guard: l.unit.guard})
			if err != nil {
				return appliance.Result{Sent: reply.Sent}, err
			}
			if l.read == nil {
				l.read = make(map[point][]uint16)
			}
			l.read[at] = slices.Clone(a.words)
			for _, on := range a.bits {
				l.read[at] = append(l.read[at], map[bool]uint16{true: 1}[on])
			}
			return appliance.Result{Sent: reply.Sent}, nil
		}))
	}
	for _, s := range l.spots {
		add(s.read, s.words)
	}
	for _, c := range l.pairs {
		add(l.thing.place(c), 1)
	}
	return list
}

// writes are frames of what is to stand at each spot; those without send nothing.
func (l *loan) writes(d *Driver, what func(spot) []uint16) []appliance.Exchange {
	var list []appliance.Exchange
	for _, s := range l.spots {
		e := d.writeExchange(frame{unit: l.unit, ops: []op{{at: s.write, n: s.words, late: func() []uint16 { return what(s) }}}})
		send := e.Do
		e.Do = func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
			if what(s) == nil {
				return appliance.Result{}, nil
			}
			return send(ctx, y)
		}
		list = append(list, e)
	}
	return list
}

// shone reports whether the output shone when it was first read.
func (l *loan) shone() bool {
	numbers, switches := false, false
	hasNumbers, hasSwitches := false, false
	for _, s := range l.spots {
		lit := !slices.Equal(l.was[s.read], s.dark)
		if s.isSwitch {
			hasSwitches, switches = true, switches || lit
		} else {
			hasNumbers, numbers = true, numbers || lit
		}
	}
	return (numbers || !hasNumbers) && (switches || !hasSwitches)
}

// touches reports whether a spot is written at all.
func (l *loan) touches(s spot) bool {
	if s.isSwitch {
		return true
	}
	byNumbers := !slices.ContainsFunc(l.spots, func(s spot) bool { return s.isSwitch })
	unlit := true
	for _, s := range l.spots {
		unlit = unlit && (s.isSwitch || slices.Equal(l.was[s.read], s.dark))
	}
	return byNumbers || unlit
}

// other is what makes the output otherwise than it was.
func (l *loan) other(s spot) []uint16 {
	switch {
	case !l.touches(s):
		return nil
	case l.shone():
		return s.dark
	}
	return s.full
}

// back is what the output was.
func (l *loan) back(s spot) []uint16 {
	if !l.touches(s) {
		return nil
	}
	return l.was[s.read]
}

// judge tells after the first reads whether the output may be switched, and after later ones whether it is as it was.
func (l *loan) judge() error {
	if l.was == nil {
		l.was = make(map[point][]uint16)
		for at, words := range l.read {
			l.was[at] = slices.Clone(words)
		}
		for _, s := range l.spots {
			if s.unknown != nil && s.unknown(l.was[s.read]) {
				return fmt.Errorf("%w: the device does not know what the output is, so that it could not be put back", appliance.ErrUnable)
			}
		}
		for _, c := range l.pairs {
			if w := l.was[l.thing.place(c)]; len(w) > 0 && w[0] != 0 && !l.shone() {
				return fmt.Errorf("%w: the other relay of its pair is on, and if a shade hangs off them, both would be; switch that one off first", appliance.ErrUnable)
			}
		}
		return nil
	}
	for _, s := range l.spots {
		if !slices.Equal(l.read[s.read], l.was[s.read]) {
			return fmt.Errorf("output %d of unit %d is not as it was: it has %v, and had %v; look at it", l.thing.out.number, l.unit.number, l.read[s.read], l.was[s.read])
		}
	}
	return nil
}
