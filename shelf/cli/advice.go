package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"syscall"
)

// Log writes to standard error, where systemd and people look.
func Log(level *slog.LevelVar) *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
}

// AccessAdvice adds to an error of opening a program's data directory what to do if it
// may not be opened.
func AccessAdvice(program, dataDir string, err error) error {
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if _, missing := os.Lstat(dataDir); errors.Is(missing, fs.ErrNotExist) {
		return fmt.Errorf("%w; make it as root: install -d -o %[2]s -g %[2]s -m 0700 %[3]s, or choose another with --data-dir", err, program, dataDir)
	}
	return fmt.Errorf("%w; use the account that the daemon runs as: sudo -u %[2]s %[2]s …; if that is this one, "+
		"files belong to somebody else: sudo chown -R %[2]s: %[3]s", err, program, dataDir)
}

// ListenHint says what to do about an address that cannot be bound; flag is the one that gives it.
func ListenHint(flag string, err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("; allow ports below 1024 with the capability CAP_NET_BIND_SERVICE, or choose another with %[1]s, such as %[1]s :8443", flag)
	case errors.Is(err, syscall.EADDRINUSE):
		return "; another program has it: choose another with " + flag
	}
	return ""
}
