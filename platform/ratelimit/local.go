package ratelimit

import (
	"context"
	"hash/fnv"
	"hash/maphash"
	"sync"
	"time"

	"svc.internal/controller/platform"
)

const (
	shards = 64
	// strangersMost buckets of strangers are remembered per shard: 64 × 4096 addresses.
	strangersMost = 4096
)

// Local counts in this process.
type Local struct {
	now   func() time.Time
	seed  maphash.Seed
	shard [shards]shard
}

type shard struct {
	mu        sync.Mutex
	known     map[string]*count // as many as there are keys and users
	strangers map[string]*count // bounded
	swept     time.Time
}

// count of one bucket in one window.
type count struct {
	start, end  time.Time
	used, limit int
}

// NewLocal returns counts that are all zero.
func NewLocal() *Local { return newLocal(time.Now) }

func newLocal(now func() time.Time) *Local {
	l := &Local{now: now, seed: maphash.MakeSeed()}
	for i := range l.shard {
		l.shard[i].known, l.shard[i].strangers = map[string]*count{}, map[string]*count{}
	}
	return l
}

// Take counts n requests, or none if the bucket has no room for all.
func (l *Local) Take(_ context.Context, b platform.Bucket, n int) platform.Allowance {
	_, a := l.take(b, n)
	return a
}

// Show tells how full a bucket is.
func (l *Local) Show(_ context.Context, b platform.Bucket) platform.Allowance {
	_, a := l.take(b, 0)
	return a
}

// take counts n requests if there is room for them. It also tells which window it is.
func (l *Local) take(b platform.Bucket, n int) (window, platform.Allowance) {
	now := l.now()
	w := windowOf(b, now)
	s := &l.shard[maphash.String(l.seed, b.ID)%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.find(b, w, now, n > 0)
	used := 0
	if c != nil {
		used = c.used
	}
	if used+n > b.Limit {
		return w, allowance(b, w, used, false)
	}
	if c != nil {
		c.used, c.limit = c.used+n, b.Limit
	}
	return w, allowance(b, w, used+n, true)
}

// giveBack takes n requests of a window back.
func (l *Local) giveBack(b platform.Bucket, w window, n int) {
	s := &l.shard[maphash.String(l.seed, b.ID)%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.buckets(b)[b.ID]; c != nil && c.start.Equal(w.start) {
		c.used = max(0, c.used-n)
	}
}

// Each calls f with every bucket of a key or user that something was counted in, and what
// is left of it in this window.
func (l *Local) Each(f func(id string, left int)) {
	now := l.now()
	for i := range l.shard {
		s := &l.shard[i]
		s.mu.Lock()
		left := make(map[string]int, len(s.known))
		for id, c := range s.known {
			if now.Before(c.end) && c.limit > 0 {
				left[id] = max(0, c.limit-c.used)
			}
		}
		s.mu.Unlock()
		for id, n := range left {
			f(id, n)
		}
	}
}

func (s *shard) buckets(b platform.Bucket) map[string]*count {
	if b.Stranger {
		return s.strangers
	}
	return s.known
}

// find returns the count of a window, nil if there is none and none is to be made.
func (s *shard) find(b platform.Bucket, w window, now time.Time, create bool) *count {
	counts := s.buckets(b)
	c := counts[b.ID]
	if c == nil {
		if !create {
			return nil
		}
		s.sweep(now)
		if b.Stranger && len(counts) >= strangersMost {
			forgetOne(counts)
		}
		c = &count{start: w.start, end: w.end}
		counts[b.ID] = c
	}
	// A clock that was set back must not empty a bucket.
	if w.start.After(c.start) {
		*c = count{start: w.start, end: w.end}
	}
	return c
}

// forgetOne drops a bucket that happens to come first, as maps are in no order: which
// one that is nobody outside can foresee.
func forgetOne(counts map[string]*count) {
	for id := range counts {
		delete(counts, id)
		return
	}
}

const sweepEvery = time.Minute

// sweep forgets windows that are over.
func (s *shard) sweep(now time.Time) {
	if since := now.Sub(s.swept); since >= 0 && since < sweepEvery {
		return
	}
	s.swept = now
	for _, counts := range []map[string]*count{s.known, s.strangers} {
		for id, c := range counts {
			if !now.Before(c.end) {
				delete(counts, id)
			}
		}
	}
}

// window of a bucket.
type window struct{ start, end time.Time }

// windowOf is the same on every instance.
func windowOf(b platform.Bucket, now time.Time) window {
	h := fnv.New64a()
	h.Write([]byte(b.ID))
	length := b.Window.Milliseconds()
	offset := int64(h.Sum64() % uint64(length))
	since := now.UnixMilli() - offset
	start := since - since%length + offset
	return window{time.UnixMilli(start).UTC(), time.UnixMilli(start + length).UTC()}
}

func allowance(b platform.Bucket, w window, used int, ok bool) platform.Allowance {
	return platform.Allowance{OK: ok, Limit: b.Limit, Remaining: max(0, b.Limit-used), Reset: w.end, Window: b.Window}
}
