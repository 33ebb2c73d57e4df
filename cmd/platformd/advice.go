package main

import (
	"errors"
	"fmt"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/store"
	"svc.internal/controller/shelf/cli"
)

// accessAdvice adds to an error of opening the database what to do about it.
func (a *app) accessAdvice(err error) error {
	if errors.Is(err, store.ErrNoDatabase) {
		return fmt.Errorf("%w; is --data-dir right? A new platform begins with 'platformd user add' or 'platformd serve'", err)
	}
	return cli.AccessAdvice("platformd", a.dataDir, err)
}

// listAdvice adds to an error about a name that is not there which command lists
// those that are.
func listAdvice(err error, command string) error {
	if errors.Is(err, platform.ErrNotFound) {
		return fmt.Errorf("%w; '%s' shows those there are", err, command)
	}
	return err
}
