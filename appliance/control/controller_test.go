package control_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
)

func TestStatusOneMeansTheDeviceHasIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("dimmer", "relay", "tunable"), nil)
		defer stop()
		time.Sleep(time.Second)

		e := do(t, ctl, level(everything, 40))
		if !e.OK() {
			t.Fatalf("not OK: %s", e.Err)
		}
		want := map[appliance.ID]appliance.Level{1: 40, 2: 100, 3: 40}
		for id, l := range want {
			if got := c.level[appliance.Ref{Node: id, Channel: 1}]; got != l {
				t.Errorf("node %d: device has %d, want %d", id, got, l)
			}
			if got := ctl.Snapshot().Node(id).Level; got.Value != l || got.Source != appliance.Measured {
				t.Errorf("node %d: snapshot shows %+v, want %d measured", id, got, l)
			}
		}
		for _, m := range e.Members {
			if m.Stage != appliance.StageObserved || m.SentAt.IsZero() || m.AcknowledgedAt.Before(m.SentAt) || m.ObservedAt.Before(m.AcknowledgedAt) {
				t.Errorf("member %+v: want sent, acknowledged and observed in that order", m)
			}
		}
	})
}

// What was acknowledged and then read otherwise is only believed when it is read as
// wanted: the deadline is no confirmation.
func TestDisprovedAcknowledgementIsNoSuccess(t *testing.T) {
	for _, repair := range []error{nil, appliance.ErrBusy, appliance.ErrSilent} {
		t.Run(fmt.Sprint(repair), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCopper()
				ctl, stop := run(t, c, siteOf("dimmer"), nil)
				defer stop()
				time.Sleep(time.Second)
				writes := 0
				c.set(func() {
					c.deaf[1] = 1000 // acknowledges, and does not do it
					c.fail = func(_ appliance.ID, write bool) error {
						if write {
							writes++
						}
						if write && writes > 1 {
							return repair
						}
						return nil
					}
				})
				e := do(t, ctl, level(one(1), 77))
				if e.OK() || e.Members[0].Stage != appliance.StageFailed {
					t.Errorf("reported as done: %+v", e.Members[0])
				}
				if repair != appliance.ErrSilent && !strings.Contains(e.Err, "0 % instead of 77 %") {
					t.Errorf("failed with %q, want what was read", e.Err)
				}
			})
		})
	}
}

func TestDisprovedLevelIsNotShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("fading"), nil)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, level(one(1), 20))
		time.Sleep(5 * time.Second)
		c.set(func() { c.deaf[1] = 1000 })
		if e := do(t, ctl, level(one(1), 90)); e.OK() {
			t.Error("reported as done")
		}
		if l := ctl.Snapshot().Node(1).Level; l.Value != 20 || l.Source != appliance.Measured {
			t.Errorf("shown %+v, want 20 as it was read", l)
		}
	})
}

// What hardware can tell counts only when it was read as wanted: an acknowledgement that
// nobody could read back is none.
func TestAcknowledgedIsNotEnoughIfTheBusGoesBeforeTheReadBack(t *testing.T) {
	for name, happens := range map[string]func(*copper, *control.Controller){
		"pulled": func(c *copper, _ *control.Controller) {
			c.set(func() { c.down = fmt.Errorf("%w: pulled", appliance.ErrBusDown) })
		},
		"bus disabled": func(_ *copper, ctl *control.Controller) {
			site := siteOf("dimmer")
			site.Buses[0].Disabled = true
			go ctl.Apply(site, nil)
			time.Sleep(time.Millisecond)
		},
		"no answer": func(c *copper, _ *control.Controller) {
			c.set(func() {
				c.fail = func(appliance.ID, bool) error { return appliance.ErrDamaged }
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCopper()
				ctl, stop := run(t, c, siteOf("dimmer"), nil)
				defer stop()
				time.Sleep(time.Second)
				c.set(func() {
					c.fail = func(_ appliance.ID, write bool) error {
						if write {
							happens(c, ctl)
						}
						return nil
					}
				})
				e := do(t, ctl, level(one(1), 40))
				if e.OK() || !strings.Contains(e.Err, "acknowledged, but could not be read back") {
					t.Errorf("%+v", e.Members[0])
				}
				if l := ctl.Snapshot().Node(1).Level; l.Value == 40 {
					t.Errorf("shown %+v, which nobody read", l)
				}
			})
		})
	}
}

