package store

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

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

// A disk that is full takes no change, and lets people in all the same; when it has room again, that is noticed without a restart.
func TestDiskThatIsFullAndHasRoomAgain(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	ctx := t.Context()
	user, err := s.AddUser(ctx, "ana", "a password for tests", account.RoleAdmin)
	if err != nil {
		t.Fatal(err)
	}
	s.keeper.stop() // else it looks at the database between two steps
	w := &watcher{wake: make(chan struct{}, 1)}
	s.register(w)
	told := func() bool {
		was := w.pending.Kept
		w.pending = Change{}
		return was
	}
	due := func() { // to look again
		l := *s.unkept.Load()
		l.tried = time.Now().Add(-tryEvery)
		s.unkept.Store(&l)
	}
	n := 0
	change := func() error {
		n++
		return s.ReplaceSecret(ctx, "secret", []byte{byte(n)})
	}
	disk := onFailing(t, s)
	disk.err = unix.ENOSPC
	full := func(yes bool) {
		if disk.left.Store(-1); yes {
			disk.left.Store(0)
		}
	}

	if full(true); !errors.Is(change(), account.ErrNotKept) || !errors.Is(s.Kept(), unix.ENOSPC) || !told() {
		t.Errorf("full: %v", s.Kept())
	}
	late := &watcher{wake: make(chan struct{}, 1)}
	if s.register(late); !late.pending.Kept || len(late.wake) != 1 {
		t.Error("who watches later is not told")
	}
	full(false)
	if s.look(ctx); s.Kept() == nil {
		t.Error("it is looked again at once")
	}
	full(true)
	due()
	if s.look(ctx); s.Kept() == nil || time.Since(s.unkept.Load().tried) >= tryEvery {
		t.Errorf("looked at while it is full: %v, last tried %v ago", s.Kept(), time.Since(s.unkept.Load().tried))
	}
	full(false)
	due()
	if s.look(ctx); s.Kept() != nil || !told() {
		t.Errorf("room again: %v", s.Kept())
	}
	full(true)
	_ = change()
	told()
	full(false)
	if err := change(); err != nil || s.Kept() != nil || !told() {
		t.Errorf("the next change: %v, %v", err, s.Kept())
	}
	disk.err = nil
	full(true)
	if err := change(); !errors.Is(err, errDisk) || errors.Is(err, account.ErrNotKept) || s.Kept() != nil {
		t.Errorf("another failure: %v, %v", err, s.Kept())
	}
	if _, err := s.NewSession(ctx, user); err != nil && !errors.Is(err, errDisk) {
		t.Error(err)
	} else if s.db.Load().conf == nil {
		t.Error("another failure makes it live in memory")
	}

	disk.err = unix.ENOSPC
	full(true)
	session, err := s.NewSession(ctx, user)
	if err != nil || s.db.Load().conf != nil || s.Kept() == nil || !told() {
		t.Fatalf("a log-in while it is full: %v, kept: %v", err, s.Kept())
	}
	if got, err := s.UseSession(ctx, session); err != nil || got.Name != "ana" {
		t.Errorf("session: %v, %v", got, err)
	}
	if err := change(); !errors.Is(err, account.ErrNotKept) {
		t.Errorf("a change: %v", err)
	}
	other := open(t, filepath.Dir(s.path)) // somebody else, for whom there is room
	if _, err := other.AddUser(ctx, "ben", "a password for tests", account.RoleViewer); err != nil {
		t.Fatal(err)
	}
	away := s.path + ".away"
	if err := os.Rename(s.path, away); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(s.path, 0o700); err != nil {
		t.Fatal(err)
	}
	due()
	if s.look(ctx); s.Kept() == nil || s.db.Load().conf != nil {
		t.Errorf("a database that cannot be opened: %v", s.Kept())
	}
	if err := errors.Join(os.Remove(s.path), os.Rename(away, s.path)); err != nil {
		t.Fatal(err)
	}
	due()
	if s.look(ctx); s.Kept() != nil || s.db.Load().conf == nil || !told() {
		t.Errorf("room again: %v", s.Kept())
	}
	if _, known := s.User("ben"); !known {
		t.Error("what others changed meanwhile is not seen")
	}
	if _, err := s.UseSession(ctx, session); err == nil {
		t.Error("a session that was never kept goes on")
	}
	if err := change(); err != nil {
		t.Errorf("a change: %v", err)
	}
	if v, err := s.KeptSecret(ctx, "secret"); err != nil || len(v) != 1 || int(v[0]) != n {
		t.Errorf("kept: %v, %v; want change %d", v, err, n)
	}
	if v, err := s.KeptSecret(ctx, "none"); v != nil || err != nil {
		t.Errorf("a secret that there is not: %v, %v", v, err)
	}
}
