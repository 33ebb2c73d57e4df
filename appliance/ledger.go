package appliance

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

// ledgerKept is how many finished commands stay in memory; the journal keeps more.
const ledgerKept = 512

// running is a command under way. Buses report what becomes of its members; who
// asked waits on done.
type running struct {
	seq  uint64
	done chan struct{}

	mu     sync.Mutex
	entry  Entry
	closed []bool // members whose outcome is known
	left   int    // the others
	// disproofs are what was read of members that had acknowledged something else. From
	// then on such a member is only believed when it is read as wanted.
	disproofs map[int]error
}

func newRunning(seq uint64, cmd Command, members []Member, now time.Time) *running {
	r := &running{
		seq: seq, done: make(chan struct{}), left: len(members), closed: make([]bool, len(members)),
		entry: Entry{ID: newEntryID(now), Command: cmd, AcceptedAt: now, Members: members},
	}
	if r.left == 0 {
		close(r.done)
	}
	return r
}

// newEntryID is a version 7 UUID: sortable by time. It is no secret.
func newEntryID(now time.Time) string {
	var u UUID
	binary.BigEndian.PutUint64(u[8:], rand.Uint64())
	binary.BigEndian.PutUint16(u[6:], uint16(rand.Uint32()))
	ms := uint64(now.UnixMilli())
	for i := range 6 {
		u[i] = byte(ms >> (40 - 8*i))
	}
	u[6] = u[6]&0x0f | 0x70
	u[8] = u[8]&0x3f | 0x80
	return u.String()
}

// ceiling is when whoever asked does not wait any longer.
func (r *running) ceiling() time.Time {
	at := r.entry.AcceptedAt.Add(commandMost)
	if x := r.entry.Command.Expiry; !x.IsZero() {
		at = earlier(at, x)
	}
	return at
}

// over reports whether every member's outcome is known.
func (r *running) over() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// update changes one member unless its outcome is known already.
func (r *running) update(i int, change func(*Member) (final bool)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed[i] || !r.entry.DoneAt.IsZero() {
		return
	}
	if !change(&r.entry.Members[i]) {
		return
	}
	r.closed[i] = true
	r.left--
	if r.left == 0 {
		close(r.done)
	}
}

func (r *running) sent(i int, at time.Time) {
	r.update(i, func(m *Member) bool {
		m.Stage, m.SentAt = max(m.Stage, StageSent), at
		return false
	})
}

// acknowledged reports whether that is to be believed.
func (r *running) acknowledged(i int, at time.Time) (believed bool) {
	believed = true
	r.update(i, func(m *Member) bool {
		if believed = r.disproofs[i] == nil; believed {
			m.Stage, m.AcknowledgedAt = StageAcknowledged, at
		}
		return false
	})
	return believed
}

// disproved takes an acknowledgement back: the member was read, and why says what it
// has instead. One that acknowledged nothing may only have missed a group frame.
func (r *running) disproved(i int, why error) {
	r.update(i, func(m *Member) bool {
		if m.Stage != StageAcknowledged {
			return false
		}
		if r.disproofs == nil {
			r.disproofs = map[int]error{}
		}
		r.disproofs[i] = why
		m.Stage, m.AcknowledgedAt = StageSent, time.Time{}
		return false
	})
}

func (r *running) observed(i int, at time.Time) {
	r.update(i, func(m *Member) bool {
		if m.AcknowledgedAt.IsZero() {
			m.AcknowledgedAt = at
		}
		m.Stage, m.ObservedAt = StageObserved, at
		return true
	})
}

func (r *running) unverifiable(i int) {
	r.update(i, func(m *Member) bool { m.Stage = StageUnverifiable; return true })
}

func (r *running) fail(i int, err error) {
	r.update(i, func(m *Member) bool { m.Stage, m.Err = StageFailed, r.reason(i, err).Error(); return true })
}

func (r *running) offline(i int) {
	r.update(i, func(m *Member) bool { m.Offline = true; return true })
}

// conclude ends the wait for a read-back that will not come: a member that had
// acknowledged keeps that, any other failed with err.
func (r *running) conclude(i int, err error) {
	r.update(i, func(m *Member) bool {
		if m.Stage != StageAcknowledged {
			m.Stage, m.Err = StageFailed, r.reason(i, err).Error()
		}
		return true
	})
}

// reason is why a member failed with err. That its time ran out is none if the device
// was read and has another value.
func (r *running) reason(i int, err error) error {
	if why := r.disproofs[i]; why != nil && errors.Is(err, ErrExpired) {
		return why
	}
	return err
}

// finish closes the books: what is still open has failed, and the whole command is
// judged.
func (r *running) finish(now time.Time, name func(Ref) string) Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := &r.entry
	if !e.DoneAt.IsZero() {
		return *e
	}
	e.DoneAt = now
	var failed []string
	addressed, offline := 0, 0
	for i := range e.Members {
		m := &e.Members[i]
		if m.Offline {
			offline++
			continue
		}
		addressed++
		if m.Err == "" && m.Stage < StageAcknowledged {
			m.Stage, m.Err = StageFailed, "no confirmation before the deadline"
			if why := r.disproofs[i]; why != nil {
				m.Err = why.Error()
			}
		}
		if m.Err != "" {
			failed = append(failed, name(m.Ref)+": "+m.Err)
		}
	}
	switch {
	case len(failed) > 0:
		e.Err = describeFailures(failed, addressed)
	case addressed == 0 && offline == 1:
		e.Err = name(e.Members[0].Ref) + " is offline"
	case addressed == 0:
		e.Err = fmt.Sprintf("all %d members are offline", offline)
	}
	out := *e
	out.Members = slices.Clone(e.Members)
	return out
}

// view is the entry as it stands, for a caller who leaves early.
func (r *running) view() Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.entry
	out.Members = slices.Clone(r.entry.Members)
	return out
}

// describeFailures names how many and the first few.
func describeFailures(failed []string, addressed int) string {
	const named = 3
	if addressed == 1 {
		return failed[0]
	}
	text := fmt.Sprintf("%d of %d did not confirm: %s", len(failed), addressed, strings.Join(failed[:min(named, len(failed))], "; "))
	if more := len(failed) - named; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// ledger remembers finished commands.
type ledger struct {
	mu      sync.Mutex
	kept    []Entry // ring, newest at next-1
	next    int
	unsaved []Entry
	many    chan struct{} // see unsavedMany
	feed    *Feed[Entry]
}

func (l *ledger) add(e Entry) {
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

func (l *ledger) putLocked(entries ...Entry) {
	l.unsaved = append(l.unsaved, entries...)
	if over := len(l.unsaved) - unsavedMost; over > 0 {
		l.unsaved = slices.Delete(l.unsaved, 0, over+unsavedMost/4)
	}
}

func (l *ledger) takeUnsaved() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.unsaved
	l.unsaved = nil
	return out
}

func (l *ledger) putUnsaved(entries []Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	newer := l.unsaved
	l.unsaved = nil
	l.putLocked(append(entries, newer...)...)
}

// find returns the entry with that ID.
func (l *ledger) find(id string) (Entry, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.kept {
		if l.kept[i].ID == id {
			return l.kept[i], true
		}
	}
	return Entry{}, false
}
