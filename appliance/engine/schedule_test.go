package engine

import (
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// What asks the same as before keeps its turn; what is new, or about something else now,
// comes first.
func TestPollsKeepTheirTurnThroughAChange(t *testing.T) {
	poll := func(node appliance.ID) appliance.Poll {
		return appliance.Poll{Exchange: appliance.Exchange{Device: "1", Refs: []appliance.Ref{{Node: node, Channel: 1}}}}
	}
	s := &schedule{}
	s.adopt(appliance.Freshness{}, []appliance.Poll{poll(1), poll(2), poll(3)}, func([]appliance.Ref) bool { return false })
	asked := time.Now()
	for _, p := range s.polls {
		p.last, p.answered = asked, true
	}
	s.adopt(appliance.Freshness{}, []appliance.Poll{poll(4), poll(2), poll(1)}, func(refs []appliance.Ref) bool { return refs[0].Node != 2 })
	for i, kept := range []bool{false, false, true} {
		if p := s.polls[i]; p.answered != kept || p.last.Equal(asked) != kept {
			t.Errorf("poll %d of node %d: %+v, want it kept: %v", i, p.Refs[0].Node, p, kept)
		}
	}
}

// Nothing due, it is told when the first will be: a bus that slept on would read late.
func TestWhenTheNextPollIsDueIsTold(t *testing.T) {
	s := &schedule{fresh: appliance.Freshness{Light: 10 * time.Second, Power: 4 * time.Second}}
	for _, class := range []appliance.Class{appliance.ClassLight, appliance.ClassPower, appliance.ClassLight} {
		s.polls = append(s.polls, &pollState{Poll: appliance.Poll{Class: class}, last: noon})
	}
	all := func(*pollState) bool { return true }
	p, at := s.pick(noon, all)
	if p != nil || at.Sub(noon) != time.Duration(refresh*float64(4*time.Second)) {
		t.Errorf("%v due, else at %v", p, at.Sub(noon))
	}
	if p, _ := s.pick(at, all); p != s.polls[1] {
		t.Errorf("%+v is due then", p)
	}
}
