package engine

import (
	"slices"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// Two clients that repeat STOP for one shade used to supersede each other: nobody was told
// 1, and meanwhile another shade's STOP failed and every lamp of the bus expired.
func TestStopsForOneShadeJoin(t *testing.T) {
	r := newRig(t, 4, 2)
	r.airtime = 100 * time.Millisecond
	r.begin()
	one, other := r.things[4], r.things[5]
	r.command(motion(appliance.Open), one)
	r.command(motion(appliance.Open), other)
	r.run(3 * time.Second)
	var stops []uint64
	for at := time.Duration(0); at < 20*time.Second; at += 40 * time.Millisecond {
		r.after(at, func() { stops = append(stops, r.command(motion(appliance.Stop), one)) })
	}
	var others []uint64
	r.after(4*time.Second, func() {
		misses := 2
		other.answers = func(write bool) (bool, time.Duration, error) {
			if misses--; misses >= 0 {
				return false, r.timeout, appliance.ErrSilent
			}
			return true, 0, nil
		}
		others = append(others, r.command(motion(appliance.Stop), other))
	})
	r.after(6*time.Second, func() {
		for i, th := range r.things[:4] {
			others = append(others, r.command(dim(appliance.Level(20+i)), th))
		}
	})
	r.run(24 * time.Second)
	well := 0
	for _, id := range stops {
		if as, _ := r.outcome(id); as == Confirmed {
			well++
		}
	}
	if len(stops) < 400 || well < len(stops)*95/100 {
		t.Errorf("%d of %d STOPs were confirmed", well, len(stops))
	}
	for _, id := range others {
		if as, why := r.outcome(id); as != Confirmed {
			t.Errorf("command %d beside them: %v, %v", id, as, why)
		}
	}
}

// The same level for the same lamp is carried out once, and both are told.
func TestIdenticalCommandsJoin(t *testing.T) {
	r := newRig(t, 3, 0).begin()
	lamp := r.things[0]
	first := r.command(dim(40), lamp)
	second := r.command(dim(40), lamp)
	r.run(time.Second)
	for _, id := range []uint64{first, second} {
		if as, why := r.outcome(id); as != Confirmed {
			t.Errorf("command %d: %v, %v", id, as, why)
		}
	}
	if n := r.writes(lamp); n != 1 {
		t.Errorf("written %d times, want once", n)
	}
	r.frames = nil
	first, second = r.command(dim(50), lamp), r.command(dim(60), lamp)
	r.run(time.Second)
	if as, why := r.outcome(first); as != Failed || why != appliance.ErrSuperseded {
		t.Errorf("another level: the first is %v, %v; want it superseded", as, why)
	}
	if as, why := r.outcome(second); as != Confirmed || lamp.level != 60 {
		t.Errorf("the second is %v, %v", as, why)
	}
}

// A lamp of which one wants a colour and a level, and another a level, gets the colour; the first is not told that all is done.
func TestOfAPartThatIsTakenTheRestIsDone(t *testing.T) {
	r := newRig(t, 1, 0).begin()
	lamp := r.things[0]
	both := dim(40)
	both.Has, both.Kelvin = both.Has|appliance.CanTune, 3000
	lamp.tells = &appliance.Reading{Values: both}
	lamp.tells.Level = 50
	first, second := r.command(both, lamp), r.command(dim(50), lamp)
	r.run(time.Second)
	if as, why := r.outcome(first); as != Failed || why != appliance.ErrSuperseded {
		t.Errorf("colour and level: %v, %v; want it superseded", as, why)
	}
	if as, why := r.outcome(second); as != Confirmed {
		t.Errorf("the level after it: %v, %v", as, why)
	}
	if !slices.ContainsFunc(r.frames, func(f sentFrame) bool { return f.write && f.want.Has == appliance.CanTune }) {
		t.Errorf("the colour alone was not sent: %v", r.frames)
	}
}

// Who joins has as long as if nobody had been before; a lamp of a set may be joined, too.
func TestWhoJoinsHasItsOwnTime(t *testing.T) {
	r := newRig(t, 2, 0).begin()
	lamp := r.things[0]
	lamp.answers = func(bool) (bool, time.Duration, error) { return false, 0, appliance.ErrBusy }
	first := r.command(dim(40), lamp)
	r.run(1800 * time.Millisecond)
	second := r.command(dim(40), lamp)
	r.run(time.Second)
	lamp.answers = nil
	r.run(time.Second)
	if as, why := r.outcome(second); as != Confirmed {
		t.Errorf("the second, 1 s before its end: %v, %v", as, why)
	}
	if as, why := r.outcome(first); as != Confirmed {
		t.Errorf("the first, which is the same frame: %v, %v", as, why)
	}
	set := r.command(dim(70), r.things...)
	alone := r.command(dim(70), lamp)
	r.run(time.Second)
	if as, _ := r.outcome(alone); as != Confirmed || len(r.ended[set]) != 2 || r.ended[set][0].Outcome != Confirmed || r.ended[set][1].Outcome != Confirmed {
		t.Errorf("alone %v, the set %v", as, r.ended[set])
	}
}

// Whoever keeps changing one lamp takes half of the bus, if others want something: their
// reading back is not starved.
func TestOneThingTakesHalfOfTheBusAtMost(t *testing.T) {
	r := newRig(t, 6, 0)
	r.airtime = 100 * time.Millisecond
	r.begin()
	slider := r.things[0]
	for at := time.Duration(0); at < 12*time.Second; at += 50 * time.Millisecond {
		r.after(at, func() { r.command(dim(appliance.Level(at/(50*time.Millisecond))%100), slider) })
	}
	var others []uint64
	r.after(2*time.Second, func() {
		for _, th := range r.things[1:] {
			others = append(others, r.command(dim(77), th))
		}
	})
	r.run(5 * time.Second)
	for _, id := range others {
		as, why := r.outcome(id)
		if as != Confirmed {
			t.Errorf("command %d: %v, %v", id, as, why)
		}
	}
	r.run(10 * time.Second)
	if slider.level != 39 {
		t.Errorf("the lamp of the slider has %d in the end", slider.level)
	}
}

// Nor is the repetition of what was damaged: it takes turns with whoever orders one thing again and again.
func TestRepetitionsTakeTurnsWithOneThing(t *testing.T) {
	r := newRig(t, 2, 0)
	r.airtime = 100 * time.Millisecond
	r.begin()
	slider, lamp := r.things[0], r.things[1]
	for at := time.Duration(0); at < 6*time.Second; at += 50 * time.Millisecond {
		r.after(at, func() { r.command(dim(appliance.Level(at/(50*time.Millisecond))%100), slider) })
	}
	damaged := 0
	lamp.answers = func(bool) (bool, time.Duration, error) {
		if damaged++; damaged <= 3 {
			return false, 0, appliance.ErrDamaged
		}
		return true, 0, nil
	}
	var of uint64
	r.after(time.Second, func() { of = r.command(dim(77), lamp) })
	r.run(3 * time.Second)
	if as, why := r.outcome(of); as != Confirmed {
		t.Errorf("a lamp whose answers were damaged three times: %v, %v, after %d frames", as, why, damaged)
	}
	r.run(5 * time.Second)
	if slider.level != 19 {
		t.Errorf("the lamp of the slider has %d in the end", slider.level)
	}
}

// Nor is it starved by stops that nobody hears, which clients give again and again, on the same wires: a damaged answer
// is no silence, nor is "busy".
func TestWhoSpeaksGoesBeforeWhoIsDeaf(t *testing.T) {
	for name, bad := range map[string]struct {
		write bool // it is the answer to the write, not to the read after it
		err   error
	}{"damaged": {false, appliance.ErrDamaged}, "busy": {true, appliance.ErrBusy}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 1, 1)
			r.begin()
			lamp, deaf := r.things[0], r.things[1]
			deaf.answers = r.silent
			for at := time.Duration(0); at < 4*time.Second; at += 150 * time.Millisecond {
				r.after(at, func() { r.command(motion(appliance.Stop), deaf) })
			}
			answers := 0
			lamp.answers = func(write bool) (bool, time.Duration, error) {
				if write == bad.write {
					if answers++; answers <= 2 {
						return false, r.timeout, bad.err
					}
				}
				return true, 0, nil
			}
			var of uint64
			r.after(time.Second, func() { of = r.command(dim(77), lamp) })
			r.run(2200 * time.Millisecond)
			if as, why := r.outcome(of); as != Confirmed {
				t.Errorf("a lamp whose first two answers were like that: %v, %v, after %d of them", as, why, answers)
			}
		})
	}
}

