package appliance_test

import (
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// Devices that refuse to tell of several channels at once are asked for fewer: what
// they only acknowledged would be believed otherwise.
func TestRefusedVerificationIsSplit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.combined = true
		ctl, stop := run(t, c, siteOf("triple"), nil)
		defer stop()
		time.Sleep(time.Second)
		e := do(t, ctl, level(one(1), 40))
		for _, m := range e.Members {
			if m.Stage != appliance.StageObserved {
				t.Errorf("channel %d: stage %v, want it read back", m.Ref.Channel, m.Stage)
			}
		}
		c.set(func() { c.deaf[1] = 1000 }) // acknowledges, and does not do it
		if e = do(t, ctl, level(one(1), 70)); e.OK() || e.Err == "" {
			t.Errorf("reported as done: %+v", e.Members)
		}
	})
}
