package panel

import (
	"sync"
	"time"
)

// lanes remembers the last tap of each widget, so that one that was overtaken on its way is known.
type lanes struct {
	mu   sync.Mutex
	last map[[3]string]mark
}

type mark struct {
	number int64
	at     time.Time
}

// lanesMost bounds what is remembered.
const lanesMost = 10_000

// inOrder notes the number of a tap and reports whether none of the same source with a higher one was here. The same number
// again is in order: the controller knows the tap by its ID.
func (l *lanes) inOrder(device, widget, source string, number int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := [3]string{device, widget, source}
	if last, ok := l.last[at]; ok && number < last.number {
		return false
	}
	if l.last == nil {
		l.last = map[[3]string]mark{}
	}
	if len(l.last) >= lanesMost {
		l.forget()
	}
	l.last[at] = mark{number, time.Now()}
	return true
}

// forget drops what nobody can be overtaken by any more; if that is not enough, everything.
func (l *lanes) forget() {
	old := time.Now().Add(-time.Minute)
	for at, m := range l.last {
		if m.at.Before(old) {
			delete(l.last, at)
		}
	}
	if len(l.last) >= lanesMost {
		clear(l.last)
	}
}
