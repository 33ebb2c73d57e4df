package store

import (
	"context"
	"database/sql"
	"fmt"
)

// Alive reports whether the writers make progress: each has one connection, which must come free before ctx ends. A full
// disk is no lack of progress.
func (s *Store) Alive(ctx context.Context) error {
	h := s.db.Load()
	if h.conf == nil {
		return nil
	}
	for _, w := range []struct {
		name string
		db   *sql.DB
	}{{"the configuration's", h.conf}, {"the last state's", h.behind}} {
		if err := w.db.PingContext(ctx); err != nil {
			return fmt.Errorf("store: %s writer does not come free: %w", w.name, err)
		}
	}
	return nil
}
