package modbus

import (
	"fmt"

	"svc.internal/controller/appliance"
)

var _ appliance.Troubled = (*Driver)(nil)

// Troubles gives the units that hold more than 100 where their profiles say that a
// percentage is: it is shown as 100, and means something else.
func (d *Driver) Troubles() map[string]string {
	list := make(map[string]string)
	for _, u := range d.order {
		for _, t := range u.things {
			v := t.level
			if v == nil || v.spec.Map != "percent" || list[u.key] != "" {
				continue
			}
			if x, _, ok := t.anyNumber(v.read); ok && x > 100 {
				p := t.place(v.read)
				list[u.key] = fmt.Sprintf("%s %d holds %.0f, and a percentage is 100 at most: wrong profile?", p.table, p.addr, x)
			}
		}
	}
	return list
}
