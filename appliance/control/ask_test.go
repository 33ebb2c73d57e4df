package control_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

func TestErrandsTakeTurnsWithPollingAndGiveWayToCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf(slices.Repeat([]string{"dimmer"}, 400)...), nil) // more polling than the bus can do
		defer stop()
		time.Sleep(time.Second)
		_, mark := c.frames(0)
		done := make(chan int)
		go func() {
			for range 20 {
				e := c.exchange(99, false, "errand", func() []appliance.Reading { return nil })
				if _, err := ctl.Perform(t.Context(), "test", e); err != nil {
					t.Errorf("errand: %v", err)
				}
			}
			close(done)
		}()
		asked := time.Now()
		e := do(t, ctl, level(one(1), 10))
		if wait := e.Members[0].SentAt.Sub(asked); wait > 2*c.airtime {
			t.Errorf("a command waited %v behind errands", wait)
		}
		<-done
		frames, _ := c.frames(mark)
		errands, polls := 0, 0
		for _, f := range frames {
			switch f.what {
			case "errand":
				errands++
			case "read":
				polls++
			}
		}
		if errands != 20 || polls < 15 {
			t.Errorf("%d errands and %d polls, want them in turn", errands, polls)
		}
	})
}

func TestErrandsWaitForTheirBusOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("dimmer"), nil)
		defer stop()
		time.Sleep(time.Second)
		c.set(func() { c.down = fmt.Errorf("%w: pulled", appliance.ErrBusDown) })
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		done := make(chan error)
		for range 3 {
			go func() {
				_, err := ctl.Perform(ctx, "test", c.exchange(99, false, "errand", func() []appliance.Reading { return nil }))
				done <- err
			}()
			time.Sleep(300 * time.Millisecond)
		}
		c.set(func() { c.down = nil })
		for range 3 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestErrandEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("dimmer"), nil)
		defer stop()
		time.Sleep(time.Second)
		c.set(func() { c.down = fmt.Errorf("%w: pulled", appliance.ErrBusDown) })
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := ctl.Perform(ctx, "test", c.read(appliance.Ref{Node: 1, Channel: 1}))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the deadline", err)
		}
		if err := ctl.Identify(t.Context(), "test", "1"); err == nil {
			t.Error("a driver that cannot identify did")
		}
	})
}
