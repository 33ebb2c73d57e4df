package sitefile

import (
	"fmt"
	"strings"
	"time"

	"svc.internal/controller/appliance"
)

type fileScene struct {
	ID      int32        `yaml:"id,omitempty"`
	UUID    string       `yaml:"uuid,omitempty"`
	Name    string       `yaml:"name"`
	Cluster reference    `yaml:"cluster,omitempty"`
	Actions []fileAction `yaml:"actions,omitempty"`
}

type fileRule struct {
	ID       int32        `yaml:"id,omitempty"`
	UUID     string       `yaml:"uuid,omitempty"`
	Name     string       `yaml:"name"`
	Disabled bool         `yaml:"disabled,omitempty"`
	When     fileTrigger  `yaml:"when,flow"`
	Actions  []fileAction `yaml:"actions,omitempty"`
	Yields   timespan     `yaml:"yields,omitempty"`
}

// fileTrigger: which of its fields count, its kind says.
type fileTrigger struct {
	Kind     string    `yaml:"kind"`
	Time     string    `yaml:"time,omitempty"`
	Offset   int       `yaml:"offset,omitempty"`
	Days     []string  `yaml:"days,omitempty,flow"`
	Holidays string    `yaml:"holidays,omitempty"`
	Except   []string  `yaml:"except,omitempty,flow"`
	Node     reference `yaml:"node,omitempty"`
	Channel  int       `yaml:"channel,omitempty"`
	Quantity string    `yaml:"quantity,omitempty"`
	Above    *float64  `yaml:"above,omitempty"`
	Below    *float64  `yaml:"below,omitempty"`
	For      timespan  `yaml:"for,omitempty"`
}

// fileAction is written on one line.
type fileAction struct {
	After    timespan  `yaml:"after,omitempty"`
	Do       string    `yaml:"do,omitempty"` // empty: recall the scene
	Scene    reference `yaml:"scene,omitempty"`
	Cluster  reference `yaml:"cluster,omitempty"`
	Node     reference `yaml:"node,omitempty"`
	Shade    reference `yaml:"shade,omitempty"` // nothing named: everything
	Channel  int       `yaml:"channel,omitempty"`
	Level    *int      `yaml:"level,omitempty"`
	Kelvin   int       `yaml:"kelvin,omitempty"`
	RGBW     []uint8   `yaml:"rgbw,omitempty,flow"`
	Position *int      `yaml:"position,omitempty"`
	Over     timespan  `yaml:"over,omitempty"`
}

var dayWords = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

// scenes reads those of the file, behind the things that they are for.
func (r *reader) scenes() {
	ids, seen := newFamily("scene"), map[appliance.UUID]int{}
	for i, sc := range r.file.Scenes {
		key := fmt.Sprintf("scenes[%d]", i)
		r.name(key+".name", sc.Name, sc.UUID)
		out := appliance.Scene{ID: r.id(&ids, key, i, sc.ID, sc.UUID, sc.Name), UUID: r.uuid(key, sc.UUID, seen, i), Name: sc.Name}
		if !sc.Cluster.IsZero() {
			out.Cluster, _ = r.refer(key+".cluster", r.clusterByName, sc.Cluster)
		}
		out.Actions = r.actions(key, sc.Actions)
		r.out.Scenes = append(r.out.Scenes, out)
	}
	r.sceneByName = ids.names
}

func (r *reader) rules() {
	ids, seen := newFamily("rule"), map[appliance.UUID]int{}
	for i, rule := range r.file.Rules {
		key := fmt.Sprintf("rules[%d]", i)
		r.name(key+".name", rule.Name, rule.UUID)
		r.out.Rules = append(r.out.Rules, appliance.Rule{
			ID: r.id(&ids, key, i, rule.ID, rule.UUID, rule.Name), UUID: r.uuid(key, rule.UUID, seen, i), Name: rule.Name,
			Disabled: rule.Disabled, When: r.trigger(key+".when", rule.When), Actions: r.actions(key, rule.Actions), Yields: time.Duration(rule.Yields),
		})
	}
}

