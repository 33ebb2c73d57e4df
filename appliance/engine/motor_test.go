package engine

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/shade"
)

// Why a machine took an order back reaches whoever gave the command: "superseded" was said of
// relays that acknowledged and did not run, and of shades that somebody moved at the wall.
func TestWhyAnOrderWasTakenBackIsSaid(t *testing.T) {
	for name, tc := range map[string]struct {
		does appliance.Motion // from a second and a half after the frame on
		want error
	}{
		"the relay does not run":              {appliance.Stopped, appliance.ErrMismatch},
		"somebody runs it the other way":      {appliance.Closing, shade.ErrWall},
		"somebody else wants something newer": {appliance.Stopped, appliance.ErrSuperseded},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 0, 1).begin()
			sh := r.things[0]
			sh.answers = func(write bool) (bool, time.Duration, error) { return false, 0, nil }
			id := r.command(appliance.Values{Has: appliance.CanMove | appliance.CanPosition, Motion: appliance.MoveTo, Position: 60}, sh)
			r.after(500*time.Millisecond, func() { sh.motion = tc.does })
			if tc.want == appliance.ErrSuperseded {
				r.after(300*time.Millisecond, func() { r.command(motion(appliance.Close), sh) })
			}
			r.run(9 * time.Second)
			if as, why := r.outcome(id); as != Failed || !errors.Is(why, tc.want) {
				t.Errorf("%v, %v; want %v", as, why, tc.want)
			}
		})
	}
}

// The stop that ends a way, and is not heard, is one command in the ledger for as long as it
// is tried, and after three tries keeps nobody waiting.
func TestStopThatIsNotHeardIsTriedBehindOthers(t *testing.T) {
	r := newRig(t, 2, 1).begin()
	sh := r.things[2]
	sh.answers = func(write bool) (bool, time.Duration, error) {
		if write && sh.motion != appliance.Stopped {
			return false, r.timeout, appliance.ErrSilent
		}
		return true, 0, nil
	}
	r.command(appliance.Values{Has: appliance.CanMove | appliance.CanPosition, Motion: appliance.MoveTo, Position: 60}, sh)
	r.run(23 * time.Second) // to the upper end first
	begun := len(r.begun)
	tried := r.writes(sh)
	for i := range 8 {
		r.after(time.Duration(i)*time.Second+123*time.Millisecond, func() { r.command(dim(appliance.Level(50+i)), r.things[i%2]) })
	}
	r.run(10 * time.Second)
	if n := r.writes(sh) - tried; n < 5 {
		t.Errorf("the stop was tried %d times more in 10 s", n)
	}
	if n := len(r.begun) - begun - 8; n > 0 {
		t.Errorf("%d entries more in the ledger", n)
	}
	for id := range r.ended {
		if as, why := r.outcome(id); id > 1 && id < Own && as != Confirmed {
			t.Errorf("lamp: %v, %v", as, why)
		}
	}
}

// The relay of a shade that is at its end is released: an entry of its own in the ledger, one
// try that gives way to lamps, and in vain again a minute later.
func TestReleaseOfARelayGivesWay(t *testing.T) {
	r := newRig(t, 3, 1).begin()
	sh := r.things[3]
	r.command(motion(appliance.Open), sh)
	r.run(24 * time.Second)
	if n := r.writes(sh); n != 1 {
		t.Fatalf("ordered %d times before it is time", n)
	}
	sh.answers = func(write bool) (bool, time.Duration, error) {
		if write {
			return false, r.timeout, appliance.ErrSilent
		}
		return true, 0, nil
	}
	r.frames = nil
	for i := range 100 {
		r.after(time.Duration(i)*20*time.Millisecond, func() { r.command(dim(appliance.Level(i)), r.things[i%3]) })
	}
	r.run(20 * time.Second)
	if n := r.writes(sh); n != 1 {
		t.Errorf("the relay was ordered off %d times, want once", n)
	}
	first := slices.IndexFunc(r.frames, func(f sentFrame) bool { return f.write && f.node == sh.node })
	if first < 60 {
		t.Errorf("frame %d, before lamps that somebody wants something of", first)
	}
	r.run(60 * time.Second)
	if n := r.writes(sh); n != 2 {
		t.Errorf("a minute later: ordered off %d times, want twice", n)
	}
}

// A motor that acknowledges, stands where it stood, and says that it has carried its order out
// is not read for as long as anybody waits: it is ordered thrice, and its place is named.
func TestMotorThatSaysItArrivedAndStandsIsNotReadForEver(t *testing.T) {
	r := newRig(t, 0, 1).begin()
	w := r.wiring()
	w.Opened.Shades[5001] = appliance.Channel{Abilities: appliance.CanMove | appliance.CanPosition, PositionMeasured: true}
	r.take(Configure{Wiring: w, Afresh: true})
	sh := r.things[0]
	sh.tells = &appliance.Reading{Values: appliance.Values{Has: appliance.CanMove | appliance.CanPosition, Motion: appliance.Stopped, Position: 100}, Reached: true}
	r.run(20 * time.Second)
	r.frames = nil
	began := r.now
	id := r.command(appliance.Values{Has: appliance.CanMove | appliance.CanPosition, Motion: appliance.MoveTo, Position: 40}, sh)
	for r.now.Sub(began) < 11*time.Second && len(r.ended[id]) == 0 {
		r.run(50 * time.Millisecond)
	}
	as, why := r.outcome(id)
	if as != Failed || !strings.Contains(why.Error(), "stopped at 100 % instead of go to 40 %") || r.now.Sub(began) > 6*time.Second {
		t.Errorf("%v, %v after %v", as, why, r.now.Sub(began))
	}
	if n := r.writes(sh); n != maxWrites {
		t.Errorf("ordered %d times, want %d", n, maxWrites)
	}
}
