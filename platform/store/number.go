package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"svc.internal/controller/platform"
)

// numbers gives messages to controllers their numbers. Whoever asks while others are served waits for the next transaction, which
// serves all who wait: a hundred panels cost what one does.
type numbers struct {
	mu      sync.Mutex
	waiting map[string][]chan<- numbered // by controller
	busy    bool                         // somebody serves
}

type numbered struct {
	platform.Number
	err error
}

// numberMost bounds one transaction.
const numberMost = 10 * time.Second

// NextNumber numbers the next message to a controller. A number that nobody waits for any more is left out.
func (s *Store) NextNumber(ctx context.Context, id string) (platform.Number, error) {
	got := make(chan numbered, 1)
	s.numbers.mu.Lock()
	if s.numbers.waiting == nil {
		s.numbers.waiting = map[string][]chan<- numbered{}
	}
	s.numbers.waiting[id] = append(s.numbers.waiting[id], got)
	serve := !s.numbers.busy
	s.numbers.busy = true
	s.numbers.mu.Unlock()
	if serve {
		go s.number()
	}
	n := numbered{}
	select {
	case n = <-got:
	case <-ctx.Done():
		n.err = ctx.Err()
	}
	if n.err != nil {
		return platform.Number{}, fmt.Errorf("number a message to controller %q: %w", id, n.err)
	}
	return n.Number, nil
}

// number serves until nobody waits.
func (s *Store) number() {
	for {
		s.numbers.mu.Lock()
		waiting := s.numbers.waiting
		s.numbers.waiting = nil
		s.numbers.busy = len(waiting) > 0
		s.numbers.mu.Unlock()
		if len(waiting) == 0 {
			return
		}
		for id, n := range s.reserve(waiting) {
			for _, got := range waiting[id] {
				got <- n
				n.Seq++
			}
		}
	}
}

// reserve takes the numbers of all who wait and returns the first of each controller.
func (s *Store) reserve(waiting map[string][]chan<- numbered) map[string]numbered {
	ctx, cancel := context.WithTimeout(context.Background(), numberMost) // of those who wait, each gives up by itself
	defer cancel()
	first := map[string]numbered{}
	err := s.writeAside(ctx, func(tx *sql.Tx) error {
		for _, id := range slices.Sorted(maps.Keys(waiting)) { // all instances take rows in the same order
			var n numbered
			count := len(waiting[id])
			row := tx.QueryRowContext(ctx, "UPDATE controller SET seq = seq + $2 WHERE id = $1 AND NOT revoked RETURNING epoch, seq", id, count)
			n.err = found(row.Scan(&n.Epoch, &n.Seq))
			if n.err != nil && !errors.Is(n.err, platform.ErrNotFound) {
				return n.err
			}
			n.Seq -= int64(count) - 1
			first[id] = n
		}
		return nil
	})
	if err != nil {
		for id := range waiting {
			first[id] = numbered{err: err}
		}
	}
	return first
}
