package sdn

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
	"svc.internal/controller/drivers/scan"
)

const (
	// collectFor is how long answers to "who is there" are waited for after a
	// broadcast: the longest answer time and a frame.
	collectFor = 300 * time.Millisecond
	// Rounds call one type after the other; answers that come too late show then, as
	// answers to another call.
	quietRounds = 2 // rounds without anything new that end them
	busyRounds  = 5 // the same, while others talk: they collide with answers too
	mostRounds  = 5
)

// searchTypes of motors are called one after another, so that fewer answer at once;
// 0 is everybody. All other types are called once, and again if anybody answers.
var searchTypes = []NodeType{0, 2, 6, 7, 8, 9}

// allTypes there can be.
const allTypes = 16

// Scan finds motors, configured or not: rounds of "who is there" to everybody and to
// one type after the other, then calls of each type that anybody was heard of until
// the [census] is sure that nobody is missing; motors of the site that were not heard
// are asked by themselves. Then each is asked for its label, limits, groups
// and position. Addresses are not numbers: first and last are ignored.
//
// Before and after, the line is left alone for a while, to hear who talks without
// being asked.
func (d *Driver) Scan(opts appliance.ScanOptions) iter.Seq[appliance.ScanStep] {
	return scan.Steps(func(c *scan.Course) {
		s := &search{Course: c, driver: d, known: make(map[Address]*candidate), heard: newEavesdropper(d.options.host)}
		c.Overhear(d.line.Recent, s.heard.take)
		if opts.AllSettings {
			s.Tell(appliance.Found{Finding: appliance.FoundNote,
				Detail: "all SDN motors speak at 4800 8O1: there are no other settings to try"})
		}
		s.listen()
		if opts.FindOut != nil {
			s.findOut()
			return
		}
		s.rounds()
		s.countAll()
		for _, m := range d.site.all {
			if s.known[m.address] == nil {
				s.seek(m)
			}
		}
		motors := slices.SortedFunc(maps.Keys(s.known), byAddress)
		for _, a := range motors {
			s.measure(a)
		}
		motors = slices.DeleteFunc(motors, func(a Address) bool { return s.known[a].delay > 0 })
		for _, a := range motors {
			s.confirm(a)
		}
		for _, a := range motors {
			s.greet(a)
		}
		for _, a := range motors {
			s.examine(a)
		}
		s.listen()
		wrong := s.line()
		for _, f := range wrong {
			s.Tell(f)
		}
		if len(s.known) == 0 && len(wrong) == 0 {
			s.Tell(appliance.Found{Finding: appliance.FoundHindered, Detail: "NOBODY ANSWERED: motors of all types were called at 4800 8O1",
				Advice: "check the power of the motors, the wiring (A and B may be swapped) and the adapter"})
		}
	})
}

func byAddress(a, b Address) int { return slices.Compare(a[:], b[:]) }

const (
	// findOutCalls to everybody tell whether there are motors: many answer at once, so that not every
	// call brings an answer that can be read.
	findOutCalls = 4
	// crowdCalls are the most where something answers and none of it can be read, as of two dozen motors.
	crowdCalls = 40
)

// findOut calls everybody until a motor answers, and one type after the other where many do at once.
func (s *search) findOut() {
	for s.round < findOutCalls || s.heard.noise > 0 && s.round < crowdCalls {
		if len(s.known) > 0 || s.Over() {
			return
		}
		t := NodeType(0)
		if s.round >= findOutCalls {
			t = searchTypes[s.round%len(searchTypes)]
		}
		s.round++
		s.call(t)
	}
}

// rounds calls one type after the other, until two rounds bring nothing new.
func (s *search) rounds() {
	enough := func() int {
		if s.heard.disturbed() {
			return busyRounds
		}
		return quietRounds
	}
	for barren := 0; s.round < mostRounds && barren < enough() && !s.Over(); {
		s.round++
		before := len(s.known)
		for t := range NodeType(allTypes) {
			if s.round > 1 && !s.sounded(t) && !slices.Contains(searchTypes, t) {
				continue
			}
			s.call(t)
		}
		if barren++; len(s.known) > before {
			barren = 0
		}
	}
}

