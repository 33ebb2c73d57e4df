package automation

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// atLevels is the snapshot with lights at other levels; a negative one is not known.
func atLevels(s *appliance.Snapshot, levels map[appliance.ID]int) *appliance.Snapshot {
	out := *s
	out.Nodes = slices.Clone(s.Nodes)
	for i, n := range out.Nodes {
		if l, has := levels[n.Node.ID]; has {
			now := *n
			now.Level = appliance.Known[appliance.Level]{}
			if l >= 0 {
				now.Level = appliance.Known[appliance.Level]{Value: appliance.Level(l), Source: appliance.Measured}
			}
			out.Nodes[i] = &now
		}
	}
	return &out
}

// lit are the lights of the study at two levels, and rules for it.
func lit(one, two int, rules ...appliance.Rule) *appliance.Snapshot {
	return atLevels(siteOf(rules, appliance.Division{}), map[appliance.ID]int{1: one, 2: two})
}

func fadeTo(level appliance.Level, over time.Duration) appliance.Action {
	a := appliance.Action{Kind: appliance.LightLevel, Level: level, Target: study, Over: over}
	if level == 0 {
		a.Kind = appliance.LightOff
	}
	return a
}

func doing(id appliance.ID, minute int, actions ...appliance.Action) appliance.Rule {
	return appliance.Rule{ID: id, Name: fmt.Sprint("Fade ", id), When: appliance.Trigger{Kind: appliance.AtTime, Minute: 12*60 + minute}, Actions: actions}
}

// clockwork lets an engine go through time, and notes what it commands.
type clockwork struct {
	*engine
	now  time.Time
	said []string // "seconds after noon: light at level", of the whole study "study"
	left []string // of fades that are over
}

func fromNoon(s *appliance.Snapshot) *clockwork {
	c := &clockwork{engine: newEngine(midday.Add(-time.Minute)), now: midday.Add(-time.Second)}
	c.tick(c.now, s)
	return c
}

// jump lets time pass at once.
func (c *clockwork) jump(to time.Duration, s *appliance.Snapshot) {
	c.now = midday.Add(to)
	for _, f := range c.tick(c.now, s) {
		var list []appliance.Command
		switch {
		case f.left != "":
		case f.fade != nil:
			list = c.step(f, s)
		default:
			list, _ = c.engine.commands(f, s)
		}
		for _, cmd := range list {
			who := "study"
			if cmd.Target != study {
				who = fmt.Sprint("light ", cmd.Target.ID)
			}
			what := fmt.Sprint(cmd.Level)
			if cmd.Kind == appliance.LightOff {
				what = "off"
			}
			c.said = append(c.said, fmt.Sprintf("%g: %s %s", to.Seconds(), who, what))
		}
		if f.fade != nil && (f.left != "" || f.fade.seen == f.fade.steps) {
			c.left = append(c.left, strings.Trim(f.fade.run().Left+"; "+f.left, "; "))
		}
	}
}

// pass lets time pass as the rules do: it looks when the engine says so.
func (c *clockwork) pass(to time.Duration, s *appliance.Snapshot) {
	for {
		next := later(c.next(c.now), c.now.Add(time.Millisecond))
		if next.After(midday.Add(to)) {
			return
		}
		c.jump(next.Sub(midday), s)
	}
}

func (c *clockwork) touch(id appliance.ID) {
	c.hand(appliance.Entry{AcceptedAt: c.now, Command: appliance.Command{Origin: appliance.Origin{Who: "anna", Via: "pages"}},
		Members: []appliance.Member{{Ref: appliance.Ref{Node: id, Channel: 1}}}})
}

func (c *clockwork) want(t *testing.T, about string, want ...string) {
	t.Helper()
	if !slices.Equal(c.said, want) {
		t.Errorf("%s: %q, want %q", about, c.said, want)
	}
}

