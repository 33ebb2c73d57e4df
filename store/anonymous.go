package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"svc.internal/controller/shelf/database"
)

// anonymous is a file of mode 0600 that has no name yet: it is gone
// when the process ends, however it ends. On a file system that knows no such files, as
// of a stick, it has a name with [partSuffix] meanwhile.
type anonymous struct {
	*os.File
	dir   string
	named string // its name, where it had to have one
}

// partSuffix ends the name of a file that is not whole yet, or about to replace another. Who is killed then leaves it behind.
const partSuffix = ".part"

func newAnonymous(file string) (*anonymous, error) {
	dir := filepath.Dir(file)
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err == nil {
		return &anonymous{File: os.NewFile(uintptr(fd), file), dir: dir}, nil
	}
	if !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, unix.EISDIR) && !errors.Is(err, unix.EINVAL) {
		return nil, &fs.PathError{Op: "create a file in", Path: dir, Err: err}
	}
	named := file + partSuffix
	f, err := os.OpenFile(named, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	return &anonymous{File: f, dir: dir, named: named}, err
}

// discard ends the file, unless it was given a name.
func (a *anonymous) discard() {
	a.Close()
	if a.named != "" {
		os.Remove(a.named)
	}
}

// become gives the synced file its name. One that is there is refused with
// [fs.ErrExist] unless it is to be replaced.
func (a *anonymous) become(file string, replace bool) error {
	if err := a.Sync(); err != nil {
		return err
	}
	if a.named == "" {
		to := file
		if replace {
			to = file + partSuffix // for a moment: a link replaces nothing
			os.Remove(to)
		}
		if err := unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", a.Fd()), unix.AT_FDCWD, to, unix.AT_SYMLINK_FOLLOW); err != nil {
			return &fs.PathError{Op: "write", Path: file, Err: err}
		}
		if replace {
			if err := os.Rename(to, file); err != nil {
				return err
			}
		}
		return database.SyncDir(a.dir)
	}
	if _, err := os.Lstat(file); err == nil && !replace {
		return &fs.PathError{Op: "write", Path: file, Err: fs.ErrExist}
	}
	if err := os.Rename(a.named, file); err != nil {
		return err
	}
	a.named = ""
	return database.SyncDir(a.dir)
}

// writeWhole writes a file, all of it or nothing, replacing one that is there.
func writeWhole(file string, data []byte) error {
	a, err := newAnonymous(file)
	if err != nil {
		return err
	}
	defer a.discard()
	if _, err := a.Write(data); err != nil {
		return err
	}
	return a.become(file, true)
}

// sendAll copies a file from its beginning.
func sendAll(w io.Writer, f *os.File) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := io.Copy(w, f)
	return err
}
