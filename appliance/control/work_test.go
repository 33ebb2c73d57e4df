package control_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
)

// answering has somebody answer what a job asks, and returns the job when it is over.
func answering(t *testing.T, ctl *control.Controller, id string, say func(appliance.JobQuestion) string) appliance.Job {
	t.Helper()
	for {
		fresh := ctl.Jobs().Fresh()
		j, ok := ctl.Jobs().Get(id)
		if !ok || j.State.Over() {
			return j
		}
		if j.Question != nil {
			if said := say(*j.Question); said != "" {
				if err := ctl.Jobs().Answer(id, j.Question.Number, said); err != nil {
					t.Fatal(err)
				}
				continue
			}
		}
		<-fresh
	}
}

// What a job finds out about a shade is saved, unless it is only looked for, or times that there are would be replaced and
// somebody says no or nothing.
func TestWhatIsFoundOutAboutAShadeIsSaved(t *testing.T) {
	by := appliance.Origin{Who: "ana", Via: "test"}
	measured := control.ShadeRun{Shade: 5001, Runs: 1}
	change := func(run control.ShadeRun, f func(*control.ShadeRun)) control.ShadeRun { f(&run); return run }
	dry := func(r *control.ShadeRun) { r.Dry = true }
	replace := func(r *control.ShadeRun) { r.Replace = true }
	for _, tc := range []struct {
		name      string
		direction bool
		measures  bool // it tells where it is
		run       control.ShadeRun
		untimed   bool   // there are no times yet
		says      string // to whether it is to be saved
		asked     bool
		keeps     string // how it is kept: "", "nowhere", "never in force"
		saved     bool
		err       string
	}{
		{name: "direction", direction: true, run: control.ShadeRun{Shade: 5001}, saved: true},
		{name: "direction of one that measures", direction: true, measures: true, run: control.ShadeRun{Shade: 5001}, saved: true},
		{name: "cannot be kept", run: change(measured, replace), keeps: "broken", err: "the disk is full"},
		{name: "direction, looked for", direction: true, run: control.ShadeRun{Shade: 5001, Dry: true}},
		{name: "times that there are not yet", run: measured, untimed: true, saved: true},
		{name: "times, yes", run: measured, says: "yes", asked: true, saved: true},
		{name: "times, no", run: measured, says: "no", asked: true},
		{name: "times, nobody says anything", run: measured, asked: true, err: "nobody said for 30m0s"},
		{name: "times, replaced without asking", run: change(measured, replace), saved: true},
		{name: "times, looked for", run: change(measured, dry)},
		{name: "nowhere", run: change(measured, replace), keeps: "nowhere", err: "nowhere to save"},
		{name: "never in force", run: change(measured, replace), keeps: "never in force", err: "not in force after 5s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCopper()
				c.measured = !tc.direction || tc.measures
				site := siteOf("shade")
				site.Shades[0].TravelDown = 18 * time.Second
				if tc.untimed {
					site.Shades[0].TravelUp, site.Shades[0].TravelDown = 0, 0
				}
				var ctl *control.Controller
				kept := 0
				opts := control.Options{Drivers: map[string]appliance.OpenFunc{"copper": c.open}}
				if tc.keeps != "nowhere" {
					opts.SaveShade = func(_ context.Context, id appliance.ID, to appliance.ShadeSettings) error {
						if tc.keeps == "broken" {
							return errors.New("the disk is full")
						}
						kept++
						if tc.keeps == "" {
							next := site
							next.Shades = slices.Clone(site.Shades)
							next.Shades[0].TravelUp, next.Shades[0].TravelDown, next.Shades[0].Inverted = to.TravelUp, to.TravelDown, to.Inverted
							ctl.Apply(next, nil)
						}
						return nil
					}
				}
				ctl = control.New(opts)
				ctl.Apply(site, nil)
				ctx, cancel := context.WithCancel(context.Background())
				done := make(chan error)
				go func() { done <- ctl.Run(ctx) }()
				defer func() { cancel(); <-done }()
				time.Sleep(5 * time.Second)
				start := ctl.StartCalibration
				if tc.direction {
					start = ctl.StartDirection
				}
				job, err := start(tc.run, by)
				if err != nil {
					t.Fatal(err)
				}
				asked := false
				job = answering(t, ctl, job.ID, func(q appliance.JobQuestion) string {
					if q.Ask == appliance.AskWent {
						return map[bool]string{true: "down", false: "up"}[q.Leg.Up] // the other way than it was told
					}
					asked = true
					return tc.says
				})
				if tc.err != "" {
					if job.State != appliance.JobFailed || !strings.Contains(job.Err, tc.err) {
						t.Errorf("%s: %s, want %q", job.State, job.Err, tc.err)
					}
					return
				}
				out, ok := job.Result.(appliance.ShadeOutcome)
				if !ok || job.State != appliance.JobDone {
					t.Fatalf("%s %s: %+v", job.State, job.Err, job.Result)
				}
				if out.Saved != tc.saved || kept > 0 != tc.saved || asked != tc.asked || out.Shade != 5001 || out.Old != site.Shades[0].Settings() {
					t.Errorf("%+v, kept %d times, asked %v", out, kept, asked)
				}
				is := ctl.Snapshot().Shade(5001).Shade.Settings()
				if tc.saved && is != out.New || !tc.saved && is != site.Shades[0].Settings() {
					t.Errorf("in force is %+v; found out was %+v", is, out.New)
				}
				if tc.direction != out.New.Inverted {
					t.Errorf("turned round: %v", out.New.Inverted)
				}
				if turned := out.New.TravelUp == 18*time.Second && out.New.TravelDown == 20*time.Second; tc.direction && turned != tc.measures {
					t.Errorf("one that measures %v has the times %v and %v now", tc.measures, out.New.TravelUp, out.New.TravelDown)
				}
				if up := out.New.TravelUp; !tc.direction && (up < 19*time.Second || up > 21*time.Second || up%(10*time.Millisecond) != 0) {
					t.Errorf("it takes %v", up)
				}
			})
		})
	}
	ctl := control.New(control.Options{})
	if _, err := ctl.StartDirection(control.ShadeRun{Shade: 9}, by); !errors.Is(err, appliance.ErrNotFound) {
		t.Errorf("a shade that is not there: %v", err)
	}
}