// A chain that has begun goes on before a shade's stop is repeated that nobody hears: its
// second frame is no repetition of its first.
func TestAChainThatHasBegunGoesOn(t *testing.T) {
	r := newRig(t, 1, 1)
	r.begin()
	lamp, deaf := r.things[0], r.things[1]
	lamp.steps = 4
	r.command(motion(appliance.Open), deaf)
	r.run(time.Second)
	r.frames, deaf.answers = nil, r.silent
	stop := r.command(motion(appliance.Stop), deaf)
	r.after(50*time.Millisecond, func() { r.command(dim(40), lamp) })
	r.run(3 * time.Second)
	at := slices.IndexFunc(r.frames, func(f sentFrame) bool { return f.node == lamp.node })
	for i := range lamp.steps {
		if f := r.frames[at+i]; f.node != lamp.node {
			t.Errorf("frame %d after the lamp's first is one of %d", i, f.node)
		}
	}
	if as, _ := r.outcome(stop); as == Confirmed {
		t.Error("a stop that nobody heard is confirmed")
	}
}

// Whoever moves a shade up and stops it, again and again, does not keep another's from being
// stopped.
func TestRepetitionsGoBehindAnothersStop(t *testing.T) {
	r := newRig(t, 1, 2)
	r.airtime = 100 * time.Millisecond
	r.begin()
	one, other := r.things[1], r.things[2]
	r.command(motion(appliance.Open), other)
	r.run(2 * time.Second)
	kinds := []appliance.Motion{appliance.Stop, appliance.Stop, appliance.Open, appliance.Close}
	for i := range 400 {
		r.after(time.Duration(i)*25*time.Millisecond, func() { r.command(motion(kinds[i%4]), one) })
	}
	var stop uint64
	r.after(time.Second, func() {
		misses := 2
		other.answers = func(write bool) (bool, time.Duration, error) {
			if misses--; misses >= 0 {
				return false, r.timeout, appliance.ErrSilent
			}
			return true, 0, nil
		}
		stop = r.command(motion(appliance.Stop), other)
	})
	r.run(3 * time.Second)
	if as, why := r.outcome(stop); as != Confirmed || other.motion != appliance.Stopped {
		t.Errorf("after 2 s: %v, %v; it is %v", as, why, other.motion)
	}
}

