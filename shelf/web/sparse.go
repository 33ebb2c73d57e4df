package web

import (
	"sync"
	"time"
)

// A log line of 300 bytes at this rate is 180 kB in an hour, whatever strangers do. Four kinds
// of what they do are told apart from each other, and a megabyte is what all may write.
const (
	sparseBurst = 20
	sparseEvery = 6 * time.Second
)

// Sparse bounds how often something is told that strangers can make happen. The zero
// value is ready.
type Sparse struct {
	mu      sync.Mutex
	spent   int       // of the burst
	last    time.Time // when spent was right
	skipped int
}

// Allow reports whether to tell it now, and how many were not told since the last time.
func (s *Sparse) Allow() (ok bool, skipped int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if regained := int(now.Sub(s.last) / sparseEvery); regained > 0 || s.last.IsZero() {
		if s.spent = max(0, s.spent-regained); s.spent == 0 || s.last.IsZero() {
			s.last = now
		} else {
			s.last = s.last.Add(time.Duration(regained) * sparseEvery)
		}
	}
	if s.spent == sparseBurst {
		s.skipped++
		return false, 0
	}
	s.spent++
	skipped, s.skipped = s.skipped, 0
	return true, skipped
}
