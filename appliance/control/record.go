package control

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/shade"
)

// record is one command under way: a member for each thing that it addresses. Buses
// report what becomes of the members; who asked waits on done.
type record struct {
	seq     uint64
	holder  uint64 // the trial that it belongs to; 0: none
	done    chan struct{}
	members []*member

	mu    sync.Mutex
	entry appliance.Entry
	left  int // members that are still open
}

// outcome of a command at one thing. What is not known yet is open.
type outcome uint8

const (
	open         outcome = iota
	confirmed            // read as wanted
	accepted             // acknowledged, where the profile says that it cannot be read
	unverifiable         // sent, where it can neither acknowledge nor be read
	failed               // see Member.Err
	leftOut              // offline, and not the only one addressed
)

// member is what a command wants of one thing, and how far that has come. What others
// see of it is in the entry, under the record's lock; the rest belongs to the bus that
// the thing is on.
type member struct {
	record  *record
	place   int // in the entry
	outcome outcome

	target appliance.Want    // Has: the parts that no newer command has taken over
	before appliance.Values  // what was last read of it when it was first told
	writes int               // how often it was told and that was not confirmed
	got    appliance.Reading // what was read since it was last told; zero: nothing
	order  shade.Order       // of a shade's machine
	why    error             // what was last read instead of the target; nil: nothing else was
}

func newRecord(seq uint64, cmd appliance.Command, targets []appliance.Want, now time.Time) *record {
	r := &record{
		seq: seq, done: make(chan struct{}), left: len(targets), members: make([]*member, len(targets)),
		entry: appliance.Entry{ID: newEntryID(now), Command: cmd, AcceptedAt: now, Members: make([]appliance.Member, len(targets))},
	}
	all := make([]member, len(targets))
	for i, t := range targets {
		r.entry.Members[i].Ref = t.Ref
		all[i] = member{record: r, place: i, target: t}
		r.members[i] = &all[i]
	}
	if r.left == 0 {
		close(r.done)
	}
	return r
}

// newEntryID is a version 7 UUID: sortable by time. It is no secret.
func newEntryID(now time.Time) string {
	var u appliance.UUID
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
func (r *record) ceiling() time.Time {
	at := r.entry.AcceptedAt.Add(commandMost)
	if x := r.entry.Command.Expiry; !x.IsZero() {
		at = earlier(at, x)
	}
	return at
}

// single: one thing was meant, so that nobody else stands in for it.
func (r *record) single() bool { return r.entry.Command.Target.Scope == appliance.One }

// over reports whether every member's outcome is known.
func (r *record) over() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// open reports whether the outcome is still to come.
func (m *member) open() bool { return m.outcome == open }

// update changes what others see of a member that is open.
func (m *member) update(change func(*appliance.Member)) {
	m.record.mu.Lock()
	defer m.record.mu.Unlock()
	if m.open() && m.record.entry.DoneAt.IsZero() {
		change(&m.record.entry.Members[m.place])
	}
}

// end closes a member. The first outcome counts.
func (m *member) end(as outcome, change func(*appliance.Member)) {
	r := m.record
	r.mu.Lock()
	defer r.mu.Unlock()
	if !m.open() {
		return
	}
	m.outcome = as
	if r.entry.DoneAt.IsZero() {
		change(&r.entry.Members[m.place])
	}
	if r.left--; r.left == 0 {
		close(r.done)
	}
}

// sent: a frame for it is on the wire. What it was read to have before says nothing any more.
func (m *member) sent(at time.Time) {
	m.got = appliance.Reading{}
	m.update(func(v *appliance.Member) { v.Stage, v.SentAt, v.AcknowledgedAt = appliance.StageSent, at, time.Time{} })
}

func (m *member) stage() appliance.Stage {
	m.record.mu.Lock()
	defer m.record.mu.Unlock()
	return m.record.entry.Members[m.place].Stage
}

func (m *member) acknowledged(at time.Time) {
	m.update(func(v *appliance.Member) { v.Stage, v.AcknowledgedAt, m.why = appliance.StageAcknowledged, at, nil })
}

// read: it was read as wanted.
func (m *member) read(at time.Time) {
	m.end(confirmed, func(v *appliance.Member) {
		if v.AcknowledgedAt.IsZero() {
			v.AcknowledgedAt = at
		}
		v.Stage, v.ObservedAt = appliance.StageObserved, at
	})
}

// accept: it acknowledged, and cannot be read.
func (m *member) accept() { m.end(accepted, func(*appliance.Member) {}) }

// disproved: it was read, and has something else.
func (m *member) disproved(why error) {
	m.record.mu.Lock()
	defer m.record.mu.Unlock()
	m.why = why
}

func (m *member) unverifiable() {
	m.end(unverifiable, func(v *appliance.Member) { v.Stage = appliance.StageUnverifiable })
}

func (m *member) fail(err error) {
	m.end(failed, func(v *appliance.Member) { v.Stage, v.Err = appliance.StageFailed, m.reason(v.Stage, err).Error() })
}

// leaveOut: its device is offline, and others were addressed as well.
func (m *member) leaveOut() { m.end(leftOut, func(v *appliance.Member) { v.Offline = true }) }

// errUnread is why a member fails that acknowledged and was not read afterwards.
var errUnread = errors.New("acknowledged, but could not be read back")

// reason is why a member fails with err. That its time ran out, or that it cannot be
// read any more, is none if it was read and has another value.
func (m *member) reason(stage appliance.Stage, err error) error {
	switch {
	case errors.Is(err, appliance.ErrSuperseded), errors.Is(err, appliance.ErrRefused), errors.Is(err, appliance.ErrMismatch):
		return err
	case m.why != nil && (errors.Is(err, appliance.ErrExpired) || err == errUnconfirmed || stage == appliance.StageAcknowledged):
		return m.why
	case stage == appliance.StageAcknowledged && (err == errUnconfirmed || err == errTooLate):
		return errUnread
	case stage == appliance.StageAcknowledged:
		return fmt.Errorf("%w: %w", errUnread, err)
	}
	return err
}

// finish closes the books: what is still open has failed, and the whole command is
// judged.
func (r *record) finish(now time.Time, name func(appliance.Ref) string) appliance.Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := &r.entry
	if !e.DoneAt.IsZero() {
		return *e
	}
	e.DoneAt = now
	var wrong []string
	addressed, offline := 0, 0
	for i, m := range r.members {
		v := &e.Members[i]
		if v.Offline {
			offline++
			continue
		}
		addressed++
		if m.outcome == open {
			v.Stage, v.Err = appliance.StageFailed, m.reason(v.Stage, errUnconfirmed).Error()
		}
		if v.Err != "" {
			wrong = append(wrong, name(v.Ref)+": "+v.Err)
		}
	}
	switch {
	case len(wrong) > 0:
		e.Err = describeFailures(wrong, addressed)
	case addressed == 0 && offline == 1:
		e.Err = name(e.Members[0].Ref) + " is offline"
	case addressed == 0:
		e.Err = fmt.Sprintf("all %d members are offline", offline)
	}
	out := *e
	out.Members = slices.Clone(e.Members)
	return out
}

// errUnconfirmed is why a member fails of which nothing was heard in time.
var errUnconfirmed = errors.New("no confirmation before the deadline")

// view is the entry as it stands, for a caller who leaves early.
func (r *record) view() appliance.Entry {
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
