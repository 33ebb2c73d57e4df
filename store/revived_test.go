package store

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
)

// Who comes back by its UUID has the ID that it had, and gets no other.
func TestWhatComesBackKeepsItsID(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	imports(t, s, demo(), ImportOptions{})
	was := load(t, s).Nodes[0]
	imports(t, s, appliance.Site{}, ImportOptions{Replace: true})
	back := appliance.Node{ID: was.ID + 40, UUID: was.UUID, Name: was.Name}
	refuses(t, s, appliance.Site{Nodes: []appliance.Node{back}}, ImportOptions{}, "never changes")
	if got := load(t, s).Nodes; len(got) > 0 {
		t.Errorf("it came back as %+v", got)
	}
}

// Access tokens name a revision of their user. One that was handed out after the backup was
// made must mean nobody once it is restored.
func TestRestoreNeverHandsOutARevisionAgain(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	addUser(t, s, "anna", account.RoleAdmin)
	file := filepath.Join(t.TempDir(), "house.backup")
	if err := s.Backup(t.Context(), file, BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	later := addUser(t, s, "bert", account.RoleAdmin)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), file, filepath.Dir(s.path), nil); err != nil {
		t.Fatal(err)
	}
	if again := addUser(t, open(t, filepath.Dir(s.path)), "bert", account.RoleAdmin); again.Revision <= later.Revision {
		t.Errorf("after the restore somebody gets revision %d, which was %d already", again.Revision, later.Revision)
	}
}

// A database that can be read and contradicts itself is no backup.
func TestRestoreRefusesADatabaseThatContradictsItself(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	user := addUser(t, s, "anna", account.RoleAdmin)
	ctx := t.Context()
	if _, err := s.db.Load().conf.ExecContext(ctx, "PRAGMA ignore_check_constraints = 1"); err != nil {
		t.Fatal(err)
	}
	err := s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO refresh_token (hash, user, created_at) VALUES (x'00', ?, 0)", user.UUID[:])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Restore(ctx, packed(t, s.path), t.TempDir(), nil)
	if err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("restored: %v; want it to be called damaged", err)
	}
}
