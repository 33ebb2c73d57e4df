package control_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// A way whose start was sent and not confirmed is superseded by an order that does not arrive.
func TestUnconfirmedStartSupersededByWhatFails(t *testing.T) {
	for _, next := range []appliance.Kind{appliance.ShadeClose, appliance.ShadeStop} {
		t.Run(map[appliance.Kind]string{appliance.ShadeClose: "close", appliance.ShadeStop: "stop"}[next], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCopper()
				ctl, stop := run(t, c, siteOf("shade"), nil)
				defer stop()
				time.Sleep(time.Second)
				do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
				time.Sleep(30 * time.Second)
				first, deaf := true, true
				c.set(func() {
					c.fail = func(_ appliance.ID, write bool) error {
						c.mu.Lock()
						was, lost := first, deaf
						if write && was {
							first = false
							c.motion[5001] = appliance.Opening // it obeys; its answer is lost
							c.motors[5001].turn(appliance.Values{Has: appliance.CanMove, Motion: appliance.Open})
						}
						c.mu.Unlock()
						if lost {
							time.Sleep(c.timeout)
							return appliance.ErrSilent
						}
						return nil
					}
				})
				var wg sync.WaitGroup
				wg.Go(func() { ctl.Do(context.Background(), position(5001, 50)) })
				time.Sleep(50 * time.Millisecond)
				fails(t, ctl, appliance.Command{Kind: next, Target: one(5001)})
				wg.Wait()
				f, _ := c.frames(0)
				t.Log(f[len(f)-6:])
				c.set(func() { deaf = false })
				_, mark := c.frames(0)
				time.Sleep(time.Minute)
				if m := c.moving(5001); m != appliance.Stopped {
					t.Errorf("%v: the relay is still %v a minute later, place %.0f, told %q", next, m, c.place(5001), writes(c, mark))
				}
			})
		})
	}
}

// The device begins a moment after its acknowledgement; the read-back in between says that it stands.
func TestShadeThatBeginsAfterItsReadBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(30 * time.Second)
		first := true
		c.set(func() {
			c.fail = func(_ appliance.ID, write bool) error {
				c.mu.Lock()
				defer c.mu.Unlock()
				if !write && first && c.motion[5001] == appliance.Opening {
					first = false
					c.motion[5001] = appliance.Stopped // in its dead time
					time.AfterFunc(300*time.Millisecond, func() {
						c.set(func() {
							if c.motors[5001].on != 0 { // not told otherwise
								c.motion[5001] = appliance.Opening
							}
						})
					})
				}
				return nil
			}
		})
		e := do(t, ctl, position(5001, 50))
		t.Logf("%q", e.Err)
		_, mark := c.frames(0)
		time.Sleep(time.Minute)
		if m := c.moving(5001); m != appliance.Stopped {
			t.Errorf("the relay is still %v a minute later, place %.0f, told %q", m, c.place(5001), writes(c, mark))
		}
	})
}

// An import that changes how the shade is driven while it is on its way.
func TestImportTurnsAShadeRoundOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(30 * time.Second)
		do(t, ctl, position(5001, 50))
		time.Sleep(2 * time.Second)
		site := siteOf("shade")
		site.Shades[0].Inverted = true
		_, mark := c.frames(0)
		ctl.Apply(site, nil)
		time.Sleep(time.Minute)
		if m := c.moving(5001); m != appliance.Stopped {
			t.Errorf("the relay is still %v a minute later, place %.0f, told %q", m, c.place(5001), writes(c, mark))
		}
	})
}

// What is said of a shade that does not answer, after imports.
func TestImportMakesNothingFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(30 * time.Second)
		c.set(func() { c.silent[1] = true })
		time.Sleep(time.Hour)
		before := *ctl.Snapshot().Shade(5001)
		ctl.Apply(siteOf("shade", "dimmer"), nil)
		time.Sleep(time.Hour)
		ctl.Apply(siteOf("shade", "dimmer"), nil) // nothing is changed
		time.Sleep(time.Second)
		after := *ctl.Snapshot().Shade(5001)
		if !after.LastSeen.Equal(before.LastSeen) || !after.Position.At.Equal(before.Position.At) {
			t.Errorf("last seen %v, position of %v; want %v and %v", after.LastSeen, after.Position, before.LastSeen, before.Position)
		}
	})
}