func TestAFadeEndsAtItsGoalInTime(t *testing.T) {
	for _, c := range []struct {
		from, to int
		over     time.Duration
		steps    int
	}{
		{20, 80, time.Minute, 30},      // every 2 s
		{20, 80, time.Hour, 60},        // every percent
		{0, 100, 2 * time.Hour, 100},   //
		{80, 0, 30 * time.Minute, 80},  //
		{100, 99, time.Minute, 1},      // the goal only, at the end
		{50, 50, time.Minute, 1},       //
		{0, 100, 4 * time.Second, 2},   //
		{3, 0, 10 * time.Second, 3},    //
		{40, 90, 5 * time.Second, 2},   // no step is nearer to the next than 2 s
		{90, 7, 17 * time.Second, 8},   //
		{7, 90, 333 * time.Second, 83}, //
	} {
		s := lit(c.from, c.from, doing(1, 0, fadeTo(appliance.Level(c.to), c.over)))
		w := fromNoon(s)
		var last time.Duration
		level := c.from
		for n := 1; n <= c.steps; n++ {
			for done := len(w.said); len(w.said) == done && w.now.Sub(midday) <= c.over+time.Second; {
				w.jump(max(w.next(w.now).Sub(midday), w.now.Sub(midday)+time.Millisecond), s)
			}
			at := w.now.Sub(midday)
			if gap := at - last; gap < fadeApart-2*time.Millisecond {
				t.Errorf("%+v: step %d comes %v after the one before", c, n, gap)
			}
			var is int
			text := w.said[len(w.said)-1]
			if _, err := fmt.Sscanf(text[strings.Index(text, "study"):], "study %d", &is); err != nil && !strings.HasSuffix(text, "study off") {
				t.Fatalf("%+v: step %d is %q", c, n, text)
			}
			if n < c.steps && is == level || (is-level)*(c.to-c.from) < 0 {
				t.Errorf("%+v: step %d goes from %d to %d", c, n, level, is)
			}
			last, level = at, is
		}
		if off := last - c.over; level != c.to || off < 0 || off > 2*time.Millisecond || c.to == 0 && !strings.HasSuffix(w.said[len(w.said)-1], "off") {
			t.Errorf("%+v: it ends with %q after %v", c, w.said[len(w.said)-1], last)
		}
		done := len(w.said)
		if w.pass(c.over+time.Hour, s); done != c.steps || len(w.said) != done || len(w.fades) != 0 || !slices.Equal(w.left, []string{""}) {
			t.Errorf("%+v: %d steps, and afterwards %q; it left %q", c, done, w.said[done:], w.left)
		}
	}
}

func TestEachLightFadesFromItsOwnLevel(t *testing.T) {
	for name, c := range map[string]struct {
		one, two int
		to       appliance.Level
		want     []string
		left     string
	}{
		"together":                  {50, 48, 80, []string{"2: study 60", "4: study 70", "6: study 80"}, ""},
		"apart":                     {20, 80, 50, []string{"2: light 1 30", "2: light 2 70", "4: light 1 40", "4: light 2 60", "6: study 50"}, ""},
		"what is off stays off":     {60, 0, 0, []string{"2: light 1 40", "4: light 1 20", "6: study off"}, ""},
		"what is there stays there": {30, 60, 60, []string{"2: light 1 40", "4: light 1 50", "6: study 60"}, ""},
		"one is not known":          {20, -1, 50, []string{"2: study 30", "4: study 40", "6: study 50"}, ""},
		"none is known":             {-1, -1, 50, []string{"6: study 50"}, "the level from which it was to fade was not known"},
	} {
		s := lit(c.one, c.two, doing(1, 0, fadeTo(c.to, 6*time.Second)))
		w := fromNoon(s)
		for sec := range 10 {
			w.jump(time.Duration(sec)*time.Second, s)
		}
		w.want(t, name, c.want...)
		if !slices.Equal(w.left, []string{c.left}) {
			t.Errorf("%s: left %q", name, w.left)
		}
	}
	// What the rule does before that counts.
	s := lit(10, 0, doing(1, 0, appliance.Action{Scene: 1}, fadeTo(0, 6*time.Second)))
	w := fromNoon(s)
	for sec := range 10 {
		w.jump(time.Duration(sec)*time.Second, s)
	}
	w.want(t, "behind a scene", "0: study 30", "2: study 20", "4: study 10", "6: study off")
}