// writes counts the frames that told a thing something.
func (r *rig) writes(th *thing) (n int) {
	for _, f := range r.frames {
		if f.write && f.node == th.node {
			n++
		}
	}
	return n
}

// Whatever is repeated to one shade, another that moves is read in between: it has to be seen to arrive.
func TestRepetitionsHideNoMovement(t *testing.T) {
	r := newRig(t, 1, 2)
	r.airtime = 100 * time.Millisecond
	r.begin()
	one, other := r.things[1], r.things[2]
	r.command(motion(appliance.Open), other)
	r.run(2 * time.Second)
	began := r.now
	kinds := []appliance.Motion{appliance.Stop, appliance.Stop, appliance.Open, appliance.Close}
	for i := range 400 {
		r.after(time.Duration(i)*25*time.Millisecond, func() { r.command(motion(kinds[i%4]), one) })
	}
	r.run(10 * time.Second)
	last := began
	for _, f := range r.frames {
		if f.node != other.node || f.write || f.at.Before(began) {
			continue
		}
		if gap := f.at.Sub(last); gap > 1500*time.Millisecond {
			t.Errorf("not read for %v, from %v on", gap, last.Sub(began))
		}
		last = f.at
	}
	if r.now.Sub(last) > 1500*time.Millisecond {
		t.Errorf("not read since %v", last.Sub(began))
	}
}

// What is ordered first waits for no such look.
func TestFirstOrdersWaitForNoLook(t *testing.T) {
	r := newRig(t, 1, 2)
	r.airtime = 100 * time.Millisecond
	r.begin()
	r.command(motion(appliance.Open), r.things[2])
	r.run(2 * time.Second)
	for i := range 40 {
		r.run(137 * time.Millisecond)
		before := len(r.frames)
		r.command(dim(appliance.Level(10+i)), r.things[0])
		r.command(motion([]appliance.Motion{appliance.Close, appliance.Open}[i%2]), r.things[1])
		r.run(250 * time.Millisecond)
		if got := r.frames[before:]; len(got) < 2 || !got[0].write || !got[1].write {
			t.Errorf("round %d: %+v", i, got)
		}
	}
}
