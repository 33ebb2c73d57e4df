package dmx

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"svc.internal/controller/appliance"
)

// discovery finds RDM devices by halving the range of UIDs until one alone answers
// (E1.20, 7.5). It sends nothing: it says what to ask next, and is told what was
// heard.
type discovery struct {
	found []UID

	unmuted int      // how often all were told to speak
	ranges  []branch // still to be asked, the last one first
	muting  UID      // answered and has to be silenced; 0: none
	tries   int
	again   bool // the present round found somebody
	rounds  int
	steps   int
	odd     []oddity // what went wrong
}

// oddity is something that a search met and did not expect.
type oddity struct {
	finding appliance.Finding
	uid     UID
	text    string // for people
}

type branch struct{ low, high UID }

const (
	unmuteTimes  = 3 // as OLA does
	muteTries    = 3
	searchRounds = 3     // of the whole range, until nobody new answers
	searchSteps  = 20000 // a full universe of collisions takes a tenth of it
)

// search steps.
type searchKind uint8

const (
	searchUnmute searchKind = iota
	searchBranch
	searchMute
)

type searchStep struct {
	kind searchKind
	branch
	uid UID
}

// String names a step for people.
func (s searchStep) String() string {
	switch s.kind {
	case searchUnmute:
		return "un-mute all"
	case searchMute:
		return "mute " + s.uid.String()
	}
	return fmt.Sprintf("ask %v to %v", s.low, s.high)
}

// heard is the outcome of a step.
type heard struct {
	nobody    bool
	collision bool
	uid       UID // of a clean answer to a branch
}

// next says what to do; ok is false at the end.
func (s *discovery) next() (searchStep, bool) {
	s.steps++
	switch {
	case s.steps > searchSteps:
		return searchStep{}, false
	case s.unmuted < unmuteTimes:
		return searchStep{kind: searchUnmute, uid: BroadcastUID}, true
	case s.muting != 0:
		return searchStep{kind: searchMute, uid: s.muting}, true
	case len(s.ranges) == 0:
		if s.rounds > 1 && !s.again || s.rounds == searchRounds { // one silence may be a lost answer
			return searchStep{}, false
		}
		s.rounds++
		s.again = false
		s.ranges = append(s.ranges, branch{0, maxUID})
	}
	return searchStep{kind: searchBranch, branch: s.ranges[len(s.ranges)-1]}, true
}

// heard takes the outcome of the step that next gave.
func (s *discovery) heard(step searchStep, h heard) {
	switch step.kind {
	case searchUnmute:
		s.unmuted++
	case searchMute:
		s.muted(h)
	default:
		s.branch(step.branch, h)
	}
}

func (s *discovery) branch(b branch, h heard) {
	switch {
	case h.nobody:
		s.ranges = s.ranges[:len(s.ranges)-1]
	case h.collision || h.uid < b.low || h.uid > b.high:
		s.halve(b)
	case slices.Contains(s.found, h.uid):
		s.note(oddity{appliance.FoundCollision, h.uid, fmt.Sprintf("%v answers although it was muted: ANOTHER DEVICE has the same UID", h.uid)})
		s.halve(b)
	default:
		s.muting, s.tries = h.uid, 0
	}
}

// muted goes on after the attempt to silence a device. One that does not confirm
// was never there: the answers of several can look like that of another.
func (s *discovery) muted(h heard) {
	uid := s.muting
	s.tries++
	switch {
	case !h.nobody && !h.collision:
		s.muting = 0
		s.found = append(s.found, uid)
		s.again = true
	case s.tries >= muteTries:
		s.muting = 0
		s.halve(s.ranges[len(s.ranges)-1])
	}
}

// halve asks for the two halves of the last range instead of the whole.
func (s *discovery) halve(b branch) {
	s.ranges = s.ranges[:len(s.ranges)-1]
	if b.low == b.high {
		if !slices.Contains(s.found, b.low) {
			s.note(oddity{appliance.FoundDamaged, b.low, fmt.Sprintf("answers for UID %v are garbled", b.low)})
		}
		return
	}
	middle := b.low + (b.high-b.low)/2
	s.ranges = append(s.ranges, branch{middle + 1, b.high}, branch{b.low, middle})
}

// note keeps what went wrong, once and bounded.
func (s *discovery) note(o oddity) {
	if len(s.odd) < 16 && !slices.Contains(s.odd, o) {
		s.odd = append(s.odd, o)
	}
}

// err says whether the search came to its end.
func (s *discovery) err() error {
	var errs []error
	if s.steps > searchSteps {
		errs = append(errs, fmt.Errorf("RDM discovery given up after %d questions: the answers make no sense; check termination and wiring", searchSteps))
	}
	for _, o := range s.odd {
		errs = append(errs, errors.New("RDM discovery: "+o.text))
	}
	return errors.Join(errs...)
}

// perform does one step of a search.
func (d *Driver) perform(ctx context.Context, s searchStep) (heard, error) {
	q := rdmPacket{to: BroadcastUID, class: classDiscovery, parameter: pidUnMute}
	l := labelSendRDM
	switch s.kind {
	case searchMute:
		q.to, q.parameter = s.uid, pidMute
	case searchBranch:
		l, q.parameter = labelDiscovery, pidUniqueBranch
		q.data = s.high.append(s.low.append(nil))
	}
	a, err := d.transact(ctx, l, q)
	switch {
	case errors.Is(err, errNobody):
		return heard{nobody: true}, nil
	case err != nil && s.kind == searchMute && errors.Is(err, appliance.ErrDamaged):
		return heard{collision: true}, nil
	case err != nil:
		return heard{}, err
	case s.kind != searchBranch:
		return heard{}, nil
	}
	uid, err := parseBranch(a.raw)
	if err != nil {
		return heard{collision: true}, nil
	}
	return heard{uid: uid}, nil
}