// lender is copper that lends outputs of devices outside the site.
type lender struct {
	*copper
	other  bool
	done   []string
	err    error // of what was read at first
	unable error
	lost   int // how often putting back shows late
}

func (l *lender) Borrow(address, profile string, output int) (appliance.Borrowed, error) {
	step := func(what string, act func()) []appliance.Exchange {
		e := l.exchange(99, true, what, func() []appliance.Reading {
			l.done = append(l.done, what)
			act()
			return nil
		})
		return []appliance.Exchange{e}
	}
	l.done = append(l.done, fmt.Sprint(address, " ", profile, " ", output))
	return appliance.Borrowed{
		Read: step("read", func() {}), Other: step("other", func() { l.other = true }), Back: step("back", func() { l.other = false }),
		Err: func() error {
			if len(l.done) > 3 && l.lost > 0 {
				l.lost--
				return errors.New("not as it was")
			}
			return l.err
		},
	}, l.unable
}

// An output of a device that the site does not have is switched three times and put back each time, also when whoever wanted it
// has gone; and is not touched if it could not be put back.
func TestABorrowedOutputIsPutBack(t *testing.T) {
	const blink = "other back "
	for _, tc := range []struct {
		name   string
		what   control.Showing
		lender lender
		cancel time.Duration
		done   string
		err    string
	}{
		{name: "blinks", what: control.Showing{Address: "77", Profile: "relay", Output: 3}, done: "77 relay 3 read " + blink + blink + blink + "read"},
		{name: "the first output", what: control.Showing{Address: "77", Profile: "relay"}, done: "77 relay 1 read " + blink + blink + blink + "read"},
		{name: "cannot be read", what: control.Showing{Address: "77", Profile: "relay"}, lender: lender{err: errors.New("cannot be put back")}, done: "77 relay 1 read", err: "cannot be put back"},
		{name: "is on its way", what: control.Showing{Address: "77", Profile: "relay"}, lender: lender{lost: 4}, done: "77 relay 1 read " + blink + blink + blink + "read read read read read"},
		{name: "stays otherwise", what: control.Showing{Address: "77", Profile: "relay"}, lender: lender{lost: 9}, done: "77 relay 1 read " + blink + blink + blink + "read read read read read", err: "not as it was"},
		{name: "cannot lend", what: control.Showing{Address: "77", Profile: "relay"}, lender: lender{unable: appliance.ErrUnable}, done: "77 relay 1", err: "not possible"},
		{name: "without a profile", what: control.Showing{Address: "77"}, err: "the site has none there"},
		{name: "of the site", what: control.Showing{Address: "1", Profile: "relay"}, err: "the site has none there"},
		{name: "given up", what: control.Showing{Address: "77", Profile: "relay"}, cancel: 300 * time.Millisecond, done: "77 relay 1 read " + blink, err: "cancelled"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &tc.lender
				l.copper = newCopper()
				ctl, stop := runWith(func(cfg appliance.BusConfig) (appliance.Opened, error) {
					o, err := l.open(cfg)
					o.Driver = l
					return o, err
				}, siteOf("shade"))
				defer stop()
				time.Sleep(time.Second)
				tc.what.Bus = "test"
				began := time.Now()
				j, err := ctl.StartIdentify(tc.what, appliance.Origin{Who: "ada"})
				if err != nil {
					t.Fatal(err)
				}
				if tc.cancel > 0 {
					time.Sleep(tc.cancel)
					if _, err := ctl.Jobs().Cancel(j.ID, appliance.Origin{Who: "ada"}); err != nil {
						t.Fatal(err)
					}
				}
				j = over(ctl, j.ID)
				if got := strings.Join(l.done, " "); strings.TrimSpace(got) != strings.TrimSpace(tc.done) || l.other {
					t.Errorf("done: %s; want %s; put back %v", got, tc.done, !l.other)
				}
				if (j.State == appliance.JobDone) != (tc.err == "") || !strings.Contains(j.Err, tc.err) {
					t.Errorf("%s: %s, want %q", j.State, j.Err, tc.err)
				}
				if took := time.Since(began); tc.name == "blinks" && (took < 6*700*time.Millisecond || took > 5*time.Second) {
					t.Errorf("blinking took %v", took)
				}
			})
		})
	}
}

