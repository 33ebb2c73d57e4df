package understand

import (
	"slices"
)

// sayings are what the cues of one action say, each at most once.
type sayings struct {
	at     map[string]int // where a tag first stands
	cues   [][]string
	amount *amount
	where  int // of the amount
	place  int // where the first place stands
	first  int // the first word that is no place
	// compared is where "higher" or "lower" stands last.
	compared int
}

// act understands one action, or nothing; before is the one ahead of it in the sentence, which "them" goes back to.
func (s *sentence) act(all []cue, before Do) (Do, bool) {
	var d Do
	y := sayings{at: map[string]int{}}
	for i := 0; i < len(all); i++ {
		c := all[i]
		switch {
		case c.is("except") || c.is("not") && i+1 < len(all) && len(all[i+1].places) > 0 && i > 0:
			n := exceptions(all[i+1:])
			if n == 0 {
				return d, false
			}
			for _, o := range all[i+1 : i+1+n] {
				d.Except = append(d.Except, o.places...)
			}
			i += n
		case s.f.Lang == German && i > 0 && (c.is("only") || c.apart && len(c.places) > 0) && s.notThese(all[i:]) > 0: // "alle Rollos hoch, nur die Lobby nicht"
			n := s.notThese(all[i:])
			for _, o := range all[i : i+n] {
				d.Except = append(d.Except, o.places...)
			}
			i += n - 1
		case c.is("here") && len(d.Places) == 0 && len(before.Places) > 0 && slices.Contains([]string{"there", "dort"}, s.t[c.at+c.n-1].stem): // "and turn the lights there on"
			d.Places = before.Places
		case len(c.places) > 0:
			if len(d.Places) == 0 {
				y.place = i
			}
			d.Places = append(d.Places, c.places...)
			if _, ok := y.at["shade"]; !ok && s.namesShades(c) {
				y.at["shade"] = i
				y.cues = append(y.cues, []string{"shade"})
			}
		case c.is("place"): // the site itself
			d.Whole = true
		case c.amount != nil:
			if y.amount != nil || c.amount.bad != "" {
				return d, false
			}
			y.amount, y.where = c.amount, i
		case len(c.tags) == 0, c.is("strange", "later", "for", "part", "not", "neither", "no", "if"):
			return d, false
		case c.is("only", "own"), c.is("room") && s.t[c.at].text != "rooms" && i+1 < len(all) && all[i+1].is("light", "shade", "panel", "level"):
		case c.is("building"):
			d.Whole, d.House = true, true
		case c.is("all"):
			d.Whole = true
		default:
			if len(y.cues) == 0 {
				y.first = c.at
			}
			y.cues = append(y.cues, c.tags)
			for _, t := range c.tags {
				if _, ok := y.at[t]; !ok {
					y.at[t] = i
				}
			}
			if comparing[s.t[c.at].stem] {
				y.compared = i
			}
		}
	}
	if len(d.Places) > 0 {
		d.Whole = false
	} else if y.has("it") && !y.has("light", "shade") {
		d.Places = before.Places
	}
	if len(d.Places)+len(d.Except) == 0 && !d.Whole && !y.has("panel") { // what was told ahead of the order
		d.Places = s.before.Places
	}
	return s.decide(d, y, before)
}

// namesShades reports whether the words of a place tell of shades, and all that they name is some: "the tower south blinds".
func (s *sentence) namesShades(c cue) bool {
	return !slices.ContainsFunc(c.places, func(p Place) bool {
		return p.Kind != Shade && !(p.Kind == Zone && slices.ContainsFunc(stems(p.Name), func(w string) bool { return countable(w) == Shade }))
	}) && slices.ContainsFunc(s.t[c.at:c.at+c.n], func(t token) bool { return countable(t.stem) == Shade })
}

// notThese is how many cues name places that are left out by a "nicht" behind them; 0: none.
func (s *sentence) notThese(all []cue) int {
	n := 0
	if all[0].is("only") {
		n = 1
	}
	from := n
	for n < len(all) && (len(all[n].places) > 0 || n > from && all[n].is("and", "light", "shade")) {
		n++
	}
	if n == from || n >= len(all) || !all[n].is("not") && !(all[n].is("except") && s.wordAt(all[n].at+all[n].n-1) == "nicht") { // "den Korridor aber nicht"
		return 0
	}
	return n + 1
}

// exceptions is how many cues belong to what is left out.
func exceptions(all []cue) int {
	n := 0
	for n < len(all) && (len(all[n].places) > 0 || n+1 < len(all) && len(all[n+1].places) > 0 && all[n].is("and", "light", "shade", "only")) {
		n++
	}
	if n < len(all) && n > 0 && all[n].is("light", "shade") {
		n++
	}
	return n
}

func (y sayings) has(tags ...string) bool {
	return slices.ContainsFunc(tags, func(t string) bool { _, ok := y.at[t]; return ok })
}

// only reports whether everything that is said may mean one of some tags.
func (y sayings) only(tags ...string) bool {
	return !slices.ContainsFunc(y.cues, func(c []string) bool {
		return !slices.ContainsFunc(c, func(t string) bool { return slices.Contains(tags, t) })
	})
}

