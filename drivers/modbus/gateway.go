package modbus

import (
	"cmp"
	"maps"
	"slices"

	"svc.internal/controller/appliance"
)

// gateway plans the lights behind a gateway. Where the wants cover all gear of a
// DALI line or a whole DALI group with one value, the register for that is
// written once.
//
// The gateway acknowledges such a write, the gear does not, and a lamp that lost
// its group says nothing: the chain counts as a group chain, whose members are
// acknowledged by reading them back. A value that cannot be read back is
// therefore never sent to a group.
func (d *Driver) gateway(u *unit, wishes []wish) []appliance.Chain {
	var grouped, single []wish
	var groupedOps, singleOps []op
	shared := d.groupOps(u, wishes)
	for _, w := range wishes {
		own := d.gearOps(w, shared[w.thing])
		if len(shared[w.thing]) > 0 {
			grouped = append(grouped, w)
			groupedOps = append(groupedOps, own...)
			continue
		}
		single = append(single, w)
		singleOps = append(singleOps, own...)
	}
	var chains []appliance.Chain
	if len(grouped) > 0 {
		var seen []point
		for _, ops := range shared {
			for _, o := range ops {
				if !slices.Contains(seen, o.at) {
					seen = append(seen, o.at)
					groupedOps = append(groupedOps, o)
				}
			}
		}
		chain := d.chain(u, grouped, d.steps(d.frames(u, groupedOps), nil))
		chain.Group = true
		chains = append(chains, chain)
	}
	if len(single) > 0 {
		chains = append(chains, d.chain(u, single, d.steps(d.frames(u, singleOps), nil)))
	}
	return chains
}

// gearOps are the writes of a wish that no group register covers.
func (d *Driver) gearOps(w wish, shared []op) []op {
	rest := w
	for _, o := range shared {
		if o.phase == phaseSwitch {
			rest.Has &^= appliance.CanDim | appliance.CanSwitch
		} else {
			rest.Has &^= appliance.CanTune
		}
	}
	return d.lightOps(rest)
}

// crowd is gear of one line that is to take the same value.
type crowd struct {
	line   int
	raw    float64
	things []*thing
}

// groupOps finds group and broadcast registers that cover wishes exactly, and
// returns for each thing those that cover it. Ops of levels carry phaseSwitch,
// those of colour temperature phaseValue: colour first, so that lamps come on in
// the right one.
func (d *Driver) groupOps(u *unit, wishes []wish) map[*thing][]op {
	shared := make(map[*thing][]op)
	levels, kelvins := make(map[crowdKey]*crowd), make(map[crowdKey]*crowd)
	for _, w := range wishes {
		t := w.thing
		if w.wantsLevel() && t.level != nil && t.level.read != nil {
			p := w.level()
			enter(levels, t, t.level.spec.levelRaw(p, t.curve))
		}
		if w.Has.Has(appliance.CanTune) && t.kelvin != nil && t.kelvin.read != nil {
			k := min(max(w.Kelvin, t.kelvinMin), t.kelvinMax)
			enter(kelvins, t, t.kelvin.spec.kelvinRaw(k, t.kelvinMin, t.kelvinMax))
		}
	}
	wanted := make(map[*thing]wish)
	for _, w := range wishes {
		wanted[w.thing] = w
	}
	for _, c := range levels {
		d.cover(u, c, phaseSwitch, func(t *thing) *value { return t.level }, wanted, shared)
	}
	for _, c := range kelvins {
		d.cover(u, c, phaseValue, func(t *thing) *value { return t.kelvin }, wanted, shared)
	}
	return shared
}

type crowdKey struct {
	line int
	raw  float64
}

func enter(crowds map[crowdKey]*crowd, t *thing, raw float64) {
	key := crowdKey{t.address.line, raw}
	if crowds[key] == nil {
		crowds[key] = &crowd{line: t.address.line, raw: raw}
	}
	crowds[key].things = append(crowds[key].things, t)
}

// cover takes the broadcast register if the crowd is all gear of its line, else
// the largest groups that lie inside it.
func (d *Driver) cover(u *unit, c *crowd, phase int, of func(*thing) *value, wanted map[*thing]wish, shared map[*thing][]op) {
	v := of(c.things[0])
	line := max(c.line-1, 0)
	onLine := 0
	for _, t := range u.things {
		if t.address.line == c.line {
			onLine++
		}
	}
	if v.broadcast != nil && d.options.broadcast && len(c.things) == onLine && onLine > 1 {
		c.write(v.broadcast.at(line, 0, 0), v.broadcast.spec, phase, c.things, wanted, shared)
		return
	}
	if v.group == nil {
		return
	}
	byAddress := make(map[address]*thing)
	for _, t := range c.things {
		byAddress[t.address] = t
	}
	keys := slices.SortedFunc(maps.Keys(u.groups), func(a, b groupKey) int {
		return cmp.Or(cmp.Compare(len(u.groups[b]), len(u.groups[a])), cmp.Compare(a.group, b.group))
	})
	for _, key := range keys {
		members := u.groups[key]
		if key.line != c.line || len(members) < 2 {
			continue
		}
		inside := make([]*thing, 0, len(members))
		for _, a := range members {
			if t := byAddress[a]; t != nil {
				inside = append(inside, t)
			}
		}
		if len(inside) < len(members) {
			continue
		}
		c.write(v.group.at(line, 0, key.group), v.group.spec, phase, inside, wanted, shared)
		for _, t := range inside {
			delete(byAddress, t.address)
		}
	}
}

// write adds one op for a register shared by some things.
func (c *crowd) write(at point, spec *cellSpec, phase int, things []*thing, wanted map[*thing]wish, shared map[*thing][]op) {
	o := op{things: things, at: at, n: spec.words(), phase: phase, words: spec.pack(c.raw), done: func() {
		for _, t := range things {
			w := wanted[t]
			if phase == phaseValue {
				t.memory.kelvin = min(max(w.Kelvin, t.kelvinMin), t.kelvinMax)
				continue
			}
			p := w.level()
			if t.memory.off = p == 0; p > 0 {
				t.memory.level = p
			}
		}
	}}
	for _, t := range things {
		shared[t] = append(shared[t], o)
	}
}
