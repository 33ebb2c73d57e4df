package automation

import (
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
)

// siteOf is a snapshot of a building with rules and nothing else but what a test puts there.
func siteOf(rules []appliance.Rule, d appliance.Division, more ...appliance.Node) *appliance.Snapshot {
	core := control.New(control.Options{})
	site := appliance.Site{Name: "House", Division: d, Rules: rules,
		Nodes:    append([]appliance.Node{{ID: 1, Name: "Desk lamp"}, {ID: 2, Name: "Ceiling"}, {ID: 3, Name: "Meter"}}, more...),
		Shades:   []appliance.Shade{{ID: 5001, Name: "Roller"}},
		Clusters: []appliance.Cluster{{ID: 1, Name: "Study", Nodes: []appliance.ID{1, 2}, Shades: []appliance.ID{5001}}},
		Scenes: []appliance.Scene{{ID: 1, Name: "Evening", Actions: []appliance.Action{
			{Kind: appliance.LightLevel, Level: 30, Target: appliance.Target{Scope: appliance.InCluster, ID: 1}}}}},
	}
	core.Apply(site, nil)
	s := *core.Snapshot()
	for i, n := range s.Nodes { // as if they hung off copper
		now := *n
		now.Online, now.Tag = true, appliance.TagNode
		if n.Node.ID == 3 {
			now.Tag = appliance.TagPeripheral
		} else {
			now.Abilities = appliance.CanDim | appliance.CanSwitch
		}
		s.Nodes[i] = &now
	}
	return &s
}

// with is the snapshot with another value.
func with(s *appliance.Snapshot, id appliance.ID, watts float64) *appliance.Snapshot {
	out := *s
	out.Nodes = append([]*appliance.NodeState(nil), s.Nodes...)
	for i, n := range out.Nodes {
		if n.Node.ID == id {
			now := *n
			now.Power = appliance.Known[float64]{Value: watts, Source: appliance.Measured}
			out.Nodes[i] = &now
		}
	}
	return &out
}

var (
	midday = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC) // a Monday
	study  = appliance.Target{Scope: appliance.InCluster, ID: 1}
)

func off(id appliance.ID, when appliance.Trigger) appliance.Rule {
	return appliance.Rule{ID: id, Name: "Off", When: when, Actions: []appliance.Action{{Kind: appliance.LightOff, Target: study}}}
}

func TestWhatWasDueWhileNothingRanIsLeft(t *testing.T) {
	at := func(minute int) appliance.Trigger { return appliance.Trigger{Kind: appliance.AtTime, Minute: minute} }
	s := siteOf([]appliance.Rule{off(1, at(12*60)), off(2, at(12*60+5))}, appliance.Division{})
	e := newEngine(midday.Add(-time.Minute))
	if got := e.tick(midday.Add(-time.Second), s); len(got) != 0 {
		t.Fatalf("before its time: %+v", got)
	}
	if got := e.tick(midday.Add(time.Second), s); len(got) != 1 || got[0].left != "" || got[0].why != "at 12:00" {
		t.Fatalf("at its time: %+v", got)
	}
	if got := e.tick(midday.Add(2*time.Second), s); len(got) != 0 {
		t.Fatalf("again: %+v", got)
	}
	// The machine sleeps over the next one.
	if got := e.tick(midday.Add(30*time.Minute), s); len(got) != 1 || got[0].left == "" {
		t.Errorf("half an hour late: %+v", got)
	}
	// The clock is set back: nothing comes twice; set back by a day, it is a new day.
	if got := e.tick(midday.Add(-time.Minute), s); len(got) != 0 {
		t.Errorf("set back: %+v", got)
	}
	if got := e.tick(midday.Add(time.Minute), s); len(got) != 0 {
		t.Errorf("set back, the same time again: %+v", got)
	}
	yesterday := midday.AddDate(0, 0, -1)
	e.tick(yesterday.Add(-time.Second), s)
	if got := e.tick(yesterday.Add(time.Second), s); len(got) != 1 {
		t.Errorf("after a wrong clock was put right: %+v", got)
	}
}

func TestNothingIsDueByAClockThatIsNotSet(t *testing.T) {
	s := siteOf([]appliance.Rule{off(1, appliance.Trigger{Kind: appliance.AtTime, Minute: 1})}, appliance.Division{})
	start := time.Date(1970, 1, 1, 0, 0, 30, 0, time.UTC)
	e := newEngine(start)
	e.tick(start, s)
	if got := e.tick(start.Add(time.Minute), s); len(got) != 0 {
		t.Errorf("in 1970: %+v", got)
	}
	if got := e.tick(midday, s); len(got) != 0 {
		t.Errorf("when the clock is set: %+v", got)
	}
	if got := e.tick(time.Date(2026, 11, 24, 0, 1, 1, 0, time.UTC), s); len(got) != 1 {
		t.Errorf("on the next day: %+v", got)
	}
}