// A member that missed a group frame is told alone. Its acknowledgement counts no more
// than that of any other.
func TestStragglerThatAcknowledgesIsReadBack(t *testing.T) {
	for _, answers := range []bool{true, false} {
		t.Run(fmt.Sprint("answers ", answers), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCopper()
				c.group = true
				c.deaf[2] = 1
				ctl, stop := run(t, c, siteOf("dimmer", "dimmer"), nil)
				defer stop()
				time.Sleep(time.Second)
				told := false
				c.set(func() {
					c.fail = func(node appliance.ID, write bool) error {
						told = told || node == 2 && write
						if node == 2 && !write && told && !answers {
							return appliance.ErrDamaged
						}
						return nil
					}
				})
				if e := do(t, ctl, level(everything, 40)); e.OK() != answers {
					t.Errorf("ok %v: %q", e.OK(), e.Err)
				}
			})
		})
	}
}

func TestGearIsNotBelievedBeforeAnythingWasRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.deaf[1] = 1000
		c.level[appliance.Ref{Node: 1, Channel: 1}] = 30
		ctl, stop := run(t, c, siteOf("gear"), nil)
		defer stop()
		if e := do(t, ctl, level(one(1), 80)); e.OK() {
			t.Error("told 80, it stands at 30, and was reported as done")
		}
	})
}

// Gear with limits of its own moves to them. Where it stood before it proves nothing,
// unless it has been seen going there.
func TestGearMayStopAtItsLimitsAndNowhereElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.lowest, c.highest = 10, 85
		ctl, stop := run(t, c, siteOf("gear"), nil)
		defer stop()
		time.Sleep(time.Second)
		for _, step := range []struct {
			want  appliance.Level
			stuck bool
			ok    bool
		}{
			{40, false, true}, {90, true, false}, {20, true, false}, {0, true, false},
			{100, false, true}, {95, false, true}, // at 85, which it was seen going to
			{60, true, false},
			{50, false, true}, {3, false, true}, {1, false, true}, // at 10
			{100, true, false}, {0, false, true}, {5, false, true},
			{30, false, true}, {2, true, false}, // its limit is 10, not 30
		} {
			c.set(func() {
				c.deaf[1] = 0
				if step.stuck {
					c.deaf[1] = 1000
				}
			})
			e := do(t, ctl, level(one(1), step.want))
			if e.OK() != step.ok {
				t.Errorf("to %d, stuck %v: %q, the device has %d", step.want, step.stuck, e.Err, c.level[appliance.Ref{Node: 1, Channel: 1}])
			}
		}
	})
}

func TestOnIsTheLastLevelAboveZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("dimmer"), nil)
		defer stop()
		time.Sleep(time.Second)
		ref := appliance.Ref{Node: 1, Channel: 1}
		on := appliance.Command{Kind: appliance.LightOn, Target: one(1)}
		do(t, ctl, on)
		if c.level[ref] != 100 {
			t.Errorf("ON with no level known: %d, want 100", c.level[ref])
		}
		do(t, ctl, level(one(1), 35))
		do(t, ctl, appliance.Command{Kind: appliance.LightOff, Target: one(1)})
		do(t, ctl, on)
		if c.level[ref] != 35 {
			t.Errorf("ON after 35 and OFF: %d, want 35", c.level[ref])
		}
	})
}

func TestColourTemperatureIsHeldToWhatTheFixtureCanDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("dimmer", "tunable"), nil)
		defer stop()
		time.Sleep(time.Second)
		e := do(t, ctl, appliance.Command{Kind: appliance.LightKelvin, Target: everything, Kelvin: 5000})
		if !e.OK() || len(e.Members) != 1 || c.kelvin[2] != 4000 {
			t.Errorf("got %+v, device %d K, want one member at 4000 K", e, c.kelvin[2])
		}
	})
}

func TestWhatCannotBeDoneIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctl, stop := run(t, newCopper(), siteOf("dimmer", "shade", "broken"), nil)
		defer stop()
		time.Sleep(time.Second)
		for name, tc := range map[string]struct {
			cmd  appliance.Command
			want error
		}{
			"unknown node":          {level(one(99), 5), appliance.ErrNotFound},
			"unknown cluster":       {level(appliance.Target{Scope: appliance.InCluster, ID: 9}, 5), appliance.ErrNotFound},
			"shade ID for a light":  {level(one(5002), 5), appliance.ErrNotFound},
			"node ID for a shade":   {appliance.Command{Kind: appliance.ShadeOpen, Target: one(1)}, appliance.ErrNotFound},
			"no colour":             {appliance.Command{Kind: appliance.LightRGBW, Target: one(1)}, appliance.ErrUnable},
			"channel nobody has":    {appliance.Command{Kind: appliance.LightOff, Target: everything, Channel: 7}, appliance.ErrNotFound},
			"negative channel":      {appliance.Command{Kind: appliance.LightOff, Target: everything, Channel: -1}, appliance.ErrOutOfRange},
			"level above 100":       {level(one(1), 101), appliance.ErrOutOfRange},
			"position above 100":    {appliance.Command{Kind: appliance.ShadeMoveTo, Target: one(5002), Position: 101}, appliance.ErrOutOfRange},
			"no kelvin":             {appliance.Command{Kind: appliance.LightKelvin, Target: one(1)}, appliance.ErrOutOfRange},
			"scope nobody knows":    {appliance.Command{Kind: appliance.LightOff}, appliance.ErrOutOfRange},
			"quarantined node":      {level(one(3), 5), appliance.ErrUnable},
			"kind nobody has heard": {appliance.Command{Target: everything}, appliance.ErrOutOfRange},
		} {
			e, err := ctl.Do(context.Background(), tc.cmd)
			if !errors.Is(err, tc.want) || e.OK() || e.ID == "" {
				t.Errorf("%s: err %v, entry %+v; want %v and a failed entry", name, err, e, tc.want)
			}
		}
		if f := ctl.Snapshot().Faults; len(f) != 1 || !strings.Contains(f[0].Where, "node 3") {
			t.Errorf("faults %+v, want node 3 quarantined", f)
		}
	})
}

func TestStopOvertakesFiftyQueuedMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf(slices.Repeat([]string{"shade"}, 51)...), nil)
		defer stop()
		time.Sleep(3 * time.Second)
		_, mark := c.frames(0)
		var wg sync.WaitGroup
		for id := appliance.ID(5001); id <= 5050; id++ {
			wg.Go(func() {
				ctl.Do(context.Background(), appliance.Command{Kind: appliance.ShadeOpen, Target: one(id)})
			})
		}
		synctest.Wait()
		asked := time.Now()
		e := do(t, ctl, appliance.Command{Kind: appliance.ShadeStop, Target: one(5051)})
		if !e.OK() {
			t.Fatalf("STOP failed: %s", e.Err)
		}
		if wait := e.Members[0].SentAt.Sub(asked); wait > c.airtime+c.airtime/2 {
			t.Errorf("STOP was on the wire after %v, want within one frame (%v) and its own", wait, c.airtime)
		}
		frames, _ := c.frames(mark)
		for i, f := range frames[:3] {
			if f.what == "stop" {
				t.Logf("STOP was frame %d", i)
			}
		}
		wg.Wait()
	})
}

// However many commands wait, a STOP is taken: stops are turned away by other stops only.
func TestOtherCommandsTurnNoStopAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 256 // of each kind
		c := newCopper()
		c.down = fmt.Errorf("%w: %w", appliance.ErrBusDown, appliance.ErrOpening) // all wait
		ctl, stop := run(t, c, siteOf("dimmer", "shade"), nil)
		defer stop()
		for _, cmd := range []appliance.Command{level(one(1), 40), {Kind: appliance.ShadeStop, Target: one(5002)}} {
			var all sync.WaitGroup
			defer all.Wait()
			for range most {
				all.Go(func() {
					if _, err := ctl.Do(context.Background(), cmd); err != nil {
						t.Errorf("%+v: %v", cmd, err)
					}
				})
			}
			synctest.Wait()
			if _, err := ctl.Do(context.Background(), cmd); !errors.Is(err, appliance.ErrOverloaded) {
				t.Errorf("one more than %d, %+v: %v", most, cmd, err)
			}
		}
		c.set(func() { c.down = nil })
	})
}

func TestNewestLevelWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("dimmer"), nil)
		defer stop()
		time.Sleep(time.Second)
		_, mark := c.frames(0)
		results := make([]appliance.Entry, 20)
		var wg sync.WaitGroup
		for i := range results {
			wg.Go(func() { results[i] = do(t, ctl, level(one(1), appliance.Level(i+1))) })
			synctest.Wait()
		}
		wg.Wait()
		if got := c.level[appliance.Ref{Node: 1, Channel: 1}]; got != 20 {
			t.Errorf("device ended at %d, want 20", got)
		}
		frames, _ := c.frames(mark)
		writes := 0
		for _, f := range frames {
			if f.write {
				writes++
			}
		}
		if writes > 3 {
			t.Errorf("%d writes went out for 20 levels in one frame's time, want the first and the newest", writes)
		}
		superseded := 0
		for i, e := range results {
			if strings.Contains(e.Err, appliance.ErrSuperseded.Error()) {
				superseded++
			}
			if i == len(results)-1 && !e.OK() {
				t.Errorf("the newest failed: %s", e.Err)
			}
		}
		if superseded < 17 {
			t.Errorf("%d were superseded, want at least 17", superseded)
		}
	})
}

// A command that a newer one overtakes before it was read as wanted has failed, although
// it was acknowledged: the device has something else by now.
func TestOlderCommandNeverUndoesANewerOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("dimmer"), nil)
		defer stop()
		time.Sleep(time.Second)
		// The second arrives while the first is being written.
		var wg sync.WaitGroup
		var first appliance.Entry
		wg.Go(func() { first = do(t, ctl, level(one(1), 10)) })
		time.Sleep(c.airtime - c.airtime/4)
		second := do(t, ctl, level(one(1), 90))
		wg.Wait()
		time.Sleep(3 * time.Second)
		if got := c.level[appliance.Ref{Node: 1, Channel: 1}]; got != 90 || !second.OK() {
			t.Errorf("device at %d (second: %q), want 90", got, second.Err)
		}
		if m := first.Members[0]; first.OK() || m.AcknowledgedAt.IsZero() || first.Err != "node 1 (dimmer): superseded by a newer command" {
			t.Errorf("the first was acknowledged, and overtaken before it was read: %q, %+v", first.Err, m)
		}
	})
}

func TestNothingIsSentAfterItsExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.late = time.Second
		ctl, stop := run(t, c, siteOf("dimmer", "dimmer"), nil)
		defer stop()
		time.Sleep(time.Second)
		c.set(func() { c.silent[1] = true })
		_, mark := c.frames(0)
		expiry := time.Now().Add(700 * time.Millisecond)
		cmd := level(one(1), 50)
		cmd.Expiry = expiry
		e := do(t, ctl, cmd)
		if e.OK() {
			t.Error("a silent device counted as done")
		}
		c.set(func() { c.silent[1] = false })
		time.Sleep(time.Minute)
		frames, _ := c.frames(mark)
		for _, f := range frames {
			if f.write && f.at.After(expiry) {
				t.Errorf("write %q went out %v after its expiry", f.what, f.at.Sub(expiry))
			}
		}
	})
}

func TestGroupFrameThenStragglersByUnicast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.group = true
		ctl, stop := run(t, c, siteOf(slices.Repeat([]string{"dimmer"}, 10)...), nil)
		defer stop()
		time.Sleep(2 * time.Second)
		c.set(func() { c.deaf[3], c.deaf[7] = 1, 1 })
		_, mark := c.frames(0)
		e := do(t, ctl, level(everything, 60))
		if !e.OK() {
			t.Fatalf("failed: %s", e.Err)
		}
		frames, _ := c.frames(mark)
		var writes []string
		for _, f := range frames {
			if f.write {
				writes = append(writes, fmt.Sprintf("%d %s", f.node, f.what))
			}
		}
		want := []string{"0 broadcast", "3 level 60", "7 level 60"}
		if !slices.Equal(writes, want) {
			t.Errorf("writes %q, want %q", writes, want)
		}
	})
}

func TestStragglersThatStayDeafAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.group = true
		ctl, stop := run(t, c, siteOf(slices.Repeat([]string{"dimmer"}, 10)...), nil)
		defer stop()
		time.Sleep(2 * time.Second)
		c.set(func() { c.deaf[3] = 1 << 30 })
		e := do(t, ctl, level(everything, 60))
		if e.OK() || !strings.Contains(e.Err, "1 of 10") || !strings.Contains(e.Err, "node 3") {
			t.Errorf("got %q, want a failure that names node 3", e.Err)
		}
	})
}

