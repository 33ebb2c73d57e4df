package sdn

import (
	"time"

	"svc.internal/controller/appliance"
)

var _ appliance.Configurer = (*Driver)(nil)

// Configure takes other nodes and shades while the port stays open. What is known of a
// motor that stays is kept.
func (d *Driver) Configure(cfg appliance.BusConfig) (appliance.Opened, bool) {
	out, err := Open(cfg)
	if err != nil {
		return out, false
	}
	next := out.Driver.(*Driver)
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, m := range next.site.all {
		m.driver = d
		was := d.site.motors[m.address]
		if was == nil {
			m.missed = time.Now() // somebody may have left with a question open
			continue
		}
		was.node, was.shade, was.kind, was.inverted, was.groups = m.node, m.shade, m.kind, m.inverted, m.groups
		next.site.all[i], next.site.motors[m.address] = was, was
		if m.shade != 0 {
			next.site.shades[m.shade] = was
		}
	}
	d.site = next.site
	out.Driver = d
	return out, true
}

// motor finds a motor of the site; nil: there is none at that address. Safe from any
// goroutine.
func (d *Driver) motor(a Address) *motor {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.site.motors[a]
}
