package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Secret returns what is kept under name. The first time ever, on whatever
// instance, it is made by calling create, and is durable before it is returned.
func (s *Store) Secret(ctx context.Context, name string, create func() ([]byte, error)) ([]byte, error) {
	var value []byte
	const find = "SELECT value FROM secret WHERE name = $1"
	err := s.views.QueryRowContext(ctx, find, name).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		err = s.write(ctx, func(tx *sql.Tx) error {
			err := tx.QueryRowContext(ctx, find, name).Scan(&value) // another instance may have been first
			if !errors.Is(err, sql.ErrNoRows) {
				return err
			}
			if value, err = create(); err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, "INSERT INTO secret (name, value) VALUES ($1, $2)", name, value)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("secret %s: %w", name, err)
	}
	return value, nil
}
