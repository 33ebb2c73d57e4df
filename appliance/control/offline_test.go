package control_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

func TestDeadDevicesCostLittleAndSlowNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		worst := func(dead int) (slowest time.Duration, share float64) {
			c := newCopper()
			ctl, stop := run(t, c, siteOf(slices.Repeat([]string{"dimmer"}, 40)...), nil)
			defer stop()
			for id := 40 - dead + 1; id <= 40; id++ {
				c.set(func() { c.silent[appliance.ID(id)] = true })
			}
			time.Sleep(4 * time.Minute)
			for i := range 400 {
				asked := time.Now()
				e := do(t, ctl, level(one(appliance.ID(i%20+1)), appliance.Level(i%100)))
				if !e.OK() {
					t.Fatalf("healthy node failed: %s", e.Err)
				}
				slowest = max(slowest, e.Members[0].SentAt.Sub(asked))
				time.Sleep(137 * time.Millisecond)
			}
			time.Sleep(2 * time.Second)
			return slowest, ctl.Snapshot().Buses[0].DeadUse
		}
		before, _ := worst(0)
		after, share := worst(12)
		t.Logf("slowest healthy command: %v with all alive, %v with 12 of 40 dead; dead devices cost %.1f %% of bus time", before, after, 100*share)
		// Whoever is dead, a command waits for one healthy frame in flight and for its
		// own way out, never for a time-out.
		if most := 30 * time.Millisecond; after > most {
			t.Errorf("slowest command %v, want at most %v", after, most)
		}
		if share > 0.05 {
			t.Errorf("dead devices cost %.1f %% of bus time, want at most 5 %%", 100*share)
		}
	})
}

func TestOfflineAfterThreeFailuresOverFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("dimmer", "dimmer"), nil)
		defer stop()
		time.Sleep(6 * time.Second)
		if !ctl.Snapshot().Node(1).Online {
			t.Fatal("not online after being polled")
		}
		c.set(func() { c.silent[1] = true })
		went := time.Now()
		for ctl.Snapshot().Node(1).Online {
			time.Sleep(100 * time.Millisecond)
			if time.Since(went) > time.Minute {
				t.Fatal("still online a minute after it fell silent")
			}
		}
		if d := time.Since(went); d < 5*time.Second {
			t.Errorf("offline after %v, want at least 5 s", d)
		}
		e := do(t, ctl, level(everything, 30))
		if !e.OK() || !e.Members[0].Offline {
			t.Errorf("all-command with one member offline: %+v; want OK and the member named", e)
		}
		c.set(func() { c.silent[1] = false })
		time.Sleep(61 * time.Second)
		if !ctl.Snapshot().Node(1).Online {
			t.Error("not back online a minute after it answers again")
		}
		if got := c.level[appliance.Ref{Node: 1, Channel: 1}]; got != 0 {
			t.Errorf("a command from its outage reached it: level %d", got)
		}
	})
}

func TestBusDownFailsAtOnceAndNothingFiresLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("dimmer"), nil)
		defer stop()
		time.Sleep(time.Second)
		c.set(func() { c.down = fmt.Errorf("%w: adapter pulled", appliance.ErrBusDown) })
		time.Sleep(time.Second)
		asked := time.Now()
		e := do(t, ctl, level(one(1), 50))
		if e.OK() || time.Since(asked) > 200*time.Millisecond || !strings.Contains(e.Err, "adapter pulled") {
			t.Errorf("after %v: %q; want an immediate failure that says why", time.Since(asked), e.Err)
		}
		if n := ctl.Snapshot().Node(1); n.Online {
			t.Error("node online on a bus that is down")
		}
		_, mark := c.frames(0)
		c.set(func() { c.down = nil })
		time.Sleep(10 * time.Second)
		frames, _ := c.frames(mark)
		for _, f := range frames {
			if f.write {
				t.Errorf("write %q after the outage", f.what)
			}
		}
		if !ctl.Snapshot().Node(1).Online {
			t.Error("node not back online with its bus")
		}
	})
}

func TestGroupFrameDoesNotWaitForTheDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.group = true
		ctl, stop := run(t, c, siteOf(slices.Repeat([]string{"dimmer"}, 10)...), nil)
		defer stop()
		time.Sleep(2 * time.Second)
		c.set(func() { c.silent[4] = true })
		for ctl.Snapshot().Node(4).Online {
			time.Sleep(time.Second)
		}
		asked := time.Now()
		e := do(t, ctl, level(everything, 60))
		if !e.OK() || !e.Members[3].Offline {
			t.Errorf("got %q, member 4 %+v; want success with node 4 named offline", e.Err, e.Members[3])
		}
		if took := time.Since(asked); took > 11*c.airtime {
			t.Errorf("took %v: somebody waited for the dead", took)
		}
	})
}

