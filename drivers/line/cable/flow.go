package cable

import (
	"os"
	"sync"
	"time"
)

// flow is bytes on their way in one direction.
type flow struct {
	mu      sync.Mutex
	buf     []byte
	room    int           // of buf
	ended   error         // what a reader gets after the rest, and a writer at once; nil: it flows
	changed chan struct{} // closed at the next change; nil: nobody waits for one
}

func newFlow(room int) *flow { return &flow{room: room} }

// change wakes whoever waits. Called with mu held.
func (f *flow) change() {
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
}

// next is closed at the next change. Called with mu held.
func (f *flow) next() <-chan struct{} {
	if f.changed == nil {
		f.changed = make(chan struct{})
	}
	return f.changed
}

// take reads what has come; with nothing it gives what to wait for, or the end.
func (f *flow) take(b []byte) (n int, wait <-chan struct{}, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n = copy(b, f.buf)
	switch {
	case n > 0:
		f.buf = f.buf[:copy(f.buf, f.buf[n:])]
		f.change()
		return n, nil, nil
	case f.ended != nil:
		return 0, nil, f.ended
	}
	return 0, f.next(), nil
}

// put adds what there is room for; if that is not all, it gives what to wait for.
func (f *flow) put(b []byte) (n int, wait <-chan struct{}, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended != nil {
		return 0, nil, f.ended
	}
	n = min(len(b), f.room-len(f.buf))
	f.buf = append(f.buf, b[:n]...)
	if n > 0 {
		f.change()
	}
	if n == len(b) {
		return n, nil, nil
	}
	return n, f.next(), nil
}

// end lets the rest be read, or with drop not even that. The first end counts.
func (f *flow) end(why error, drop bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if drop {
		f.buf = nil
	}
	if f.ended == nil {
		f.ended = why
	}
	f.change()
}

func (f *flow) waiting() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.buf)
}

// empty throws away what is on its way.
func (f *flow) empty() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.buf = nil
	f.change()
}

// deadline of the reads or the writes at one end.
type deadline struct {
	mu    sync.Mutex
	timer *time.Timer
	over  chan struct{} // closed when it has passed; nil: nobody has asked yet
}

func (d *deadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	over := d.open()
	if t.IsZero() {
		return
	}
	if left := time.Until(t); left > 0 {
		d.timer = time.AfterFunc(left, func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			if d.over == over && !passed(over) {
				close(over)
			}
		})
		return
	}
	close(over)
}

// open gives a channel that is not closed. Called with mu held.
func (d *deadline) open() chan struct{} {
	if d.over == nil || passed(d.over) {
		d.over = make(chan struct{})
	}
	return d.over
}

// passing is closed when the deadline has passed.
func (d *deadline) passing() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over == nil {
		d.over = make(chan struct{})
	}
	return d.over
}

func passed(over <-chan struct{}) bool {
	select {
	case <-over:
		return true
	default:
		return false
	}
}

var errDeadline = os.ErrDeadlineExceeded