// A shade that goes silent on its way is shown moving for ever.
func TestSilentShadeIsNotShownMovingForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(30 * time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeOpen, Target: everything})
		time.Sleep(3 * time.Second)
		c.set(func() { c.silent[1] = true })
		heard := time.Now()
		time.Sleep(15 * time.Second)
		if p := ctl.Snapshot().Shade(5001).Position; p.At.After(heard.Add(10 * time.Second)) {
			t.Errorf("nothing was heard of it for 15 s, and its place is said to be of %v ago", time.Since(p.At))
		}
		time.Sleep(time.Hour)
		if sh := ctl.Snapshot().Shade(5001); sh.Motion == appliance.Opening {
			t.Errorf("an hour later: %v at %+v, online %v", sh.Motion, sh.Position, sh.Online)
		}
	})
}

// An import takes a shade away, or gives it another relay, while it is on its way.
func TestImportTakesAwayAShadeOnItsWay(t *testing.T) {
	for name, change := range map[string]func(*appliance.Site){
		"removed":     func(s *appliance.Site) { s.Shades, s.Clusters[0].Shades = nil, nil },
		"bus removed": func(s *appliance.Site) { *s = appliance.Site{} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCopper()
				ctl, stop := run(t, c, siteOf("shade"), nil)
				defer stop()
				time.Sleep(time.Second)
				do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
				time.Sleep(30 * time.Second)
				do(t, ctl, position(5001, 50))
				time.Sleep(2 * time.Second)
				site := siteOf("shade")
				change(&site)
				_, mark := c.frames(0)
				ctl.Apply(site, nil)
				time.Sleep(time.Minute)
				if m := c.moving(5001); m != appliance.Stopped {
					t.Errorf("the relay is still %v a minute later, place %.0f, told %q", m, c.place(5001), writes(c, mark))
				}
			})
		})
	}
}

// The way is taken over by somebody else's order that is acknowledged, not obeyed, and cannot be read back.
func TestOrderAcknowledgedNotObeyedNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(30 * time.Second)
		do(t, ctl, position(5001, 50))
		time.Sleep(2 * time.Second)
		blind := true
		c.set(func() {
			c.disobeys = true
			c.fail = func(_ appliance.ID, write bool) error {
				if !write && blind {
					return appliance.ErrDamaged
				}
				return nil
			}
		})
		e := do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		t.Logf("%v %q", e.OK(), e.Err)
		c.set(func() { blind, c.disobeys = false, false })
		time.Sleep(time.Minute)
		if m := c.moving(5001); m != appliance.Stopped {
			t.Errorf("the relay is still %v a minute later, place %.0f", m, c.place(5001))
		}
	})
}

// A shade is on a way of several legs when its bus goes down; STOP fails; the bus comes back.
func TestWayGoesOnAfterStopOnABusThatIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, position(5001, 40))
		time.Sleep(5 * time.Second)
		c.set(func() { c.down = errors.New("pulled") })
		time.Sleep(2 * time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeStop, Target: everything})
		time.Sleep(time.Second)
		c.set(func() { c.down = nil })
		for range 8 {
			time.Sleep(5 * time.Second)
			if c.moving(5001) == appliance.Opening {
				t.Errorf("it starts to open after STOP of everything")
			}
		}
	})
}

// A bus that always has something to poll is kept free for the end of a way: the stop goes
// when it is due, not a frame later.
func TestBusIsKeptFreeForTheEndOfAWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.airtime = 600 * time.Millisecond
		site := siteOf("shade", "dimmer", "dimmer", "dimmer", "dimmer", "dimmer", "dimmer", "dimmer", "dimmer")
		ctl, stop := run(t, c, site, nil)
		defer stop()
		time.Sleep(10 * time.Second)
		for _, goal := range []appliance.Position{30, 37, 41} {
			do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
			time.Sleep(40 * time.Second)
			_, mark := c.frames(0)
			do(t, ctl, position(5001, goal))
			time.Sleep(30 * time.Second)
			frames, _ := c.frames(mark)
			var opened, stopped time.Time
			for _, f := range frames {
				switch f.what {
				case "open":
					opened = f.at.Add(c.airtime / 2) // it is out
				case "stop":
					stopped = f.at
				}
			}
			// It need not turn round: its relay was released at the end.
			if late := stopped.Sub(opened.Add(time.Duration(goal) * 200 * time.Millisecond)); late.Abs() > 10*time.Millisecond {
				t.Errorf("to %d: the stop began %v after it was due", goal, late)
			}
		}
	})
}

