package appliance

import (
	"slices"
	"testing"
)

func snapshotOf(site *Site, old *Snapshot) *Snapshot {
	s := Snapshot{Site: site, Index: NewIndex(site)}
	for i := range site.Nodes {
		s.Nodes = append(s.Nodes, &NodeState{Node: &site.Nodes[i]})
	}
	for i := range site.Shades {
		s.Shades = append(s.Shades, &ShadeState{Shade: &site.Shades[i]})
	}
	for i := range site.Clusters {
		s.Clusters = append(s.Clusters, &ClusterState{Cluster: &site.Clusters[i]})
	}
	for i := range site.Buses {
		s.Buses = append(s.Buses, &BusState{Bus: &site.Buses[i]})
	}
	return NewSnapshot(s, old)
}

func house() *Site {
	return &Site{
		Buses:    []Bus{{UUID: UUID{1}}, {UUID: UUID{2}}},
		Nodes:    []Node{{ID: 4, Bus: UUID{1}}, {ID: 7, Bus: UUID{2}}},
		Shades:   []Shade{{ID: 5001, Node: 7}, {ID: 5009}},
		Clusters: []Cluster{{ID: 2, Nodes: []ID{4, 7}, Shades: []ID{5001}}, {ID: 3, Nodes: []ID{7}, Shades: []ID{5001, 5009}}},
	}
}

func TestThingsAreFoundByID(t *testing.T) {
	s := snapshotOf(house(), nil)
	for _, n := range s.Nodes {
		if s.Node(n.Node.ID) != n {
			t.Errorf("node %d is %+v", n.Node.ID, s.Node(n.Node.ID))
		}
	}
	for _, h := range s.Shades {
		if s.Shade(h.Shade.ID) != h {
			t.Errorf("shade %d is %+v", h.Shade.ID, s.Shade(h.Shade.ID))
		}
	}
	for _, c := range s.Clusters {
		if s.Cluster(c.Cluster.ID) != c {
			t.Errorf("cluster %d is %+v", c.Cluster.ID, s.Cluster(c.Cluster.ID))
		}
	}
	if s.Node(5001) != nil || s.Shade(4) != nil || s.Cluster(4) != nil {
		t.Error("there is what there is not")
	}
	if of := s.Index.ClustersOfNode; !slices.Equal(of[4], []ID{2}) || !slices.Equal(of[7], []ID{2, 3}) {
		t.Errorf("clusters of nodes: %v", of)
	}
	if of := s.Index.ClustersOfShade; !slices.Equal(of[5001], []ID{2, 3}) || !slices.Equal(of[5009], []ID{3}) {
		t.Errorf("clusters of shades: %v", of)
	}
	for r, bus := range map[Ref]UUID{{Node: 4, Channel: 1}: {1}, {Shade: 5001}: {2}, {Shade: 5009}: {}, {Node: 9}: {}, {Shade: 9}: {}} {
		if got := s.BusOf(r); got != bus {
			t.Errorf("%+v is on bus %v, want %v", r, got, bus)
		}
	}
}

func TestWhatChangedSinceASnapshot(t *testing.T) {
	site := house()
	old := snapshotOf(site, nil)
	select {
	case <-old.Superseded():
		t.Error("it is superseded by nothing")
	default:
	}
	s := *old
	s.Nodes, s.Shades, s.Clusters, s.Buses = slices.Clone(old.Nodes), slices.Clone(old.Shades), slices.Clone(old.Clusters), slices.Clone(old.Buses)
	if d := NewSnapshot(s, old).Since(old); d.Site || d.Faults || len(d.Nodes)+len(d.Shades)+len(d.Clusters)+len(d.Buses) > 0 {
		t.Errorf("nothing changed, and %+v did", d)
	}
	s.Nodes[1], s.Shades[0], s.Clusters[1], s.Buses[0] = &NodeState{}, &ShadeState{}, &ClusterState{}, &BusState{}
	s.Faults = []Fault{{Where: "bus"}}
	now := NewSnapshot(s, old)
	d := now.Since(old)
	if d.Site || !d.Faults || !slices.Equal(d.Nodes, now.Nodes[1:]) || !slices.Equal(d.Shades, now.Shades[:1]) ||
		!slices.Equal(d.Clusters, now.Clusters[1:]) || !slices.Equal(d.Buses, now.Buses[:1]) {
		t.Errorf("changed: %+v", d)
	}
	// Another site: what is new and what changed, though the lists are of another length.
	s.Site, s.Nodes = house(), []*NodeState{{}, old.Nodes[0], old.Nodes[1]}
	last := NewSnapshot(s, now)
	if d := last.Since(old); !d.Site || !slices.Equal(d.Nodes, last.Nodes[:1]) {
		t.Errorf("with one more node: %+v", d)
	}
	if old.Number != 0 || now.Number != 1 || last.Number != 2 {
		t.Errorf("numbers %d, %d, %d", old.Number, now.Number, last.Number)
	}
	old.Supersede()
	<-old.Superseded()
}

func TestALightHasTheTagOfOneAndGivesLight(t *testing.T) {
	for _, tc := range []struct {
		tag   Tag
		can   Ability
		light bool
	}{
		{TagNode, CanSwitch, true}, {TagNode, CanDim, true}, {TagNode, CanTune, true}, {TagNode, CanColour, true}, {TagNode, CanDim | CanMeasure, true},
		{TagNode, CanMeasure, false}, {TagNode, CanMove | CanPosition, false}, {TagPeripheral, CanDim, false},
	} {
		if n := (&NodeState{Tag: tc.tag, Abilities: tc.can}); n.IsLight() != tc.light {
			t.Errorf("%s that can %v is a light: %v", tc.tag, tc.can.Words(), !tc.light)
		}
	}
	for can, speaks := range map[Ability]bool{CanSwitch: true, CanDim: true, CanDim | CanTune: true, CanTune | CanColour | CanMeasure: false} {
		if v := (Values{Has: can}); v.SpeaksOfLevel() != speaks {
			t.Errorf("%v speaks of a level: %v", can.Words(), !speaks)
		}
	}
	if !(CanDim | CanTune).Has(CanDim) || CanDim.Has(CanDim|CanTune) {
		t.Error("a set has what it lacks")
	}
	if (Known[Level]{Value: 5}).OK() || !(Known[Level]{Source: Restored}).OK() {
		t.Error("a value is known by its source")
	}
}
