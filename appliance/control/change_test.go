package control_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
)

// liveCopper opens buses that take other nodes while they run.
type liveCopper struct {
	*copper
	opened int // how often the port was
}

// open is called for rehearsals as well, which leave everything as it is.
func (l *liveCopper) open(cfg appliance.BusConfig) (appliance.Opened, error) {
	l.set(func() {
		if l.opened == 0 {
			l.cfg.Store(&cfg)
		}
	})
	o := l.describe(cfg)
	o.Driver = &liveBus{liveCopper: l}
	return o, nil
}

// liveBus is one opening of the port.
type liveBus struct {
	*liveCopper
	closed atomic.Bool
}

func (l *liveBus) Run(ctx context.Context) error {
	defer l.closed.Store(true)
	l.set(func() { l.opened++ })
	return l.copper.Run(ctx)
}

func (l *liveBus) Configure(cfg appliance.BusConfig) (appliance.Opened, bool) {
	l.set(func() { l.cfg.Store(&cfg) })
	o := l.describe(cfg)
	o.Driver = l
	return o, true
}

// Plan makes exchanges that end with the opening they were made for.
func (l *liveBus) Plan(wants []appliance.Want) []appliance.Chain {
	chains := l.copper.Plan(wants)
	for i := range chains {
		for k := range chains[i].Steps {
			do := chains[i].Steps[k].Do
			chains[i].Steps[k].Do = func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
				if l.closed.Load() {
					return appliance.Result{}, fmt.Errorf("%w: the port was closed", appliance.ErrBusDown)
				}
				return do(ctx, y)
			}
		}
	}
	return chains
}

// times that the port was opened.
func (l *liveCopper) times() (n int) {
	l.set(func() { n = l.opened })
	return n
}

// A shade is on its timed way while its neighbours come and go.
func TestShadeOnItsWayDoesNotHeedItsNeighbours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &liveCopper{copper: newCopper()}
		ctl, stop := runWith(c.open, siteOf("shade"))
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(30 * time.Second)
		do(t, ctl, position(5001, 50))
		for i := range 20 {
			time.Sleep(500 * time.Millisecond)
			ctl.Apply(siteOf(append([]string{"shade"}, slices.Repeat([]string{"dimmer"}, i%3)...)...), nil)
		}
		time.Sleep(10 * time.Second)
		if at := c.place(5001); at < 48 || at > 52 || c.moving(5001) != appliance.Stopped {
			t.Errorf("it is %v at %.0f %%, want it to stand at 50", c.moving(5001), at)
		}
		if n := c.times(); n != 1 {
			t.Errorf("the port was opened %d times", n)
		}
	})
}

// What is removed while its command waits is said to be gone; its neighbour is told.
func TestCommandWaitsThroughAChangeOfItsBus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &liveCopper{copper: newCopper()}
		ctl, stop := runWith(c.open, siteOf("dimmer", "dimmer", "dimmer"))
		defer stop()
		time.Sleep(time.Second)
		c.set(func() { c.airtime = 500 * time.Millisecond })
		_, mark := c.frames(0)
		var all sync.WaitGroup
		entries := make([]appliance.Entry, 3)
		for i := range entries {
			all.Go(func() { entries[i] = do(t, ctl, level(one(appliance.ID(i+1)), 44)) })
		}
		time.Sleep(100 * time.Millisecond) // one frame is out
		ctl.Apply(siteOf("dimmer", "dimmer"), nil)
		all.Wait()
		if !entries[0].OK() || !entries[1].OK() {
			t.Errorf("neighbours of what was removed: %q, %q", entries[0].Err, entries[1].Err)
		}
		told := map[appliance.ID]int{}
		frames, _ := c.frames(mark)
		for _, f := range frames {
			if f.write {
				told[f.node]++
			}
		}
		if told[1] != 1 || told[2] != 1 {
			t.Errorf("they were told %v times", told)
		}
		if entries[2].OK() || !strings.Contains(entries[2].Err, "the site was changed") {
			t.Errorf("what was removed: %q", entries[2].Err)
		}
	})
}

// The bit rate of a bus changes under way: commands wait until it is open again, and of
// its devices nothing is believed that was heard at the other.
func TestCommandsWaitForABusThatIsOpenedAnew(t *testing.T) {
	for _, answers := range []bool{true, false} {
		t.Run(fmt.Sprint("answers ", answers), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &liveCopper{copper: newCopper()}
				c.slow = 300 * time.Millisecond // to let go of the port
				ctl, stop := runWith(c.open, siteOf("dimmer", "dimmer"))
				defer stop()
				time.Sleep(time.Second)
				faster := siteOf("dimmer", "dimmer")
				faster.Buses[0].Line.BaudRate = 115200
				applied := make(chan struct{})
				go func() { ctl.Apply(faster, nil); close(applied) }()
				time.Sleep(100 * time.Millisecond)
				c.set(func() { c.silent[1], c.silent[2] = !answers, !answers })
				e := do(t, ctl, level(everything, 30))
				<-applied
				if e.OK() != answers || strings.Contains(e.Err, "closed") {
					t.Errorf("a command meanwhile: %q", e.Err)
				}
				time.Sleep(time.Second)
				if n := ctl.Snapshot().Node(1); n.Online != answers {
					t.Errorf("online: %v", n.Online)
				}
				if n := c.times(); n != 2 {
					t.Errorf("the port was opened %d times, want twice", n)
				}
			})
		})
	}
}

