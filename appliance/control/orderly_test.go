package control_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// When the program ends in good order, a shade that only it would stop is stopped; one that
// ends by itself goes on. One whose bus is down keeps nobody waiting for long.
func TestEndOfTheProgramStopsWhatOnlyItWould(t *testing.T) {
	for _, test := range []struct {
		name  string
		cmd   appliance.Command
		down  bool
		moves appliance.Motion
	}{
		{"on its way to a position", position(5001, 50), false, appliance.Stopped},
		{"on its way to an end", appliance.Command{Kind: appliance.ShadeOpen, Target: everything}, false, appliance.Opening},
		{"on its way to a position, and its bus is down", position(5001, 50), true, appliance.Opening},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCopper()
				ctl, stop := run(t, c, siteOf("shade"), nil)
				time.Sleep(time.Second)
				do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
				time.Sleep(30 * time.Second)
				if e, err := ctl.Do(context.Background(), test.cmd); err != nil || !e.OK() {
					t.Fatal(e.Err, err)
				}
				time.Sleep(2 * time.Second)
				if test.down {
					c.set(func() { c.down = fmt.Errorf("%w: pulled", appliance.ErrBusDown) })
					time.Sleep(time.Second)
				}
				began := time.Now()
				stop()
				if took := time.Since(began); took > 6*time.Second {
					t.Errorf("the end took %v", took)
				}
				if m := c.moving(5001); m != test.moves {
					t.Errorf("the relay is %v, want %v", m, test.moves)
				}
			})
		})
	}
}

// After a crash nothing is done: the program that begins anew sends nothing, though a shade
// is moving.
func TestNothingIsSentAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		site := siteOf("shade")
		c.motion[5001] = appliance.Opening
		c.motors[5001] = &motor{up: 20 * time.Second, down: 20 * time.Second, top: 100, rest: 500 * time.Millisecond}
		_, stop := run(t, c, site, nil)
		time.Sleep(time.Minute)
		if told := writes(c, 0); len(told) > 0 {
			t.Errorf("told %q", told)
		}
		stop()
	})
}
