package assistant

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// colour answers the colour temperature of lights.
func (a *asked) colour() (answer, error) {
	t := a.site.Kelvins(a.scope)
	if a.before() {
		return answer{text: a.f("I do not know: colour temperatures are reported as they are now, and their history is not kept.")}, nil
	}
	if a.q.Aspect == "hue" {
		return a.hue(t)
	}
	if c := a.cond(understand.Kelvin); c != nil {
		found := t.Where(facts.Current, func(one facts.Thing) bool { return c.Holds(*one.Value) })
		return answer{sentences(a.f("%d of %s%s with a colour temperature %s %s %.0f K: %s.", len(found), a.count(len(t.All), "light"), a.in(), a.are(len(found)), a.f(sides[c.Rel]), c.Value, a.those(platform.KindLight, found, kelvinValue)), a.doubts(t, "light"), a.basis(t.Basis)), found}, nil
	}
	if len(t.All) == 0 {
		return answer{a.f("No light%s reports a colour temperature.", a.in()), t}, nil
	}
	current := t.Where(facts.Current, nil)
	if len(current) == 0 {
		return answer{sentences(a.f("I do not know: none of %s%s has a current colour temperature.", a.count(len(t.All), "light"), a.in()), a.doubts(t, "light"), a.basis(t.Basis)), t}, nil
	}
	if a.q.Op == understand.Most || a.q.Op == understand.Least {
		slices.SortStableFunc(current, func(x, y facts.Thing) int { return cmp.Compare(*y.Value, *x.Value) })
		if a.q.Op == understand.Least {
			slices.Reverse(current)
		}
		n := max(a.q.Top, 1)
		for a.q.Top == 0 && n < len(current) && *current[n].Value == *current[0].Value {
			n++ // all that share the first place
		}
		current = current[:min(n, len(current))]
	}
	mean, _ := t.Mean()
	lines := a.those(platform.KindLight, current, kelvinValue)
	if len(current) < t.Basis.Readings {
		return answer{sentences(upper(lines)+".", a.doubts(t, "light"), a.basis(t.Basis)), current}, nil
	}
	text := a.f("%s%s: %s.", upper(a.count(len(current), "light")), a.in(), lines)
	if len(current) > 1 {
		text += a.f(" The mean is %.0f K.", mean)
	}
	return answer{sentences(text, a.doubts(t, "light"), a.basis(t.Basis)), t}, nil
}

// hue answers of colours, which nobody reports, with what is known beside them.
func (a *asked) hue(tuned facts.Things) (answer, error) {
	lights := a.site.Levels(a.scope)
	if text := a.noneOf(lights, "light"); text != "" {
		return answer{text, lights}, nil
	}
	c, err := a.site.LastCommands(a.ctx, lights.All, platform.KindLight, a.site.Now.Add(-platform.HistoryKept), a.site.Now.Add(time.Minute), func(c platform.Command) bool { return c.Do == "light-rgbw" })
	if err != nil {
		return answer{}, err
	}
	commanded, kelvins, bright := "", "", ""
	if mean, ok := lights.Mean(); ok && !a.scope.Whole() { // which is known, and often asked together
		bright = a.f("The mean level of the %s%s is %s.", a.count(lights.Basis.Readings, "light"), a.in(), percent(mean))
	}
	if lines := a.commandLines(c); len(lines) > 0 {
		commanded = sentences(a.f("As far as commands tell:"), a.lines(lines, commandsTold))
	}
	if mean, ok := tuned.Mean(); ok {
		kelvins = a.f("The colour temperature of %s is %.0f K on average.", a.count(tuned.Basis.Readings, "light"), mean)
	}
	return answer{sentences(a.f("I do not know: the colour of a light is not reported to the platform, only how bright it is and, of some, the colour temperature."), bright, commanded, kelvins), lights}, nil
}

// kelvinValue words a colour temperature.
func kelvinValue(one facts.Thing) string { return fmt.Sprintf("%.0f K", *one.Value) }
