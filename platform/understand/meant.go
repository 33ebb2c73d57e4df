package understand

import (
	"slices"
	"strings"
)

// sense drops meanings that the words beside exclude: "on" of "on Monday" is no state.
func (s *sentence) sense() {
	for i := range s.chunks {
		c := &s.chunks[i]
		if c.n > 1 && c.is("on") && s.wordAt(c.at+c.n-1) == "on" && slices.Contains([]string{"switched", "turned"}, s.t[c.at].text) && s.onAFloor(c.at+c.n) { // "what was switched on the ground floor"
			c.tags = []string{"switch"}
			continue
		}
		if c.n == 1 && s.wordAt(c.at) == "mehr" && i > 0 && slices.ContainsFunc(s.chunks[:i], func(o chunk) bool { return o.is("no", "nothing", "not") }) && !s.has("than") { // "nirgends mehr"
			c.tags = []string{"fill"}
			continue
		}
		if out := s.wordAt(c.at); c.n == 1 && (out == "out" || out == "weg") && s.setsAside(c.at) { // "leaving the corridors out"
			c.tags = []string{"except"}
			continue
		}
		if to := s.amountOfLight(i); to != "" {
			c.tags = []string{to}
			if to != "level" {
				s.chunks[i-1].tags = []string{"fill"}
			}
			continue
		}
		c.tags = slices.DeleteFunc(slices.Clone(c.tags), func(tag string) bool { return !s.meant(tag, c.at, c.n) })
	}
}

// amountOfLight is what "light", behind a word for how much of it there is, asks of how bright it is; empty: it asks for lamps. "Which room
// has most light", "is there more light in the lobby than in the canteen".
func (s *sentence) amountOfLight(i int) string {
	c := s.chunks[i]
	w := s.t[c.at].text
	if i == 0 || c.n != 1 || w != "light" && w != "licht" || s.chunks[i-1].at+s.chunks[i-1].n != c.at || s.hasWord("energy") || s.hasWord("power") || s.hasWord("use") || s.hasWord("cost") {
		return ""
	}
	if i+1 < len(s.chunks) && s.chunks[i+1].at == c.at+1 && !s.t[c.at+1].apart && !s.chunks[i+1].is("fill", "than", "there") { // "the most light fittings"
		return ""
	}
	for _, p := range [][2]string{{"most", "brightest"}, {"least", "darkest"}, {"more", "brighter"}, {"less", "darker"}, {"howmuch", "level"}} {
		if s.chunks[i-1].is(p[0]) {
			return p[1]
		}
	}
	return ""
}

// onAFloor reports whether a floor stands at i, and behind it no lights that something was done to.
func (s *sentence) onAFloor(i int) bool {
	if s.wordAt(i) == "the" {
		i++
	}
	places := s.placeAt(i)
	return len(places) == 1 && places[0].Kind == Floor && !slices.ContainsFunc(s.t[i:], func(t token) bool { return countable(t.stem) == Light })
}

