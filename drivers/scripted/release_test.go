package scripted_test

import (
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// The relay that brought a shade to its end is off some seconds later, and everything works
// as before.
func TestRelayIsReleasedAtTheEndOfTheTravel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, u := travelHouse(t, 3*time.Second)
		on := func() (on bool) {
			u.set(func(of map[byte]*unit) { on = of[1].coils[0] || of[1].coils[1] })
			return on
		}
		for _, kind := range []appliance.Kind{appliance.ShadeOpen, appliance.ShadeClose} {
			if e := h.shade(5001, kind, 0); !e.OK() {
				t.Fatal(e.Err)
			}
			if ran := h.wait(time.Minute, "the relay to be off", func() bool { return !on() }); ran < 3*time.Second {
				t.Errorf("it was on for %v, and the travel takes 3 s", ran)
			}
			s := h.Snapshot().Shade(5001)
			if end := map[appliance.Kind]appliance.Position{appliance.ShadeOpen: 100}[kind]; s.Position.Value != end || s.Uncertainty != 0 {
				t.Errorf("shown at %+v, give or take %d", s.Position, s.Uncertainty)
			}
		}
	})
}