// What would become of a site is told without touching what is in force; a bus that is disabled is asked as well.
func TestASiteIsRehearsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctl, stop := run(t, newCopper(), siteOf("dimmer"), nil)
		defer stop()
		time.Sleep(time.Second)
		before := ctl.Snapshot().Site
		next := siteOf("dimmer", "broken")
		next.Buses[0].Disabled = true
		next.Buses = append(next.Buses, appliance.Bus{UUID: appliance.UUID{9}, Name: "other", Driver: "telepathy"})
		s := ctl.Rehearse(next)
		if len(s.Faults) != 2 || !strings.Contains(s.Faults[0].Where+s.Faults[1].Where, "bus other") || !strings.Contains(s.Faults[0].Where+s.Faults[1].Where, "node 2 (broken)") {
			t.Errorf("faults %+v", s.Faults)
		}
		if n := s.Node(2); n == nil || n.Fault == "" || s.Node(1).Fault != "" {
			t.Errorf("nodes %+v, %+v", s.Node(1), n)
		}
		if !next.Buses[0].Disabled || ctl.Snapshot().Site != before {
			t.Error("something was changed")
		}
	})
}

// A shade that cannot be commanded is told why, and left out of a command to several.
func TestShadesThatCannotBeCommanded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		site := siteOf("shade", "broken")
		site.Shades = append(site.Shades, appliance.Shade{ID: 5002, Node: 2, Output: 1}, appliance.Shade{ID: 5003, Output: 1})
		site.Clusters = []appliance.Cluster{{ID: 1, Shades: []appliance.ID{5001, 5002, 5003}}, {ID: 2, Shades: []appliance.ID{5003}}, {ID: 3, Shades: []appliance.ID{5002}}}
		ctl, stop := runWith(func(cfg appliance.BusConfig) (appliance.Opened, error) {
			o, err := c.open(cfg)
			o.BrokenShades = map[appliance.ID]error{5002: errors.New("no such output")}
			return o, err
		}, site)
		defer stop()
		time.Sleep(5 * time.Second)
		stopping := func(target appliance.Target) (appliance.Entry, error) {
			return ctl.Do(t.Context(), appliance.Command{Kind: appliance.ShadeStop, Target: target})
		}
		for target, why := range map[appliance.Target]string{
			one(5002): "quarantined", one(5003): "waits for binding", {Scope: appliance.InCluster, ID: 2}: "every shade of cluster 2 waits for binding",
			{Scope: appliance.InCluster, ID: 3}: "has no shade", one(5009): "not found",
		} {
			if _, err := stopping(target); err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("%v: %v, want %q", target, err, why)
			}
		}
		e, err := stopping(appliance.Target{Scope: appliance.InCluster, ID: 1})
		if err != nil || !e.OK() || len(e.Members) != 1 || e.Members[0].Ref.Shade != 5001 {
			t.Errorf("%+v, %v", e, err)
		}
	})
}

// finder finds somebody at each of some addresses.
type finder struct{ *copper }

func (f finder) Scan(appliance.ScanOptions) iter.Seq[appliance.ScanStep] {
	return func(yield func(appliance.ScanStep) bool) {
		for _, address := range []string{"A7", "key", "2", "free", ""} {
			judge := func(appliance.Result, error) (appliance.Found, bool) { return appliance.Found{Address: address}, true }
			if !yield(appliance.ScanStep{Exchange: f.exchange(1, false, "ask", func() []appliance.Reading { return nil }), Address: address, Judge: judge}) {
				return
			}
		}
	}
}

