package control_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
	"svc.internal/controller/drivers/drivertest"
)

// colourCopper makes every dimmer one that shows colours as well.
func colourCopper(c *copper) appliance.OpenFunc {
	return func(cfg appliance.BusConfig) (appliance.Opened, error) {
		o, err := c.open(cfg)
		for _, chs := range o.Channels {
			for i := range chs {
				chs[i].Abilities |= appliance.CanColour
			}
		}
		o.Driver = colourDriver{c}
		return o, err
	}
}

// colourDriver writes of each want what it has.
type colourDriver struct{ *copper }

func (d colourDriver) Plan(wants []appliance.Want) []appliance.Chain {
	chains := d.copper.Plan(wants)
	for i, ch := range chains {
		if !ch.Wants[0].Has.Has(appliance.CanDim) {
			chains[i].Steps = []appliance.Exchange{d.exchange(ch.Wants[0].Node, true, "colour", func() []appliance.Reading { return nil })}
		}
	}
	return chains
}

// An older order that the device asked to repeat later must not come after a newer one.
func TestBusyDeviceGetsTheNewestLevelLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl := control.New(control.Options{Drivers: map[string]appliance.OpenFunc{"copper": colourCopper(c)}})
		ctl.Apply(siteOf("dimmer"), nil)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- ctl.Run(ctx) }()
		defer func() { cancel(); <-done }()
		time.Sleep(time.Second)
		busy := 1
		c.set(func() {
			c.fail = func(_ appliance.ID, write bool) error {
				c.mu.Lock()
				defer c.mu.Unlock()
				if write && busy > 0 {
					busy--
					return appliance.ErrBusy
				}
				return nil
			}
		})
		var wg sync.WaitGroup
		var older, newer appliance.Entry
		wg.Go(func() {
			older = do(t, ctl, appliance.Command{Kind: appliance.LightRGBW, Target: one(1), RGBW: appliance.RGBW{R: 200}, Level: 90})
		})
		time.Sleep(5 * time.Millisecond)
		newer = do(t, ctl, level(one(1), 20))
		t.Logf("newer: %q, device has %d", newer.Err, c.level[appliance.Ref{Node: 1, Channel: 1}])
		wg.Wait()
		time.Sleep(time.Second)
		if older.OK() {
			t.Error("the older, whose level the lamp never had, was reported as done")
		}
		if l := c.level[appliance.Ref{Node: 1, Channel: 1}]; l != 20 && newer.OK() {
			t.Errorf("the newer order was reported as done, and the device has %d, want 20", l)
		}
	})
}

// Two commands for the same things on several buses, at once.
func TestCommandsAtOnceHaveOneOrder(t *testing.T) {
	const buses = 12
	rounds := drivertest.Size(2000, 2000)
	drivers := map[string]appliance.OpenFunc{}
	var coppers []*copper
	var site appliance.Site
	for i := range buses {
		c := newCopper()
		c.airtime, c.timeout = 2*time.Microsecond, 4*time.Microsecond
		coppers = append(coppers, c)
		name := fmt.Sprint("copper", i)
		drivers[name] = c.open
		bus := appliance.Bus{UUID: appliance.UUID{1, byte(i)}, Name: name, Driver: name}
		site.Buses = append(site.Buses, bus)
		site.Nodes = append(site.Nodes, appliance.Node{ID: appliance.ID(i + 1), UUID: appliance.UUID{2, byte(i)}, Bus: bus.UUID, Address: fmt.Sprint(i + 1), Profile: "dimmer"})
	}
	ctl := control.New(control.Options{Drivers: drivers})
	ctl.Apply(site, nil)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- ctl.Run(ctx) }()
	defer func() { cancel(); <-done }()
	time.Sleep(100 * time.Millisecond)
	split, done1 := 0, 0
	for range rounds {
		var wg sync.WaitGroup
		var good atomic.Int32
		start := make(chan struct{})
		for _, l := range []appliance.Level{20, 80, 30, 70, 40, 60} {
			wg.Go(func() {
				<-start
				if e, _ := ctl.Do(context.Background(), level(everything, l)); e.OK() {
					good.Add(1)
				}
			})
		}
		close(start)
		wg.Wait()
		seen := map[appliance.Level]bool{}
		for i, c := range coppers {
			c.set(func() { seen[c.level[appliance.Ref{Node: appliance.ID(i + 1), Channel: 1}]] = true })
		}
		if len(seen) > 1 {
			split++
			if good.Load() > 1 {
				done1++
			}
		}
	}
	if split > 0 {
		t.Errorf("after %d of %d sets of six commands a part of the lights had one level and the rest another; in %d of them more than one command was reported as done", split, rounds, done1)
	}
}

