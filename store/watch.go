package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

// Watch is another controller whose house is looked at every night, for what differs from when it was taken over.
type Watch struct {
	Source      string // host and port
	URL         string
	Refresh     string // refresh token that it gave: a secret
	CA          []byte // PEM; empty: Fingerprint
	Fingerprint string // SHA-256 of its certificate
	LookedAt    time.Time
	Differences int    // that the last look found
	Trouble     string // why the last look failed; empty: it did not
}

// setWatch has a house looked at every night from now on.
func (s *Store) setWatch(ctx context.Context, tx *sql.Tx, w Watch) error {
	_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO watch (source, url, refresh, ca, fingerprint, looked_at) VALUES (?, ?, ?, ?, ?, ?)",
		w.Source, w.URL, w.Refresh, string(w.CA), w.Fingerprint, nanos(s.now()))
	return err
}

// EndWatch has a house looked at no more. It returns [appliance.ErrNotFound] if it was not.
func (s *Store) EndWatch(ctx context.Context, source string) error {
	return s.changeWatch(ctx, source, "DELETE FROM watch WHERE source = ?1")
}

// Looked notes what a look has found, and the token that it was given.
func (s *Store) Looked(ctx context.Context, w Watch) error {
	return s.changeWatch(ctx, w.Source, "UPDATE watch SET refresh = ?2, looked_at = ?3, differences = ?4, trouble = ?5 WHERE source = ?1",
		w.Refresh, nanos(s.now()), w.Differences, w.Trouble)
}

func (s *Store) changeWatch(ctx context.Context, source, statement string, values ...any) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, statement, append([]any{source}, values...)...)
		return oneRow(res, err, appliance.ErrNotFound)
	})
	if err != nil {
		return fmt.Errorf("watch the house of %s: %w", source, err)
	}
	return nil
}

// Watches lists the houses that are looked at every night.
func (s *Store) Watches(ctx context.Context) (out []Watch, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		out, err = watches(ctx, tx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the houses that are watched: %w", err)
	}
	return out, nil
}

// DueWatches lists those whose look is due: once a night.
func (s *Store) DueWatches(ctx context.Context) ([]Watch, error) {
	list, err := s.Watches(ctx)
	now := s.now()
	return slices.DeleteFunc(list, func(w Watch) bool { return !DueByNight(w.LookedAt, now) }), err
}

func watches(ctx context.Context, tx *sql.Tx) ([]Watch, error) {
	rows, err := tx.QueryContext(ctx, "SELECT source, url, refresh, ca, fingerprint, looked_at, differences, trouble FROM watch ORDER BY source")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Watch
	for rows.Next() {
		var w Watch
		var at int64
		if err := rows.Scan(&w.Source, &w.URL, &w.Refresh, &w.CA, &w.Fingerprint, &at, &w.Differences, &w.Trouble); err != nil {
			return nil, err
		}
		w.LookedAt = moment(at)
		out = append(out, w)
	}
	return out, rows.Err()
}
