package dali

import (
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

var _ appliance.Configurer = (*Driver)(nil)

// Configure takes other nodes while the port stays open. What is known of gear that stays
// is kept.
func (d *Driver) Configure(cfg appliance.BusConfig) (appliance.Opened, bool) {
	out, err := Open(cfg)
	if err != nil {
		return out, false
	}
	next := out.Driver.(*Driver)
	for i, g := range next.gears {
		k := slices.IndexFunc(d.gears, func(old *gear) bool { return old.short == g.short })
		if k < 0 {
			continue
		}
		was := d.gears[k]
		if was.entry() != g.entry() {
			g.inGroups, g.asked, g.settled, g.silent, g.failure, g.found, g.last = was.inGroups, was.asked, was.settled, was.silent, was.failure, was.found, was.last
			continue
		}
		was.title, was.groups = g.title, g.groups
		next.gears[i], next.byRef[was.ref] = was, was
	}
	d.mu.Lock()
	d.gears = next.gears
	d.mu.Unlock()
	d.name, d.options, d.byRef, d.spoilt = next.name, next.options, next.byRef, next.spoilt
	out.Driver = d
	return out, true
}

// entry is what the site says of a gear.
type entry struct {
	ref      appliance.Ref
	profile  profile
	kind     string
	curve    *curve
	fade     time.Duration
	minLevel appliance.Level
}

func (g *gear) entry() entry {
	return entry{g.ref, g.profile, g.kind, g.curve, g.fade, g.minLevel}
}

// known is the gear of the site, for whoever is not the bus's goroutine.
func (d *Driver) known() []*gear {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.gears
}
