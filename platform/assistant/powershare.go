package assistant

import (
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

func (a *asked) comparePower() (answer, error) {
	var lines []string
	var b facts.Basis
	var data []facts.Power
	var known []facts.Power
	var partly []bool
	for _, places := range a.q.Mentioned() {
		scope := a.scopeIn(places)
		power := a.site.PowerOf(scope)
		if power.Known() {
			line := a.f("%s draws %s", scope.Label, a.watts(power.Watts))
			if len(power.Missing) > 0 {
				line += a.f(" (without %s, which nothing measures)", a.zoneNames(power.Missing))
			}
			lines, partly = append(lines, line), append(partly, len(power.Missing) > 0)
			b.Join(power.Basis)
			known = append(known, power)
		} else {
			lines = append(lines, a.f("%s is not measured on its own, not all of it, or not now", scope.Label))
			if b.Controller == "" {
				b = power.Basis
			}
		}
		data = append(data, power)
	}
	text := upper(a.list(lines)) + "."
	if len(known) == 2 && len(data) == 2 {
		d, more, less := known[0].Watts-known[1].Watts, 0, 1
		if d < 0 {
			d, more, less = -d, 1, 0
		}
		if !partly[less] { // or it could be more
			text = a.verdict(known[0].Watts, known[1].Watts) + text
		}
		switch name := known[more].Scope.Label; {
		case partly[less]:
			text += " " + a.f("Which of them draws more is not known.")
		case partly[more]:
			text += " " + a.f("%s draws at least %s more.", name, a.watts(d))
		default:
			text += " " + a.f("%s draws %s more.", name, a.watts(d))
		}
	}
	return answer{sentences(text, a.basis(b)), data}, nil
}

// sharePower tells which part of the power that is measured a place draws, or one of two places of the other.
func (a *asked) sharePower() (answer, error) {
	part, whole := a.scope, facts.Scope{Label: a.f("what is measured of the building")}
	if groups := a.q.Mentioned(); len(groups) == 2 {
		part, whole = a.scopeIn(groups[0]), a.scopeIn(groups[1])
		if len(part.Zones) > len(whole.Zones) {
			part, whole = whole, part
		}
	}
	one, all := a.site.PowerOf(part), a.site.PowerOf(whole)
	if a.scope = part; part.Whole() || !one.Known() {
		return a.powerNow(one)
	}
	if a.scope = whole; !all.Known() || all.Watts <= 0 {
		return a.powerNow(all)
	}
	share := 100 * one.Watts / all.Watts
	name := part.Label
	if len(one.Missing) > 0 {
		name = a.f("what is measured of %s", name)
	}
	text := a.f("%s draws %s, which is %s of the %s of %s.", upper(name), a.watts(one.Watts), percent(share), a.watts(all.Watts), whole.Label)
	if c := a.cond(understand.Part); c != nil {
		text = a.partOfAll(*c, share, len(all.Missing) > 0) + text
	}
	missing := ""
	if len(all.Missing) > 0 {
		missing = a.f("Not measured and not in it: %s.", a.zoneNames(all.Missing))
	}
	return answer{sentences(text, missing, a.basis(all.Basis)), map[string]any{"part": one, "whole": all}}, nil
}

// partOfAll is the yes or no to whether so large a part of a whole is meant, of which perhaps not all is measured: then it is smaller.
func (a *asked) partOfAll(c understand.Cond, share float64, missing bool) string {
	holds := c.Holds(share)
	if missing && holds == (c.Rel == understand.Above || c.Rel == understand.AtLeast) {
		return a.f("As far as it is measured: ") + lower(a.yesNo(holds))
	}
	return a.yesNo(holds)
}
