package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/database"
)

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func open(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(context.Background(), dir, quiet())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// reopen closes s and opens the same directory anew.
func reopen(t testing.TB, s *Store) *Store {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, filepath.Dir(s.path))
}

// eventually waits until ok says so.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(3 * time.Minute)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("still not: %s", what)
		}
		<-time.After(5 * time.Millisecond)
	}
}

func TestOpenMakesPrivateFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	s := open(t, dir)
	if err := s.SaveBatch(t.Context(), appliance.Batch{States: []appliance.Saved{{Ref: appliance.Ref{Node: 1, Channel: 1}}}}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("directory has mode %v (%v), want 0700", info.Mode().Perm(), err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 4 { // database, -wal, -shm, lock
		t.Errorf("%d files in the data directory, want 4: %v", len(files), files)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o600 {
			t.Errorf("%s has mode %v, want 0600", f.Name(), got)
		}
	}
}

func TestOpenExistingMakesNothing(t *testing.T) {
	there, dir := t.TempDir(), filepath.Join(t.TempDir(), "typo")
	for _, path := range []string{dir, there} {
		if _, err := OpenExisting(t.Context(), path, quiet()); !errors.Is(err, ErrNoDatabase) {
			t.Errorf("%s: %v, want ErrNoDatabase", path, err)
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s was made (%v)", dir, err)
	}
	if left, err := os.ReadDir(there); err != nil || len(left) != 0 {
		t.Errorf("%v were made in an empty directory (%v)", left, err)
	}
	open(t, there).Close()
	s, err := OpenExisting(t.Context(), there, quiet())
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	t.Chdir(t.TempDir())
	if _, err := Open(t.Context(), "", quiet()); err == nil {
		t.Error("no name stands for the current directory")
	}
}

func TestConnectionsKeepTheirPromises(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	ask := func(q interface {
		QueryRowContext(context.Context, string, ...any) *sql.Row
	}, pragma string) string {
		var v string
		if err := q.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct{ name, pragma, got, want string }{
		{"configuration", "synchronous", ask(s.db.Load().conf, "synchronous"), "2"},
		{"configuration", "journal_mode", ask(s.db.Load().conf, "journal_mode"), "wal"},
		{"configuration", "foreign_keys", ask(s.db.Load().conf, "foreign_keys"), "1"},
		{"configuration", "busy_timeout", ask(s.db.Load().conf, "busy_timeout"), "10000"},
		{"written behind", "synchronous", ask(s.db.Load().behind, "synchronous"), "1"},
		{"written behind", "journal_mode", ask(s.db.Load().behind, "journal_mode"), "wal"},
		{"readers", "query_only", ask(s.db.Load().read, "query_only"), "1"},
	} {
		if c.got != c.want {
			t.Errorf("%s connection: %s = %s, want %s", c.name, c.pragma, c.got, c.want)
		}
	}
}

func TestNewerDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	if _, err := s.db.Load().conf.Exec("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	s.Close()
	_, err := Open(t.Context(), dir, quiet())
	if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "version 99") {
		t.Errorf("opening a newer database: %v, want ErrNewer naming version 99", err)
	}
}

func TestForeignDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := fileAt(filepath.Join(dir, databaseFile)).Writer(database.Full)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE songs (title TEXT)"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	if _, err := Open(t.Context(), dir, quiet()); err == nil {
		t.Error("a database of another program was opened, want an error")
	}
}