func TestDeadDeviceOnABusyLineGoesOffline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("dimmer", "dimmer"), nil)
		defer stop()
		time.Sleep(time.Second)
		c.set(func() { c.silent[1] = true })
		died := time.Now()
		var slowest time.Duration
		for n := 0; ctl.Snapshot().Node(1).Online; n++ {
			if time.Since(died) > 2*time.Minute {
				t.Fatal("still online two minutes after it died")
			}
			asked := time.Now()
			if e := do(t, ctl, level(one(2), appliance.Level(1+n%100))); !e.OK() {
				t.Fatal(e.Err)
			}
			slowest = max(slowest, time.Since(asked))
			time.Sleep(10 * time.Millisecond)
		}
		if slowest > c.timeout+10*c.airtime {
			t.Errorf("a command took %v", slowest)
		}
		t.Logf("offline after %v; slowest command %v", time.Since(died), slowest)
	})
}

func TestDeviceThatDiesWhileItsBusIsOpenedAnewGoesOffline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("dimmer"), nil)
		defer stop()
		time.Sleep(time.Second)
		c.set(func() { c.silent[1] = true })
		ctl.Apply(siteOf("dimmer", "dimmer"), nil)
		if !ctl.Snapshot().Buses[0].Up {
			t.Error("the bus looks down although nothing happened to it")
		}
		time.Sleep(30 * time.Second)
		if ctl.Snapshot().Node(1).Online {
			t.Error("still online half a minute after it died")
		}
	})
}

// Commands to devices that do not answer cost what they cost. They were made up for by
// not asking anybody for minutes, and who was back, or had missed one read only, was
// not noticed.
func TestDevicesComeBackSoonAfterCommandsThatNobodyHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		site := siteOf(slices.Repeat([]string{"dimmer"}, 12)...)
		ctl, stop := run(t, c, site, nil)
		defer stop()
		time.Sleep(5 * time.Second)
		c.set(func() {
			for i := range 12 {
				c.silent[appliance.ID(i+1)] = true
			}
		})
		for range 40 {
			do(t, ctl, level(everything, 30))
			time.Sleep(time.Second)
		}
		c.set(func() { clear(c.silent) })
		_, mark := c.frames(0)
		time.Sleep(90 * time.Second) // devices are asked once a minute at least
		heard := map[appliance.ID]bool{}
		frames, _ := c.frames(mark)
		for _, f := range frames {
			heard[f.node] = true
		}
		for _, n := range ctl.Snapshot().Nodes {
			if !n.Online || !heard[n.Node.ID] {
				t.Errorf("node %d: online %v, asked %v", n.Node.ID, n.Online, heard[n.Node.ID])
			}
		}
	})
}

// A device that refuses for a while what it has told before is read again soon after;
// what a device never tells is asked rarely.
func TestRefusedReadsAreAskedMoreRarely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("dimmer", "dimmer"), nil)
		defer stop()
		never := func(id appliance.ID, _ bool) error {
			if id == 2 {
				return appliance.ErrRefused
			}
			return nil
		}
		c.set(func() { c.fail = never })
		time.Sleep(20 * time.Second)
		c.set(func() { c.fail = func(appliance.ID, bool) error { return appliance.ErrRefused } })
		time.Sleep(8 * time.Second)
		c.set(func() {
			c.fail = never
			c.level[appliance.Ref{Node: 1, Channel: 1}] = 33 // at the wall
		})
		time.Sleep(20 * time.Second)
		if l := ctl.Snapshot().Node(1).Level; l.Value != 33 {
			t.Errorf("20 s after it was ailing it shows %+v, want 33", l)
		}
		time.Sleep(time.Hour)
		_, mark := c.frames(0)
		time.Sleep(time.Hour)
		frames, _ := c.frames(mark)
		asked := map[appliance.ID]int{}
		for _, f := range frames {
			asked[f.node]++
		}
		if asked[2] < 5 || asked[2] > 10 {
			t.Errorf("what is never told was asked %d times in an hour, want about 6", asked[2])
		}
		if asked[1] < 700 {
			t.Errorf("what is told was asked %d times in an hour", asked[1])
		}
	})
}

func TestDevicesThatDoNotAnswerCostLittleWhateverTheirTimeOut(t *testing.T) {
	for _, timeout := range []time.Duration{200 * time.Millisecond, 500 * time.Millisecond, time.Second} {
		t.Run(timeout.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCopper()
				c.timeout = timeout
				_, stop := run(t, c, siteOf(slices.Repeat([]string{"dimmer"}, 30)...), nil)
				defer stop()
				time.Sleep(10 * time.Second)
				c.set(func() {
					for id := range appliance.ID(29) {
						c.silent[id+2] = true
					}
				})
				time.Sleep(20 * time.Minute)
				_, mark := c.frames(0)
				time.Sleep(10 * time.Minute)
				frames, _ := c.frames(mark)
				var dead time.Duration
				for _, f := range frames {
					if f.node != 1 {
						dead += f.took
					}
				}
				if share := dead.Minutes() / 10; share > 0.04 {
					t.Errorf("%.1f %% of the bus's time, want 4 %% at most", 100*share)
				}
			})
		})
	}
}

