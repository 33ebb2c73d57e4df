package control_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
)

// showing is copper whose devices show themselves.
type showing struct{ *copper }

func (s showing) Identify(address string) (appliance.Exchange, error) {
	if address == "nobody" {
		return appliance.Exchange{}, appliance.ErrOutOfRange
	}
	return s.exchange(1, true, "shown", func() []appliance.Reading { return nil }), nil
}

// Recent and Follow of a recorder.
func (s showing) Recent() []appliance.Frame {
	return []appliance.Frame{{Note: "kept"}}
}
func (s showing) Follow(context.Context) <-chan appliance.Frame { return nil }

// on runs a driver of one's own over copper.
func on(c *copper, site appliance.Site, with func(*copper) appliance.Driver) (*control.Controller, func()) {
	return runWith(func(cfg appliance.BusConfig) (appliance.Opened, error) {
		o, err := c.open(cfg)
		o.Driver = with(c)
		return o, err
	}, site)
}

// A device shows itself by its driver, and one that cannot be reached is named.
func TestADeviceShowsItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := on(c, siteOf("dimmer"), func(c *copper) appliance.Driver { return showing{c} })
		defer stop()
		time.Sleep(time.Second)
		shown := func() (n int) {
			frames, _ := c.frames(0)
			for _, f := range frames {
				if f.what == "shown" {
					n++
				}
			}
			return n
		}
		if j := identified(t, ctl, "1", 0); j.State != appliance.JobDone || shown() != 1 {
			t.Errorf("%s %s: shown %d times", j.State, j.Err, shown())
		}
		if err := ctl.Identify(t.Context(), "nowhere", "1"); !errors.Is(err, appliance.ErrNotFound) {
			t.Errorf("on a bus that is not there: %v", err)
		}
		if err := ctl.Identify(t.Context(), "test", "nobody"); !errors.Is(err, appliance.ErrOutOfRange) || shown() != 1 {
			t.Errorf("an address that the driver does not take: %v, shown %d times", err, shown())
		}
		c.set(func() { c.silent[1] = true })
		if err := ctl.Identify(t.Context(), "test", "1"); !errors.Is(err, appliance.ErrSilent) || !strings.Contains(err.Error(), "identify 1 on bus test") {
			t.Errorf("one that is silent: %v", err)
		}
		r, err := ctl.Recorder("test")
		if err != nil || len(r.Recent()) != 1 {
			t.Errorf("its recorder: %v", err)
		}
		if _, err := ctl.Recorder("nowhere"); !errors.Is(err, appliance.ErrNotFound) {
			t.Errorf("the recorder of a bus that is not there: %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctl, stop := run(t, newCopper(), siteOf("dimmer"), nil)
		defer stop()
		if err := ctl.Identify(t.Context(), "test", "1"); err == nil || !strings.Contains(err.Error(), `its driver "copper" cannot make a device show itself`) {
			t.Errorf("a driver that cannot: %v", err)
		}
		if _, err := ctl.Recorder("test"); err == nil || !strings.Contains(err.Error(), "records nothing") {
			t.Errorf("a driver that records nothing: %v", err)
		}
	})
}

// One scan of a bus runs at a time; one that is given up ends, and another may begin.
func TestAScanThatIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := on(c, siteOf("dimmer"), func(c *copper) appliance.Driver { return searched{c} })
		time.Sleep(time.Second)
		asked := func() (n int) {
			frames, _ := c.frames(0)
			for _, f := range frames {
				if f.node >= 100 {
					n++
				}
			}
			return n
		}
		scan := func(ctx context.Context) error {
			return ctl.Scan(ctx, "test", appliance.ScanOptions{}, func(string) {}, func(appliance.Found) {})
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- scan(ctx) }()
		time.Sleep(300 * time.Millisecond)
		if err := scan(t.Context()); !errors.Is(err, control.ErrScanning) {
			t.Errorf("a second at the same time: %v", err)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("given up: %v", err)
		}
		n := asked()
		if time.Sleep(time.Second); n == 0 || n == 100 || asked() > n+1 {
			t.Errorf("%d addresses were asked before it was given up, and %d after that", n, asked()-n)
		}
		n = asked()
		if err := scan(t.Context()); err != nil || asked()-n != 100 {
			t.Errorf("the next: %v, %d asked", err, asked()-n)
		}
		stop()
		if err := scan(t.Context()); err == nil || !strings.Contains(err.Error(), "bus test") {
			t.Errorf("after the end: %v", err)
		}
	})
}

