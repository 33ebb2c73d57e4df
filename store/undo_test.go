package store

import (
	"errors"
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
