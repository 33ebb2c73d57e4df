package store

import (
	"context"
	"database/sql"
	"maps"
	"sync"
	"time"
)

// usedEvery is how often the last use of keys is written down.
const usedEvery = 20 * time.Second

// maxUsed keys are remembered until they are written; more are written at once.
const maxUsed = 10_000

// usage gathers when keys were used, so that no request waits for the disk.
type usage struct {
	cancel context.CancelFunc
	done   chan struct{}
	full   chan struct{}

	mu   sync.Mutex
	keys map[string]int64 // ID → last use, microseconds
}

func (u *usage) start(s *Store) {
	ctx, cancel := context.WithCancel(context.Background()) // ends in stop
	u.cancel, u.done, u.full = cancel, make(chan struct{}), make(chan struct{}, 1)
	u.keys = map[string]int64{}
	go func() {
		defer close(u.done)
		tick := time.NewTicker(usedEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				s.SaveUsed(context.WithoutCancel(ctx))
				return
			case <-tick.C:
			case <-u.full:
			}
			s.SaveUsed(ctx)
		}
	}()
}

func (u *usage) stop() {
	u.cancel()
	<-u.done
}

// KeyUsed notes that a key was used just now; it is written down within 20 s.
func (s *Store) KeyUsed(id string) {
	at := Micros(s.now())
	u := &s.used
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.keys[id] = at; len(u.keys) < maxUsed {
		return
	}
	select {
	case u.full <- struct{}{}:
	default:
	}
}

// SaveUsed writes down at once when keys were used. What cannot be written is tried
// again with the next.
func (s *Store) SaveUsed(ctx context.Context) {
	u := &s.used
	u.mu.Lock()
	pending := u.keys
	u.keys = map[string]int64{}
	u.mu.Unlock()
	if len(pending) == 0 {
		return
	}
	err := s.writeAside(ctx, func(tx *sql.Tx) error {
		for id, at := range pending {
			if _, err := tx.ExecContext(ctx, "UPDATE api_key SET last_used_at = $2 WHERE id = $1 AND last_used_at < $2", id, at); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		return
	}
	s.log.Warn("write down when keys were used", "error", err)
	u.mu.Lock()
	defer u.mu.Unlock()
	maps.Copy(pending, u.keys)
	u.keys = pending
}