// What a service does and learns is told by its job; what it is not told as it has to be is the caller's mistake.
func TestTheJobOfAService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctl, stop := run(t, newCopper(), siteOf("dimmer"), nil)
		defer stop()
		time.Sleep(time.Second)
		by := appliance.Origin{Who: "ana", Why: "?"}
		job, err := ctl.StartService("test", "ask", map[string]string{"address": "1"}, by)
		if err != nil {
			t.Fatal(err)
		}
		var conflict *appliance.JobConflict
		if _, err := ctl.StartService("test", "ask", map[string]string{"address": "1"}, by); !errors.As(err, &conflict) || conflict.Job.ID != job.ID {
			t.Errorf("a second on the same bus: %v", err)
		}
		if other, err := ctl.StartIdentify(control.Showing{Bus: "test", Address: "1"}, by); err != nil {
			t.Errorf("another subject: %v", err)
		} else {
			defer over(ctl, other.ID)
		}
		job = over(ctl, job.ID)
		if job.State != appliance.JobDone || job.By.Why != "ask" || job.By.Who != "ana" || job.Progress.Done != 3 || job.Progress.Text != "asking" || job.Progress.Share < 0.6 || len(job.Items) != 1 {
			t.Errorf("%+v", job)
		}
		if step, ok := job.Items[0].(appliance.ServiceStep); !ok || step.Address != "1" || len(step.Facts) != 1 {
			t.Errorf("told %+v", job.Items[0])
		}
		for _, tc := range []struct {
			job    string
			inputs map[string]string
			want   error
		}{{"sing", nil, appliance.ErrNotFound}, {"ask", nil, appliance.ErrOutOfRange}, {"ask", map[string]string{"address": "1", "color": "red"}, appliance.ErrOutOfRange}} {
			for _, other := range []error{appliance.ErrNotFound, appliance.ErrOutOfRange} {
				if _, err := ctl.StartService("test", tc.job, tc.inputs, by); errors.Is(err, other) != (other == tc.want) || err == nil {
					t.Errorf("%s %v: %v, want %v", tc.job, tc.inputs, err, tc.want)
				}
			}
		}
	})
}

// Who follows jobs is shown those that changed since; who comes from a time before a restart is shown all.
func TestJobsThatChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctl := control.New(control.Options{})
		var hands []*control.JobHand
		for i := range 3 {
			if _, err := ctl.Jobs().Start(appliance.Job{Subject: fmt.Sprint(i)}, func(ctx context.Context, on *control.JobHand) (any, error) {
				hands = append(hands, on)
				<-ctx.Done()
				return nil, ctx.Err()
			}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		since := func(version uint64) (subjects string, next uint64) {
			jobs, next := ctl.Jobs().Since(version)
			for _, j := range jobs {
				subjects += j.Subject
			}
			return subjects, next
		}
		all, now := since(0)
		if all != "012" {
			t.Errorf("from the beginning: %q", all)
		}
		if none, next := since(now); none != "" || next != now {
			t.Errorf("nothing has changed: %q, %d", none, next)
		}
		if last, _ := since(now - 1); last != "2" {
			t.Errorf("from the last change on: %q", last)
		}
		hands[1].Progress(appliance.JobProgress{Text: "on"})
		if some, next := since(now); some != "1" || next != now+1 {
			t.Errorf("one has changed: %q, %d after %d", some, next, now)
		}
		if all, _ := since(now + 100); all != "012" {
			t.Errorf("from a time that was never: %q", all)
		}
		// The end of the program ends all of them, and none begins any more.
		ctl.EndJobs()
		for _, j := range ctl.Jobs().List() {
			if j.State != appliance.JobCancelled || !strings.Contains(j.Err, "the program ends") {
				t.Errorf("%s %s", j.State, j.Err)
			}
		}
		if _, err := ctl.Jobs().Start(appliance.Job{Subject: "x"}, func(context.Context, *control.JobHand) (any, error) { return nil, nil }); !errors.Is(err, appliance.ErrOverloaded) {
			t.Errorf("another after the end: %v", err)
		}
	})
}

