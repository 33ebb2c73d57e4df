package store

import (
	"database/sql"
	"errors"
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

// Keys are looked at with every request: a program that makes one each day cannot fill the
// memory.
func TestKeysAreBounded(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	err := s.changeAccounts(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
			INSERT INTO api_key (uuid, number, name, prefix, hash, may_write, created_at, last_used)
			SELECT randomblob(16), i, 'key ' || i, '01234567', randomblob(32), 0, 0, 0 FROM n`, maxKeys-1)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.AddKey(t.Context(), "the last", false); err != nil {
		t.Errorf("key %d: %v", maxKeys, err)
	}
	if _, _, err := s.AddKey(t.Context(), "one too many", false); !errors.Is(err, errTooManyKeys) {
		t.Errorf("key %d: %v, want %v", maxKeys+1, err, errTooManyKeys)
	}
}

// The audit log is bounded where it is kept, not only where it is read.
func TestAuditLogIsBoundedOnTheFlash(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	count := func() (n int) {
		t.Helper()
		if err := s.db.Load().read.QueryRowContext(t.Context(), "SELECT count(*) FROM audit").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	err := s.write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
			INSERT INTO audit (at, who, origin, what, subject, detail, scope) SELECT 0, 'mira', '', 'node.change', '', '', 'site' FROM n`, maxAudit)
		return err
	})
	if err != nil || count() != maxAudit {
		t.Fatal(err, count())
	}
	if err := s.Audit(t.Context(), account.Audit{Who: "mira", What: "node.change"}); err != nil {
		t.Fatal(err)
	}
	if n := count(); n != maxAudit {
		t.Errorf("%d entries are kept, want %d", n, maxAudit)
	}
}

// A database that holds more than tables would carry out what somebody put in, when they are
// read.
func TestRestoreRefusesADatabaseThatDoesThings(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	err := s.write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), "CREATE TRIGGER guest AFTER INSERT ON audit BEGIN DELETE FROM user; END")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Restore(t.Context(), packed(t, s.path), t.TempDir(), nil)
	if err == nil || !strings.Contains(err.Error(), "trigger guest") {
		t.Errorf("restored: %v; want the trigger to be named", err)
	}
}