// A shade runs by time when its bus is opened anew: it is not sent off once more, which
// would take it past its goal.
func TestRunByTimeIsNotBegunAgainByAnOpeningOfItsBus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &liveCopper{copper: newCopper()}
		ctl, stop := runWith(c.open, siteOf("shade"))
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(30 * time.Second)
		c.set(func() { c.lag = 500 * time.Millisecond }) // it is read back for so long
		_, mark := c.frames(0)
		done := make(chan appliance.Entry)
		go func() { done <- do(t, ctl, position(5001, 50)) }()
		time.Sleep(200 * time.Millisecond)
		faster := siteOf("shade")
		faster.Buses[0].Line.BaudRate = 115200
		ctl.Apply(faster, nil)
		<-done
		time.Sleep(30 * time.Second)
		if told := writes(c.copper, mark); len(told) != 2 || c.moving(5001) != appliance.Stopped {
			t.Errorf("told %q, and it is %v", told, c.moving(5001))
		}
		if at := c.place(5001); at < 45 || at > 55 {
			t.Errorf("it stands at %.0f %%, want about 50", at)
		}
	})
}

// Nodes and shades come, go, and change their names and clusters at random, while 50
// commands a second go to the others.
func TestChurnDisturbsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const steady, most = 8, 8 // nodes that stay, and that come and go
		lasts := time.Minute
		c := &liveCopper{copper: newCopper()}
		c.airtime = 2 * time.Millisecond
		c.set(func() { c.timeout = 20 * time.Millisecond })
		dice := rand.New(rand.NewPCG(1, 2))
		ctl, stop := runWith(c.open, siteOf(slices.Repeat([]string{"dimmer"}, steady)...))
		defer stop()
		time.Sleep(time.Second)
		ends := time.Now().Add(lasts)
		var all sync.WaitGroup
		all.Go(func() {
			for changes := 0; time.Now().Before(ends); changes++ {
				kinds := slices.Repeat([]string{"dimmer"}, steady)
				for range dice.IntN(most) {
					kinds = append(kinds, []string{"dimmer", "shade", "triple", "tunable"}[dice.IntN(4)])
				}
				site := siteOf(kinds...)
				site.Nodes[dice.IntN(steady)].Name = fmt.Sprint("renamed ", changes)
				site.Clusters = []appliance.Cluster{{ID: 1, Name: "c", Nodes: []appliance.ID{1, appliance.ID(2 + dice.IntN(steady-2))}}}
				ctl.Apply(site, nil)
				time.Sleep(time.Duration(dice.IntN(100)) * time.Millisecond)
			}
		})
		n := 0
		for ; time.Now().Before(ends); n++ {
			id, to := appliance.ID(1+n%steady), appliance.Level(1+n%100)
			all.Go(func() {
				began := time.Now()
				e := do(t, ctl, level(one(id), to))
				if took := time.Since(began); !e.OK() || took > 200*time.Millisecond {
					t.Errorf("node %d: %q after %v", id, e.Err, took)
				}
			})
			time.Sleep(20 * time.Millisecond)
		}
		all.Wait()
		if c.times() != 1 {
			t.Errorf("the port was opened %d times", c.times())
		}
		t.Logf("%d commands", n)
	})
}

// A shade was not heard to stop before its bus was disabled. When that comes back it is
// stopped, unless the entry is of another motor now.
func TestShadeThatNobodyStoppedIsStoppedWhenItsBusComesBack(t *testing.T) {
	for name, moved := range map[string]bool{"the same motor": false, "another motor": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &liveCopper{copper: newCopper()}
				site := func() appliance.Site { return siteOf("shade", "dimmer") }
				ctl, stop := runWith(c.open, site())
				defer stop()
				time.Sleep(time.Second)
				do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
				time.Sleep(30 * time.Second)
				do(t, ctl, position(5001, 90))
				time.Sleep(2 * time.Second)
				c.set(func() { c.silent[1] = true })
				off := site()
				off.Buses[0].Disabled = true
				ctl.Apply(off, nil)
				c.set(func() { c.silent[1] = false })
				back := site()
				if moved {
					back.Shades[0].Node = 2
				}
				_, mark := c.frames(0)
				ctl.Apply(back, nil)
				time.Sleep(3 * time.Second)
				if told := writes(c.copper, mark); moved != (len(told) == 0) {
					t.Errorf("told %q", told)
				}
			})
		})
	}
}

// A bus gets another driver while a shade on it is being sent off: the order fails with
// the bus, and whoever comes next stops what it may have begun.
func TestShadeSentOffWhenItsBusGetsAnotherDriverIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &liveCopper{copper: newCopper()}
		ctl := control.New(control.Options{Drivers: map[string]appliance.OpenFunc{"copper": c.open, "brass": c.open}})
		ctl.Apply(siteOf("shade"), nil)
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error)
		go func() { ended <- ctl.Run(ctx) }()
		defer func() { cancel(); <-ended }()
		time.Sleep(time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(30 * time.Second)
		c.set(func() { c.mute[1] = true }) // it obeys, and is not heard
		done := make(chan appliance.Entry)
		go func() { done <- do(t, ctl, position(5001, 90)) }()
		time.Sleep(250 * time.Millisecond)
		c.set(func() { c.mute[1] = false })
		other := siteOf("shade")
		other.Buses[0].Driver = "brass"
		ctl.Apply(other, nil)
		if e := <-done; e.OK() {
			t.Error("confirmed by nobody")
		}
		time.Sleep(5 * time.Second)
		if m := c.moving(5001); m != appliance.Stopped {
			t.Errorf("it is still %v", m)
		}
	})
}
