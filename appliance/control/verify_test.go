package control_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// Devices that refuse to tell of several channels at once are asked for fewer: what
// they only acknowledged would be believed otherwise.
func TestRefusedVerificationIsSplit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.combined = true
		ctl, stop := run(t, c, siteOf("triple"), nil)
		defer stop()
		time.Sleep(time.Second)
		e := do(t, ctl, level(one(1), 40))
		for _, m := range e.Members {
			if m.Stage != appliance.StageObserved {
				t.Errorf("channel %d: stage %v, want it read back", m.Ref.Channel, m.Stage)
			}
		}
		c.set(func() { c.deaf[1] = 1000 }) // acknowledges, and does not do it
		if e = do(t, ctl, level(one(1), 70)); e.OK() || e.Err == "" {
			t.Errorf("reported as done: %+v", e.Members)
		}
	})
}

// Repaired lamp by lamp, they acknowledge, and a new fade would last past the deadline.
func TestGroupThatDisobeysAndFadesIsNoSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.group = true
		ctl, stop := run(t, c, siteOf("brief", "brief", "brief"), nil)
		defer stop()
		time.Sleep(time.Second)
		if e := do(t, ctl, level(everything, 20)); !e.OK() {
			t.Fatal(e.Err)
		}
		c.set(func() {
			for id := range appliance.ID(3) {
				c.deaf[id+1] = 1000
			}
		})
		if e := do(t, ctl, level(everything, 70)); e.OK() {
			t.Errorf("reported as done: %+v", e.Members)
		}
	})
}

// Who does not answer keeps nobody else's proof waiting, and no repair.
func TestSilentMemberOfAGroupIsTheOnlyOneThatFails(t *testing.T) {
	for _, silent := range []appliance.ID{1, 2, 3} {
		t.Run(fmt.Sprint(silent), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCopper()
				c.group, c.timeout = true, 600*time.Millisecond
				ctl, stop := run(t, c, siteOf("dimmer", "dimmer", "dimmer"), nil)
				defer stop()
				time.Sleep(time.Second)
				missed := silent%3 + 1
				c.set(func() { c.silent[silent], c.deaf[missed] = true, 1 })
				begun := time.Now()
				e := do(t, ctl, level(everything, 40))
				for _, m := range e.Members {
					if dead := m.Ref.Node == silent; dead != (m.Stage == appliance.StageFailed) || !dead && m.Stage != appliance.StageObserved {
						t.Errorf("node %d: stage %v: %s", m.Ref.Node, m.Stage, m.Err)
					}
					if m.Ref.Node != silent && m.ObservedAt.Sub(begun) > time.Second {
						t.Errorf("node %d was read back only after %v", m.Ref.Node, m.ObservedAt.Sub(begun))
					}
				}
				if e.OK() {
					t.Error("reported as done")
				}
			})
		})
	}
}

// The answer to a question that was damaged may still be under way when a newer order is
// read back: it is not taken for that one's.
func TestDamagedReadBackRestsForTheNextOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.late = 300 * time.Millisecond
		ctl, stop := run(t, c, siteOf("dimmer"), nil)
		defer stop()
		time.Sleep(time.Second)
		var damaged time.Time
		reads := 0
		c.set(func() {
			c.fail = func(_ appliance.ID, write bool) error {
				c.mu.Lock()
				defer c.mu.Unlock()
				if !write {
					reads++
				}
				if write || reads > 2 {
					return nil
				}
				damaged = time.Now()
				return appliance.ErrDamaged
			}
		})
		_, mark := c.frames(0)
		go ctl.Do(context.Background(), level(one(1), 40))
		for seen := false; !seen; time.Sleep(time.Millisecond) {
			c.set(func() { seen = reads >= 2 }) // both were damaged, neither is of the next order
		}
		do(t, ctl, level(one(1), 70))
		frames, _ := c.frames(mark)
		wrote := 0
		for _, f := range frames {
			if f.write {
				wrote++
			} else if wrote == 2 && f.at.Sub(damaged) < c.late {
				t.Errorf("read back %v after a damaged answer, whose rest may come for %v", f.at.Sub(damaged), c.late)
			}
		}
		if wrote != 2 {
			t.Fatalf("%d writes, want 2: %v", wrote, frames)
		}
	})
}
