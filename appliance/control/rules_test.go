package control_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// Commands to many lamps at once are all told before the first is read back: what was told
// in time may be read back for as long as whoever asked waits.
func TestManyCommandsAtOnceAreAllReadBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.airtime = 200 * time.Millisecond
		ctl, stop := run(t, c, siteOf(slices.Repeat([]string{"dimmer"}, 10)...), nil)
		defer stop()
		time.Sleep(5 * time.Second)
		var all sync.WaitGroup
		for id := range appliance.ID(10) {
			all.Go(func() {
				if e := do(t, ctl, level(one(id+1), 40)); !e.OK() {
					t.Errorf("lamp %d: %s", id+1, e.Err)
				}
			})
		}
		all.Wait()
	})
}

// A device that refuses a combined frame is told one by one.
func TestRefusedCombinedFrameIsTakenApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.combined = true
		ctl, stop := run(t, c, siteOf("triple"), nil)
		defer stop()
		time.Sleep(time.Second)
		refused := false
		c.set(func() {
			c.fail = func(_ appliance.ID, write bool) error {
				if !write || refused {
					return nil
				}
				refused = true
				return appliance.ErrRefused
			}
		})
		if e := do(t, ctl, level(one(1), 40)); !refused || !e.OK() {
			t.Errorf("refused %v: %q", refused, e.Err)
		}
	})
}

// An acknowledgement that may be that of an earlier frame counts for nothing: whoever is
// not read then is told again, which one that acknowledged would not be.
func TestAcknowledgementThatMayBeAnEarlierFramesDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.late = 300 * time.Millisecond
		ctl, stop := run(t, c, siteOf("dimmer"), nil)
		defer stop()
		for !ctl.Snapshot().Node(1).Online {
			time.Sleep(100 * time.Millisecond)
		}
		writes, heardFrom := 0, 4 // the first command is not heard thrice
		c.set(func() {
			c.fail = func(_ appliance.ID, write bool) error {
				if write {
					writes++
				}
				if writes < heardFrom || !write && writes == heardFrom {
					return appliance.ErrSilent
				}
				return nil
			}
		})
		if e := do(t, ctl, level(one(1), 40)); e.OK() || writes != 3 || !ctl.Snapshot().Node(1).Online {
			t.Fatalf("%d writes, online %v: %q", writes, ctl.Snapshot().Node(1).Online, e.Err)
		}
		if e := do(t, ctl, level(one(1), 70)); !e.OK() || writes != heardFrom+1 {
			t.Errorf("%d writes, want it told twice: %q", writes-3, e.Err)
		}
	})
}

// Whoever stays silent is asked ever more rarely.
func TestProbesGetRarer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.silent[1] = true
		_, stop := run(t, c, siteOf("dimmer", "dimmer"), nil)
		defer stop()
		time.Sleep(2 * time.Minute)
		_, mark := c.frames(0)
		time.Sleep(2 * time.Minute)
		frames, _ := c.frames(mark)
		n := 0
		for _, f := range frames {
			if f.node == 1 {
				n++
			}
		}
		if n < 8 || n > 12 {
			t.Errorf("asked %d times in two minutes, want once in 12 s", n)
		}
	})
}

// Nothing is sent to a member of a set that is offline.
func TestOfflineMembersOfASetAreNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("dimmer", "dimmer"), nil)
		defer stop()
		time.Sleep(5 * time.Second)
		c.set(func() { c.silent[1] = true })
		for ctl.Snapshot().Node(1).Online {
			time.Sleep(100 * time.Millisecond)
		}
		_, mark := c.frames(0)
		if e := do(t, ctl, level(everything, 30)); !e.OK() || !e.Members[0].Offline {
			t.Errorf("%+v", e)
		}
		frames, _ := c.frames(mark)
		for _, f := range frames {
			if f.node == 1 && f.write {
				t.Errorf("it was told %s", f.what)
			}
		}
	})
}

// A timed run that was begun when its bus is opened anew is not begun again: its command
// has failed at once.
func TestRunThatWasBegunBeforeItsBusIsOpenedAnewFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.lag = 600 * time.Millisecond // so that it is still being read back
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(2 * time.Second)
		done := make(chan appliance.Entry)
		go func() {
			e, _ := ctl.Do(context.Background(), appliance.Command{Kind: appliance.ShadeClose, Target: everything})
			done <- e
		}()
		time.Sleep(100 * time.Millisecond)
		site := siteOf("shade")
		site.Buses[0].Port += "elsewhere"
		began := time.Now()
		ctl.Apply(site, nil)
		if e := <-done; e.OK() || time.Since(began) > time.Second {
			t.Errorf("after %v: %q", time.Since(began), e.Err)
		}
	})
}

// What a lamp was told while it fades is not shown any more once nobody could read it.
func TestLevelThatWasToldAndNotReadIsNotShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("fading"), nil)
		defer stop()
		time.Sleep(time.Second)
		if e := do(t, ctl, level(one(1), 20)); !e.OK() {
			t.Fatal(e.Err)
		}
		c.set(func() {
			c.fail = func(_ appliance.ID, write bool) error {
				if write {
					return nil
				}
				return appliance.ErrSilent
			}
		})
		if e := do(t, ctl, level(one(1), 70)); e.OK() {
			t.Error("confirmed by nobody")
		}
		if l := ctl.Snapshot().Node(1).Level; l.Value != 20 {
			t.Errorf("shown at %d, want 20, which was read last", l.Value)
		}
	})
}

// The time that two silent devices take is not at the cost of the third.
func TestTimeOfTheSilentIsGivenToTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.timeout = 1500 * time.Millisecond
		ctl, stop := run(t, c, siteOf("dimmer", "dimmer", "dimmer"), nil)
		defer stop()
		for !ctl.Snapshot().Node(3).Online {
			time.Sleep(100 * time.Millisecond)
		}
		c.set(func() { c.silent[1], c.silent[2] = true, true })
		if e := do(t, ctl, level(everything, 40)); e.OK() || e.Members[2].Stage != appliance.StageObserved {
			t.Errorf("%+v", e.Members)
		}
	})
}
