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
	return func(yield func(appliance.ScanStep) bool) {
		s := &search{driver: d, known: make(map[Address]*candidate), heard: newEavesdropper(d)}
		if opts.AllSettings && !yield(s.tell(appliance.Found{Finding: appliance.FoundNote,
			Detail: "all SDN motors speak at 4800 8O1: there are no other settings to try"})) {
			return
		}
		if !s.listen(yield) {
			return
		}
		if !s.rounds(yield) || !s.countAll(yield) {
			return
		}
		for _, m := range d.all {
			if s.known[m.address] == nil && !s.seek(m, yield) {
				return
			}
		}
		motors := slices.SortedFunc(maps.Keys(s.known), func(a, b Address) int { return slices.Compare(a[:], b[:]) })
		for _, a := range motors {
			if !s.measure(a, yield) {
				return
			}
		}
		motors = slices.DeleteFunc(motors, func(a Address) bool { return s.known[a].delay > 0 })
		for _, a := range motors {
			if !yield(s.greet(a)) {
				return
			}
		}
		for _, a := range motors {
			if !s.examine(a, yield) {
				return
			}
		}
		if !s.listen(yield) {
			return
		}
		for _, f := range s.line() {
			if !yield(s.tell(f)) {
				return
			}
		}
	}
}

// rounds calls one type after the other, until two rounds bring nothing new; false: the
// scan was ended.
func (s *search) rounds(yield func(appliance.ScanStep) bool) bool {
	enough := func() int {
		if s.heard.disturbed() {
			return busyRounds
		}
		return quietRounds
	}
	for barren := 0; s.round < mostRounds && barren < enough(); {
		s.round++
		before := len(s.known)
		for t := range NodeType(allTypes) {
			if s.round > 1 && !s.sounded(t) && !slices.Contains(searchTypes, t) {
				continue
			}
			if !yield(s.call(t)) {
				return false
			}
		}
		if barren++; len(s.known) > before {
			barren = 0
		}
	}
	return true
}

// countAll calls the types that anybody was heard of until nobody is missing, and says
// so where that cannot be reached; false: the scan was ended.
func (s *search) countAll(yield func(appliance.ScanStep) bool) bool {
	s.counting = true
	for more := true; more; {
		more = false
		s.round++
		for t := NodeType(1); t < allTypes; t++ {
			c := &s.census[t]
			if !s.sounded(t) || c.complete(s.heard.noisy()) || c.exhausted() {
				continue
			}
			if more = true; !yield(s.call(t)) {
				return false
			}
		}
	}
	for t := NodeType(1); t < allTypes; t++ {
		c := &s.census[t]
		if !c.exhausted() || c.complete(s.heard.noisy()) || len(s.known) == 0 {
			continue
		}
		if !yield(s.tell(appliance.Found{
			Finding: appliance.FoundHindered,
			Detail:  fmt.Sprintf("MORE MOTORS (%v) MAY BE THERE than the %d that were found: after %d calls their answers still collide", t, len(c.first), c.calls),
			Advice:  "import those that were found, unplug half of them, and scan again",
		})) {
			return false
		}
	}
	return true
}

// sounded reports whether anything was heard when a type was called.
func (s *search) sounded(t NodeType) bool {
	c := &s.census[t]
	return len(c.first) > 0 || c.clean < c.calls
}

// search is a scan under way.
type search struct {
	driver *Driver
	round  int
	known  map[Address]*candidate
	heard  *eavesdropper

	census   [allTypes]census // of each type
	counting bool             // one type may be called again and again: what comes late proves nothing
}

// tell shows the installer something, without a frame.
func (s *search) tell(f appliance.Found) appliance.ScanStep {
	return appliance.ScanStep{
		Address: f.Address,
		Exchange: appliance.Exchange{Do: func(context.Context, appliance.Yield) (appliance.Result, error) {
			return appliance.Result{}, nil
		}},
		Judge: func(appliance.Result, error) (appliance.Found, bool) { return f, true },
	}
}

// seekTries of a motor of the site that did not answer the search; more if something
// came that could not be read, since that may be somebody else's noise.
const seekTries, seekDoubts = 3, 6

// seek asks a motor of the site by itself, whatever its type is.
func (s *search) seek(m *motor, yield func(appliance.ScanStep) bool) bool {
	it := &candidate{}
	who := question{
		motor: &motor{driver: s.driver, address: m.address, key: m.key, goal: -1},
		id:    getNodeAddress, want: postNodeAddress, most: minFrame, what: "asking who it is",
		then: func(f Frame, _ time.Time) ([]appliance.Reading, error) {
			it.kind = f.From
			return nil, nil
		},
	}
	for i := 0; !it.answered && (i < seekTries || it.damaged > 0 && i < seekDoubts); i++ {
		if !yield(appliance.ScanStep{Exchange: s.driver.exchange(who), Address: m.key, Judge: func(_ appliance.Result, err error) (appliance.Found, bool) {
			it.note(err)
			s.heard.take()
			return appliance.Found{}, false
		}}) {
			return false
		}
	}
	if it.answered || 2*it.damaged >= it.asked {
		s.known[m.address] = it
		return true
	}
	return yield(s.tell(appliance.Found{
		Address: m.key, Finding: appliance.FoundSilent, Detail: "does not answer",
		Advice: "check its mains and bus plugs, the address on its label, and the two bus wires for polarity",
	}))
}

