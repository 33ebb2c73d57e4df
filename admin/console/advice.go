package console

import (
	"errors"
	"fmt"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/cli"
	"svc.internal/controller/store"
)

// accessAdvice adds to an error of opening the data directory what to do about it.
func (a *App) accessAdvice(err error) error {
	if errors.Is(err, store.ErrNoDatabase) {
		return fmt.Errorf("%w; is --data-dir right? A new controller begins with 'controllerd serve', 'site import', 'user add', 'key add' or 'restore'", err)
	}
	return cli.AccessAdvice("controllerd", a.DataDir, err)
}

// notRunning says that no daemon serves the data directory, or that it is no controller's.
func (a *App) notRunning() error {
	if err := store.Exists(a.DataDir); err != nil {
		return a.accessAdvice(err)
	}
	return fmt.Errorf("%w on the data directory %s", errNotRunning, a.DataDir)
}

// LockAdvice does as accessAdvice where the data directory has to be free; busy is what
// to do if it is not.
func (a *App) LockAdvice(err error, busy string) error {
	if errors.Is(err, store.ErrLocked) {
		return fmt.Errorf("%w; %s", err, busy)
	}
	return a.accessAdvice(err)
}

// oneOf asks for one of several ways to say what is meant; both: more than one was given.
func oneOf(ways string, both bool) error {
	if both {
		ways += ", not both"
	}
	return errors.New(ways)
}

// listAdvice adds to an error about a name that is not there which command lists
// those that are.
func listAdvice(err error, command string) error {
	if errors.Is(err, appliance.ErrNotFound) {
		return fmt.Errorf("%w; '%s' shows those there are", err, command)
	}
	return err
}
