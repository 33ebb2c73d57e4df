package drivertest

import (
	"sync/atomic"
	"testing"
	"time"
)

// Lateness is how much later than asked for this machine lets a program go on: the floor
// of every bound on time that a test looks at, measured while it runs.
type Lateness struct{ worst atomic.Int64 }

// Watch measures until the test ends.
func Watch(t testing.TB) *Lateness {
	l := &Lateness{}
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		const nap = 2 * time.Millisecond
		for last := time.Now(); ; {
			select {
			case <-over:
				return
			case <-time.After(nap):
			}
			now := time.Now()
			if late := int64(now.Sub(last) - nap); late > l.worst.Load() {
				l.worst.Store(late)
			}
			last = now
		}
	}()
	t.Cleanup(func() { close(over); <-done })
	return l
}

// Steps is the worst of it so many times over: what a chain of as many goroutines may
// have been late by.
func (l *Lateness) Steps(n int) time.Duration {
	return time.Duration(n) * time.Duration(l.worst.Load())
}