// A way whose beginning was acknowledged and cannot be read has failed for whoever asked;
// the shade goes to its goal, and is stopped there.
func TestWayThatCannotBeReadEndsAtItsGoal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(30 * time.Second)
		c.set(func() {
			c.fail = func(_ appliance.ID, write bool) error {
				if write {
					return nil
				}
				return appliance.ErrDamaged
			}
		})
		fails(t, ctl, position(5001, 50))
		time.Sleep(20 * time.Second)
		if m, at := c.moving(5001), c.place(5001); m != appliance.Stopped || at < 48 || at > 53 {
			t.Errorf("%v at %.0f, want it to stand at 50", m, at)
		}
	})
}

// A stop that may have been obeyed by nobody: its device was offline when it acknowledged,
// at a moment when that might have been the answer to something older. It is sent again.
func TestStopThatAnOfflineDeviceAcknowledgesIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.late = c.timeout
		ctl, stop := run(t, c, siteOf("shade", "dimmer"), nil)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(30 * time.Second)
		do(t, ctl, position(5001, 90))
		time.Sleep(2 * time.Second)
		c.set(func() { c.silent[1] = true })
		for ctl.Snapshot().Node(1).Online {
			time.Sleep(100 * time.Millisecond)
		}
		fails(t, ctl, appliance.Command{Kind: appliance.ShadeOpen, Target: one(5001)})
		_, mark := c.frames(0)
		heard := 0
		c.set(func() {
			clear(c.silent)
			c.fail = func(node appliance.ID, write bool) error {
				if node != 1 {
					return nil
				}
				if heard++; write && heard == 1 {
					return nil // and it does not obey
				}
				return appliance.ErrSilent
			}
			c.motors[5001].deaf = true
		})
		time.Sleep(25 * time.Second)
		frames, _ := c.frames(mark)
		stops := 0
		for _, f := range frames {
			if f.what == "stop" {
				stops++
			}
		}
		if stops < 4 {
			t.Errorf("%d stops in 25 s, want one again and again", stops)
		}
	})
}

// On a slow line a reading is heard long after it was asked for: what it tells is of then.
func TestReadingTellsOfWhenItWasAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.airtime = 360 * time.Millisecond
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(30 * time.Second)
		moved := make(chan appliance.Entry, 1)
		go func() { moved <- do(t, ctl, appliance.Command{Kind: appliance.ShadeOpen, Target: everything}) }()
		time.Sleep(100 * time.Millisecond)
		e := do(t, ctl, appliance.Command{Kind: appliance.ShadeStop, Target: everything})
		opened, asked := (<-moved).Members[0].SentAt, e.Members[0].ObservedAt.Add(-c.airtime/2)
		if early := asked.Sub(opened); !e.OK() || early < 750*time.Millisecond { // lag and the pause before it turns round
			t.Errorf("%q: STOP was confirmed by what was asked %v after the shade was sent up", e.Err, early)
		}
	})
}

// New travel times hold from the next way on, though the bus goes on as it is.
func TestNewTravelTimesAreTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		site := siteOf("shade")
		ctl, stop := run(t, c, site, nil)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(30 * time.Second)
		c.set(func() { c.motors[5001].up = 40 * time.Second })
		site.Shades[0].TravelUp = 40 * time.Second
		ctl.Apply(site, nil)
		do(t, ctl, position(5001, 50))
		time.Sleep(30 * time.Second)
		if at := c.place(5001); at < 48 || at > 52 {
			t.Errorf("it went to %.0f, want 50: with the old times it goes to 25", at)
		}
	})
}

// Whoever repeats a position while the shade is told to go there has the outcome of the first.
func TestRepeatedPositionsAreOneWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeOpen, Target: everything})
		time.Sleep(30 * time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(2 * time.Second) // it runs, and has to be stopped to be sent on
		_, mark := c.frames(0)
		var wg sync.WaitGroup
		for range 12 { // while it stops, pauses and starts
			wg.Go(func() {
				if e, err := ctl.Do(context.Background(), position(5001, 70)); err != nil || !e.OK() {
					t.Errorf("repeated: %+v, %v", e.Members, err)
				}
			})
			time.Sleep(50 * time.Millisecond)
		}
		wg.Wait()
		time.Sleep(30 * time.Second)
		if at := c.place(5001); at < 67 || at > 73 {
			t.Errorf("it is at %.0f, told %q", at, writes(c, mark))
		}
	})
}
