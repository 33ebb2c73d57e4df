package understand

import (
	"slices"
)

// parts reads several actions, each whole in itself, but that the thing or the verb may be said only once.
func (s *sentence) parts(parts [][]cue) ([]Do, bool) {
	var out []Do
	before := s.before
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
			if !corrects && onlyPlaces(parts[i+1:i+take]) || onlyNamed(parts[i:i+take-1], parts[i+take-1]) { // or "the lights in Alps, Lakes and the lobby to 50"
				if d, ok = s.act(joined, before); ok {
					i += take - 1
				}
			}
		}
		if as := s.asShades(p, before); !ok && as != nil {
			d, ok = s.act(as, before)
		}
		if !ok {
			d, ok = s.act(p, before)
		}
		if !ok && len(verb) > 0 && !p[0].is(verbs...) {
			d, ok = s.act(append(slices.Clone(verb), p...), before)
		}
		if !ok && p[0].apart && len(things) > 0 && !s.atHour(p) { // "lights on, off"
			d, ok = s.act(append(without(things, p), p...), before)
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

// atHour reports whether a part may tell a time of day: "lights off, I have to leave at three".
func (s *sentence) atHour(p []cue) bool {
	return slices.ContainsFunc(p, func(c cue) bool {
		return c.amount != nil && !c.amount.percent && c.amount.value <= 24 && (s.wordAt(c.at-1) == "at" || s.wordAt(c.at-1) == "um")
	})
}

// asShades reads a part that names a place, and where to, as one of shades if the action before was: "the canteen blinds to 45, the
// lobby to 60", "… up, the west side down"; nil if it tells of what itself.
func (s *sentence) asShades(p []cue, before Do) []cue {
	placed := slices.ContainsFunc(p, func(c cue) bool { return len(c.places) > 0 })
	if before.Kind != Shade || !placed || slices.ContainsFunc(p, func(c cue) bool {
		return c.is("light", "shade", "level", "panel", "everything", "on", "off", "dim", "brighten", "dimmer", "brighter", "max", "min", "it")
	}) {
		return nil
	}
	return append([]cue{{at: p[0].at, tags: []string{"shade"}, apart: p[0].apart, instead: p[0].instead}}, p...)
}

// without leaves the places of earlier things out if a part names its own.
func without(things, p []cue) []cue {
	if !slices.ContainsFunc(p, func(c cue) bool { return len(c.places) > 0 }) {
		return slices.Clone(things)
	}
	return slices.DeleteFunc(slices.Clone(things), func(c cue) bool { return len(c.places) > 0 })
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

// onlyNamed reports whether parts name things at places, and nothing of what is to be done with them but a verb whose amount is in the
// last part: "dim the lights in Alps and Lakes to 15".
func onlyNamed(parts [][]cue, last []cue) bool {
	begins := func(c cue) bool { return c.is("set") }
	if slices.ContainsFunc(last, func(c cue) bool { return c.amount != nil }) && !slices.ContainsFunc(last, func(c cue) bool { return c.is(verbs...) }) {
		begins = func(c cue) bool { return c.is(verbs...) }
	}
	for _, p := range parts {
		if !slices.ContainsFunc(p, func(c cue) bool { return len(c.places) > 0 }) || slices.ContainsFunc(p, func(c cue) bool {
			return c.instead || len(c.places) == 0 && !c.is("light", "shade", "all") && !(begins(c) && c.at == p[0].at)
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
