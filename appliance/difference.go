package appliance

import "slices"

// Difference is what changed from one snapshot to a later one. Things that are gone
// are in neither list of the later one; Site says that the lists may differ.
type Difference struct {
	Site     bool // another site is in force: entries were added, changed or removed
	Faults   bool
	Nodes    []*NodeState
	Shades   []*ShadeState
	Clusters []*ClusterState
	Buses    []*BusState
}

// Since tells what changed from an earlier snapshot, ages included. It looks at
// nothing but the two: whoever keeps the last snapshot it has shown follows the
// state at its own pace, and loses nothing by being slow but what was overtaken.
func (s *Snapshot) Since(old *Snapshot) Difference {
	d := Difference{Site: s.Site != old.Site, Faults: !slices.Equal(s.Faults, old.Faults)}
	d.Nodes = changed(s.Nodes, old.Nodes)
	d.Shades = changed(s.Shades, old.Shades)
	d.Buses = changed(s.Buses, old.Buses)
	d.Clusters = changed(s.Clusters, old.Clusters)
	return d
}

// changed picks the states that are not those of before. States never change once
// they were published, so that comparing pointers is enough; while the site stays the
// same, both lists have the same order.
func changed[T any](now, before []*T) (out []*T) {
	if len(now) == len(before) {
		for i := range now {
			if now[i] != before[i] {
				out = append(out, now[i])
			}
		}
		return out
	}
	was := make(map[*T]bool, len(before))
	for _, v := range before {
		was[v] = true
	}
	for _, v := range now {
		if !was[v] {
			out = append(out, v)
		}
	}
	return out
}