func TestMigrationKeepsACopy(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := fileAt(path).Writer(database.Full)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	steps := []string{"CREATE TABLE a (n INTEGER); INSERT INTO a VALUES (7);"}
	if err := migrate(t.Context(), db, path, steps); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + ".v0"); err == nil {
		t.Error("a copy of an empty database was kept")
	}
	broken := append(steps, "CREATE TABLE b (n INTEGER)", "CREATE TABLE nonsense")
	if err := migrate(t.Context(), db, path, broken); err == nil {
		t.Fatal("a broken migration succeeded")
	}
	if v, err := versionOf(t.Context(), db); err != nil || v != 1 {
		t.Errorf("version after a broken migration: %d (%v), want 1", v, err)
	}
	if err := migrate(t.Context(), db, path, append(steps, "UPDATE a SET n = 8")); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]int{path: 8, path + ".v1": 7} {
		kept, err := fileAt(file).Reader(1, 1)
		if err != nil {
			t.Fatal(err)
		}
		var n int
		if err := kept.QueryRow("SELECT n FROM a").Scan(&n); err != nil || n != want {
			t.Errorf("%s holds %d (%v), want %d", filepath.Base(file), n, err, want)
		}
		kept.Close()
	}
}

func TestLockKeepsASecondDaemonOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(dir); !errors.Is(err, ErrLocked) {
		t.Errorf("second lock: %v, want ErrLocked", err)
	}
	open(t, dir) // a command beside the daemon
	first.Release()
	second, err := Lock(dir)
	if err != nil {
		t.Fatalf("lock after release: %v", err)
	}
	second.Release()
}

// demo is a small site with every noun, all without IDs.
func demo() appliance.Site {
	bus := appliance.UUID{15: 1}
	return appliance.Site{
		Name:     "Demo",
		Settings: appliance.Settings{InvertShades: true, Freshness: appliance.Freshness{Light: 3 * time.Second}},
		Buses: []appliance.Bus{{UUID: bus, Name: "ground", Driver: "modbus", Port: "tcp://127.0.0.1:502",
			Line: appliance.LineSettings{BaudRate: 9600, Parity: "even", DataBits: 8, StopBits: 1}, Options: map[string]string{"guard": "5ms"}}},
		Nodes: []appliance.Node{
			{ID: -1, Name: "Lobby", Bus: bus, Address: "5", Profile: "dimmer", Outputs: []int{1, 2}, Groups: []string{"3"}},
			{ID: -2, Name: "Hall", Bus: bus, Address: "6", Profile: "dimmer", Options: map[string]string{"min": "10"}},
			{ID: -3, Name: "Relays", Bus: bus, Address: "7", Profile: "relay", Tag: appliance.TagPeripheral},
		},
		Shades: []appliance.Shade{
			{ID: -1, Name: "South", Node: -3, Output: 1, TravelUp: 24500 * time.Millisecond, TravelDown: 22 * time.Second},
			{ID: -2, Name: "North", Node: -3, Output: 2, Inverted: true},
		},
		Clusters: []appliance.Cluster{
			{Name: "Ground floor", Nodes: []appliance.ID{-2, -1}, Shades: []appliance.ID{-1}},
			{Name: "Empty"},
		},
	}
}

func load(t testing.TB, s *Store) appliance.Site {
	t.Helper()
	site, faults, err := s.Site(context.Background())
	if err != nil || len(faults) > 0 {
		t.Fatalf("load site: faults %v, error %v", faults, err)
	}
	return site
}

func imports(t testing.TB, s *Store, in appliance.Site, opts ImportOptions) Report {
	t.Helper()
	r, err := s.Import(context.Background(), in, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// refuses imports in and wants a refusal that says each of want.
func refuses(t testing.TB, s *Store, in appliance.Site, opts ImportOptions, want ...string) {
	t.Helper()
	before := fmt.Sprintf("%+v", load(t, s))
	_, err := s.Import(context.Background(), in, opts)
	refused := (*Refused)(nil)
	if !errors.As(err, &refused) {
		t.Errorf("import: %v, want a refusal with %q", err, want)
		return
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("refusal does not say %q:\n%v", w, err)
		}
	}
	if len(refused.Problems) != len(want) {
		t.Errorf("%d problems, want %d:\n%v", len(refused.Problems), len(want), err)
	}
	if after := fmt.Sprintf("%+v", load(t, s)); after != before {
		t.Errorf("a refused import changed the site\nbefore %s\nafter  %s", before, after)
	}
}
