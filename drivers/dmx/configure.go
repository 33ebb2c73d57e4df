package dmx

import "svc.internal/controller/appliance"

var _ appliance.Configurer = (*Driver)(nil)

// Configure takes other fixtures while the port stays open. Lamps that stay keep what they
// were sent; the slots of others change with the next frame.
func (d *Driver) Configure(cfg appliance.BusConfig) (appliance.Opened, bool) {
	out, err := Open(cfg)
	if err != nil {
		return out, false
	}
	next := out.Driver.(*Driver)
	d.remember()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range next.order {
		if was := d.lamps[l.ref]; was != nil {
			l.state = was.state
		} else if v, ok := cfg.Last(l.ref); ok {
			l.state = l.state.with(v)
			d.active = d.active || l.state.known
		}
	}
	d.lamps, d.starts, d.order, d.fixed, d.length = next.lamps, next.starts, next.order, next.fixed, next.length
	out.Driver = d
	return out, true
}
