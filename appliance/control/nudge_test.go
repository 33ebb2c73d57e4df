package control_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
)

// A movement that somebody watches is long enough to be seen, and too short to reach an end.
func TestNudgesAreShort(t *testing.T) {
	ctl := control.New(control.Options{})
	for _, lasts := range []time.Duration{499 * time.Millisecond, 3*time.Second + time.Millisecond, time.Minute, -time.Second} {
		_, err := ctl.FindDirection(t.Context(), control.Nudge{Shade: 5001, Lasts: lasts}, func(context.Context, bool) (control.Went, error) {
			t.Errorf("after %v somebody is asked", lasts)
			return control.WentNowhere, nil
		})
		if !errors.Is(err, appliance.ErrOutOfRange) {
			t.Errorf("%v: %v, want %v", lasts, err, appliance.ErrOutOfRange)
		}
	}
	for _, lasts := range []time.Duration{0, 500 * time.Millisecond, 3 * time.Second} {
		if _, err := ctl.FindDirection(t.Context(), control.Nudge{Shade: 5001, Lasts: lasts}, nil); errors.Is(err, appliance.ErrOutOfRange) || err == nil {
			t.Errorf("%v: %v, want that there is no such shade", lasts, err)
		}
	}
}
