package understand

import (
	"slices"
	"strings"
)

// mostTries bounds how often a sentence is read again without one of its words.
const mostTries = 3

// whyNot tells what keeps an order from being done as it was said; nil if the sentence is none.
func (s *sentence) whyNot(all []cue) *Unclear {
	if u := s.denied(all); u != nil {
		return u
	}
	imperative := s.imperative(all)
	if u := s.reckoned(all, imperative); u != nil {
		return u
	}
	if u := s.otherwise(all, imperative); u != nil {
		return u
	}
	if u := s.numbers(all); u != nil {
		return u
	}
	if u := s.toOrBy(all); u != nil {
		return u
	}
	if u := s.without(all); u != nil {
		return u
	}
	both := s.contrary(all)
	if both != nil && !s.asks && s.told(all, "light", "shade") != nil && !slices.ContainsFunc(all, func(c cue) bool { return len(c.tags) == 0 }) && s.terse(all) { // "lights off and on again"
		return &Unclear{Contrary, both}
	}
	if !imperative {
		return nil
	}
	var words []string
	for _, c := range all {
		if len(c.tags) == 0 || c.is("strange") {
			words = append(words, said(s.t, c.at, c.n))
		}
	}
	switch {
	case len(words) > 0 && (len(all[0].tags) > 0 || !s.named && s.told(all, "light", "shade", "level", "panel") == nil): // "mute the projector"
		return &Unclear{Missing, join(words, s)}
	case len(words) > 0:
		return &Unclear{Cannot, join(words, s)}
	}
	if both != nil {
		return &Unclear{Contrary, both}
	}
	if slices.ContainsFunc(all, func(c cue) bool { return c.amount != nil }) && !slices.ContainsFunc(all, func(c cue) bool { return c.amount == nil && !c.is("set", "it", "to", "give", "own", "here") }) {
		return &Unclear{Which, nil}
	}
	return &Unclear{Nowhere, nil}
}

// contrary are two states that a thing cannot have together: "on and off again".
func (s *sentence) contrary(all []cue) []string {
	for _, pair := range [][2]string{{"on", "off"}, {"open", "close"}, {"up", "down"}, {"max", "min"}} {
		first, second := s.told(all, pair[0]), s.told(all, pair[1])
		if len(first) > 0 && len(second) > 0 {
			return []string{first[len(first)-1], second[len(second)-1]}
		}
	}
	return nil
}

// reckoned finds what would have to be reckoned from another state: "double the brightness", "back to how it was".
func (s *sentence) reckoned(all []cue, imperative bool) *Unclear {
	for _, one := range []struct {
		why Reason
		tag string
	}{{Undo, "before"}, {Multiple, "multiple"}} {
		if words := s.told(all, one.tag); words != nil && !persons[s.wordAt(0)] && (imperative || all[0].is(one.tag) || slices.ContainsFunc(all, func(c cue) bool { return c.is("set", "light", "shade", "level", "place", "it") })) {
			return &Unclear{one.why, words}
		}
	}
	return nil
}

// told are the words of the cues with a tag.
func (s *sentence) told(all []cue, tags ...string) []string {
	var words []string
	for _, c := range all {
		if c.is(tags...) {
			words = append(words, said(s.t, c.at, c.n))
		}
	}
	return words
}

// imperative reports whether a sentence begins with a verb that orders begin with, or ends with one, as German ones do.
func (s *sentence) imperative(all []cue) bool {
	for i, c := range all {
		if c.is("own", "all", "only") {
			continue
		}
		w := s.t[c.at].stem
		if len(c.tags) == 0 && setters[w] {
			return true
		}
		if w == "power" || w == "set" && c.n > 1 {
			return i+1 < len(all) && all[i+1].is("on", "off", "up", "down")
		}
		strong := c.is("set", "flip", "shut", "dim", "brighten", "increase", "reduce", "raise", "lower", "pull", "draw", "stop", "toggle", "bringup", "open", "close") || c.is("on", "off") && w != "on" && w != "off" && w != "an" && w != "aus" && w != "ein"
		if slices.Contains([]string{"get", "have", "be", "run", "go", "let", "make", "keep", "take", "bring", "opened", "closed", "dimmed", "opening", "closing", "moving", "drawn", "raised", "lowered", "lit", "open"}, w) && !(w == "make" || w == "keep" || w == "open" || w == "get" || w == "take" || w == "bring") {
			strong = false
		}
		return strong && i == 0
	}
	return false
}

