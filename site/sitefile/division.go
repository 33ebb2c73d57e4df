package sitefile

import (
	"fmt"
	"time"
	_ "time/tzdata" // so that a small board knows the time zones, too

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/picture"
)

// division reads how the building is divided and metered.
func (r *reader) division() {
	s := r.file.Site
	if s == nil {
		return
	}
	d := &r.out.Division
	d.Building, d.TimeZone = s.Building, s.TimeZone
	r.name("site.building", s.Building, "")
	if _, err := time.LoadLocation(s.TimeZone); err != nil || s.TimeZone == "Local" {
		r.problem("site.timeZone", "%q is not a time zone such as Europe/Zurich", s.TimeZone)
	}
	switch {
	case (s.Latitude == nil) != (s.Longitude == nil):
		r.problem("site", "latitude and longitude go together")
	case s.Latitude != nil:
		d.Place = &appliance.Place{Latitude: *s.Latitude, Longitude: *s.Longitude}
	}
	for i, h := range s.Holidays {
		key := fmt.Sprintf("site.holidays[%d]", i)
		r.name(key+".name", h.Name, "")
		d.Holidays = append(d.Holidays, appliance.Holiday{Name: h.Name, Dates: r.dates(key+".dates", h.Dates)})
	}
	floors, on, stands := map[string]int{}, map[appliance.ID]string{}, map[appliance.Spot]string{}
	for i, f := range s.Floors {
		key := fmt.Sprintf("site.floors[%d]", i)
		r.name(key+".name", f.Name, "")
		if first, ok := floors[f.Name]; ok {
			r.problem(key+".name", "floors[%d] is called %q already", first, f.Name)
		}
		floors[f.Name] = i
		clusters := r.members(key+".clusters", r.clusterByName, f.Clusters)
		for _, id := range clusters {
			if other, ok := on[id]; ok {
				r.problem(key+".clusters", "a cluster is on one floor; cluster %d is on %q already", id, other)
			}
			on[id] = f.Name
		}
		d.Floors = append(d.Floors, appliance.Floor{Name: f.Name, AreaM2: f.AreaM2, Clusters: clusters, Plan: r.plan(key+".plan", f.Plan, stands)})
	}
	metered := map[appliance.ID]int{}
	for i, m := range s.Meters {
		key := fmt.Sprintf("site.meters[%d]", i)
		r.name(key+".covers", m.Covers, "")
		node, ok := r.refer(key+".node", r.nodesByName, m.Node)
		if first, twice := metered[node]; twice && ok {
			r.problem(key+".node", "meters[%d] is of this node already", first)
		}
		metered[node] = i
		d.Meters = append(d.Meters, appliance.Meter{Node: node, Covers: m.Covers, Clusters: r.members(key+".clusters", r.clusterByName, m.Clusters)})
	}
}

// dates reads days of the calendar.
func (r *reader) dates(key, text string) appliance.Dates {
	d, err := appliance.ParseDates(text)
	if err != nil {
		r.problem(key, "%v", err)
	}
	return d
}

// plan reads the picture of a floor and what stands on it; stands are the things that stand somewhere already.
func (r *reader) plan(key string, f *filePlan, stands map[appliance.Spot]string) *appliance.Plan {
	if f == nil {
		return nil
	}
	p, err := picture.OfText(f.Picture)
	if err != nil {
		r.problem(key+".picture", "%v", err)
		return nil
	}
	if r.out.Pictures == nil {
		r.out.Pictures = map[string][]byte{}
	}
	r.out.Pictures[p.Sum] = p.Data
	plan := &appliance.Plan{Picture: p.Sum, Type: p.Type, Width: p.Width, Height: p.Height}
	for i, s := range f.Spots {
		where := fmt.Sprintf("%s.spots[%d]", key, i)
		spot, named, known := appliance.Spot{X: s.X, Y: s.Y}, 0, true
		for _, of := range []struct {
			word  string
			among names
			ref   reference
			to    *appliance.ID
		}{{"node", r.nodesByName, s.Node, &spot.Node}, {"shade", r.shadeByName, s.Shade, &spot.Shade}, {"cluster", r.clusterByName, s.Cluster, &spot.Cluster}} {
			if !of.ref.IsZero() {
				named++
				var ok bool
				*of.to, ok = r.refer(where+"."+of.word, of.among, of.ref)
				known = known && ok
			}
		}
		switch first, twice := stands[spot.Of()]; {
		case named != 1:
			r.problem(where, "say which one stands there: node, shade or cluster")
		case known && twice:
			r.problem(where, "it stands on a plan already, at %s", first)
		case known:
			stands[spot.Of()] = where
			plan.Spots = append(plan.Spots, spot)
		}
	}
	appliance.SortSpots(plan.Spots)
	return plan
}

// exportPlan writes a plan back; nil without its picture.
func exportPlan(site appliance.Site, p *appliance.Plan, nodes, shades, clusters called) *filePlan {
	if p == nil || site.Pictures[p.Picture] == nil {
		return nil
	}
	out := &filePlan{Picture: picture.Text(p.Type, site.Pictures[p.Picture])}
	for _, s := range p.Spots {
		spot := fileSpot{X: s.X, Y: s.Y}
		switch {
		case s.Node != 0:
			spot.Node = nodes.reference(s.Node)
		case s.Shade != 0:
			spot.Shade = shades.reference(s.Shade)
		default:
			spot.Cluster = clusters.reference(s.Cluster)
		}
		out.Spots = append(out.Spots, spot)
	}
	return out
}

// exportDivision writes it back.
func exportDivision(site appliance.Site, f *fileSite, nodes, shades called) {
	d, clusters := site.Division, called{}
	for _, c := range site.Clusters {
		clusters[c.ID] = c.Name
	}
	f.Building, f.TimeZone = d.Building, d.TimeZone
	if d.Place != nil {
		f.Latitude, f.Longitude = &d.Place.Latitude, &d.Place.Longitude
	}
	for _, h := range d.Holidays {
		f.Holidays = append(f.Holidays, fileHoliday{h.Name, h.Dates.String()})
	}
	for _, v := range d.Floors {
		f.Floors = append(f.Floors, fileFloor{Name: v.Name, AreaM2: v.AreaM2, Clusters: clusters.references(v.Clusters), Plan: exportPlan(site, v.Plan, nodes, shades, clusters)})
	}
	for _, v := range d.Meters {
		f.Meters = append(f.Meters, fileMeter{Node: nodes.reference(v.Node), Covers: v.Covers, Clusters: clusters.references(v.Clusters)})
	}
}
