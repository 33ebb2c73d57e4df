package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"svc.internal/controller/site/backup"
)

// SealedBackup makes a backup as [Store.Backup] does, in a file of the data directory that has no name and is gone when it is
// closed. It is read from its beginning.
func (s *Store) SealedBackup(ctx context.Context, seal backup.Seal) (io.ReadSeekCloser, error) {
	out, err := newAnonymous(filepath.Join(filepath.Dir(s.path), "offsite"))
	if err == nil {
		if err = s.pack(ctx, out, seal); err == nil {
			_, err = out.Seek(0, io.SeekStart)
		}
		if err == nil {
			return unnamed{out}, nil
		}
		out.discard()
	}
	return nil, fmt.Errorf("back up: %w", err)
}

// unnamed is an anonymous file that is discarded when it is closed.
type unnamed struct{ *anonymous }

func (u unnamed) Close() error { u.discard(); return nil }

// KeptSecret returns what is kept under a name, nil if nothing is.
func (s *Store) KeptSecret(ctx context.Context, name string) (value []byte, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, "SELECT value FROM secret WHERE name = ?", name).Scan(&value)
	})
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("secret %s: %w", name, err)
	}
	return value, nil
}
