package siege

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"
)

// Counts are what came of attacks: by name, then by status or in words.
type Counts map[string]map[string]int

// notLetIn is the outcome of an attack that got no connection.
const notLetIn = "not let in"

// Check logs what came of each attack, and complains of one that has not come to the daemon at all: a test would show
// nothing by it.
func (c Counts) Check(t testing.TB) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(c)) {
		t.Logf("%s: %v", name, c[name])
		if c.inVain(name) {
			t.Errorf("%s: nothing of it came to the daemon", name)
		}
	}
}

// inVain reports whether an attack has not come to the daemon at all.
func (c Counts) inVain(name string) bool { return c[name][notLetIn] > 0 && len(c[name]) == 1 }

type counts struct {
	mu  sync.Mutex
	all Counts
}

// await waits until something of each attack has come to the daemon: on a busy machine, who gives way to all others gets no processor
// for as long as a test takes. What has not come in two minutes does not come.
func (c *counts) await(ctx context.Context) {
	vain := func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for name := range c.all {
			if c.all.inVain(name) {
				return true
			}
		}
		return false
	}
	for until := time.Now().Add(2 * time.Minute); vain() && time.Now().Before(until); {
		pause(ctx, 50*time.Millisecond)
	}
}

// add counts an outcome, unless the attack has ended meanwhile: then it is ours.
func (c *counts) add(ctx context.Context, name, outcome string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	if c.all[name] == nil {
		c.all[name] = map[string]int{}
	}
	c.all[name][outcome]++
}
