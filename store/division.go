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
		f.Clusters = clusters(fmt.Sprintf("site.floors[%d] (%s)", i, f.Name), f.Clusters)
	}
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

// living leaves out what is not there any more. A meter of clusters that are all gone
// measures nothing that is known, rather than the whole building.
func (p *plan) living(d appliance.Division) appliance.Division {
	gone := func(f Family) func(appliance.ID) bool {
		return func(id appliance.ID) bool { _, ok := p.refer(f, id); return !ok }
	}
	d.Floors, d.Meters = slices.Clone(d.Floors), slices.Clone(d.Meters)
	for i := range d.Floors {
		d.Floors[i].Clusters = slices.DeleteFunc(slices.Clone(d.Floors[i].Clusters), gone(Clusters))
	}
	d.Meters = slices.DeleteFunc(d.Meters, func(m appliance.Meter) bool {
		return gone(Nodes)(m.Node) || len(m.Clusters) > 0 && !slices.ContainsFunc(m.Clusters, func(id appliance.ID) bool { return !gone(Clusters)(id) })
	})
	for i := range d.Meters {
		d.Meters[i].Clusters = slices.DeleteFunc(slices.Clone(d.Meters[i].Clusters), gone(Clusters))
	}
	return d
}
