package modbus

import (
	"fmt"
	"math"
	"time"

	"svc.internal/controller/appliance"
)

// unit is one device: what answers to one Modbus address.
type unit struct {
	number    byte
	key       string // device key of the core
	profile   *Profile
	firstNode appliance.ID
	timeout   time.Duration
	asked     time.Duration // the longest time-out that a node asks for; 0: none does
	guard     time.Duration
	things    []*thing
	groups    map[groupKey][]address // configured gear in each DALI group
	entries   entries

	cache map[point]cached // what was read last
	// doubtful until then: an answer to an earlier question, which was not there in
	// time, may be taken for one to the next.
	doubtful time.Time
}

type groupKey struct{ line, group int }

// cached is a word or bit as it was read. A write makes it unknown again.
type cached struct {
	word  uint16
	at    time.Time
	valid bool
}

// tune takes over what a node of the unit asks for: the slowest counts.
func (u *unit) tune(o nodeOptions) {
	if o.responseTimeout > 0 {
		u.asked = max(u.asked, o.responseTimeout)
		u.timeout = u.asked
	}
	u.guard = max(u.guard, o.guard)
}

func (u *unit) add(ref appliance.Ref, out *output, a address) *thing {
	t := &thing{ref: ref, unit: u, out: out, address: a}
	u.things = append(u.things, t)
	return t
}

// thing is one output of a unit as the core commands it.
type thing struct {
	ref      appliance.Ref
	unit     *unit
	out      *output
	address  address
	inverted bool // shades: the motor runs the other way

	curve                string
	level, kelvin        *value // the output's, changed by the node's options
	kelvinMin, kelvinMax appliance.Kelvin
	minLevel             appliance.Level
	fade                 time.Duration

	memory memory
}

// memory is what was last asked of a thing, to tell apart what registers alone
// do not say.
type memory struct {
	level     appliance.Level  // last one above 0; 0: none known
	off       bool             // the last level asked for was 0
	kelvin    appliance.Kelvin // 0: none known
	colour    appliance.RGBW
	hasColour bool
}

// configure applies the node's options.
func (t *thing) configure(p *placedNode) error {
	o, spec := p.options, t.out.spec
	t.level, t.kelvin = t.out.level, t.out.kelvin
	t.curve, t.minLevel, t.fade = o.curve, appliance.Level(spec.MinLevel), spec.Fade
	if o.minLevel >= 0 {
		t.minLevel = appliance.Level(o.minLevel)
	}
	if o.fade >= 0 {
		t.fade = o.fade
	}
	if o.curve != "" && (t.level == nil || t.level.spec.Map != "dali") {
		return fmt.Errorf("option curve: %v has no DALI dimming curve", p.profile)
	}
	if o.invertLevel {
		if t.level == nil {
			return fmt.Errorf("option invertLevel: %v has no level", p.profile)
		}
		t.level = t.level.inverted()
	}
	if !o.tunable {
		t.kelvin = nil
	}
	if t.kelvin != nil && t.kelvin.write == nil && !t.soleInGroup() {
		t.kelvin = nil
	}
	if o.invertKelvin && t.kelvin != nil {
		t.kelvin = t.kelvin.inverted()
	}
	if (o.kelvinMin != 0 || o.kelvinMax != 0 || o.invertKelvin) && t.out.kelvin == nil {
		return fmt.Errorf("options kelvinMin, kelvinMax, invertKelvin: %v has no colour temperature", p.profile)
	}
	t.kelvinMin, t.kelvinMax = appliance.Kelvin(spec.KelvinMin), appliance.Kelvin(spec.KelvinMax)
	if o.kelvinMin != 0 {
		t.kelvinMin = appliance.Kelvin(o.kelvinMin)
	}
	if o.kelvinMax != 0 {
		t.kelvinMax = appliance.Kelvin(o.kelvinMax)
	}
	if t.kelvin != nil && t.kelvinMin >= t.kelvinMax {
		return fmt.Errorf("options kelvinMin %d, kelvinMax %d: the first must be lower", t.kelvinMin, t.kelvinMax)
	}
	return nil
}

// inverted is v counting the other way.
func (v *value) inverted() *value {
	turned, spec := *v, *v.spec
	spec.Invert = !spec.Invert
	turned.spec = &spec
	return &turned
}

// soleInGroup reports whether one of the thing's DALI groups holds it alone: then
// the group's registers are as good as its own.
func (t *thing) soleInGroup() bool {
	_, ok := t.ownGroup()
	return ok
}