// A finding names the nodes of the site at its address: by the address however it is written, or by the device that they are in.
func TestFindingsNameTheNodesThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		site := siteOf("dimmer", "dimmer", "dimmer", "dimmer", "dimmer")
		site.Nodes[0].Address, site.Nodes[2].Address, site.Nodes[4].Address = "a7", "A7", ""
		ctl, stop := runWith(func(cfg appliance.BusConfig) (appliance.Opened, error) {
			o, err := c.open(cfg)
			o.Driver = finder{c}
			o.Device[4] = "key"
			return o, err
		}, site)
		defer stop()
		time.Sleep(time.Second)
		job, err := ctl.StartScan("test", appliance.ScanOptions{}, appliance.Origin{Who: "ana"})
		if err != nil {
			t.Fatal(err)
		}
		job = over(ctl, job.ID)
		want := map[string][]appliance.ID{"A7": {1, 3}, "key": {4}, "2": {2}, "free": nil, "": nil}
		if len(job.Items) != len(want) || job.Progress.Done != 5 || job.State != appliance.JobDone {
			t.Errorf("%s %s after %d: %+v", job.State, job.Err, job.Progress.Done, job.Items)
		}
		for _, item := range job.Items {
			if f := item.(appliance.Found); !slices.Equal(f.Nodes, want[f.Address]) || f.New != (want[f.Address] == nil) {
				t.Errorf("at %q: nodes %v, new %v", f.Address, f.Nodes, f.New)
			}
		}
	})
}

// plain is a driver that can nothing but what all can.
type plain struct{ appliance.Driver }

func TestABusWhoseDriverHasNoneOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := runWith(func(cfg appliance.BusConfig) (appliance.Opened, error) {
			o, err := c.open(cfg)
			o.Driver = plain{c}
			return o, err
		}, siteOf("dimmer"))
		defer stop()
		time.Sleep(time.Second)
		if list, err := ctl.Services("test"); err != nil || len(list) > 0 {
			t.Errorf("services %v, %v", list, err)
		}
		if err := ctl.Serve(t.Context(), "test", "sing", nil, nil); !errors.Is(err, appliance.ErrNotFound) || !strings.Contains(err.Error(), "it has none") {
			t.Errorf("a service: %v", err)
		}
		if err := ctl.Scan(t.Context(), "test", appliance.ScanOptions{}, nil, nil); err == nil || !strings.Contains(err.Error(), "cannot scan") {
			t.Errorf("a scan: %v", err)
		}
		if _, err := ctl.StartGroups("test", appliance.Origin{}); err == nil {
			t.Error("groups are brought in step")
		}
		for _, err := range []error{
			func() error {
				_, err := ctl.StartScan("nowhere", appliance.ScanOptions{}, appliance.Origin{})
				return err
			}(),
			func() error { _, err := ctl.StartService("nowhere", "ask", nil, appliance.Origin{}); return err }(),
			func() error {
				_, err := ctl.StartIdentify(control.Showing{Bus: "nowhere"}, appliance.Origin{})
				return err
			}(),
			func() error { _, err := ctl.StartGroups("nowhere", appliance.Origin{}); return err }(),
		} {
			if !errors.Is(err, appliance.ErrNotFound) {
				t.Errorf("on a bus that is not there: %v", err)
			}
		}
	})
}

// A question takes one of its answers, once.
func TestAQuestionTakesOneOfItsAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctl, stop := run(t, newCopper(), siteOf("dimmer"), nil)
		defer stop()
		var said []string
		job, err := ctl.Jobs().Start(appliance.Job{Kind: appliance.JobService, Subject: "s"}, func(ctx context.Context, on *control.JobHand) (any, error) {
			for _, choices := range [][]string{{"yes", "no"}, nil} {
				a, err := on.Ask(ctx, appliance.JobQuestion{Ask: appliance.AskSure, Choices: choices})
				if err != nil {
					return nil, err
				}
				said = append(said, a)
			}
			return nil, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for _, tc := range []struct {
			id     string
			number int
			said   string
			err    error
		}{
			{"nobody", 1, "yes", appliance.ErrNotFound}, {job.ID, 2, "yes", appliance.ErrNoQuestion}, {job.ID, 1, "perhaps", appliance.ErrOutOfRange},
			{job.ID, 1, "no", nil}, {job.ID, 1, "yes", appliance.ErrNoQuestion}, {job.ID, 2, "whatever", nil}, {job.ID, 2, "yes", appliance.ErrNoQuestion},
		} {
			if err := ctl.Jobs().Answer(tc.id, tc.number, tc.said); !errors.Is(err, tc.err) {
				t.Errorf("job %s, question %d, %q: %v, want %v", tc.id, tc.number, tc.said, err, tc.err)
			}
			synctest.Wait()
		}
		if j := over(ctl, job.ID); j.State != appliance.JobDone || !slices.Equal(said, []string{"no", "whatever"}) {
			t.Errorf("%s %s: said %q", j.State, j.Err, said)
		}
	})
}
