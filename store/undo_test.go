package store

import (
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
