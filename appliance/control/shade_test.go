package control_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
)

func position(id appliance.ID, p appliance.Position) appliance.Command {
	return appliance.Command{Kind: appliance.ShadeMoveTo, Target: one(id), Position: p}
}

func TestTravelTimeShadeFindsItsPosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(time.Second)
		if p := ctl.Snapshot().Shade(5001).Position; p.OK() {
			t.Fatalf("position %+v before anything is known", p)
		}
		// Not known: it goes to the nearest end first, and then up to 40 %.
		if e := do(t, ctl, position(5001, 40)); !e.OK() {
			t.Fatal(e.Err)
		}
		if m := ctl.Snapshot().Shade(5001).Motion; m != appliance.Closing {
			t.Errorf("motion %v, want closing to the end stop first", m)
		}
		time.Sleep(40 * time.Second)
		sh := ctl.Snapshot().Shade(5001)
		if sh.Motion != appliance.Stopped || sh.Position.Value < 39 || sh.Position.Value > 41 || sh.Position.Source != appliance.Estimated {
			t.Errorf("after the way: %+v, want stopped at 40, estimated", sh)
		}
		// Known: straight down.
		began := time.Now()
		do(t, ctl, position(5001, 10))
		for ctl.Snapshot().Shade(5001).Motion != appliance.Stopped {
			time.Sleep(20 * time.Millisecond)
			if time.Since(began) > time.Minute {
				t.Fatal("never stopped")
			}
		}
		if d := time.Since(began); d < 5900*time.Millisecond || d > 6300*time.Millisecond {
			t.Errorf("30 %% of 20 s took %v, want 6 s", d)
		}
		if c.moving(5001) != appliance.Stopped {
			t.Errorf("the motor still runs: %v", c.moving(5001))
		}
	})
}

func TestStopEndsTheWayToAPosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, position(5001, 60))
		time.Sleep(2 * time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeStop, Target: everything})
		_, mark := c.frames(0)
		time.Sleep(time.Minute)
		frames, _ := c.frames(mark)
		for _, f := range frames {
			if f.write {
				t.Errorf("after STOP the shade was told %q", f.what)
			}
		}
	})
}

func TestWallSwitchIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(30 * time.Second)
		if p := ctl.Snapshot().Shade(5001).Position; p.Value != 0 {
			t.Fatalf("position %+v at the lower end, want 0", p)
		}
		c.set(func() { c.motion[5001] = appliance.Opening })
		time.Sleep(16 * time.Second)
		if m := ctl.Snapshot().Shade(5001).Motion; m != appliance.Opening {
			t.Errorf("motion %v within the idle target, want opening", m)
		}
		c.set(func() { c.motion[5001] = appliance.Stopped })
		time.Sleep(2 * time.Second)
		sh := ctl.Snapshot().Shade(5001)
		if sh.Motion != appliance.Stopped || sh.Position.Value == 0 || sh.Uncertainty < 5 {
			t.Errorf("after the wall switch: %+v, want a new, uncertain position", sh)
		}
	})
}

func TestMoveThatMayHaveStartedIsStoppedWhenNobodyConfirms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(30 * time.Second)
		// The motor obeys, but its answers are lost.
		lost := true
		c.set(func() {
			c.fail = func(_ appliance.ID, write bool) error {
				c.mu.Lock()
				defer c.mu.Unlock()
				if write && lost {
					c.motion[5001] = appliance.Opening
					return appliance.ErrSilent
				}
				return nil
			}
		})
		e := do(t, ctl, position(5001, 50))
		if e.OK() {
			t.Fatal("reported as done")
		}
		c.set(func() { lost = false })
		time.Sleep(5 * time.Second)
		if m := c.moving(5001); m != appliance.Stopped {
			t.Errorf("the shade runs on (%v) although nobody will stop it at 50 %%", m)
		}
	})
}

