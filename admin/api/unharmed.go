package api

import (
	"fmt"
	"net/http"
	"strings"

	"svc.internal/controller/appliance"
)

// harmsNamed is how many of the entries that a change would set aside are named.
const harmsNamed = 4

// unharmed refuses a change of buses, nodes or shades, as an import would be, if it sets
// aside what works now. What is set aside already may stay so.
func (a *API) unharmed(have, then appliance.Site) error {
	after := a.Core.Rehearse(then)
	if len(after.Faults) == 0 {
		return nil
	}
	before := a.Core.Rehearse(have)
	var harms []string
	told := map[appliance.UUID]bool{} // buses that the change breaks: what is on them follows
	for _, b := range after.Site.Buses {
		if fault := busFault(after, b.UUID); fault != "" && busFault(before, b.UUID) == "" {
			told[b.UUID] = true
			harms = append(harms, fmt.Sprintf("bus %s would be set aside: %s", b.Name, fault))
		}
	}
	for _, n := range after.Nodes {
		if old := before.Node(n.Node.ID); n.Fault != "" && !told[n.Node.Bus] && (old == nil || old.Fault == "") {
			why := n.Fault
			if fault := busFault(after, n.Node.Bus); fault != "" {
				why = "its bus is set aside: " + fault
			}
			harms = append(harms, fmt.Sprintf("node %d (%s) would be set aside: %s", n.Node.ID, n.Node.Name, why))
		}
	}
	if len(harms) == 0 { // else the shades follow
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

// busFault is why all of a bus is set aside; empty: it is not.
func busFault(s *appliance.Snapshot, bus appliance.UUID) string {
	for _, b := range s.Site.Buses {
		for _, f := range s.Faults {
			if b.UUID == bus && f.Where == "bus "+b.Name {
				return strings.TrimPrefix(f.What, "bus "+b.Name+": ")
			}
		}
	}
	return ""
}
