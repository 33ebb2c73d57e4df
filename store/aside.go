package store

import (
	"runtime"
	"sync"
)

// aside counts the goroutines that compute for long: passwords' hashes.
var aside struct {
	mu     sync.Mutex
	usual  int // how many goroutines run at a time without them
	guests int
}

// runAside calls fn, which computes for long, beside as many other goroutines as run at
// a time otherwise. So whoever obeys a command meanwhile takes turns with it as the
// kernel shares out a processor, every few milliseconds; a board with one processor
// would do nothing else until fn was over, since the runtime interrupts a goroutine
// only now and then. Beginning and ending stop the program for some ten microseconds.
func runAside(fn func()) {
	visit(1)
	defer visit(-1)
	fn()
}

func visit(n int) {
	aside.mu.Lock()
	defer aside.mu.Unlock()
	if aside.guests == 0 {
		aside.usual = runtime.GOMAXPROCS(0)
	}
	aside.guests += n
	runtime.GOMAXPROCS(aside.usual + aside.guests)
}
