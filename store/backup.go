package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
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
	part, err := s.copyBeside(ctx, file)
	if err != nil {
		return err
	}
	if err := os.Rename(part, file); err != nil {
		os.Remove(part)
		return err
	}
	return syncDir(filepath.Dir(file))
}

// BackupTo writes what [Store.Backup] does to a stream. Nothing is written before
// the copy is complete; until it is, it lies in the data directory, whose other
// files hold the same secrets.
func (s *Store) BackupTo(ctx context.Context, w io.Writer) error {
	if err := s.backupTo(ctx, w); err != nil {
		return fmt.Errorf("back up to a stream: %w", err)
	}
	return nil
}

func (s *Store) backupTo(ctx context.Context, w io.Writer) error {
	part, err := s.copyBeside(ctx, filepath.Join(filepath.Dir(s.path), "backup"))
	if err != nil {
		return err
	}
	f, err := os.Open(part)
	// However slow the reader is and however this ends, no file is left.
	if err := errors.Join(err, os.Remove(part)); err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// copyBeside makes a synced copy of the database in the directory of file, with
// mode 0600 and a name of its own.
func (s *Store) copyBeside(ctx context.Context, file string) (part string, err error) {
	tmp, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*.part") // mode 0600
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			os.Remove(tmp.Name())
		}
	}()
	if err := tmp.Close(); err != nil {
		return "", err
	}
	// A connection of its own: a query-only one may not VACUUM INTO, and a
	// writer's would keep writers waiting.
	db, err := connect(s.path, pragmas(), 1)
	if err != nil {
		return "", err
	}
	defer db.Close()
	return tmp.Name(), vacuumInto(ctx, db, tmp.Name())
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
