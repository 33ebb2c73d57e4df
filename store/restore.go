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
	"slices"
	"time"

	"golang.org/x/sys/unix"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"svc.internal/controller/appliance"
)

// Restored says what a restore did.
type Restored struct {
	// Replaced is where the database that was there before is kept; empty if there
	// was none.
	Replaced string
	// Warning says that IDs handed out after the backup was made could not be
	// read, so that they may be handed out again; empty if all is well.
	Warning string
}

// Restore replaces the database of a data directory by a backup. It returns
// [ErrLocked] while a daemon or a command has the directory open, and refuses a
// file that is damaged, not a controller's, or of a newer version. A power cut
// on the way leaves either the old database or the new one.
//
// IDs never go back: what the replaced database knows to be used and the backup
// does not becomes a tombstone, and the higher high-water mark holds. On blank
// hardware only the backup can know.
func Restore(ctx context.Context, file, dataDir string) (Restored, error) {
	r, err := restore(ctx, file, dataDir)
	if err != nil {
		return Restored{}, fmt.Errorf("restore %s to %s: %w", file, dataDir, err)
	}
	return r, nil
}

func restore(ctx context.Context, file, dataDir string) (Restored, error) {
	dataDir, err := filepath.Abs(dataDir)
	if err != nil {
		return Restored{}, err
	}
	daemon, err := Lock(dataDir)
	if err != nil {
		return Restored{}, err
	}
	defer daemon.Release()
	alone, err := take(dataDir, byteUse, unix.F_WRLCK)
	if err != nil {
		return Restored{}, fmt.Errorf("another command has the database open: %w", err)
	}
	defer alone.Release()

	path := filepath.Join(dataDir, databaseFile)
	fresh := path + ".restoring"
	defer removeDatabase(fresh) // gone after the rename
	if err := errors.Join(removeDatabase(fresh), copyFile(file, fresh)); err != nil {
		return Restored{}, err
	}
	db, err := openCopy(ctx, fresh)
	if err != nil {
		return Restored{}, err
	}
	defer db.Close()
	err = transact(ctx, db, func(tx *sql.Tx) error {
		return errors.Join(forgetDevices(ctx, tx), forgetLogins(ctx, tx))
	})
	if err != nil {
		return Restored{}, err
	}
	var r Restored
	if _, err := os.Stat(path); err == nil {
		if err := carryIDs(ctx, path, db); err != nil {
			r.Warning = fmt.Sprintf("the replaced database cannot be read (%v): IDs handed out after the backup was made may be handed out again", err)
		}
		if r.Replaced, err = keepReplaced(path); err != nil {
			return Restored{}, fmt.Errorf("keep the database that is there: %w", err)
		}
	}
	if err := db.Close(); err != nil {
		return Restored{}, err
	}
	return r, moveInto(fresh, path)
}

// openCopy opens the copy of a backup after making sure that it is whole, and
// brings it to the version of this program.
func openCopy(ctx context.Context, path string) (*sql.DB, error) {
	p := writer("FULL")
	p.Set("_journal_mode", "DELETE") // one file, nothing beside it
	db, err := connect(path, p, 1)
	if err != nil {
		return nil, err
	}
	if err := bringUp(ctx, db, path); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// isNoDatabase reports whether SQLite could make nothing of a file.
func isNoDatabase(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code() == sqlite3.SQLITE_NOTADB
}

func bringUp(ctx context.Context, db *sql.DB, path string) error {
	version, err := versionOf(ctx, db)
	if isNoDatabase(err) {
		return errors.New("the file is not a backup of a controller")
	}
	if err != nil {
		return err
	}
	if version == 0 {
		return errors.New("the file is empty, not a backup")
	}
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil || verdict != "ok" {
		return errors.Join(fmt.Errorf("the backup is damaged: %s", verdict), err)
	}
	steps, err := migrations()
	if err != nil {
		return err
	}
	// The copy that migrate keeps is that of a file that is there anyway.
	defer os.Remove(copyBefore(path, version))
	return migrate(ctx, db, path, steps)
}

// forgetDevices drops what a backup says of devices and may have changed since:
// where shades stood, which is counted on from, what lamps showed, which those are sent
// that cannot be read (the level that ON means stays), and which groups devices hold. Which
// group belongs to which cluster stays; the tables are read again before they are
// relied on.
func forgetDevices(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM state WHERE shade <> 0; UPDATE state SET has = 0"); err != nil {
		return err
	}
	memories := map[appliance.UUID]appliance.BusGroups{}
	unreadable := func(any, error) {} // left out when it is loaded, too
	err := each(ctx, tx, unreadable, func(row scanner) error {
		var bus appliance.UUID
		var groups appliance.BusGroups
		if err := row.Scan(uuidColumn{&bus}, jsonColumn[appliance.BusGroups]{&groups}); err != nil {
			return err
		}
		for i := range groups.Tables {
			groups.Tables[i].Known = false
		}
		memories[bus] = groups
		return nil
	}, "SELECT bus, memory FROM bus_groups")
	for bus, groups := range memories {
		if err == nil {
			_, err = tx.ExecContext(ctx, "UPDATE bus_groups SET memory = ? WHERE bus = ?", jsonText(groups), bus[:])
		}
	}
	return err
}

