package understand

import "slices"

// shadeWords are all that an action on shades may be said with.
var shadeWords = []string{"shade", "set", "give", "open", "close", "shut", "covered", "raise", "lower", "up", "down", "pull", "draw", "stop", "here", "moving", "fully", "to", "by", "way", "increase", "reduce", "off", "on", "bringup", "max", "min", "filler", "further", "more"}

// shade decides an action on shades.
func (s *sentence) shade(d Do, y sayings) (Do, bool) {
	d.Kind = Shade
	a := y.amount
	if !y.only(shadeWords...) {
		return d, false
	}
	if y.has("here") && s.leavesThere() { // which stops nothing
		return d, false
	}
	if y.has("stop") || y.has("here") && y.has("set") {
		d.Switch = "stop"
		return d, a == nil && !y.has("fully", "to", "by", "max", "min")
	}
	opening := y.has("open", "raise", "up", "increase", "bringup")
	closing := y.has("close", "shut", "covered", "lower", "down", "reduce")
	if closing && y.has("up") && !y.has("open", "raise", "down") { // "close up the blinds"
		opening = false
	}
	if y.has("draw") && !opening && !closing {
		closing = true
	}
	if a == nil && y.has("max") != y.has("min") && !closing && !opening {
		opening, closing = y.has("max"), y.has("min")
	}
	switch {
	case y.has("here"), y.has("moving") && y.has("moving") != y.has("stop"), y.has("off", "on") && (a == nil || y.has("off")) && !(y.has("shut") && y.has("off")):
		return d, false
	case a != nil && (y.has("by", "further", "more") || y.compared > y.where):
		return shadeBy(d, y, *a, opening, closing)
	case a != nil:
		return s.shadeTo(d, y, *a, opening, closing)
	case opening == closing, y.has("by", "more"), y.has("to") && !s.toState(y):
		return d, false
	case y.has("further"): // how far is not said
		d.Size = "little"
	}
	d.Switch, d.Percent, d.Way = "set", number(0), true
	if opening {
		d.Percent = number(100)
	}
	return d, true
}

// comparing are words for higher and lower. In front of an amount "lower" is the verb.
var comparing = wordSet("higher lower hoeher tiefer niedriger")

// shadeBy decides an action on shades that moves them by a part of their whole way, up or down; by a number they are not moved.
func shadeBy(d Do, y sayings, a amount, opening, closing bool) (Do, bool) {
	by := a.value
	if a.form == "third" {
		by = thirds[a.value]
	}
	d.Switch, d.By, d.Toward = "set", number(by), "open"
	if closing {
		d.Toward = "closed"
	}
	return d, a.form != "num" && opening != closing && by > 0 && !y.has("to", "fully", "max", "min", "draw")
}

// thirds are one and two thirds in percent.
var thirds = []int{0, 33, 67}

// letting are verbs of what comes in by itself.
var letting = wordSet("let lass lasse lassen lasst")

// sun understands "let the sun in" and "block the sun" as what shades do.
func (s *sentence) sun(d Do, y sayings) (Do, bool) {
	d.Kind, d.Switch, d.Percent, d.Way = Shade, "set", number(0), true
	if s.has0("of") && !y.has("room") { // "keep the sun out of this"
		return d, false
	}
	if y.has("inside") || y.has("give") && s.has0("daylight", "tageslicht") {
		d.Percent = number(100)
		return d, y.amount == nil && y.only("sun", "light", "inside", "set", "give")
	}
	keeps := y.has("block") || y.has("off") && slices.Contains([]string{"keep", "shut"}, s.t[y.first].stem)
	return d, y.amount == nil && keeps && y.only("sun", "block", "set", "shut", "off")
}

// toState reports whether "to" leads to a state: "the blinds to closed".
func (s *sentence) toState(y sayings) bool {
	return slices.ContainsFunc([]string{"open", "close", "up", "down", "max", "min"}, func(t string) bool { at, ok := y.at[t]; return ok && at > y.at["to"] })
}

// shadeTo decides an action on shades with an amount: "to" is how far they are open, a closing verb without it how far they are
// covered.
func (s *sentence) shadeTo(d Do, y sayings, a amount, opening, closing bool) (Do, bool) {
	at := func(tag string) int {
		if i, ok := y.at[tag]; ok {
			return i
		}
		return -1
	}
	behind := func(tags ...string) bool {
		return slices.ContainsFunc(tags, func(t string) bool { return at(t) > y.where })
	}
	to := at("to") >= 0 && at("to") < y.where
	covers := behind("close", "shut", "covered") || behind("down") && !behind("open", "up")
	switch {
	case y.has("fully"), y.has("draw") && a.value != 50 && !to && !(opening != closing && y.has("open", "up", "down", "close")), opening && closing && !covers && !(to && y.has("down", "lower", "close") && behind("open")):
		return d, false
	case a.form == "num" && !a.percent && a.value <= 24 && y.has("open", "close", "up", "down", "shut") && s.toldAt(y): // "blinds down at three" is a time of day
		return d, false
	case covers && !(to && y.has("close") && at("close") < y.where):
	case opening && !closing:
		covers = false
	case closing && !to:
		covers = true
	}
	switch {
	case a.form == "third" && covers:
		d.Thirds = 3 - a.value
	case a.form == "third":
		d.Thirds = a.value
	case covers:
		d.Percent = number(100 - a.value)
	default:
		d.Percent = number(a.value)
	}
	if d.Switch, d.Toward = "set", s.toward(closing && !opening || covers); to {
		d.Toward = map[string]string{"closed": "closing", "open": "opening"}[d.Toward]
	}
	return d, true
}