// meant sorts out words that are prepositions, articles or fragments as often as they are states.
func (s *sentence) meant(tag string, i, n int) bool {
	if n == 2 && s.wordAt(i) == "going" && s.wordAt(i+1) == "to" { // "going to the annex" is no forecast
		if k := i + 2; k < len(s.t) && (s.t[k].name || s.wordAt(k) == "the" && k+1 < len(s.t) && s.t[k+1].name) {
			return tag == "use"
		}
		return tag != "use"
	}
	if way := s.wordAt(i + n - 1); n == 2 && (way == "down" || way == "up") && slices.Contains([]string{"go", "went", "gone", "come", "came"}, s.wordAt(i)) { // shades go down, and devices too
		return (tag == "open" || tag == "closed") == (s.hasWord("shade") || s.nameSays(Shade))
	}
	if dark := s.wordAt(i+1) == "dark"; n == 2 && dark && (tag == "off" || tag == "offline") { // rooms go dark, and devices too
		return (tag == "offline") == (s.hasWord("device") || s.hasWord("controller") || s.hasWord("bus") || s.hasWord("meter"))
	}
	if tag == "why" && s.wordAt(i+n-1) == "up" && strings.HasSuffix(s.wordAt(i+n), "ing") { // "what did we end up using"
		return false
	}
	if n != 1 {
		return true
	}
	next, before := token{}, s.wordAt(i-1)
	if i+1 < len(s.t) {
		next = s.t[i+1]
	}
	last := i == len(s.t)-1
	switch w := s.t[i].stem; {
	case w == "last" && s.f.Lang == German && (tag == "power" || tag == "last"): // "die Last" and "die letzten" are one word to the reader of times
		return (tag == "power") == (s.t[i].text == "last")
	case w == "on" && tag == "on":
		return s.stateOn(i, next)
	case w == "au" && tag == "off" || w == "aus" && tag == "off": // "wie sieht es in der Lobby aus", "vom Empfang aus", "aus welchem Grund"
		return !slices.Contains([]string{"welchem", "welcher", "welchen", "dem", "der", "einem", "einer"}, next.stem) && !s.has0("sieht", "schaut", "sehen") && !(s.has0("vom", "von") && s.hasWord("switch") && i > 0 && s.t[i-1].name && !last)
	case w == "los": // "was war los", and "was ist mit der Lampe los"
		return (tag == "fault") == s.has0("mit")
	case tag == "daylight" && sunny[w]: // a question for shades may only mention it
		return !s.hasWord("shade") && !s.hasWord("light")
	case tag == "usual" && oddly[w]: // of a figure, or of anything; of a lamp it is only said
		return s.hasWord("energy") || s.hasWord("power") || s.hasWord("use") || s.hasWord("cost") || s.hasWord("any")
	case w == "gone" && tag == "offline" && s.hasWord("light") && !s.hasWord("device") && (last || next.apart): // of a lamp it is broken
		return false
	case w == "gone" && tag == "fault":
		return s.hasWord("light") && !s.hasWord("device") && (last || next.apart)
	case w == "breakdown": // "any breakdowns", not "a breakdown by floor"
		return (tag == "fault") == (s.t[i].text == "breakdowns" && next.stem != "by" && next.stem != "per" && next.stem != "of")
	case w == "an" && tag == "on" && s.has0("zeigt", "zeigen", "gibt", "faengt"):
		return false
	case (w == "left" || w == "leave") && tag == "fill": // "who left the lamps burning", not "the lamps on the left"
		return before != "the" && before != "to" && s.has0("on", "burning", "lit", "running")
	case tag == "position" && slices.Contains([]string{"steht", "stehen", "standing"}, w):
		return s.hasWord("shade") || s.nameSays(Shade) || w == "standing" && !s.hasWord("light")
	case tag == "healthy" && slices.Contains([]string{"geht", "gehen", "tut", "tun"}, w): // "was geht nicht", not "geht in den Anbau"
		return s.hasWord("not")
	case w == "ausgefallen" && (tag == "fault" || tag == "offline"): // of a lamp it is broken, of a device it does not answer
		return (tag == "fault") == s.hasWord("light")
	case w == "running" && (tag == "on" || tag == "moving") && s.hasWord("light"), w == "laufen" && tag == "on":
		return tag == "on" && s.hasWord("light")
	case w == "running" && tag == "on": // "what is still running upstairs"
		return s.has0("still", "left", "anything", "everything") && !s.hasWord("shade") && !s.hasWord("device") && !s.hasWord("controller") && !s.hasWord("meter") && !s.hasWord("bus") && !s.hasWord("automation")
	case w == "leuchten" && tag == "on":
		return last && s.hasWord("list") && !s.has0("hat", "haben", "gibt", "besitzt") // "die meisten Leuchten" are things
	case s.f.Lang == German && (w == "an" || w == "ein" || w == "auf" || w == "zu") && (tag == "on" || tag == "open" || tag == "closed"):
		return last || next.apart || slices.Contains([]string{"sind", "ist", "waren", "war", "bleiben", "ausser", "und", "and", "oder", "bis", "seit", "since"}, next.stem) || next.used && s.isTime(i+1) || (w == "an" || w == "ein") && s.hasWord("light") && (next.stem == "in" || next.stem == "im")
	case slices.Contains([]string{"hoch", "rauf", "runter", "herunter", "hinunter", "hinauf"}, w):
		return s.hasWord("shade") || s.nameSays(Shade)
	case w == "out": // "are the lights out", not "find out"
		off := s.hasWord("light") && (last || next.apart || next.name || slices.Contains([]string{"in", "on", "at", "everywhere"}, next.stem)) && (i > 0 && s.t[i-1].name || slices.Contains([]string{"light", "lamp", "bulb", "luminaire", "is", "are", "all", "still", "be"}, before))
		return (tag == "off") == off
	case (w == "eat" || w == "eating") && tag == "use": // power, and not lunch
		return s.hasWord("energy") || s.hasWord("power") || s.hasWord("howmuch") || s.hasWord("most")
	case w == "show" && slices.Contains([]string{"the", "a", "our", "this"}, before):
		return false
	case tag == "fault" && slices.Contains([]string{"technician", "electrician", "techniker", "elektriker"}, w): // who is needed, not who is there
		return s.has0("need", "send", "call", "should", "must", "have", "for", "brauchen", "braucht", "brauche", "brauch", "rufen", "schicken", "muss", "muessen", "soll", "sollen", "melden", "bestellen", "fuer")
	case w == "dimmer": // of the canteen it is a device, and else it is what is darker
		return (tag == "device") == (i > 0 && s.t[i-1].name && !s.hasWord("than"))
	case w == "dark" && tag == "off": // "why is it so dark" says of no light that it is off
		return before != "so" && before != "too"
	case (w == "up" || w == "down") && (tag == "open" || tag == "closed"):
		return next.stem != "to" && (s.hasWord("shade") || s.nameSays(Shade) || slices.ContainsFunc(s.f.Places, func(p Place) bool { return p.Kind == Shade }))
	case (w == "up" || w == "down") && (tag == "online" || tag == "offline"):
		bus := slices.ContainsFunc(s.f.Places, func(p Place) bool { return p.Kind == Bus })
		return s.hasWord("device") || s.hasWord("controller") || s.hasWord("meter") || s.hasWord("bus") || bus
	case w == "level" && tag == "level":
		return slices.Index(ordinals, before) < 1
	case w == "may" && tag == "fill", w == "it" && tag == "it":
		return true
	case w == "can" && tag == "can":
		return i == 0 || s.hasWord("dim?") || s.hasWord("tune?") || s.hasWord("able")
	case w == "free" && tag == "occupancy", w == "empty" && tag == "occupancy":
		return true
	case (tag == "power" || tag == "closed") && slices.Contains([]string{"drawn", "draw", "drew", "drawing", "pull", "pulling"}, w):
		return (tag == "power") != s.hasWord("shade")
	case w == "break" && (tag == "fault") == (s.has0("down") || s.has0("by")):
		return false
	case (w == "burn" || w == "burning" || w == "burnt" || w == "burned") && (tag == "use" || tag == "on"):
		if s.wordAt(0) == "what" && s.wordAt(1) == "is" && w == "burning" && !s.hasWord("energy") {
			return tag == "on"
		}
		drawn := s.hasWord("energy") || s.hasWord("power") || s.hasWord("howmuch") || s.hasWord("most") || s.hasWord("more") || s.hasWord("less") || s.hasWord("consumer")
		alight := !drawn && (s.has0("still", "left") || w == "burning" || s.yesNo() || s.hasWord("since")) // "which zones still burn"
		return (tag == "on") == (alight || s.hasWord("light") && !s.hasWord("energy") || s.hasWord("any") && !s.hasWord("howmuch"))
	case w == "opening" && tag == "moving" && s.hasWord("average"): // "the average opening"
		return false
	case w == "opening" && tag == "moving":
		return slices.Contains([]string{"is", "are", "shade", "blind", "curtain", "still", "not", "currently", "now"}, before)
	case (w == "running" || w == "opening" || w == "closing") && tag == "moving":
		return (s.hasWord("shade") || s.nameSays(Shade) || w == "closing") && next.stem != "at" && !s.hasWord("kelvin")
	case w == "minute" || w == "second":
		return false
	case w == "light" && tag == "light", w == "shade" && tag == "shade":
		return true
	case slices.Contains([]string{"set", "turn", "moved", "put", "flick", "flip"}, w):
		return tag != "switch" || s.hasWord("who") || s.hasWord("since") || s.hasWord("often") || w == "set" && s.wordAt(0) == "what" && s.has0("last") || w == "put" && s.has0("somebody", "someone", "anybody", "anyone") || w == "moved" && (s.has0("were", "was", "been", "anyone", "anybody", "someone", "somebody", "if", "whether") || s.hasWord("list"))
	case w == "free":
		return true
	case tag == "brighter" || tag == "darker":
		return w != "lighter" || s.hasWord("than")
	}
	return true
}

