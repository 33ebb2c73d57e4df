package offsite

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Stick is a folder that is a file system of its own: where none is mounted, no stick is plugged in.
type Stick struct{ Folder string }

// ErrNoStick: nothing is mounted at the folder.
var ErrNoStick = errors.New("no stick is plugged in, or none of FAT with the label CONTROLLER")

func (s Stick) open() (*os.Root, error) {
	var here, above unix.Stat_t
	if err := unix.Stat(s.Folder, &here); errors.Is(err, unix.ENOENT) {
		return nil, ErrNoStick
	} else if err != nil {
		return nil, stickError(err)
	}
	if err := unix.Stat(filepath.Dir(filepath.Clean(s.Folder)), &above); err != nil {
		return nil, stickError(err)
	}
	if here.Dev == above.Dev {
		return nil, ErrNoStick
	}
	root, err := os.OpenRoot(s.Folder)
	return root, stickError(err)
}

// List names all that is there.
func (s Stick) List(context.Context, string) (names []string, err error) {
	root, err := s.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, stickError(err)
}

// Put writes a file, which is on the stick when it returns.
func (s Stick) Put(_ context.Context, name string, content io.Reader, _ int64, _ [sha256.Size]byte) error {
	root, err := s.open()
	if err != nil {
		return err
	}
	defer root.Close()
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return stickError(err)
	}
	_, err = io.Copy(f, content)
	if err == nil {
		err = f.Sync()
	}
	if err == nil { // so that it is the stick that is read back, and not what memory has of it
		err = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
	}
	return stickError(errors.Join(err, f.Close()))
}

// Get reads a file.
func (s Stick) Get(_ context.Context, name string) (io.ReadCloser, error) {
	root, err := s.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.Open(name)
	if err != nil {
		return nil, stickError(err)
	}
	return f, nil
}

// Rename gives a file another name, durably: FAT makes a new entry in the folder, of no length, and fills that in with what is kept of the
// file, so that the file is written again, too.
func (s Stick) Rename(_ context.Context, from, to string) error {
	root, err := s.open()
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Rename(from, to); err != nil {
		return stickError(err)
	}
	for _, name := range []string{to, "."} {
		f, err := root.Open(name)
		if err != nil {
			return stickError(err)
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return stickError(err)
		}
	}
	return nil
}

// Remove removes a file.
func (s Stick) Remove(_ context.Context, name string) error {
	root, err := s.open()
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return stickError(err)
	}
	return nil
}

// stickError words what a stick can suffer from.
func stickError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ENOSPC):
		return fmt.Errorf("the stick is full (%w)", err)
	case errors.Is(err, unix.EROFS):
		return fmt.Errorf("the stick cannot be written: it is write-protected, or its file system is damaged (%w)", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("the stick may not be written by the controller (%w)", err)
	case errors.Is(err, unix.EIO), errors.Is(err, unix.ENODEV), errors.Is(err, unix.ENXIO):
		return fmt.Errorf("the stick fails, or was pulled out (%w)", err)
	}
	return fmt.Errorf("the stick: %w", err)
}
