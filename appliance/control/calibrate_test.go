package control_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
)

// person watches the true state of a shade.
type person struct {
	c        *copper
	reaction time.Duration
	begin    func(appliance.Leg) error // before a leg; nil: goes on
	moves    int                       // times that progress was told
	legs     []appliance.Leg
	unread   bool              // it was asked whether the shade stands before its relay was on
	again    []appliance.Again // each time that it was asked whether the shade stands

	early  int           // answers so often, in timed legs, before the shade stands
	after  time.Duration // so soon
	really bool          // is sure of what seems unlike
	sure   []time.Duration
}

func (p *person) Begin(_ context.Context, leg appliance.Leg) error {
	p.legs = append(p.legs, leg)
	if p.begin != nil {
		return p.begin(leg)
	}
	return nil
}

func (p *person) Sure(_ context.Context, _ appliance.Leg, took, other time.Duration) (bool, error) {
	p.sure = append(p.sure, took, other)
	if len(p.sure) > 100 {
		return false, errors.New("asked without end")
	}
	return p.really, nil
}

func (p *person) Stands(ctx context.Context, leg appliance.Leg, again appliance.Again) error {
	p.again = append(p.again, again)
	if leg.Run > 0 && again == "" && p.c.moving(5001) == appliance.Stopped && p.early > 0 {
		p.unread = true
	}
	if p.early > 0 && leg.Run > 0 {
		p.early--
		time.Sleep(p.after)
		return nil
	}
	for ctx.Err() == nil {
		time.Sleep(10 * time.Millisecond)
		if p.c.stands(5001) {
			time.Sleep(p.reaction)
			return nil
		}
	}
	return ctx.Err()
}

func (p *person) Progress(appliance.Progress) { p.moves++ }

func (p *person) Measured(appliance.Leg, time.Duration, time.Duration) {}

// stands tells whether a shade is really still.
func (c *copper) stands(id appliance.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.motors[id].advance()
	return c.motors[id].dir == 0
}

// place is where a shade really is.
func (c *copper) place(id appliance.ID) float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.motors[id].advance()
	return c.motors[id].at
}

func calibrate(ctl *control.Controller, w control.Watcher, runs int) (control.Calibrated, error) {
	return ctl.Calibrate(context.Background(), control.Calibration{Shade: 5001, Runs: runs, By: appliance.Origin{Via: "console"}}, w)
}

// within reports whether the truth is where the measurement says.
func within(t *testing.T, what string, got appliance.Travel, truth time.Duration) {
	t.Helper()
	t.Logf("%s: %v ± %v, spread %v of %v; truly %v", what, got.Mean, got.Uncertainty, got.Spread, got.Runs, truth)
	if off := got.Mean - truth; off > got.Uncertainty || -off > got.Uncertainty {
		t.Errorf("%s: %v ± %v, and it is %v", what, got.Mean, got.Uncertainty, truth)
	}
	if got.Uncertainty > truth/10 {
		t.Errorf("%s: ± %v is too little known of %v", what, got.Uncertainty, truth)
	}
}

func TestShadeThatTellsItsPositionIsTimedByReading(t *testing.T) {
	for _, at := range []float64{0, 42, 100} {
		synctest.Test(t, func(t *testing.T) {
			c := newCopper()
			c.measured = true
			c.motors[5001] = &motor{up: 14300 * time.Millisecond, down: 11700 * time.Millisecond, at: at, top: 100}
			ctl, stop := run(t, c, siteOf("shade"), nil)
			defer stop()
			time.Sleep(time.Second)
			p := &person{c: c}
			res, err := calibrate(ctl, p, 2)
			if err != nil {
				t.Fatal(err)
			}
			within(t, "up", res.Up, 14300*time.Millisecond)
			within(t, "down", res.Down, 11700*time.Millisecond)
			if !res.Measured || len(res.Up.Runs) != 2 || len(p.legs) != 5 || p.moves == 0 {
				t.Errorf("%+v in legs %+v with progress told %d times", res, p.legs, p.moves)
			}
		})
	}
}