// A shade on relays that was sent to a place is stopped there, or where it is when
// something else was wanted and failed: nobody else would, and it would run to its end.
func TestShadeOnItsWayIsStoppedWhateverHappens(t *testing.T) {
	pulled := fmt.Errorf("%w: pulled", appliance.ErrBusDown)
	stopAll := appliance.Command{Kind: appliance.ShadeStop, Target: everything}
	closeAll := appliance.Command{Kind: appliance.ShadeClose, Target: everything}
	tests := []struct {
		name string
		// Two seconds after it was sent from 0 to 50 %, which takes 10 s.
		then func(t *testing.T, c *copper, ctl *control.Controller)
		at   float64 // where it stands in the end, within 5 points; negative: anywhere
	}{
		{"bus down for a while", func(_ *testing.T, c *copper, _ *control.Controller) {
			c.set(func() { c.down = pulled })
			time.Sleep(time.Second)
			c.set(func() { c.down = nil })
		}, 50},
		{"told to stop while the bus is down", func(t *testing.T, c *copper, ctl *control.Controller) {
			c.set(func() { c.down = pulled })
			time.Sleep(500 * time.Millisecond)
			fails(t, ctl, stopAll)
			c.set(func() { c.down = nil })
		}, 50},
		{"sent elsewhere while the bus is down", func(t *testing.T, c *copper, ctl *control.Controller) {
			c.set(func() { c.down = pulled })
			time.Sleep(500 * time.Millisecond)
			fails(t, ctl, position(5001, 10))
			c.set(func() { c.down = nil })
		}, 50},
		{"told to close, which the device refuses", func(t *testing.T, c *copper, ctl *control.Controller) {
			c.set(func() { c.fail = onWrite(appliance.ErrRefused) })
			time.AfterFunc(time.Second, func() { c.set(func() { c.fail = nil }) })
			fails(t, ctl, closeAll)
		}, -1},
		{"told to close, for which the device has no time", func(t *testing.T, c *copper, ctl *control.Controller) {
			c.set(func() { c.fail = onWrite(appliance.ErrBusy) })
			fails(t, ctl, closeAll)
			c.set(func() { c.fail = nil })
		}, -1},
		{"told to stop, which does not arrive", func(t *testing.T, c *copper, ctl *control.Controller) {
			c.set(func() { c.silent[1] = true })
			fails(t, ctl, stopAll)
			c.set(func() { c.silent[1] = false })
		}, -1},
		{"sent elsewhere, which does not arrive", func(t *testing.T, c *copper, ctl *control.Controller) {
			c.set(func() { c.silent[1] = true })
			fails(t, ctl, position(5001, 30))
			c.set(func() { c.silent[1] = false })
		}, -1},
		{"told to stop and then to close, and neither arrives", func(t *testing.T, c *copper, ctl *control.Controller) {
			c.set(func() { c.silent[1] = true })
			fails(t, ctl, stopAll)
			fails(t, ctl, closeAll)
			c.set(func() { c.silent[1] = false })
		}, -1},
		{"its device does not hear at its goal", func(_ *testing.T, c *copper, _ *control.Controller) {
			time.Sleep(7500 * time.Millisecond)
			c.set(func() { c.silent[1] = true })
			time.Sleep(1500 * time.Millisecond)
			c.set(func() { c.silent[1] = false })
		}, 54},
		{"the adapter is pulled at its goal", func(_ *testing.T, c *copper, _ *control.Controller) {
			time.Sleep(7500 * time.Millisecond)
			c.set(func() { c.down = pulled })
			time.Sleep(1500 * time.Millisecond)
			c.set(func() { c.down = nil })
		}, 54},
		{"told to close, which is acknowledged and not obeyed", func(t *testing.T, c *copper, ctl *control.Controller) {
			c.set(func() { c.disobeys = true })
			fails(t, ctl, closeAll)
			c.set(func() { c.disobeys = false })
		}, -1},
		{"the bus is disabled for a second", func(_ *testing.T, _ *copper, ctl *control.Controller) {
			without := siteOf("shade")
			without.Buses[0].Disabled = true
			ctl.Apply(without, nil)
			time.Sleep(time.Second)
			ctl.Apply(siteOf("shade"), nil)
		}, 10}, // it may stay disabled: stopped there and then
		{"the site gets another lamp", func(_ *testing.T, _ *copper, ctl *control.Controller) {
			ctl.Apply(siteOf("shade", "dimmer"), nil)
		}, 50},
		{"the site gets another lamp at its goal, when its device does not hear", func(_ *testing.T, c *copper, ctl *control.Controller) {
			time.Sleep(7500 * time.Millisecond)
			c.set(func() { c.silent[1] = true })
			time.Sleep(time.Second)
			ctl.Apply(siteOf("shade", "dimmer"), nil)
			time.Sleep(500 * time.Millisecond)
			c.set(func() { c.silent[1] = false })
		}, 54},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCopper()
				ctl, stop := run(t, c, siteOf("shade"), nil)
				defer stop()
				time.Sleep(time.Second)
				do(t, ctl, closeAll)
				time.Sleep(30 * time.Second)
				if e := do(t, ctl, position(5001, 50)); !e.OK() {
					t.Fatal(e.Err)
				}
				time.Sleep(2 * time.Second)
				test.then(t, c, ctl)
				time.Sleep(time.Minute)
				if m := c.moving(5001); m != appliance.Stopped {
					t.Errorf("the relay is still %v a minute later", m)
				}
				shown := ctl.Snapshot().Shade(5001)
				if test.at >= 0 && math.Abs(c.place(5001)-test.at) > 5 {
					t.Errorf("it stands at %.0f %%, want %.0f", c.place(5001), test.at)
				}
				if math.Abs(c.place(5001)-float64(shown.Position.Value)) > 5 || shown.Motion != appliance.Stopped {
					t.Errorf("shown %+v, it stands at %.0f %%", shown, c.place(5001))
				}
			})
		})
	}
}

