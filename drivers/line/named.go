package line

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// devices is where serial ports are.
const devices = "/dev/"

// CheckPort refuses what cannot be a serial port: whoever may change a site could
// otherwise have the daemon open any file. What is not there may be plugged in later, and
// is judged then.
func CheckPort(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("port %q: want a device path from /", path)
	}
	if _, err := deviceAt(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// deviceAt is the terminal below /dev that a path leads to, through all symbolic links
// such as those of /dev/serial/by-id. Nothing is opened: /dev/watchdog restarts the machine
// of whoever does.
func deviceAt(path string) (string, error) {
	at, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	var is unix.Stat_t
	if err := unix.Lstat(at, &is); err != nil {
		return "", &fs.PathError{Op: "lstat", Path: at, Err: err}
	}
	if !strings.HasPrefix(at, devices) || is.Mode&unix.S_IFMT != unix.S_IFCHR || !terminal(unix.Major(uint64(is.Rdev)), unix.Minor(uint64(is.Rdev))) {
		return "", fmt.Errorf("port %s is no serial port: want a terminal below /dev such as /dev/ttyUSB0, best by its name in /dev/serial/by-id", path)
	}
	return at, nil
}

// Pseudo-terminals are the character devices that sysfs does not have: their numbers are
// in Linux' Documentation/admin-guide/devices.txt.
const (
	ptyFirst = 136
	ptyLast  = 143
)

// terminal asks the kernel what kind of character device this is.
func terminal(major, minor uint32) bool {
	if major >= ptyFirst && major <= ptyLast {
		return true
	}
	kind, err := os.Readlink(fmt.Sprintf("/sys/dev/char/%d:%d/subsystem", major, minor))
	return err == nil && filepath.Base(kind) == "tty"
}
