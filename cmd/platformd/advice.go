package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/store"
)

// accessAdvice adds to an error of opening the database what to do about it.
func (a *app) accessAdvice(err error) error {
	switch {
	case errors.Is(err, store.ErrNoDatabase):
		return fmt.Errorf("%w; is --data-dir right? A new platform begins with 'platformd user add' or 'platformd serve'", err)
	case !errors.Is(err, fs.ErrPermission):
		return err
	}
	if _, missing := os.Lstat(a.dataDir); errors.Is(missing, fs.ErrNotExist) {
		return fmt.Errorf("%w; make it as root: install -d -o platformd -g platformd -m 0700 %s, or choose another with --data-dir", err, a.dataDir)
	}
	return fmt.Errorf("%w; use the account that the daemon runs as: sudo -u platformd platformd …", err)
}

// listAdvice adds to an error about a name that is not there which command lists
// those that are.
func listAdvice(err error, command string) error {
	if errors.Is(err, platform.ErrNotFound) {
		return fmt.Errorf("%w; '%s' shows those there are", err, command)
	}
	return err
}

// listenHint says what to do about an address that cannot be bound.
func listenHint(err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "; allow ports below 1024 with the capability CAP_NET_BIND_SERVICE, or choose another with --listen, such as --listen :8443"
	case errors.Is(err, syscall.EADDRINUSE):
		return "; another program has it: choose another with --listen"
	}
	return ""
}
