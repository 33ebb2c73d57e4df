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
	o.places(names)
	o.when = whens(o.t, o.now)
	all := o.cues()
	f := Frame{Lang: s.f.Lang, Topic: Order}
	if d, ok := o.complaint(); ok {
		f.Do = []Do{d}
		f.Set(Terse, true)
		return f, true
	}
	all = o.leftAlone(all)
	if len(all) == 0 || len(all) > longestOrder || o.questioned() {
		return f, false
	}
	imperative := o.imperative(all)
	for i := range all {
		if !all[i].is("past") {
			continue
		}
		if !imperative {
			return f, false
		}
		all[i].tags = []string{"later"}
	}
	if do, ok := o.actions(all); ok && !(s.asks && o.terse(all)) {
		f.Do = do
		f.Set(Terse, o.terse(all))
		return f, true
	}
	f.Unclear = o.whyNot(all)
	if imperative || !s.asks && f.Unclear != nil && (f.Unclear.Why == Heating || f.Unclear.Why == Coloured && o.coloured(all)) { // "heating on in the lobby" asks nothing
		f.Form = Imperative
	}
	return f, f.Unclear != nil
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
		if d, ok := s.act(joinless(all), Do{}); ok {
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
	return slices.DeleteFunc(slices.Clone(all), func(c cue) bool { return c.is("and") })
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

// parts reads several actions, each whole in itself, but that the thing or the verb may be said only once.
func (s *sentence) parts(parts [][]cue) ([]Do, bool) {
	var out []Do
	var before Do
	var verb, things []cue
	for i := 0; i < len(parts); i++ {
		p := parts[i]
		instead := p[0].instead
		if d, ok := thingOnly(p); ok && i+1 < len(parts) && slices.ContainsFunc(parts[i+1], func(c cue) bool { return c.is("it") }) { // "the lights: turn them off"
			before = d
			parts[i+1] = slices.Clone(parts[i+1])
			parts[i+1][0].instead = parts[i+1][0].instead || instead
			continue
		}
		var d Do
		ok := false
		for take := len(parts) - i; take > 1 && !ok; take-- { // "lobby, canteen and corridor" belong together
			joined := slices.Concat(parts[i : i+take]...)
			corrects := slices.ContainsFunc(slices.Concat(parts[i+1:i+take]...), func(c cue) bool { return c.instead })
			if !corrects && onlyPlaces(parts[i+1:i+take]) || onlyNamed(parts[i:i+take-1]) { // or "the lights in Alps, Lakes and the lobby to 50"
				if d, ok = s.act(joined, before); ok {
					i += take - 1
				}
			}
		}
		if !ok {
			d, ok = s.act(p, before)
		}
		if !ok && len(verb) > 0 && !p[0].is(verbs...) {
			d, ok = s.act(append(slices.Clone(verb), p...), before)
		}
		if !ok && p[0].apart && len(things) > 0 { // "lights on, off"
			d, ok = s.act(append(slices.Clone(things), p...), before)
		}
		if _, named := thingOnly(p); !ok && named && i+1 < len(parts) { // "the blinds, all the way down"
			if d, ok = s.act(slices.Concat(p, parts[i+1]), before); ok {
				i++
			}
		}
		if !ok {
			return nil, false
		}
		switch n := len(out); {
		case n > 0 && (instead || p[0].apart && out[n-1].overtakenBy(d)):
			out[n-1] = d
		case n > 0 && out[n-1].same(d):
			out[n-1].Places = append(out[n-1].Places, d.Places...)
		default:
			out = append(out, d)
		}
		before = d
		verb = nil
		if slices.ContainsFunc(p, func(c cue) bool { return c.is("light", "shade", "level", "place") }) { // else those of before
			things = nil
		}
		for _, c := range p {
			if c.is("light", "shade", "level", "place") {
				things = append(things, cue{at: c.at, n: c.n, tags: c.tags, places: c.places})
			}
			if c.is("set", "open", "close", "raise", "lower", "shut", "show", "on", "off", "dim") && len(verb) < 2 {
				verb = append(verb, cue{at: c.at, n: c.n, tags: c.tags})
			}
		}
	}
	for i := range out {
		for k := range out[:i] {
			if out[i].Kind == out[k].Kind && (out[i].Switch == "on" && out[k].Switch == "off" || out[i].Switch == "off" && out[k].Switch == "on") && samePlaces(out[i].Places, out[k].Places) {
				return nil, false
			}
		}
	}
	return out, len(out) > 0
}

func onlyPlaces(parts [][]cue) bool {
	for _, p := range parts {
		for _, c := range p {
			if len(c.places) == 0 {
				return false
			}
		}
	}
	return true
}

// thingOnly is what a part names that says nothing of what is to be done.
func thingOnly(p []cue) (Do, bool) {
	var d Do
	for _, c := range p {
		switch {
		case len(c.places) > 0:
			d.Places = append(d.Places, c.places...)
		case c.is("light") && d.Kind != Shade:
			d.Kind = Light
		case c.is("shade") && d.Kind != Light:
			d.Kind = Shade
		case !c.is("own", "all"):
			return d, false
		}
	}
	return d, d.Kind != ""
}

// onlyNamed reports whether parts name things at places, and nothing of what is to be done.
func onlyNamed(parts [][]cue) bool {
	for _, p := range parts {
		if !slices.ContainsFunc(p, func(c cue) bool { return len(c.places) > 0 }) || slices.ContainsFunc(p, func(c cue) bool {
			return c.instead || len(c.places) == 0 && !c.is("light", "shade", "all") && !(c.is("set") && c.at == p[0].at)
		}) {
			return false
		}
	}
	return true
}

func samePlaces(a, b []Place) bool {
	return slices.EqualFunc(a, b, func(x, y Place) bool { return x.Kind == y.Kind && x.ID == y.ID && x.Name == y.Name })
}

// overtakenBy reports whether nothing of an action is left once the next one is done: "40, 50 percent".
func (d Do) overtakenBy(next Do) bool {
	absolute := func(o Do) bool { return o.Switch == "on" || o.Switch == "off" || o.Switch == "set" }
	return d.Kind == next.Kind && absolute(d) && absolute(next) && d.Whole == next.Whole && len(d.Except)+len(next.Except) == 0 && samePlaces(d.Places, next.Places)
}

// same reports whether two actions differ in their places only.
func (d Do) same(o Do) bool {
	d.Places, o.Places = nil, nil
	return len(d.Except) == 0 && len(o.Except) == 0 && d.String() == o.String()
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
		case s.t[i].text == "of" && (slices.Contains([]string{"turn", "switch", "shut", "turned", "switched"}, before) || s.means(i-1, "light") && (i == len(s.t)-1 || i == len(s.t)-2 && s.wordAt(i+1) == "please")):
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