// setters begin orders that nobody here can carry out.
var setters = wordSet("restart reboot reset update upgrade install delete remove add create rename enable disable schedule lock unlock program assign commission swap undo touch start heat cool play mute call " +
	"blink flash loesche starte sperre entsperre")

// denied finds a negation, which turns an order into what is not understood.
func (s *sentence) denied(all []cue) *Unclear {
	if _, state, ok := s.left(all); ok && !s.named && state == "untouched" { // "keep the shades where they are"
		return &Unclear{Negated, nil}
	}
	tries := 0
	for i, c := range all {
		if c.is("letbe") { // "do not touch the lights"
			return &Unclear{Negated, []string{said(s.t, c.at, c.n)}}
		}
		if !c.is("not", "neither", "no") {
			continue
		}
		if tries++; tries > mostTries {
			return &Unclear{Negated, []string{said(s.t, c.at, c.n)}}
		}
		rest := slices.DeleteFunc(slices.Clone(all[:i]), func(c cue) bool { return len(c.tags) == 0 && prohibiting[s.t[c.at].stem] }) // "do", "you should"
		first := len(rest) == 0
		rest = append(rest, all[i+1:]...)
		if _, ok := s.actions(rest); ok || first && s.imperative(rest) || slices.ContainsFunc(all[:i], func(o cue) bool { return o.is("set") && o.at < 2 }) {
			return &Unclear{Negated, []string{said(s.t, c.at, c.n)}}
		}
	}
	return nil
}

// numbers finds amounts that cannot be set, where the sentence is an order but for them.
func (s *sentence) numbers(all []cue) *Unclear {
	var words []string
	kept := slices.Clone(all)
	n := 0
	for i, c := range all {
		if c.amount == nil {
			continue
		}
		if c.instead { // of those that were taken back nothing is wanted
			n = 0
		}
		if n++; c.amount.bad != "" || n > 1 {
			words = append(words, said(s.t, c.at, c.n))
			if c.amount.bad != "" {
				words[len(words)-1] = c.amount.bad
			}
		}
		kept[i].amount = &amount{form: "num", value: 50, percent: true}
	}
	if len(words) == 0 || n > 1 && slices.ContainsFunc(all, func(c cue) bool { return len(c.tags) == 0 && remaining[s.t[c.at].stem] }) { // "… and the others to 0"
		return nil
	}
	seen := false
	kept = slices.DeleteFunc(kept, func(c cue) bool {
		if c.amount == nil {
			return false
		}
		defer func() { seen = true }()
		return seen
	})
	if _, ok := s.actions(kept); !ok && !s.imperative(all) {
		return nil
	}
	return &Unclear{Value, words}
}

// remaining are words for what was not named.
var remaining = wordSet("other others rest else remaining uebrigen anderen andere")

// toOrBy finds an amount that may be one to set or one to change by: "up 20", "dim half".
func (s *sentence) toOrBy(all []cue) *Unclear {
	if !slices.ContainsFunc(all, func(c cue) bool {
		return c.is("up", "down", "raise", "lower", "increase", "reduce", "dim", "brighten", "brighter", "dimmer", "by")
	}) {
		return nil
	}
	for i, c := range all {
		if c.amount == nil || c.amount.bad != "" || i > 0 && all[i-1].is("to", "by") {
			continue
		}
		if _, ok := s.actions(slices.Concat(all[:i], []cue{{at: c.at, tags: []string{"to"}}}, all[i:])); ok {
			return &Unclear{ToOrBy, []string{said(s.t, c.at, c.n)}}
		}
	}
	return nil
}

