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

// A position that turns a shade round is the matter of its second frame: if that is refused,
// whoever gave the command is told at once, and why.
func TestCommandWhoseRunDoesNotComeFails(t *testing.T) {
	r := newRig(t, 0, 1).begin()
	sh := r.things[0]
	r.command(motion(appliance.Open), sh)
	r.run(23 * time.Second) // it is at its upper end, for certain
	r.command(motion(appliance.Close), sh)
	r.run(3 * time.Second)
	sh.answers = func(write bool) (bool, time.Duration, error) {
		if write && sh.motion == appliance.Stopped {
			return false, 0, appliance.ErrRefused
		}
		return true, 0, nil
	}
	id := r.command(appliance.Values{Has: appliance.CanMove | appliance.CanPosition, Motion: appliance.MoveTo, Position: 95}, sh)
	r.run(5 * time.Second)
	if as, why := r.outcome(id); as != Failed || !errors.Is(why, appliance.ErrRefused) {
		t.Errorf("%v, %v; want what was refused", as, why)
	}
	if r.writes(sh) < 4 {
		t.Errorf("%d frames; this test shows nothing", r.writes(sh))
	}
}

// Whoever is silent is not asked when a shade would have to be stopped meanwhile.
func TestStopOfAWayIsNotLateForWhoIsSilent(t *testing.T) {
	tried := 0
	for phase := range 40 {
		r := newRig(t, 1, 1)
		r.timeout = 900 * time.Millisecond
		r.begin()
		lamp, sh := r.things[0], r.things[1]
		r.command(motion(appliance.Open), sh)
		r.run(30*time.Second + time.Duration(phase)*100*time.Millisecond) // it is at its upper end, for certain
		r.frames = nil
		r.command(appliance.Values{Has: appliance.CanMove | appliance.CanPosition, Motion: appliance.MoveTo, Position: 50}, sh)
		r.run(3 * time.Second)
		lamp.answers = r.silent
		silent := r.now
		r.run(9 * time.Second)
		var due, stopped, first time.Time
		for _, f := range r.frames {
			switch {
			case f.write && f.want.Motion == appliance.Close:
				due = f.at.Add(10*time.Second + r.airtime/2)
			case f.write && f.want.Motion == appliance.Stop && !due.IsZero() && stopped.IsZero():
				stopped = f.at
			case f.node == 1 && f.at.After(silent) && first.IsZero():
				first = f.at
			}
		}
		if first.Before(due) && due.Sub(first) < r.timeout+r.airtime {
			continue // nobody could know that it is silent
		}
		if tried++; stopped.Sub(due).Abs() > 2*r.airtime {
			t.Errorf("ordered at %d00 ms: stopped %v late", phase, stopped.Sub(due))
		}
	}
	if tried < 20 {
		t.Errorf("%d phases tried", tried)
	}
}

// What is ordered in between is confirmed with the run, and fails with what ends the pause.
func TestStopThatMakesRoomIsNotTheCommand(t *testing.T) {
	for name, wall := range map[string]bool{"it runs on": false, "somebody moves it at the wall": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 0, 1).begin()
			w := r.wiring()
			w.Opened.Shades[5001] = appliance.Channel{Abilities: appliance.CanMove, ReverseDelay: 3 * time.Second}
			r.take(Configure{Wiring: w})
			sh := r.things[0]
			r.command(motion(appliance.Open), sh)
			r.run(23 * time.Second)
			r.command(motion(appliance.Close), sh)
			r.run(6 * time.Second)
			id := r.command(appliance.Values{Has: appliance.CanMove | appliance.CanPosition, Motion: appliance.MoveTo, Position: 95}, sh)
			if wall {
				r.after(time.Second, func() { sh.motion = appliance.Closing })
			}
			r.run(5500 * time.Millisecond)
			as, why := r.outcome(id)
			if wall && !errors.Is(why, shade.ErrWall) || !wall && as == Failed {
				t.Errorf("%v, %v", as, why)
			}
			if r.run(4 * time.Second); !wall {
				if as, why := r.outcome(id); as != Confirmed {
					t.Errorf("%v, %v", as, why)
				}
			}
		})
	}
}