// call asks who is there.
func (s *search) call(t NodeType) appliance.ScanStep {
	d := s.driver
	f := Frame{ID: getNodeAddress, To: t, Source: d.options.host, Destination: Everybody}
	e := d.shout(f, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.noise = 0
		for _, seen := range d.found {
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
		return res, d.listen(ctx, time.Now().Add(collectFor))
	}
	who := "everybody"
	if t != 0 {
		who = t.String()
	}
	return appliance.ScanStep{
		Exchange: e, Address: fmt.Sprintf("%s, round %d", who, s.round),
		Judge: func(_ appliance.Result, err error) (appliance.Found, bool) {
			s.heard.take()
			if errors.Is(err, line.ErrBabble) {
				s.heard.drowned = true
			}
			if err == nil {
				s.collect(t)
			}
			return appliance.Found{}, false
		},
	}
}

// listen keeps the bus free until t; what comes meanwhile is overheard.
func (d *Driver) listen(ctx context.Context, t time.Time) error {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// collect takes over who answered the call of a type.
func (s *search) collect(t NodeType) {
	d := s.driver
	d.mu.Lock()
	defer d.mu.Unlock()
	var answered []Address
	for a, seen := range d.found {
		k := s.known[a]
		if k == nil {
			k = &candidate{}
			s.known[a] = k
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
	s.census[t].take(answered, d.noise > 0)
	s.heard.noise += d.noise
}

// candidate is a motor that a scan saw.
type candidate struct {
	sighting
	about
	seen   int           // calls that it seemed to answer
	astray int           // of them calls of another type that it seemed to answer: it was called before
	delay  time.Duration // of its answers, if nobody waits that long
}

// about is what a motor told of itself.
type about struct {
	label, version   string
	limits           Limits
	hasLimits, hasAt bool
	groups           []Address
	at               position
	asked, damaged   int
	answered         bool
	unread           bool // its group table could not be read to the end
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
func (s *search) greet(a Address) appliance.ScanStep {
	it := &s.known[a].about
	return appliance.ScanStep{Exchange: s.driver.ReadLabel(a, &it.label), Address: a.String(), Judge: func(_ appliance.Result, err error) (appliance.Found, bool) {
		s.heard.take()
		it.note(err)
		return s.found(a), true
	}}
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
func (s *search) examine(a Address, yield func(appliance.ScanStep) bool) bool {
	d, it := s.driver, &s.known[a].about
	if s.otherType(a) {
		return true // it ignores what is addressed to the type that the site says
	}
	var failed error
	askOnce := func(e appliance.Exchange, then func()) bool {
		return yield(appliance.ScanStep{Exchange: e, Address: a.String(), Judge: func(_ appliance.Result, err error) (appliance.Found, bool) {
			s.heard.take()
			if failed = err; err == nil {
				then()
			}
			it.note(err)
			return appliance.Found{}, false
		}})
	}
	ask := func(e appliance.Exchange, then func()) bool {
		again := func(i int) bool {
			return (errors.Is(failed, appliance.ErrDamaged) || errors.Is(failed, appliance.ErrSilent)) && (i < examineTries || s.heard.noisy() && i < examineDoubts)
		}
		for i := 0; i == 0 || again(i); i++ {
			if !askOnce(e, then) {
				return false
			}
		}
		return true
	}
	if !ask(d.ReadVersion(a, &it.version), func() {}) || !ask(d.ReadLimits(a, &it.limits), func() { it.hasLimits = true }) {
		return false
	}
	var group Address
	for i, empty := 0, 0; i < maxGroups && empty < emptyEntries; i++ {
		empty++
		if !ask(d.ReadGroup(a, i, &group), func() {
			if group != Nobody {
				it.groups = append(it.groups, group)
				empty = 0
			}
		}) {
			return false
		}
		if failed != nil {
			it.unread = true // what is not known is not empty
			break
		}
	}
	position := d.positionOf(d.motorAt(a))
	take := position.then
	position.then = func(f Frame, at time.Time) ([]appliance.Reading, error) {
		it.at, it.hasAt = readPosition(f.Data)
		return take(f, at)
	}
	for i := 0; it.damaged > 0 && i < doubtTries; i++ {
		if !askOnce(d.ReadLabel(a, &it.label), func() {}) {
			return false
		}
	}
	return yield(appliance.ScanStep{Exchange: d.exchange(position), Address: a.String(),
		Judge: func(_ appliance.Result, err error) (appliance.Found, bool) {
			it.note(err)
			return s.found(a), true
		}})
}
