package appliance

import (
	"testing"
	"time"
)

// What asks the same as before keeps its turn; what is new, or about something else now,
// comes first.
func TestPollsKeepTheirTurnThroughAChange(t *testing.T) {
	poll := func(node ID) Poll {
		return Poll{Exchange: Exchange{Device: "1", Refs: []Ref{{Node: node, Channel: 1}}}}
	}
	s := &schedule{}
	s.adopt(Freshness{}, []Poll{poll(1), poll(2), poll(3)}, func([]Ref) bool { return false })
	asked := time.Now()
	for _, p := range s.polls {
		p.last, p.answered = asked, true
	}
	s.adopt(Freshness{}, []Poll{poll(4), poll(2), poll(1)}, func(refs []Ref) bool { return refs[0].Node != 2 })
	for i, kept := range []bool{false, false, true} {
		if p := s.polls[i]; p.answered != kept || p.last.Equal(asked) != kept {
			t.Errorf("poll %d of node %d: %+v, want it kept: %v", i, p.Refs[0].Node, p, kept)
		}
	}
}