// countAll calls the types that anybody was heard of until nobody is missing, and says
// so where that cannot be reached.
func (s *search) countAll() {
	s.counting = true
	for more := true; more && !s.Over(); {
		more = false
		s.round++
		for t := NodeType(1); t < allTypes; t++ {
			c := &s.census[t]
			if !s.sounded(t) || c.complete(s.heard.noisy()) || c.exhausted() {
				continue
			}
			more = true
			s.call(t)
		}
	}
	for t := NodeType(1); t < allTypes; t++ {
		c := &s.census[t]
		if !c.exhausted() || c.complete(s.heard.noisy()) || len(s.known) == 0 {
			continue
		}
		s.Tell(appliance.Found{
			Finding: appliance.FoundHindered,
			Detail:  fmt.Sprintf("MORE MOTORS (%v) MAY BE THERE than the %d that were found: after %d calls their answers still collide", t, len(c.first), c.calls),
			Advice:  "import those that were found, unplug half of them, and scan again",
		})
	}
}

// sounded reports whether anything was heard when a type was called.
func (s *search) sounded(t NodeType) bool {
	c := &s.census[t]
	return len(c.first) > 0 || c.clean < c.calls
}

// search is a scan under way.
type search struct {
	*scan.Course
	driver *Driver
	round  int
	known  map[Address]*candidate
	heard  *eavesdropper

	census   [allTypes]census // of each type
	counting bool             // one type may be called again and again: what comes late proves nothing
}

// seekTries of a motor of the site that did not answer the search; more if something
// came that could not be read, since that may be somebody else's noise.
const seekTries, seekDoubts = 3, 6

// seek asks a motor of the site by itself, whatever its type is.
func (s *search) seek(m *motor) {
	it := &candidate{}
	who := question{
		motor: &motor{driver: s.driver, address: m.address, key: m.key, course: course{goal: -1}},
		id:    getNodeAddress, want: postNodeAddress, most: minFrame, what: "asking who it is",
		then: func(f Frame, _ time.Time) ([]appliance.Reading, error) {
			it.kind = f.From
			return nil, nil
		},
	}
	for i := 0; !it.answered && (i < seekTries || it.damaged > 0 && i < seekDoubts); i++ {
		_, err := s.Ask(m.key, s.driver.exchange(who))
		it.note(err)
	}
	if it.answered || 2*it.damaged >= it.asked {
		s.known[m.address] = it
		return
	}
	s.Tell(appliance.Found{
		Address: m.key, Finding: appliance.FoundSilent, Detail: "does not answer",
		Advice: "check its mains and bus plugs, the address on its label, and the two bus wires for polarity",
	})
}

// call asks who is there of a type; 0 is everybody.
func (s *search) call(t NodeType) {
	who := "everybody"
	if t != 0 {
		who = t.String()
	}
	if s.shout(Frame{ID: getNodeAddress, To: t, Source: s.driver.options.host, Destination: Everybody}, fmt.Sprintf("%s, round %d", who, s.round)) {
		for _, a := range s.collect(t) { // the search goes on for minutes: who was heard is told now
			s.Tell(appliance.Found{Address: a.String(), Kind: s.known[a].kind.profile(), Detail: s.known[a].kind.String()})
		}
	}
}

// confirmCalls to one address: the answers of twins collide in a fifth of them.
const confirmCalls = 8

// confirm calls a motor by its address that answered a call twice. Answers to calls before
// may have come late, as where a serial server or this machine was slow: only one more than
// was ever called for is of a second motor. One call before the first counts as unanswered.
func (s *search) confirm(a Address) {
	d, k := s.driver, s.known[a]
	if k.times < 2 {
		return
	}
	for i, owed := 0, 1; k.alike < 2 && i < confirmCalls && !s.Over(); i++ {
		owed++
		if !s.shout(Frame{ID: getNodeAddress, To: k.kind, Source: d.options.host, Destination: a}, a.String()) {
			continue
		}
		d.mu.Lock()
		heard := d.strangers.found[a].times
		d.mu.Unlock()
		if heard > owed {
			k.alike = heard
		}
		owed = max(0, owed-heard)
	}
}

// shout sends a question that many may answer, and lets their answers be overheard: it
// reports whether they could be.
func (s *search) shout(f Frame, what string) bool {
	d := s.driver
	e := d.shout(f, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.strangers.noise = 0
		for _, seen := range d.strangers.found {
			seen.times = 0
		}
	}, nil)
	e.Airtime, e.Worst = e.Airtime+collectFor, e.Worst+collectFor
	send := e.Do
	e.Do = func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
		res, err := send(ctx, y)
		if err != nil {
			return res, err
		}
		over := time.Now().Add(collectFor)
		if err := line.Wait(ctx, collectFor); err != nil { // what comes meanwhile is overheard
			return res, err
		}
		if late := d.line.Overslept(over, appliance.ErrSilent); errors.Is(late, appliance.ErrOverslept) {
			return res, late // what came may have been told to an earlier call
		}
		return res, nil
	}
	_, err := s.Ask(what, e)
	if errors.Is(err, line.ErrBabble) {
		s.heard.drowned = true
	}
	return err == nil
}

