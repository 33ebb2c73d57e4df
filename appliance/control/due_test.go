package control_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// Who asks is told at once by when the outcome is known, and it is, though a lamp does not answer.
func TestAnOutcomeIsKnownWhenItWasToldToBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf(slices.Repeat([]string{"dimmer"}, 40)...), nil)
		defer stop()
		time.Sleep(10 * time.Second)
		c.set(func() { c.silent[7] = true })
		began := time.Now()
		var due, when time.Time
		e, err := ctl.DoTelling(context.Background(), level(everything, 40), func(at time.Time) { due, when = at, time.Now() })
		if err != nil || e.OK() {
			t.Fatalf("%v, %+v", err, e)
		}
		want := began.Add(2*time.Second + 40*2*c.airtime)
		if when.Sub(began) > c.airtime || due.Before(want) || due.After(want.Add(c.airtime)) {
			t.Errorf("told after %v that it is known after %v, want %v", when.Sub(began), due.Sub(began), want.Sub(began))
		}
		if e.DoneAt.After(due) {
			t.Errorf("known after %v, which was to be after %v", e.DoneAt.Sub(began), due.Sub(began))
		}
		if e, err := ctl.DoTelling(context.Background(), level(appliance.Target{Scope: appliance.One, ID: 99}, 40), func(time.Time) { t.Error("told of what is not done") }); err == nil {
			t.Errorf("done: %+v", e)
		}
	})
}
