package control_test

import (
	"context"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
)

// A relay whose register shows 150 ms late what it does: the way to a position from the open
// end was answered with 0, and the shade ran on to the other end, stopped by nobody.
func TestWayOnARelayThatIsShownLate(t *testing.T) {
	for _, lag := range []time.Duration{20 * time.Millisecond, 150 * time.Millisecond, 200 * time.Millisecond} {
		t.Run(lag.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCopper()
				c.lag = lag
				ctl, stop := run(t, c, siteOf("shade"), nil)
				defer stop()
				time.Sleep(time.Second)
				if e := do(t, ctl, appliance.Command{Kind: appliance.ShadeOpen, Target: everything}); !e.OK() {
					t.Fatal(e.Err)
				}
				time.Sleep(30 * time.Second)
				if e := do(t, ctl, position(5001, 50)); !e.OK() {
					t.Error(e.Err)
				}
				time.Sleep(30 * time.Second)
				if m, at := c.moving(5001), c.place(5001); m != appliance.Stopped || math.Abs(at-50) > 3 {
					t.Errorf("%v at %.0f %%, want it to stand at 50", m, at)
				}
				if e := do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything}); !e.OK() {
					t.Error(e.Err)
				}
				time.Sleep(2 * time.Second)
				if e := do(t, ctl, appliance.Command{Kind: appliance.ShadeStop, Target: everything}); !e.OK() {
					t.Error(e.Err)
				}
			})
		})
	}
}

// A way that is over before its relay is shown to be on: it is confirmed by its end, unless
// that comes to nothing, or somebody wants something else.
func TestWayShorterThanItsReading(t *testing.T) {
	for _, test := range []struct {
		name string
		then func(c *copper, ctl *control.Controller)
		want string
		most time.Duration
	}{
		{"confirmed by its stop", func(*copper, *control.Controller) {}, "", time.Second},
		{"whose stop is not heard", func(c *copper, _ *control.Controller) {
			c.set(func() { c.silent[1] = true })
		}, "shade 5001 (): device reports another value: stopped instead of open", 10 * time.Second},
		{"that somebody ends while it is stopped", func(_ *copper, ctl *control.Controller) {
			time.Sleep(130 * time.Millisecond)
			ctl.Do(context.Background(), appliance.Command{Kind: appliance.ShadeClose, Target: one(5001)})
		}, "shade 5001 (): superseded by a newer command", time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCopper()
				c.lag = 240 * time.Millisecond
				ctl, stop := run(t, c, siteOf("shade"), nil)
				defer stop()
				time.Sleep(time.Second)
				do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
				time.Sleep(30 * time.Second)
				do(t, ctl, position(5001, 50))
				time.Sleep(30 * time.Second)
				began := time.Now()
				time.AfterFunc(100*time.Millisecond, func() { test.then(c, ctl) })
				e := do(t, ctl, position(5001, 51))
				if took := time.Since(began); e.Err != test.want || took > test.most {
					t.Errorf("%q after %v, want %q", e.Err, took, test.want)
				}
				c.set(func() { clear(c.silent) })
				time.Sleep(30 * time.Second)
			})
		})
	}
}

// A stop that was obeyed and not heard: it was shown as stopped at the end of its travel,
// certain to the percent, while it stood near the other one.
func TestStopThatWasObeyedAndNotHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(30 * time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeOpen, Target: everything})
		time.Sleep(time.Second)
		c.set(func() { c.mute[1] = true })
		fails(t, ctl, appliance.Command{Kind: appliance.ShadeStop, Target: everything})
		for range 30 {
			time.Sleep(2 * time.Second)
			sh := ctl.Snapshot().Shade(5001)
			if off := math.Abs(float64(sh.Position.Value) - c.place(5001)); sh.Motion == appliance.Stopped && sh.Position.OK() && off > float64(sh.Uncertainty)+2 {
				t.Fatalf("shown standing at %d ± %d, it stands at %.0f", sh.Position.Value, sh.Uncertainty, c.place(5001))
			}
		}
		c.set(func() { c.mute[1] = false })
		time.Sleep(30 * time.Second)
		sh := ctl.Snapshot().Shade(5001)
		if off := math.Abs(float64(sh.Position.Value) - c.place(5001)); sh.Motion != appliance.Stopped || sh.Position.OK() && off > float64(sh.Uncertainty)+2 {
			t.Errorf("shown %v at %+v ± %d, it stands at %.0f", sh.Motion, sh.Position, sh.Uncertainty, c.place(5001))
		}
		if e := do(t, ctl, position(5001, 50)); !e.OK() {
			t.Error(e.Err)
		}
		time.Sleep(time.Minute)
		if at := c.place(5001); math.Abs(at-50) > 3 {
			t.Errorf("sent to 50, it stands at %.0f", at)
		}
	})
}

// Of a stop and a move that come within 20 ms the stop wins, whichever is first, and though
// it may be done before the move comes.
func TestStopWinsOverAMoveThatComesWithIt(t *testing.T) {
	for _, test := range []struct {
		name        string
		stop, moves time.Duration // after which they come
		airtime     time.Duration
	}{
		{"the stop is first", 0, 10 * time.Millisecond, 20 * time.Millisecond},
		{"the stop is done already", 0, 19 * time.Millisecond, time.Millisecond},
		{"the move is first", 10 * time.Millisecond, 0, 20 * time.Millisecond},
		{"both wait for a frame", 0, 15 * time.Millisecond, 300 * time.Millisecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCopper()
				c.airtime = test.airtime
				ctl, stop := run(t, c, siteOf("shade", "shade", "dimmer"), nil)
				defer stop()
				time.Sleep(5 * time.Second)
				var all sync.WaitGroup
				all.Go(func() {
					time.Sleep(test.stop)
					if e := do(t, ctl, appliance.Command{Kind: appliance.ShadeStop, Target: everything}); !e.OK() {
						t.Error(e.Err)
					}
				})
				time.Sleep(test.moves)
				e, err := ctl.Do(context.Background(), appliance.Command{Kind: appliance.ShadeOpen, Target: everything})
				if err != nil || e.OK() || !strings.Contains(e.Err, "superseded") {
					t.Errorf("the move: %v %q, want it superseded", err, e.Err)
				}
				all.Wait()
				time.Sleep(time.Second)
				for _, id := range []appliance.ID{5001, 5002} {
					if m := c.moving(id); m != appliance.Stopped {
						t.Errorf("shade %d is %v", id, m)
					}
				}
				if e := do(t, ctl, appliance.Command{Kind: appliance.ShadeOpen, Target: everything}); !e.OK() {
					t.Errorf("a move afterwards: %s", e.Err)
				}
			})
		})
	}
}
