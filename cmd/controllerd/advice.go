package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"regexp"
	"strings"

	"svc.internal/controller/appliance"
	"svc.internal/controller/store"
)

// accessAdvice adds to an error of opening the data directory what to do about it.
func (a *app) accessAdvice(err error) error {
	if errors.Is(err, store.ErrNoDatabase) {
		return fmt.Errorf("%w; is --data-dir right? A new controller begins with 'controllerd serve', 'site import', 'user add', 'key add' or 'restore'", err)
	}
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if _, missing := os.Lstat(a.dataDir); errors.Is(missing, fs.ErrNotExist) {
		return fmt.Errorf("%w; make it as root: install -d -o controllerd -g controllerd -m 0700 %s, or choose another with --data-dir", err, a.dataDir)
	}
	return fmt.Errorf("%w; use the account that the daemon runs as: sudo -u controllerd controllerd …; if that is this one, "+
		"files belong to somebody else: sudo chown -R controllerd: %s", err, a.dataDir)
}

// lockAdvice does the same where the data directory has to be free; busy is what to
// do if it is not.
func (a *app) lockAdvice(err error, busy string) error {
	if errors.Is(err, store.ErrLocked) {
		return fmt.Errorf("%w; %s", err, busy)
	}
	return a.accessAdvice(err)
}

// listAdvice adds to an error about a name that is not there which command lists
// those that are.
func listAdvice(err error, command string) error {
	if errors.Is(err, appliance.ErrNotFound) {
		return fmt.Errorf("%w; '%s' shows those there are", err, command)
	}
	return err
}

// levelFlag is the flag --log-level.
type levelFlag struct{ *slog.LevelVar }

// Set takes the name of a level.
func (f levelFlag) Set(text string) error {
	if err := f.UnmarshalText([]byte(text)); err != nil {
		return errors.New("want DEBUG, INFO, WARN or ERROR")
	}
	return nil
}

// String is the name of the level in force; help shows the one at the start.
func (f levelFlag) String() string {
	if f.LevelVar == nil {
		return ""
	}
	return f.Level().String()
}

// Type is what help calls the value.
func (levelFlag) Type() string { return "level" }

// exclusive is what cobra says of flags that cannot be given together.
var exclusive = regexp.MustCompile(`; \[([^\]]+)\] were all set$`)

// flagGroups words what cobra says of flags that do not go together.
func flagGroups(err error) string {
	together := exclusive.FindStringSubmatch(err.Error())
	if together == nil {
		return err.Error()
	}
	return "--" + strings.Join(strings.Fields(together[1]), " and --") + " exclude each other"
}