// So many jobs run at a time, and no more.
func TestJobsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 64
		ctl := control.New(control.Options{})
		defer ctl.EndJobs()
		var first appliance.Job
		for i := range most + 1 {
			j, err := ctl.Jobs().Start(appliance.Job{Subject: fmt.Sprint(i)}, func(ctx context.Context, on *control.JobHand) (any, error) { <-ctx.Done(); return nil, ctx.Err() })
			if (err == nil) != (i < most) || err != nil && !errors.Is(err, appliance.ErrOverloaded) {
				t.Fatalf("job %d: %v", i+1, err)
			}
			if i == 0 {
				first = j
			}
		}
		if _, err := ctl.Jobs().Cancel(first.ID, appliance.Origin{Who: "ana"}); err != nil {
			t.Fatal(err)
		}
		if j := over(ctl, first.ID); !strings.Contains(j.Err, "cancelled by ana") {
			t.Errorf("%s %s", j.State, j.Err)
		}
		if _, err := ctl.Jobs().Start(appliance.Job{Subject: "0"}, func(ctx context.Context, on *control.JobHand) (any, error) { return nil, nil }); err != nil {
			t.Errorf("after one has ended: %v", err)
		}
		if _, err := ctl.Jobs().Cancel("nobody", appliance.Origin{}); !errors.Is(err, appliance.ErrNotFound) {
			t.Errorf("one that is not there: %v", err)
		}
	})
}

// Whoever leaves before a command is through is given it as it stands, and the ledger has it as it ended.
func TestWhoLeavesEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("dimmer"), nil)
		defer stop()
		time.Sleep(time.Second)
		c.set(func() { c.airtime = 200 * time.Millisecond })
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		early, err := ctl.Do(ctx, level(one(1), 40))
		if !errors.Is(err, context.DeadlineExceeded) || len(early.Members) != 1 || early.Members[0].Ref.Node != 1 || early.Members[0].Stage >= appliance.StageObserved || !early.DoneAt.IsZero() {
			t.Errorf("%v, %+v", err, early)
		}
		time.Sleep(10 * time.Second)
		e, ok := ctl.Entry(early.ID)
		if !ok || !e.OK() || e.DoneAt.IsZero() || e.Members[0].Stage != appliance.StageObserved {
			t.Errorf("in the ledger %v: %+v", ok, e)
		}
		if early.Members[0].Stage >= appliance.StageObserved {
			t.Error("what was handed out has changed")
		}
		if _, ok := ctl.Entry("nobody"); ok {
			t.Error("an entry that is not there was found")
		}
	})
}

// What a bus that does not run is told has failed at once; a driver that nobody has makes it a fault, and its neighbours work.
func TestWhatABusThatDoesNotRunIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		site := siteOf("dimmer", "dimmer")
		site.Buses = append(site.Buses, appliance.Bus{UUID: appliance.UUID{9}, Name: "other", Driver: "telepathy"})
		site.Nodes[1].Bus = site.Buses[1].UUID
		ctl, stop := run(t, c, site, nil)
		time.Sleep(time.Second)
		if f := ctl.Snapshot().Faults; len(f) != 1 || !strings.Contains(f[0].Where, "bus other") || !strings.Contains(f[0].What, `there is no driver "telepathy", want one of copper`) {
			t.Errorf("faults %+v", f)
		}
		e := do(t, ctl, level(everything, 40))
		if e.OK() || e.Members[0].Stage != appliance.StageObserved || len(e.Members) > 1 && !strings.Contains(e.Members[1].Err, "not running") && !e.Members[1].Offline {
			t.Logf("members %+v: %s", e.Members, e.Err)
		}
		stop()
		began := time.Now()
		e, err := ctl.Do(t.Context(), level(one(1), 50))
		if err != nil || e.OK() || time.Since(began) > time.Millisecond {
			t.Errorf("after the end: %v, %+v after %v", err, e, time.Since(began))
		}
		if err := ctl.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "called twice") {
			t.Errorf("a second time: %v", err)
		}
	})
}

// What a driver reports before anybody listens is dropped, and what it reports later is shown.
func TestWhatADriverReportsUnasked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.silent[1] = true
		var report func([]appliance.Reading)
		told := func(l appliance.Level) []appliance.Reading {
			return []appliance.Reading{{Ref: appliance.Ref{Node: 1, Channel: 1}, Values: appliance.Values{Has: appliance.CanDim, Level: l}, At: time.Now()}}
		}
		ctl, stop := runWith(func(cfg appliance.BusConfig) (appliance.Opened, error) {
			report = cfg.Report
			report(told(10))
			return c.open(cfg)
		}, siteOf("dimmer"))
		defer stop()
		time.Sleep(time.Second)
		if l := ctl.Snapshot().Node(1).Level; l.OK() {
			t.Errorf("shown %+v before it was heard", l)
		}
		report(told(70))
		time.Sleep(time.Second)
		if l := ctl.Snapshot().Node(1).Level; l.Value != 70 {
			t.Errorf("shown %+v, want the 70 that it reported", l)
		}
	})
}