// without finds what an order has beside an action that would be understood: a time, a condition, another place, a colour.
func (s *sentence) without(all []cue) *Unclear {
	acts := func(rest []cue) bool {
		for i, c := range rest { // what stands for a thing of the condition
			if c.is("it", "everything") {
				rest = slices.Clone(rest)
				rest[i].tags = []string{"light"}
			}
		}
		_, ok := s.actions(rest)
		return ok
	}
	for i, c := range all { // "everything above 80 to 60"
		if end := i + 2; bounding[s.t[c.at].stem] && end < len(all) && all[i+1].amount != nil {
			from := i
			for from > 0 && (len(all[from-1].tags) == 0 || all[from-1].is("brighter", "dimmer", "is")) {
				from--
			}
			if acts(slices.Concat(all[:from], all[end:])) {
				return &Unclear{If, []string{said(s.t, all[min(i, max(from, 1))].at, all[i+1].at+all[i+1].n-all[min(i, max(from, 1))].at)}}
			}
		}
	}
	tries := 0
	for i, c := range all { // a condition goes to the end, or up to what is to be done
		if !c.is("if") {
			continue
		}
		if tries++; tries > mostTries {
			break
		}
		if i > 0 && acts(trim(all[:i])) {
			return &Unclear{If, []string{said(s.t, c.at, c.n)}}
		}
		for k := i + 1; k < len(all); k++ {
			if acts(all[k:]) {
				return &Unclear{If, []string{said(s.t, c.at, c.n)}}
			}
		}
	}
	for _, one := range []struct {
		why  Reason
		tags []string
	}{{For, []string{"for"}}, {Later, []string{"later", "for"}}} {
		if words := s.told(all, one.tags...); len(words) > 0 && s.told(all, one.tags[0]) != nil {
			rest := trim(drop(all, one.tags...))
			if i := slices.IndexFunc(rest, func(c cue) bool { return c.amount != nil && s.wordAt(c.at-1) == "at" }); i > 0 && one.why == Later { // "at 7 tomorrow"
				rest = slices.Concat(rest[:i-1], rest[i+1:])
			}
			if acts(rest) || s.imperative(rest) && s.scoped(rest) != nil {
				return &Unclear{one.why, words}
			}
		}
	}
	for i, c := range all { // "at 8" may be a time of day
		if c.amount != nil && c.amount.form == "num" && !c.amount.percent && c.amount.value <= 24 && i > 0 && slices.Contains([]string{"at", "um"}, s.t[all[i-1].at].stem) && acts(slices.Concat(all[:i-1], all[i+1:])) {
			return &Unclear{Later, []string{said(s.t, all[i-1].at, 2)}}
		}
	}
	return s.scoped(all)
}

// bounding are words before a bound.
var bounding = wordSet("than above over below under als ueber unter")

// otherwise finds what is set besides levels: colours, scenes, and heating.
func (s *sentence) otherwise(all []cue, imperative bool) *Unclear {
	has := func(tags ...string) bool { return slices.ContainsFunc(all, func(c cue) bool { return c.is(tags...) }) }
	starts := imperative || !persons[s.wordAt(0)] && s.wordAt(0) != "the"
	thing := has("light", "shade", "place", "own", "room", "everything", "level")
	short := has("place", "light", "own") && !slices.ContainsFunc(all, func(c cue) bool { // "atrium blue"
		return !c.is("place", "color", "light", "own", "all", "scene", "purpose", "to", "and") && c.amount == nil && !slices.Contains([]string{"in", "with", "mit", "at", "bei"}, s.t[c.at].stem)
	})
	arranging := imperative || has("set", "on", "show", "ready", "give")
	kelvin := slices.ContainsFunc(all, func(c cue) bool {
		return c.amount != nil && (strings.HasSuffix(c.amount.bad, " k") || strings.HasSuffix(c.amount.bad, "kelvin"))
	})
	switch {
	case kelvin && (imperative || short || has("place") && has("other")):
		return &Unclear{Coloured, []string{"kelvin"}}
	case !starts, has("panel"):
	case has("mood") && arranging && !has("light", "shade"):
		return &Unclear{SceneSet, s.told(all, "mood")}
	case has("scene") && (arranging || has("purpose") || all[0].is("scene") || len(all) == 2 && len(all[0].tags) == 0 && !s.named && !s.asks), has("purpose") && thing && has("ready") && arranging && !has("on", "off"):
		return &Unclear{SceneSet, s.told(all, "scene", "purpose")}
	case has("color") && has("place") && has("set") && s.requests():
		return &Unclear{Coloured, s.told(all, "color")}
	case has("color") && (has("light", "other") || len(s.f.Places) > 0 || s.has0("kelvin", "colour")) && !has("brighter") && (imperative || has("light", "other") || short):
		return &Unclear{Coloured, s.told(all, "color")}
	case has("other") && (imperative || has("set") || has("place") && has("on", "off") || !s.named && !s.asks && all[0].is("other") && has("on", "off", "up", "down", "raise", "lower", "more", "less")) && !has("light", "shade"):
		return &Unclear{Heating, s.told(all, "other")}
	}
	return nil
}

var prohibiting = wordSet("do you should must may might need shall i we don doesn didn shouldn mustn dont")

var persons = wordSet("he she they it its there i me him her us them you we")

// prepositions lead to a place.
var prepositions = wordSet("in on at near by over under beside behind next from for outside around across along above within inside of all the except but only just")