func TestARuleThatIsNewWasNotDueBefore(t *testing.T) {
	e := newEngine(midday.Add(-time.Hour))
	e.tick(midday.Add(-time.Second), siteOf(nil, appliance.Division{}))
	s := siteOf([]appliance.Rule{off(1, appliance.Trigger{Kind: appliance.AtTime, Minute: 12 * 60})}, appliance.Division{})
	if got := e.tick(midday.Add(time.Second), s); len(got) != 0 {
		t.Errorf("made a second after its time: %+v", got)
	}
	// One that was there acts, even if the site changes in that very moment.
	e.tick(midday.AddDate(0, 0, 1).Add(-time.Second), s)
	if got := e.tick(midday.AddDate(0, 0, 1).Add(time.Second), siteOf(nil, appliance.Division{})); len(got) != 1 {
		t.Errorf("while the site changes: %+v", got)
	}
}

func TestAValueThatPassesItsLimitAndStaysThere(t *testing.T) {
	when := appliance.Trigger{Kind: appliance.OnValue, Node: 3, Quantity: appliance.OfPower, Limit: 3000, For: time.Minute}
	base := siteOf([]appliance.Rule{off(1, when)}, appliance.Division{})
	e := newEngine(midday)
	now := midday
	step := func(after time.Duration, watts float64, want int) {
		t.Helper()
		now = now.Add(after)
		got := e.tick(now, with(base, 3, watts))
		if len(got) != want {
			t.Errorf("%s, %v W: %d firings, want %d", now.Format(time.TimeOnly), watts, len(got), want)
		}
		for _, f := range got {
			if f.why != "power of Meter above 3000 W for 1 min" {
				t.Errorf("why: %s", f.why)
			}
		}
	}
	step(0, 4000, 0)              // it was there before anybody looked
	step(2*time.Minute, 4000, 0)  //
	step(time.Second, 2000, 0)    //
	step(time.Second, 3500, 0)    // beyond, not long enough
	step(30*time.Second, 2900, 0) // and back
	step(time.Second, 3500, 0)
	if got := e.next(now); !got.Equal(now.Add(30 * time.Second)) {
		t.Errorf("looks again at %v", got)
	}
	step(59*time.Second, 3500, 0)
	step(time.Second, 3500, 1)
	step(time.Minute, 3600, 0) // once only
	now = now.Add(time.Second)
	if got := e.tick(now, base); len(got) != 0 { // not known meanwhile: no event
		t.Errorf("unknown: %+v", got)
	}
	step(time.Second, 3600, 0)
}

func TestAStormIsBounded(t *testing.T) {
	when := appliance.Trigger{Kind: appliance.OnValue, Node: 3, Quantity: appliance.OfPower, Limit: 100}
	base := siteOf([]appliance.Rule{off(1, when)}, appliance.Division{})
	e := newEngine(midday)
	acted, told := 0, 0
	for i := range 3000 { // ten minutes of a value that flutters five times a second
		for _, f := range e.tick(midday.Add(time.Duration(i)*200*time.Millisecond), with(base, 3, float64(50+100*(i%2)))) {
			if f.left == "" {
				acted++
			} else {
				told++
			}
		}
	}
	if acted != stormMost || told == 0 {
		t.Errorf("acted %d times, want %d; told %d times why not", acted, stormMost, told)
	}
	later := midday.Add(time.Hour)
	e.tick(later, with(base, 3, 0))
	if got := e.tick(later.Add(time.Second), with(base, 3, 200)); len(got) != 1 || got[0].left != "" {
		t.Errorf("an hour later: %+v", got)
	}
}

