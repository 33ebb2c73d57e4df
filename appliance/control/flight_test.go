package control_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
)

// apart has an exchange wait while others use the bus, if they may.
func apart(y appliance.Yield, sent time.Time, wait func() (appliance.Result, error)) (res appliance.Result, err error) {
	if y.Apart == nil {
		return wait()
	}
	y.Apart(sent, func() { res, err = wait() })
	return res, err
}

// What the explorers know of lamps and shades holds of a bus that takes four exchanges at
// once as well.
func TestExplorersOnSeveralAtOnce(t *testing.T) {
	t.Parallel()
	for seed := range uint64(drivertest.Size(150, 150)) {
		if t.Failed() {
			break
		}
		synctest.Test(t, func(t *testing.T) { explore(t, seed, 4) })
		synctest.Test(t, func(t *testing.T) {
			h := newHistory(t, seed)
			h.several = 4
			h.live()
		})
	}
}

// Sixteen commands at once, to sixteen lamps of which three are silent: the others are
// told and read back beside their time-outs, four at once, and no lamp is asked twice at a
// time (the fake sees to that).
func TestSilentOnesHoldUpNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.several, c.timeout = 4, 900*time.Millisecond
		ctl, stop := run(t, c, siteOf(slices.Repeat([]string{"dimmer"}, 16)...), nil)
		defer stop()
		time.Sleep(5 * time.Second)
		c.set(func() { c.silent[1], c.silent[2], c.silent[3] = true, true, true })
		var all sync.WaitGroup
		for id := appliance.ID(1); id <= 16; id++ {
			all.Go(func() {
				asked := time.Now()
				e := do(t, ctl, level(one(id), 40))
				if took := time.Since(asked); id > 3 && (!e.OK() || took > 800*time.Millisecond) {
					t.Errorf("node %d: %q after %v", id, e.Err, took)
				}
			})
		}
		all.Wait()
		if c.most != 4 {
			t.Errorf("%d exchanges at once, want 4", c.most)
		}
	})
}

// A newer command comes while the frame of an older one is out: that is superseded, and
// the lamp ends as the newer one wants.
func TestNewestWinsOverWhatIsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.several = 4
		ctl, stop := run(t, c, siteOf("dimmer", "dimmer"), nil)
		defer stop()
		time.Sleep(time.Second)
		var first appliance.Entry
		var older sync.WaitGroup
		older.Go(func() { first = do(t, ctl, level(one(1), 10)) })
		time.Sleep(c.airtime * 3 / 4)
		second := do(t, ctl, level(one(1), 90))
		older.Wait()
		if got := c.level[appliance.Ref{Node: 1, Channel: 1}]; got != 90 || !second.OK() || first.OK() {
			t.Errorf("the lamp is at %d; %q, %q", got, first.Err, second.Err)
		}
		time.Sleep(3 * time.Second)
		if got := ctl.Snapshot().Node(1).Channels[0].Level; got.Value != 90 {
			t.Errorf("shown: %+v", got)
		}
	})
}

// A site that changes waits for the answers that are out, and nothing is lost by it.
func TestSiteChangesBetweenWhatIsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.several = 4
		site := siteOf(slices.Repeat([]string{"dimmer"}, 8)...)
		ctl, stop := run(t, c, site, nil)
		defer stop()
		time.Sleep(3 * time.Second)
		var all sync.WaitGroup
		for id := appliance.ID(1); id <= 8; id++ {
			all.Go(func() {
				for l := range appliance.Level(20) {
					if e := do(t, ctl, level(one(id), l+1)); !e.OK() {
						t.Errorf("node %d: %q", id, e.Err)
					}
				}
			})
		}
		for range 10 {
			time.Sleep(70 * time.Millisecond)
			changed := site
			changed.Settings.Freshness.Light += time.Second
			changed.Nodes = slices.Clone(site.Nodes)
			site = changed
			began := time.Now()
			if ctl.Apply(site, nil); time.Since(began) > 5*c.airtime {
				t.Errorf("put in force after %v: others began before it", time.Since(began))
			}
		}
		all.Wait()
	})
}
