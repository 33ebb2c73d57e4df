package line

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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

// deviceAt is the character device below /dev that a path leads to, through all symbolic
// links such as those of /dev/serial/by-id.
func deviceAt(path string) (string, error) {
	at, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	info, err := os.Lstat(at)
	if err != nil {
		return "", err
	}
	if !strings.HasPrefix(at, devices) || info.Mode()&fs.ModeCharDevice == 0 {
		return "", fmt.Errorf("port %s is no serial port: want a character device below /dev, best by its name in /dev/serial/by-id", path)
	}
	return at, nil
}
