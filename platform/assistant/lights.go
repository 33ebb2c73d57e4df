package assistant

import (
	"slices"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// lights answers which lights are on, off, how bright.
func (a *asked) lights() (answer, error) {
	if a.q.Op == understand.Who && a.q.Kind == understand.Everything {
		return a.everyCommand()
	}
	if a.q.Op == understand.Who && (a.q.Top > 0 || a.q.Aspect == "often") {
		return a.newest(map[string][]facts.Thing{platform.KindLight: a.site.Levels(a.scope).All})
	}
	t := a.site.Levels(a.scope)
	if text := a.noneOf(t, "light"); text != "" {
		return answer{text, t}, nil
	}
	switch {
	case a.q.Op == understand.Since && a.level() != nil: // of levels no history is kept, but who set them is
		return a.who(t, platform.KindLight)
	case a.q.Op == understand.Since:
		return a.since(t, platform.KindLight)
	case a.q.Op == understand.Who || a.q.Op == understand.Why:
		return a.who(t, platform.KindLight)
	case a.before():
	case (a.q.Op == understand.Compare || a.q.Op == understand.Difference) && len(a.q.Mentioned()) > 1:
		return a.compareLights()
	case a.q.Op == understand.Compare || a.q.Op == understand.Difference:
		return answer{text: a.f("Compared with what? Name two places.")}, nil
	}
	if a.before() {
		if said, ok, err := a.during(t, platform.KindLight); ok || err != nil {
			return said, err
		}
		return answer{text: sentences(a.f("I do not know: levels are reported as they are now, and their history is not kept."), a.f("I can tell what is on now, and what was measured of energy."))}, nil
	}
	switch {
	case a.q.Op == understand.Same:
		return a.alike(t, "light", a.named), nil
	case a.q.State == understand.Unread:
		return a.unread(t, "light", "level"), nil
	case a.q.By != "" && a.q.By != "device":
		return a.lightsBy(t)
	case (a.q.Op == understand.Most || a.q.Op == understand.Least) && len(t.All) == 1: // "brighter than the others": of one there is no brightest
		return answer{text: a.f("Compared with what? Name two places.")}, nil
	case a.q.Op == understand.Most, a.q.Op == understand.Least:
		return a.brightest(t)
	case len(t.All) == 1:
		return a.oneLight(t)
	case a.q.Op == understand.Average && (a.q.State != "" || a.level() != nil):
		keep, words := a.wanted()
		found := t.Where(facts.Current, keep)
		sum := 0.0
		for _, one := range found {
			sum += *one.Value
		}
		head := a.f("None that I know of: none of the %d with a current level%s is %s.", t.Basis.Readings, a.in(), words)
		if len(found) > 0 {
			head = a.f("The mean level of the %s%s that are %s is %s.", a.count(len(found), "light"), a.in(), words, percent(sum/float64(len(found))))
		}
		return answer{sentences(head, a.doubts(t, "light"), a.basis(t.Basis)), found}, nil
	case a.q.Op == understand.Average:
		mean, ok := t.Mean()
		if !ok {
			return answer{sentences(a.f("I do not know any of the levels%s now.", a.in()), a.doubts(t, "light"), a.basis(t.Basis)), t}, nil
		}
		return answer{sentences(a.f("The mean level of the %s%s is %s.", a.count(t.Basis.Readings, "light"), a.in(), percent(mean)), a.doubts(t, "light"), a.basis(t.Basis)), t}, nil
	case a.q.State == "" && a.level() == nil:
		return a.allLights(t)
	}
	return a.lightsThat(t)
}

// noneOf answers a scope without any device of a kind.
func (a *asked) noneOf(t facts.Things, kind string) string {
	switch {
	case len(t.All) > 0:
		return ""
	case a.scope.Whole() && len(a.site.Devices) == 0:
		return a.f("%s has not reported any devices yet.", quoted(a.site.Name())) + awayIn(a.q.Lang, t.Basis, a.site.Now)
	}
	return a.f("No %s is known%s.", a.noun(kind), a.in())
}

// unread answers of how many things it is not known what they do.
func (a *asked) unread(t facts.Things, kind, value string) answer {
	all := len(t.All)
	head := a.f("All %s%s have a current %s.", a.count(all, kind), a.in(), a.f(value))
	if n := all - t.Basis.Readings; n > 0 {
		head = a.f("%d of %s%s %s no current %s.", n, a.count(all, kind), a.in(), a.have(n), a.f(value))
	}
	return answer{sentences(head, a.doubts(t, kind), a.basis(t.Basis)), t}
}

// wanted is the filter of the question over levels, and its words.
func (a *asked) wanted() (keep func(facts.Thing) bool, words string) {
	switch {
	case a.level() != nil:
		holds, words := a.bounds()
		if a.q.State == understand.On {
			words = a.f("on and %s", words)
		}
		return func(t facts.Thing) bool {
			return holds(*t.Value) && (a.q.State != understand.On || *t.Value > 0)
		}, words
	case a.q.State == understand.Off:
		return func(t facts.Thing) bool { return *t.Value == 0 }, a.f("off")
	}
	return func(t facts.Thing) bool { return *t.Value > 0 }, a.f("on")
}

// sides word relations.
var sides = map[understand.Relation]string{understand.Above: "above", understand.AtLeast: "at or above", understand.Below: "below", understand.AtMost: "at or below", understand.Exactly: "at", understand.Unlike: "not at"}

// level is the condition on levels or positions; nil without one.
func (a *asked) level() *understand.Cond { return a.cond(understand.Percent) }

// bounds are all conditions on levels or positions together, and their words: "between 20 and 60 %" is two.
func (a *asked) bounds() (holds func(float64) bool, words string) {
	var all []understand.Cond
	var said []string
	for _, c := range a.q.Conds {
		if c.Unit == understand.Percent {
			all, said = append(all, c), append(said, a.f(sides[c.Rel])+" "+percent(c.Value))
		}
	}
	return func(v float64) bool {
		return !slices.ContainsFunc(all, func(c understand.Cond) bool { return !c.Holds(v) })
	}, a.list(said)
}

// cond is the condition of a unit; nil without one.
func (a *asked) cond(unit understand.Unit) *understand.Cond {
	for i := range a.q.Conds {
		if a.q.Conds[i].Unit == unit {
			return &a.q.Conds[i]
		}
	}
	return nil
}

// lightsThat answers how many and which lights are as the question says.
func (a *asked) lightsThat(t facts.Things) (answer, error) {
	keep, words := a.wanted()
	found := t.Where(facts.Current, keep)
	known := t.Basis.Readings
	doubts := a.doubts(t, "light")
	var head string
	switch {
	case known == 0:
		head = a.f("I do not know: of %s%s none has a current level.", a.count(len(t.All), "light"), a.in())
	case len(found) == 0 && doubts == "":
		head = a.f("None of the %s%s is %s.", a.count(len(t.All), "light"), a.in(), words)
	case len(found) == 0:
		head = a.f("None that I know of: none of the %d with a current level%s is %s.", known, a.in(), words)
	case len(found) == len(t.All):
		head = a.f("All %s%s are %s.", a.count(len(found), "light"), a.in(), words)
	default:
		head = a.f("%d of %s%s %s %s.", len(found), a.count(len(t.All), "light"), a.in(), a.are(len(found)), words)
	}
	if a.q.Op == understand.Share && known > 0 {
		head += a.f(" That is %s of those whose level is known.", percent(100*float64(len(found))/float64(known)))
	}
	if c := a.cond(understand.Number); c != nil && known > 0 {
		return answer{sentences(a.partly(), a.countHolds(*c, len(found), len(t.All)-known)+lower(head), a.failing(found), doubts, a.basis(t.Basis)), map[string]any{"matching": found, "all": t}}, nil
	}
	if c := a.cond(understand.Part); c != nil && known > 0 {
		return answer{sentences(a.partly(), a.partHolds(*c, len(found), known, len(t.All))+lower(head), doubts, a.basis(t.Basis)), map[string]any{"matching": found, "all": t}}, nil
	}
	if a.q.Is(understand.None) && known > 0 {
		return answer{sentences(a.partly(), a.none(len(found), doubts)+lower(head), a.named(found), a.failing(found), doubts, a.basis(t.Basis)), map[string]any{"matching": found, "all": t}}, nil
	}
	if a.q.Form == understand.Check && known > 0 {
		yes := len(found) > 0
		if a.q.Is(understand.All) {
			yes = len(found) == len(t.All)
		} else if groups := a.q.Mentioned(); len(groups) > 1 && !a.q.Is(understand.Either) || a.q.Is(understand.Both) { // "are Alps and Lakes on"
			yes = !slices.ContainsFunc(a.q.Places, func(p understand.Place) bool {
				return p.Kind == understand.Zone && !slices.ContainsFunc(found, func(one facts.Thing) bool { return slices.Contains(one.Zones, p.ID) })
			})
		}
		switch {
		case a.q.Is(understand.All) && !yes && len(found) == known:
			head = a.f("As far as I know: ") + lower(head)
		case a.q.Is(understand.Mostly) && len(found) == known && known < len(t.All) && len(found) > 0:
			head = a.mostKnown(known, len(t.All)) + lower(head)
		case a.q.Is(understand.Mostly) && a.q.State == understand.Off && len(found) < known:
			head = a.yesNo(false) + lower(head)
		case a.q.Is(understand.Mostly) && len(a.q.Mentioned()) < 2 && len(found) > 0 && len(found) < known:
			head = a.f("Partly: ") + lower(head)
		case yes:
			head = a.yesNo(true) + lower(head)
		default:
			head = a.yesNo(false) + lower(head)
		}
	}
	return answer{sentences(a.partly(), head, a.named(found), a.failing(found), doubts, a.basis(t.Basis)), map[string]any{"matching": found, "all": t}}, nil
}

// mostKnown begins what is so of all things that are known: a yes, unless most are not known.
func (a *asked) mostKnown(known, all int) string {
	if 2*known < all {
		return a.f("As far as I know: ")
	}
	return a.f("Yes, as far as I know: ")
}

// partHolds is the yes or no to whether so large a part of the things is so; what is not known may be so or not.
func (a *asked) partHolds(c understand.Cond, found, known, all int) string {
	share := func(n, of int) bool { return c.Holds(100 * float64(n) / float64(of)) }
	holds := share(found, known)
	if share(found, all) != holds || share(found+all-known, all) != holds {
		return a.f("As far as I know: ") + lower(a.yesNo(holds))
	}
	return a.yesNo(holds)
}

// countHolds is the yes or no to whether so many things are so; those that are not known may be so or not.
func (a *asked) countHolds(c understand.Cond, found, unknown int) string {
	holds := c.Holds(float64(found))
	if c.Holds(float64(found+unknown)) != holds {
		return a.f("As far as I know: ") + lower(a.yesNo(holds))
	}
	return a.yesNo(holds)
}

// none is the yes or no to "is nothing …".
func (a *asked) none(found int, doubts string) string {
	if found == 0 && doubts != "" {
		return a.f("Yes, as far as I know: ")
	}
	return a.yesNo(found == 0)
}

// oneLight answers about a single light.
func (a *asked) oneLight(t facts.Things) (answer, error) {
	one := t.All[0]
	if one.Condition != facts.Current {
		return answer{sentences(a.f("I do not know: %s.", a.silence(one)), a.basis(t.Basis)), t}, nil
	}
	text := a.lightState(one) + "."
	if a.q.Form == understand.Check && (a.q.State != "" || a.level() != nil) {
		if keep, _ := a.wanted(); keep(one) {
			text = a.yesNo(true) + text
		} else {
			text = a.yesNo(false) + text
		}
	}
	if one.Trouble != "" {
		text += a.f(" It reports: %s.", a.trouble(one.Trouble))
	}
	return answer{sentences(text, a.basis(t.Basis)), t}, nil
}

// lightState says how a light is, without the end of the sentence.
func (a *asked) lightState(one facts.Thing) string {
	if *one.Value == 0 {
		return a.f("%s is %s", label(one.Name), a.f("off"))
	}
	return a.f("%s is %s", label(one.Name), a.f("on at %s", percent(*one.Value)))
}

// allLights sums a scope up.
func (a *asked) allLights(t facts.Things) (answer, error) {
	on := t.Where(facts.Current, func(one facts.Thing) bool { return *one.Value > 0 })
	head := a.f("%d of %s%s %s on.", len(on), a.count(len(t.All), "light"), a.in(), a.are(len(on)))
	if t.Basis.Readings == 0 {
		head = a.f("I do not know: of %s%s none has a current level.", a.count(len(t.All), "light"), a.in())
	} else if mean, ok := t.Mean(); ok {
		head += a.f(" The mean level of all with a current reading is %s.", percent(mean))
	}
	dark := ""
	if off := t.Where(facts.Current, func(one facts.Thing) bool { return *one.Value == 0 }); len(off) > 0 && len(on) > 0 && len(t.All) <= 20 {
		dark = a.f("Off: %s.", a.those(platform.KindLight, off, nil))
	}
	return answer{sentences(a.partly(), head, a.named(on), a.failing(on), dark, a.doubts(t, "light"), a.basis(t.Basis)), t}, nil
}

func lower(s string) string {
	r := []rune(s)
	if len(r) > 1 && r[0] >= 'A' && r[0] <= 'Z' && r[1] >= 'a' && r[1] <= 'z' {
		r[0] += 'a' - 'A'
	}
	return string(r)
}