func (r *reader) trigger(key string, f fileTrigger) appliance.Trigger {
	t := appliance.Trigger{Kind: appliance.TriggerKind(f.Kind), Holidays: appliance.OnHolidays(f.Holidays)}
	for i, text := range f.Except {
		t.Except = append(t.Except, r.dates(fmt.Sprintf("%s.except[%d]", key, i), text))
	}
	for _, word := range f.Days {
		for bit, known := range dayWords {
			if word == known {
				t.Days |= 1 << bit
			}
		}
	}
	switch t.Kind {
	case appliance.AtTime:
		at, err := time.Parse("15:04", f.Time)
		if err != nil {
			r.problem(key, "time %q is not a time of the day such as \"07:30\"", f.Time)
		}
		t.Minute = at.Hour()*60 + at.Minute()
	case appliance.AtSunrise, appliance.AtSunset:
		t.Minute = f.Offset
	case appliance.OnValue:
		t.Node, _ = r.refer(key+".node", r.nodesByName, f.Node)
		t.Channel, t.Quantity, t.For = f.Channel, appliance.Quantity(f.Quantity), time.Duration(f.For)
		switch {
		case (f.Above == nil) == (f.Below == nil):
			r.problem(key, "want one of above and below")
		case f.Below != nil:
			t.Below, t.Limit = true, *f.Below
		default:
			t.Limit = *f.Above
		}
	}
	return t
}

func (r *reader) actions(of string, list []fileAction) []appliance.Action {
	var out []appliance.Action
	for i, f := range list {
		out = append(out, r.action(fmt.Sprintf("%s.actions[%d]", of, i), f))
	}
	return out
}

func (r *reader) action(key string, f fileAction) appliance.Action {
	a := appliance.Action{After: time.Duration(f.After), Over: time.Duration(f.Over)}
	if !f.Scene.IsZero() {
		if f.Do != "" {
			r.problem(key, "recalls a scene or does something, not both")
		}
		a.Scene, _ = r.refer(key+".scene", r.sceneByName, f.Scene)
		return a
	}
	a.Kind, _ = appliance.KindOf(f.Do)
	named := 0
	for _, t := range []struct {
		key   string
		ref   reference
		among names
		scope appliance.Scope
		fits  bool
	}{
		{"cluster", f.Cluster, r.clusterByName, appliance.InCluster, true},
		{"node", f.Node, r.nodesByName, appliance.One, !a.Kind.IsShade()},
		{"shade", f.Shade, r.shadeByName, appliance.One, a.Kind.IsShade()},
	} {
		if t.ref.IsZero() {
			continue
		}
		named++
		if !t.fits {
			r.problem(key, "%s is not for a %s", f.Do, t.key)
			continue
		}
		a.Target.Scope = t.scope
		a.Target.ID, _ = r.refer(key+"."+t.key, t.among, t.ref)
	}
	switch {
	case named > 1:
		r.problem(key, "is for one cluster, node or shade; write an action for each")
	case named == 0:
		a.Target.Scope = appliance.All
	}
	r.values(key, f, &a)
	return a
}

// values takes over what the kind of an action needs, and refuses what it has no use for.
func (r *reader) values(key string, f fileAction, a *appliance.Action) {
	a.Channel = f.Channel
	needs := func(name string, is, want bool) {
		switch {
		case want && !is:
			r.problem(key, "%s needs %s", f.Do, name)
		case is && !want:
			r.problem(key, "%s has no use for %s", f.Do, name)
		}
	}
	colour := a.Kind == appliance.LightRGBW
	if f.Level != nil || !colour {
		needs("level", f.Level != nil, a.Kind == appliance.LightLevel || colour)
	}
	needs("kelvin", f.Kelvin != 0, a.Kind == appliance.LightKelvin)
	needs("rgbw", len(f.RGBW) > 0, colour)
	needs("position", f.Position != nil, a.Kind == appliance.ShadeMoveTo)
	if f.Level != nil {
		a.Level = appliance.Level(*f.Level)
	}
	if f.Position != nil {
		a.Position = appliance.Position(*f.Position)
	}
	a.Kelvin, a.KeepLevel = appliance.Kelvin(f.Kelvin), colour && f.Level == nil
	if len(f.RGBW) == 4 {
		a.RGBW = appliance.RGBW{R: f.RGBW[0], G: f.RGBW[1], B: f.RGBW[2], W: f.RGBW[3]}
	}
}

