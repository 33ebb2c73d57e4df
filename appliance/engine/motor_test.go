package engine

import (
	"errors"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/shade"
)

// Why a machine took an order back reaches whoever gave the command: "superseded" was said of
// relays that acknowledged and did not run, and of shades that somebody moved at the wall.
func TestWhyAnOrderWasTakenBackIsSaid(t *testing.T) {
	for name, tc := range map[string]struct {
		does appliance.Motion // from a second and a half after the frame on
		want error
	}{
		"the relay does not run":              {appliance.Stopped, appliance.ErrMismatch},
		"somebody runs it the other way":      {appliance.Closing, shade.ErrWall},
		"somebody else wants something newer": {appliance.Stopped, appliance.ErrSuperseded},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 0, 1).begin()
			sh := r.things[0]
			sh.answers = func(write bool) (bool, time.Duration, error) { return false, 0, nil }
			id := r.command(appliance.Values{Has: appliance.CanMove | appliance.CanPosition, Motion: appliance.MoveTo, Position: 60}, sh)
			r.after(500*time.Millisecond, func() { sh.motion = tc.does })
			if tc.want == appliance.ErrSuperseded {
				r.after(300*time.Millisecond, func() { r.command(motion(appliance.Close), sh) })
			}
			r.run(9 * time.Second)
			if as, why := r.outcome(id); as != Failed || !errors.Is(why, tc.want) {
				t.Errorf("%v, %v; want %v", as, why, tc.want)
			}
		})
	}
}