// What came damaged need not have been the answer: that may still be under way, and
// would be taken for the next one.
func TestDeviceRestsAfterADamagedAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.late = 3 * time.Second
		_, stop := run(t, c, siteOf("triple"), nil)
		defer stop()
		time.Sleep(10 * time.Second)
		damaged := time.Time{}
		c.set(func() {
			c.fail = func(appliance.ID, bool) error {
				if damaged.IsZero() {
					damaged = time.Now()
					return appliance.ErrDamaged
				}
				return nil
			}
		})
		_, mark := c.frames(0)
		time.Sleep(20 * time.Second)
		frames, _ := c.frames(mark)
		asked := 0
		for _, f := range frames {
			if f.at.After(damaged) {
				asked++
				if wait := f.at.Sub(damaged); wait < c.late {
					t.Errorf("asked again after %v", wait)
				}
			}
		}
		if damaged.IsZero() || asked == 0 {
			t.Error("nothing was asked; this test shows nothing")
		}
	})
}

// A device that counts as offline may hear all the same, and somebody is in the way.
func TestStopIsSentToAShadeThatMovesUnheard(t *testing.T) {
	for name, target := range map[string]appliance.Target{"one": one(5001), "all": everything} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCopper()
				site := siteOf("shade", "shade")
				site.Shades[0].TravelUp = time.Minute
				ctl, stop := run(t, c, site, nil)
				defer stop()
				time.Sleep(time.Second)
				do(t, ctl, appliance.Command{Kind: appliance.ShadeOpen, Target: one(5001)})
				c.set(func() { c.mute[1] = true })
				for end := time.Now().Add(20 * time.Second); ctl.Snapshot().Node(1).Online; time.Sleep(100 * time.Millisecond) {
					if time.Now().After(end) {
						t.Fatal("it does not count as offline")
					}
				}
				e, err := ctl.Do(context.Background(), appliance.Command{Kind: appliance.ShadeStop, Target: target})
				if err != nil || e.OK() != (target == everything) {
					t.Errorf("%v, ok %v: %s", err, e.OK(), e.Err)
				}
				if c.moving(5001) != appliance.Stopped {
					t.Errorf("it is %v", c.moving(5001))
				}
			})
		})
	}
}

// A probe that was given up counts as one that was in vain, however long its frame took to
// go out: where it did not, a device was never asked to the end, one that is slow to answer
// never came, and nobody was told of one that does not answer.
func TestSomeProbesWaitForTheWholeTimeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.timeout = time.Second
		c.silent[1] = true // since before the start: it is not known to be quick
		_, stop := run(t, c, siteOf("dimmer"), nil)
		defer stop()
		time.Sleep(10 * time.Second)
		_, mark := c.frames(0)
		time.Sleep(5 * time.Minute)
		frames, _ := c.frames(mark)
		whole := 0
		for _, f := range frames {
			if f.took >= c.timeout {
				whole++
			}
		}
		if whole < 3 || whole > len(frames)/3 {
			t.Errorf("%d of %d probes waited for the whole time-out, want every fourth", whole, len(frames))
		}
	})
}

// Whether somebody is gone is not asked when a shade would have to be stopped meanwhile: its
// time-out once made the shade run on.
func TestShadeIsStoppedInTimeWhileManyFallSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.timeout = time.Second
		ctl, stop := run(t, c, siteOf(append(slices.Repeat([]string{"dimmer"}, 4), "shade")...), nil)
		defer stop()
		time.Sleep(5 * time.Second)
		for i := range 10 {
			do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
			time.Sleep(30 * time.Second)
			c.set(func() {
				for id := range appliance.ID(4) {
					c.silent[id+1] = true
				}
			})
			time.Sleep(7*time.Second + time.Duration(i)*100*time.Millisecond) // whether each is gone is being found out
			do(t, ctl, position(5005, 15))
			time.Sleep(20 * time.Second)
			if off := c.place(5005) - 15; off < -1 || off > 1 {
				t.Errorf("sent to 15, it stands at %.1f", c.place(5005))
			}
			c.set(func() { clear(c.silent) })
			time.Sleep(30 * time.Second)
		}
	})
}

// Shades on their way that cannot be stopped are told to again and again. That keeps nobody from asking whether another
// device is back.
func TestStopsToTheDeadKeepNobodyAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const shades = 30
		c := newCopper()
		ctl, stop := run(t, c, siteOf(append(slices.Repeat([]string{"shade"}, shades), "dimmer")...), nil)
		defer stop()
		time.Sleep(6 * time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(40 * time.Second)
		silence := func(yes bool, from, to appliance.ID) {
			c.set(func() {
				for id := from; id <= to; id++ {
					c.silent[id] = yes
				}
			})
		}
		silence(true, shades+1, shades+1)
		time.Sleep(20 * time.Second)
		for id := range appliance.ID(shades) {
			do(t, ctl, position(5001+id, 50))
		}
		silence(true, 1, shades)
		time.Sleep(30 * time.Second)
		silence(false, shades+1, shades+1)
		time.Sleep(2 * time.Minute) // of all that are silent each is asked once
		if s := ctl.Snapshot(); s.Node(1).Online || !s.Node(shades+1).Online {
			t.Errorf("a shade's device is online: %v, the dimmer: %v", s.Node(1).Online, s.Node(shades+1).Online)
		}
	})
}