// decide makes an action of what is said.
func (s *sentence) decide(d Do, y sayings, before Do) (Do, bool) {
	if y.has("it") && before.Kind != "" && !y.has("light", "shade", "panel") && !(before.Kind == Shade && y.has("dim", "brighten", "dimmer", "brighter")) { // "and dim them"
		y.at[string(before.Kind)] = y.at["it"]
		delete(y.at, "it")
		y.cues = slices.DeleteFunc(slices.Clone(y.cues), func(c []string) bool { return slices.Contains(c, "it") })
	}
	if y.has("it") && y.has("light", "shade") && y.at["it"] > max(y.at["light"], y.at["shade"]) { // "the curtain, please close it"
		delete(y.at, "it")
		y.cues = slices.DeleteFunc(slices.Clone(y.cues), func(c []string) bool { return slices.Contains(c, "it") })
	}
	if y.has("on") && y.only("on", "filler") && y.at["on"] < y.place && s.t[y.first].stem == "on" {
		return d, false // "on the ground floor" says where
	}
	if y.has("inside") || y.has("sun") && !y.has("light", "shade", "panel") {
		return s.sun(d, y)
	}
	bright := y.has("light", "level", "dim", "dimmer", "brighten", "brighter", "morelight", "lesslight", "switch", "halve", "double")
	switch {
	case y.has("panel") && !y.has("light", "shade"):
		return s.panel(d, y)
	case y.has("shade") && !y.has("light", "panel", "level"):
		return s.shade(d, y)
	case y.has("everything") && y.has("pull", "draw") && y.only("everything", "pull", "draw", "up", "down", "open", "close", "fully"): // nothing else is pulled
		y.at["shade"] = y.at["everything"]
		y.cues = slices.DeleteFunc(slices.Clone(y.cues), func(c []string) bool { return slices.Contains(c, "everything") })
		return s.shade(d, y)
	case y.has("everything") && y.has("dim", "dimmer", "brighten", "brighter") && !y.has("light", "shade", "on", "off"): // nothing else is dimmed
		y.at["light"] = y.at["everything"]
		y.cues = slices.DeleteFunc(slices.Clone(y.cues), func(c []string) bool { return slices.Contains(c, "everything") })
		return s.light(d, y)
	case y.has("everything") && !y.has("light", "shade"):
		d.Kind = Everything
		if y.has("off", "on") && y.only("everything", "set", "off", "on", "to", "here") && y.amount == nil && !(y.has("on") && y.has("off")) {
			d.Switch = "off"
			if y.has("on") {
				d.Switch = "on"
			}
			return d, true
		}
		return d, false
	case bright && !y.has("shade"):
		return s.light(d, y)
	case len(d.Places) > 0 && y.has("shut") && y.has("down") && y.only("shut", "down", "filler"): // "shut down the ground floor"
		d.Kind, d.Switch = Everything, "off"
		return d, true
	case len(d.Places) > 0 && y.has("open", "close", "shut") && !y.has("on", "off", "room"): // a place alone: what is opened is its shades
		return s.shade(d, y)
	case len(d.Places) > 0 && (y.has("on", "off", "toggle") || y.amount != nil && y.has("to", "set", "by") || y.has("max", "min")) && (y.amount != nil || !y.has("up", "down", "raise", "lower")):
		return s.light(d, y)
	case len(d.Places) > 0 && y.amount == nil && y.has("up", "down") && y.only("set", "up", "down") && turning[s.t[y.first].stem]: // "turn the lobby down a bit"
		return s.light(d, y)
	case d.House && d.Whole && y.has("on", "off") && !y.has("shade"): // "switch off the whole building except the corridors"
		return s.light(d, y)
	case y.has("room") && y.has("on", "brighter", "dimmer", "dim", "brighten"):
		return s.light(d, y)
	case len(d.Places) > 0 && y.amount != nil && y.only("to", "set", "give", "lower", "reduce", "increase", "raise", "up", "down"):
		return s.light(d, y)
	case len(d.Places) > 0 && y.amount != nil && y.has("by") && y.has("increase", "reduce"):
		return s.light(d, y)
	}
	return d, false
}

// turning are verbs of what has a knob: light, and no shade.
var turning = wordSet("turn dial crank dreh drehe drehen dreht")

// lightWords are all that an action on lights may be said with.
var lightWords = []string{"light", "level", "room", "it", "set", "flip", "give", "on", "off", "shut", "toggle", "dim", "dimmer", "brighten", "brighter", "increase", "reduce", "raise", "lower", "up", "down",
	"more", "less", "morelight", "lesslight", "fully", "max", "min", "highest", "lowest", "to", "by", "switch", "bringup", "points", "show", "pull", "filler", "place", "halve", "double", "cut", "further"}

func number(n int) *int { return &n }

// panel decides to show the controls.
func (s *sentence) panel(d Do, y sayings) (Do, bool) {
	d.Kind, d.Switch = Panel, "show"
	shows := y.has("show", "open", "bringup", "give", "up", "pull") || y.has("set") && y.has("on", "screen", "up") || y.only("panel", "room", "screen")
	return d, shows && y.amount == nil && y.only("panel", "room", "show", "open", "bringup", "give", "set", "up", "on", "pull", "screen", "filler", "light", "to")
}
