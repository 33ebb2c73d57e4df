package engine

import (
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// Whoever asks is told by when the hardware has it or has not: 2 s and the bus time of all frames, at most until nobody waits.
func TestTheTimeOfACommandIsThatOfItsFanOut(t *testing.T) {
	for _, test := range []struct {
		lamps int
		want  time.Duration
	}{
		{1, 2*time.Second + 2*20*time.Millisecond}, // a write and its reading back
		{50, 2*time.Second + 50*2*20*time.Millisecond},
		{1000, CommandMost},
	} {
		r := newRig(t, test.lamps, 0).begin()
		var told []Due
		r.carry = func(a Action) {
			if due, ok := a.(Due); ok {
				told = append(told, due)
			}
		}
		r.things[0].answers = r.silent // nor does one that does not answer take longer
		if test.lamps == 1 {
			r.things[0].answers = nil
		}
		id := r.command(dim(40), r.things...)
		if len(told) != 1 || told[0].Command != id || told[0].At.Sub(r.now) != test.want {
			t.Errorf("%d lamps: told %+v at %v, want %v", test.lamps, told, r.now, test.want)
			continue
		}
		r.run(test.want)
		if test.lamps < 1000 && len(r.ended[id]) != test.lamps {
			t.Errorf("%d lamps: %d were known by then", test.lamps, len(r.ended[id]))
		}
	}
}

// A command that joins another has the time of what it joins.
func TestWhoJoinsIsToldTheTimeOfWhatItJoins(t *testing.T) {
	r := newRig(t, 50, 0).begin()
	var told []time.Time
	r.carry = func(a Action) {
		if due, ok := a.(Due); ok {
			told = append(told, due.At)
		}
	}
	r.command(dim(40), r.things...)
	r.command(dim(40), r.things...)
	if len(told) != 2 || told[1].Before(told[0]) {
		t.Errorf("told %v", told)
	}
}

// Of what failed at once nobody is told a time.
func TestWhatFailedAtOnceHasNoTime(t *testing.T) {
	r := newRig(t, 1, 0).begin()
	r.down = appliance.ErrBusDown
	r.run(time.Second)
	told := false
	r.carry = func(a Action) {
		_, due := a.(Due)
		told = told || due
	}
	id := r.command(dim(40), r.things...)
	if as, why := r.outcome(id); as != Failed || told {
		t.Errorf("%v, %v, told a time: %v; want it failed, and no time told", as, why, told)
	}
}
