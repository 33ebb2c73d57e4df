package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"

	"svc.internal/controller/shelf/database"
)

//go:embed migrations/*.sql
var migrations embed.FS

// ErrNewer: the database was written by a newer version of this program.
var ErrNewer = errors.New("database of a newer version")

// migrateLock is what instances agree on, so that one migrates and others wait: the
// letters "PLAT".
const migrateLock = 0x504c4154

// migrate brings the database to the newest version, in one transaction.
func migrate(ctx context.Context, db *sql.DB, postgres bool) error {
	steps, err := database.Steps(migrations)
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if postgres {
		if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", migrateLock); err != nil {
			return fmt.Errorf("wait for other instances to migrate: %w", err)
		}
	}
	if _, err := tx.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)"); err != nil {
		return fmt.Errorf("make the table of the version: %w", err)
	}
	var version int
	if err := tx.QueryRowContext(ctx, "SELECT coalesce(max(version), 0) FROM schema_version").Scan(&version); err != nil {
		return fmt.Errorf("read the version of the database: %w", err)
	}
	if version > len(steps) {
		return fmt.Errorf("%w: it has version %d, this program knows up to %d; start the newer program or restore an older backup",
			ErrNewer, version, len(steps))
	}
	for i := version; i < len(steps); i++ {
		if _, err := tx.ExecContext(ctx, steps[i]); err != nil {
			return fmt.Errorf("migrate to version %d: %w", i+1, err)
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO schema_version (version) VALUES ($1)", i+1); err != nil {
			return fmt.Errorf("note version %d: %w", i+1, err)
		}
	}
	return tx.Commit()
}
