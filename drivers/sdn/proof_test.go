package sdn

import (
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// What a standing motor's position says about an order. Only a motor that was told
// by itself, and had the time to start, may say that it has arrived short of the
// percent: after a group frame it may as well have heard nothing.
func TestStandingMotorIsJudged(t *testing.T) {
	now := time.Now()
	for _, tc := range []struct {
		name    string
		group   bool
		told    time.Duration // ago
		percent byte
		said    status
		silent  bool // no verdict: the acknowledgement is all there is
		reached bool
		moves   bool // the reading contradicts the order
		why     bool
	}{
		{name: "at its goal", told: time.Second / 2, percent: 100, said: status{}},
		{name: "a percent off", told: time.Second / 2, percent: 99, said: status{}},
		{name: "short of it, at once", told: time.Second / 2, percent: 96, said: status{}, silent: true},
		{name: "short of it, later", told: 2 * time.Second, percent: 96, said: status{}, reached: true},
		{name: "short of it, later, stopped by somebody", told: 2 * time.Second, percent: 96, said: status{Cause: 1}, silent: true},
		{name: "of a group, short of it, later", group: true, told: 2 * time.Second, percent: 96, said: status{}, moves: true},
		{name: "locked", told: time.Second / 2, percent: 40, said: status{State: stateLocked}, moves: true, why: true},
		{name: "blocked", told: 2 * time.Second, percent: 40, said: status{State: stateBlocked, Cause: 0x20}, moves: true, why: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := &Driver{report: func([]appliance.Reading) {}}
			m := &motor{driver: d, shade: 5001, sentAt: now.Add(-tc.told), restless: true}
			p := &proof{driver: d, wish: wish{motor: m, order: order{id: ctrlMoveTo, fn: toDownLimit}}, group: tc.group, said: tc.said}
			p.Ref = m.ref()
			v := appliance.Values{Has: appliance.CanPosition, Position: 100 - appliance.Position(tc.percent)}
			got := p.judge(position{Percent: tc.percent, Pulses: 100}, p.reading(v, now))
			if tc.silent {
				if got != nil {
					t.Errorf("got %+v, want no verdict", got)
				}
				return
			}
			if len(got) != 1 {
				t.Fatalf("got %+v", got)
			}
			r := got[0]
			if r.Reached != tc.reached || (r.Why != "") != tc.why || (r.Has.Has(appliance.CanMove) && !r.Reached) != tc.moves {
				t.Errorf("got %+v", r)
			}
			if r.Motion != appliance.Stopped || r.Position != v.Position {
				t.Errorf("shown as %+v, want stopped where it is", r)
			}
		})
	}
}
