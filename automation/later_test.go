package automation

import (
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// warnThenOff dims at noon, is off two minutes later, and closes the shades then.
func warnThenOff(at appliance.Trigger) appliance.Rule {
	return appliance.Rule{ID: 1, Name: "Warn", When: at, Actions: []appliance.Action{
		{Kind: appliance.LightLevel, Level: 30, Target: study},
		{Kind: appliance.LightOff, Target: study, After: 2 * time.Minute},
		{Kind: appliance.ShadeClose, Target: study, After: 2 * time.Minute},
	}}
}

var atNoon = appliance.Trigger{Kind: appliance.AtTime, Minute: 12 * 60}

// acts lets time pass and tells what is commanded then.
func acts(t *testing.T, e *engine, at time.Time, s *appliance.Snapshot) (said []string) {
	t.Helper()
	for _, f := range e.tick(at, s) {
		if f.left != "" {
			said = append(said, "left: "+f.left)
			continue
		}
		list, left := e.commands(f, s)
		for _, c := range list {
			said = append(said, c.Kind.Word()+" "+c.Origin.Why)
		}
		if left != "" {
			said = append(said, left)
		}
	}
	return said
}

func TestWarnThenOff(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(e *engine, s *appliance.Snapshot) *appliance.Snapshot
		after     time.Duration // the warning
		want      []string
	}{
		"off":      {nil, 2 * time.Minute, []string{"light-off at 12:00, 2 min later", "shade-close at 12:00, 2 min later"}},
		"not yet":  {nil, 2*time.Minute - time.Second, nil},
		"too late": {nil, 4 * time.Minute, []string{"left: the controller, or its clock, was not ready at that time"}},
		"somebody touched a lamp": {func(e *engine, s *appliance.Snapshot) *appliance.Snapshot {
			e.hand(appliance.Entry{AcceptedAt: midday.Add(time.Minute), Command: appliance.Command{Kind: appliance.LightOn, Origin: appliance.Origin{Who: "anna", Via: "pages"}},
				Members: []appliance.Member{{Ref: appliance.Ref{Node: 2, Channel: 1}}}})
			return s
		}, 2 * time.Minute, []string{"light-off at 12:00, 2 min later", "shade-close at 12:00, 2 min later", "Ceiling was set by anna"}},
		"somebody had touched it before": {func(e *engine, s *appliance.Snapshot) *appliance.Snapshot {
			e.hand(appliance.Entry{AcceptedAt: midday.Add(-time.Minute), Command: appliance.Command{Kind: appliance.LightOn, Origin: appliance.Origin{Who: "anna", Via: "pages"}},
				Members: []appliance.Member{{Ref: appliance.Ref{Node: 2, Channel: 1}}}})
			return s
		}, 2 * time.Minute, []string{"light-off at 12:00, 2 min later", "shade-close at 12:00, 2 min later"}},
		"the rule was changed": {func(e *engine, s *appliance.Snapshot) *appliance.Snapshot {
			r := warnThenOff(atNoon)
			r.Actions = r.Actions[:2]
			return siteOf([]appliance.Rule{r}, appliance.Division{})
		}, 2 * time.Minute, []string{"left: the rule was changed meanwhile"}},
		"the rule was removed": {func(*engine, *appliance.Snapshot) *appliance.Snapshot { return siteOf(nil, appliance.Division{}) },
			2 * time.Minute, []string{"left: the rule was changed meanwhile"}},
	} {
		s := siteOf([]appliance.Rule{warnThenOff(atNoon)}, appliance.Division{})
		e := newEngine(midday.Add(-time.Minute))
		e.tick(midday.Add(-time.Second), s)
		if got := strings.Join(acts(t, e, midday, s), "; "); got != "light-level at 12:00" {
			t.Fatalf("%s: at noon %q", name, got)
		}
		if next := e.next(midday.Add(100 * time.Second)); !next.Equal(midday.Add(2 * time.Minute)) {
			t.Errorf("%s: it looks again at %v", name, next)
		}
		now := s
		if c.meanwhile != nil {
			now = c.meanwhile(e, s)
		}
		got := acts(t, e, midday.Add(c.after), now)
		if strings.Join(got, "; ") != strings.Join(c.want, "; ") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if more := acts(t, e, midday.Add(c.after+time.Hour), now); c.after >= 2*time.Minute && len(more) > 0 {
			t.Errorf("%s: later again %q", name, more)
		}
	}
}

// A rule that has reason to act again begins anew; what was to come of the first time does not.
func TestAgainBeginsAnew(t *testing.T) {
	power := appliance.Trigger{Kind: appliance.OnValue, Node: 3, Quantity: appliance.OfPower, Limit: 100}
	s := siteOf([]appliance.Rule{warnThenOff(power)}, appliance.Division{})
	e := newEngine(midday)
	var said []string
	for i, watts := range []float64{50, 150, 50, 150, 150, 150, 150} {
		said = append(said, acts(t, e, midday.Add(time.Duration(i)*40*time.Second), with(s, 3, watts))...)
	}
	// It passes the limit after 40 and after 120 s: off 120 s after the second.
	want := []string{"light-level power of Meter above 100 W", "light-level power of Meter above 100 W", "light-off power of Meter above 100 W, 2 min later", "shade-close power of Meter above 100 W, 2 min later"}
	if strings.Join(said, "; ") != strings.Join(want, "; ") {
		t.Errorf("%q, want %q", said, want)
	}
}

// What would have happened by the history is what the engine does with the same values.
func TestATrialIsWhatTheEngineDoes(t *testing.T) {
	power := appliance.Trigger{Kind: appliance.OnValue, Node: 3, Quantity: appliance.OfPower, Limit: 100, For: 3 * time.Minute, Days: 1} // on Mondays
	track := appliance.Track{Ref: appliance.Ref{Node: 3, Channel: 1}, Aspect: appliance.PowerAspect}
	rule := off(1, power)
	trial, e := newTrial(rule, appliance.Division{}, midday), newEngine(midday)
	s := siteOf([]appliance.Rule{rule}, appliance.Division{})
	var acted []time.Time
	watts := []float64{150, 50, 150, 150, 150, 150, 50, 150, 50, 150, 150, 150, 150, 150}
	for day := range 8 {
		for i, v := range watts {
			at := midday.AddDate(0, 0, day).Add(time.Duration(i) * time.Minute)
			trial.take(appliance.Past{At: at, Track: track, Value: v, Known: true})
			for _, f := range e.tick(at, with(s, 3, v)) {
				acted = append(acted, f.at)
			}
		}
	}
	got := trial.until(midday.AddDate(0, 0, 9))
	if len(acted) != 4 || len(got) != len(acted) {
		t.Fatalf("the engine acted at %v, the trial says %v", acted, got)
	}
	for i := range got {
		if !got[i].Equal(acted[i]) {
			t.Errorf("time %d: %v, the engine %v", i, got[i], acted[i])
		}
	}
	clock := newTrial(off(2, appliance.Trigger{Kind: appliance.AtTime, Minute: 8 * 60, Days: 1}), appliance.Division{}, midday)
	if times := clock.until(midday.AddDate(0, 0, 21)); len(times) != 3 {
		t.Errorf("on three Mondays: %v", times)
	}
}
