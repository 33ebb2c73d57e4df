package modbus

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// Whoever waits for the frame in flight waits for one frame, also when the device
// has to be set up for its shade first; and once it is, nothing is written again.
func TestSettingUpAShadeTakesOneFrameAnExchange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		nodes := []appliance.Node{node(1, "5", "wirenboard-wb-mr6c")}
		d, _ := bench(t, serialWire(t), nodes, []appliance.Shade{{ID: 5001, Node: 1, Output: 1}}, nil)
		requests := func() (n int) {
			for _, f := range d.Recent() {
				if f.Direction == appliance.FrameSent {
					n++
				}
			}
			return n
		}
		want := appliance.Want{Ref: appliance.Ref{Shade: 5001}, Values: appliance.Values{Has: appliance.CanMove, Motion: appliance.Open}}
		for round, frames := range []int{5, 4} { // look, set up, other direction off, read to be off, this one on
			first := requests()
			for i, step := range d.Plan([]appliance.Want{want})[0].Steps {
				before := requests()
				res, err := do(t, step)
				if err != nil {
					t.Fatalf("step %d: %v", i, err)
				}
				sent := requests() - before
				if sent > 1 || (sent == 1) == res.Sent.IsZero() {
					t.Errorf("round %d: step %d sent %d frames and tells %v, want one at most", round, i, sent, res.Sent)
				}
				if step.Worst < step.Airtime || step.Airtime <= 0 {
					t.Errorf("step %d: worst %v, airtime %v", i, step.Worst, step.Airtime)
				}
			}
			if got := requests() - first; got != frames {
				t.Errorf("round %d took %d frames, want %d", round, got, frames)
			}
		}
	})
}

// Where an answer may be that to an earlier question, a setting is read again, and written only if it is another one: writing it
// stops a motor that runs.
func TestASettingThatIsRightIsNotWrittenInDoubt(t *testing.T) {
	t.Parallel()
	for is, writes := range []int{1, 0} {
		synctest.Test(t, func(t *testing.T) {
			d, b := bench(t, serialWire(t), []appliance.Node{node(1, "5", "wirenboard-wb-mr6c")}, []appliance.Shade{{ID: 5001, Node: 1, Output: 1}}, nil)
			b.set(5, point{holdings, 1280}, uint16(is))
			written := 0
			b.alias = func(_ byte, p point, _ uint16) {
				if p == (point{holdings, 1280}) {
					written++
				}
			}
			d.units[5].doubtful = time.Now().Add(time.Minute)
			want := appliance.Want{Ref: appliance.Ref{Shade: 5001}, Values: appliance.Values{Has: appliance.CanMove, Motion: appliance.Open}}
			for _, step := range d.Plan([]appliance.Want{want})[0].Steps[:3] {
				if _, err := do(t, step); err != nil {
					t.Fatal(err)
				}
			}
			if written != writes {
				t.Errorf("set to %d: written %d times, want %d", is, written, writes)
			}
		})
	}
}

// A relay that sticks does not get its opposite switched on; one that only shows late that
// it has released is waited for.
func TestOppositeRelayIsReadToBeOff(t *testing.T) {
	t.Parallel()
	const opens, closes = 16, 17
	for _, test := range []struct {
		name     string
		releases time.Duration // after which it does; negative: never
		moves    bool
	}{{"at once", 0, true}, {"150 ms later", 150 * time.Millisecond, true}, {"never", -1, false}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d, b := bench(t, serialWire(t), []appliance.Node{node(1, "5", "wirenboard-wb-mr6c")}, []appliance.Shade{{ID: 5001, Node: 1, Output: 1}}, nil)
				coil := func(addr uint16) point { return point{coils, addr} }
				b.set(5, coil(opens), 1)
				var told time.Time
				b.alias = func(unit byte, p point, w uint16) {
					switch {
					case p != coil(opens) || w != 0 || test.releases == 0:
					case told.IsZero() || test.releases < 0:
						told = time.Now()
						b.put(unit, p, 1)
						if test.releases > 0 {
							time.AfterFunc(test.releases, func() { b.set(unit, p, 0) })
						}
					}
				}
				want := appliance.Want{Ref: appliance.Ref{Shade: 5001}, Values: appliance.Values{Has: appliance.CanMove, Motion: appliance.Close}}
				var err error
				for _, step := range d.Plan([]appliance.Want{want})[0].Steps {
					for until := time.Now().Add(deadline); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
						if _, err = do(t, step); !errors.Is(err, appliance.ErrBusy) {
							break
						}
					}
					if err != nil {
						break
					}
				}
				if moves := b.get(5, coil(closes)) == 1; moves != test.moves || moves != (err == nil) {
					t.Errorf("the other relay is on: %v, %v; want %v", moves, err, test.moves)
				}
				if !test.moves && !errors.Is(err, appliance.ErrRefused) {
					t.Errorf("%v, want it refused", err)
				}
			})
		})
	}
}

// Where an answer may be that to an earlier question, a relay is not believed to be off: the other one stays off until the answer
// can be to no other.
func TestOppositeRelayIsNotBelievedInDoubt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, b := bench(t, serialWire(t), []appliance.Node{node(1, "5", "wirenboard-wb-mr6c")}, []appliance.Shade{{ID: 5001, Node: 1, Output: 1}}, nil)
		want := appliance.Want{Ref: appliance.Ref{Shade: 5001}, Values: appliance.Values{Has: appliance.CanMove, Motion: appliance.Close}}
		time.Sleep(time.Second) // the port was opened long ago
		doubtful := time.Now().Add(releaseMost / 2)
		d.units[5].doubtful = doubtful
		waited := 0
		for _, step := range d.Plan([]appliance.Want{want})[0].Steps {
			_, err := do(t, step)
			for ; errors.Is(err, appliance.ErrBusy); _, err = do(t, step) {
				waited++
				time.Sleep(10 * time.Millisecond)
			}
			if err != nil {
				t.Fatal(err)
			}
			if on := b.get(5, point{coils, 17}) == 1; on && time.Now().Before(doubtful) {
				t.Error("it is on while an older answer may still come")
			}
		}
		if on := b.get(5, point{coils, 17}) == 1; !on || waited == 0 {
			t.Errorf("on: %v, after %d looks in doubt", on, waited)
		}
	})
}