func TestWhatHappensToAFade(t *testing.T) {
	fade := doing(1, 0, fadeTo(80, 8*time.Second))
	s := lit(40, 40, fade)
	elsewhere := func(r ...appliance.Rule) *appliance.Snapshot { return lit(40, 40, r...) }
	cut := doing(1, 0, fadeTo(70, 8*time.Second))
	disabled := fade
	disabled.Disabled = true
	for name, c := range map[string]struct {
		do   func(w *clockwork)
		want []string
		left string
	}{
		"somebody takes one light": {func(w *clockwork) { w.jump(3*time.Second, s); w.touch(2) },
			[]string{"3: study 50", "4: light 1 60", "6: light 1 70", "8: light 1 80"}, "Ceiling was set by anna"},
		"somebody takes both": {func(w *clockwork) { w.jump(3*time.Second, s); w.touch(1); w.touch(2) },
			[]string{"3: study 50"}, "Desk lamp was set by anna; Ceiling was set by anna"},
		"steps are overtaken":   {func(w *clockwork) { w.jump(7*time.Second, s) }, []string{"7: study 70", "8: study 80"}, ""},
		"the machine sleeps":    {func(w *clockwork) { w.jump(3*time.Second, s); w.jump(40*time.Second, s) }, []string{"3: study 50", "40: study 80"}, ""},
		"it sleeps for long":    {func(w *clockwork) { w.jump(3*time.Second, s); w.jump(2*time.Minute, s) }, []string{"3: study 50"}, notReady},
		"the clock is set back": {func(w *clockwork) { w.jump(3*time.Second, s); w.jump(-24*time.Hour, s) }, []string{"3: study 50"}, notReady},
		"the rule is changed":   {func(w *clockwork) { w.jump(3*time.Second, s); w.jump(4*time.Second, elsewhere(cut)) }, []string{"3: study 50"}, changedMeanwhile},
		"it is removed":         {func(w *clockwork) { w.jump(3*time.Second, s); w.jump(4*time.Second, elsewhere()) }, []string{"3: study 50"}, changedMeanwhile},
		"it is switched off":    {func(w *clockwork) { w.jump(3*time.Second, s); w.jump(4*time.Second, elsewhere(disabled)) }, []string{"3: study 50"}, changedMeanwhile},
		"another rule says other": {func(w *clockwork) {
			w.jump(3*time.Second, s)
			other := off(2, atNoon)
			w.engine.commands(firing{at: w.now, rule: &other, actions: other.Actions}, s)
		}, []string{"3: study 50"}, "rule Off took lights over"},
	} {
		w := fromNoon(s)
		w.jump(0, s)
		c.do(w)
		for sec := 4; sec < 10; sec++ {
			if to := time.Duration(sec) * time.Second; midday.Add(to).After(w.now) && w.now.After(midday) {
				w.jump(to, s)
			}
		}
		w.want(t, name, c.want...)
		if len(w.left) != 1 || !strings.HasPrefix(w.left[0], c.left) || c.left == "" && w.left[0] != "" {
			t.Errorf("%s: left %q, want %q", name, w.left, c.left)
		}
	}
}

// A step that is under way keeps the next from being sent, but not the last.
func TestAFadeWaitsForNoStep(t *testing.T) {
	s := lit(40, 40, doing(1, 0, fadeTo(80, 8*time.Second)))
	w := fromNoon(s)
	for sec := range 10 {
		if len(w.fades) > 0 {
			w.fades[0].busy = sec > 2
		}
		w.jump(time.Duration(sec)*time.Second, s)
	}
	w.want(t, "busy from the third second on", "2: study 50", "8: study 80")
}

func TestAFadeBeginsAnew(t *testing.T) {
	power := doing(1, 0, fadeTo(80, 8*time.Second))
	power.When = appliance.Trigger{Kind: appliance.OnValue, Node: 3, Quantity: appliance.OfPower, Limit: 100}
	s := lit(40, 40, power)
	w := fromNoon(s)
	for sec, watts := range []float64{50, 150, 150, 50, 150, 150, 150, 150, 150, 150, 150, 150, 150, 150, 150} {
		w.jump(time.Duration(sec)*time.Second, with(s, 3, watts))
	}
	w.want(t, "twice", "3: study 50", "6: study 50", "8: study 60", "10: study 70", "12: study 80")
	if len(w.left) != 2 || !strings.HasSuffix(w.left[0], "the rule began anew") {
		t.Errorf("left %q", w.left)
	}
	// Of two rules the one that began last has the lights.
	w = fromNoon(lit(40, 40, doing(1, 0, fadeTo(80, 3*time.Minute)), doing(2, 1, fadeTo(0, time.Minute))))
	w.pass(4*time.Minute, lit(40, 40, doing(1, 0, fadeTo(80, 3*time.Minute)), doing(2, 1, fadeTo(0, time.Minute))))
	if last := w.said[len(w.said)-1]; last != "120: study off" || len(w.left) != 2 {
		t.Errorf("at last %q, left %q", last, w.left)
	}
	// Later, and over a time; what is set in between is left alone.
	late := fadeTo(80, 8*time.Second)
	late.After = time.Minute
	s = lit(40, 40, doing(1, 0, late))
	w = fromNoon(s)
	w.jump(0, s)
	w.jump(30*time.Second, s)
	w.touch(1)
	w.pass(2*time.Minute, s)
	w.want(t, "a minute later", "62: light 2 50", "64: light 2 60", "66: light 2 70", "68: light 2 80")
}

