package appliance

import "testing"

// What a shade that says that it has carried its order out is believed.
func TestArrivedIsWhoWentThere(t *testing.T) {
	at := func(m Motion, p Position) Values {
		return Values{Has: CanMove | CanPosition, Motion: m, Position: p}
	}
	type step struct {
		had  Values // read before it was told
		told Values
		read Values // what it says it has reached
		want bool
	}
	for _, tc := range []struct {
		name  string
		steps []step
	}{
		{"who went as far as it can", []step{{at(Stopped, 50), at(MoveTo, 90), at(Stopped, 80), true}}},
		{"who stands at a limit that it was seen going to", []step{{at(Stopped, 50), at(MoveTo, 90), at(Stopped, 80), true}, {at(Stopped, 80), at(MoveTo, 95), at(Stopped, 80), true}}},
		{"not who stands where it stood", []step{{at(Stopped, 80), at(MoveTo, 90), at(Stopped, 80), false}}},
		{"not who stands at its lower end", []step{{at(Stopped, 0), at(MoveTo, 90), at(Stopped, 0), false}}},
		{"not who went the other way", []step{{at(Stopped, 50), at(MoveTo, 90), at(Stopped, 40), false}}},
		{"not who was on its way when it was told", []step{{at(Opening, 50), at(MoveTo, 90), at(Stopped, 80), false}}},
		{"not who still runs", []step{{at(Stopped, 50), at(MoveTo, 90), at(Opening, 80), false}}},
		{"not who passed that limit since", []step{
			{at(Stopped, 50), at(MoveTo, 90), at(Stopped, 80), true}, {at(Stopped, 80), at(MoveTo, 95), at(Stopped, 85), true}, {at(Stopped, 80), at(MoveTo, 90), at(Stopped, 80), false}}},
		{"not who was seen beyond that limit", []step{
			{at(Stopped, 50), at(MoveTo, 90), at(Stopped, 80), true}, {at(Stopped, 80), at(MoveTo, 95), at(Opening, 85), false}, {at(Stopped, 80), at(MoveTo, 90), at(Stopped, 80), false}}},
		{"who stands near the end that it was sent to", []step{{at(Stopped, 97), at(Open, 0), at(Stopped, 97), true}}},
		{"not who stands near the other end", []step{{at(Stopped, 97), at(Close, 0), at(Stopped, 97), false}}},
		{"not of whom nothing was read", []step{{Values{}, at(MoveTo, 90), at(Stopped, 80), false}}},
	} {
		ref := Ref{Shade: 5001}
		known := beliefs{ref: &belief{}}
		for i, s := range tc.steps {
			known.asked(&member{target: Want{ref, s.told}, before: s.had})
			r := []Reading{{Ref: ref, Values: s.read, Reached: true}}
			known.saw(r)
			if r[0].Reached != s.want {
				t.Errorf("%s, step %d: believed %v, want %v", tc.name, i, r[0].Reached, s.want)
			}
		}
	}
}

// Whoever has just been told something need not stand any more where it stood.
func TestWhoIsToldNeedNotStand(t *testing.T) {
	ref := Ref{Shade: 5001}
	known := beliefs{ref: &belief{}}
	known.saw([]Reading{{Ref: ref, Values: Values{Has: CanMove | CanPosition, Motion: Stopped, Position: 30}}})
	known.asked(&member{target: Want{ref, Values{Has: CanMove, Motion: Open}}})
	if got := known.of(ref).read; got.Has != CanPosition || got.Motion != MotionUnknown || got.Position != 30 {
		t.Errorf("known of it: %+v, want where it was, and not that it stands", got)
	}
}