// oddly are words of opinion where no figure is spoken of.
var oddly = wordSet("strange weird odd peculiar seltsam komisch merkwürdig sonderbar eigenartig")

var sunny = wordSet("sun sunny sunshine sonne sonnig sonnenschein")

// stateOn tells "on" as a state from "on" as a preposition.
func (s *sentence) stateOn(i int, next token) bool {
	switch {
	case s.wordAt(i-1) == "on" && i > 0:
		return false // the second one of "on on the upper floor"
	case i == len(s.t)-1:
		first, second := s.wordAt(0), s.wordAt(1)
		return !((first == "which" || first == "what") && slices.Contains([]string{"floor", "bus", "line", "level", "day"}, second)) || s.hasWord("light") || slices.ContainsFunc(s.f.Conds, func(c Cond) bool { return c.Of == Light })
	case next.used && s.isTime(i+1):
		_, weekday := weekdays[next.stem]
		_, month := months[next.stem]
		return !weekday && !month && next.stem != "the" && !digit(next.text[0])
	case next.stem == "that" && slices.Contains([]string{"is", "are", "was", "were", "not"}, s.wordAt(i+2)): // "which lights are on that were not"
		return true
	case next.apart, next.stem == "on", next.stem == "all" && i+2 < len(s.t) && s.isTime(i+2): // "on all night"
		return true
	case next.name:
		return next.text == "upstairs" || next.text == "downstairs"
	case next.used:
		return true
	}
	return !slices.Contains([]string{"the", "a", "this", "that", "which", "what", "our", "my", "each", "every", "all", "average", "floor", "any", "new", "christmas", "lighting", "electricity", "energy", "bus"}, next.stem)
}

// hasWord reports whether a word that means tag stands in the sentence, before the words are sorted out.
func (s *sentence) hasWord(tag string) bool {
	return slices.ContainsFunc(s.chunks, func(c chunk) bool { return slices.Contains(c.tags, tag) })
}
