package control

import (
	"slices"

	"svc.internal/controller/appliance"
)

// Rehearse tells what would become of a site: which of its entries would be set aside, and
// why. It opens no port, knows nothing of the devices, and leaves what is in force alone.
// Buses that are disabled are asked too: one day they are not.
func (c *Controller) Rehearse(site appliance.Site) *appliance.Snapshot {
	site.Buses = slices.Clone(site.Buses)
	for i := range site.Buses {
		site.Buses[i].Disabled = false
	}
	stage := New(Options{Drivers: c.opts.Drivers, DataDir: c.opts.DataDir})
	stage.Apply(site, nil)
	return stage.Snapshot()
}