func (t *thing) ownGroup() (group int, ok bool) {
	for g := range 16 {
		members := t.unit.groups[groupKey{t.address.line, g}]
		if len(members) == 1 && members[0] == t.address {
			return g, true
		}
	}
	return 0, false
}

// channel is what the core is told about the thing.
func (t *thing) channel() appliance.Channel {
	c := appliance.Channel{
		Abilities: t.out.abilities(), MinLevel: t.minLevel, Fade: t.fade, Clips: t.out.spec.Clips,
	}
	if t.kelvin == nil {
		c.Abilities &^= appliance.CanTune
	} else {
		c.KelvinMin, c.KelvinMax = t.kelvinMin, t.kelvinMax
	}
	return c
}

// recall takes over what was known before a restart.
func (t *thing) recall(last appliance.Values) {
	if last.Has.Has(appliance.CanDim) || last.Has.Has(appliance.CanSwitch) {
		t.memory.level, t.memory.off = last.Level, last.Level == 0
	}
	if last.Has.Has(appliance.CanTune) {
		t.memory.kelvin = last.Kelvin
	}
	if last.Has.Has(appliance.CanColour) {
		t.memory.colour, t.memory.hasColour = last.RGBW, true
	}
}

// place of a cell of this thing.
func (t *thing) place(c *cell) point {
	return c.at(max(t.address.line-1, 0), t.address.gear, 0)
}

// word returns what is known of a point, or ok false.
func (u *unit) word(p point) (w uint16, at time.Time, ok bool) {
	c := u.cache[p]
	return c.word, c.at, c.valid
}