// The verification of a group frame that says nothing of what was wanted acknowledges it.
func TestGroupFrameIsNotProvenByAReadThatSaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.group = true
		c.deaf[1], c.deaf[2] = 1000, 1000
		ctl, stop := run(t, c, siteOf("tunable", "tunable"), nil)
		defer stop()
		time.Sleep(time.Second)
		e := do(t, ctl, appliance.Command{Kind: appliance.LightKelvin, Target: everything, Kelvin: 3500})
		if e.OK() && (c.kelvin[1] != 3500 || c.kelvin[2] != 3500) {
			t.Errorf("reported as done, and the lamps have %d and %d K: %+v", c.kelvin[1], c.kelvin[2], e.Members)
		}
	})
}

// A broadcast to lamps that fade.
func TestLampsThatFadeTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.group = true
		ctl, stop := run(t, c, siteOf("fading", "fading"), nil)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, level(everything, 80))
		time.Sleep(5 * time.Second)
		// They fade in a straight line for 1.5 s.
		c.set(func() {
			var began time.Time
			c.fail = func(node appliance.ID, write bool) error {
				c.mu.Lock()
				defer c.mu.Unlock()
				if write && node == 0 {
					began = time.Now()
				} else if !write && !began.IsZero() {
					left := max(0, 80-int(80*time.Since(began)/(1500*time.Millisecond)))
					c.level[appliance.Ref{Node: node, Channel: 1}] = appliance.Level(left)
				}
				return nil
			}
		})
		done := make(chan appliance.Entry)
		go func() { done <- do(t, ctl, level(everything, 0)) }()
		time.Sleep(700 * time.Millisecond)
		t.Logf("shown during the fade: %+v", ctl.Snapshot().Node(1).Level)
		e := <-done
		t.Logf("off: %q", e.Err)
		c.set(func() { c.fail = nil })
		for i := range ctl.Snapshot().Nodes {
			if l := ctl.Snapshot().Nodes[i].Channels[0].LastLevel; l != 80 {
				t.Errorf("node %d: ON would give %d, want 80", i+1, l)
			}
		}
	})
}

// A STOP that was not heard is repeated behind what others want. It does not expire because
// of them.
func TestStopThatIsRepeatedDoesNotExpireBehindMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.measured = true
		c.airtime = 150 * time.Millisecond
		site := siteOf(slices.Repeat([]string{"shade"}, 15)...)
		ctl, stop := run(t, c, site, nil)
		defer stop()
		time.Sleep(20 * time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeOpen, Target: one(5001)})
		time.Sleep(time.Second)
		var moves sync.WaitGroup
		for id := appliance.ID(5002); id <= 5015; id++ {
			moves.Go(func() { do(t, ctl, appliance.Command{Kind: appliance.ShadeOpen, Target: one(id)}) })
		}
		time.Sleep(200 * time.Millisecond)
		lost := false
		c.set(func() {
			c.fail = func(node appliance.ID, write bool) error {
				if node == 1 && write && !lost {
					lost = true
					return appliance.ErrSilent
				}
				return nil
			}
		})
		if e := do(t, ctl, appliance.Command{Kind: appliance.ShadeStop, Target: one(5001)}); !e.OK() || !lost {
			t.Errorf("STOP behind 14 moves, its first frame lost: %q", e.Err)
		}
		moves.Wait()
	})
}
