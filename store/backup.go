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

	"svc.internal/controller/site/backup"
)

// BackupOptions of one backup.
type BackupOptions struct {
	Overwrite bool        // replace a file that is there
	Seal      backup.Seal // encrypt it so; the zero Seal: do not
}

// Backup writes everything (site, IDs, users, keys, secrets, last state, ledger, installers' profiles, an own
// certificate) to one file, consistent at one moment, while everything runs. The file has
// mode 0600 and is on disk when Backup returns; it holds secrets. An existing
// file is refused with [fs.ErrExist] unless told otherwise. A process that is killed meanwhile leaves no file.
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
	out, err := newAnonymous(file)
	if err != nil {
		return err
	}
	defer out.discard()
	if err := s.pack(ctx, out, opts.Seal); err != nil {
		return err
	}
	return out.become(file, opts.Overwrite)
}

// BackupTo writes what [Store.Backup] does to a stream. Nothing is written before
// the copy is complete; until it is, it lies in the data directory without a name.
func (s *Store) BackupTo(ctx context.Context, w io.Writer, seal backup.Seal) error {
	out, err := newAnonymous(filepath.Join(filepath.Dir(s.path), "backup"))
	if err == nil {
		defer out.discard()
		if err = s.pack(ctx, out, seal); err == nil {
			err = sendAll(w, out.File)
		}
	}
	if err != nil {
		return fmt.Errorf("back up to a stream: %w", err)
	}
	return nil
}

// pack writes a whole backup.
func (s *Store) pack(ctx context.Context, w io.Writer, seal backup.Seal) error {
	image, err := newAnonymous(filepath.Join(filepath.Dir(s.path), "backup"))
	if err != nil {
		return err
	}
	defer image.discard()
	size, err := s.image(ctx, image)
	if err != nil {
		return err
	}
	files, err := s.besides(ctx)
	if err != nil {
		return err
	}
	if _, err := image.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return backup.Write(w, seal, s.now(), image, size, files)
}

// image copies the database page by page as it is at one moment. (VACUUM INTO would need a name for the copy,
// which a process that is killed leaves behind.)
func (s *Store) image(ctx context.Context, to io.WriterAt) (size int64, err error) {
	// A connection of its own: a writer's would keep writers waiting.
	db, err := fileAt(s.path).Reader(1, 1)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	err = transact(ctx, db, func(tx *sql.Tx) error {
		if err := whole(ctx, tx); err != nil {
			return err
		}
		rows, err := tx.QueryContext(ctx, "SELECT pgno, data FROM sqlite_dbpage ORDER BY pgno")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var number int64
			var page sql.RawBytes
			if err := rows.Scan(&number, &page); err != nil {
				return err
			}
			if _, err := to.WriteAt(page, (number-1)*int64(len(page))); err != nil {
				return err
			}
			size = max(size, number*int64(len(page)))
		}
		return rows.Err()
	})
	if err != nil {
		return 0, err
	}
	// One file without a log: bytes 18 and 19 are the versions of the format for writing and reading (SQLite
	// file format, 1.3.3).
	_, err = to.WriteAt([]byte{1, 1}, 18)
	return size, err
}

// whole refuses a database that is damaged: a backup of it would be worth nothing.
func whole(ctx context.Context, tx *sql.Tx) error {
	var verdict string
	if err := tx.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("the database is damaged: %s", verdict)
	}
	return nil
}

// profileFolder of the data directory holds installers' profiles.
const profileFolder = "profiles"

// profileMost is the largest profile that is kept.
const profileMost = 1 << 20

// besides reads the files that go with the database.
func (s *Store) besides(ctx context.Context) ([]backup.File, error) {
	dir := filepath.Join(filepath.Dir(s.path), profileFolder)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var files []backup.File
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() > profileMost || e.Name()[0] == '.' {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			s.log.Warn("a profile cannot be read and is not in the backup", "file", e.Name(), "why", err)
			continue
		}
		files = append(files, backup.File{Name: profileFolder + "/" + e.Name(), Data: data})
	}
	return append(files, s.ownCertificate(ctx)...), nil
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
