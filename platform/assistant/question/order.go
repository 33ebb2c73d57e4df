package question

import (
	"slices"
	"strconv"
)

// Leading words that do not change what is wanted.
var politeness = wordSet("please can could would will you kindly i want need would like hey hi hello ok okay now to just let us assistant the then and so go ahead also")

// orderVerbs begin an order; they are no slips for the states that they resemble.
var orderVerbs = wordSet("turn switch power put shut kill leave set adjust change dim brighten make bring move drive run open close raise lower lift " +
	"stop halt restart reboot reset update upgrade install delete remove add create rename enable disable schedule lock unlock start program assign toggle flash blink")

// order recognises that something is to be done; nil for a question. It looks at the first word that is not politeness.
func (s *sentence) order() *Do {
	i := 0
	asks := false
	for i < len(s.t) && politeness[s.t[i].stem] && !s.t[i].used {
		asks = asks || s.t[i].stem == "i"
		i++
	}
	if i >= len(s.t) || s.t[i].used {
		return nil
	}
	verb, rest := s.t[i].stem, s.t[i+1:]
	if verb == "add" && s.wordAt(i+1) == "up" {
		return nil // a sum is asked for
	}
	says := func(words ...string) bool {
		return slices.ContainsFunc(rest, func(t token) bool { return slices.Contains(words, t.stem) })
	}
	shades := says("shade", "blind", "curtain", "shutter", "awning", "screen", "roller", "drape")
	lights := says("light", "lamp", "luminaire", "lighting", "bulb", "fixture", "brightness", "it", "them", "everything")
	number, hasNumber := s.percentage(i + 1)
	set := func(v int) *int { return &v }
	if says("temperature", "thermostat", "heating", "cooling", "setpoint", "hvac", "ventilation", "fan", "radiator") && slices.Contains(
		[]string{"set", "turn", "switch", "raise", "lower", "increase", "decrease", "adjust", "make", "put", "change"}, verb) {
		return &Do{Unclear: "no controller here can set heating, cooling or ventilation; I can switch and dim lights and move shades"}
	}
	switch verb {
	case "turn", "switch", "power", "put", "shut", "kill", "leave":
		switch {
		case verb == "shut" && shades && !says("off"):
			return &Do{Position: set(0)}
		case hasNumber && shades:
			return &Do{Position: set(number)}
		case hasNumber:
			return &Do{Level: set(number)}
		case verb == "kill", says("off", "out") && !s.prepositionOnly("off"):
			return &Do{Level: set(0)}
		case s.t[min(i+1, len(s.t)-1)].stem == "on" || s.endsWithState(rest, "on"):
			return &Do{Level: set(100)}
		case says("up", "down", "on"):
			return &Do{Unclear: "I need to know to what: say for example “set the lobby to 60 %”"}
		}
	case "set", "adjust", "change", "dim", "brighten", "make", "bring", "move", "drive", "run":
		switch {
		case hasNumber && shades:
			return &Do{Position: set(number)}
		case hasNumber && (lights || verb == "set" || verb == "dim" || len(s.q.Places) > 0):
			return &Do{Level: set(number)}
		case verb == "set" || verb == "dim" || verb == "brighten" || verb == "adjust" || verb == "move":
			if says("full", "maximum") && !shades {
				return &Do{Level: set(100)}
			}
			return &Do{Unclear: "I need to know to what: say for example “set the lobby to 60 %” or “move the lobby shades to 30 %”"}
		}
	case "open", "close", "raise", "lower", "lift":
		if hasNumber && lights && !shades {
			return &Do{Level: set(number)}
		}
		if !shades && (lights || len(s.q.Places) == 0 && verb != "close" && verb != "open" || len(rest) == 0) {
			return nil
		}
		goal := 100
		if verb == "close" || verb == "lower" {
			goal = 0
		}
		if hasNumber {
			goal = number
		}
		return &Do{Position: set(goal)}
	case "stop", "halt":
		if shades || len(rest) == 0 || says("moving") {
			return &Do{Stop: true}
		}
	case "restart", "reboot", "reset", "update", "upgrade", "install", "delete", "remove", "add", "create", "rename", "enable",
		"disable", "schedule", "lock", "unlock", "start", "program", "assign", "commission", "toggle", "flash", "blink":
		if verb == "update" && len(rest) <= 1 || verb == "start" && !lights {
			return nil
		}
		return &Do{Unclear: "that is not something I can do; I can set lights to a level and move or stop shades, zone by zone"}
	}
	return nil
}

// percentage finds the number that an order sets: "60 %", "to 60", "half".
func (s *sentence) percentage(from int) (int, bool) {
	for i := from; i < len(s.t); i++ {
		switch w := s.t[i].stem; {
		case s.t[i].used:
		case w == "half" || w == "halfway":
			return 50, true
		case w == "third" && i > 0 && (s.t[i-1].stem == "one" || s.t[i-1].stem == "a"):
			return 33, true
		case w == "third" && i > 0 && s.t[i-1].stem == "2":
			return 67, true
		case isDigits(w):
			n, err := strconv.Atoi(w)
			marked := i+1 < len(s.t) && s.t[i+1].stem == "percent"
			if err == nil && n <= 100 && (marked || i > 0 && (s.t[i-1].stem == "to" || s.t[i-1].stem == "at")) {
				return n, true
			}
		}
	}
	return 0, false
}

// prepositionOnly is for a word like "off" that belongs to something else ("day off").
func (s *sentence) prepositionOnly(word string) bool {
	for i, t := range s.t {
		if t.stem == word && (i == 0 || s.t[i-1].stem != "day") {
			return false
		}
	}
	return true
}

// endsWithState reports whether word closes the sentence as in "turn the lights on".
func (s *sentence) endsWithState(rest []token, word string) bool {
	for i := len(rest) - 1; i >= 0; i-- {
		if rest[i].used || politeness[rest[i].stem] {
			continue
		}
		return rest[i].stem == word || i+1 < len(rest) && slices.ContainsFunc(rest[:i], func(t token) bool { return t.stem == word && !t.used }) &&
			rest[i].stem != "the"
	}
	return false
}

// finishOrder makes the question of an order.
func (s *sentence) finishOrder(do *Do) {
	s.q.Topic, s.q.Do = Order, do
	s.q.Bound = nil
	s.q.Set(Whole, s.has("whole", "all"))
	s.q.Set(Follows, s.has("them"))
	switch {
	case do.Unclear != "":
	case s.has("except", "not"):
		do.Unclear = "I cannot leave something out; name the zones one by one"
	case len(s.when) > 0 && !s.when[0].span.Now, s.has("future"):
		do.Unclear = "I cannot do it later; I can do it now"
	case slices.ContainsFunc(s.q.Places, func(p Place) bool { return p.Kind != Zone && p.Kind != Floor }):
		do.Unclear = "I command whole zones, not single devices; name a zone or a floor"
	}
}
