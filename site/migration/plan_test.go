package migration

import (
	"fmt"
	"strings"
	"testing"

	"svc.internal/controller/appliance"
)

const old = "old.example:443"

func empty() Here {
	return Here{
		Live:    map[Family]map[appliance.ID]Noun{Nodes: {}, Shades: {}, Clusters: {}},
		Retired: map[Family]map[appliance.ID]Noun{Nodes: {}, Shades: {}, Clusters: {}},
	}
}

// writes reports whether a plan does anything.
func writes(p Plan) bool {
	return len(p.Site.Clusters)+len(p.Site.Nodes)+len(p.Site.Shades)+len(p.Site.Retired) > 0
}

func said(p Plan) string {
	var out []string
	for f, items := range map[Family][]Item{Clusters: p.Clusters, Nodes: p.Nodes, Shades: p.Shades} {
		for _, it := range items {
			out = append(out, fmt.Sprintf("%s %d %s", f, it.ID, it.Action))
		}
	}
	return strings.Join(out, ", ")
}

func TestWhatConflicts(t *testing.T) {
	other := appliance.NewUUID()
	for _, c := range []struct {
		name  string
		here  func(*Here)
		house House
		want  string // of Conflict.Here; empty: none
	}{
		{"nothing", func(*Here) {}, House{Nodes: []Node{{ID: 5, Name: "Lamp"}}}, ""},
		{"an ID of 0", func(*Here) {}, House{Nodes: []Node{{ID: 0, Name: "Lamp"}}}, "want an ID from 1"},
		{"an ID below 0", func(*Here) {}, House{Shades: []Shade{{ID: -3, Name: "Blind"}}}, "want an ID from 1"},
		{"an ID above the highest", func(*Here) {}, House{Clusters: []Cluster{{ID: 200_000_001, Name: "C"}}}, "want an ID from 1 to 200000000"},
		{"the highest ID", func(*Here) {}, House{Clusters: []Cluster{{ID: 200_000_000, Name: "C"}}}, ""},
		{"a node with this ID", func(h *Here) { h.Live[Nodes][5] = Noun{other, "Mine"} }, House{Nodes: []Node{{ID: 5, Name: "Lamp"}}}, "node 5 (Mine) is here"},
		{"a cluster with the ID of a node", func(h *Here) { h.Live[Nodes][5] = Noun{other, "Mine"} }, House{Clusters: []Cluster{{ID: 5, Name: "C"}}}, ""},
		{"a removed one", func(h *Here) { h.Retired[Clusters][5] = Noun{other, "Gone"} }, House{Clusters: []Cluster{{ID: 5, Name: "C"}}}, "was here and was removed"},
		{"one of its own that was undone", func(h *Here) { h.Retired[Nodes][5] = Noun{UUIDOf(old, Nodes, 5), "Lamp"} }, House{Nodes: []Node{{ID: 5, Name: "Lamp"}}}, ""},
		{"one that another house had", func(h *Here) { h.Retired[Nodes][5] = Noun{UUIDOf("another:443", Nodes, 5), "Lamp"} }, House{Nodes: []Node{{ID: 5, Name: "Lamp"}}}, "was removed"},
		{"a shade with the ID of a node", func(h *Here) { h.Live[Shades][5] = Noun{other, "Blind"} }, House{Nodes: []Node{{ID: 5, Name: "Lamp"}}}, "shade 5 (Blind) has this ID"},
		{"a node with the ID of a removed shade", func(h *Here) { h.Retired[Shades][5] = Noun{other, "Blind"} }, House{Nodes: []Node{{ID: 5, Name: "Lamp"}}}, "shade 5 (Blind) has this ID"},
		{"node and shade share an ID there", func(*Here) {}, House{Nodes: []Node{{ID: 5, Name: "Lamp"}}, Shades: []Shade{{ID: 5, Name: "Blind"}}}, ""},
		{"a name", func(h *Here) { h.Live[Nodes][9] = Noun{other, "Lamp"} }, House{Nodes: []Node{{ID: 5, Name: "Lamp"}}}, "node 9 has this name"},
		{"one name twice there", func(*Here) {}, House{Nodes: []Node{{ID: 5, Name: "Lamp"}, {ID: 6, Name: "Lamp"}}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			here := empty()
			c.here(&here)
			c.house.Source = old
			p := Work(c.house, here)
			switch {
			case c.want == "" && len(p.Conflicts) > 0:
				t.Errorf("got %+v, want no conflict", p.Conflicts)
			case c.want != "" && (len(p.Conflicts) != 1 || !strings.Contains(p.Conflicts[0].Here, c.want)):
				t.Errorf("got %+v, want %q", p.Conflicts, c.want)
			case c.want != "" && writes(p):
				t.Errorf("what conflicts comes over: %+v", p.Site)
			}
		})
	}
}

