package control_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
)

// Stopped at the wall while nobody watched; the model has it at its end, for certain.
func TestNobodySawItArrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(30 * time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeOpen, Target: everything})
		time.Sleep(3 * time.Second)
		c.set(func() { c.down = fmt.Errorf("%w: pulled", appliance.ErrBusDown) })
		time.Sleep(2 * time.Second)
		c.set(func() { // at the wall
			c.motion[5001] = appliance.Stopped
			c.motors[5001].turn(appliance.Values{Has: appliance.CanMove, Motion: appliance.Stop})
		})
		time.Sleep(time.Minute)
		c.set(func() { c.down = nil })
		time.Sleep(20 * time.Second)
		sh := ctl.Snapshot().Shade(5001)
		if off := math.Abs(c.place(5001) - float64(sh.Position.Value)); sh.Position.OK() && off > float64(sh.Uncertainty)+2 {
			t.Errorf("shown %d ± %d %%, %v; it stands at %.0f %%", sh.Position.Value, sh.Uncertainty, sh.Motion, c.place(5001))
		}
	})
}

// A board without a clock boots in the past; what was saved is of the future.
func TestClockBehindWhatWasSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		future := time.Now().AddDate(26, 0, 0).Round(0)
		journal := &memory{saved: []appliance.Saved{
			{Ref: appliance.Ref{Node: 1, Channel: 1}, Values: appliance.Values{Has: appliance.CanDim, Level: 40}, LastLevel: 40, At: future},
			{Ref: appliance.Ref{Shade: 5002}, Values: appliance.Values{Has: appliance.CanPosition, Position: 40}, At: future},
		}}
		ctl, stop := run(t, newCopper(), siteOf("dimmer", "shade"), journal)
		defer stop()
		time.Sleep(time.Minute)
		do(t, ctl, level(one(1), 30))
		s := ctl.Snapshot()
		if seen := s.Node(1).LastSeen; seen.After(time.Now()) {
			t.Errorf("node read a moment ago, last seen %v, it is %v", seen, time.Now())
		}
		if seen := s.Shade(5002).LastSeen; seen.After(time.Now()) {
			t.Errorf("shade read a moment ago, last seen %v, it is %v", seen, time.Now())
		}
	})
}

// Lamps that take 5 s to fade obey a broadcast.
func TestLampsThatFadeSlowlyTogether(t *testing.T) {
	for _, together := range []bool{false, true} {
		t.Run(fmt.Sprint("broadcast ", together), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCopper()
				c.group = together
				open := func(cfg appliance.BusConfig) (appliance.Opened, error) {
					o, err := c.open(cfg)
					for _, chs := range o.Channels {
						chs[0].Fade = 5 * time.Second
					}
					return o, err
				}
				ctl := control.New(control.Options{Drivers: map[string]appliance.OpenFunc{"copper": open}})
				ctl.Apply(siteOf("dimmer", "dimmer"), nil)
				ctx, cancel := context.WithCancel(context.Background())
				done := make(chan error)
				go func() { done <- ctl.Run(ctx) }()
				defer func() { cancel(); <-done }()
				time.Sleep(time.Second)
				do(t, ctl, level(everything, 80))
				c.set(func() {
					var began time.Time
					c.fail = func(node appliance.ID, write bool) error {
						c.mu.Lock()
						defer c.mu.Unlock()
						if write && began.IsZero() {
							began = time.Now()
						} else if !write && !began.IsZero() {
							c.level[appliance.Ref{Node: node, Channel: 1}] = appliance.Level(max(20, 80-int(60*time.Since(began)/(4*time.Second))))
						}
						return nil
					}
				})
				e := do(t, ctl, level(everything, 20))
				if !e.OK() {
					t.Errorf("they obeyed, and it was reported as %q", e.Err)
				}
				time.Sleep(3 * time.Second)
				for id := range appliance.ID(2) {
					if l := ctl.Snapshot().Node(id + 1).Level; l.Value != 20 {
						t.Logf("node %d: %+v", id+1, l)
					}
				}
			})
		})
	}
}

// An import while a shade opens.
func TestImportKeepsWhereAMovingShadeIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(30 * time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeOpen, Target: everything})
		time.Sleep(10 * time.Second)
		ctl.Apply(siteOf("shade", "dimmer"), nil) // another lamp
		time.Sleep(2 * time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeStop, Target: everything})
		time.Sleep(time.Minute)
		if sh := ctl.Snapshot().Shade(5001); !sh.Position.OK() {
			t.Errorf("position not known any more; it stands at %.0f %%", c.place(5001))
		}
	})
}

// Of a shade that was told to open when its bus went down nobody knows whether it obeyed: the longer nothing is read, the less
// is certain of where it is.
func TestWhatNobodyAcknowledgedMakesThePositionUncertain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(40 * time.Second)
		if sh := ctl.Snapshot().Shade(5001); !sh.Position.OK() || sh.Position.Value != 0 || sh.Uncertainty > 3 {
			t.Fatalf("closed, and shown %+v ±%d", sh.Position, sh.Uncertainty)
		}
		c.set(func() { c.mute[1] = true }) // it obeys, and its answer is lost
		time.AfterFunc(50*time.Millisecond, func() { c.set(func() { c.down = errors.New("unplugged") }) })
		fails(t, ctl, appliance.Command{Kind: appliance.ShadeOpen, Target: one(5001)})
		for range 20 {
			time.Sleep(time.Second)
			sh, at := ctl.Snapshot().Shade(5001), c.place(5001)
			if off := at - float64(sh.Position.Value); sh.Position.OK() && off > float64(sh.Uncertainty)+6 {
				t.Errorf("shown %d ±%d, and it is at %.0f", sh.Position.Value, sh.Uncertainty, at)
			}
		}
	})
}