// A shade whose position is not known closes for 22 s, stands for half a second, and
// opens. Nothing starts to move late: it is stopped, and left where it is.
func TestNothingStartsToMoveAfterAnOutage(t *testing.T) {
	for _, how := range []string{"bus down", "device silent"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCopper()
				ctl, stop := run(t, c, siteOf("shade"), nil)
				defer stop()
				time.Sleep(time.Second)
				if e := do(t, ctl, position(5001, 40)); !e.OK() {
					t.Fatal(e.Err)
				}
				time.Sleep(21 * time.Second)
				c.set(func() {
					if c.silent[1] = how == "device silent"; !c.silent[1] {
						c.down = fmt.Errorf("%w: pulled", appliance.ErrBusDown)
					}
				})
				time.Sleep(40 * time.Second)
				_, mark := c.frames(0)
				c.set(func() { c.down, c.silent[1] = nil, false })
				time.Sleep(time.Minute)
				if told := writes(c, mark); !slices.Equal(told, []string{"stop"}) {
					t.Errorf("after 40 s it was told %q, want one stop", told)
				}
			})
		})
	}
}

func TestLegThatIsLateIsNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.timeout = 950 * time.Millisecond
		ctl, stop := run(t, c, siteOf("shade", "dimmer"), nil)
		defer stop()
		time.Sleep(10 * time.Second)
		_, mark := c.frames(0)
		if e := do(t, ctl, position(5001, 40)); !e.OK() {
			t.Fatal(e.Err)
		}
		for len(writes(c, mark)) < 2 { // closing, and stopped to turn round
			time.Sleep(time.Millisecond)
		}
		stopped := time.Now()
		c.set(func() { c.silent[2] = true })
		time.Sleep(490 * time.Millisecond) // it opens at 510 ms; the bus waits for the lamp then
		go ctl.Do(context.Background(), level(one(2), 10))
		time.AfterFunc(time.Second, func() { c.set(func() { c.silent[2] = false }) })
		time.Sleep(20 * time.Second)
		frames, _ := c.frames(mark)
		for _, f := range frames {
			if late := f.at.Sub(stopped) - 510*time.Millisecond; f.what == "open" && late > time.Second {
				t.Errorf("it opens %v late", late)
			}
		}
	})
}

// Whoever moves a shade at the wall meant it: a stop that was not heard before is
// nobody's wish any more.
func TestWallSwitchTakesOverAShadeThatWasToBeStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(30 * time.Second)
		do(t, ctl, position(5001, 50))
		time.Sleep(9 * time.Second)
		c.set(func() { c.fail = onWrite(appliance.ErrRefused) }) // it only listens to the wall
		time.Sleep(3 * time.Second)
		c.set(func() { c.motion[5001] = appliance.Closing })
		time.Sleep(3 * time.Second)
		if m := ctl.Snapshot().Shade(5001).Motion; m != appliance.Closing {
			t.Fatalf("shown %v", m)
		}
		_, mark := c.frames(0)
		c.set(func() { c.fail = nil })
		time.Sleep(time.Minute)
		if told := writes(c, mark); len(told) > 0 {
			t.Errorf("told %q although somebody moved it at the wall", told)
		}
	})
}

