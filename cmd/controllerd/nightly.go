package main

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"time"

	"svc.internal/controller/admin/operations"
)

// nightlyEvery is how often the daemon looks whether a backup is due.
const nightlyEvery = 10 * time.Minute

// nightly is where the daemon makes a backup by itself each night, and why the last try failed; nil: it did not.
type nightly struct {
	folder  string
	failed  atomic.Pointer[string]
	offsite *operations.Offsite // copies of them outside of the box
}

// backupNightly makes backups until ctx ends. Its trouble is logged once, until it is over.
func (d *daemon) backupNightly(ctx context.Context) error {
	for {
		select { // not at once: there is enough to do at the start
		case <-time.After(nightlyEvery):
		case <-ctx.Done():
			return nil
		}
		d.backupIfDue(ctx)
	}
}

func (d *daemon) backupIfDue(ctx context.Context) {
	file, err := d.db.Nightly(ctx, d.nightly.folder)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		why := err.Error()
		if d.nightly.failed.Swap(&why) == nil {
			d.log.Error("no nightly backup; lights and shades go on", "why", err)
		}
		return
	case file != "":
		d.log.Info("nightly backup", "file", file)
	}
	d.nightly.failed.Store(nil)
}

// backups is the folder of backups that are made by themselves.
func (cfg serveConfig) backups(dataDir string) string {
	if cfg.backupDir != "" {
		return cfg.backupDir
	}
	return filepath.Join(dataDir, operations.BackupFolder)
}

// watchNightly looks at the houses of other controllers that are watched, until ctx ends.
func (d *daemon) watchNightly(ctx context.Context) error {
	trouble := false // is told once
	for {
		select {
		case <-time.After(nightlyEvery):
		case <-ctx.Done():
			return nil
		}
		due, err := d.db.DueWatches(ctx)
		for _, w := range due {
			err = errors.Join(err, operations.LookAgain(ctx, d.db, d.log, w))
		}
		if err != nil && ctx.Err() == nil && !trouble {
			d.log.Error("houses that are watched are not looked at", "why", err)
		}
		trouble = err != nil
	}
}
