package control_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
)

// Many shades lost power while they moved. Somebody stops all, somebody else switches a light.
func TestStopToTheDeadKeepsOthersWaiting(t *testing.T) {
	for _, measured := range []bool{false, true} {
		t.Run(fmt.Sprint("measured ", measured), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCopper()
				c.measured = measured
				site := siteOf(append(slices.Repeat([]string{"shade"}, 12), "dimmer", "shade")...)
				for i := range site.Shades {
					site.Shades[i].TravelUp, site.Shades[i].TravelDown = 2*time.Minute, 2*time.Minute
				}
				ctl, stop := run(t, c, site, nil)
				defer stop()
				time.Sleep(time.Second)
				c.set(func() {
					for _, m := range c.motors {
						m.up, m.down = 2*time.Minute, 2*time.Minute
					}
				})
				do(t, ctl, appliance.Command{Kind: appliance.ShadeOpen, Target: everything})
				c.set(func() {
					for i := range 12 {
						c.silent[appliance.ID(i+1)] = true
					}
				})
				online := func() (n int) {
					for _, x := range ctl.Snapshot().Nodes {
						if x.Online {
							n++
						}
					}
					return n
				}
				for online() > 2 {
					time.Sleep(100 * time.Millisecond)
				}
				var wg sync.WaitGroup
				wg.Go(func() {
					asked := time.Now()
					e, _ := ctl.Do(context.Background(), appliance.Command{Kind: appliance.ShadeStop, Target: everything})
					t.Logf("stop of all: %v, %q", time.Since(asked), e.Err)
				})
				time.Sleep(50 * time.Millisecond)
				asked := time.Now()
				e := do(t, ctl, level(one(13), 40))
				wg.Wait()
				sent := e.Members[0].SentAt.Sub(asked)
				t.Logf("light: sent after %v, %q", sent, e.Err)
				if !e.OK() || sent > c.timeout+3*c.airtime {
					t.Errorf("the light waited %v, want one frame in flight at most (%v): %q", sent, c.timeout+c.airtime, e.Err)
				}
			})
		})
	}
}

// One of them is enough: what gave way is sent again before what it gave way to.
func TestLoneStopGivesWayOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.timeout = time.Second
		site := siteOf("shade", "dimmer")
		site.Shades[0].TravelUp = 2 * time.Minute
		ctl, stop := run(t, c, site, nil)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeOpen, Target: everything})
		c.set(func() { c.silent[1] = true })
		for ctl.Snapshot().Node(1).Online {
			time.Sleep(100 * time.Millisecond)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			ctl.Do(context.Background(), appliance.Command{Kind: appliance.ShadeStop, Target: everything})
		})
		time.Sleep(50 * time.Millisecond)
		asked := time.Now()
		_, mark := c.frames(0)
		e := do(t, ctl, level(one(2), 40))
		wg.Wait()
		if sent := e.Members[0].SentAt.Sub(asked); sent > 100*time.Millisecond {
			t.Errorf("the light waited %v behind a stop that gives way: %q", sent, writes(c, mark))
		}
	})
}

// A lamp that missed the broadcast obeys when it is told alone, and fades.
func TestStragglerThatFadesIsNoFailure(t *testing.T) {
	for _, fade := range []time.Duration{700 * time.Millisecond, 1500 * time.Millisecond, 3 * time.Second} {
		for missed := 1; missed <= 3; missed += 2 {
			t.Run(fmt.Sprint(fade, " missed by ", missed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := newCopper()
					c.group = true
					ctl, stop := runFading(t, c, 4, fade)
					defer stop()
					time.Sleep(time.Second)
					began := map[appliance.ID]time.Time{}
					c.set(func() {
						for i := range missed {
							c.deaf[appliance.ID(i+1)] = 1
						}
						c.fail = fadingFrom0to80(c, began, fade)
					})
					asked := time.Now()
					e := do(t, ctl, level(everything, 80))
					took := time.Since(asked)
					time.Sleep(15 * time.Second)
					for i := range 4 {
						var l appliance.Level
						c.set(func() { l = c.level[appliance.Ref{Node: appliance.ID(i + 1), Channel: 1}] })
						if l != 80 {
							t.Errorf("lamp %d stays at %d", i+1, l)
						}
					}
					if !e.OK() {
						t.Errorf("after %v: %s", took, e.Err)
					}
				})
			})
		}
	}
}

// fadingFrom0to80 has lamps go to 80 in a straight line from when they were told.
func fadingFrom0to80(c *copper, began map[appliance.ID]time.Time, fade time.Duration) func(appliance.ID, bool) error {
	return func(node appliance.ID, write bool) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		switch {
		case write && node == 0:
			for i := range c.cfg.Load().Nodes {
				if id := appliance.ID(i + 1); c.deaf[id] == 0 {
					began[id] = time.Now()
				}
			}
		case write:
			if began[node].IsZero() { // else it goes on as it was told before
				began[node] = time.Now()
			}
		case !began[node].IsZero():
			c.level[appliance.Ref{Node: node, Channel: 1}] = appliance.Level(min(80, int(80*time.Since(began[node])/fade)))
		}
		return nil
	}
}

func runFading(t *testing.T, c *copper, n int, fade time.Duration) (*control.Controller, func()) {
	open := func(cfg appliance.BusConfig) (appliance.Opened, error) {
		o, err := c.open(cfg)
		for _, chs := range o.Channels {
			chs[0].Fade = fade
		}
		return o, err
	}
	ctl := control.New(control.Options{Drivers: map[string]appliance.OpenFunc{"copper": open}})
	ctl.Apply(siteOf(slices.Repeat([]string{"dimmer"}, n)...), nil)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- ctl.Run(ctx) }()
	return ctl, func() { cancel(); <-done }
}

// Many lamps obey a broadcast and fade.
func TestManyLampsFadeTogether(t *testing.T) {
	for _, fade := range []time.Duration{700 * time.Millisecond, 1500 * time.Millisecond, 3 * time.Second} {
		t.Run(fade.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCopper()
				c.group = true
				ctl, stop := runFading(t, c, 60, fade)
				defer stop()
				time.Sleep(10 * time.Second)
				began := map[appliance.ID]time.Time{}
				c.set(func() { c.fail = fadingFrom0to80(c, began, fade) })
				_, mark := c.frames(0)
				e := do(t, ctl, level(everything, 80))
				if n := len(writes(c, mark)); n > 1 {
					t.Errorf("%d frames were sent to lamps that had obeyed", n-1)
				}
				if !e.OK() {
					t.Errorf("%s", e.Err)
				}
			})
		})
	}
}
