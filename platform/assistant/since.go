package assistant

import (
	"slices"
	"strings"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// wireKind is what the history calls things of a kind.
var wireKind = map[string]string{platform.KindLight: "node", platform.KindShade: "shade"}

// stateWords are the words of the history for a state that is asked for.
var stateWords = map[understand.State][]string{understand.On: {"on"}, understand.Off: {"off"}, understand.Open: {"open", "between"}, understand.Closed: {"closed"}}

// since answers since when things are as they are, or when they last were.
func (a *asked) since(t facts.Things, kind string) (answer, error) {
	if a.q.When != nil && !a.q.When.Now {
		said, ok, err := a.during(t, kind)
		if err == nil && !ok {
			said = answer{text: a.f("I do not know: of a time that is past only on and off, open and closed are kept, as far as they were reported.")}
		}
		return said, err
	}
	words := stateWords[a.q.State]
	bound := a.cond(understand.Minutes)
	if bound != nil && words == nil {
		words = stateWords[map[string]understand.State{platform.KindLight: understand.On, platform.KindShade: understand.Open}[kind]]
	}
	holds, err := a.site.Holds(a.ctx, t.All, wireKind[kind], platform.Doing, words...)
	if err != nil {
		return answer{}, err
	}
	if len(holds) > 0 && !slices.ContainsFunc(holds, func(h facts.Hold) bool { return h.Is != "" }) {
		return answer{sentences(a.f("I do not know for how long: their history is not kept yet, only how they are now."), a.basis(t.Basis)), holds}, nil
	}
	if bound != nil {
		return a.heldFor(t, kind, holds, *bound, words[0]), nil
	}
	if a.q.Top > 0 && len(words) > 0 {
		return a.longest(t, kind, holds)
	}
	if a.q.Form == understand.List { // "which are on, since when": not those that are not
		holds = slices.DeleteFunc(holds, func(h facts.Hold) bool { return !h.Until.IsZero() })
	}
	for i := range holds {
		if len(words) > 1 && holds[i].Is != "" {
			holds[i].Is = "part"
		}
	}
	lines := a.holdLines(kind, holds)
	head := a.lines(lines, heldTold)
	if len(lines) == 0 { // or it would be among those that never were so
		head = a.f("As far as is known, none of the %s%s was %s.", a.count(len(t.All), kind), a.in(), a.f(words[0]))
	}
	commands, err := a.commandedSo(t, kind, holds)
	return answer{sentences(a.partly(), head, commands, a.doubts(t, kind), a.watched(), a.basis(t.Basis)), holds}, err
}

// longest are the things that have been so for the longest time, those of which no beginning is known before all others.
func (a *asked) longest(t facts.Things, kind string, holds []facts.Hold) (answer, error) {
	var unknown []facts.Thing
	holds = slices.DeleteFunc(holds, func(h facts.Hold) bool {
		if h.Is == "" {
			unknown = append(unknown, h.Thing)
		}
		return h.Is == "" || h.Is == "unknown" || !h.Until.IsZero()
	})
	slices.SortStableFunc(holds, func(x, y facts.Hold) int { return x.Since.Compare(y.Since) })
	n := min(a.q.Top, len(holds))
	for n > 0 && n < len(holds) && holds[n].Since.Truncate(time.Minute).Equal(holds[n-1].Since.Truncate(time.Minute)) {
		n++ // all that share the last place, as it is told
	}
	head := a.f("I do not know.")
	if n > 0 {
		head = upper(strings.Join(a.holdLines(kind, holds[:n]), "; ")) + "."
	}
	doubt := ""
	if len(unknown) > 0 {
		doubt = a.f("Not known: %s.", a.few(kind, unknown, nil))
	}
	return answer{sentences(head, doubt, a.doubts(t, kind), a.watched(), a.basis(t.Basis)), holds[:n]}, nil
}

// heldTold is how many times are put into words.
const heldTold = 5

// watched tells where the history comes from.
func (a *asked) watched() string {
	return a.f("Changes are known as far as they were reported, for a month at most.")
}

// holdLines put together what began at the same time.
func (a *asked) holdLines(kind string, holds []facts.Hold) []string {
	things := map[string][]facts.Thing{}
	var order []string
	for _, h := range holds {
		w := a.holdWords(h)
		if things[w] == nil {
			order = append(order, w)
		}
		things[w] = append(things[w], h.Thing)
	}
	var lines []string
	for _, w := range order {
		lines = append(lines, a.few(kind, things[w], nil)+": "+w)
	}
	return lines
}

// online answers since when devices answer.
func (a *asked) online(things []facts.Thing) (string, error) {
	var all []facts.Hold
	for _, kind := range []string{"node", "shade"} {
		of := slices.DeleteFunc(slices.Clone(things), func(t facts.Thing) bool { return a.isKind(t.ID, platform.KindShade) != (kind == "shade") })
		holds, err := a.site.Holds(a.ctx, of, kind, platform.Reach)
		if err != nil {
			return "", err
		}
		all = append(all, holds...)
	}
	return a.lines(a.holdLines("", all), thoseTold), nil
}

// holdWords tell since when, or from when to when.
func (a *asked) holdWords(h facts.Hold) string {
	at := func(t time.Time) string { return momentIn(a.q.Lang, t, a.site.Now) }
	is := a.f(isWords[h.Is])
	switch {
	case h.Is == "":
		return a.f("no change of it was reported yet")
	case !h.Until.IsZero() && h.After.IsZero():
		return a.f("last %s until %s", is, at(h.Until))
	case !h.Until.IsZero():
		return a.f("last %s from %s to %s", is, at(h.Since), at(h.Until))
	case h.After.IsZero():
		return a.f("%s at least since %s; how long before is not known", is, at(h.Since))
	case !h.Sharp():
		return a.f("%s since some time between %s and %s, when nobody watched", is, at(h.After), at(h.Since))
	}
	return a.f("%s since %s, for %s", is, at(h.Since), lengthIn(a.q.Lang, a.site.Now.Sub(h.Since)))
}

// isWords word what the history says.
var isWords = map[string]string{"on": "on", "off": "off", "open": "fully open", "between": "partly open", "part": "open, wholly or partly", "closed": "closed", "unknown": "not known", "online": "online", "offline": "offline", "": ""}

// heldFor answers which things have been so for how long, thing by thing or place by place.
func (a *asked) heldFor(t facts.Things, kind string, holds []facts.Hold, bound understand.Cond, word string) answer {
	now := map[int64]bool{} // what answers, and is so now
	for _, one := range t.Where(facts.Current, nil) {
		now[one.ID] = isSo(understand.State(word), *one.Value)
	}
	var sure, maybe []facts.Hold
	fits := map[int64]bool{}
	for _, h := range holds {
		if !h.Until.IsZero() || !now[h.ID] {
			continue
		}
		switch yes, perhaps := h.For(a.site.Now, bound.Holds); {
		case h.Is == "":
			maybe = append(maybe, h)
		case yes:
			sure = append(sure, h)
			fits[h.ID] = true
		case perhaps:
			maybe = append(maybe, h)
		}
	}
	long := a.f(boundWords[bound.Rel], lengthIn(a.q.Lang, time.Duration(bound.Value)*time.Minute))
	var head, list string
	if a.q.By == "zone" || a.q.By == "floor" {
		head, list = a.placesHeld(t, fits, a.f(word), long)
	} else {
		head = a.f("%d of %s%s: %s, %s.", len(sure), a.count(len(t.All), kind), a.in(), a.f(word), long)
		list = strings.Join(a.holdLines(kind, sure), "; ")
	}
	if a.q.Form == understand.Check {
		head = a.yesNo(len(sure) > 0 && (!a.q.Is(understand.All) || len(sure) == len(t.All))) + lower(head)
	}
	if list != "" {
		list = upper(list) + "."
	}
	doubt := ""
	if len(maybe) > 0 {
		doubt = a.f("Not known for long enough: %s.", strings.Join(a.holdLines(kind, maybe), "; "))
	}
	return answer{sentences(head, list, doubt, a.doubts(t, kind), a.watched(), a.basis(t.Basis)), map[string]any{"matching": sure, "notKnown": maybe}}
}

// placesHeld are the zones or floors of which every thing has been so for long enough, or, where all were not asked for, any.
func (a *asked) placesHeld(t facts.Things, fits map[int64]bool, word, long string) (head, list string) {
	var found []string
	all := 0
	add := func(name string, in func(facts.Thing) bool) {
		n, hits := 0, 0
		for _, one := range t.All {
			if in(one) {
				n++
				if fits[one.ID] {
					hits++
				}
			}
		}
		if n > 0 {
			all++
			if hits == n || hits > 0 && !a.q.Is(understand.All) {
				found = append(found, label(name))
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
	head = a.f("%d of %s%s: %s, %s.", len(found), a.count(all, a.q.By), a.in(), word, long)
	if len(found) > 0 {
		list = a.some(found, 20)
	}
	return head, list
}

// boundWords word a relation with a duration.
var boundWords = map[understand.Relation]string{understand.Above: "for more than %s", understand.AtLeast: "for at least %s", understand.Below: "for less than %s", understand.AtMost: "for at most %s", understand.Exactly: "for %s"}