// A leg on which this machine woke too late to read proves nothing about the shade: it is run again.
func TestALegThatCouldNotBeReadIsRunAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		late func(run int) bool // on its way down
		want string
	}{
		"once":   {func(run int) bool { return run == 1 }, ""},
		"always": {func(int) bool { return true }, "read too rarely"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCopper()
				c.measured = true
				c.motors[5001] = &motor{up: 14300 * time.Millisecond, down: 11700 * time.Millisecond, at: 42, top: 100}
				var asleep atomic.Int64 // until then, on the clock of the bubble
				c.fail = func(_ appliance.ID, write bool) error {
					if !write && time.Now().UnixNano() < asleep.Load() {
						return appliance.ErrOverslept
					}
					return nil
				}
				ctl, stop := run(t, c, siteOf("shade"), nil)
				defer stop()
				time.Sleep(time.Second)
				p := &person{c: c}
				p.begin = func(leg appliance.Leg) error {
					if leg.Run > 0 && !leg.Up && tc.late(leg.Run) {
						asleep.Store(time.Now().Add(9 * time.Second).UnixNano())
					}
					return nil
				}
				res, err := calibrate(ctl, p, 1)
				if tc.want != "" {
					if err == nil || !strings.Contains(err.Error(), tc.want) {
						t.Errorf("%+v, %v, want %q", res, err, tc.want)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				within(t, "up", res.Up, 14300*time.Millisecond)
				within(t, "down", res.Down, 11700*time.Millisecond)
				if len(res.Down.Runs) != 1 || len(res.Up.Runs) != 2 {
					t.Errorf("timed down %v, up %v, want one and two", res.Down.Runs, res.Up.Runs)
				}
			})
		})
	}
}

func TestShadeOnRelaysIsTimedByAPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.motors[5001] = &motor{up: 23 * time.Second, down: 19 * time.Second, at: 30, top: 100}
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(time.Second)
		res, err := calibrate(ctl, &person{c: c, reaction: 300 * time.Millisecond}, 0)
		if err != nil {
			t.Fatal(err)
		}
		within(t, "up", res.Up, 23*time.Second)
		within(t, "down", res.Down, 19*time.Second)
		if m := c.moving(5001); m != appliance.Stopped {
			t.Errorf("the relays are left on: %v", m)
		}
		time.Sleep(time.Second)
		sh := ctl.Snapshot().Shade(5001)
		if sh.Position.Value != 100 || sh.Uncertainty != 0 {
			t.Errorf("somebody saw it stand at its upper end, and it is shown at %v ± %d", sh.Position, sh.Uncertainty)
		}
		// The new times are used at once, and no bus is opened anew.
		site := siteOf("shade")
		site.Shades[0].TravelUp, site.Shades[0].TravelDown = res.Up.Mean, res.Down.Mean
		ctl.Apply(site, nil)
		do(t, ctl, position(5001, 50))
		time.Sleep(15 * time.Second)
		if at := c.place(5001); at < 47 || at > 53 {
			t.Errorf("sent to 50 %%, it stands at %v", at)
		}
	})
}

// Without travel times the place where somebody saw it stand is known until it
// moves.
func TestUncalibratedShadeForgetsItsPlaceWhenItMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		site := siteOf("shade")
		site.Shades[0].TravelUp = 0
		ctl, stop := run(t, c, site, nil)
		defer stop()
		time.Sleep(time.Second)
		if _, err := calibrate(ctl, &person{c: c}, 1); err != nil {
			t.Fatal(err)
		}
		if p := ctl.Snapshot().Shade(5001).Position; p.Value != 100 {
			t.Errorf("seen at its upper end, and shown as %+v", p)
		}
		site = siteOf("shade")
		ctl.Apply(site, nil)
		for range 5 {
			time.Sleep(30 * time.Millisecond)
			if p := ctl.Snapshot().Shade(5001).Position; p.Value != 100 {
				t.Errorf("with its travel times set, shown as %+v", p)
			}
		}
		site = siteOf("shade")
		site.Shades[0].TravelUp = 0
		ctl.Apply(site, nil)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: one(5001)})
		time.Sleep(5 * time.Second)
		if p := ctl.Snapshot().Shade(5001).Position; p.OK() {
			t.Errorf("on its way for 5 s, and shown as %+v", p)
		}
	})
}

func TestRunsThatDisagreeAreRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(time.Second)
		p := &person{c: c}
		p.begin = func(leg appliance.Leg) error {
			p.reaction = 0
			if leg.Run == 2 {
				p.reaction = 4 * time.Second // not watching
			}
			return nil
		}
		res, err := calibrate(ctl, p, 0)
		if err != nil {
			t.Fatal(err)
		}
		within(t, "up", res.Up, 20*time.Second)
		if len(res.Up.Runs) != 3 {
			t.Errorf("%d runs, want a third after two that disagree: %v", len(res.Up.Runs), res.Up.Runs)
		}
		p.begin = func(leg appliance.Leg) error {
			p.reaction = time.Duration(leg.Run) * 3 * time.Second
			return nil
		}
		if res, err := calibrate(ctl, p, 0); err == nil || !strings.Contains(err.Error(), "disagree") {
			t.Errorf("%+v, %v: want runs that never agree to be refused", res, err)
		}
	})
}

// Whoever is in the room wins: a command through any door ends the run, and a way
// nobody follows any more is not left to run on.
func TestAnotherCommandEndsTheRun(t *testing.T) {
	for _, tc := range []struct {
		name string
		cmd  appliance.Command
		then appliance.Motion
	}{
		{"STOP", appliance.Command{Kind: appliance.ShadeStop, Target: everything}, appliance.Stopped},
		{"the other way", appliance.Command{Kind: appliance.ShadeOpen, Target: everything}, appliance.Opening},
		{"what cannot be done", position(5001, 50), appliance.Stopped}, // without travel times
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCopper()
				site := siteOf("shade")
				site.Shades[0].TravelUp = 0
				ctl, stop := run(t, c, site, nil)
				defer stop()
				time.Sleep(time.Second)
				done := make(chan error, 1)
				p := &person{c: c}
				go func() {
					_, err := calibrate(ctl, p, 1)
					done <- err
				}()
				for c.moving(5001) != appliance.Closing {
					time.Sleep(100 * time.Millisecond)
				}
				time.Sleep(3 * time.Second)
				tc.cmd.Origin = appliance.Origin{Via: "public-api", Who: "mira"}
				do(t, ctl, tc.cmd)
				time.Sleep(40 * time.Millisecond)
				if m := c.moving(5001); m != tc.then {
					t.Errorf("the motor is %v, want %v", m, tc.then)
				}
				err := <-done
				if !errors.Is(err, control.ErrInterrupted) || !strings.Contains(err.Error(), "mira") {
					t.Errorf("the run ended with %v, want it to name who interrupted", err)
				}
				time.Sleep(time.Minute)
				if m := c.moving(5001); m != tc.then {
					t.Errorf("a minute later the motor is %v, want %v", m, tc.then)
				}
			})
		})
	}
}

func TestShadeOnTrialIsStoppedWhenTheOtherCommandFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(time.Second)
		done := make(chan error, 1)
		go func() {
			_, err := calibrate(ctl, &person{c: c}, 1)
			done <- err
		}()
		for c.moving(5001) != appliance.Closing {
			time.Sleep(100 * time.Millisecond)
		}
		c.set(func() { c.fail = onWrite(appliance.ErrRefused) })
		fails(t, ctl, appliance.Command{Kind: appliance.ShadeOpen, Target: everything})
		c.set(func() { c.fail = nil })
		if err := <-done; !errors.Is(err, control.ErrInterrupted) {
			t.Errorf("the run ended with %v", err)
		}
		time.Sleep(time.Second)
		if m := c.moving(5001); m != appliance.Stopped {
			t.Errorf("the motor is %v, and nobody is left to stop it", m)
		}
	})
}