// exportRules writes scenes and rules. Actions whose target was removed meanwhile are left out, and so is a rule whose
// node was: nobody could read them back.
func exportRules(site appliance.Site, f *file) {
	there := targets(site)
	for _, sc := range site.Scenes {
		out := fileScene{ID: int32(sc.ID), UUID: sc.UUID.String(), Name: sc.Name, Actions: exportActions(sc.Actions, there)}
		if there[appliance.Target{Scope: appliance.InCluster, ID: sc.Cluster}] {
			out.Cluster = reference{id: int32(sc.Cluster)}
		}
		f.Scenes = append(f.Scenes, out)
	}
	nodes := map[appliance.ID]bool{}
	for _, n := range site.Nodes {
		nodes[n.ID] = true
	}
	for _, r := range site.Rules {
		if r.When.Kind == appliance.OnValue && !nodes[r.When.Node] {
			continue
		}
		f.Rules = append(f.Rules, fileRule{ID: int32(r.ID), UUID: r.UUID.String(), Name: r.Name, Disabled: r.Disabled,
			When: exportTrigger(r.When), Actions: exportActions(r.Actions, there), Yields: timespan(r.Yields)})
	}
}

// targets are what actions may be for. Nodes and shades share no ID.
func targets(site appliance.Site) map[appliance.Target]bool {
	there := map[appliance.Target]bool{{Scope: appliance.All}: true}
	for _, c := range site.Clusters {
		there[appliance.Target{Scope: appliance.InCluster, ID: c.ID}] = true
	}
	for _, n := range site.Nodes {
		there[appliance.Target{Scope: appliance.One, ID: n.ID}] = true
	}
	for _, h := range site.Shades {
		there[appliance.Target{Scope: appliance.One, ID: h.ID}] = true
	}
	return there
}

func exportTrigger(t appliance.Trigger) fileTrigger {
	f := fileTrigger{Kind: string(t.Kind), Holidays: string(t.Holidays)}
	for _, d := range t.Except {
		f.Except = append(f.Except, d.String())
	}
	for bit, word := range dayWords {
		if t.Days&(1<<bit) != 0 {
			f.Days = append(f.Days, word)
		}
	}
	switch t.Kind {
	case appliance.AtTime:
		f.Time = fmt.Sprintf("%02d:%02d", t.Minute/60, t.Minute%60)
	case appliance.AtSunrise, appliance.AtSunset:
		f.Offset = t.Minute
	case appliance.OnValue:
		f.Node, f.Channel, f.Quantity, f.For = reference{id: int32(t.Node)}, t.Channel, string(t.Quantity), timespan(t.For)
		if t.Below {
			f.Below = &t.Limit
		} else {
			f.Above = &t.Limit
		}
	}
	return f
}

func exportActions(list []appliance.Action, there map[appliance.Target]bool) []fileAction {
	var out []fileAction
	for _, a := range list {
		if a.Scene != 0 { // a scene that a rule recalls cannot be removed
			out = append(out, fileAction{After: timespan(a.After), Scene: reference{id: int32(a.Scene)}})
			continue
		}
		if !there[a.Target] {
			continue
		}
		f := fileAction{After: timespan(a.After), Over: timespan(a.Over), Do: a.Kind.Word(), Channel: a.Channel, Kelvin: int(a.Kelvin)}
		ref := reference{id: int32(a.Target.ID)}
		switch {
		case a.Target.Scope == appliance.InCluster:
			f.Cluster = ref
		case a.Target.Scope == appliance.One && strings.HasPrefix(f.Do, "shade"):
			f.Shade = ref
		case a.Target.Scope == appliance.One:
			f.Node = ref
		}
		switch {
		case a.Kind == appliance.LightLevel, a.Kind == appliance.LightRGBW && !a.KeepLevel:
			f.Level = new(int(a.Level))
		case a.Kind == appliance.ShadeMoveTo:
			f.Position = new(int(a.Position))
		}
		if a.Kind == appliance.LightRGBW {
			f.RGBW = []uint8{a.RGBW.R, a.RGBW.G, a.RGBW.B, a.RGBW.W}
		}
		out = append(out, f)
	}
	return out
}
