package assistant

import (
	"cmp"
	"slices"
	"strings"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// A shade within this of an end counts as being there.
const shadeEnd = 1.5 // percent

// shades answers how far shades are open, and which move.
func (a *asked) shades() (answer, error) {
	t := a.site.Positions(a.scope)
	if text := a.noneOf(t, "shade"); text != "" {
		return answer{text, t}, nil
	}
	if a.q.Op == understand.Who && (a.q.Top > 0 || a.q.Aspect == "often") {
		return a.newest(map[string][]facts.Thing{platform.KindShade: t.All})
	}
	switch {
	case a.q.Op == understand.Since && a.level() != nil:
		return a.who(t, platform.KindShade)
	case a.q.Op == understand.Since:
		return a.since(t, platform.KindShade)
	case a.q.Op == understand.Who || a.q.Op == understand.Why:
		return a.who(t, platform.KindShade)
	}
	if a.before() {
		if said, ok, err := a.during(t, platform.KindShade); ok || err != nil {
			return said, err
		}
		return answer{text: a.f("I do not know: positions are reported as they are now, and their history is not kept.")}, nil
	}
	if a.q.Op == understand.Compare || a.q.Op == understand.Difference {
		if len(a.q.Mentioned()) < 2 {
			return answer{text: a.f("Compared with what? Name two places.")}, nil
		}
		return a.comparePositions()
	}
	if a.q.Op == understand.Same {
		return a.alike(t, "shade", a.openings), nil
	}
	if a.q.State == understand.Unread {
		return a.unread(t, "shade", "position"), nil
	}
	keep, words := a.shadeFilter()
	if a.q.State == understand.Moving {
		return a.movingShades(t)
	}
	if len(t.All) == 1 {
		return a.oneShade(t, keep)
	}
	if a.q.Op == understand.Average && (a.q.By == "zone" || a.q.By == "floor") {
		return a.rankShades(t), nil
	}
	if a.q.Op == understand.Average && keep != nil {
		current := t.Where(facts.Current, keep)
		sum := 0.0
		for _, one := range current {
			sum += *one.Value
		}
		head := a.f("None of the %d with a known position%s is %s.", t.Basis.Readings, a.in(), words)
		if len(current) > 0 {
			head = a.f("%s%s that are %s: %s open on average.", upper(a.count(len(current), "shade")), a.in(), words, percent(sum/float64(len(current))))
		}
		return answer{sentences(head, a.doubts(t, "shade"), a.basis(t.Basis)), current}, nil
	}
	if a.q.Op == understand.Average {
		return a.allShades(t)
	}
	if keep == nil && (a.q.By == "zone" || a.q.By == "floor") && (a.q.Op == understand.Most || a.q.Op == understand.Least) {
		return a.rankShades(t), nil
	}
	if keep == nil && a.q.By != "" {
		return a.shadesBy(t, func(facts.Thing) bool { return true }, a.f("with a known position")), nil
	}
	if keep == nil && a.q.Op != understand.Most && a.q.Op != understand.Least {
		return a.allShades(t)
	}
	current := t.Where(facts.Current, keep)
	if a.q.Op == understand.Most || a.q.Op == understand.Least {
		current = t.Where(facts.Current, nil)
		slices.SortStableFunc(current, func(x, y facts.Thing) int { return cmp.Compare(*y.Value, *x.Value) })
		if a.q.Op == understand.Least || a.q.State == understand.Closed {
			slices.Reverse(current)
		}
		n := max(a.q.Top, 1)
		for a.q.Top == 0 && n < len(current) && *current[n].Value == *current[0].Value {
			n++ // all that share the first place
		}
		current = current[:min(len(current), n)]
		return answer{sentences(a.openings(current), a.doubts(t, "shade"), a.basis(t.Basis)), current}, nil
	}
	doubts := a.doubts(t, "shade")
	if a.q.By != "" {
		return a.shadesBy(t, keep, words), nil
	}
	var head string
	switch {
	case t.Basis.Readings == 0:
		head = a.f("I do not know: of %s%s none has a current position.", a.count(len(t.All), "shade"), a.in())
	case len(current) == 0:
		head = a.f("None of the %d with a known position%s is %s.", t.Basis.Readings, a.in(), words)
	case len(current) == len(t.All):
		head = a.f("All %s%s are %s.", a.count(len(current), "shade"), a.in(), words)
	default:
		head = a.f("%d of %s%s %s %s.", len(current), a.count(len(t.All), "shade"), a.in(), a.are(len(current)), words)
	}
	if a.q.Op == understand.Share && t.Basis.Readings > 0 {
		head += a.f(" That is %s of those whose position is known.", percent(100*float64(len(current))/float64(t.Basis.Readings)))
	}
	if c := a.cond(understand.Number); c != nil && t.Basis.Readings > 0 {
		head, current = a.countHolds(*c, len(current), len(t.All)-t.Basis.Readings)+lower(head), nil
	} else if c := a.cond(understand.Part); c != nil && t.Basis.Readings > 0 {
		head, current = a.partHolds(*c, len(current), t.Basis.Readings, len(t.All))+lower(head), nil
	} else if a.q.Is(understand.None) && t.Basis.Readings > 0 {
		head = a.none(len(current), doubts) + lower(head)
	} else if a.q.Is(understand.Mostly) && len(current) == t.Basis.Readings && len(current) < len(t.All) && len(current) > 0 {
		head = a.mostKnown(len(current), len(t.All)) + lower(head)
	} else if a.q.Is(understand.Mostly) && len(current) > 0 && len(current) < t.Basis.Readings {
		head = a.f("Partly: ") + lower(head)
	} else if a.q.Form == understand.Check && t.Basis.Readings > 0 {
		if yes := len(current) > 0 && (!a.q.Is(understand.All) || len(current) == len(t.All)); yes {
			head = a.yesNo(true) + lower(head)
		} else {
			head = a.yesNo(false) + lower(head)
		}
	}
	return answer{sentences(a.partly(), head, a.openings(current), doubts, a.basis(t.Basis)), map[string]any{"matching": current, "all": t}}, nil
}

// shadesBy lists shades that are as the question says, place by place.
func (a *asked) shadesBy(t facts.Things, keep func(facts.Thing) bool, words string) answer {
	if t.Basis.Readings == 0 {
		return answer{sentences(a.f("I do not know: of %s%s none has a current position.", a.count(len(t.All), "shade"), a.in()), a.doubts(t, "shade"), a.basis(t.Basis)), t}
	}
	var lines []string
	add := func(name string, in func(facts.Thing) bool) {
		all := 0
		var found []facts.Thing
		for _, one := range t.All {
			if !in(one) {
				continue
			}
			all++
			if one.Condition == facts.Current && keep(one) {
				found = append(found, one)
			}
		}
		if a.q.Is(understand.All) && string(a.q.Kind) == a.q.By && len(found) < all {
			return
		}
		if all > 0 && (len(found) > 0 || string(a.q.Kind) != a.q.By) {
			lines = append(lines, a.f("%s %d of %d %s", label(name), len(found), all, words))
			if len(found) > 0 {
				lines[len(lines)-1] += ": " + a.few(platform.KindShade, found, a.openValue)
			}
		}
	}
	if a.q.By == "floor" {
		for _, f := range a.site.Building.Floors {
			add(f.Name, func(one facts.Thing) bool { return one.Floor == f.Name })
		}
	} else {
		for _, z := range a.zonesIn() {
			add(z.Name, func(one facts.Thing) bool { return slices.Contains(one.Zones, z.ID) })
		}
	}
	head := a.f("No %s%s has a shade %s, as far as is known.", a.noun(a.q.By), a.in(), words)
	if len(lines) > 0 {
		head = upper(strings.Join(lines, "; ")) + "."
	}
	return answer{sentences(head, a.doubts(t, "shade"), a.basis(t.Basis)), t}
}

// rankShades orders places by how far their shades are open on average.
func (a *asked) rankShades(t facts.Things) answer {
	var rows []placed
	add := func(name string, in func(facts.Thing) bool) {
		n, sum := 0, 0.0
		for _, one := range t.Where(facts.Current, in) {
			n, sum = n+1, sum+*one.Value
		}
		if n > 0 {
			rows = append(rows, placed{label(name), a.f("%s open on average", percent(sum/float64(n))), sum / float64(n)})
		}
	}
	if a.q.By == "floor" {
		for _, f := range a.site.Building.Floors {
			add(f.Name, func(one facts.Thing) bool { return one.Floor == f.Name })
		}
	} else {
		for _, z := range a.zonesIn() {
			add(z.Name, func(one facts.Thing) bool { return slices.Contains(one.Zones, z.ID) })
		}
	}
	slices.SortStableFunc(rows, func(x, y placed) int { return cmp.Compare(y.value, x.value) })
	if a.q.Op == understand.Least {
		slices.Reverse(rows)
	}
	var lines []string
	for _, r := range rows[:min(len(rows), cmp.Or(a.q.Top, len(rows)))] {
		lines = append(lines, a.f("%s is %s", r.name, r.told))
	}
	head := a.f("I do not know: of %s%s none has a current position.", a.count(len(t.All), "shade"), a.in())
	switch {
	case len(rows) > 0 && a.q.Op != understand.Average && a.q.Top < 2:
		head = a.winner(rows)
	case len(lines) > 0:
		head = upper(a.list(lines)) + "."
	}
	return answer{sentences(head, a.doubts(t, "shade"), a.basis(t.Basis)), rows}
}

// openings lists positions in words.
func (a *asked) openings(found []facts.Thing) string {
	if len(found) == 0 {
		return ""
	}
	if v, ok := a.each(found, a.openValue); ok {
		return a.f("Each is %s.", v)
	}
	return upper(a.those(platform.KindShade, found, a.openValue)) + "."
}

func (a *asked) shadeFilter() (func(facts.Thing) bool, string) {
	switch {
	case a.level() != nil:
		holds, words := a.bounds()
		return func(t facts.Thing) bool { return holds(*t.Value) }, words + a.f(" open")
	case a.q.State == understand.Open:
		return func(t facts.Thing) bool { return *t.Value > shadeEnd }, a.f("open, wholly or partly")
	case a.q.State == understand.Closed:
		return func(t facts.Thing) bool { return *t.Value <= shadeEnd }, a.f("closed")
	}
	return nil, ""
}

// oneShade answers about a single shade; keep is the filter of the question, nil without one.
func (a *asked) oneShade(t facts.Things, keep func(facts.Thing) bool) (answer, error) {
	one := t.All[0]
	if one.Condition != facts.Current {
		return answer{sentences(a.f("I do not know: %s.", a.silence(one)), a.basis(t.Basis)), t}, nil
	}
	text := a.f("%s is %s", label(one.Name), a.openValue(one))
	if one.Motion != "" && one.Motion != "unknown" {
		text += a.f(" and ") + a.f(one.Motion)
	}
	if a.q.Form == understand.Check && keep != nil {
		text = a.yesNo(keep(one)) + text
	}
	return answer{sentences(text+".", a.basis(t.Basis)), t}, nil
}

func (a *asked) movingShades(t facts.Things) (answer, error) {
	moving := t.Where(facts.Current, func(one facts.Thing) bool {
		return one.Motion == "opening" || one.Motion == "closing" || one.Motion == "moving"
	})
	head := a.f("No shade%s is reported as moving.", a.in())
	if n := len(moving); n > 0 {
		head = a.f("%s%s %s moving: %s.", upper(a.count(n, "shade")), a.in(), a.are(n), a.those(platform.KindShade, moving, func(one facts.Thing) string { return a.f(one.Motion) }))
	}
	return answer{sentences(head, a.doubts(t, "shade"), a.basis(t.Basis)), t}, nil
}

func (a *asked) allShades(t facts.Things) (answer, error) {
	open := len(t.Where(facts.Current, func(one facts.Thing) bool { return *one.Value >= 100-shadeEnd }))
	closed := len(t.Where(facts.Current, func(one facts.Thing) bool { return *one.Value <= shadeEnd }))
	text := a.f("Of %s%s %d %s fully open, %d closed and %d in between.", a.count(len(t.All), "shade"), a.in(), open, a.are(open), closed, t.Basis.Readings-open-closed)
	switch all := len(t.All); {
	case open == all && all > 1:
		text = a.f("All %s%s are %s.", a.count(all, "shade"), a.in(), a.f("fully open"))
	case closed == all && all > 1:
		text = a.f("All %s%s are %s.", a.count(all, "shade"), a.in(), a.f("closed"))
	}
	if mean, ok := t.Mean(); ok && open < len(t.All) && closed < len(t.All) {
		text += a.f(" The mean is %s open.", percent(mean))
	} else if !ok {
		text = a.f("I do not know: of %s%s none has a current position.", a.count(len(t.All), "shade"), a.in())
	}
	return answer{sentences(a.partly(), text, a.openings(t.Where(facts.Current, nil)), a.doubts(t, "shade"), a.basis(t.Basis)), t}, nil
}
