package migration

import (
	"fmt"
	"slices"
)

// changes tells how a house differs from how it was.
func changes(was, now House) []Change {
	var out []Change
	compare := func(f Family, before, after map[int64]string) {
		for _, id := range keys(before, after) {
			old, had := before[id]
			name, has := after[id]
			switch {
			case !had:
				out = append(out, Change{f, id, "new", "", name})
			case !has:
				out = append(out, Change{f, id, "gone", old, ""})
			case old != name:
				out = append(out, Change{f, id, "renamed", old, name})
			}
		}
	}
	before, after := was.names(), now.names()
	for _, f := range []Family{Clusters, Nodes, Shades} {
		compare(f, before[f], after[f])
	}
	had := byID(was.Clusters, func(c Cluster) int64 { return c.ID })
	for _, c := range now.Clusters {
		if old := had[c.ID]; old != nil {
			out = append(out, moved(c.ID, Nodes, old.Nodes, c.Nodes)...)
			out = append(out, moved(c.ID, Shades, old.Shades, c.Shades)...)
		}
	}
	return out
}

// moved tells who joined and left a cluster.
func moved(cluster int64, f Family, before, after []int64) []Change {
	var out []Change
	for _, id := range without(after, before) {
		out = append(out, Change{Clusters, cluster, "joined", "", fmt.Sprintf("%s %d", f, id)})
	}
	for _, id := range without(before, after) {
		out = append(out, Change{Clusters, cluster, "left", fmt.Sprintf("%s %d", f, id), ""})
	}
	return out
}

// without leaves out of a list what is in another one.
func without(list, others []int64) []int64 {
	in := make(map[int64]bool, len(others))
	for _, id := range others {
		in[id] = true
	}
	return slices.DeleteFunc(slices.Clone(list), func(id int64) bool { return in[id] })
}

// names of all that is in a house.
func (h House) names() map[Family]map[int64]string {
	out := map[Family]map[int64]string{Clusters: {}, Nodes: {}, Shades: {}}
	for _, c := range h.Clusters {
		out[Clusters][c.ID] = c.Name
	}
	for _, n := range h.Nodes {
		out[Nodes][n.ID] = n.Name
	}
	for _, s := range h.Shades {
		out[Shades][s.ID] = s.Name
	}
	return out
}

// keys of both maps, ascending.
func keys(a, b map[int64]string) []int64 {
	var out []int64
	for id := range a {
		out = append(out, id)
	}
	for id := range b {
		out = append(out, id)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