func TestPollingKeepsItsTargetsAndSaysWhenItCannot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		oldest := func(n int) (time.Duration, float64) {
			c := newCopper()
			ctl, stop := run(t, c, siteOf(slices.Repeat([]string{"dimmer"}, n)...), nil)
			defer stop()
			time.Sleep(time.Minute)
			s := ctl.Snapshot()
			var worst time.Duration
			for _, n := range s.Nodes {
				worst = max(worst, time.Since(n.Level.At))
			}
			return worst, s.Buses[0].Demand
		}
		if age, demand := oldest(100); age > 5*time.Second || demand > 1 {
			t.Errorf("100 devices of 20 ms: oldest value %v, demand %.2f; want ≤ 5 s and ≤ 1", age, demand)
		}
		age, demand := oldest(500)
		if demand < 2 || demand > 3 {
			t.Errorf("500 devices of 20 ms: demand %.2f, want 2.5", demand)
		}
		if most := time.Duration(500) * 20 * time.Millisecond; age > most+time.Second {
			t.Errorf("oldest value %v, want the load shared evenly: about %v", age, most)
		}
	})
}

func TestFadeShowsTheTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("fading"), nil)
		defer stop()
		time.Sleep(time.Second)
		ref := appliance.Ref{Node: 1, Channel: 1}
		var fading sync.WaitGroup
		defer fading.Wait()
		fading.Go(func() { // the device reports where it is on the way
			for i := range 20 {
				time.Sleep(100 * time.Millisecond)
				c.set(func() { c.level[ref] = appliance.Level(4 * (i + 1)) })
			}
		})
		start := time.Now()
		done := make(chan appliance.Entry)
		go func() { done <- do(t, ctl, level(one(1), 80)) }()
		shown := map[appliance.Level]bool{}
		for time.Since(start) < 1900*time.Millisecond {
			time.Sleep(50 * time.Millisecond)
			shown[ctl.Snapshot().Node(1).Level.Value] = true
		}
		delete(shown, 0)
		if len(shown) != 1 || !shown[80] {
			t.Errorf("polls during the fade showed %v, want the target only", shown)
		}
		if e := <-done; !e.OK() {
			t.Errorf("failed: %s", e.Err)
		}
	})
}

func TestApplyKeepsUnchangedBusesAndWhatIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		site := siteOf("dimmer", "dimmer")
		ctl, stop := run(t, c, site, nil)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, level(one(1), 70))
		renamed := siteOf("dimmer", "dimmer")
		renamed.Nodes[0].Name = "renamed"
		_, mark := c.frames(0)
		ctl.Apply(renamed, nil)
		if n := ctl.Snapshot().Node(1); n.Node.Name != "renamed" || n.Level.Value != 70 || !n.Online {
			t.Errorf("after a rename: %+v", n)
		}
		grown := siteOf("dimmer", "dimmer", "dimmer")
		ctl.Apply(grown, nil)
		if n := ctl.Snapshot().Node(1); n.Level.Value != 70 {
			t.Errorf("after the bus was opened anew: level %+v, want 70 kept", n.Level)
		}
		time.Sleep(time.Second)
		if !do(t, ctl, level(one(3), 10)).OK() {
			t.Error("the new node does not obey")
		}
		frames, _ := c.frames(mark)
		for _, f := range frames {
			if f.write && f.node != 3 {
				t.Errorf("applying a site wrote %q to node %d", f.what, f.node)
			}
		}
	})
}

// Of a device that a command did not wait for, the level that it was sent is shown for the time of the fade at most, and then what
// it says: it may not have heard of it.
func TestFadeOfWhoeverWasNotWaitedForEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.group = true
		ctl, stop := run(t, c, siteOf("fading", "fading"), nil)
		defer stop()
		time.Sleep(time.Second)
		c.set(func() { c.silent[2] = true })
		for ctl.Snapshot().Node(2).Online {
			time.Sleep(time.Second)
		}
		c.set(func() { c.deaf[2] = 1 })
		if e := do(t, ctl, level(everything, 80)); !e.OK() {
			t.Fatal(e.Err)
		}
		c.set(func() { c.silent[2] = false })
		for !ctl.Snapshot().Node(2).Online {
			time.Sleep(time.Second)
		}
		time.Sleep(time.Minute)
		if n := ctl.Snapshot().Node(2); n.Level.Value != 0 || n.Level.Source != appliance.Measured {
			t.Errorf("a minute after it is back it shows %+v, and the device is at 0", n.Level)
		}
	})
}