// The start of a way that nobody confirmed is no hand at the wall.
func TestPollDoesNotForgetAStopThatIsOwed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(30 * time.Second)
		lost := true
		c.set(func() {
			c.fail = func(_ appliance.ID, write bool) error {
				c.mu.Lock()
				defer c.mu.Unlock()
				if write && lost {
					c.motion[5001] = appliance.Opening // it obeys, and says that it does not
					return appliance.ErrRefused
				}
				return nil
			}
		})
		fails(t, ctl, position(5001, 50))
		for range 300 {
			if ctl.Snapshot().Shade(5001).Motion == appliance.Opening {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		fails(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		c.set(func() { lost = false })
		time.Sleep(time.Minute)
		if m := c.moving(5001); m != appliance.Stopped {
			t.Errorf("the relay is still %v", m)
		}
	})
}

// Stops that are not heard are tried for a minute, and keep nobody waiting.
func TestUnheardStopsKeepNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("dimmer", "shade", "shade", "shade", "shade"), nil)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(30 * time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeMoveTo, Target: everything, Position: 50})
		time.Sleep(9 * time.Second)
		c.set(func() {
			for id := range appliance.ID(4) {
				c.silent[id+2] = true
			}
		})
		time.Sleep(3 * time.Second)
		for i := range 10 {
			if e := do(t, ctl, level(one(1), appliance.Level(10+i))); !e.OK() {
				t.Error(e.Err)
			}
			time.Sleep(time.Second)
		}
	})
}

func TestStopsForAnOfflineShadeCostWhatProbesCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("dimmer", "shade"), nil)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(30 * time.Second)
		c.set(func() { c.silent[2] = true })
		time.Sleep(5 * time.Minute)
		_, mark := c.frames(0)
		fails(t, ctl, position(5002, 50))
		time.Sleep(time.Minute)
		frames, _ := c.frames(mark)
		var dead time.Duration
		for _, f := range frames {
			if f.node == 2 {
				dead += c.airtime/2 + c.timeout
			}
		}
		if share := dead.Seconds() / 60; share > 0.05 {
			t.Errorf("%.0f %% of the bus's time were spent on it", 100*share)
		}
	})
}

// writes lists what was sent since the mark to change something.
func writes(c *copper, mark int) (what []string) {
	frames, _ := c.frames(mark)
	for _, f := range frames {
		if f.write {
			what = append(what, f.what)
		}
	}
	return what
}

// fails carries out a command that must not succeed.
func fails(t *testing.T, ctl *control.Controller, cmd appliance.Command) {
	t.Helper()
	if e := do(t, ctl, cmd); e.OK() {
		t.Errorf("%+v was reported as done", cmd)
	}
}

func onWrite(err error) func(appliance.ID, bool) error {
	return func(_ appliance.ID, write bool) error {
		if write {
			return err
		}
		return nil
	}
}

func TestUncalibratedShadeGoesToItsEndsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		site := siteOf("shade")
		site.Shades[0].TravelUp, site.Shades[0].TravelDown = 0, 0
		ctl, stop := run(t, c, site, nil)
		defer stop()
		time.Sleep(time.Second)
		if e := do(t, ctl, position(5001, 50)); e.OK() {
			t.Error("50 % of an unknown travel time was accepted")
		}
		if e := do(t, ctl, position(5001, 100)); !e.OK() || c.moving(5001) != appliance.Opening {
			t.Errorf("100 %%: %s, motor %v; want it to open", e.Err, c.moving(5001))
		}
	})
}

type memory struct {
	mu    sync.Mutex
	saved []appliance.Saved
	fail  bool
	calls int
	all   []appliance.Entry
}

func (m *memory) SaveBatch(_ context.Context, b appliance.Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	if m.fail {
		return errors.New("disk full")
	}
	m.saved = append(m.saved, b.States...)
	m.all = append(m.all, b.Entries...)
	return nil
}

