package modbus

import (
	"reflect"
	"slices"

	"svc.internal/controller/appliance"
)

var _ appliance.Configurer = (*Driver)(nil)

// Configure takes other nodes and shades while the port stays open. A device whose
// entries did not change keeps what was read of it; what is left of another keeps what it
// was last asked. False: profiles want other settings of the line, or it is wrong.
func (d *Driver) Configure(cfg appliance.BusConfig) (appliance.Opened, bool) {
	out, err := Open(cfg)
	if err != nil {
		return out, false
	}
	next := out.Driver.(*Driver)
	if next.settings != d.settings {
		return out, false
	}
	for number, u := range next.units {
		if was := d.units[number]; was != nil && was.same(u) {
			next.units[number] = was
			next.order[slices.Index(next.order, u)] = was
			for _, t := range was.things {
				next.things[t.ref] = t
			}
			continue
		} else if was != nil {
			u.doubtful = was.doubtful
		}
		for _, t := range u.things {
			if was := d.things[t.ref]; was != nil && was.address == t.address {
				t.memory = was.memory
			}
		}
	}
	d.name, d.options, d.library = next.name, next.options, next.library
	d.units, d.order, d.things = next.units, next.order, next.things
	out.Driver = d
	return out, true
}

// entries of the site that make a unit, as far as it depends on them.
type entries struct {
	nodes   []appliance.Node
	shades  []appliance.Shade
	profile *Profile
}

// same reports whether two units are made of the same, and came to the same.
func (u *unit) same(v *unit) bool {
	return reflect.DeepEqual(u.entries, v.entries) && reflect.DeepEqual(u.groups, v.groups) &&
		slices.EqualFunc(u.things, v.things, func(a, b *thing) bool {
			return a.ref == b.ref && a.address == b.address && a.out.number == b.out.number
		})
}

// note keeps what a unit is made of, to tell later whether that has changed.
func (o *opening) note() {
	at := make(map[appliance.ID]*unit)
	for _, p := range o.placed {
		n := p.node
		n.Name, n.Tag, n.Note = "", "", ""
		at[n.ID] = p.unit
		p.unit.entries.nodes, p.unit.entries.profile = append(p.unit.entries.nodes, n), p.profile
	}
	for _, s := range o.cfg.Shades {
		if u := at[s.Node]; u != nil {
			s.Name, s.TravelUp, s.TravelDown = "", 0, 0
			u.entries.shades = append(u.entries.shades, s)
		}
	}
}