// A node that is given another place is another device: nothing that the old one told is shown of it.
func TestNodeInAnotherPlaceIsNotKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("dimmer", "dimmer"), nil)
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, level(everything, 70))
		c.set(func() { c.silent[1] = true })
		moved := siteOf("dimmer", "dimmer")
		moved.Nodes[0].Address = "9"
		ctl.Apply(moved, nil)
		if n := ctl.Snapshot().Node(1); n.Online || !n.LastSeen.IsZero() || n.Level.OK() || n.Channels[0].Level.OK() || n.Channels[0].LastLevel != 0 {
			t.Errorf("nobody has asked the new device, and it is %+v", n)
		}
		if n := ctl.Snapshot().Node(2); !n.Online || n.Level.Value != 70 {
			t.Errorf("the other one is %+v", n)
		}
	})
}

func TestSnapshotsAreSupersededAndNeverChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("dimmer"), nil)
		defer stop()
		time.Sleep(time.Second)
		before := ctl.Snapshot()
		shown := *before.Node(1)
		do(t, ctl, level(one(1), 33))
		select {
		case <-before.Superseded():
		default:
			t.Error("the old snapshot was not superseded")
		}
		if before.Node(1).Level != shown.Level {
			t.Error("a published snapshot changed")
		}
		if ctl.Snapshot().Values == before.Values {
			t.Error("a visible change did not count")
		}
	})
}

func TestPortIsLetGoBeforeItIsOpenedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.slow = 50 * time.Millisecond
		ctl, stop := run(t, c, siteOf("dimmer"), nil)
		defer stop()
		time.Sleep(time.Second)
		ctl.Apply(siteOf("dimmer", "dimmer"), nil)
		time.Sleep(time.Second)
		c.set(func() {
			if c.crowd != 1 {
				t.Errorf("%d had the port open at once", c.crowd)
			}
		})
	})
}

func TestCommandWaitsForABusThatIsBeingOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.down = fmt.Errorf("%w: %w", appliance.ErrBusDown, appliance.ErrOpening)
		ctl, stop := run(t, c, siteOf("dimmer"), nil)
		defer stop()
		time.AfterFunc(30*time.Millisecond, func() { c.set(func() { c.down = nil }) })
		if e := do(t, ctl, level(everything, 60)); !e.OK() || c.level[appliance.Ref{Node: 1, Channel: 1}] != 60 {
			t.Errorf("got %q, the device has %v", e.Err, c.level)
		}

		c.set(func() { c.down = fmt.Errorf("%w: %w", appliance.ErrBusDown, appliance.ErrOpening) })
		ctl.Apply(siteOf("dimmer", "dimmer"), nil)
		time.AfterFunc(30*time.Millisecond, func() { c.set(func() { c.down = fmt.Errorf("%w: no adapter", appliance.ErrBusDown) }) })
		began := time.Now()
		if e := do(t, ctl, level(everything, 70)); e.OK() || !strings.Contains(e.Err, "no adapter") || time.Since(began) > time.Second {
			t.Errorf("got %q after %v, want what is wrong with the bus", e.Err, time.Since(began))
		}
	})
}

// What a cluster has does not change because its bus is not opened, or because an entry
// waits for its device.
func TestNodeCountKeepsNodesOfADisabledBus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := siteOf("dimmer", "triple", "shade", "dimmer", "dimmer")
		site.Nodes[3].Tag = appliance.TagPeripheral
		site.Nodes[4].Bus, site.Nodes[4].Address, site.Nodes[4].Profile = appliance.UUID{}, "", ""
		ctl, stop := run(t, newCopper(), site, nil)
		defer stop()
		for _, disabled := range []bool{false, true, false} {
			now := site
			now.Buses = slices.Clone(site.Buses)
			now.Buses[0].Disabled = disabled
			ctl.Apply(now, nil)
			if n := ctl.Snapshot().Cluster(1).Lights; n != 3 {
				t.Errorf("disabled %v: %d light nodes, want the two lamps and the one that waits", disabled, n)
			}
		}
	})
}
