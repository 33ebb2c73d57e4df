package understand

import (
	"slices"
	"strings"
)

// readOrder understands a sentence that wants something done. It is one only if every word of it is understood, or if it begins as
// an order does; then the frame says what keeps it from being done.
func (s *sentence) readOrder(names Names) (Frame, bool) {
	o := &sentence{t: slices.Clone(s.t), lex: s.lex, now: s.now, asks: s.asks, named: len(names.all) > 0, claims: map[string]bool{}, f: Frame{Lang: s.f.Lang}}
	o.t = greetingless(repeated(o.t))
	if len(o.t) == 0 {
		return Frame{}, false
	}
	if s.f.Lang == English {
		o.relative()
		o.heard()
	} else {
		o.germanVerbs()
	}
	o.shortly()
	o.before = o.besides(names)
	like := o.like(names)
	o.places(names)
	part := o.partOf()
	o.when = whens(o.t, o.now)
	all := o.cues()
	f := Frame{Lang: s.f.Lang, Topic: Order}
	if d, ok := o.complaint(); ok {
		f.Do = []Do{d}
		f.Set(Terse, true)
		return f, true
	}
	all = o.leftAlone(all)
	grumble := Frame{Lang: s.f.Lang, Topic: Comfort, Aspect: o.grumble()}
	if grumble.Aspect != "" && (len(all) == 0 || o.questioned()) {
		return grumble, true
	}
	if len(all) == 0 || len(all) > longestOrder || o.questioned() {
		return f, false
	}
	imperative := o.imperative(all)
	if o.leaves() { // "leave only the corridor on" is no order for the corridor
		f.Unclear, f.Form = &Unclear{Nowhere, nil}, Imperative
		return f, true
	}
	if part != "" && !o.has0("are", "is", "were", "was", "ist", "sind", "waren", "where", "show", "list") && (imperative || !s.asks && slices.ContainsFunc(all, func(c cue) bool {
		return c.is("on", "off", "up", "down", "open", "close", "only", "dim", "brighten", "lower", "raise") || c.amount != nil
	}) || !s.asks && o.has0("only", "just", "nur")) {
		f.Unclear = &Unclear{SomeOf, []string{part}}
		f.Form = Imperative
		return f, true
	}
	for i := range all {
		if !all[i].is("past") {
			continue
		}
		if !imperative {
			return f, false
		}
		all[i].tags = []string{"later"}
	}
	do, ok := o.actions(all)
	if !ok {
		if rest := purposeless(all); rest != nil {
			do, ok = o.actions(rest)
			ok = ok && !slices.ContainsFunc(do, func(d Do) bool { return d.Percent == nil })
		}
	}
	if ok && like != nil {
		do, ok = likeThere(do, like)
	}
	if ok && !(s.asks && o.terse(all)) {
		o.sized(do)
		f.Do = do
		f.Set(Terse, o.terse(all))
		return f, true
	}
	if grumble.Aspect != "" {
		return grumble, true
	}
	f.Unclear = o.whyNot(all)
	if imperative || o.requests() && f.Unclear != nil && slices.Contains([]Reason{Coloured, SceneSet, Heating, For, Later, If}, f.Unclear.Why) || !s.asks && f.Unclear != nil && (f.Unclear.Why == Heating || f.Unclear.Why == Coloured && o.coloured(all)) { // "heating on in the lobby" asks nothing
		f.Form = Imperative
	}
	return f, f.Unclear != nil
}

// purposeless leaves out what an order is for, "… to ten percent for the film"; nil: nothing is said of that. Without a value it is the
// scene that is wanted.
func purposeless(all []cue) []cue {
	for i, c := range all[:max(0, len(all)-1)] {
		if next := all[i+1]; c.is("ready") && next.is("purpose") && (i == 0 || i+2 == len(all) || all[i+2].apart) {
			return slices.Concat(all[:i], all[i+2:])
		}
	}
	return nil
}

// coloured reports whether a colour is named that something is brought to: "the lobby to 2700 kelvin", "lobby blue" ask nothing.
func (s *sentence) coloured(all []cue) bool {
	return slices.ContainsFunc(all, func(c cue) bool {
		w := s.t[c.at].stem
		return c.amount != nil && slices.Contains([]string{"to", "auf"}, s.wordAt(c.at-1)) || c.is("color") && w != "colour" && w != "farbe" && w != "kelvin"
	})
}

// longestOrder is how many parts an order may have; a command is short, and the bound keeps the work small.
const longestOrder = 60

// actions reads all that an order wants done, in order, or nothing.
func (s *sentence) actions(all []cue) ([]Do, bool) {
	takenBack := slices.ContainsFunc(all, func(c cue) bool { return c.instead })
	if !s.verbBehindJoin(all) && !takenBack {
		if d, ok := s.act(joinless(all), s.before); ok {
			return []Do{d}, true
		}
	}
	parts := split(all)
	if len(parts) >= 2 {
		if do, ok := s.parts(parts); ok {
			return do, true
		}
	}
	if takenBack {
		return nil, false
	}
	var pieces [][]cue
	for _, p := range parts {
		apart := s.unjoined(p, maxUnjoined)
		if apart == nil {
			return nil, false
		}
		pieces = append(pieces, apart...)
	}
	if len(pieces) == len(parts) {
		return nil, false
	}
	return s.parts(pieces)
}

