package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

//go:embed migrations/*.sql
var migrations embed.FS

// applicationID marks a database file as a controller's: "CTLR" in ASCII.
const applicationID = 0x43544c52

// ErrNewer: the database was written by a newer version of this program.
var ErrNewer = errors.New("database of a newer version")

// migrate brings the database at path to the version that steps lead to, in one
// transaction. A database that holds something already is copied beside itself
// first, to path.v<old version>; with no path there is no copy.
func migrate(ctx context.Context, db *sql.DB, path string, steps []string) error {
	version, err := versionOf(ctx, db)
	if err != nil {
		return err
	}
	if version > len(steps) {
		return fmt.Errorf("%w: %s has version %d, this program knows up to %d; install the newer program or restore an older backup",
			ErrNewer, path, version, len(steps))
	}
	if version == len(steps) {
		return nil
	}
	if version > 0 && path != "" {
		if err := keepCopy(ctx, db, copyBefore(path, version)); err != nil {
			return fmt.Errorf("keep a copy of %s before migrating it: %w", path, err)
		}
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for i := version; i < len(steps); i++ {
		if _, err := tx.ExecContext(ctx, steps[i]); err != nil {
			return fmt.Errorf("migrate %s to version %d: %w", path, i+1, err)
		}
	}
	// Pragmas take no parameters; both values are our own integers.
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d",
		len(steps), applicationID)); err != nil {
		return fmt.Errorf("migrate %s: %w", path, err)
	}
	return tx.Commit()
}

// copyBefore is where the database at path is kept as it was in a version.
func copyBefore(path string, version int) string { return fmt.Sprintf("%s.v%d", path, version) }

// versionOf reads user_version and refuses files that are not a controller's.
func versionOf(ctx context.Context, db *sql.DB) (int, error) {
	var version, app, tables int
	err := db.QueryRowContext(ctx,
		"SELECT (SELECT user_version FROM pragma_user_version), (SELECT application_id FROM pragma_application_id), (SELECT count(*) FROM sqlite_schema)").
		Scan(&version, &app, &tables)
	if err != nil {
		return 0, fmt.Errorf("read the version of the database: %w", err)
	}
	if tables > 0 && app != applicationID {
		return 0, errors.New("this SQLite file is not a controller's database")
	}
	return version, nil
}

// keepCopy writes a consistent copy to file, replacing an older one.
func keepCopy(ctx context.Context, db *sql.DB, file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return vacuumInto(ctx, db, file)
}
