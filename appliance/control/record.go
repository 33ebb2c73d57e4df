package control

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/engine"
)

// record is one command under way: a member for each thing that it addresses. Buses
// report what becomes of the members; who asked waits on done.
type record struct {
	seq    uint64
	holder uint64              // the trial that it belongs to; 0: none
	told   func(due time.Time) // who asked wants to know by when it ends; nil: nobody does
	wants  []appliance.Want
	done   chan struct{}

	mu      sync.Mutex
	entry   appliance.Entry
	outcome []engine.Outcome // of each member
	pending []error          // why it will have failed if nothing else is heard
	left    int              // members that are still open
}

func newRecord(seq uint64, cmd appliance.Command, targets []appliance.Want, now time.Time) *record {
	r := &record{
		seq: seq, done: make(chan struct{}), left: len(targets), wants: targets, outcome: make([]engine.Outcome, len(targets)), pending: make([]error, len(targets)),
		entry: appliance.Entry{ID: newEntryID(now), Command: cmd, AcceptedAt: now, Members: make([]appliance.Member, len(targets))},
	}
	for i, t := range targets {
		r.entry.Members[i].Ref = t.Ref
		r.pending[i] = engine.ErrUnconfirmed
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
	at := r.entry.AcceptedAt.Add(engine.CommandMost)
	if x := r.entry.Command.Expiry; !x.IsZero() {
		at = earlier(at, x)
	}
	return at
}

// staged notes how far a member has come.
func (r *record) staged(a engine.Staged) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := &r.entry.Members[a.Place]
	switch {
	case r.outcome[a.Place] != engine.Open || !r.entry.DoneAt.IsZero():
	case a.Stage == appliance.StageSent:
		v.Stage, v.SentAt, v.AcknowledgedAt = a.Stage, a.At, time.Time{}
	case a.Stage == appliance.StageAcknowledged:
		v.Stage, v.AcknowledgedAt = a.Stage, a.At
	}
}

// wait notes why a member will have failed if nothing else is heard.
func (r *record) wait(a engine.Pending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending[a.Place] = a.Why
}

// ended closes a member. The first outcome counts.
func (r *record) ended(a engine.Ended) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.outcome[a.Place] != engine.Open {
		return
	}
	r.outcome[a.Place] = a.Outcome
	if r.entry.DoneAt.IsZero() {
		conclude(&r.entry.Members[a.Place], a)
	}
	if r.left--; r.left == 0 {
		close(r.done)
	}
}

// conclude notes what became of a member.
func conclude(v *appliance.Member, a engine.Ended) {
	switch a.Outcome {
	case engine.Confirmed:
		if v.AcknowledgedAt.IsZero() {
			v.AcknowledgedAt = a.At
		}
		v.Stage, v.ObservedAt = appliance.StageObserved, a.At
	case engine.Unverifiable:
		v.Stage = appliance.StageUnverifiable
	case engine.Failed:
		v.Stage, v.Err, v.Cause = appliance.StageFailed, a.Why.Error(), a.Why
	case engine.LeftOut:
		v.Offline = true
	}
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
	for i, outcome := range r.outcome {
		v := &e.Members[i]
		if v.Offline {
			offline++
			continue
		}
		addressed++
		if outcome == engine.Open {
			v.Stage, v.Err, v.Cause = appliance.StageFailed, r.pending[i].Error(), r.pending[i]
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