// maxUnjoined is how many actions are told apart that nothing stands between.
const maxUnjoined = 3

// unjoined cuts "lights off shades down" in two: actions on other kinds of things, each of them whole.
func (s *sentence) unjoined(p []cue, most int) [][]cue {
	if _, ok := s.act(p, Do{}); ok {
		return [][]cue{p}
	}
	for i := 1; i < len(p) && most > 1; i++ {
		first, ok := s.act(p[:i], Do{})
		if !ok {
			continue
		}
		rest := s.unjoined(p[i:], most-1)
		if rest == nil {
			continue
		}
		if second, _ := s.act(rest[0], Do{}); second.Kind != first.Kind {
			return append([][]cue{p[:i]}, rest...)
		}
	}
	return nil
}

// verbs begin another action.
var verbs = []string{"set", "flip", "give", "dim", "brighten", "increase", "reduce", "raise", "lower", "open", "close", "shut", "pull", "draw", "stop", "toggle", "show", "bringup"}

// verbBehindJoin reports whether a second verb follows an "and" or a comma, so that the whole is not one action.
func (s *sentence) verbBehindJoin(all []cue) bool {
	for i := 1; i < len(all); i++ {
		joins := all[i-1].is("and") || all[i].apart
		if joins && all[i].is(verbs...) && !all[i].is("and") && slices.ContainsFunc(all[:i], func(c cue) bool { return c.is(verbs...) || c.is("on", "off") || c.amount != nil }) {
			return true
		}
	}
	return false
}

func joinless(all []cue) []cue {
	var out []cue
	apart := false
	for _, c := range all {
		if c.is("and") {
			apart = apart || c.apart
			continue
		}
		c.apart, apart = c.apart || apart, false
		out = append(out, c)
	}
	return out
}

// split cuts an order at its joins and commas.
func split(all []cue) [][]cue {
	var parts [][]cue
	var part []cue
	for _, c := range all {
		if (c.is("and") || c.apart) && len(part) > 0 {
			parts = append(parts, part)
			part = nil
		}
		if !c.is("and") {
			part = append(part, c)
		}
	}
	if len(part) > 0 {
		parts = append(parts, part)
	}
	return parts
}

// heard mends what speech recognition hears where only the words beside it tell what was meant.
func (s *sentence) heard() {
	thing := func(i int, tags ...string) bool {
		for slices.Contains([]string{"the", "all", "my", "our", "window"}, s.wordAt(i)) {
			i++
		}
		return s.means(i, tags...)
	}
	for i := range s.t {
		w, before := s.t[i].stem, s.wordAt(i-1)
		switch {
		case w == "dem":
			s.t[i].stem = "dim"
		case w == "onn" && s.means(i-1, "light"):
			s.t[i].stem = "on"
		case s.t[i].text == "of" && (slices.Contains([]string{"turn", "switch", "shut", "turned", "switched"}, before) || s.means(i-1, "light") && (i == len(s.t)-1 || i == len(s.t)-2 && s.wordAt(i+1) == "please" || slices.Contains([]string{"in", "on", "at", "upstair", "downstair", "everywhere"}, s.wordAt(i+1)))):
			s.t[i].stem = "off"
		case slices.Contains([]string{"clothe", "cloth", "clause", "clothes"}, w) && thing(i+1, "shade"):
			s.t[i].stem = "close"
		case (w == "ray" || w == "raze") && thing(i+1, "shade"):
			s.t[i].stem = "raise"
		case w == "bright" && s.wordAt(i+1) == "in" && thing(i+2, "light"):
			s.t[i].stem, s.t[i+1].stem = "brighten", "the"
		case (w == "too" || w == "to" || w == "2") && s.wordAt(i+1) == "third":
			s.t[i].stem = "2"
		case (w == "too" || w == "2") && i > 0 && i+1 < len(s.t) && (digit(s.t[i+1].stem[0]) || slices.Contains([]string{"half", "full", "max", "maximum", "minimum"}, s.t[i+1].stem)) && !slices.Contains([]string{"to", "at", "by"}, before):
			s.t[i].stem = "to"
		}
	}
}

// means reports whether a word has one of the tags.
func (s *sentence) means(i int, tags ...string) bool {
	for _, e := range s.lex.byFirst[s.wordAt(i)] {
		if len(e.words) == 1 && slices.ContainsFunc(e.tags, func(t string) bool { return slices.Contains(tags, strings.TrimPrefix(t, "!")) }) {
			return true
		}
	}
	return false
}

// requests reports whether somebody is asked to do something: "could you make it blue", "kannst du bitte …".
func (s *sentence) requests() bool {
	return slices.Contains([]string{"can", "could", "would", "will", "kannst", "koennen", "koenntest", "koennten", "wuerdest", "wuerden"}, s.wordAt(0)) && slices.Contains([]string{"you", "du", "sie"}, s.wordAt(1))
}