func TestAbandonedRunStopsTheShadeWithinAFrame(t *testing.T) {
	for _, measured := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := newCopper()
			c.measured = measured
			ctl, stop := run(t, c, siteOf("shade"), nil)
			defer stop()
			time.Sleep(time.Second)
			ctx, gone := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				_, err := ctl.Calibrate(ctx, control.Calibration{Shade: 5001}, &person{c: c})
				done <- err
			}()
			time.Sleep(3 * time.Second)
			if c.stands(5001) {
				t.Fatal("it does not move yet")
			}
			_, mark := c.frames(0)
			left := time.Now()
			gone()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("the run ended with %v", err)
			}
			frames, _ := c.frames(mark)
			for i, f := range frames {
				if f.write {
					if took := f.at.Sub(left); f.what != "stop" || took > c.airtime || i > 1 {
						t.Errorf("%q %v after the client left, behind %d frames; want a stop within one frame", f.what, took, i)
					}
					break
				}
			}
			at := c.place(5001)
			time.Sleep(time.Minute)
			if now := c.place(5001); now != at || !c.stands(5001) {
				t.Errorf("it ran on from %v to %v", at, now)
			}
			// And the shade is free again.
			if _, err := ctl.Try(5001, appliance.Origin{}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRunNoticesWhatIsWrongWithTheShade(t *testing.T) {
	for _, tc := range []struct {
		name     string
		measured bool
		trouble  func(c *copper)
		want     string
	}{
		{"blocked", true, func(c *copper) { c.motors[5001].top, c.motors[5001].at = 60, 40 }, "stopped at 60 %"},
		{"narrow limits", true, func(c *copper) { c.motors[5001].top, c.motors[5001].at = 98, 40 }, ""},
		{"moved at the wall", false, func(c *copper) { c.motion[5001] = appliance.Closing }, "at the wall"},
		{"actuator switches off", false, func(c *copper) { c.motion[5001] = appliance.Stopped }, "switched off by itself"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCopper()
				c.measured = tc.measured
				ctl, stop := run(t, c, siteOf("shade"), nil)
				defer stop()
				time.Sleep(time.Second)
				if tc.measured {
					c.set(func() { tc.trouble(c) })
				}
				done := make(chan error, 1)
				go func() {
					_, err := calibrate(ctl, &person{c: c}, 1)
					done <- err
				}()
				if !tc.measured {
					for c.place(5001) < 100 || !c.stands(5001) || c.moving(5001) != appliance.Opening {
						time.Sleep(20 * time.Millisecond) // up, down …
					}
					for c.place(5001) > 0 {
						time.Sleep(20 * time.Millisecond)
					}
					time.Sleep(8 * time.Second) // and half the way up
					c.set(func() { tc.trouble(c) })
				}
				err := <-done
				if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
					t.Errorf("got %v, want %q", err, tc.want)
				}
			})
		})
	}
}

func TestOneRunAShade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("shade", "dimmer"), nil)
		defer stop()
		time.Sleep(time.Second)
		on, err := ctl.Try(5001, appliance.Origin{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := calibrate(ctl, &person{c: c}, 1); !errors.Is(err, control.ErrOnTrial) {
			t.Errorf("a second run: %v", err)
		}
		if e := do(t, ctl, level(everything, 30)); !e.OK() {
			t.Errorf("lights while a shade is on trial: %s", e.Err)
		}
		if err := on.End(); err != nil {
			t.Error(err)
		}
		for what, err := range map[string]error{
			"no such shade": func() error { _, err := ctl.Try(7, appliance.Origin{}); return err }(),
			"too many runs": func() error { _, err := calibrate(ctl, &person{c: c}, 99); return err }(),
		} {
			if !errors.Is(err, appliance.ErrNotFound) && !errors.Is(err, appliance.ErrOutOfRange) {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

func TestDirectionIsFoundByWatching(t *testing.T) {
	for _, tc := range []struct {
		name               string
		measured, inverted bool
		at                 float64
		stuck              bool
	}{
		{"relays as wired", false, false, 50, false},
		{"relays swapped", false, true, 50, false},
		{"relays, at the upper end", false, false, 100, false},
		{"relays swapped, at the upper end", false, true, 100, false},
		{"motor as set", true, false, 30, false},
		{"motor set the wrong way", true, true, 30, false},
		{"motor at its upper end", true, false, 100, false},
		{"stuck", false, false, 50, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCopper()
				c.measured = tc.measured
				c.motors[5001] = &motor{up: 20 * time.Second, down: 20 * time.Second, at: tc.at, top: 100, inverted: tc.inverted, stuck: tc.stuck}
				ctl, stop := run(t, c, siteOf("shade"), nil)
				defer stop()
				time.Sleep(time.Second)
				before := c.place(5001)
				got, err := ctl.FindDirection(t.Context(), control.Nudge{Shade: 5001}, func(context.Context, bool) (control.Went, error) {
					defer func() { before = min(before, 100) }()
					switch now := c.place(5001); {
					case now > before+1:
						return control.WentUp, nil
					case now < before-1:
						return control.WentDown, nil
					}
					return control.WentNowhere, nil
				})
				if tc.stuck {
					if err == nil {
						t.Error("a direction was found of a shade that does not move")
					}
					return
				}
				if err != nil || got != tc.inverted {
					t.Errorf("inverted %v, %v; want %v", got, err, tc.inverted)
				}
				if now := c.place(5001); now < before-2 || now > before+2 || !c.stands(5001) {
					t.Errorf("it was at %v before and is at %v", before, now)
				}
			})
		})
	}
}

// Turning a shade round changes what its position is called, not where it stands.
func TestInvertedShadeKeepsItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("shade"), &memory{})
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(30 * time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeStop, Target: everything})
		site := siteOf("shade")
		site.Shades[0].Inverted = true
		ctl.Apply(site, nil)
		time.Sleep(2 * time.Second)
		if p := ctl.Snapshot().Shade(5001).Position; p.Value != 100 {
			t.Errorf("what was 0 is now %+v, want 100", p)
		}
	})
}

