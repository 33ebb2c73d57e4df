package store

import (
	"runtime"
	"testing"
	"time"
)

// On a board with one processor nobody waits until a password is hashed.
func TestOthersRunBesideWhatComputesForLong(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const long = 300 * time.Millisecond
	busy := make(chan struct{})
	over := make(chan struct{})
	for range maxHashings {
		go runAside(func() {
			busy <- struct{}{}
			for start := time.Now(); time.Since(start) < long; {
			}
			over <- struct{}{}
		})
	}
	turns := 0
	for ended := 0; ended < maxHashings; {
		select {
		case <-busy:
		case <-over:
			ended++
		default:
			turns++ // as somebody would who has a command to obey
			runtime.Gosched()
		}
	}
	// Alone with them it would have a turn each time that the runtime interrupts one,
	// 10 ms: a hundred at most.
	if turns < 1000 {
		t.Errorf("%d turns beside them", turns)
	}
	for runtime.GOMAXPROCS(0) != 1 { // the last one is just leaving
		runtime.Gosched()
	}
}