// number of a cell, and when it was read; one that is not finite is none.
func (t *thing) number(c *cell) (x float64, at time.Time, ok bool) {
	x, at, ok = t.anyNumber(c)
	return x, at, ok && finite(x)
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func (t *thing) anyNumber(c *cell) (x float64, at time.Time, ok bool) {
	if c == nil {
		return 0, time.Time{}, false
	}
	p := t.place(c)
	w := make([]uint16, c.spec.words())
	for i := range w {
		word, when, known := t.unit.word(point{p.table, p.addr + uint16(i)})
		if !known {
			return 0, time.Time{}, false
		}
		if i == 0 || when.Before(at) {
			at = when
		}
		w[i] = word
	}
	return c.spec.number(w), at, true
}

// cells that say something about an aspect of a thing.
func (t *thing) readCells(has appliance.Ability) []*cell {
	var list []*cell
	add := func(cells ...*cell) {
		for _, c := range cells {
			if c != nil {
				list = append(list, c)
			}
		}
	}
	if has&(appliance.CanDim|appliance.CanSwitch) != 0 {
		add(t.out.switches...)
		if t.level != nil {
			add(t.level.read)
		}
	}
	if has&(appliance.CanColour|appliance.CanDim) != 0 && t.out.hasColour() {
		for _, v := range t.out.colour {
			add(v.read)
		}
	}
	if has&appliance.CanTune != 0 && t.kelvin != nil {
		add(t.kelvin.read)
	}
	if has&appliance.CanMeasure != 0 && t.out.power != nil {
		add(t.out.power.read)
	}
	if has&appliance.CanMove != 0 {
		add(t.out.open, t.out.close)
	}
	return list
}

// aspect is one kind of value with the cells it is made of.
type aspect struct {
	has   appliance.Ability
	class appliance.Class
	cells []*cell
}

// aspects of the thing that can be read at all.
func (t *thing) aspects() []aspect {
	var list []aspect
	for _, a := range []aspect{
		{has: t.out.abilities() & (appliance.CanDim | appliance.CanSwitch), class: appliance.ClassLight},
		{has: t.out.abilities() & appliance.CanColour, class: appliance.ClassLight},
		{has: t.out.abilities() & appliance.CanTune, class: appliance.ClassLight},
		{has: t.out.abilities() & appliance.CanMeasure, class: appliance.ClassPower},
		{has: t.out.abilities() & appliance.CanMove, class: appliance.ClassShade},
	} {
		if a.has == 0 {
			continue
		}
		if a.cells = t.readCells(a.has); len(a.cells) > 0 {
			list = append(list, a)
		}
	}
	return list
}

// reading makes of the cache what is known of some aspects of the thing. Its time
// is that of the oldest part. ok is false if nothing is known.
func (t *thing) reading(of appliance.Ability) (r appliance.Reading, ok bool) {
	r.Ref = t.ref
	seen := func(at time.Time) {
		if r.At.IsZero() || at.Before(r.At) {
			r.At = at
		}
	}
	if of&(appliance.CanDim|appliance.CanSwitch|appliance.CanColour) != 0 {
		if t.out.hasColour() {
			t.readColour(&r, seen)
		} else {
			t.readLevel(&r, seen)
		}
	}
	if of&appliance.CanTune != 0 && t.kelvin != nil {
		t.readKelvin(&r, seen)
	}
	if of&appliance.CanMeasure != 0 && t.out.power != nil {
		t.readPower(&r, seen)
	}
	if of&appliance.CanMove != 0 && t.out.open != nil {
		t.readMotion(&r, seen)
	}
	r.Has &= of
	return r, r.Has != 0 || r.Absent
}

// on tells whether any of the output's switches is on; known is false if one of
// them is not known. An output without switches is always on.
func (t *thing) on() (on, known bool, at time.Time) {
	if len(t.out.switches) == 0 {
		return true, true, time.Time{}
	}
	for _, c := range t.out.switches {
		x, when, ok := t.number(c)
		if !ok {
			return false, false, time.Time{}
		}
		if at.IsZero() || when.Before(at) {
			at = when
		}
		on = on || x != 0
	}
	return on, true, at
}

func (t *thing) readLevel(r *appliance.Reading, seen func(time.Time)) {
	has := t.out.abilities() & (appliance.CanDim | appliance.CanSwitch)
	on, known, at := t.on()
	if has == 0 || !known {
		return
	}
	level := appliance.Level(0)
	switch {
	case !on:
	case t.level == nil:
		level = 100
	default:
		raw, when, ok := t.number(t.level.read)
		if r.Absent = ok && t.level.spec.absent(raw); r.Absent {
			seen(when)
		}
		if !ok || t.level.spec.unknown(raw) {
			return
		}
		level = t.levelOf(raw)
		seen(when)
	}
	if !at.IsZero() {
		seen(at)
	}
	r.Has |= has
	r.Level = level
}

func (v *valueSpec) unknown(raw float64) bool {
	return v.Unknown != nil && raw == float64(*v.Unknown) || v.absent(raw)
}

// absent reports whether a gateway tells that the gear does not answer.
func (v *valueSpec) absent(raw float64) bool { return v.Absent != nil && raw == float64(*v.Absent) }

// levelOf prefers the level that was asked for, as long as it explains raw.
func (t *thing) levelOf(raw float64) appliance.Level {
	if p := t.memory.level; p > 0 && t.level.spec.levelRaw(p, t.curve) == raw {
		return p
	}
	return t.level.spec.levelOf(raw, t.curve)
}

func (t *thing) readKelvin(r *appliance.Reading, seen func(time.Time)) {
	raw, at, ok := t.number(t.kelvin.read)
	if !ok || t.kelvin.spec.unknown(raw) {
		return
	}
	k := t.memory.kelvin
	if k == 0 || t.kelvin.spec.kelvinRaw(k, t.kelvinMin, t.kelvinMax) != raw {
		if k = t.kelvin.spec.kelvinOf(raw, t.kelvinMin, t.kelvinMax); k == 0 {
			return
		}
	}
	r.Has |= appliance.CanTune
	r.Kelvin = k
	seen(at)
}

func (t *thing) readPower(r *appliance.Reading, seen func(time.Time)) {
	raw, at, ok := t.number(t.out.power.read)
	if !ok {
		return
	}
	r.Has |= appliance.CanMeasure
	r.Power = t.out.power.spec.plainOf(raw)
	seen(at)
}

func (t *thing) readMotion(r *appliance.Reading, seen func(time.Time)) {
	up, upAt, upOK := t.number(t.out.open)
	down, downAt, downOK := t.number(t.out.close)
	if !upOK || !downOK {
		return
	}
	if t.inverted {
		up, down = down, up
	}
	r.Has |= appliance.CanMove
	switch {
	case up != 0 && down != 0:
		r.Motion = appliance.MotionUnknown
	case up != 0:
		r.Motion = appliance.Opening
	case down != 0:
		r.Motion = appliance.Closing
	default:
		r.Motion = appliance.Stopped
	}
	seen(upAt)
	seen(downAt)
}
