package control_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
)

// TestExplorerOfTheEngineCampaign gives random commands to lamps, some of which fall silent, hear
// without being heard, acknowledge without obeying, or lose a question now and then. What
// it knows of the lamps themselves tells whether a success was true, whether anything was
// sent that nobody waited for any more, whether who died was known in time, and whether a
// healthy lamp ever failed. 400 histories, 100,000 with SOAK=1; SEED replays one.
func TestExplorerOfTheEngineCampaign(t *testing.T) {
	first, last := uint64(0), uint64(drivertest.Size(400, 100_000))
	if one, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		first, last = one, one+1
	}
	for seed := first; seed < last && !t.Failed(); seed++ {
		synctest.Test(t, func(t *testing.T) { explore(t, seed, 0) })
	}
}

func explore(t *testing.T, seed uint64, several int) {
	defer func() {
		if t.Failed() {
			t.Logf("SEED=%d", seed)
		}
	}()
	dice := rand.New(rand.NewPCG(seed, 18))
	c := newCopper()
	c.several = several
	c.group = dice.IntN(2) == 0
	c.timeout = time.Duration(100+dice.IntN(900)) * time.Millisecond
	if dice.IntN(2) == 0 {
		c.late = c.timeout
	}
	n := 2 + dice.IntN(6)
	ctl, stop := run(t, c, siteOf(slices.Repeat([]string{"dimmer"}, n)...), nil)
	defer stop()
	time.Sleep(8 * time.Second)
	ill := appliance.ID(1 + dice.IntN(n))
	illness := []string{"silent", "mute", "deaf", "lossy", "none"}[dice.IntN(5)]
	fellIll := time.Now()
	c.set(func() {
		switch illness {
		case "silent":
			c.silent[ill] = true
		case "mute":
			c.mute[ill] = true
		case "deaf":
			c.deaf[ill] = 1 << 30
		case "lossy":
			luck := rand.New(rand.NewPCG(seed, 81)) // of the bus's own goroutine
			c.fail = func(node appliance.ID, _ bool) error {
				if node != ill || luck.IntN(3) > 0 {
					return nil
				}
				return []error{appliance.ErrDamaged, appliance.ErrBusy, appliance.ErrSilent}[luck.IntN(3)]
			}
		}
	})
	known := time.Duration(-1)
	_, mark := c.frames(0)
	for range 12 {
		target := everything
		if dice.IntN(2) == 0 {
			target = one(appliance.ID(1 + dice.IntN(n)))
		}
		want := appliance.Level(dice.IntN(101))
		late, next := c.frames(mark)
		for _, f := range late {
			if f.write {
				t.Errorf("%v after the command was over: %s to node %d", time.Since(f.at), f.what, f.node)
			}
		}
		mark = next
		e := do(t, ctl, level(target, want))
		for _, m := range e.Members {
			judgeMember(t, c, m, want, m.Ref.Node == ill && illness != "none")
		}
		_, mark = c.frames(mark)
		time.Sleep(time.Duration(dice.IntN(1500)) * time.Millisecond)
		if known < 0 && !ctl.Snapshot().Node(ill).Online {
			known = time.Since(fellIll)
		}
	}
	if illness != "silent" && illness != "mute" {
		return
	}
	for ; known < 0; time.Sleep(50 * time.Millisecond) {
		if !ctl.Snapshot().Node(ill).Online {
			known = time.Since(fellIll)
		} else if time.Since(fellIll) > time.Minute {
			t.Fatalf("node %d is %s and counts as online after a minute", ill, illness)
		}
	}
	frames, _ := c.frames(0)
	asked := slices.IndexFunc(frames, func(f frame) bool { return f.node == ill && f.at.After(fellIll) })
	silence := frames[asked].at.Add(frames[asked].took).Sub(fellIll)
	if spent := known - silence; spent > 10*time.Second+1500*time.Millisecond { // it is looked at between commands only
		t.Errorf("node %d is known to be gone %v after its first silence", ill, spent)
	}
	c.set(func() { clear(c.silent); clear(c.mute) })
	well := time.Now()
	for !ctl.Snapshot().Node(ill).Online {
		if time.Since(well) > 15*time.Second {
			t.Fatalf("node %d is well, and not back after 15 s", ill)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// judgeMember holds what was reported against what the lamp has.
func judgeMember(t *testing.T, c *copper, m appliance.Member, want appliance.Level, ill bool) {
	t.Helper()
	var has appliance.Level
	c.set(func() { has = c.level[m.Ref] })
	switch {
	case m.Err == "" && !m.Offline && has != want:
		t.Errorf("node %d: success at stage %v, and it has %d instead of %d", m.Ref.Node, m.Stage, has, want)
	case !ill && (m.Err != "" || m.Offline || m.Stage != appliance.StageObserved):
		t.Errorf("node %d is well: %s", m.Ref.Node, fmt.Sprint(m))
	}
}
