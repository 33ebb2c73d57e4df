package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A process that is being started has every open file until it runs its own program: what
// is given back then is free all the same.
func TestLockIsGivenBackWhileAnotherProcessStarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	g, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	child, err := unix.Dup(int(g.f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(child)
	if err := g.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Release(); err != nil {
		t.Error(err)
	}
}

// Where the lock file cannot be written, one daemon at a time runs all the same, beside programs that only read; nobody makes or
// changes a database there.
func TestLocksWhereNothingCanBeWritten(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]bool{"a lock file of before": true, "none": false} {
		dir := t.TempDir()
		if file {
			if err := os.WriteFile(filepath.Join(dir, lockFile), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		lock := func(at int64, kind int16) (*Guard, error) { return takeUnwritable(dir, at, kind, unix.EROFS) }
		first, err := lock(byteDaemon, unix.F_WRLCK)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := lock(byteDaemon, unix.F_WRLCK); !errors.Is(err, ErrLocked) {
			t.Errorf("%s: a second daemon: %v", name, err)
		}
		if g, err := lock(byteDaemon, unix.F_RDLCK); err != nil {
			t.Errorf("%s: who only reads: %v", name, err)
		} else if err := g.Release(); err != nil {
			t.Error(err)
		}
		if _, err := lock(byteOpening, unix.F_WRLCK); !errors.Is(err, unix.EROFS) {
			t.Errorf("%s: a database that is to be made: %v", name, err)
		}
		if file {
			if _, err := Lock(dir); !errors.Is(err, ErrLocked) {
				t.Errorf("a daemon that can write beside it: %v", err)
			}
		}
		if err := first.Release(); err != nil {
			t.Error(err)
		}
		again, err := lock(byteDaemon, unix.F_WRLCK)
		if err != nil {
			t.Fatalf("%s: given back: %v", name, err)
		}
		if err := again.Release(); err != nil {
			t.Error(err)
		}
		if file {
			writing, err := Lock(dir)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := lock(byteDaemon, unix.F_WRLCK); !errors.Is(err, ErrLocked) {
				t.Errorf("beside a daemon that can write: %v", err)
			}
			if err := writing.Release(); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := takeUnwritable(filepath.Join(t.TempDir(), "missing"), byteDaemon, unix.F_WRLCK, unix.EROFS); !errors.Is(err, unix.EROFS) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}
