package store

import (
	"cmp"

	"svc.internal/controller/appliance"
)

// grave is an ID that another controller retired.
type grave struct {
	family Family
	noun   noun
}

// checkFamilies refuses a new shade with the ID of a node that lives or was retired,
// and the other way round: a node's ID sent to shadeControl has to fail, not move a
// shade.
func (p *plan) checkFamilies() {
	if p.opts.asItWas {
		return // what the other controller itself shared is shared on; the rest was looked at before
	}
	for f, other := range map[Family]Family{Nodes: Shades, Shades: Nodes} {
		r, o := p.byFamily[f], p.byFamily[other]
		for i, found := range r.found {
			if found.origin != created || found.ID <= 0 {
				continue
			}
			switch n, retired := o.ids.retired[found.ID]; {
			case retired:
				r.complain(i, "id", "%d was the ID of %s %q, which is retired; nodes and shades share no ID", found.ID, other, n.Name)
			case o.has(found.ID):
				r.complain(i, "id", "%d is the ID of a %s; nodes and shades share no ID", found.ID, other)
			}
		}
	}
}

// neverAgain is what of a site changes by IDs that another controller retired.
const neverAgain = "IDs that are never used again"

// takeRetired takes over the IDs that another controller retired, and the highest it
// used. What lives here under such an ID lives on.
func (p *plan) takeRetired() {
	h := p.in.Highest
	for f, high := range map[Family]appliance.ID{Nodes: h.Node, Shades: h.Shade, Clusters: h.Cluster, Scenes: h.Scene, Rules: h.Rule} {
		if high > p.marks[f] && high <= appliance.MaxID {
			p.marks[f] = high
		}
		p.report.ofSite(neverAgain, high > p.byFamily[f].ids.mark && high <= appliance.MaxID)
	}
	for _, r := range p.in.Retired {
		f, id := Nodes, r.Node
		switch {
		case r.Shade != 0:
			f, id = Shades, r.Shade
		case r.Cluster != 0:
			f, id = Clusters, r.Cluster
		case r.Scene != 0:
			f, id = Scenes, r.Scene
		case r.Rule != 0:
			f, id = Rules, r.Rule
		}
		if id < 1 || id > appliance.MaxID || r.UUID.IsZero() || p.byFamily[f].has(id) || p.knows(f, r.UUID) {
			continue
		}
		p.buried = append(p.buried, grave{f, noun{id, r.UUID, cmp.Or(r.Name, "retired")}})
		p.report.ofSite(neverAgain, true)
	}
}

// knows reports whether a UUID names something here, or did, or is in the import.
func (p *plan) knows(f Family, u appliance.UUID) bool {
	r := p.byFamily[f]
	for _, m := range []map[appliance.ID]noun{r.ids.live, r.ids.retired} {
		for _, n := range m {
			if n.UUID == u {
				return true
			}
		}
	}
	for _, found := range r.found {
		if found.UUID == u {
			return true
		}
	}
	return false
}

// removes reports whether something is retired by name.
func (p *plan) removes(f Family, id appliance.ID) bool { return p.remove[f][id] }

// reportRemoved names what is retired by name.
func (p *plan) reportRemoved() {
	for uuid := range p.scrap {
		p.report.Retired = append(p.report.Retired, Item{Family: Buses, UUID: uuid, Name: p.buses[uuid]})
	}
	for _, f := range families {
		for _, n := range sortedNouns(p.byFamily[f].ids.live) {
			if p.removes(f, n.ID) {
				p.report.Retired = append(p.report.Retired, Item{Family: f, ID: n.ID, UUID: n.UUID, Name: n.Name})
			}
		}
	}
}
