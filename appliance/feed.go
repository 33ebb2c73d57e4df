package appliance

import "sync"

// Feed hands what happens to any number of readers, each at its own pace. It keeps
// the newest items only: whoever is slower than that is told how many it missed. A
// writer never waits for a reader.
type Feed[T any] struct {
	mu    sync.Mutex
	ring  []T
	next  uint64 // number of the next item
	fresh chan struct{}
}

// NewFeed makes a feed that keeps the newest most items.
func NewFeed[T any](most int) *Feed[T] {
	return &Feed[T]{ring: make([]T, most), fresh: make(chan struct{})}
}

// Add appends an item and wakes who waits for one.
func (f *Feed[T]) Add(item T) {
	f.mu.Lock()
	f.ring[f.next%uint64(len(f.ring))] = item
	f.next++
	woken := f.fresh
	f.fresh = make(chan struct{})
	f.mu.Unlock()
	close(woken)
}

// End is the cursor of a reader who wants only what is still to come.
func (f *Feed[T]) End() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.next
}

// Since returns the items from a cursor on, oldest first, the cursor behind them,
// and how many were lost because the reader was too slow. A cursor from before a
// restart may lie beyond the end: then everything that is kept is returned.
func (f *Feed[T]) Since(cursor uint64) (items []T, next, lost uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	first := f.next - min(f.next, uint64(len(f.ring)))
	if cursor > f.next {
		cursor = first
	}
	if cursor < first {
		lost, cursor = first-cursor, first
	}
	for ; cursor < f.next; cursor++ {
		items = append(items, f.ring[cursor%uint64(len(f.ring))])
	}
	return items, f.next, lost
}

// Fresh is closed when an item is added after this call.
func (f *Feed[T]) Fresh() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fresh
}
