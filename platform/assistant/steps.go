package assistant

import (
	"slices"
	"strings"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// steps are what one thing that an order wants means for every zone of it, or why it cannot be done.
func (a *asked) steps(d understand.Do) (steps []Step, line, why string) {
	d.Places = a.wholeZones(d.Places)
	if d.Kind == understand.Light && len(d.Places) > 0 && !slices.ContainsFunc(d.Places, func(p understand.Place) bool { return !a.onlyShades(p) }) && d.Percent != nil {
		d.Kind = understand.Shade // "tower east shades to 30"
	}
	scope := scopeOf(a.site, a.q.Lang, d.Places, d.Except)
	if d.Kind == understand.Shade && (d.Size == "little" || d.By != nil) {
		return nil, "", a.f("I move shades to a position and not by an amount; say how far open, from 0 to 100 %%.")
	}
	if step := d.Switch == "dim" || d.Switch == "brighten"; step && d.Kind == understand.Light && len(d.Places) > 0 && !slices.ContainsFunc(d.Places, func(p understand.Place) bool { return !a.onlyShades(p) }) {
		return nil, "", a.f("I move shades to a position and not by an amount; say how far open, from 0 to 100 %%.")
	}
	if d.Kind == understand.Panel {
		return nil, "", a.f("a panel can be opened at its device only.")
	}
	if len(d.Places) == 0 && len(d.Except) == 0 && !d.Whole && d.Switch != "stop" && d.Kind != understand.Everything {
		return nil, "", sentences(a.f("which zone or floor do you mean, or all of them?"), a.around())
	}
	if slices.ContainsFunc(slices.Concat(d.Places, d.Except), func(p understand.Place) bool { return p.Kind != understand.Zone && p.Kind != understand.Floor }) {
		return nil, "", a.f("I command whole zones, not single devices; name a zone or a floor.")
	}
	kind := platform.KindLight
	if d.Kind == understand.Shade {
		kind = platform.KindShade
	}
	of := &asked{ctx: a.ctx, site: a.site, q: understand.Frame{Lang: a.q.Lang, Where: understand.Where{Places: d.Places, Except: d.Except}}, scope: scope}
	var lines, short, left []string
	zones := of.zonesIn()
	for _, z := range zones {
		devices := a.site.In(a.site.ZoneScope(z.ID), kind)
		if len(devices) == 0 {
			continue
		}
		if i := slices.IndexFunc(devices, func(one platform.Device) bool { return scope.Out != nil && scope.Out.Holds(one) }); i >= 0 {
			return nil, "", a.f("%s belongs to %s and to what is left out, and I command whole zones.", label(devices[i].Name), label(z.Name))
		}
		action, stays, why := a.action(d, z)
		if on := a.site.Levels(a.site.ZoneScope(z.ID)); d.Switch == "brighten" && len(zones) > 1 && len(lit(on)) == 0 && on.Basis.Readings > 0 { // "all lights brighter" is for those that are on
			stays = a.f("off")
		}
		if why != "" && d.Size == "little" && len(zones) > 1 {
			stays, why = a.f("not all alike"), ""
		}
		if why != "" {
			return nil, "", why
		}
		if stays != "" {
			left = append(left, label(z.Name)+" ("+stays+")")
			continue
		}
		steps = append(steps, Step{z, action, actionWords(a.q.Lang, action)})
		present, note := a.present(z, kind), ""
		off := a.site.Levels(a.site.ZoneScope(z.ID)).Where(facts.Current, func(one facts.Thing) bool { return *one.Value == 0 })
		switch {
		case (d.Switch == "dim" || d.Switch == "brighten") && len(off) > 0 && len(lit(a.site.Levels(a.site.ZoneScope(z.ID)))) > 0:
			note = a.f("; what is off would go on")
		case d.Switch == "stop" && a.stands(z):
			note = a.f("; they stand still already, as far as is reported")
		}
		lines = append(lines, a.f("%s (%s, %s)", label(z.Name), a.count(len(devices), kind), present+note))
		short = append(short, a.f("%s (%s)", label(z.Name), present+note))
	}
	if len(lines) > thoseTold { // how many lights each has is not what is asked about
		lines = short
	}
	switch {
	case len(steps) == 0 && len(left) > 0 && d.Switch == "dim" && !slices.ContainsFunc(left, func(l string) bool { return !strings.HasSuffix(l, "("+a.f("off")+")") }):
		return nil, "", a.f("the lights%s are off, so that nothing gets dimmer; to have them on, say to what level, from 0 to 100 %%.", of.in())
	case len(steps) == 0 && len(left) > 0 && d.Kind == understand.Shade && d.Toward != "" && d.Percent != nil: // "halb zu" of what is closed further
		return nil, "", a.f("nothing would change: %s. Say “%d %% open” to have it there.", a.list(left), *d.Percent)
	case len(steps) == 0 && len(left) > 0:
		return nil, "", a.f("nothing would change: %s. Say to what value, from 0 to 100 %%, if you want another.", a.list(left))
	case len(steps) == 0:
		return nil, "", a.f("no zone%s has a %s.", of.in(), a.noun(kind))
	}
	what := steps[0].What
	if d.Switch == "dim" || d.Switch == "brighten" || d.Switch == "toggle" { // each zone has its own
		what = ""
		for i := range lines {
			lines[i] = steps[i].What + a.f(" in ") + lines[i]
		}
	}
	if what != "" {
		what += ": "
	}
	line = what + a.list(lines)
	if len(d.Like) > 0 {
		line += a.f(", as bright as %s is on average", scopeOf(a.site, a.q.Lang, d.Like, nil).Label)
	}
	if len(left) > 0 {
		line += a.f("; left as it is: %s", a.list(left))
	}
	return steps, line, ""
}

// present words what a zone is like before an order.
func (a *asked) present(z platform.Zone, kind string) string {
	scope := a.site.ZoneScope(z.ID)
	if kind == platform.KindLight {
		t := a.site.Levels(scope)
		if t.Basis.Readings == 0 {
			return a.f("present level unknown")
		}
		on := len(t.Where(facts.Current, func(one facts.Thing) bool { return *one.Value > 0 }))
		return a.f("%d on now", on)
	}
	t := a.site.Positions(scope)
	if mean, ok := t.Mean(); ok {
		text := a.f("now %s open on average", percent(mean))
		if n := len(t.All) - t.Basis.Readings; n > 0 {
			text += a.f(", %d unknown", n)
		}
		return text
	}
	return a.f("present position unknown")
}

func actionWords(lang understand.Lang, a platform.Action) string {
	switch {
	case a.Level != nil && *a.Level == 0:
		return in(lang, "switch the lights off")
	case a.Level != nil:
		return in(lang, "set the lights to %d %%", *a.Level)
	case a.Position != nil && *a.Position == 0:
		return in(lang, "close the shades")
	case a.Position != nil:
		return in(lang, "move the shades to %d %% open", *a.Position)
	}
	return in(lang, "stop the shades")
}
