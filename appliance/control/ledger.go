package control

import (
	"slices"
	"sync"

	"svc.internal/controller/appliance"
)

// ledgerKept is how many finished commands stay in memory; the journal keeps more.
const ledgerKept = 512

// ledger remembers finished commands.
type ledger struct {
	mu      sync.Mutex
	kept    []appliance.Entry // ring, newest at next-1
	next    int
	unsaved []appliance.Entry
	many    chan struct{} // see unsavedMany
	feed    *appliance.Feed[appliance.Entry]
}

func (l *ledger) add(e appliance.Entry) {
	l.feed.Add(e)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.kept) < ledgerKept {
		l.kept = append(l.kept, e)
	} else {
		l.kept[l.next] = e
	}
	l.next = (l.next + 1) % ledgerKept
	l.putLocked(e)
	if len(l.unsaved) >= unsavedMany {
		select {
		case l.many <- struct{}{}:
		default:
		}
	}
}

// unsavedMost entries wait for the journal. When that cannot keep up, the oldest
// are lost, never the daemon's memory; a quarter at a time, since moving the others
// up costs more than anything else that a command does.
const unsavedMost = 4096

// unsavedMany is when the journal is asked not to wait for its usual time.
const unsavedMany = 256

func (l *ledger) putLocked(entries ...appliance.Entry) {
	l.unsaved = append(l.unsaved, entries...)
	if over := len(l.unsaved) - unsavedMost; over > 0 {
		l.unsaved = slices.Delete(l.unsaved, 0, over+unsavedMost/4)
	}
}

func (l *ledger) takeUnsaved() []appliance.Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.unsaved
	l.unsaved = nil
	return out
}

func (l *ledger) putUnsaved(entries []appliance.Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	newer := l.unsaved
	l.unsaved = nil
	l.putLocked(append(entries, newer...)...)
}

// find returns the entry with that ID.
func (l *ledger) find(id string) (appliance.Entry, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.kept {
		if l.kept[i].ID == id {
			return l.kept[i], true
		}
	}
	return appliance.Entry{}, false
}

// recent returns what is in memory.
func (l *ledger) recent() []appliance.Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.kept)
}
