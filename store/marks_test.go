package store

import (
	"database/sql"
	"path/filepath"
	"slices"
	"testing"

	"svc.internal/controller/appliance"
)

// What the database could not keep is told as an error, also where every statement before
// went well.
func TestCommitThatFailsIsNoSuccess(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	ctx := t.Context()
	err := s.write(ctx, func(tx *sql.Tx) error {
		nobody := appliance.NewUUID()
		// Foreign keys are looked at when it is committed.
		if _, err := tx.ExecContext(ctx, "PRAGMA defer_foreign_keys = 1"); err != nil {
			t.Fatal(err)
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO refresh_token (hash, user, created_at) VALUES (zeroblob(32), ?, 0)", nobody[:]); err != nil {
			t.Fatal(err)
		}
		return nil
	})
	if err == nil {
		t.Error("a commit that the database refused is told as a success")
	}
	if n := countTokens(t, s); n != 0 {
		t.Errorf("%d rows are left of it", n)
	}
}

// An ID that an installer chose lies above the mark. Retired, it is stepped over when the
// mark comes there.
func TestAutomaticIDsStepOverARetiredOneAboveTheMark(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	node := func(id appliance.ID, name string) appliance.Node {
		return appliance.Node{ID: id, Name: name}
	}
	imports(t, s, appliance.Site{Name: "Villa", Nodes: []appliance.Node{node(3, "chosen")}}, ImportOptions{Replace: true})
	imports(t, s, appliance.Site{Name: "Villa"}, ImportOptions{Replace: true})
	imports(t, s, appliance.Site{Name: "Villa", Nodes: []appliance.Node{node(0, "a"), node(0, "b"), node(0, "c"), node(0, "d")}}, ImportOptions{Replace: true})
	if got, want := nodeIDs(load(t, s)), []appliance.ID{1, 2, 4, 5}; !slices.Equal(got, want) {
		t.Errorf("nodes have IDs %v, want %v: 3 is retired", got, want)
	}
}

// The mark of a backup and that of what it replaces: the higher one holds. Another controller
// retired those IDs long ago, and nothing else tells of them.
func TestRestoreNeverLowersAMark(t *testing.T) {
	t.Parallel()
	for _, high := range []struct{ backup, replaced, next appliance.ID }{{500, 0, 501}, {0, 600, 601}} {
		s, other := open(t, t.TempDir()), open(t, t.TempDir())
		for s, high := range map[*Store]appliance.ID{s: high.backup, other: high.replaced} {
			in := demo()
			in.Highest.Node = high
			imports(t, s, in, ImportOptions{})
		}
		file := filepath.Join(t.TempDir(), "house.backup")
		if err := s.Backup(t.Context(), file, BackupOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := Restore(t.Context(), file, filepath.Dir(other.path), nil); err != nil {
			t.Fatal(err)
		}
		restored := open(t, filepath.Dir(other.path))
		imports(t, restored, appliance.Site{Nodes: []appliance.Node{{Name: "new"}}}, ImportOptions{})
		if got := nodeIDs(load(t, restored)); !slices.Contains(got, high.next) {
			t.Errorf("nodes have IDs %v, want %d among them", got, high.next)
		}
	}
}
