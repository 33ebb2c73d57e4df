package assistant

import (
	"slices"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// unkept answers who switched something, and why, where the controller does not say.
func (a *asked) unkept() answer {
	if a.q.Op == understand.Who {
		return answer{text: a.f("I do not know: who switched or moved something, and through what, stands in the ledger of the controller, which it does not report to the platform. Its own pages show it under every command.")}
	}
	return answer{text: a.f("I do not know: what led to it stands in the ledger and the rules of the controller, which it does not report to the platform. I can tell how it is now, and which faults are reported.")}
}

// why answers for energy that reasons are not measured, and gives the figure that is.
func (a *asked) why(figure func() (answer, error)) (answer, error) {
	a.q.Op = understand.Tell
	said, err := figure()
	if err != nil {
		return answer{}, err
	}
	said.text = a.f("Why, I do not know: meters tell how much, not for what. What was measured:") + " " + said.text
	return said, nil
}

// compareLights sets the lights of places against each other.
func (a *asked) compareLights() (answer, error) {
	type row struct {
		Label string   `json:"label"`
		Value *float64 `json:"value"`
	}
	var rows []row
	var lines, doubts []string
	var b facts.Basis
	var of []facts.Basis
	for _, places := range a.q.Mentioned() {
		scope := a.scopeIn(places)
		t := a.site.Levels(scope)
		b.Join(t.Basis)
		of = append(of, t.Basis)
		one := &asked{ctx: a.ctx, site: a.site, q: a.q, scope: scope}
		r := row{Label: scope.Label}
		if t.Basis.Readings > 0 {
			if a.q.State != "" || a.level() != nil {
				keep, words := a.wanted()
				n := float64(len(t.Where(facts.Current, keep)))
				r.Value = &n
				lines = append(lines, a.f("%s has %.0f of %s %s", scope.Label, n, a.count(len(t.All), "light"), words))
			} else {
				mean, _ := t.Mean()
				r.Value = &mean
				lines = append(lines, a.f("%s is at %s on average", scope.Label, percent(mean)))
			}
		} else {
			lines = append(lines, a.f("%s has no current level", scope.Label))
		}
		if d := one.doubts(t, "light"); d != "" {
			doubts = append(doubts, d)
		}
		rows = append(rows, r)
	}
	text := upper(a.list(a.sourced(lines, of))) + "."
	if len(rows) == 2 && rows[0].Value != nil && rows[1].Value != nil {
		d := *rows[0].Value - *rows[1].Value
		text = a.verdict(*rows[0].Value, *rows[1].Value) + text
		unit := a.f(" points")
		if a.q.State != "" || a.level() != nil {
			unit = ""
		}
		switch {
		case d > 0.5:
			text += a.f(" %s has %.0f%s more than %s.", rows[0].Label, d, unit, rows[1].Label)
		case d < -0.5:
			text += a.f(" %s has %.0f%s more than %s.", rows[1].Label, -d, unit, rows[0].Label)
		default:
			text += a.f(" They are alike.")
		}
	} else {
		text = a.f("I cannot compare them all:") + " " + text
	}
	return answer{sentences(text, sentences(doubts...), a.basis(b)), rows}, nil
}

// alike answers whether things, or those of several places on average, have the same level or position.
func (a *asked) alike(t facts.Things, kind string, list func([]facts.Thing) string) answer {
	current := t.Where(facts.Current, nil)
	if len(current) == 0 {
		return answer{sentences(a.f("I do not know any of the levels%s now.", a.in()), a.doubts(t, kind), a.basis(t.Basis)), t}
	}
	low, high := *current[0].Value, *current[0].Value
	for _, one := range current {
		low, high = min(low, *one.Value), max(high, *one.Value)
	}
	head := a.yesNo(high-low < 1)
	if high-low < 1 && len(current) < len(t.All) {
		head = a.mostKnown(len(current), len(t.All))
	}
	if len(current) == 1 && len(t.All) > 1 { // one is always like itself
		head = a.f("As far as I know: ")
	}
	text := a.f("the %s%s are at %s to %s.", a.count(len(current), kind), a.in(), percent(low), percent(high))
	if percent(low) == percent(high) {
		text = a.f("the %s%s %s at %s.", a.count(len(current), kind), a.in(), a.are(len(current)), percent(low))
	}
	return answer{sentences(a.partly(), head+text, list(current), a.doubts(t, kind), a.basis(t.Basis)), current}
}

// comparePositions sets the shades of places against each other.
func (a *asked) comparePositions() (answer, error) {
	var lines, doubts []string
	var means []float64
	var b facts.Basis
	var of []facts.Basis
	groups := a.q.Mentioned()
	for _, places := range groups {
		scope := a.scopeIn(places)
		t := a.site.Positions(scope)
		b.Join(t.Basis)
		of = append(of, t.Basis)
		if keep, words := a.shadeFilter(); keep != nil && t.Basis.Readings > 0 {
			n := len(t.Where(facts.Current, keep))
			means = append(means, float64(n))
			line := a.f("%s has %.0f of %s %s", scope.Label, float64(n), a.count(len(t.All), "shade"), words)
			if fully := t.Where(facts.Current, func(one facts.Thing) bool { return *one.Value >= 100-shadeEnd }); n > 0 && a.q.State == understand.Open { // "up" may mean that
				line += a.f(" (%d of them fully)", len(fully))
			}
			lines = append(lines, line)
		} else if mean, ok := t.Mean(); ok {
			means = append(means, mean)
			lines = append(lines, a.f("%s is %s open on average", scope.Label, percent(mean)))
		} else {
			lines = append(lines, a.f("%s has no current position", scope.Label))
		}
		one := &asked{ctx: a.ctx, site: a.site, q: a.q, scope: scope}
		doubts = append(doubts, one.doubts(t, "shade"))
	}
	text := upper(a.list(a.sourced(lines, of))) + "."
	if keep, _ := a.shadeFilter(); keep != nil && a.level() == nil && len(means) == len(groups) && slices.Max(means) == slices.Min(means) { // then how far tells
		a.q.State = ""
		said, err := a.comparePositions()
		said.text = sentences(text, said.text)
		return said, err
	}
	if len(means) == 2 && len(groups) == 2 {
		text = a.verdict(means[0], means[1]) + text
	}
	if len(means) < len(groups) {
		text = a.f("I cannot compare them all:") + " " + text
	}
	return answer{sentences(text, sentences(doubts...), a.basis(b)), means}, nil
}

// able answers what devices can do, as their controller says.
func (a *asked) able() (answer, error) {
	ability, word := "dim", a.f("dimmed")
	if a.q.Aspect == "can:tune" {
		ability, word = "tune", a.f("tuned in colour temperature")
	} else if a.q.Aspect == "can:colour" {
		ability, word = "colour", a.f("set in colours")
	}
	all := a.site.In(a.scope, platform.KindLight)
	if len(all) == 0 {
		return answer{text: a.f("No light is known%s.", a.in())}, nil
	}
	var can, not []platform.Device
	for _, d := range all {
		if slices.Contains(d.Abilities, ability) {
			can = append(can, d)
		} else {
			not = append(not, d)
		}
	}
	named := func(of []platform.Device, most int) string {
		text, _ := a.told(a.numbered(thingsOfDevices(of), ""), most)
		return text
	}
	if a.q.Is(understand.None) && a.q.Form != understand.Check {
		head := a.f("%d of %s%s cannot be %s.", len(not), a.count(len(all), "light"), a.in(), word)
		if len(not) > 0 {
			head += " " + upper(named(not, 2*thoseTold)) + "."
		}
		return answer{sentences(head, a.reported()), map[string]any{"can": can, "not": not}}, nil
	}
	head := a.f("%d of %s%s can be %s.", len(can), a.count(len(all), "light"), a.in(), word)
	if a.q.Form == understand.Check {
		if a.q.Is(understand.None) { // "can they not be dimmed"
			return answer{text: a.f("I did not understand that, so I will not guess.")}, nil
		}
		head = a.yesNo(len(can) == len(all) || len(can) > 0 && !a.q.Is(understand.All)) + lower(head)
	}
	if len(can) > 0 && len(not) > 0 || len(can) > 0 && len(can) <= 12 {
		head += " " + upper(named(can, 2*thoseTold)) + "."
	}
	if len(not) > 0 && len(can) > 0 {
		head += a.f(" Not: %s.", named(not, thoseTold))
	}
	if ability == "colour" && len(can) > 0 {
		head = sentences(head, a.f("I set no colours myself."))
	}
	return answer{sentences(head, a.reported()), map[string]any{"can": can, "not": not}}, nil
}

// placesThat lists zones or floors that have what is asked for: "rooms with lights but no shades", "with more than 4 lights".
func (a *asked) placesThat() (answer, error) {
	type row struct {
		name  string
		scope facts.Scope
	}
	var all []row
	if a.q.Kind == understand.Floor {
		for _, f := range a.site.Building.Floors {
			all = append(all, row{f.Name, a.site.FloorScope(f.Name)})
		}
	} else {
		for _, z := range a.zonesIn() {
			all = append(all, row{z.Name, a.site.ZoneScope(z.ID)})
		}
	}
	var lines []string
	for _, r := range all {
		fits, told := true, ""
		for _, h := range a.q.Having {
			n := len(a.site.In(r.scope, string(h.Kind)))
			if h.Kind == understand.Meter {
				m := a.site.MeteringOf(r.scope)
				n = len(m.Meters)
			}
			fits = fits && (n > 0) != h.Not
		}
		for _, c := range a.q.Conds {
			n := len(a.site.In(r.scope, string(c.Of)))
			fits = fits && c.Holds(float64(n))
			told = " (" + a.count(n, string(c.Of)) + ")"
		}
		if fits {
			lines = append(lines, label(r.name)+told)
		}
	}
	noun := string(a.q.Kind)
	if noun == "" {
		noun = "zone"
	}
	return answer{sentences(a.f("%d of %s%s %s: %s.", len(lines), a.count(len(all), noun), a.in(), a.havingWords(len(lines)), a.list(lines)), a.reported()), lines}, nil
}

// havingWords say what the places have.
func (a *asked) havingWords(n int) string {
	var words []string
	for _, h := range a.q.Having {
		w := a.many(string(h.Kind))
		if h.Not {
			w = a.f("no %s", w)
		}
		words = append(words, w)
	}
	for _, c := range a.q.Conds {
		words = append(words, a.f(map[understand.Relation]string{understand.Above: "more than", understand.AtLeast: "at least", understand.Below: "fewer than", understand.AtMost: "at most", understand.Exactly: "exactly"}[c.Rel])+" "+a.count(int(c.Value), string(c.Of)))
	}
	return a.have(n) + " " + a.list(words)
}

// away tells what has been out of reach for how long.
func (a *asked) awayFor(r facts.Reach, c understand.Cond, noun string) answer {
	var found []facts.Thing
	var never []string
	for _, t := range r.Away {
		switch {
		case t.LastSeen.IsZero():
			never = append(never, label(t.Name))
		case c.Holds(a.site.Now.Sub(t.LastSeen).Minutes()):
			found = append(found, t)
		}
	}
	r.Away = found
	bound := a.f(boundWords[c.Rel], lengthIn(a.q.Lang, time.Duration(c.Value)*time.Minute))
	text := a.f("%d of %s%s %s been out of reach %s.", len(found), a.count(r.Total, noun), a.in(), a.have(len(found)), bound)
	if len(never) > 0 {
		text += a.f(" Never seen at all, so for how long is not known: %s.", a.some(never, 10))
	}
	return answer{sentences(text, a.awayLine(r), a.basis(r.Basis)), r}
}