// Nodes that wait for binding are left out of a command to several, and told of where there is nobody else.
func TestNodesThatWaitForBinding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := siteOf("dimmer", "dimmer")
		site.Nodes[1].Bus, site.Nodes[1].Address = appliance.UUID{}, ""
		site.Clusters = append(site.Clusters, appliance.Cluster{ID: 2, Nodes: []appliance.ID{2}})
		ctl, stop := run(t, newCopper(), site, nil)
		defer stop()
		time.Sleep(time.Second)
		if n := ctl.Snapshot().Node(2); !n.Waits {
			t.Fatalf("it does not wait: %+v", n)
		}
		for target, why := range map[appliance.Target]string{one(2): "node 2 waits for binding", {Scope: appliance.InCluster, ID: 2}: "every node of cluster 2 waits for binding"} {
			if _, err := ctl.Do(t.Context(), level(target, 40)); !errors.Is(err, appliance.ErrUnable) || !strings.Contains(err.Error(), why) {
				t.Errorf("%v: %v, want %q", target, err, why)
			}
		}
		for _, target := range []appliance.Target{everything, {Scope: appliance.InCluster, ID: 1}} {
			if e := do(t, ctl, level(target, 40)); !e.OK() || len(e.Members) != 1 || e.Members[0].Ref.Node != 1 {
				t.Errorf("%v: %+v", target, e)
			}
		}
		if _, err := ctl.Do(t.Context(), appliance.Command{Kind: appliance.LightRGBW, Target: everything}); err == nil || strings.Contains(err.Error(), "waits") {
			t.Errorf("what the one that is there cannot do: %v", err)
		}
	})
}

// A state that cannot be loaded is a nicety; not to know which group is whose is not.
func TestWhatARestartHasToKnow(t *testing.T) {
	broken := errors.New("broken")
	for _, tc := range []struct {
		name    string
		journal appliance.Journal
		groups  appliance.GroupBook
		want    error
	}{
		{"nothing", nil, nil, nil}, {"no last state", lost{broken}, nil, nil}, {"no groups", nil, lost{broken}, broken}, {"no groups, and a last state", lost{}, lost{broken}, broken},
	} {
		ctl := control.New(control.Options{Drivers: map[string]appliance.OpenFunc{"copper": newCopper().open}, Journal: tc.journal, GroupBook: tc.groups})
		ctl.Apply(siteOf("dimmer"), nil)
		if err := ctl.Restore(t.Context()); !errors.Is(err, tc.want) || (err == nil) != (tc.want == nil) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// lost is a disk of which nothing can be read.
type lost struct{ why error }

func (l lost) LoadStates(context.Context) ([]appliance.Saved, error) { return nil, l.why }
func (l lost) SaveBatch(context.Context, appliance.Batch) error      { return nil }
func (l lost) LoadGroups(context.Context) (map[appliance.UUID]appliance.BusGroups, error) {
	return nil, l.why
}
func (l lost) SaveGroups(context.Context, appliance.UUID, appliance.BusGroups) error { return nil }

// An order to bring tables in step is refused where nobody could obey it, and ends with who gave it.
func TestAnOrderOfTablesThatIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTables(appliance.GroupsUsed, 4)
		ctl, stop := keep(t, c, dimmers(4, []appliance.ID{1, 2, 3}), newBook())
		defer stop()
		time.Sleep(5 * time.Second)
		write := func(ctx context.Context) error {
			return ctl.WriteGroups(ctx, "test", func(appliance.GroupProgress) {})
		}
		c.set(func() { c.airtime = 500 * time.Millisecond })
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- write(ctx) }()
		time.Sleep(time.Second)
		if err := write(t.Context()); err == nil || !strings.Contains(err.Error(), "bus test") {
			t.Errorf("a second at the same time: %v", err)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("given up: %v", err)
		}
		_, writes := c.counts()
		if time.Sleep(10 * time.Second); true {
			if _, now := c.counts(); now > writes+1 {
				t.Errorf("%d entries were written after it was given up", now-writes)
			}
		}
		if err := write(t.Context()); err != nil {
			t.Errorf("the next: %v", err)
		}
		c.set(func() { c.down = fmt.Errorf("%w: pulled", appliance.ErrBusDown) })
		time.Sleep(5 * time.Second)
		began := time.Now()
		if err := write(t.Context()); !errors.Is(err, appliance.ErrBusDown) || time.Since(began) > 0 {
			t.Errorf("on a bus that is down: %v after %v", err, time.Since(began))
		}
	})
}

