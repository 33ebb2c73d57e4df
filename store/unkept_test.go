package store

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"svc.internal/controller/shelf/account"
)

// What is read without SQLite's help, with a log that is not in the database yet, is what
// SQLite reads; a log that was cut off counts up to its last whole commit.
func TestImageIsWhatSQLiteReads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, name := range []string{"ana", "ben", "cleo"} {
		if _, err := s.AddUser(t.Context(), name, "a password for tests", account.RoleViewer); err != nil {
			t.Fatal(err)
		}
	}
	log, err := os.ReadFile(s.path + "-wal")
	if err != nil || len(log) < logHeader+frameHeader {
		t.Fatalf("a log of %d bytes: %v", len(log), err)
	}
	database, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	users := func(log []byte) int {
		t.Helper()
		image, err := overlay(append([]byte(nil), database...), log)
		if err != nil {
			t.Fatal(err)
		}
		db, err := openImage(t.Context(), image)
		if err != nil {
			t.Fatalf("with %d bytes of the log: %v", len(log), err)
		}
		defer db.Close()
		var n int
		if err := db.QueryRow("SELECT count(*) FROM user").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := users(log); n != 3 {
		t.Errorf("%d users with the whole log, want 3", n)
	}
	if n := users(log[:len(log)-1]); n != 2 {
		t.Errorf("%d users with the last frame torn, want 2", n)
	}
	torn := append([]byte(nil), log...)
	torn[len(torn)-100] ^= 1
	if n := users(torn); n != 2 {
		t.Errorf("%d users with a flipped bit in the last frame, want 2", n)
	}
}

// A database that is written while it is read is read again: the one half would be of before. The log is a pipe here, another
// each time, whose other end knows that the first half was read.
func TestImageOfADatabaseThatIsWrittenMeanwhile(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		writings int
		ok       bool
	}{{1, true}, {4, true}, {5, false}} {
		path := filepath.Join(t.TempDir(), databaseFile)
		write := func(n int) error { return os.WriteFile(path, bytes.Repeat([]byte{byte(n)}, 100+n), 0o600) }
		pipe := func() error { return unix.Mkfifo(path+"-wal", 0o600) }
		if err := errors.Join(write(0), pipe()); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			var errs error
			for n := 1; n <= min(tc.writings+1, 5) && errs == nil; n++ {
				log, err := os.OpenFile(path+"-wal", os.O_WRONLY, 0)
				if err == nil && n <= tc.writings {
					err = write(n)
				}
				errs = errors.Join(err, os.Remove(path+"-wal"), pipe(), log.Close())
			}
			done <- errs
		}()
		image, err := imageOf(path)
		if (err == nil) != tc.ok || tc.ok && int(image[0]) != tc.writings {
			t.Fatalf("written %d times: %v, and read as it was before", tc.writings, err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// A store in memory reads and lets people in, and refuses every change.
func TestUnkeptStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	user, err := s.AddUser(t.Context(), "ana", "a password for tests", account.RoleAdmin)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	was, err := os.ReadFile(filepath.Join(dir, databaseFile))
	if err != nil {
		t.Fatal(err)
	}
	s = &Store{path: filepath.Join(dir, databaseFile), log: slog.New(slog.DiscardHandler), now: s.now, synced: s.synced, hashing: make(chan struct{}, 1)}
	h, err := s.openCopy(t.Context(), unix.EROFS)
	if err != nil {
		t.Fatal(err)
	}
	s.db.Store(h)
	defer h.close()
	if err := s.refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(s.Kept(), unix.EROFS) {
		t.Errorf("Kept: %v", s.Kept())
	}
	session, err := s.NewSession(context.Background(), user)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.UseSession(t.Context(), session); err != nil || got.Name != "ana" {
		t.Errorf("session: %v %v", got, err)
	}
	if _, err := s.AddUser(t.Context(), "ben", "a password for tests", account.RoleViewer); !errors.Is(err, account.ErrNotKept) {
		t.Errorf("add a user: %v", err)
	}
	if now, err := os.ReadFile(filepath.Join(dir, databaseFile)); err != nil || string(now) != string(was) {
		t.Errorf("the file was changed (%v)", err)
	}
}
