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