// forgetLogins ends all logins of the backup: a change of a password, or the removal of
// a user, may have ended them since. Access tokens are void by a new secret. A migration
// is known to be of before.
func forgetLogins(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM refresh_token; DELETE FROM secret WHERE name LIKE '%token-secret'; UPDATE migration SET restored = 1")
	return err
}

// carryIDs takes over from the database at path every ID that the one in into
// does not know to be used.
func carryIDs(ctx context.Context, path string, into *sql.DB) error {
	old, err := connect(path, writer("FULL"), 1)
	if err != nil {
		return err
	}
	defer old.Close() // checkpoints the log into the database
	known := map[Family]*ids{}
	var userRevision int64
	err = transact(ctx, old, func(tx *sql.Tx) error {
		for _, f := range families {
			known[f] = &ids{}
			var knows bool // an older database may not have the family yet
			if err = tx.QueryRowContext(ctx, "SELECT count(*) > 0 FROM mark WHERE family = ?", f).Scan(&knows); err != nil {
				return err
			}
			if !knows {
				continue
			}
			if known[f], err = loadIDs(ctx, tx, f); err != nil {
				return err
			}
		}
		return tx.QueryRowContext(ctx, "SELECT high FROM mark WHERE family = 'user revision'").Scan(&userRevision)
	})
	if err != nil {
		return err
	}
	return transact(ctx, into, func(tx *sql.Tx) error {
		for _, f := range families {
			if err := carryFamily(ctx, tx, f, known[f]); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, "UPDATE mark SET high = max(high, ?) WHERE family = 'user revision'", userRevision)
		return err
	})
}

func carryFamily(ctx context.Context, tx *sql.Tx, f Family, old *ids) error {
	have, err := loadIDs(ctx, tx, f)
	if err != nil {
		return err
	}
	if err := saveMark(ctx, tx, f, old.mark); err != nil {
		return err
	}
	now := time.Now().UnixNano()
	uuids := index(have.live)
	for uuid, n := range index(have.retired) {
		uuids[uuid] = n
	}
	for _, m := range []map[appliance.ID]noun{old.retired, old.live} {
		for _, n := range sortedNouns(m) {
			// A UUID under another ID comes from another controller's backup.
			if _, same := uuids[n.UUID]; same || have.used(n.ID) {
				continue
			}
			if err := bury(ctx, tx, f, n, now, "restore"); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepReplaced copies the database at path beside itself. A log that could not
// be checkpointed is copied with it and removed: it must not meet another
// database.
func keepReplaced(path string) (string, error) {
	kept := path + ".replaced-" + time.Now().UTC().Format("20060102T150405.000Z")
	if err := copyFile(path, kept); err != nil {
		return "", err
	}
	if err := copyFile(path+"-wal", kept+"-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return kept, thinOut(path)
}

// replacedMost is how many replaced databases are kept.
const replacedMost = 3

// thinOut removes the oldest of the replaced databases beside path.
func thinOut(path string) error {
	kept, err := filepath.Glob(path + ".replaced-*Z") // those of their logs end in -wal
	if err != nil {
		return err
	}
	slices.Sort(kept) // by time
	for _, old := range kept[:max(0, len(kept)-replacedMost)] {
		if err := removeDatabase(old); err != nil {
			return err
		}
	}
	return nil
}

// moveInto puts the database fresh in the place of path.
func moveInto(fresh, path string) error {
	for _, left := range []string{path + "-wal", path + "-shm"} {
		if err := os.Remove(left); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.Rename(fresh, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func removeDatabase(path string) error {
	for _, file := range []string{path, path + "-wal", path + "-shm", path + "-journal"} {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// copyFile copies to a new file of mode 0600 and syncs it. What cannot be completed
// is removed: it would only fill the disk.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		os.Remove(to)
	}
	return err
}
