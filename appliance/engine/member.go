package engine

import (
	"errors"
	"fmt"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/shade"
)

// Outcome of a command at one thing. What is not known yet is open.
type Outcome uint8

// The outcomes.
const (
	Open         Outcome = iota
	Confirmed            // read as wanted
	Accepted             // acknowledged, where the profile says that it cannot be read
	Unverifiable         // sent, where it can neither acknowledge nor be read
	Failed               // see [Ended.Why]
	LeftOut              // offline, and not the only one addressed
)

// member is what a command wants of one thing, and how far that has come.
type member struct {
	command *Command
	place   int
	also    []Member // of later commands that want the same, and have the same outcome
	outcome Outcome
	stage   appliance.Stage

	target  appliance.Want    // Has: the parts that no newer command has taken over
	taken   bool              // one has taken some
	before  appliance.Values  // what was last read of it when it was first ordered
	writes  int               // how often it was ordered and that was not confirmed
	got     appliance.Reading // what was read since it was last ordered; zero: nothing
	order   shade.Order       // of a shade's machine
	why     error             // what was last read instead of the target; nil: nothing else was
	because error             // why it has failed; nil: it has not
	tried   error             // how the last try of what is under way failed; nil: none did
}

// ErrUnconfirmed is why a member fails of which nothing was heard in time.
var ErrUnconfirmed = errors.New("no confirmation before the deadline")

// errUnread is why a member fails that acknowledged and was not read afterwards.
var errUnread = errors.New("acknowledged, but could not be read back")

var errTooLate = fmt.Errorf("%w: the deadline passed before the bus came to it", appliance.ErrExpired)

// open reports whether the outcome is still to come.
func (m *member) open() bool { return m.outcome == Open }

// names of the member, one for each command that has its outcome.
func (m *member) names() []Member {
	return append([]Member{{m.command.ID, m.place}}, m.also...)
}

// stage tells how far a member has come.
func (s *State) stage(m *member, stage appliance.Stage, at time.Time) {
	if !m.open() {
		return
	}
	m.stage = stage
	for _, name := range m.names() {
		s.do(Staged{name, stage, at})
	}
	s.pending(m)
}

// pending tells why a member will have failed if nothing else is heard.
func (s *State) pending(m *member) {
	for _, name := range m.names() {
		s.do(Pending{name, m.reason(ErrUnconfirmed)})
	}
}

// end closes a member. The first outcome counts. Of which a newer command has taken a part, it is superseded, though the
// rest is done.
func (s *State) end(m *member, as Outcome, at time.Time, why error) {
	if !m.open() {
		return
	}
	if m.taken && why == nil && as != LeftOut {
		as, at, why = Failed, time.Time{}, appliance.ErrSuperseded
	}
	m.outcome, m.because = as, why
	s.beliefs.ended(m, s.now)
	for _, name := range m.names() {
		s.outcomes = append(s.outcomes, Ended{name, as, at, why})
	}
}

// sent: a frame for it is on the wire. What it was read to have before says nothing any more.
func (s *State) sent(m *member, at time.Time) {
	m.got = appliance.Reading{}
	s.stage(m, appliance.StageSent, at)
}

func (s *State) acknowledged(m *member, at time.Time) {
	m.why, m.tried = nil, nil
	s.stage(m, appliance.StageAcknowledged, at)
}

// disproved: it was read, and has something else.
func (s *State) disproved(m *member, why error) {
	m.why = why
	s.pending(m)
}

// confirm: it was read as wanted.
func (s *State) confirm(m *member, at time.Time) { s.end(m, Confirmed, at, nil) }

// fail ends a member in vain.
func (s *State) fail(m *member, err error) { s.end(m, Failed, time.Time{}, m.reason(err)) }

// reason is why a member fails with err. That its time ran out, or that it cannot be
// read any more, is none if it was read and has another value.
func (m *member) reason(err error) error {
	acknowledged := m.stage == appliance.StageAcknowledged
	switch {
	case errors.Is(err, appliance.ErrSuperseded), errors.Is(err, appliance.ErrRefused), errors.Is(err, appliance.ErrMismatch):
		return err
	case m.why != nil && (errors.Is(err, appliance.ErrExpired) || err == ErrUnconfirmed || acknowledged):
		return m.why
	case m.tried != nil && (err == ErrUnconfirmed || err == errTooLate):
		err = m.tried // the bus came to it, and in vain
	case acknowledged && (err == ErrUnconfirmed || err == errTooLate):
		return errUnread
	}
	if !acknowledged {
		return err
	}
	return fmt.Errorf("%w: %w", errUnread, err)
}