// collect takes over who answered the call of a type, and returns those who were not heard before, ascending.
func (s *search) collect(t NodeType) (fresh []Address) {
	d := s.driver
	d.mu.Lock()
	defer d.mu.Unlock()
	var answered []Address
	for a, seen := range d.strangers.found {
		k := s.known[a]
		if k == nil {
			k = &candidate{}
			s.known[a] = k
			fresh = append(fresh, a)
		}
		k.kind, k.mixed = seen.kind, k.mixed || seen.mixed
		k.times = max(k.times, seen.times)
		if seen.times == 0 {
			continue
		}
		if t == 0 || t == seen.kind {
			answered = append(answered, a)
		}
		if s.counting {
			continue
		}
		k.seen++
		if t != 0 && t != seen.kind {
			k.astray++
		}
	}
	s.census[t].take(answered, d.strangers.noise > 0)
	s.heard.noise += d.strangers.noise
	slices.SortFunc(fresh, byAddress)
	return fresh
}

// candidate is a motor that a scan saw.
type candidate struct {
	sighting
	about
	seen   int           // calls that it seemed to answer
	astray int           // of them calls of another type that it seemed to answer: it was called before
	delay  time.Duration // of its answers, if nobody waits that long
	alike  int           // answers to one call of its address, if more than it was called for; two are twins
}

// about is what a motor told of itself.
type about struct {
	label, version string
	limits         *Limits   // nil: not told
	at             *position // nil: not told
	groups         []Address
	asked, damaged int
	answered       bool
	unread         bool // its group table could not be read to the end
}

// note counts whether a question was answered.
func (it *about) note(err error) {
	it.asked++
	switch {
	case err == nil, errors.Is(err, appliance.ErrRefused):
		it.answered = true
	case errors.Is(err, appliance.ErrDamaged):
		it.damaged++
	}
}

// greet asks a motor for its label, so that the installer has something to look at
// soon.
func (s *search) greet(a Address) {
	s.introduce(a, s.driver.ReadLabel(a, &s.known[a].label))
}

// introduce asks a motor something, and tells what is known of it then.
func (s *search) introduce(a Address, e appliance.Exchange) {
	s.AskAndTell(a.String(), e, func(err error) appliance.Found {
		s.known[a].note(err)
		return s.found(a)
	})
}

// doubtTries is how often a motor is asked again whose answers were damaged, to tell
// chance from a second motor.
const doubtTries = 5

// examineTries of a question whose answer was damaged or did not come; more while
// others collide with answers.
const examineTries, examineDoubts = 4, 16

// emptyEntries in a row end the reading of a group table: tools fill it from the
// beginning.
const emptyEntries = 4

// examine asks one motor for everything else an installer wants to know. It is told
// of once more after the last question.
func (s *search) examine(a Address) {
	d, it := s.driver, &s.known[a].about
	if s.otherType(a) {
		return // it ignores what is addressed to the type that the site says
	}
	ask := func(e appliance.Exchange) (err error) {
		for i := 0; i == 0 || passes(err) && (i < examineTries || s.heard.noisy() && i < examineDoubts); i++ {
			_, err = s.Ask(a.String(), e)
			it.note(err)
		}
		return err
	}
	_ = ask(d.ReadVersion(a, &it.version)) // not every motor tells
	var limits Limits
	if ask(d.ReadLimits(a, &limits)) == nil {
		it.limits = &limits
	}
	var group Address
	for i, empty := 0, 0; i < maxGroups && empty < emptyEntries; i++ {
		if ask(d.ReadGroup(a, i, &group)) != nil {
			it.unread = true // what is not known is not empty
			break
		}
		if empty++; group != Nobody {
			it.groups = append(it.groups, group)
			empty = 0
		}
	}
	position := d.positionOf(d.motorAt(a))
	take := position.then
	position.then = func(f Frame, at time.Time) ([]appliance.Reading, error) {
		if at, ok := readPosition(f.Data); ok {
			it.at = &at
		}
		return take(f, at)
	}
	for i := 0; it.damaged > 0 && i < doubtTries; i++ {
		_, err := s.Ask(a.String(), d.ReadLabel(a, &it.label))
		it.note(err)
	}
	s.introduce(a, d.exchange(position))
}

// passes reports whether asking again may help.
func passes(err error) bool {
	return errors.Is(err, appliance.ErrDamaged) || errors.Is(err, appliance.ErrSilent)
}