func (m *memory) LoadStates(context.Context) ([]appliance.Saved, error) { return m.saved, nil }

func (m *memory) set(fail bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = fail
}

func (m *memory) count() (calls, entries int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls, len(m.all)
}

func TestStateSurvivesARestartMarkedStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		journal := &memory{}
		c := newCopper()
		ctl, stop := run(t, c, siteOf("dimmer", "shade"), journal)
		time.Sleep(time.Second)
		journal.set(true)
		do(t, ctl, level(one(1), 45))
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(30 * time.Second)
		journal.set(false)
		time.Sleep(5 * time.Second)
		before, entries := journal.count()
		if entries != 3 { // the third releases the relay at the end of the travel
			t.Errorf("%d ledger entries after the disk recovered, want 3", entries)
		}
		time.Sleep(time.Hour)
		if after, _ := journal.count(); after != before {
			t.Errorf("an idle hour wrote %d times", after-before)
		}
		stop()

		dead := newCopper()
		dead.silent[1], dead.silent[2] = true, true
		ctl, stop = run(t, dead, siteOf("dimmer", "shade"), journal)
		defer stop()
		time.Sleep(time.Second)
		s := ctl.Snapshot()
		if l := s.Node(1).Level; l.Value != 45 || l.Source != appliance.Restored {
			t.Errorf("level %+v, want 45 restored", l)
		}
		if p := s.Shade(5002).Position; p.Value != 0 || p.Source != appliance.Restored {
			t.Errorf("position %+v, want 0 restored", p)
		}
		frames, _ := dead.frames(0)
		for _, f := range frames {
			if f.write {
				t.Errorf("start-up told node %d %q", f.node, f.what)
			}
		}
	})
}

// A daemon that is killed while a shade moves does not remember where the shade stood before.
func TestThatAShadeMovesIsWrittenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		journal := &lastStates{of: map[appliance.Ref]appliance.Saved{}}
		ctl, stop := run(t, newCopper(), siteOf("shade"), journal)
		defer stop()
		time.Sleep(time.Second)
		last := func() appliance.Saved {
			journal.mu.Lock()
			defer journal.mu.Unlock()
			return journal.of[appliance.Ref{Shade: 5001}]
		}
		do(t, ctl, position(5001, 40))
		time.Sleep(50 * time.Second)
		if s := last(); !s.Has.Has(appliance.CanPosition) || s.Position != 40 {
			t.Fatalf("at rest: %+v", s)
		}
		for range 10 {
			do(t, ctl, appliance.Command{Kind: appliance.ShadeOpen, Target: one(5001)})
			time.Sleep(300 * time.Millisecond)
			if s := last(); s.Has.Has(appliance.CanPosition) {
				t.Errorf("0.3 s after it was sent off it is written to stand at %d", s.Position)
			}
			do(t, ctl, appliance.Command{Kind: appliance.ShadeStop, Target: one(5001)})
			time.Sleep(4 * time.Second)
		}
	})
}

// What was not certain is not certain after a restart, and what had been forgotten does not
// come back.
func TestRestartMakesNoPositionMoreCertain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		journal := &lastStates{of: map[appliance.Ref]appliance.Saved{}}
		restarted := func() *appliance.ShadeState {
			dead := newCopper()
			dead.silent[1] = true
			ctl, stop := run(t, dead, siteOf("shade"), journal)
			time.Sleep(time.Second)
			stop()
			return ctl.Snapshot().Shade(5001)
		}
		c := newCopper()
		ctl, stop := run(t, c, siteOf("shade"), journal)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, position(5001, 40))
		time.Sleep(40 * time.Second)
		do(t, ctl, position(5001, 60))
		time.Sleep(20 * time.Second)
		unseen := func() { // somebody at the wall, whom nobody saw come
			c.set(func() { c.motion[5001] = appliance.Opening })
			for ctl.Snapshot().Shade(5001).Motion != appliance.Opening {
				time.Sleep(100 * time.Millisecond)
			}
			c.set(func() { c.motion[5001] = appliance.Stopped })
			time.Sleep(20 * time.Second)
		}
		unseen()
		was := ctl.Snapshot().Shade(5001)
		if now := restarted(); was.Uncertainty < 30 || now.Position.Value != was.Position.Value || now.Uncertainty < was.Uncertainty {
			t.Errorf("%+v ± %d after a restart, want %+v ± %d at least", now.Position, now.Uncertainty, was.Position, was.Uncertainty)
		}
		unseen()
		if p := ctl.Snapshot().Shade(5001).Position; p.OK() {
			t.Errorf("known at %+v, though it may have gone from end to end unseen", p)
		}
		if p := restarted().Position; p.OK() {
			t.Errorf("known at %+v after a restart, and nobody knew before", p)
		}
	})
}

