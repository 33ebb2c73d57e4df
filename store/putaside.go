package store

import (
	"context"
	"database/sql"
	"fmt"

	"svc.internal/controller/appliance"
)

// Asides are what people put aside of what needs somebody. What cannot be read is left out, and shown again.
func (s *Store) Asides(ctx context.Context) (out []appliance.Aside, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		return each(ctx, tx, func(any, error) {}, func(row scanner) error {
			var a appliance.Aside
			var at int64
			if err := row.Scan(&a.Key, &a.By, &at); err != nil {
				return err
			}
			a.At = moment(at)
			out = append(out, a)
			return nil
		}, "SELECT key, who, at FROM aside ORDER BY key")
	})
	if err != nil {
		return nil, fmt.Errorf("read what was put aside: %w", err)
	}
	return out, nil
}

// PutAside keeps that somebody put something aside, in the place of what was kept of it.
func (s *Store) PutAside(ctx context.Context, a appliance.Aside) error {
	return s.asided(ctx, "INSERT OR REPLACE INTO aside (key, who, at) VALUES (?, ?, ?)", a.Key, a.By, nanos(a.At))
}

// EndAside forgets it; it need not be there.
func (s *Store) EndAside(ctx context.Context, key string) error {
	return s.asided(ctx, "DELETE FROM aside WHERE key = ?", key)
}

func (s *Store) asided(ctx context.Context, statement string, values ...any) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, statement, values...)
		return err
	})
	if err != nil {
		return fmt.Errorf("put aside: %w", err)
	}
	return nil
}
