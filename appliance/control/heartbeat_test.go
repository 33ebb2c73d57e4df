package control_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// A driver hangs in an exchange: alone, and beside others that go on.
func TestABusThatMakesNoProgressIsNoticed(t *testing.T) {
	for _, several := range []int{1, 4} {
		t.Run(fmt.Sprintf("%d at once", several), func(t *testing.T) { hangs(t, several) })
	}
}

func hangs(t *testing.T, several int) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.several = several
		ctl, stop := run(t, c, siteOf("dimmer", "dimmer"), nil)
		defer stop()
		bus := func() *appliance.BusState { return ctl.Snapshot().Buses[0] }
		c.set(func() { c.silent[1] = true })
		for range 60 {
			time.Sleep(time.Second)
			if err := ctl.Ready(); err != nil || time.Since(bus().LookedAt) > 2500*time.Millisecond {
				t.Fatalf("a bus that goes on: %v, last looked after %v ago", err, time.Since(bus().LookedAt))
			}
		}
		// The driver hangs, and heeds nothing.
		hang := make(chan struct{})
		c.set(func() {
			c.fail = func(node appliance.ID, _ bool) error {
				if node == 2 {
					<-hang
				}
				return nil
			}
		})
		hung := time.Now()
		for ctl.Ready() == nil {
			if time.Since(hung) > time.Minute {
				t.Fatal("nobody noticed for a minute")
			}
			time.Sleep(time.Second)
		}
		if took := time.Since(hung); took < 15*time.Second {
			t.Errorf("a bus was given up after %v", took)
		}
		if err := ctl.Ready(); !strings.Contains(err.Error(), "bus test") {
			t.Errorf("%v does not name the bus", err)
		}
		time.Sleep(10 * time.Second)
		for range 5 {
			time.Sleep(time.Second)
			if b := bus(); b.Up {
				t.Fatalf("shown as up, %q", b.Fault)
			}
		}
		if b := bus(); b.Up || !strings.Contains(b.Fault, "no progress") {
			t.Errorf("shown as up %v, %q", b.Up, b.Fault)
		}
		c.set(func() { c.fail = nil })
		close(hang)
		time.Sleep(5 * time.Second)
		if err := ctl.Ready(); err != nil || !bus().Up || bus().Fault != "" {
			t.Errorf("goes on, and is told %v, up %v, %q", err, bus().Up, bus().Fault)
		}
	})
}
