package engine

import (
	"slices"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// A site that has a lamp more leaves the others as they are: they are as online as they were,
// are not asked before it is their turn, and what was begun with them goes on.
func TestWhatDidNotChangeIsKept(t *testing.T) {
	r := newRig(t, 3, 0).begin()
	r.run(1500 * time.Millisecond) // it is nobody's turn
	reads := 0
	r.things[0].answers = func(write bool) (bool, time.Duration, error) {
		if !write && reads < 3 {
			reads++
			return true, 0, appliance.ErrBusy
		}
		return true, 0, nil
	}
	id := r.command(dim(33), r.things[0])
	r.run(60 * time.Millisecond)
	r.frames = nil
	r.things = append(r.things, &thing{node: 4})
	before := r.s.wiring
	w := r.wiring()
	r.take(Configure{Wiring: w})
	r.take(Show{Kept: w.Kept(before)})
	r.run(500 * time.Millisecond)
	if as, why := r.outcome(id); as != Confirmed || r.writes(r.things[0]) != 0 {
		t.Errorf("what was begun: %v, %v; ordered %d times more", as, why, r.writes(r.things[0]))
	}
	if i := slices.IndexFunc(r.frames, func(f sentFrame) bool { return f.node == 2 || f.node == 3 }); i >= 0 {
		t.Errorf("lamp %d was asked anew after %v", r.frames[i].node, r.frames[i].at.Sub(noon))
	}
	if !r.online[2] || !r.online[4] {
		t.Errorf("online: %v", r.online)
	}
	// Afresh, everything is asked first.
	r.frames = nil
	r.take(Configure{Wiring: r.wiring(), Afresh: true})
	r.take(Show{})
	r.run(500 * time.Millisecond)
	for _, th := range r.things {
		if !slices.ContainsFunc(r.frames, func(f sentFrame) bool { return f.node == th.node }) {
			t.Errorf("afresh, lamp %d was not asked", th.node)
		}
	}
}