// One who looks is asked whether a leg may begin only where he wants that, and from the second on: he began the first.
func TestWhoLooksIsAskedBeforeEachLeg(t *testing.T) {
	for _, ask := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := newCopper()
			c.measured = true
			ctl, stop := run(t, c, siteOf("shade"), nil)
			defer stop()
			time.Sleep(5 * time.Second)
			job, err := ctl.StartCalibration(control.ShadeRun{Shade: 5001, Runs: 1, Ask: ask, Dry: true}, appliance.Origin{Who: "ana"})
			if err != nil {
				t.Fatal(err)
			}
			var legs []int
			job = answering(t, ctl, job.ID, func(q appliance.JobQuestion) string {
				if q.Ask == appliance.AskBegin {
					legs = append(legs, q.Leg.Number)
				}
				return "yes"
			})
			if job.State != appliance.JobDone || slices.Contains(legs, 1) || (len(legs) > 0) != ask {
				t.Errorf("%s %s: asked before legs %v, wanted %v", job.State, job.Err, legs, ask)
			}
		})
	}
}

// A bus that cannot be opened anew as it is wanted now is told as a fault, and works again once it is wanted as it was.
func TestABusThatCannotBeOpenedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := runWith(func(cfg appliance.BusConfig) (appliance.Opened, error) {
			if cfg.Bus.Port == "nowhere" {
				return appliance.Opened{}, errors.New("no such port")
			}
			return c.open(cfg)
		}, siteOf("dimmer"))
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, level(one(1), 40))
		for range 2 {
			wrong := siteOf("dimmer")
			wrong.Buses[0].Port = "nowhere"
			ctl.Apply(wrong, nil)
			time.Sleep(time.Second)
			if f := ctl.Snapshot().Faults; len(f) != 1 || !strings.Contains(f[0].Where, "bus test") || !strings.Contains(f[0].What, "no such port") {
				t.Errorf("faults %+v", f)
			}
			if e, err := ctl.Do(t.Context(), level(one(1), 50)); err == nil && e.OK() {
				t.Error("obeyed without a bus")
			}
			ctl.Apply(siteOf("dimmer"), nil)
			time.Sleep(time.Second)
			if e := do(t, ctl, level(one(1), 60)); !e.OK() || len(ctl.Snapshot().Faults) > 0 {
				t.Errorf("as it was: %s, faults %+v", e.Err, ctl.Snapshot().Faults)
			}
		}
		if c.holders != 1 || c.crowd != 1 {
			t.Errorf("%d have the port open, %d at most", c.holders, c.crowd)
		}
	})
}

// Who cannot be put back is told as that, after the first time that it blinked.
func TestWhatBlinksAndCannotBePutBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lender{copper: newCopper()}
		ctl, stop := on(l.copper, siteOf("shade"), func(*copper) appliance.Driver { return l })
		defer stop()
		time.Sleep(time.Second)
		l.set(func() {
			l.fail = func(_ appliance.ID, write bool) error {
				if l.other {
					return appliance.ErrRefused
				}
				return nil
			}
		})
		j, err := ctl.StartIdentify(control.Showing{Bus: "test", Address: "77", Profile: "relay"}, appliance.Origin{Who: "ada"})
		if err != nil {
			t.Fatal(err)
		}
		if j = over(ctl, j.ID); j.State != appliance.JobFailed || !strings.Contains(j.Err, "identify 77 on bus test") || strings.Join(l.done, " ") != "77 relay 1 read other" {
			t.Errorf("%s %s: %q", j.State, j.Err, l.done)
		}
	})
}

// Before the first leg a shade may still move, by whomever: nothing was measured yet.
func TestAShadeThatMovesBeforeTheFirstLeg(t *testing.T) {
	for _, number := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			c := newCopper()
			c.measured = true
			ctl, stop := run(t, c, siteOf("shade"), nil)
			defer stop()
			time.Sleep(5 * time.Second)
			p := &person{c: c, begin: func(leg appliance.Leg) error {
				if leg.Number == number {
					press := appliance.Close
					if c.place(5001) < 50 {
						press = appliance.Open
					}
					c.set(func() { c.motors[5001].turn(appliance.Values{Has: appliance.CanMove, Motion: press}) })
					time.Sleep(5 * time.Second)
				}
				return nil
			}}
			if _, err := calibrate(ctl, p, 1); (err == nil) != (number == 1) {
				t.Errorf("moved before leg %d: %v", number, err)
			}
		})
	}
}
