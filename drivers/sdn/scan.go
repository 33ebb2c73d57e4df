package sdn

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"svc.internal/controller/appliance"
)

const (
	// collectFor is how long answers to "who is there" are waited for after a
	// broadcast: the longest answer time and a frame.
	collectFor = 300 * time.Millisecond
	// Answers to a broadcast collide, and each motor chooses another moment in the
	// next round.
	quietRounds = 2 // rounds without anything new that end a search
	mostRounds  = 12
)

// searchTypes are called one after another, so that fewer motors answer at once.
var searchTypes = []NodeType{0, 2, 6, 7, 8, 9}

// Scan finds motors, configured or not: rounds of "who is there" to everybody and to
// one type after the other, until nothing new appears; then each is asked for its
// label, limits, groups and position. Addresses are not numbers: opts are ignored.
func (d *Driver) Scan(appliance.ScanOptions) iter.Seq[appliance.ScanStep] {
	return func(yield func(appliance.ScanStep) bool) {
		s := &search{driver: d, known: make(map[Address]*candidate)}
		for barren := 0; s.round < mostRounds && barren < quietRounds; {
			s.round++
			before := len(s.known)
			for _, t := range searchTypes {
				if !yield(s.call(t)) {
					return
				}
			}
			if barren++; len(s.known) > before {
				barren = 0
			}
		}
		motors := slices.SortedFunc(maps.Keys(s.known), func(a, b Address) int { return slices.Compare(a[:], b[:]) })
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
	}
}

// search is a scan under way.
type search struct {
	driver *Driver
	round  int
	known  map[Address]*candidate
	told   bool // that there is nothing but noise
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
			if err != nil {
				return appliance.Found{}, false
			}
			return s.collect()
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

// collect takes over who answered. After a whole round it tells of noise, if that
// is all there was.
func (s *search) collect() (appliance.Found, bool) {
	d := s.driver
	d.mu.Lock()
	defer d.mu.Unlock()
	for a, seen := range d.found {
		k := s.known[a]
		if k == nil {
			k = &candidate{}
			s.known[a] = k
		}
		k.kind, k.mixed = seen.kind, k.mixed || seen.mixed
		k.times = max(k.times, seen.times)
	}
	if s.told || len(s.known) > 0 || d.noise == 0 || s.round < quietRounds {
		return appliance.Found{}, false
	}
	s.told = true
	return appliance.Found{Detail: "somebody talks, but no frame is whole: wrong baud rate or parity (SDN has 4800 8O1), swapped wires, noise, or too many answers at once"}, true
}

// candidate is a motor that a scan saw.
type candidate struct {
	sighting
	about
}

// about is what a motor told of itself.
type about struct {
	label, version   string
	limits           Limits
	hasLimits, hasAt bool
	groups           []Address
	at               position
	damaged          int
	answered         bool
}

// note counts whether a question was answered.
func (it *about) note(err error) {
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
		it.note(err)
		return s.found(a), true
	}}
}

// emptyEntries in a row end the reading of a group table: tools fill it from the
// beginning.
const emptyEntries = 4

// examine asks one motor for everything else an installer wants to know. It is told
// of once more after the last question.
func (s *search) examine(a Address, yield func(appliance.ScanStep) bool) bool {
	d, it := s.driver, &s.known[a].about
	ask := func(e appliance.Exchange, then func()) bool {
		return yield(appliance.ScanStep{Exchange: e, Address: a.String(), Judge: func(_ appliance.Result, err error) (appliance.Found, bool) {
			if it.note(err); err == nil {
				then()
			}
			return appliance.Found{}, false
		}})
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
	}
	position := d.positionOf(d.motorAt(a))
	take := position.then
	position.then = func(f Frame, at time.Time) ([]appliance.Reading, error) {
		it.at, it.hasAt = readPosition(f.Data)
		return take(f, at)
	}
	return yield(appliance.ScanStep{Exchange: d.exchange(position), Address: a.String(),
		Judge: func(_ appliance.Result, err error) (appliance.Found, bool) {
			it.note(err)
			return s.found(a), true
		}})
}

// found is what is known of a motor so far.
func (s *search) found(a Address) appliance.Found {
	k := s.known[a]
	return appliance.Found{Address: a.String(), Kind: k.kind.profile(), Detail: k.describe()}
}

// describe tells people what a motor told.
func (k *candidate) describe() string {
	words := []string{k.kind.String()}
	if k.label != "" {
		words = append(words, fmt.Sprintf("label %q", k.label))
	}
	switch {
	case k.limits.Set:
		words = append(words, fmt.Sprintf("limits set (%d pulses)", k.limits.Down))
	case k.hasLimits:
		words = append(words, "limits not set")
	}
	if k.hasAt && k.at.known() {
		words = append(words, fmt.Sprintf("%d %% closed", k.at.Percent))
	}
	for i, g := range k.groups {
		if i == 0 {
			words = append(words, "in groups "+g.String())
			continue
		}
		words[len(words)-1] += " " + g.String()
	}
	if k.version != "" {
		words = append(words, "version "+k.version)
	}
	switch {
	case k.times > 1 || k.mixed:
		words = append(words, "TWO MOTORS answer to this address: take one off the bus")
	case k.damaged > 1:
		words = append(words, "its answers are garbled: two motors with this address, or a bad line")
	case !k.answered:
		words = append(words, "it told its address and then answered nothing")
	}
	return strings.Join(words, ", ")
}
