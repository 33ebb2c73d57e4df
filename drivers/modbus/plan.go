package modbus

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"svc.internal/controller/appliance"
)

// Phases of the writes of one command.
const (
	phasePrepare = iota // settings that must be right before
	phaseClear          // shades: the other direction off
	phaseValue          // level, colour, colour temperature
	phaseSwitch         // on or off
)

// wish is a want and the thing it is for.
type wish struct {
	appliance.Want
	thing *thing
}

// Plan turns wants into chains: one broadcast if it covers the whole bus, group
// registers where a gateway has them, else one chain per device.
func (d *Driver) Plan(want []appliance.Want) []appliance.Chain {
	sorted, lost := d.sort(want)
	chains := d.lost(lost)
	if chain, ok := d.broadcast(sorted); ok {
		chains = append(chains, chain)
	} else {
		for _, s := range sorted {
			if len(s.lights) > 0 {
				chains = append(chains, d.lights(s.unit, s.lights)...)
			}
		}
	}
	for _, s := range sorted {
		if len(s.shades) > 0 {
			chains = append(chains, d.chain(s.unit, s.shades, d.shadeSteps(s.unit, s.shades)))
		}
	}
	return chains
}

// Repair plans every want by itself, without groups and broadcasts.
func (d *Driver) Repair(want []appliance.Want) []appliance.Chain {
	var chains []appliance.Chain
	for _, w := range want {
		chains = append(chains, d.single(w)...)
	}
	return chains
}

// single plans one want by itself.
func (d *Driver) single(want appliance.Want) []appliance.Chain {
	t := d.things[want.Ref]
	if t == nil {
		return d.lost([]appliance.Want{want})
	}
	u, wishes := t.unit, []wish{{want, t}}
	if want.Shade != 0 {
		return []appliance.Chain{d.chain(u, wishes, d.shadeSteps(u, wishes))}
	}
	return []appliance.Chain{d.chain(u, wishes, d.lightSteps(u, wishes))}
}

// unitWishes are what is wanted of one unit.
type unitWishes struct {
	unit           *unit
	lights, shades []wish
}

// sort puts wants to their units, ascending; lost are those of things that are not
// here.
func (d *Driver) sort(want []appliance.Want) (sorted []unitWishes, lost []appliance.Want) {
	for _, w := range want {
		t := d.things[w.Ref]
		if t == nil {
			lost = append(lost, w)
			continue
		}
		i, found := slices.BinarySearchFunc(sorted, t.unit, func(s unitWishes, u *unit) int { return cmp.Compare(s.unit.number, u.number) })
		if !found {
			sorted = slices.Insert(sorted, i, unitWishes{unit: t.unit})
		}
		if s := &sorted[i]; w.Shade != 0 {
			s.shades = append(s.shades, wish{w, t})
		} else {
			s.lights = append(s.lights, wish{w, t})
		}
	}
	return sorted, lost
}

// lost makes chains that fail, saying why.
func (d *Driver) lost(want []appliance.Want) []appliance.Chain {
	var chains []appliance.Chain
	for _, w := range want {
		err := fmt.Errorf("bus %s: node %d channel %d, shade %d: %w on this bus", d.name, w.Node, w.Channel, w.Shade, appliance.ErrNotFound)
		chains = append(chains, appliance.Chain{
			Wants: []appliance.Want{w},
			Steps: []appliance.Exchange{{Do: func(context.Context, appliance.Yield) (appliance.Result, error) {
				return appliance.Result{}, fmt.Errorf("%w: %w", appliance.ErrRefused, err)
			}}},
		})
	}
	return chains
}

// lights plans the lights of one unit.
func (d *Driver) lights(u *unit, wishes []wish) []appliance.Chain {
	if u.profile.gateway() {
		return d.gateway(u, wishes)
	}
	return []appliance.Chain{d.chain(u, wishes, d.lightSteps(u, wishes))}
}

// lightSteps write to lights of one unit.
func (d *Driver) lightSteps(u *unit, wishes []wish) []appliance.Exchange {
	var ops []op
	for _, w := range wishes {
		ops = append(ops, d.lightOps(w)...)
	}
	return d.steps(d.frames(u, ops), d.prerequisites(u, wishes))
}

// chain completes steps with the reads that prove them.
func (d *Driver) chain(u *unit, wishes []wish, steps []appliance.Exchange) appliance.Chain {
	return appliance.Chain{Wants: wants(wishes), Steps: steps, Verify: d.verify(u, wishes)}
}