func TestWhatSomebodySetByHandIsLeftAlone(t *testing.T) {
	rule := off(1, appliance.Trigger{Kind: appliance.AtTime, Minute: 12 * 60})
	rule.Yields = time.Hour
	rule.Actions = append(rule.Actions, appliance.Action{Kind: appliance.ShadeClose, Target: study})
	s := siteOf([]appliance.Rule{rule}, appliance.Division{})
	e := newEngine(midday.Add(-2 * time.Hour))
	set := func(at time.Time, via string, ref appliance.Ref) {
		e.hand(appliance.Entry{AcceptedAt: at, Command: appliance.Command{Origin: appliance.Origin{Who: "Ana", Via: via}}, Members: []appliance.Member{{Ref: ref}}})
	}
	set(midday.Add(-time.Minute), "admin-api", appliance.Ref{Node: 1, Channel: 1})
	set(midday.Add(-time.Minute), byRule, appliance.Ref{Node: 2, Channel: 1})
	got, left := e.commands(firing{at: midday, rule: &rule, actions: rule.Actions, why: "at 12:00"}, s)
	if len(got) != 2 || got[0].Target != (appliance.Target{Scope: appliance.One, ID: 2}) || got[1].Target != study {
		t.Errorf("commands %+v", got)
	}
	if left != "Desk lamp was set by Ana" {
		t.Errorf("left: %q", left)
	}
	if o := got[0].Origin; o != (appliance.Origin{Who: "Off", Via: "automation", Why: "at 12:00"}) {
		t.Errorf("origin %+v", o)
	}
	if got, left := e.commands(firing{at: midday.Add(time.Hour), rule: &rule, actions: rule.Actions}, s); len(got) != 2 || left != "" || got[0].Target != study {
		t.Errorf("an hour later: %+v %q", got, left)
	}
	e.release([]appliance.Ref{{Node: 1}})
	if got, left := e.commands(firing{at: midday, rule: &rule, actions: rule.Actions}, s); left != "" || got[0].Target != study {
		t.Errorf("released: %+v %q", got, left)
	}
	rule.Yields = 0
	set(midday, "public-api", appliance.Ref{Node: 1})
	if _, left := e.commands(firing{at: midday, rule: &rule, actions: rule.Actions}, s); left != "" {
		t.Errorf("a rule that never yields: %q", left)
	}
}

// A large building is remembered whole, and no more of it than there is.
func TestEveryLampSetByHandIsRemembered(t *testing.T) {
	const lamps = 6000
	e := newEngine(midday)
	entry := appliance.Entry{AcceptedAt: midday, Command: appliance.Command{Origin: appliance.Origin{Who: "ada"}}}
	for id := range appliance.ID(lamps) {
		entry.Members = append(entry.Members, appliance.Member{Ref: appliance.Ref{Node: id + 1}})
	}
	e.hand(entry)
	if len(e.hands) != lamps {
		t.Errorf("%d of %d are remembered", len(e.hands), lamps)
	}
	e.tick(midday.Add(time.Second), siteOf(nil, appliance.Division{}))
	if len(e.hands) != 3 {
		t.Errorf("%d are remembered of a building with three nodes", len(e.hands))
	}
	e.tick(midday.Add(handsKept+time.Second), siteOf(nil, appliance.Division{Building: "another"}))
	if len(e.hands) != 0 {
		t.Errorf("%d are remembered after a day", len(e.hands))
	}
}

func TestARuleRecallsAScene(t *testing.T) {
	rule := appliance.Rule{ID: 1, Name: "Dusk", Actions: []appliance.Action{{Scene: 1}, {Scene: 9}, {Kind: appliance.LightOn, Target: appliance.Target{Scope: appliance.InCluster, ID: 77}}}}
	got, left := newEngine(midday).commands(firing{at: midday, rule: &rule, actions: rule.Actions, why: "at sunset"}, siteOf(nil, appliance.Division{}))
	if len(got) != 1 || got[0].Level != 30 || got[0].Origin.Why != "at sunset: scene Evening" {
		t.Errorf("commands %+v", got)
	}
	if !strings.Contains(left, "scene 9 is not there any more") || !strings.Contains(left, "what an action is for") {
		t.Errorf("left: %q", left)
	}
}

func TestCommandsForOneThingKeepTheirOrder(t *testing.T) {
	one := func(id appliance.ID, k appliance.Kind) appliance.Command {
		return appliance.Command{Kind: k, Target: appliance.Target{Scope: appliance.One, ID: id}}
	}
	list := []appliance.Command{one(1, appliance.LightOn), one(2, appliance.LightOn), one(1, appliance.LightKelvin), {Kind: appliance.LightOff, Target: study}}
	var ends []int
	for begin := 0; begin < len(list); begin = batch(list, begin) {
		ends = append(ends, batch(list, begin))
	}
	if len(ends) != 3 || ends[0] != 2 || ends[1] != 3 || ends[2] != 4 {
		t.Errorf("batches end at %v", ends)
	}
}
