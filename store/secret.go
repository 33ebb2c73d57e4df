package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"svc.internal/controller/shelf/account"
)

// Secret returns what is kept under name. The first time ever, in whatever
// process, it is made by calling create once, and is durable before it is
// returned.
func (s *Store) Secret(ctx context.Context, name string, create func() ([]byte, error)) ([]byte, error) {
	var value []byte
	find := func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, "SELECT value FROM secret WHERE name = ?", name).Scan(&value)
	}
	err := s.view(ctx, find)
	if errors.Is(err, sql.ErrNoRows) {
		err = s.write(ctx, func(tx *sql.Tx) error {
			err := find(tx) // another process may have been first
			if !errors.Is(err, sql.ErrNoRows) {
				return err
			}
			if value, err = create(); err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, "INSERT INTO secret (name, value) VALUES (?, ?)", name, value)
			return err
		})
	}
	if errors.Is(err, account.ErrNotKept) {
		if value, err = create(); err == nil {
			s.log.Warn("made anew at the next start, since nothing can be kept", "secret", name)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("secret %s: %w", name, err)
	}
	return value, nil
}

// ReplaceSecret keeps another value under that name.
func (s *Store) ReplaceSecret(ctx context.Context, name string, value []byte) error {
	err := s.write(ctx, func(tx *sql.Tx) error { return putSecret(ctx, tx, name, value) })
	if err != nil {
		return fmt.Errorf("secret %s: %w", name, err)
	}
	return nil
}

func putSecret(ctx context.Context, tx *sql.Tx, name string, value []byte) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO secret (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2", name, value)
	return err
}
