package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// BackupOptions of one backup.
type BackupOptions struct {
	Overwrite bool // replace a file that is there
}

// Backup writes everything (site, IDs, users, keys, secrets, last state, ledger)
// to one file, consistent at one moment, while everything runs. The file has
// mode 0600 and is on disk when Backup returns; it holds secrets. An existing
// file is refused with [fs.ErrExist] unless told otherwise.
func (s *Store) Backup(ctx context.Context, file string, opts BackupOptions) error {
	if err := s.backup(ctx, file, opts); err != nil {
		return fmt.Errorf("back up to %s: %w", file, err)
	}
	return nil
}

func (s *Store) backup(ctx context.Context, file string, opts BackupOptions) error {
	if there, err := os.Stat(file); err == nil {
		if !opts.Overwrite {
			return fs.ErrExist
		}
		if own, err := os.Stat(s.path); err != nil || os.SameFile(there, own) {
			return errors.Join(errors.New("that is the database itself"), err)
		}
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*.part") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone after the rename
	if err := tmp.Close(); err != nil {
		return err
	}
	// A connection of its own: a query-only one may not VACUUM INTO, and a
	// writer's would keep writers waiting.
	db, err := connect(s.path, pragmas(), 1)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := vacuumInto(ctx, db, tmp.Name()); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), file); err != nil {
		return err
	}
	return syncDir(filepath.Dir(file))
}

// vacuumInto copies the database to file, which is made with mode 0600 and must
// be missing or empty, and syncs it.
func vacuumInto(ctx context.Context, db *sql.DB, file string) error {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", file); err != nil {
		return err
	}
	return f.Sync()
}

// syncDir makes a rename in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
