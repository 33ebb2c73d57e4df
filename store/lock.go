package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// lockFile holds three locks, one byte each. They are open file description
// locks: the kernel frees them when the process ends, however it ends.
const lockFile = "controller.lock"

const (
	byteDaemon  = 0 // exclusive: the one daemon of this directory
	byteOpening = 1 // exclusive: creating or migrating the database
	byteUse     = 2 // shared: the database is open; exclusive: it is being replaced
)

// ErrLocked: another process holds what was asked for.
var ErrLocked = errors.New("in use by another process")

// Guard is a lock held until Release.
type Guard struct{ f *os.File }

// Release gives the lock back. Ending the process does the same. Closing alone would
// not do at once: a process that is just being started has the file, too, until it runs
// its own program.
func (g *Guard) Release() error {
	all := unix.Flock_t{Type: unix.F_UNLCK}
	return errors.Join(unix.FcntlFlock(g.f.Fd(), unix.F_OFD_SETLK, &all), unix.Flock(int(g.f.Fd()), unix.LOCK_UN), g.f.Close())
}

// Lock takes the data directory for one daemon. A second daemon gets
// [ErrLocked]. Commands that share the directory with a running daemon do not
// need it.
func Lock(dataDir string) (*Guard, error) {
	g, err := take(dataDir, byteDaemon, unix.F_WRLCK)
	if errors.Is(err, ErrLocked) {
		return nil, fmt.Errorf("a daemon runs on data directory %s: %w", dataDir, err)
	}
	return g, err
}

func take(dataDir string, at int64, kind int16) (*Guard, error) {
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return nil, fmt.Errorf("make data directory: %w", err)
	}
	if info, err := os.Stat(dataDir); err == nil && info.Mode().Perm()&0o002 != 0 {
		return nil, fmt.Errorf("data directory %s: everybody on this machine may put files there (mode %o), and so become administrator of the building; take that away with: chmod o-w %s", dataDir, info.Mode().Perm(), dataDir)
	}
	f, err := os.OpenFile(filepath.Join(dataDir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if unwritable(err) {
		return takeUnwritable(dataDir, at, kind, err)
	}
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	want := unix.Flock_t{Type: kind, Start: at, Len: 1}
	err = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &want)
	if err == nil {
		return &Guard{f}, nil
	}
	f.Close()
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return nil, ErrLocked
	}
	return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
}

// takeUnwritable takes a lock where the lock file cannot be opened for writing, which an exclusive
// lock of its bytes wants: a shared one then, which keeps away whoever wants an exclusive one,
// and besides the whole file against others who are here.
func takeUnwritable(dataDir string, at int64, kind int16, cause error) (*Guard, error) {
	f, err := os.Open(filepath.Join(dataDir, lockFile))
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.Open(dataDir)
	}
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", errors.Join(cause, err))
	}
	if at == byteOpening { // a database that is to be made or changed
		f.Close()
		return nil, fmt.Errorf("open lock file: %w", cause)
	}
	shared := unix.Flock_t{Type: unix.F_RDLCK, Start: at, Len: 1}
	err = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &shared)
	if err == nil && kind == unix.F_WRLCK {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err == nil {
		return &Guard{f}, nil
	}
	f.Close()
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return nil, ErrLocked
	}
	return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
}

// await takes a lock that others hold only briefly.
func await(ctx context.Context, dataDir string, at int64, kind int16) (*Guard, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		g, err := take(dataDir, at, kind)
		if !errors.Is(err, ErrLocked) {
			return g, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-again.C:
		}
	}
}