// Drivers are told what was known before a restart when they begin.
func TestDriversKnowWhatWasKnownBeforeARestart(t *testing.T) {
	ref := appliance.Ref{Node: 1, Channel: 1}
	journal := &lastStates{of: map[appliance.Ref]appliance.Saved{ref: {Ref: ref, Values: appliance.Values{Has: appliance.CanDim, Level: 45}, At: time.Now()}}}
	c := newCopper()
	var known appliance.Values
	ctl := control.New(control.Options{Journal: journal, Drivers: map[string]appliance.OpenFunc{"copper": func(cfg appliance.BusConfig) (appliance.Opened, error) {
		known, _ = cfg.Last(ref)
		return c.open(cfg)
	}}})
	ctl.Apply(siteOf("dimmer"), nil)
	if err := ctl.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !known.Has.Has(appliance.CanDim) || known.Level != 45 {
		t.Errorf("the driver began with %+v, want level 45", known)
	}
}

// A shade that nobody hears may obey all the same: where it is when the program ends says
// nothing of where it will be when the next begins.
func TestUnheardFrameLeavesThePositionUnknownAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		journal := &lastStates{of: map[appliance.Ref]appliance.Saved{}}
		c := newCopper()
		ctl, stop := run(t, c, siteOf("shade"), journal)
		time.Sleep(time.Second)
		do(t, ctl, position(5001, 40))
		time.Sleep(40 * time.Second)
		c.set(func() { c.mute[1] = true })
		go ctl.Do(t.Context(), appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(300 * time.Millisecond)
		stop()
		ctl, stop = run(t, c, siteOf("shade"), journal)
		defer stop()
		if p := ctl.Snapshot().Shade(5001).Position; p.OK() {
			t.Errorf("position %+v after a restart, and it may have run since", p)
		}
	})
}

func TestPowerCutOnTheWayLeavesThePositionUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		journal := &memory{}
		ctl, stop := run(t, newCopper(), siteOf("shade"), journal)
		time.Sleep(time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(40 * time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeOpen, Target: everything})
		time.Sleep(8 * time.Second) // long enough for the journal, not for the shade
		before, _ := journal.count()
		stop()
		journal.mu.Lock()
		last := journal.saved[len(journal.saved)-1]
		journal.mu.Unlock()
		if before == 0 || last.Shade != 5001 || last.Has.Has(appliance.CanPosition) {
			t.Fatalf("last saved %+v, want shade 5001 without a position", last)
		}
		journal.saved = []appliance.Saved{last}
		ctl, stop = run(t, newCopper(), siteOf("shade"), journal)
		defer stop()
		if p := ctl.Snapshot().Shade(5001).Position; p.OK() {
			t.Errorf("position %+v after the cut, want unknown: the next way begins at an end stop", p)
		}
	})
}

func TestAllLightsLeavesPeripheralsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		site := siteOf("dimmer", "relay")
		site.Nodes[1].Tag = appliance.TagPeripheral
		ctl, stop := run(t, c, site, nil)
		defer stop()
		time.Sleep(time.Second)
		for _, target := range []appliance.Target{everything, {Scope: appliance.InCluster, ID: 1}} {
			if e := do(t, ctl, level(target, 80)); !e.OK() || len(e.Members) != 1 {
				t.Errorf("%v: %+v, want the light only", target, e.Members)
			}
		}
		if e := do(t, ctl, level(one(2), 100)); !e.OK() {
			t.Errorf("the peripheral itself was meant: %s", e.Err)
		}
	})
}
