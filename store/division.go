package store

import (
	"fmt"
	"reflect"
	"slices"

	"svc.internal/controller/appliance"
)

// maxHolidays of a site, each a day or some in a row.
const maxHolidays = 200

// buildDivision takes the division of an import that names the site, like its
// settings. What is retired is left out of a division that stays.
func (p *plan) buildDivision() {
	if p.in.Name == "" {
		p.final.Division = p.living(p.have.Division)
	} else {
		p.final.Division = p.referred(p.in.Division)
	}
	if n := len(p.final.Division.Holidays); n > maxHolidays {
		p.problem("site", "holidays", "%d entries, at most %d are possible", n, maxHolidays)
	}
	for i, h := range p.final.Division.Holidays {
		if bad := badName(h.Name); h.Name != "" && bad != "" {
			p.problem(fmt.Sprintf("site.holidays[%d]", i), "name", "%s", bad)
		}
	}
	p.report.ofSite("place, time zone, holidays, floors or meters", !reflect.DeepEqual(p.final.Division, p.have.Division))
}

// referred turns references of the import into IDs.
func (p *plan) referred(d appliance.Division) appliance.Division {
	clusters := func(entry string, refs []appliance.ID) []appliance.ID {
		var ids []appliance.ID
		for _, ref := range refs {
			id, ok := p.refer(Clusters, ref)
			if !ok {
				p.problem(entry, "clusters", "there is no cluster %d", ref)
			}
			ids = append(ids, id)
		}
		slices.Sort(ids)
		return slices.Compact(ids)
	}
	d.Floors, d.Meters = slices.Clone(nilIfEmpty(d.Floors)), slices.Clone(nilIfEmpty(d.Meters))
	for i := range d.Floors {
		f := &d.Floors[i]
		entry := fmt.Sprintf("site.floors[%d] (%s)", i, f.Name)
		p.checkFloor(entry, d.Floors[:i], *f)
		f.Clusters = clusters(entry, f.Clusters)
		f.Plan = spotted(f.Plan, func(s *appliance.Spot) bool {
			ok := p.referSpot(s)
			if !ok {
				p.problem(entry, "plan", "there is no %s", spotWords(*s))
			}
			return ok
		})
	}
	p.standOnce(d.Floors)
	for i := range d.Meters {
		m := &d.Meters[i]
		entry := fmt.Sprintf("site.meters[%d] (%s)", i, m.Covers)
		node, ok := p.refer(Nodes, m.Node)
		if !ok {
			p.problem(entry, "node", "there is no node %d", m.Node)
		}
		m.Node, m.Clusters = node, clusters(entry, m.Clusters)
	}
	return d
}

// Bounds of a division.
const floorsMost, spotsMost = 200, 5000

// checkFloor refuses a floor that no site file could bring, given those below it.
func (p *plan) checkFloor(entry string, below []appliance.Floor, f appliance.Floor) {
	switch bad := badName(f.Name); {
	case bad != "":
		p.problem(entry, "name", "%s", bad)
	case slices.ContainsFunc(below, func(o appliance.Floor) bool { return o.Name == f.Name }):
		p.problem(entry, "name", "another floor has this name")
	case len(below) >= floorsMost:
		p.problem(entry, "", "a building has at most %d floors here", floorsMost)
	}
	if !(f.AreaM2 >= 0 && f.AreaM2 <= 1e7) {
		p.problem(entry, "areaM2", "want square metres, 0 to 10000000")
	}
	if f.Plan != nil && len(f.Plan.Spots) > spotsMost {
		p.problem(entry, "plan", "has more than %d things on it", spotsMost)
	}
}

// spotted is a plan with the spots that keep says may stay, as it turned them; nil if p is.
func spotted(p *appliance.Plan, keep func(*appliance.Spot) bool) *appliance.Plan {
	if p == nil {
		return nil
	}
	out := *p
	out.Spots = nil
	for _, s := range p.Spots {
		if keep(&s) {
			out.Spots = append(out.Spots, s)
		}
	}
	appliance.SortSpots(out.Spots)
	return &out
}

// referSpot turns the reference of a spot into an ID of the site afterwards.
func (p *plan) referSpot(s *appliance.Spot) (ok bool) {
	switch {
	case s.Node != 0:
		s.Node, ok = p.refer(Nodes, s.Node)
	case s.Shade != 0:
		s.Shade, ok = p.refer(Shades, s.Shade)
	default:
		s.Cluster, ok = p.refer(Clusters, s.Cluster)
	}
	return ok
}

func spotWords(s appliance.Spot) string {
	switch {
	case s.Node != 0:
		return fmt.Sprintf("node %d", s.Node)
	case s.Shade != 0:
		return fmt.Sprintf("shade %d", s.Shade)
	}
	return fmt.Sprintf("cluster %d", s.Cluster)
}

// standOnce refuses things that stand on two plans, or twice on one.
func (p *plan) standOnce(floors []appliance.Floor) {
	on := map[appliance.Spot]string{}
	for i, f := range floors {
		if f.Plan == nil {
			continue
		}
		for _, s := range f.Plan.Spots {
			if first, twice := on[s.Of()]; twice {
				p.problem(fmt.Sprintf("site.floors[%d] (%s)", i, f.Name), "plan", "%s stands on the plan of %s already", spotWords(s), first)
			}
			on[s.Of()] = f.Name
		}
	}
}

// keepPlans leaves the plan of a floor where it is if an import says nothing of it: files of before there were plans go on
// working. Replacing all does not. A thing that the import puts on another plan is taken from there.
func (p *plan) keepPlans() {
	if p.in.Name == "" {
		return
	}
	stands := map[appliance.Spot]bool{}
	for _, f := range p.in.Division.Floors {
		if f.Plan != nil {
			for _, s := range f.Plan.Spots {
				if p.referSpot(&s) {
					stands[s.Of()] = true
				}
			}
		}
	}
	p.in.Division.Floors = slices.Clone(p.in.Division.Floors)
	for i := range p.in.Division.Floors {
		f := &p.in.Division.Floors[i]
		was := slices.IndexFunc(p.have.Division.Floors, func(h appliance.Floor) bool { return h.Name == f.Name })
		if f.Plan == nil && was >= 0 {
			f.Plan = spotted(p.have.Division.Floors[was].Plan, func(s *appliance.Spot) bool { return p.referSpot(s) && !stands[s.Of()] })
		}
	}
}

// living leaves out what is not there any more. A meter of clusters that are all gone
// measures nothing that is known, rather than the whole building.
func (p *plan) living(d appliance.Division) appliance.Division {
	gone := func(f Family) func(appliance.ID) bool {
		return func(id appliance.ID) bool { _, ok := p.refer(f, id); return !ok }
	}
	d.Floors, d.Meters = slices.Clone(d.Floors), slices.Clone(d.Meters)
	for i := range d.Floors {
		d.Floors[i].Clusters = slices.DeleteFunc(slices.Clone(d.Floors[i].Clusters), gone(Clusters))
		d.Floors[i].Plan = spotted(d.Floors[i].Plan, p.referSpot)
	}
	d.Meters = slices.DeleteFunc(d.Meters, func(m appliance.Meter) bool {
		return gone(Nodes)(m.Node) || len(m.Clusters) > 0 && !slices.ContainsFunc(m.Clusters, func(id appliance.ID) bool { return !gone(Clusters)(id) })
	})
	for i := range d.Meters {
		d.Meters[i].Clusters = slices.DeleteFunc(slices.Clone(d.Meters[i].Clusters), gone(Clusters))
	}
	return d
}
