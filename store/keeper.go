package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// lookEvery is how often commits of other processes are looked for.
	lookEvery = time.Second
	// syncAfter is how long a written-behind commit may wait for the flash.
	syncAfter = 2 * time.Second
	// usedEvery is how often the last use of keys is written. A dashboard that
	// polls day and night costs 144 small writes a day.
	usedEvery = 10 * time.Minute
)

// Change says what a commit changed.
type Change struct {
	Site, Accounts, Cloud bool
	Kept                  bool // [Store.Kept] answers otherwise
}

func (c Change) any() bool { return c.Site || c.Accounts || c.Cloud || c.Kept }

// keeper does what must happen between calls: it looks for commits of other
// processes, syncs the log behind written-behind commits and writes down when
// keys were used.
type keeper struct {
	cancel context.CancelFunc
	done   chan struct{}
	dirty  chan struct{} // a written-behind commit waits for the flash
	retry  chan struct{} // refresh failed
	synced atomic.Uint64 // times the log was synced

	mu       sync.Mutex
	watchers map[*watcher]struct{}
}

// watcher holds what one Watch has not told yet. Changes merge.
type watcher struct {
	pending Change // guarded by keeper.mu
	wake    chan struct{}
}

func (k *keeper) start(s *Store) {
	ctx, cancel := context.WithCancel(context.Background()) // ends in stop
	k.cancel = cancel
	k.done = make(chan struct{})
	k.dirty = make(chan struct{}, 1)
	k.retry = make(chan struct{}, 1)
	go func() {
		defer close(k.done)
		k.run(ctx, s)
	}()
}

// stop ends the goroutine, which writes what is pending first.
func (k *keeper) stop() {
	k.cancel()
	<-k.done
}

func (k *keeper) run(ctx context.Context, s *Store) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	used := time.NewTicker(usedEvery)
	defer used.Stop()
	var syncDue <-chan time.Time
	var failed bool
	var version dataVersion
	defer version.close()
	for {
		select {
		case <-ctx.Done():
			s.saveUsed(context.WithoutCancel(ctx))
			s.syncLog()
			return
		case <-k.dirty:
			if syncDue == nil {
				syncDue = time.After(syncAfter)
			}
		case <-syncDue:
			syncDue = nil
			s.syncLog()
		case <-used.C:
			s.saveUsed(ctx)
		case <-k.retry:
			failed = true
		case <-look.C:
			s.look(ctx)
			db := s.db.Load()
			if db.conf == nil {
				version.close()
				continue // a copy in memory, which nobody else changes
			}
			changed, err := version.changed(ctx, db.read)
			if err == nil && (changed || failed) {
				err = s.refresh(ctx)
			}
			if err != nil && ctx.Err() == nil && !failed {
				s.log.Error("look for changes in the database, trying again every second", "error", err)
			}
			failed = err != nil
		}
	}
}

// again asks for another refresh at the next look.
func (k *keeper) again() { poke(k.retry) }

// written says that a commit waits for the flash.
func (k *keeper) written() { poke(k.dirty) }

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// syncLog makes everything durable that was committed so far. SQLite takes no
// locks on the log file, so that a descriptor of our own does no harm.
func (s *Store) syncLog() {
	f, err := os.OpenFile(s.path+"-wal", os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return // checkpointed, which syncs
	}
	if err == nil {
		err = errors.Join(unix.Fdatasync(int(f.Fd())), f.Close())
	}
	if err != nil {
		s.log.Error("sync last state and ledger to flash", "error", err)
		return
	}
	s.keeper.synced.Add(1)
}

// dataVersion notices commits that other connections made.
type dataVersion struct {
	conn *sql.Conn
	last int64
}

// changed reports whether anything was committed since the last call.
func (v *dataVersion) changed(ctx context.Context, db *sql.DB) (bool, error) {
	if v.conn == nil {
		conn, err := db.Conn(ctx)
		if err != nil {
			return false, err
		}
		v.conn = conn
	}
	var now int64
	if err := v.conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&now); err != nil {
		v.close() // numbers of another connection mean nothing
		return false, err
	}
	changed := now != v.last
	v.last = now
	return changed, nil
}

func (v *dataVersion) close() {
	if v.conn != nil {
		v.conn.Close()
		v.conn, v.last = nil, 0
	}
}

// tell merges c into what every watcher has not told yet.
func (k *keeper) tell(c Change) {
	if !c.any() {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for w := range k.watchers {
		w.pending.Site = w.pending.Site || c.Site
		w.pending.Accounts = w.pending.Accounts || c.Accounts
		w.pending.Cloud = w.pending.Cloud || c.Cloud
		w.pending.Kept = w.pending.Kept || c.Kept
		poke(w.wake)
	}
}

// Watch calls fn after every commit that changed the site or the accounts, by
// this process or another one (within about a second), until ctx ends. Changes
// that come while fn runs are told together. The directory behind [Store.User]
// and [Store.KeyOf] is already new when fn is called. A change of the site since
// the last call of [Store.Site] is told at once: whoever loads first and watches
// then misses nothing.
func (s *Store) Watch(ctx context.Context, fn func(Change)) {
	k := &s.keeper
	w := &watcher{wake: make(chan struct{}, 1)}
	s.register(w)
	defer func() {
		k.mu.Lock()
		delete(k.watchers, w)
		k.mu.Unlock()
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		}
		k.mu.Lock()
		c := w.pending
		w.pending = Change{}
		k.mu.Unlock()
		fn(c)
	}
}

// register makes w hear of every commit that refresh has not seen yet, and of one
// that it saw after the site was loaded, when nobody was watching.
func (s *Store) register(w *watcher) {
	s.refreshMu.Lock() // nothing is seen meanwhile
	defer s.refreshMu.Unlock()
	k := &s.keeper
	k.mu.Lock()
	defer k.mu.Unlock()
	if loaded := s.loaded.Load(); loaded != nil && loaded.site < s.seen.site {
		w.pending.Site = true
		poke(w.wake)
	}
	if s.Kept() != nil {
		w.pending.Kept = true
		poke(w.wake)
	}
	if k.watchers == nil {
		k.watchers = map[*watcher]struct{}{}
	}
	k.watchers[w] = struct{}{}
}
