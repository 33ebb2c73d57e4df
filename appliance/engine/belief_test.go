package engine

import (
	"errors"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// What a shade that says that it has carried its order out is believed.
func TestArrivedIsWhoWentThere(t *testing.T) {
	at := func(m appliance.Motion, p appliance.Position) appliance.Values {
		return appliance.Values{Has: appliance.CanMove | appliance.CanPosition, Motion: m, Position: p}
	}
	type step struct {
		had  appliance.Values // read before it was told
		told appliance.Values
		read appliance.Values // what it says it has reached
		want bool
	}
	for _, tc := range []struct {
		name  string
		steps []step
	}{
		{"who went as far as it can", []step{{at(appliance.Stopped, 50), at(appliance.MoveTo, 90), at(appliance.Stopped, 80), true}}},
		{"who stands at a limit that it was seen going to", []step{{at(appliance.Stopped, 50), at(appliance.MoveTo, 90), at(appliance.Stopped, 80), true}, {at(appliance.Stopped, 80), at(appliance.MoveTo, 95), at(appliance.Stopped, 80), true}}},
		{"not who stands where it stood", []step{{at(appliance.Stopped, 80), at(appliance.MoveTo, 90), at(appliance.Stopped, 80), false}}},
		{"not who stands at its lower end", []step{{at(appliance.Stopped, 0), at(appliance.MoveTo, 90), at(appliance.Stopped, 0), false}}},
		{"not who went the other way", []step{{at(appliance.Stopped, 50), at(appliance.MoveTo, 90), at(appliance.Stopped, 40), false}}},
		{"not who was on its way when it was told", []step{{at(appliance.Opening, 50), at(appliance.MoveTo, 90), at(appliance.Stopped, 80), false}}},
		{"not who still runs", []step{{at(appliance.Stopped, 50), at(appliance.MoveTo, 90), at(appliance.Opening, 80), false}}},
		{"not who passed that limit since", []step{
			{at(appliance.Stopped, 50), at(appliance.MoveTo, 90), at(appliance.Stopped, 80), true}, {at(appliance.Stopped, 80), at(appliance.MoveTo, 95), at(appliance.Stopped, 85), true}, {at(appliance.Stopped, 80), at(appliance.MoveTo, 90), at(appliance.Stopped, 80), false}}},
		{"not who was seen beyond that limit", []step{
			{at(appliance.Stopped, 50), at(appliance.MoveTo, 90), at(appliance.Stopped, 80), true}, {at(appliance.Stopped, 80), at(appliance.MoveTo, 95), at(appliance.Opening, 85), false}, {at(appliance.Stopped, 80), at(appliance.MoveTo, 90), at(appliance.Stopped, 80), false}}},
		{"who stands near the end that it was sent to", []step{{at(appliance.Stopped, 97), at(appliance.Open, 0), at(appliance.Stopped, 97), true}}},
		{"not who stands near the other end", []step{{at(appliance.Stopped, 97), at(appliance.Close, 0), at(appliance.Stopped, 97), false}}},
		{"not of whom nothing was read", []step{{appliance.Values{}, at(appliance.MoveTo, 90), at(appliance.Stopped, 80), false}}},
	} {
		ref := appliance.Ref{Shade: 5001}
		known := beliefs{ref: &belief{}}
		for i, s := range tc.steps {
			known.ordered(&member{target: appliance.Want{Ref: ref, Values: s.told}, before: s.had})
			r := []appliance.Reading{{Ref: ref, Values: s.read, Reached: true}}
			known.saw(r)
			if r[0].Reached != s.want {
				t.Errorf("%s, step %d: believed %v, want %v", tc.name, i, r[0].Reached, s.want)
			}
		}
	}
}

// Whoever has just been told something need not stand any more where it stood.
func TestWhoIsToldNeedNotStand(t *testing.T) {
	ref := appliance.Ref{Shade: 5001}
	known := beliefs{ref: &belief{}}
	known.saw([]appliance.Reading{{Ref: ref, Values: appliance.Values{Has: appliance.CanMove | appliance.CanPosition, Motion: appliance.Stopped, Position: 30}}})
	known.ordered(&member{target: appliance.Want{Ref: ref, Values: appliance.Values{Has: appliance.CanMove, Motion: appliance.Open}}})
	if got := known.of(ref).read; got.Has != appliance.CanPosition || got.Motion != appliance.MotionUnknown || got.Position != 30 {
		t.Errorf("known of it: %+v, want where it was, and not that it stands", got)
	}
}

// A lamp that obeys nobody is not at its lower limit because the step at which it stands was read as another number before.
func TestAStepReadAsAnotherNumberIsNoLimit(t *testing.T) {
	ref := appliance.Ref{Node: 5, Channel: 1}
	dimmed := func(l appliance.Level) appliance.Values { return appliance.Values{Has: appliance.CanDim, Level: l} }
	believed := func(known beliefs, had, want, read appliance.Level) bool {
		return known.explain(&member{target: appliance.Want{Ref: ref, Values: dimmed(want)}, before: dimmed(had), got: appliance.Reading{Ref: ref, Values: dimmed(read)}})
	}
	if believed(beliefs{ref: &belief{clips: true}}, 71, 37, 70) {
		t.Error("who stands at 70, which was 71, is believed to go no lower")
	}
	known := beliefs{ref: &belief{clips: true}}
	if !believed(known, 71, 3, 10) {
		t.Error("who went down to 10 is not believed to go no lower")
	}
	if !believed(known, 10, 3, 10) {
		t.Error("who has gone down to 10 before is not believed to go no lower than that")
	}
}

// A lamp that an order reaches late, which a gateway had, and that obeys no more, has not gone to a limit of its own.
func TestALateOrderIsNoLimit(t *testing.T) {
	r := newRig(t, 1, 0).begin()
	lamp := r.things[0]
	r.s.beliefs[lamp.ref()].clips = true
	lamp.answers = r.silent
	r.command(dim(48), lamp)
	r.run(5 * time.Second)
	lamp.answers = nil
	lamp.tells = &appliance.Reading{Values: dim(48)} // the gateway has told it, and it is stuck
	late := r.command(dim(99), lamp)
	r.run(5 * time.Second)
	if as, why := r.outcome(late); as == Confirmed {
		t.Errorf("99 is done by a lamp that has 48, as it was told before: %v", why)
	}
	lamp.tells = nil
	r.command(dim(20), lamp)
	r.run(5 * time.Second)
	lamp.tells = &appliance.Reading{Values: dim(80)}
	limited := r.command(dim(99), lamp)
	r.run(5 * time.Second)
	if as, why := r.outcome(limited); as != Confirmed {
		t.Errorf("one that obeys, and goes to 80, is at its limit: %v, %v", as, why)
	}
}

// A level that was ordered is shown until the lamp is read to have another.
func TestWhatIsReadOtherwiseIsNoLongerExpected(t *testing.T) {
	r := newRig(t, 1, 0).begin()
	r.things[0].tells = &appliance.Reading{Values: dim(20)}
	expected, ended := false, false
	r.carry = func(a Action) {
		switch a := a.(type) {
		case Expect:
			expected, ended = true, false
		case AsRead:
			ended = ended || a.Ref == r.things[0].ref()
		}
	}
	id := r.command(dim(40), r.things[0])
	r.run(15 * time.Second)
	if as, why := r.outcome(id); as != Failed || !errors.Is(why, appliance.ErrMismatch) {
		t.Fatalf("%v, %v; want that it has another level", as, why)
	}
	if !expected || !ended {
		t.Errorf("expected %v, and that ended %v, want both", expected, ended)
	}
}