// What was known of a shade that now hangs off another output is that of another motor.
func TestShadeOnAnotherOutputIsSomewhereElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("shade"), &memory{})
		defer stop()
		time.Sleep(time.Second)
		do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
		time.Sleep(30 * time.Second)
		site := siteOf("shade")
		site.Shades[0].Output = 2
		ctl.Apply(site, nil)
		time.Sleep(2 * time.Second)
		if p := ctl.Snapshot().Shade(5001).Position; p.OK() {
			t.Errorf("it is said to be at %+v", p)
		}
	})
}

// Answers that cannot be are asked for again: before the relay was read on, sooner than any shade, unlike the other way.
func TestAnAnswerThatCannotBeIsAskedAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		p     person
		again []appliance.Again // that the person was told
	}{
		"at once":        {person{early: 1, after: 0}, []appliance.Again{appliance.AgainSoon}},
		"after a second": {person{early: 1, after: 1500 * time.Millisecond}, []appliance.Again{appliance.AgainSoon}},
		"twice too soon": {person{early: 2, after: 800 * time.Millisecond}, []appliance.Again{appliance.AgainSoon}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCopper()
				ctl, stop := run(t, c, siteOf("shade"), nil)
				defer stop()
				time.Sleep(time.Second)
				p := tc.p
				p.c = c
				res, err := calibrate(ctl, &p, 0)
				if err != nil {
					t.Fatal(err)
				}
				within(t, "up", res.Up, 20*time.Second)
				within(t, "down", res.Down, 20*time.Second)
				for _, want := range tc.again {
					if !slices.Contains(p.again, want) {
						t.Errorf("asked %q, want %q among it", p.again, want)
					}
				}
				if p.unread {
					t.Error("asked before the relay was read on")
				}
				if len(res.Down.Runs) != 2 || len(res.Up.Runs) != 2 {
					t.Errorf("an answer that was asked for again costs a run: %+v", res)
				}
			})
		})
	}
}

// One way that takes less than half of the other is asked about: who was too early goes on watching, who is sure is believed when it was measured once more.
func TestUnlikeWaysAreAskedAbout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(time.Second)
		p := &person{c: c}
		p.begin = func(leg appliance.Leg) error {
			if leg.Number == 3 {
				p.early, p.after = 1, 7*time.Second // pressed by mistake
			}
			return nil
		}
		res, err := calibrate(ctl, p, 0)
		if err != nil {
			t.Fatal(err)
		}
		within(t, "up", res.Up, 20*time.Second)
		if len(p.sure) != 2 || len(res.Up.Runs) != 2 {
			t.Errorf("asked whether it is sure: %v; runs %v", p.sure, res.Up.Runs)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.motors[5001] = &motor{up: 30 * time.Second, down: 12 * time.Second, at: 30, top: 100}
		ctl, stop := run(t, c, siteOf("shade"), nil)
		defer stop()
		time.Sleep(time.Second)
		p := &person{c: c, really: true, reaction: 200 * time.Millisecond}
		res, err := calibrate(ctl, p, 1)
		if err != nil {
			t.Fatal(err)
		}
		within(t, "up", res.Up, 30*time.Second)
		within(t, "down", res.Down, 12*time.Second)
		if len(res.Up.Runs) != 2 || len(p.sure) == 0 {
			t.Errorf("what is unlike was measured %d times, and asked about %d times", len(res.Up.Runs), len(p.sure)/2)
		}
	})
}
