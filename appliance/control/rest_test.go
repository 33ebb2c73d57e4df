package control_test

import (
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// Where a shade stands is read when it comes to rest, not when its turn comes.
func TestShadeIsReadWhenItComesToRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(5 * time.Second)
		_, mark := c.frames(0)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeStop, Target: everything})
		time.Sleep(200 * time.Millisecond)
		frames, _ := c.frames(mark)
		if len(frames) != 3 || !frames[0].write || frames[1].write || frames[2].write {
			t.Errorf("STOP and the 200 ms after it: %v, want the stop, its reading back, and the shade read once more at rest", frames)
		}
		_, mark = c.frames(0)
		time.Sleep(10 * time.Second)
		if frames, _ := c.frames(mark); len(frames) > 1 {
			t.Errorf("at rest it was read %d times in 10 s, want once in 12 s", len(frames))
		}
	})
}

// A device that stands within limits of its own, and says that it has arrived, did
// what was wanted; one that is kept from it is named with the reason.
func TestShadeThatStopsShortTellsTheTruth(t *testing.T) {
	for _, tc := range []struct {
		name    string
		reached bool
		why     string
		want    string
	}{
		{"reached within its limits", true, "", ""},
		{"locked", false, "it is locked", "shade 5001 (): device reports another value: stopped at 97 % instead of open: it is locked"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCopper()
				c.measured = true
				c.motors[5001] = &motor{up: 20 * time.Second, down: 20 * time.Second, at: 97, top: 97, reached: tc.reached, why: tc.why}
				ctl, stop := run(t, c, siteOf("shade"), nil)
				defer stop()
				time.Sleep(time.Second)
				e := do(t, ctl, appliance.Command{Kind: appliance.ShadeOpen, Target: one(5001)})
				if e.Err != tc.want {
					t.Errorf("got %q, want %q", e.Err, tc.want)
				}
				sh := ctl.Snapshot().Shade(5001)
				if sh.Position.Value != 97 || sh.Position.Source != appliance.Measured || sh.Motion != appliance.Stopped {
					t.Errorf("shown as %+v, want stopped at 97, measured", sh)
				}
			})
		})
	}
}

// A motor that tells what it does is shown as moving until it says that it stands,
// whatever it was told.
func TestMotorIsMovingUntilItSaysThatItStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.measured = true
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeOpen, Target: one(5001)})
		time.Sleep(2 * time.Second)
		c.set(func() { c.motors[5001].deaf = true })
		done := make(chan appliance.Entry, 1)
		go func() { done <- do(t, ctl, appliance.Command{Kind: appliance.ShadeStop, Target: one(5001)}) }()
		for over := false; !over; {
			select {
			case e := <-done:
				over = true
				if e.OK() {
					t.Error("STOP was confirmed, and the motor runs")
				}
			case <-time.After(5 * time.Millisecond):
			}
			if m := ctl.Snapshot().Shade(5001).Motion; m != appliance.Opening {
				t.Fatalf("shown as %v, and it is opening", m)
			}
		}
		c.set(func() { c.motors[5001].deaf = false })
		if e := do(t, ctl, appliance.Command{Kind: appliance.ShadeStop, Target: one(5001)}); !e.OK() {
			t.Error(e.Err)
		}
		if m := ctl.Snapshot().Shade(5001).Motion; m != appliance.Stopped {
			t.Errorf("shown as %v, and it said that it stands", m)
		}
	})
}

// A motor that was on its way to somewhere else acknowledges an order, does not obey, and
// says that it has arrived, where it was sent before: the other way.
func TestMotorThatWentTheOtherWayHasNotArrived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.measured = true
		c.airtime = 1200 * time.Millisecond // so that nothing is read within the second that it has to begin
		c.motors[5001] = &motor{up: 20 * time.Second, down: 20 * time.Second, at: 60, top: 100, reached: true}
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(20 * time.Second)
		if e := do(t, ctl, position(5001, 40)); !e.OK() {
			t.Fatal(e.Err)
		}
		c.set(func() { c.motors[5001].deaf = true })
		if e := do(t, ctl, appliance.Command{Kind: appliance.ShadeOpen, Target: one(5001)}); e.OK() {
			t.Errorf("sent up, it succeeded, and stands at %.0f", c.place(5001))
		}
	})
}

// A motor that ends its way acknowledges an order to go further, does not obey it,
// and says that it has arrived. It was last read on its way, so that it stands elsewhere
// than then is no sign of a limit: neither now, nor when it is told again.
func TestMotorThatEndsItsWayHasNoLimitThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.measured = true
		c.airtime = 600 * time.Millisecond // so that it is not read at its goal before it is told again
		c.motors[5001] = &motor{up: 20 * time.Second, down: 20 * time.Second, at: 100, top: 100, reached: true}
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(20 * time.Second)
		if e := do(t, ctl, position(5001, 40)); !e.OK() {
			t.Fatal(e.Err)
		}
		for ctl.Snapshot().Shade(5001).Position.Value > 43 {
			time.Sleep(time.Millisecond)
		}
		c.set(func() { c.motors[5001].deaf = true })
		for range 2 {
			if e := do(t, ctl, position(5001, 20)); e.OK() {
				t.Errorf("sent to 20, it succeeded, and stands at %.0f", c.place(5001))
			}
		}
	})
}

// A motor at its lower end acknowledges, does not obey, and says that it has arrived: that
// it has shown no upper limit is no upper limit of 0.
func TestMotorAtItsLowerEndHasNoUpperLimitThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.measured = true
		c.airtime = 1200 * time.Millisecond // so that nothing is read within the second that it has to begin
		c.motors[5001] = &motor{up: 20 * time.Second, down: 20 * time.Second, at: 0, top: 100, reached: true, deaf: true}
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(20 * time.Second)
		if e := do(t, ctl, position(5001, 85)); e.OK() {
			t.Errorf("sent to 85, it succeeded, and stands at %.0f", c.place(5001))
		}
	})
}
