package question

import (
	"slices"
	"strings"
)

// Leading words that do not change what is wanted.
var politeness = wordSet("please can could would will you kindly i want need would like hey hi hello ok okay now to just let us assistant the then and so go ahead also")

// orderVerbs begin an order; they are no slips for the states that they resemble.
var orderVerbs = wordSet("turn switch power put shut kill leave set adjust change dim brighten make bring move drive run open close raise lower lift " +
	"stop halt restart reboot reset update upgrade install delete remove add create rename enable disable schedule lock unlock start program assign toggle flash blink")

// setters are the verbs that take a number.
var setters = wordSet("turn switch power put shut kill leave set adjust change dim brighten make bring move drive run open close raise lower lift")

// negations turn an order into what I do not understand. Contractions are written out before.
var negations = wordSet("not never no none nothing neither nor without dont donot dnt wont cant doesnt didnt shouldnt mustnt neednt wouldnt couldnt " +
	"nicht nichts nie niemals kein keine keinen keinem keiner keines weder ohne")

// negation reports whether a word is one. "No" before a number is its short form.
func (s *sentence) negation(i int) bool {
	t := s.t[i]
	switch {
	case t.text == "no":
		return i+1 >= len(s.t) || !isDigits(s.t[i+1].text)
	case t.text == "t" && i > 0:
		return slices.Contains([]string{"don", "doesn", "didn", "won", "can", "shouldn", "mustn", "needn", "wouldn", "couldn"}, s.t[i-1].text)
	}
	return negations[t.text] || negations[t.stem] || strings.HasSuffix(t.text, "n't") || strings.HasSuffix(t.text, "'nt")
}

// prohibits reports whether a word begins a sentence as a prohibition: "do not", "never", "you should not".
func (s *sentence) prohibits(i int) bool {
	if s.t[i].text == "no" {
		return false // "no, turn it off"
	}
	return s.negation(i) || i+1 < len(s.t) && s.negation(i+1) &&
		slices.Contains([]string{"do", "don", "should", "shouldn", "must", "mustn", "may", "might", "need"}, s.t[i].text)
}

// denied is the first negation that is no part of a name; dismissed looks among the words that were taken out.
func (s *sentence) denied(dismissed bool) string {
	for i := range s.t {
		if s.t[i].used == dismissed && s.negation(i) {
			return s.t[i].text
		}
	}
	return ""
}

// order recognises that something is to be done; nil for a question. It looks at the first word that is not politeness.
func (s *sentence) order() *Do {
	i := 0
	for i < len(s.t) && !s.t[i].used && (politeness[s.t[i].stem] || s.prohibits(i)) {
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
	number, unclear := s.amount(i + 1)
	set := func(v int) *int { return &v }
	if says("temperature", "thermostat", "heating", "cooling", "setpoint", "hvac", "ventilation", "fan", "radiator") && slices.Contains(
		[]string{"set", "turn", "switch", "raise", "lower", "increase", "decrease", "adjust", "make", "put", "change"}, verb) {
		return &Do{Unclear: "no controller here can set heating, cooling or ventilation; I can switch and dim lights and move shades"}
	}
	if setters[verb] && s.further(i+1) {
		return &Do{Unclear: "I do one thing at a time; say each order in a message of its own"}
	}
	if unclear != "" && setters[verb] && (shades || lights || verb == "set" || verb == "dim" || len(s.q.Places) > 0) {
		return &Do{Unclear: unclear}
	}
	switch verb {
	case "turn", "switch", "power", "put", "shut", "kill", "leave":
		switch {
		case verb == "shut" && shades && !says("off"):
			return &Do{Position: set(0)}
		case number != nil && shades:
			return &Do{Position: number}
		case number != nil:
			return &Do{Level: number}
		case verb == "kill", says("off", "out") && !s.prepositionOnly("off"):
			return &Do{Level: set(0)}
		case s.t[min(i+1, len(s.t)-1)].stem == "on" || s.endsWithState(rest, "on"):
			return &Do{Level: set(100)}
		case says("up", "down", "on"):
			return &Do{Unclear: "I need to know to what, from 0 to 100 %: say for example “set the lobby to 60 %”"}
		}
	case "set", "adjust", "change", "dim", "brighten", "make", "bring", "move", "drive", "run":
		switch {
		case number != nil && shades:
			return &Do{Position: number}
		case number != nil && (lights || verb == "set" || verb == "dim" || len(s.q.Places) > 0):
			return &Do{Level: number}
		case verb == "set" || verb == "dim" || verb == "brighten" || verb == "adjust" || verb == "move":
			if says("full", "maximum") && !shades {
				return &Do{Level: set(100)}
			}
			return &Do{Unclear: "I need to know to what, from 0 to 100 %: say for example “set the lobby to 60 %” or “move the lobby shades to 30 %”"}
		}
	case "open", "close", "raise", "lower", "lift":
		if number != nil && lights && !shades {
			return &Do{Level: number}
		}
		if !shades && (lights || len(s.q.Places) == 0 && verb != "close" && verb != "open" || len(rest) == 0) {
			return nil
		}
		goal := 100
		if verb == "close" || verb == "lower" {
			goal = 0
		}
		if number != nil {
			goal = *number
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

// further reports whether another order follows: "close the shades and dim the lights".
func (s *sentence) further(from int) bool {
	for i := from; i+1 < len(s.t); i++ {
		joins := slices.Contains([]string{"and", "then", "also", "or", "but"}, s.t[i].stem)
		if next := s.t[i+1]; (joins || next.apart) && !next.used && (setters[next.stem] || next.stem == "stop") {
			return true
		}
	}
	return false
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
	case s.has("except"):
		do.Unclear = "I cannot leave something out; name the zones one by one"
	case s.denies != "":
		do.Unclear = "I do not understand orders with “not”; say only what is to be done, and nothing happens to the rest"
	case do.Unclear != "":
	case s.has("not"):
		do.Unclear = "I cannot leave something out; name the zones one by one"
	case len(s.when) > 0 && !s.when[0].span.Now, s.has("future"):
		do.Unclear = "I cannot do it later; I can do it now"
	case slices.ContainsFunc(s.q.Places, func(p Place) bool { return p.Kind != Zone && p.Kind != Floor }):
		do.Unclear = "I command whole zones, not single devices; name a zone or a floor"
	}
}
