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
	compare(Clusters, names(was.Clusters, func(c Cluster) (int64, string) { return c.ID, c.Name }), names(now.Clusters, func(c Cluster) (int64, string) { return c.ID, c.Name }))
	compare(Nodes, names(was.Nodes, func(n Node) (int64, string) { return n.ID, n.Name }), names(now.Nodes, func(n Node) (int64, string) { return n.ID, n.Name }))
	compare(Shades, names(was.Shades, func(s Shade) (int64, string) { return s.ID, s.Name }), names(now.Shades, func(s Shade) (int64, string) { return s.ID, s.Name }))
	for _, c := range now.Clusters {
		if old := find(was.Clusters, c.ID, func(c Cluster) int64 { return c.ID }); old != nil {
			out = append(out, moved(c.ID, Nodes, old.Nodes, c.Nodes)...)
			out = append(out, moved(c.ID, Shades, old.Shades, c.Shades)...)
		}
	}
	return out
}

// moved tells who joined and left a cluster.
func moved(cluster int64, f Family, before, after []int64) []Change {
	var out []Change
	for _, id := range after {
		if !slices.Contains(before, id) {
			out = append(out, Change{Clusters, cluster, "joined", "", fmt.Sprintf("%s %d", f, id)})
		}
	}
	for _, id := range before {
		if !slices.Contains(after, id) {
			out = append(out, Change{Clusters, cluster, "left", fmt.Sprintf("%s %d", f, id), ""})
		}
	}
	return out
}

func names[T any](list []T, of func(T) (int64, string)) map[int64]string {
	out := map[int64]string{}
	for _, v := range list {
		id, name := of(v)
		out[id] = name
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
