package scripted_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// An actuator that loses its power while its shade runs releases the relay, and the shade
// stays half-way. Nobody saw it arrive: it is not shown at its end, neither while the
// actuator is away nor afterwards, and the next position is reached by way of an end.
func TestPowerLossHalfWay(t *testing.T) {
	t.Parallel()
	const travel = 8 * time.Second
	for _, away := range []time.Duration{7 * time.Second, 20 * time.Second} {
		t.Run(fmt.Sprint("for ", away), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h, u := travelHouse(t, travel)
				at := func() *appliance.ShadeState { return h.Snapshot().Shade(5001) }
				if e := h.shade(5001, appliance.ShadeOpen, 0); !e.OK() {
					t.Fatal(e.Err)
				}
				h.wait(time.Minute, "the shade to be open", func() bool { return at().Motion == appliance.Stopped && at().Position.Value == 100 })
				if e := h.shade(5001, appliance.ShadeClose, 0); !e.OK() {
					t.Fatal(e.Err)
				}
				h.wait(time.Minute, "the shade to be on its way", func() bool { return at().Position.Value <= 65 })
				u.set(func(of map[byte]*unit) { of[1].silent, of[1].coils[1] = true, false })
				back := time.Now().Add(away)
				for time.Now().Before(back) {
					if at().Motion == appliance.Stopped {
						t.Fatalf("shown %v at %+v while the actuator has no power", at().Motion, at().Position)
					}
					time.Sleep(20 * time.Millisecond)
				}
				u.set(func(of map[byte]*unit) { of[1].silent = false })
				h.wait(time.Minute, "the actuator to be read", func() bool { return at().Motion == appliance.Stopped })
				if p := at().Position; p.OK() && at().Uncertainty <= 40 {
					t.Errorf("shown at %+v, give or take %d; it is at some 65", p, at().Uncertainty)
				}
				if e := h.shade(5001, appliance.ShadeMoveTo, 30); !e.OK() {
					t.Fatal(e.Err)
				}
				closing := func() (on bool) { u.set(func(of map[byte]*unit) { on = of[1].coils[1] }); return on }
				h.wait(10*time.Second, "the shade to run to its lower end", closing)
				if ran := h.wait(time.Minute, "the shade to be there", func() bool { return !closing() }); ran < travel {
					t.Errorf("it ran %v, which need not have been to its end", ran)
				}
			})
		})
	}
}
