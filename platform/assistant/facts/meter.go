package facts

import (
	"cmp"
	"fmt"
	"slices"

	"svc.internal/controller/platform"
)

// Meter is a device that measures, and what it measures.
type Meter struct {
	Node   int64   `json:"node"`
	Name   string  `json:"name"`
	Covers string  `json:"covers,omitempty"` // for people
	Zones  []int64 `json:"zones,omitempty"`
	// Whole: it measures the whole building. Assigned is false where nobody entered what it measures.
	Whole    bool `json:"whole,omitempty"`
	Assigned bool `json:"assigned"`
}

// Meters of the building: those entered with what they cover, and others that measure.
func (s *Site) Meters() []Meter { return slices.Clone(s.sorted.meters) }

func (s *Site) findMeters() []Meter {
	var meters []Meter
	for _, m := range s.Building.Meters {
		name := fmt.Sprintf("meter %d", m.Node)
		for _, d := range s.Devices {
			if d.ID == m.Node && d.Kind != platform.KindShade {
				name = d.Name
			}
		}
		meters = append(meters, Meter{m.Node, name, m.Covers, m.Zones, len(m.Zones) == 0, true})
	}
	for i, d := range s.Devices {
		if s.sorted.kinds[i] == KindMeter && !slices.ContainsFunc(meters, func(m Meter) bool { return m.Node == d.ID }) {
			meters = append(meters, Meter{Node: d.ID, Name: d.Name})
		}
	}
	return meters
}

// Metering says which meters answer for a scope together, without counting anything twice.
type Metering struct {
	Meters []Meter `json:"meters"`
	// Missing are zones of the scope that none of them covers.
	Missing []int64 `json:"missing,omitempty"`
	// Shared are meters that cover missing zones together with others, so that these have no figure of their own.
	Shared []Meter `json:"shared,omitempty"`
	// Unassigned is set when nobody entered what the meters cover: their sum is not known to be the building.
	Unassigned bool `json:"unassigned,omitempty"`
}

// MeteringOf finds the meters of a scope.
func (s *Site) MeteringOf(c Scope) Metering {
	all := s.Meters()
	if len(c.Devices)+len(c.Shades) > 0 {
		var m Metering
		for _, meter := range all {
			if slices.Contains(c.Devices, meter.Node) {
				m.Meters = append(m.Meters, meter)
			}
		}
		return m
	}
	zones := c.Zones
	if c.all() {
		for _, meter := range all {
			if meter.Whole && meter.Assigned && c.Out == nil {
				return Metering{Meters: []Meter{meter}}
			}
		}
		zones = s.consumers()
	}
	if c.Bus != "" {
		return Metering{}
	}
	if c.Out != nil {
		zones = slices.DeleteFunc(slices.Clone(zones), func(id int64) bool {
			i := slices.IndexFunc(s.Zones, func(z platform.Zone) bool { return z.ID == id })
			return i >= 0 && c.Out.HasZone(s.Zones[i])
		})
	}
	m := cover(all, zones)
	if c.Whole() && len(m.Meters) == 0 && len(all) > 0 {
		return Metering{Meters: all, Unassigned: true}
	}
	return m
}

// consumers are the zones that something electric is in.
func (s *Site) consumers() []int64 {
	var zones []int64
	for _, z := range s.Zones {
		if len(s.In(s.ZoneScope(z.ID), platform.KindLight)) > 0 || len(s.In(s.ZoneScope(z.ID), platform.KindShade)) == 0 {
			zones = append(zones, z.ID)
		}
	}
	return zones
}

// cover picks meters that lie within zones and do not overlap, those of many zones first.
func cover(all []Meter, zones []int64) Metering {
	within := func(m Meter) bool {
		return m.Assigned && !m.Whole && !slices.ContainsFunc(m.Zones, func(z int64) bool { return !slices.Contains(zones, z) })
	}
	sorted := slices.SortedStableFunc(slices.Values(all), func(a, b Meter) int { return cmp.Compare(len(b.Zones), len(a.Zones)) })
	var out Metering
	covered := map[int64]bool{}
	for _, m := range sorted {
		if !within(m) || slices.ContainsFunc(m.Zones, func(z int64) bool { return covered[z] }) {
			continue
		}
		out.Meters = append(out.Meters, m)
		for _, z := range m.Zones {
			covered[z] = true
		}
	}
	for _, z := range zones {
		if covered[z] {
			continue
		}
		out.Missing = append(out.Missing, z)
		for _, m := range all {
			shared := m.Assigned && !within(m) && (m.Whole || slices.Contains(m.Zones, z))
			if shared && !slices.ContainsFunc(out.Shared, func(o Meter) bool { return o.Node == m.Node }) {
				out.Shared = append(out.Shared, m)
			}
		}
	}
	return out
}
