package adminapi

import (
	"fmt"
	"net/http"
	"strings"

	"svc.internal/controller/appliance"
)

// harmsNamed is how many of the entries that a change would set aside are named.
const harmsNamed = 4

// unharmed refuses a change of nodes, as an import would be, if it sets aside what works
// now. What is set aside already may stay so.
func (a *API) unharmed(have, then appliance.Site) error {
	after := a.Core.Rehearse(then)
	if len(after.Faults) == 0 {
		return nil
	}
	before := a.Core.Rehearse(have)
	var harms []string
	for _, n := range after.Nodes {
		if old := before.Node(n.Node.ID); n.Fault != "" && (old == nil || old.Fault == "") {
			harms = append(harms, fmt.Sprintf("node %d (%s) would be set aside: %s", n.Node.ID, n.Node.Name, reasonOf(after, n.Node.Bus, n.Fault)))
		}
	}
	if len(harms) == 0 { // else the shades follow from the nodes
		for _, sh := range after.Shades {
			if old := before.Shade(sh.Shade.ID); sh.Fault != "" && (old == nil || old.Fault == "") {
				harms = append(harms, fmt.Sprintf("shade %d (%s) would be set aside: %s", sh.Shade.ID, sh.Shade.Name, sh.Fault))
			}
		}
	}
	if len(harms) == 0 {
		return nil
	}
	if more := len(harms) - harmsNamed; more > 0 {
		harms = append(harms[:harmsNamed], fmt.Sprintf("and %d more", more))
	}
	return refuse(http.StatusUnprocessableEntity, "nothing was changed: "+strings.Join(harms, "; "))
}

// reasonOf is the fault of a node, or if all of its bus is set aside, that of the bus.
func reasonOf(s *appliance.Snapshot, bus appliance.UUID, fault string) string {
	for _, b := range s.Site.Buses {
		for _, f := range s.Faults {
			if b.UUID == bus && f.Where == "bus "+b.Name {
				return fmt.Sprintf("bus %s: %s", b.Name, strings.TrimPrefix(f.What, "bus "+b.Name+": "))
			}
		}
	}
	return fault
}