func wants(wishes []wish) []appliance.Want {
	list := make([]appliance.Want, len(wishes))
	for i, w := range wishes {
		list[i] = w.Want
	}
	return list
}

func (d *Driver) steps(frames []frame, before []appliance.Exchange) []appliance.Exchange {
	steps := before
	for _, f := range frames {
		steps = append(steps, d.writeExchange(f))
	}
	return steps
}

// verify reads back everything that was wanted, in as few frames as possible.
// Holes are bridged only where that has worked before: what a device refuses would
// be tried again with each command.
func (d *Driver) verify(u *unit, wishes []wish) []appliance.Exchange {
	var needs []need
	for _, w := range wishes {
		for _, a := range w.thing.aspects() {
			if w.Has&a.has != 0 || a.has&(appliance.CanDim|appliance.CanSwitch) != 0 && w.Has&(appliance.CanDim|appliance.CanSwitch) != 0 {
				needs = append(needs, w.thing.needs(a)...)
			}
		}
	}
	return d.readExchanges(u, needs)
}

// prerequisites are reads of what a step needs to know and nobody has read yet:
// the colour registers, when only one of colour and level is wanted.
func (d *Driver) prerequisites(u *unit, wishes []wish) []appliance.Exchange {
	var needs []need
	for _, w := range wishes {
		if !w.thing.out.hasColour() || !w.scales() {
			continue
		}
		if _, _, known := w.thing.knownRaws(); known {
			continue
		}
		for _, v := range w.thing.out.colour {
			needs = append(needs, need{at: w.thing.place(v.read), n: v.read.spec.words(), thing: w.thing})
		}
	}
	return d.readExchanges(u, needs)
}

func (d *Driver) readExchanges(u *unit, needs []need) []appliance.Exchange {
	if len(needs) == 0 {
		return nil
	}
	var list []appliance.Exchange
	for _, r := range d.coalesce(u, needs, u.proven) {
		list = append(list, d.readExchange(r))
	}
	return list
}

// wantsLevel reports whether a level is wanted.
func (w wish) wantsLevel() bool {
	return w.Has&(appliance.CanDim|appliance.CanSwitch) != 0
}

// scales reports whether what is to be written to colour registers depends on
// what they hold.
func (w wish) scales() bool {
	colour := w.Has.Has(appliance.CanColour)
	if colour == w.wantsLevel() && w.Level > 0 {
		return false
	}
	if w.wantsLevel() && w.Level == 0 && !colour {
		return len(w.thing.out.switches) == 0 // the colour goes out with the light: keep it
	}
	return true
}

// level that is written for a wish: raised to the channel's minimum.
func (w wish) level() appliance.Level {
	p := min(max(w.Level, 0), 100)
	if p > 0 {
		p = max(p, w.thing.minLevel)
	}
	return p
}

// lightOps are the writes for one wish.
func (d *Driver) lightOps(w wish) []op {
	var ops []op
	t := w.thing
	if t.out.hasColour() {
		if w.wantsLevel() || w.Has.Has(appliance.CanColour) {
			ops = t.colourOps(w)
		}
	} else if w.wantsLevel() && (t.level != nil || len(t.out.switches) > 0) {
		ops = t.levelOps(w.level())
	}
	if w.Has.Has(appliance.CanTune) && t.kelvin != nil {
		ops = append(ops, t.kelvinOp(w.Kelvin))
	}
	return ops
}

// levelOps switch off without touching the level, so that it is still there when
// somebody switches on at the wall; or set the level, and then switch on.
func (t *thing) levelOps(p appliance.Level) []op {
	remember := func() {
		if t.memory.off = p == 0; p > 0 {
			t.memory.level = p
		}
	}
	if t.level == nil || p == 0 && len(t.out.switches) > 0 {
		return t.switchOps(p > 0, remember)
	}
	ops := []op{t.numberOp(t.place(t.level.write), t.level.write.spec, t.level.spec.levelRaw(p, t.curve), remember)}
	if len(t.out.switches) > 0 && !t.level.spec.SwitchesOn {
		ops = append(ops, t.switchOps(true, nil)...)
	}
	return ops
}

