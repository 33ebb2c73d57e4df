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
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/database"
	"svc.internal/controller/site/backup"
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
// on the way leaves either the old database or the new one, and nothing besides. A passphrase is for a backup
// that is encrypted, nil for one that is not.
//
// IDs never go back: what the replaced database knows to be used and the backup
// does not becomes a tombstone, and the higher high-water mark holds. On blank
// hardware only the backup can know.
func Restore(ctx context.Context, file, dataDir string, passphrase *string) (Restored, error) {
	archive, err := readBackup(ctx, file, passphrase)
	if err != nil {
		return Restored{}, fmt.Errorf("restore %s to %s: %w", file, dataDir, err)
	}
	return RestoreArchive(ctx, archive, dataDir, account.Audit{Who: "controllerd restore", From: "console"})
}

// RestoreArchive is [Restore] for a backup that was read already. Who does it is noted in the audit log of
// what is restored.
func RestoreArchive(ctx context.Context, archive backup.Archive, dataDir string, by account.Audit) (Restored, error) {
	r, err := restore(ctx, archive, dataDir, by)
	if err != nil {
		return Restored{}, fmt.Errorf("restore to %s: %w", dataDir, err)
	}
	return r, nil
}

func restore(ctx context.Context, archive backup.Archive, dataDir string, by account.Audit) (Restored, error) {
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
	db, err := openBackup(ctx, archive)
	if err != nil {
		return Restored{}, err
	}
	defer db.Close()
	var r Restored
	if _, err := os.Stat(path); err == nil {
		if err := carryIDs(ctx, path, db); err != nil {
			r.Warning = fmt.Sprintf("the replaced database cannot be read (%v): IDs handed out after the backup was made may be handed out again", err)
		}
	}
	profiles := profilesOf(archive.Files)
	by.What, by.Subject, by.Accounts = "backup.restore", "backup", true
	by.Detail = jsonText(map[string]string{"made": archive.Made.UTC().Format(time.RFC3339)})
	err = transact(ctx, db, func(tx *sql.Tx) error {
		return errors.Join(noteAudit(ctx, tx, time.Now(), by), keepPending(ctx, tx, profiles))
	})
	if err != nil {
		return Restored{}, err
	}
	image, err := serialized(ctx, db)
	if err != nil {
		return Restored{}, err
	}
	if r.Replaced, err = replaceDatabase(path, image); err != nil {
		return r, err
	}
	return r, putProfiles(dataDir, profiles)
}

func readBackup(ctx context.Context, file string, passphrase *string) (backup.Archive, error) {
	f, err := os.Open(file)
	if err != nil {
		return backup.Archive{}, err
	}
	defer f.Close()
	return backup.Read(ctx, f, passphrase)
}

// openBackup opens the database of a backup in memory, where a process that is killed
// leaves nothing of it, after making sure that it is whole; brings it to the version of
// this program, and has it forget what may be otherwise by now.
func openBackup(ctx context.Context, archive backup.Archive) (*sql.DB, error) {
	db, err := openImage(ctx, archive.Database)
	if err != nil {
		return nil, fmt.Errorf("the backup: %w", err)
	}
	err = transact(ctx, db, func(tx *sql.Tx) error {
		return errors.Join(forgetDevices(ctx, tx), forgetLogins(ctx, tx), takeCertificate(ctx, tx, archive.Files))
	})
	if err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// openImage opens in memory what the bytes of a database file say, after making sure that
// they are whole, and brings it to the version of this program.
func openImage(ctx context.Context, image []byte) (*sql.DB, error) {
	db, err := fileAt("").Memory()
	if err != nil {
		return nil, err
	}
	err = onConnection(ctx, db, func(c memoryDatabase) error { return c.Deserialize(image) })
	if err == nil {
		err = bringUp(ctx, db)
	}
	if err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// memoryDatabase is what SQLite's driver can do with a database in memory.
type memoryDatabase interface {
	Serialize() ([]byte, error)
	Deserialize([]byte) error
}

// onConnection calls f with the one connection of a database in memory.
func onConnection(ctx context.Context, db *sql.DB, f func(memoryDatabase) error) error {
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Raw(func(raw any) error { return f(raw.(memoryDatabase)) })
}

// serialized is a database in memory as the bytes of a file.
func serialized(ctx context.Context, db *sql.DB) (image []byte, err error) {
	err = onConnection(ctx, db, func(c memoryDatabase) error { image, err = c.Serialize(); return err })
	return image, err
}

// isNoDatabase reports whether SQLite could make nothing of a file.
func isNoDatabase(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code() == sqlite3.SQLITE_NOTADB
}

func bringUp(ctx context.Context, db *sql.DB) error {
	version, err := versionOf(ctx, db)
	if isNoDatabase(err) {
		return errors.New("it holds no database")
	}
	if err != nil {
		return err
	}
	if version == 0 {
		return errors.New("it is empty")
	}
	// Ours has tables only; what else somebody put in would be carried out when they are read.
	var foreign string
	err = db.QueryRowContext(ctx, "SELECT type || ' ' || name FROM sqlite_schema WHERE type NOT IN ('table', 'index') LIMIT 1").Scan(&foreign)
	if err == nil {
		return fmt.Errorf("it is not a controller's: it holds the %.200s", foreign)
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil || verdict != "ok" {
		return errors.Join(fmt.Errorf("it is damaged: %s", verdict), err)
	}
	steps, err := database.Steps(migrations)
	if err != nil {
		return err
	}
	return migrate(ctx, db, "", steps)
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
	old, err := fileAt(path).Writer(database.Full)
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

// replaceDatabase puts an image in the place of the database at path, and says where that is kept. Both are one
// rename each, so that a power cut leaves the one or the other. A log that could not be
// checkpointed is kept with its database: it must not meet another one.
func replaceDatabase(path string, image []byte) (kept string, err error) {
	fresh, err := newAnonymous(path)
	if err != nil {
		return "", err
	}
	defer fresh.discard()
	if _, err := fresh.Write(image); err != nil {
		return "", err
	}
	if err := fresh.Sync(); err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err == nil {
		kept = path + ".replaced-" + time.Now().UTC().Format("20060102T150405.000Z")
		if err := keep(path, kept); err != nil {
			return "", fmt.Errorf("keep the database that is there: %w", err)
		}
	}
	for _, left := range []string{path + "-wal", path + "-shm"} {
		if err := os.Remove(left); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	if err := fresh.become(path, true); err != nil {
		return "", err
	}
	return kept, thinOut(path)
}

// keep gives the database at path a second name.
func keep(path, kept string) error {
	for _, suffix := range []string{"", "-wal"} {
		err := os.Link(path+suffix, kept+suffix)
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EOPNOTSUPP) { // a file system without links
			err = copyFile(path+suffix, kept+suffix)
		}
		if err != nil && !(suffix != "" && errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	return nil
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
