package dali

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/sim/dalisim"
)

// After an answer that did not come, the line is kept silent, lest the answer is taken
// for the next frame's. What gives way, or is too late, during that silence must not end it.
func TestSilenceAfterALostAnswerOutlivesWhoGaveWay(t *testing.T) {
	t.Parallel()
	for _, why := range []string{"none", "deadline", "preempted"} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, dalisim.Config{Gateway: "atx", Gears: gearsOf(2, func(i int, g *dalisim.GearConfig) { g.Level = byte(100 + 100*i) }), Speed: 1, Seed: 5})
				d := r.driver("atx", nodesOf(2, "dali-dt6")...)
				r.fault(dalisim.Fault{Kind: dalisim.FaultSlow, DelayMs: 450, Count: 1})
				ask := func(ctx context.Context, y appliance.Yield, short int) ([]Answer, error) {
					a, _, err := d.wire.transmit(ctx, y, Command(Short(short), OpQueryActualLevel))
					return a, err
				}
				if _, err := ask(context.Background(), appliance.Yield{}, 0); !errors.Is(err, appliance.ErrSilent) {
					t.Fatalf("first: %v", err)
				}
				switch why {
				case "deadline":
					ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
					_, err := ask(ctx, appliance.Yield{}, 0)
					cancel()
					if !errors.Is(err, appliance.ErrExpired) {
						t.Fatalf("second: %v", err)
					}
				case "preempted":
					begin := make(chan struct{})
					time.AfterFunc(10*time.Millisecond, func() { close(begin) })
					if _, err := ask(context.Background(), appliance.Yield{Begin: begin}, 0); !errors.Is(err, appliance.ErrPreempted) {
						t.Fatalf("second: %v", err)
					}
				}
				a, err := ask(context.Background(), appliance.Yield{}, 1)
				if err != nil || a[0].Value != 200 {
					t.Errorf("gear 1 says %v (%v), it stands at 200", a, err)
				}
			})
		})
	}
}