func (t *thing) switchOps(on bool, done func()) []op {
	var ops []op
	for _, c := range t.out.switches {
		word := uint16(0)
		if on {
			word = 1
		}
		ops = append(ops, op{things: []*thing{t}, at: t.place(c), n: 1, phase: phaseSwitch, words: []uint16{word}, done: done})
	}
	return ops
}

func (t *thing) numberOp(at point, spec *cellSpec, raw float64, done func()) op {
	return op{things: []*thing{t}, at: at, n: spec.words(), phase: phaseValue, words: spec.pack(raw), done: done}
}

func (t *thing) kelvinOp(k appliance.Kelvin) op {
	k = min(max(k, t.kelvinMin), t.kelvinMax)
	remember := func() { t.memory.kelvin = k }
	spec := t.kelvin.spec
	raw := spec.kelvinRaw(k, t.kelvinMin, t.kelvinMax)
	if t.kelvin.write == nil { // it is alone in a group
		g, _ := t.ownGroup()
		return t.numberOp(t.kelvin.group.at(max(t.address.line-1, 0), t.address.gear, g), t.kelvin.group.spec, raw, remember)
	}
	return t.numberOp(t.place(t.kelvin.write), t.kelvin.write.spec, raw, remember)
}

// colourOps write colour times level, and switch. Switching off leaves the colour
// registers alone where there is a switch.
func (t *thing) colourOps(w wish) []op {
	hasColour, hasLevel := w.Has.Has(appliance.CanColour), w.wantsLevel()
	switched := len(t.out.switches) > 0
	p := w.level()
	if hasLevel && p == 0 && switched && !hasColour {
		return t.switchOps(false, func() { t.memory.off = true })
	}
	// Worked out once: the first of several frames makes the registers unknown.
	target := sync.OnceValues(func() (appliance.RGBW, appliance.Level) {
		colour, level := t.present()
		if hasColour {
			colour = w.RGBW
		}
		if hasLevel && (p > 0 || !switched) {
			level = p
		}
		return colour, level
	})
	remember := func() {
		colour, level := target()
		t.memory.colour, t.memory.hasColour = colour, true
		if level > 0 {
			t.memory.level = level
		}
		if hasLevel {
			t.memory.off = p == 0
		}
	}
	var ops []op
	for i, v := range t.out.colour {
		o := op{things: []*thing{t}, at: t.place(v.write), n: v.write.spec.words(), phase: phaseValue, done: remember}
		raw := func() []uint16 {
			colour, level := target()
			return v.write.spec.pack(t.colourRaws(colour, level)[i])
		}
		if w.scales() {
			o.late = raw
		} else {
			o.words = raw()
		}
		ops = append(ops, o)
	}
	if hasLevel && switched {
		ops = append(ops, t.switchOps(p > 0, nil)...)
	}
	return ops
}

// broadcast plans one frame for the whole bus, if every unit on it is to get the
// very same frames and its devices carry out broadcasts.
func (d *Driver) broadcast(sorted []unitWishes) (appliance.Chain, bool) {
	if d.codec.tcp || !d.options.broadcast || len(d.order) < 2 || len(sorted) != len(d.order) {
		return appliance.Chain{}, false
	}
	var all [][]frame
	var wishes []wish
	var verify []appliance.Exchange
	for _, s := range sorted {
		u, lights := s.unit, s.lights
		if len(lights) == 0 || !u.profile.Broadcast || u.profile != d.order[0].profile || u.profile.gateway() {
			return appliance.Chain{}, false
		}
		var ops []op
		for _, w := range lights {
			ops = append(ops, d.lightOps(w)...)
		}
		all = append(all, d.frames(u, ops))
		wishes = append(wishes, lights...)
		if !sameFrames(all[0], all[len(all)-1]) {
			return appliance.Chain{}, false
		}
		verify = append(verify, d.verify(u, lights)...)
	}
	chain := appliance.Chain{Wants: wants(wishes), Verify: verify, Group: true}
	for i := range all[0] {
		var same []frame
		for _, frames := range all {
			same = append(same, frames[i])
		}
		chain.Steps = append(chain.Steps, d.broadcastExchange(same))
	}
	return chain, len(chain.Steps) > 0 && len(verify) > 0
}

func sameFrames(a, b []frame) bool {
	return slices.EqualFunc(a, b, func(x, y frame) bool {
		return x.at() == y.at() && x.fixed() && y.fixed() && slices.Equal(x.values(), y.values())
	})
}
