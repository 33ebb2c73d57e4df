package understand

import (
	"slices"
	"strings"
)

// light decides an action on lights.
func (s *sentence) light(d Do, y sayings) (Do, bool) {
	d.Kind = Light
	if s.t[y.first].stem == "lighten" && y.only("brighten", "up") && len(d.Places) == 0 { // cheer up
		return d, false
	}
	if y.has("morelight", "lesslight") && y.has("light") { // "more light bulbs"
		return d, false
	}
	if !y.only(lightWords...) || y.has("it") && !y.has("dim", "dimmer", "brighten", "brighter", "level") && y.amount == nil {
		return d, false
	}
	if y.has("cut") && y.has("by", "halve") {
		delete(y.at, "off")
		y.at["reduce"] = y.at["cut"]
	}
	named := y.has("light", "level", "switch") || len(d.Places) > 0 || d.Whole
	if y.has("it") && y.has("on", "off") {
		return d, false
	}
	higher := y.has("brighten", "brighter", "increase", "raise", "up", "more", "morelight", "bringup") && !(y.has("up") && y.has("on"))
	lower := y.has("dim", "dimmer", "reduce", "lower", "down", "less", "lesslight")
	a := y.amount
	switch {
	case a != nil && y.has("max", "min"): // "canteen half, lobby full" is two
		return d, false
	case y.has("max") && y.has("min"), higher && lower && a == nil && !(y.has("dim") && y.has("up")):
		return d, false
	case a == nil && y.has("highest", "lowest") && y.has("to", "set", "dim", "brighten", "lower", "raise", "down", "up"):
		a, y.where = &amount{form: "max", value: 100}, 0
		if y.has("lowest") {
			a = &amount{form: "min", value: 1}
		}
		y.where = max(y.at["highest"], y.at["lowest"])
	case a == nil && y.has("max"):
		a, y.where = &amount{form: "max", value: 100}, y.at["max"]
	case a == nil && y.has("min"):
		a, y.where = &amount{form: "min", value: 1}, y.at["min"]
	}
	if y.has("toggle") || y.has("switch") || y.has("flip") && !y.has("on", "off") {
		d.Switch = "toggle"
		return d, a == nil && named && !higher && !lower && !y.has("fully") && (y.has("on") == y.has("off"))
	}
	if y.has("on") && y.has("off") {
		return d, false
	}
	if y.has("halve", "double") {
		d.Size = ByPart
		switch {
		case a != nil, !y.has("light", "level"), y.has("halve") == y.has("double"), y.has("halve") && higher, y.has("double") && lower, y.has("on", "off"):
			return d, false
		case y.has("halve"):
			return step(d, "dim", 50)
		}
		return step(d, "brighten", 100)
	}
	if a != nil {
		return s.lightTo(d, y, *a, higher, lower)
	}
	switch {
	case y.has("by") || y.has("to") && !y.has("on", "off"): // an amount is missing
		return d, false
	case y.has("fully") && !y.has("off"):
		if !higher && !lower && !y.has("on") {
			return d, false
		}
		d.Switch, d.Percent = "set", number(100)
		if lower && !higher {
			d.Percent = number(1)
		}
		return d, named || y.has("room")
	case y.has("off"):
		d.Switch = "off"
		return d, named && !higher && !lower
	case y.has("on"):
		d.Switch = "on"
		return d, (named || y.has("room")) && !higher && !lower
	case higher, lower:
		d.Switch = "brighten"
		if lower {
			d.Switch = "dim"
		}
		return d, !y.has("shut", "show", "pull")
	case y.has("give") && y.has("light"), s.f.Lang == German && y.has("set") && y.only("set", "light") && strings.HasPrefix(s.t[y.first].stem, "mach"): // "give us some light", "mach Licht"
		d.Switch = "on"
		return d, true
	}
	return d, false
}

// lightTo decides an action on lights with an amount.
func (s *sentence) lightTo(d Do, y sayings, a amount, higher, lower bool) (Do, bool) {
	v := a.value
	if a.form == "third" {
		v = thirds[a.value]
	}
	before := func(tags ...string) bool {
		return slices.ContainsFunc(tags, func(t string) bool { at, ok := y.at[t]; return ok && at < y.where })
	}
	comparing := y.has("brighter", "dimmer") && !before("to")
	behind := func(tags ...string) bool {
		return slices.ContainsFunc(tags, func(t string) bool { at, ok := y.at[t]; return ok && at > y.where })
	}
	part := a.form == "part" || a.form == "third"
	switch {
	case before("to") && behind("brighter", "dimmer") && a.form == "num": // "to 50 % brighter" may be either
		return d, false
	case behind("more") && a.form == "num" && (y.has("dim", "dimmer", "reduce", "lower", "down") || !a.percent || before("to")):
		if !a.percent || before("to") || y.has("brighten", "brighter", "raise", "increase", "up") { // "three lights more", "to ten percent more"
			return d, false
		}
		return step(d, "dim", v) // "dim ten percent more"
	case y.has("fully", "shut") || y.has("it") && !y.has("to", "give", "set", "dim", "brighten", "dimmer", "brighter"):
		return d, false
	case y.has("off"): // "10 percent off the lights"
		if !behind("off") || !behind("light", "level") || !a.percent || y.has("to") {
			return d, false
		}
		return step(d, "dim", v)
	case y.has("by") || comparing || behind("up", "down", "lower") && !before("to") && !before("up", "down", "dim", "brighten") || higher != lower && (a.percent || part) && !y.has("dim", "to"): // "up ten percent"
		if part {
			d.Size = ByPart
		}
		switch {
		case higher == lower, a.form == "max", a.form == "min", part && v == 50 && !y.has("by"): // "half brighter" may be either
			return d, false
		case higher:
			return step(d, "brighten", v)
		}
		return step(d, "dim", v)
	case a.form == "num" && higher != lower && !y.has("to", "by"): // "up 20", "dim 20 percent": to it or by it
		return d, false
	case a.form == "num" && !a.percent && v <= 24 && y.has("on") && s.toldAt(y): // "turn on the lights at 8" is a time of day as well
		return d, false
	case y.has("it") && !y.has("dim", "brighten", "level", "light"):
		return d, false
	case !y.has("light", "level", "dim", "brighten") && len(d.Places) == 0:
		return d, false
	case y.only("light") && a.form == "num" && !a.percent && len(d.Places) == 0 && y.at["light"] > y.where: // "three lights"
		return d, false
	}
	if d.Switch, d.Percent = "set", number(v); part && lower && !y.has("to") { // "dim the lights half"
		d.Toward = "darker"
	}
	return d, true
}

// toldAt reports whether the amount follows "at".
func (s *sentence) toldAt(y sayings) bool {
	return s.has0("at")
}

func step(d Do, way string, by int) (Do, bool) {
	if by < 1 || by > 100 {
		return d, false
	}
	d.Switch, d.By = way, number(by)
	return d, true
}
