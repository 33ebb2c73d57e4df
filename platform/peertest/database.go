package peertest

import (
	"log/slog"
	"testing"

	"svc.internal/controller/platform/store"
)

// Database is one empty database that any number of instances may open.
type Database struct {
	DataDir string
	URL     string // empty: SQLite in DataDir
}

// Each runs a test on a new database of every kind there is.
func Each(t *testing.T, test func(t *testing.T, db Database)) {
	t.Run("SQLite", func(t *testing.T) { test(t, Database{DataDir: t.TempDir()}) })
	eachPeer(t, test)
}

// Open opens the database as one more instance, until the test ends.
func (d Database) Open(t testing.TB) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), d.DataDir, d.URL, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