// A stop that waits when its bus goes down is not ended by that: it is sent as soon as the bus is back.
func TestAStopOutlivesItsBus(t *testing.T) {
	r := newRig(t, 1, 1).begin()
	lamp, blind := r.things[0], r.things[1]
	r.command(motion(appliance.Open), blind)
	r.run(time.Second)
	lamp.answers, blind.answers = r.silent, r.silent
	stop, level := r.command(motion(appliance.Stop), blind), r.command(dim(40), lamp)
	r.run(50 * time.Millisecond)
	r.down = errors.New("pulled")
	r.run(time.Second)
	if as, why := r.outcome(level); as != Failed || why != r.down {
		t.Errorf("a level: %v, %v; want it to have failed as the bus did", as, why)
	}
	if as, why := r.outcome(stop); as != Open {
		t.Errorf("a stop while the bus is down: %v, %v; want it open", as, why)
	}
	lamp.answers, blind.answers, r.down = nil, nil, nil
	r.run(3 * time.Second)
	if as, why := r.outcome(stop); as != Confirmed || blind.motion != appliance.Stopped {
		t.Errorf("once it is back: %v, %v, and it is %v", as, why, blind.motion)
	}
}

// What a device says of its relays is as old as the question: an answer that takes a second tells
// nothing of what became of a frame meanwhile.
func TestAReadingIsAsOldAsItsQuestion(t *testing.T) {
	r := newRig(t, 0, 1).begin()
	const slow = time.Second
	r.things[0].answers = func(bool) (bool, time.Duration, error) { return true, slow, nil }
	r.run(30 * time.Second)
	if p := r.s.Shades()[5001].Pose; p.HeardAt.Sub(p.SeenAt) < slow {
		t.Errorf("heard at %v, counts as seen at %v", p.HeardAt, p.SeenAt)
	}
}

// A calibration that loses its shade to a command that cannot be carried out leaves it to be stopped: nobody else would.
func TestARunThatIsLostToAnImpossibleCommandIsStopped(t *testing.T) {
	r := newRig(t, 0, 1).begin()
	r.run(30 * time.Second)
	r.last++
	r.take(Command{ID: r.last, Accepted: r.now, Ceiling: r.now.Add(CommandMost), Single: true, Holder: 7, Wants: []appliance.Want{{Ref: r.things[0].ref(), Values: motion(appliance.Open)}}, Places: []int{0}})
	r.run(3 * time.Second)
	if outcome, why := r.outcome(r.last); outcome != Confirmed || r.things[0].motion != appliance.Opening {
		t.Fatalf("%v, %v: it does %v", outcome, why, r.things[0].motion)
	}
	r.s.motors[5001].state.Settings.TravelUp = 0
	r.frames = nil
	id := r.command(appliance.Values{Has: appliance.CanMove | appliance.CanPosition, Motion: appliance.MoveTo, Position: 60}, r.things[0])
	r.run(3 * time.Second)
	if outcome, why := r.outcome(id); outcome != Failed || !slices.ContainsFunc(r.frames, func(f sentFrame) bool { return f.want.Motion == appliance.Stop }) || r.things[0].motion != appliance.Stopped {
		t.Errorf("%v, %v: sent %+v, it does %v", outcome, why, r.frames, r.things[0].motion)
	}
}

// A command that would have the outcome of an order that is gone by then is superseded.
func TestWhoJoinsWhatIsGone(t *testing.T) {
	r := newRig(t, 0, 1).begin()
	r.s.now, r.s.actions = r.now, nil
	of := &member{command: &Command{ID: 9}, target: appliance.Want{Ref: r.things[0].ref(), Values: motion(appliance.Open)}}
	r.s.join(r.s.motors[5001], of, 77)
	if of.outcome != Failed || !errors.Is(of.because, appliance.ErrSuperseded) {
		t.Errorf("%v, %v", of.outcome, of.because)
	}
}
