package understand

import "slices"

// whyNot tells what keeps an order from being done as it was said; nil if the sentence is none.
func (s *sentence) whyNot(all []cue) *Unclear {
	if u := s.denied(all); u != nil {
		return u
	}
	if u := s.numbers(all); u != nil {
		return u
	}
	imperative := s.imperative(all)
	if u := s.without(all); u != nil {
		return u
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
	case slices.ContainsFunc(all, func(c cue) bool { return c.is("other") }):
		return &Unclear{Heating, s.told(all, "other")}
	case len(words) > 0:
		return &Unclear{Cannot, join(words, s)}
	}
	return &Unclear{Nowhere, nil}
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
var setters = wordSet("restart reboot reset update upgrade install delete remove add create rename enable disable schedule lock unlock program assign commission swap undo start heat cool play mute call " +
	"blink flash loesche starte sperre entsperre")

// denied finds a negation, which turns an order into what is not understood.
func (s *sentence) denied(all []cue) *Unclear {
	for i, c := range all {
		if !c.is("not", "neither", "no") {
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(all[:i]), func(c cue) bool { return len(c.tags) == 0 }) // "do", "you should"
		rest = append(rest, all[i+1:]...)
		if _, ok := s.actions(rest); ok || i == 0 && s.imperative(rest) || slices.ContainsFunc(all[:i], func(o cue) bool { return o.is("set") && o.at < 2 }) {
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
		if n++; c.amount.bad != "" || n > 1 {
			words = append(words, said(s.t, c.at, c.n))
			if c.amount.bad != "" {
				words[len(words)-1] = c.amount.bad
			}
		}
		kept[i].amount = &amount{form: "num", value: 50, percent: true}
	}
	if len(words) == 0 {
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

// without finds what an order has beside an action that would be understood: a time, a condition, another place, a colour.
func (s *sentence) without(all []cue) *Unclear {
	acts := func(rest []cue) bool { _, ok := s.actions(rest); return ok }
	for i, c := range all { // a condition goes to the end, or up to what is to be done
		if !c.is("if") {
			continue
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
			if acts(rest) || s.imperative(rest) && s.scoped(rest) != nil {
				return &Unclear{one.why, words}
			}
		}
	}
	return s.scoped(all)
}

// scoped finds what tells which of the things are meant, or what they should be like, where the rest is an action.
func (s *sentence) scoped(all []cue) *Unclear {
	strange := func(c cue) bool { return len(c.tags) == 0 || c.is("strange", "part") }
	rest := trim(slices.DeleteFunc(slices.Clone(all), strange))
	if words := s.told(all, "color"); len(words) > 0 && slices.ContainsFunc(all, func(c cue) bool { return c.is("light", "place") }) {
		return &Unclear{Coloured, words}
	}
	if len(rest) == len(all) {
		return nil
	}
	if _, ok := s.actions(rest); ok {
		var words []string
		for _, c := range all {
			if strange(c) {
				words = append(words, said(s.t, c.at, c.n))
			}
		}
		return &Unclear{Elsewhere, join(words, s)}
	}
	return nil
}

func drop(all []cue, tags ...string) []cue {
	return slices.DeleteFunc(slices.Clone(all), func(c cue) bool { return c.is(tags...) })
}

// trim takes joins from the ends.
func trim(all []cue) []cue {
	for len(all) > 0 && all[len(all)-1].is("and") {
		all = all[:len(all)-1]
	}
	for len(all) > 0 && all[0].is("and") {
		all = all[1:]
	}
	return all
}
