package store

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"svc.internal/controller/appliance"
	"svc.internal/controller/site/migration"
)

// What a migration turned round its undoing turns back; what somebody else had turned round stays.
func TestUndoingTurnsShadesBack(t *testing.T) {
	house := migration.House{Source: "old:443", Shades: []migration.Shade{{ID: 5001, Name: "Blind"}}, Nodes: []migration.Node{{ID: 1, Name: "Lamp"}}}
	for _, before := range []bool{false, true} {
		s := open(t, t.TempDir())
		if _, err := s.Import(t.Context(), appliance.Site{Name: "House", Settings: appliance.Settings{InvertShades: before}}, ImportOptions{By: "test"}); err != nil {
			t.Fatal(err)
		}
		turned := func() bool {
			site, _, err := s.Site(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return site.Settings.InvertShades
		}
		id, plan, err := s.Migrate(t.Context(), Takeover{House: house, InvertShades: true, By: "test"})
		if err != nil || id == 0 || !turned() {
			t.Fatalf("migrated: %d, %v, turned %v; %+v", id, err, turned(), plan)
		}
		if _, err := s.UndoMigration(t.Context(), id, false, "test"); err != nil {
			t.Fatal(err)
		}
		if turned() != before {
			t.Errorf("before %v, after the migration was undone %v", before, turned())
		}
	}
}

// What people changed since, and what a later migration of the same house builds on, is not undone unasked.
func TestUndoingLosesNothingUnasked(t *testing.T) {
	s := open(t, t.TempDir())
	migrate := func(name string) int64 {
		t.Helper()
		id, _, err := s.Migrate(t.Context(), Takeover{House: migration.House{Source: "old:443", Nodes: []migration.Node{{ID: 1, Name: name}}}, By: "test"})
		if err != nil || id == 0 {
			t.Fatal(id, err)
		}
		return id
	}
	first := migrate("Lamp")
	second := migrate("Lamp of the hall")
	if _, err := s.UndoMigration(t.Context(), first, false, "test"); !errors.Is(err, appliance.ErrInUse) {
		t.Errorf("the first of two: %v", err)
	}
	if err := s.UpdateNode(t.Context(), 1, "ana", func(n *appliance.Node) error { n.Name = "Ours"; return nil }, nil); err != nil {
		t.Fatal(err)
	}
	var edited *Edited
	if _, err := s.UndoMigration(t.Context(), second, false, "test"); !errors.As(err, &edited) || len(edited.Edits) != 1 {
		t.Errorf("with a name that somebody gave: %v", err)
	}
	if name := load(t, s).Nodes[0].Name; name != "Ours" {
		t.Errorf("it is called %q", name)
	}
	if _, err := s.UndoMigration(t.Context(), second, true, "test"); err != nil {
		t.Errorf("forced: %v", err)
	}
}

// What people did to what came over is told, each thing of it, before it is undone; where that is wanted all the same, what the
// migration changed is as before, what it made is gone, and what others hung off it stays.
func TestUndoingTellsWhatPeopleDid(t *testing.T) {
	s := open(t, t.TempDir())
	house := func(name string) migration.House {
		return migration.House{Source: "old:443", Nodes: []migration.Node{{ID: 1, Name: "Lamp " + name}}, Shades: []migration.Shade{{ID: 5001, Name: "Blind " + name}},
			Clusters: []migration.Cluster{{ID: 9001, Name: "Room " + name, Nodes: []int64{1}, Shades: []int64{5001}}}}
	}
	first, _, err := s.Migrate(t.Context(), Takeover{House: house("old"), By: "test"})
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := s.Migrate(t.Context(), Takeover{House: house("new"), By: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.UndoMigration(t.Context(), second, false, "test"); err != nil {
		t.Fatal(err)
	}
	if site := load(t, s); site.Nodes[0].Name != "Lamp old" || site.Shades[0].Name != "Blind old" || site.Clusters[0].Name != "Room old" {
		t.Errorf("after the second was undone: %+v", site)
	}
	if err := s.UpdateShade(t.Context(), 5001, "ana", func(h *appliance.Shade) error { h.Name = "Ours"; return nil }, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.RemoveCluster(t.Context(), 9001, "ana", func(appliance.Cluster) error { return nil }); err != nil {
		t.Fatal(err)
	}
	room, err := s.CreateCluster(t.Context(), appliance.Cluster{Name: "Corner", Nodes: []appliance.ID{1}}, "ana")
	if err != nil {
		t.Fatal(err)
	}
	awning, err := s.CreateShade(t.Context(), appliance.Shade{Name: "Awning", Node: 1, Output: 1}, "ana", nil)
	if err != nil {
		t.Fatal(err)
	}
	var edited *Edited
	if _, err := s.UndoMigration(t.Context(), first, false, "test"); !errors.As(err, &edited) {
		t.Fatal(err)
	}
	want := []string{"shade 5001 (Blind old) was changed: name", "cluster 9001 (Room old) was removed",
		fmt.Sprintf("cluster %d (Corner) holds node 1", room), fmt.Sprintf("shade %d (Awning) hangs off node 1", awning)}
	if got := edited.Since(); !slices.Equal(got, want) {
		t.Errorf("told\n%q, want\n%q", got, want)
	}
	if _, err := s.UndoMigration(t.Context(), first, true, "test"); err != nil {
		t.Fatal(err)
	}
	site := load(t, s)
	if len(site.Nodes) != 0 || len(site.Shades) != 1 || site.Shades[0].ID != awning || site.Shades[0].Node != 0 || len(site.Clusters) != 1 || len(site.Clusters[0].Nodes) != 0 {
		t.Errorf("after the first was undone all the same: %+v", site)
	}
}
