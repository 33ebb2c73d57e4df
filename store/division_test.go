package store

import (
	"testing"

	"svc.internal/controller/appliance"
)

// Whoever removes a cluster takes it off its floor and out of its meter, for good, and a meter of nothing else goes.
func TestRemovedClustersLeaveFloorsAndMeters(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	var rooms []appliance.ID
	for _, name := range []string{"Hall", "Office"} {
		id, err := s.CreateCluster(t.Context(), appliance.Cluster{Name: name}, "ana")
		if err != nil {
			t.Fatal(err)
		}
		rooms = append(rooms, id)
	}
	meter, err := s.CreateNode(t.Context(), appliance.Node{Name: "Meter"}, "ana", nil)
	if err != nil {
		t.Fatal(err)
	}
	err = s.UpdateSettings(t.Context(), "ana", func(name *string, _ *appliance.Settings, d *appliance.Division) error {
		*name = "House"
		d.Floors = []appliance.Floor{{Name: "Ground", Clusters: rooms}}
		d.Meters = []appliance.Meter{{Node: meter, Clusters: rooms[:1]}}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := load(t, s).Division; len(d.Floors) != 1 || len(d.Floors[0].Clusters) != 2 || len(d.Meters) != 1 {
		t.Fatalf("before: %+v", d)
	}
	if err := s.RemoveCluster(t.Context(), rooms[0], "ana", func(appliance.Cluster) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if d := load(t, s).Division; len(d.Floors) != 1 || len(d.Floors[0].Clusters) != 1 || d.Floors[0].Clusters[0] != rooms[1] || len(d.Meters) != 0 {
		t.Errorf("after: %+v", d)
	}
}