// Lights that are commanded one by one take fewer steps, and what was too much is told.
func TestFadesAreBounded(t *testing.T) {
	rule := doing(1, 0, fadeTo(0, 10*time.Minute))
	var many []appliance.Node
	for i := range 60 {
		many = append(many, appliance.Node{ID: appliance.ID(100 + i)})
	}
	s := siteOf([]appliance.Rule{rule}, appliance.Division{}, many...)
	e := newEngine(midday)
	fd := &fade{at: midday, begun: midday, rule: &rule, action: rule.Actions[0], steps: 100, from: map[appliance.ID]appliance.Level{}}
	fd.action.Target = appliance.Target{Scope: appliance.All}
	for i, n := range s.Nodes {
		fd.from[n.Node.ID] = appliance.Level(100 - i)
	}
	sent := 0
	for step := 1; step <= 100; step++ {
		fd.seen = step
		list := e.step(firing{at: midday, begun: midday, rule: fd.rule, fade: fd}, s)
		if step == 100 && len(list) != 1 {
			t.Errorf("the end: %d commands", len(list))
		} else if step < 100 {
			sent += len(list)
		}
	}
	if sent > fadeMost || sent < fadeMost/2 {
		t.Errorf("%d commands before the end, bound %d", sent, fadeMost)
	}
	e.later = make([]firing, laterMost)
	for i := range e.later {
		e.later[i] = firing{at: midday.Add(time.Hour), begun: midday, rule: &appliance.Rule{ID: 99}}
	}
	f := firing{at: midday, rule: &rule, actions: []appliance.Action{fadeTo(0, time.Minute)}}
	e.begin(&f, s)
	if got := e.faded(midday, s); len(got) != 1 || !strings.Contains(got[0].left, "too many") || len(e.fades) != 0 {
		t.Errorf("one too many: %+v", got)
	}
}

// dimmed is a core whose lights are at a level, and which keeps a ledger.
type dimmed struct {
	*house
	snapshot *appliance.Snapshot
	entries  *appliance.Feed[appliance.Entry]
}

func (d *dimmed) Snapshot() *appliance.Snapshot             { return d.snapshot }
func (d *dimmed) Entries() *appliance.Feed[appliance.Entry] { return d.entries }

// A fade is one run, and each of its steps a command that says why.
func TestAFadeIsOneRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(midday.Add(-time.Second)))
		rule := doing(1, 0, fadeTo(80, time.Minute))
		rule.When.Minute = midday.Hour() * 60
		core := &dimmed{newHouse(500 * time.Millisecond), lit(20, 20, rule), appliance.NewFeed[appliance.Entry](100)}
		ctx, stop := context.WithCancel(t.Context())
		r := NewRules(core, time.Now(), slog.New(slog.DiscardHandler))
		done := make(chan error)
		go func() { done <- r.Run(ctx) }()
		time.Sleep(30 * time.Second)
		if runs := r.Runs(); len(runs) != 1 || runs[0].Left != "what it does comes later" {
			t.Errorf("half way: %+v", runs)
		}
		time.Sleep(time.Minute)
		runs, given := r.Runs(), core.commands()
		if len(given) != 30 || len(runs) != 2 || len(runs[0].Commands) != 30 || runs[0].Left != "" || runs[0].Why != "at 12:00, fading to 80 % over 1 min" {
			t.Errorf("%d commands; runs %+v", len(given), runs)
		}
		for _, c := range given {
			if c.Origin != (appliance.Origin{Who: "Fade 1", Via: byRule, Why: "at 12:00, fading to 80 % over 1 min"}) || !c.Expiry.IsZero() {
				t.Errorf("in the ledger: %+v", c)
			}
		}
		if last := given[len(given)-1]; last.Level != 80 {
			t.Errorf("it ends with %+v", last)
		}
		if _, err := r.Try(ctx, 1, appliance.Origin{Who: "anna"}); err != nil {
			t.Error(err)
		}
		if given = core.commands(); len(given) != 31 || given[30].Level != 80 {
			t.Errorf("tried: %+v", given[30:])
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