func TestWhatChangedSinceComesOver(t *testing.T) {
	first := House{
		Source: old, Clusters: []Cluster{{ID: 1, Name: "Hall", Nodes: []int64{1, 2}}},
		Nodes: []Node{{ID: 1, Name: "One"}, {ID: 2, Name: "Two"}, {ID: 3, Name: "Three"}},
	}
	here := empty()
	p := Work(first, here)
	// taken over; then people here rename node 1, and take node 2 out of the cluster
	here.Site, here.Last = p.Site, &first
	here.Site.Nodes[0].Name = "One of ours"
	here.Site.Clusters[0].Nodes = []appliance.ID{1}
	for _, n := range here.Site.Nodes {
		here.Live[Nodes][n.ID] = Noun{n.UUID, n.Name}
	}
	here.Live[Clusters][1] = Noun{here.Site.Clusters[0].UUID, "Hall"}

	if p := Work(first, here); writes(p) || len(p.Changes)+len(p.Conflicts) > 0 {
		t.Errorf("the same house again: got %s, changes %v, conflicts %v; want nothing", said(p), p.Changes, p.Conflicts)
	}

	second := House{
		Source: old, Clusters: []Cluster{{ID: 1, Name: "Great hall", Nodes: []int64{1, 2, 4}}},
		Nodes: []Node{{ID: 1, Name: "One"}, {ID: 2, Name: "Zwei"}, {ID: 4, Name: "Four"}},
	}
	p = Work(second, here)
	if len(p.Changes) != 5 {
		t.Errorf("got %+v, want cluster and node 2 renamed, node 4 new and in the cluster, node 3 gone", p.Changes)
	}
	if len(p.Site.Nodes) != 2 || p.Site.Nodes[0].Name != "Zwei" || p.Site.Nodes[1].ID != 4 {
		t.Errorf("got nodes %+v, want 2 with its new name and 4", p.Site.Nodes)
	}
	if len(p.Site.Clusters) != 1 || p.Site.Clusters[0].Name != "Great hall" || fmt.Sprint(p.Site.Clusters[0].Nodes) != "[1 4]" {
		t.Errorf("got clusters %+v, want the new name, and node 4; node 2 was taken out here", p.Site.Clusters)
	}
}

func TestIDsThatAreKeptFromOthers(t *testing.T) {
	p := Work(House{
		Source: old, Reserved: []int64{40, 7, 999_999_999},
		Nodes:    []Node{{ID: 7, Name: "Lamp"}, {ID: 1_500_000, Name: "By hand"}},
		Shades:   []Shade{{ID: 12, Name: "Blind"}},
		Clusters: []Cluster{{ID: 3, Name: "C"}},
	}, empty())
	if want := (appliance.Highest{Node: 40, Shade: 12, Cluster: 3}); p.Site.Highest != want {
		// 999,999,999 is no ID; 1,500,000 was chosen by hand
		t.Errorf("got %+v, want %+v", p.Site.Highest, want)
	}
	if len(p.Site.Retired) != 1 || p.Site.Retired[0].Node != 40 || p.Site.Retired[0].UUID != UUIDOf(old, Nodes, 40) {
		t.Errorf("got %+v, want 40 kept for what it is", p.Site.Retired)
	}
}
