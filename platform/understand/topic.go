package understand

import "slices"

// aspects of comfort that nobody here measures, in the order in which they win.
var aspects = []string{"humidity", "air", "noise", "daylight", "hvac", "temperature", "comfort"}

// topic weighs the tags; what is special comes first. What does not go with the topic is found by [sentence.account].
func (s *sentence) topic() Topic {
	thing := s.has("light", "shade")
	metered := s.has("energy", "use", "power", "peak", "base")
	state := s.f.State
	switch {
	case (s.wordAt(0) == "he" || s.wordAt(0) == "she" || s.wordAt(0) == "they") && !s.asks: // a tale
		return Nothing
	case s.countsThat():
		s.f.Set(Follows, true)
		return Nothing
	case s.others():
		s.f.Set(Follows|Others, true)
		s.f.Form = List
		return Nothing
	case s.f.Actor != "" && s.has("level") && s.has0("how", "wie") && !s.has("who"): // a place of that name is not known
		s.f.Unclear = &Unclear{Words, []string{s.f.Actor}}
		return Lights
	case s.f.Actor != "" && (!metered || s.word("anybody", "anyone", "somebody", "someone", "jemand") != "" && !s.has("energy", "power")) && !s.has("fault", "offline", "cost"): // "what did the operator do"
		s.f.Op = Who
		if s.has0("last", "latest", "zuletzt", "letzte") && !s.timely("last") && !s.has("light", "shade") && state == "" {
			s.f.Aspect = "last"
		}
		switch {
		case s.has("shade") && !s.has("light"), state == Open, state == Closed, state == Moving:
			return Shades
		case state == "" && !s.has("light"):
			s.f.Kind = Everything
		}
		return Lights
	case s.has("who") && s.has("use") && !s.has("energy", "power", "most", "least", "consumer", "more", "less", "howmuch", "cost"), // "who used the system today"
		s.has("change", "command") && s.has0("last", "latest", "recent", "letzte", "zuletzt") && !s.timely("last") && (s.has("list", "who") || s.wordAt(0) == "what" || s.wordAt(0) == "was") && !metered && !s.has("fault", "offline") && len(s.f.Places) == 0: // "what is the most recent change"
		s.f.Kind, s.f.Op = Everything, Who
		s.claim("use", "change", "most", "last")
		if !s.has("use") && s.f.Top == 0 {
			s.f.Aspect = "last"
		}
		return Lights
	case s.has("who") && s.has("most") && s.has("switch", "command", "change") && !metered && !s.has("fault", "offline"): // "who switched the most"
		s.f.Kind, s.f.Op, s.f.Aspect = Everything, Who, "often"
		s.claim("most", "light", "shade", "on", "off", "open", "closed")
		s.used("sent", "send", "gave", "given", "issued", "gegeben", "gesendet", "geschickt", "erteilt")
		return Lights
	case s.has("automation") && s.has0("person", "human", "somebody", "someone", "people", "mensch", "jemand") && s.has0("or", "oder") && state != "": // "was it a person or a schedule that opened them"
		s.f.Op = Who
		s.claim("automation", "any", "switch")
		s.used("person", "human", "mensch")
		if state == Open || state == Closed {
			return Shades
		}
		return Lights
	case s.has("via hand") && s.has("use", "switch", "who", "command") && !s.has("energy", "power"):
		s.f.Kind, s.f.Op = Everything, Who
		s.claim("use", "peripheral", "switch")
		return Lights
	case s.has("command") && s.works() && !thing: // "did the last command to the lobby work"
		s.f.Kind, s.f.Op, s.f.Aspect = Everything, Who, "failed"
		s.claim("last", "healthy")
		return Lights
	case s.has("command") && (len(s.f.Places) > 0 || s.f.When != nil && !s.f.When.Now) && s.commanded():
		s.f.Kind, s.f.Op = Everything, Who
		return Lights
	case s.has("command") && s.has("fault") && !thing: // "did any command fail"
		s.f.Kind, s.f.Op, s.f.Aspect = Everything, Who, "failed"
		s.claim("fault")
		return Lights
	case s.has("often") && s.has("switch", "on", "off", "open", "closed", "change", "command"): // "how often was it switched today"
		s.f.Op, s.f.Aspect = Who, "often"
		s.claim("often", "on", "off", "open", "closed")
		switch light, shade := s.has("light"), s.has("shade"); {
		case light == shade:
			s.f.Kind = Everything
		case shade:
			return Shades
		}
		return Lights
	case s.has("help") && s.f.When != nil && !s.f.When.Now && s.has0("command", "befehl"): // "what commands came in today"
		s.f.Kind, s.f.Op = Everything, Who
		s.claim("help")
		return Lights
	case s.has("help") && len(s.f.Places) > 0 && s.wordAt(0) == "what": // "what do you know about Lobby 3"
		return Report
	case s.has("self"), s.has("help") && !metered && !thing && !(s.has("command") && s.has("last")):
		return Help
	case s.has("complaint") && !s.asks && len(s.f.Places) == 0 && !s.has("light", "shade"):
		return Comfort
	case s.has("source") && !thing && !s.has("fault", "offline"):
		return Sources
	case s.has("saving") && s.has("who") && s.has("light", "shade"): // "who cut the light" is not known as a command
		return Nothing
	case s.has("saving") && s.f.Against == nil && !s.has("difference", "trend", "fault"):
		return Saving
	case s.has("carbon"):
		return Carbon
	case s.has("cost"), s.f.Assumed.PerKWh > 0:
		return Cost
	case s.has("hue?") && (s.has("can", "able", "list", "count") || s.yesNo()), s.has("hue") && s.has("can", "able") && s.yesNo() && s.makes(): // "which lamps can change colour", "can the atrium be made red"
		s.f.Op, s.f.State = Can, ""
		s.claim("on")
		return Inventory
	case s.colourOf() != "" && s.has("why") && s.f.State == "" && len(s.f.Places) > 0: // "why is the stage red"
		s.f.Op, s.f.Aspect = Why, s.colourOf()
		s.claim("hue", "kelvin", "light", "level")
		return Lights
	case s.colourOf() != "" && (s.has("who") || s.agent() || s.somebody()):
		s.f.Op, s.f.Aspect = Who, s.colourOf()
		s.claim("hue", "kelvin", "light", "level")
		if i := slices.IndexFunc(s.t, func(t token) bool { return t.stem == "made" || t.stem == "gemacht" }); i >= 0 {
			s.t[i].used = true
		}
		return Lights
	case s.has("kelvin"), s.has("hue") && state == "" && (thing || len(s.f.Places) > 0), slices.ContainsFunc(s.f.Conds, func(c Cond) bool { return c.Unit == Kelvin }):
		return Colour
	case (s.wordAt(0) == "what" || s.wordAt(0) == "was") && (s.wordAt(1) == "can" || s.wordAt(1) == "koennen" || s.wordAt(1) == "kann") && len(s.f.Places) > 0 && thing: // "what can the lamps in the atrium do"
		s.f.Aspect = "type"
		s.claim("can", "able", "light", "shade")
		return Inventory
	case s.has("dim?", "tune?") && !s.has("why") && (s.has("can", "able", "list") || s.has("dim?") && !s.has("level") || s.has("tune?")):
		s.f.Op = Can
		return Inventory
	case s.has("future") && !metered && !thing && !s.has("automation", "fault", "on", "off", "open", "closed") && len(s.f.Places) == 0 && s.f.Is(Future):
		return Energy // "forecast for next week"
	case slices.Contains([]string{"is", "are", "ist", "sind"}, s.wordAt(0)) && len(s.f.Places) > 0 && s.word("anybody", "anyone", "somebody", "someone", "jemand") != "" && !slices.ContainsFunc(s.chunks, func(c chunk) bool { return !c.is("fill", "talk", "there", "any") }): // "ist im Lakes jemand"
		return Occupancy
	case s.has("occupancy") && !s.has("light", "shade", "fault", "consumer", "offline") && !(s.has("on", "off", "open", "closed") && s.has0("did")) && !s.nameSays(Shade):
		return Occupancy
	case s.has("nobody") && s.has("zone", "floor") && !metered && !thing && state == "" && !s.has("who", "switch", "command", "change"): // "in which rooms is nobody"
		return Occupancy
	case s.has("automation") && s.has(append([]string{absentTag + "sun"}, aspects...)...) && s.has0("rule", "scene", "schedule", "timer", "regel", "regeln", "szene", "szenen", "zeitplan", "zeitplaene"): // of a rule, whatever it goes by
		s.claim(aspects...)
		s.claim("why")
		for _, c := range s.chunks {
			if c.is(absentTag + "sun") {
				s.mark(c.at, c.n)
			}
		}
		return Automation
	case s.has("temperature") && thing && s.has0("degree", "grad"): // of a slat, or a light: an angle is nothing that is known here
		return Nothing
	case s.has(aspects...) && !(s.has("temperature") && s.has("light") && len(s.f.Conds) > 0):
		return Comfort
	case s.has("automation") && s.has0("changed", "edited", "modified", "geaendert", "veraendert", "angepasst") && s.has0("been", "was", "were", "wurde", "wurden", "worden") && !s.has("light", "shade", "on", "off", "open", "closed"): // of the schedule itself nothing is told
		return Automation
	case s.has("automation") && s.has("switch", "on", "off", "open", "closed") && s.has0("did", "has", "have", "hat", "haben", "wurde", "wurden") && !s.has("energy", "power", "level"): // "did the schedule switch anything"
		s.f.Op, s.f.Aspect = Who, Through+"automation"
		s.claim("automation", "switch", "on", "off", "open", "closed", "light", "shade")
		if s.has("shade") && !s.has("light") {
			return Shades
		}
		if !s.has("light") {
			s.f.Kind = Everything
		}
		return Lights
	case s.has("automation"):
		return Automation
	case s.has("flicker"):
		return Faults
	case s.has("controller") && !s.has("firmware") && len(s.f.Places) > 0 && s.has0("gateway"): // "is the gateway in the office dead": a bus of the place
		s.claim("controller", "online")
		return Faults
	case s.has("controller"):
		return Controllers
	case s.has("firmware"):
		return Controllers
	case state == Away && s.has("bus") && !s.has("light", "shade", "device"), state == Away && slices.ContainsFunc(s.f.Places, func(p Place) bool { return p.Kind == Bus }):
		return Faults // "how long was the bus down"
	case state == Away && s.has("light") && s.word("dead", "tot") != "", state == Away && s.has("fault") && s.has0("or", "and", "oder", "und") && s.first("fault") != s.first("offline"): // both are told
		return Faults
	case s.has("availability"), state == Away:
		return Offline
	case s.has("usual") && s.has("any") && !metered && !thing && state == "": // "anything out of the ordinary?"
		s.claim("usual", "any")
		return Faults
	case s.has("fault"), s.has("healthy") && !thing || s.has("healthy") && s.yesNo() && !s.has("on", "off", "open", "closed"):
		return Faults
	case state == Online:
		return Offline
	case s.has("metered") && s.f.When != nil && s.f.When.Now && slices.ContainsFunc(s.f.Places, func(p Place) bool { return p.Kind == Meter }): // "what does the meter measure now"
		return Power
	case s.has("type") && s.has("use") && (thing || s.has("device")) && !s.has("energy", "power"): // "what protocol do the stage lights use"
		s.claim("use")
		return Inventory
	case s.has("meter") && s.has("data") && !s.has("fault", "offline", "source", "energy", "use") && s.f.When == nil: // "list the meters and their readings"
		if s.has("each", "list", "all") {
			s.f.By = string(Meter)
		}
		return Power
	case s.large() && s.has("zone", "floor") && s.has("light", "shade") && state == "": // "the largest zone by lamps"
		s.claim("each", "most", "least")
		return Inventory
	case s.has("size") && s.f.Per == "" && !metered:
		return Inventory
	case s.has("timezone"):
		return Inventory
	case s.has("counter"), s.counted():
		if len(s.f.Places) == 0 && s.word("readings", "counters", "zählerstände") != "" { // of every meter
			s.f.By = string(Meter)
		}
		return Power
	case s.f.measured(s):
		return Energy
	case s.has("data") && slices.ContainsFunc(s.f.Places, func(p Place) bool { return p.Kind == Meter }) && !thing:
		return Power // what a meter stands at
	case s.has("power", "peak", "base") || slices.ContainsFunc(s.f.Conds, func(c Cond) bool { return c.Unit == Watt }):
		return s.powerOrEnergy()
	case s.has("energy", "use"), slices.ContainsFunc(s.f.Conds, func(c Cond) bool { return c.Unit == WattHour }):
		return s.powerOrEnergy()
	case s.has("consumer") && (s.has("most", "least", "list") || s.f.Top > 0):
		return s.powerOrEnergy()
	case s.nameSays(Shade) && !s.has("light") && (len(s.f.Conds) > 0 || s.has("more", "less", "than", "compare", "average", "difference", "who", "why", "since", "switch") && !s.has0("seen", "heard", "contact")):
		return Shades // "are the south blinds lower than the north ones"
	case s.lights() && s.has("shade") && s.first("shade") > s.first("light") && s.first("light") >= 0:
		return s.orInventory(Lights)
	case s.has("position") && !s.has("shade") && !s.nameSays(Shade) && s.word("dimmed", "gedimmt") != "": // "how far has the lobby been dimmed"
		s.claim("position", "level", "switch")
		return Lights
	case s.has("shade", "position") || state == Open || state == Closed || state == Moving:
		return s.orInventory(Shades)
	case s.lights():
		return s.orInventory(Lights)
	case s.has("same") && s.has0("brightness", "bright", "level", "hell", "helligkeit", "wert"):
		return Lights
	case s.has("same") && s.has0("position", "height", "open", "offen", "stellung"):
		return Shades
	case s.commanded():
		s.f.Kind, s.f.Op = Everything, Who
		return Lights
	case state == "" && s.has("on") && s.has("off"): // "lamp 2, on or off?"
		return Lights
	case state == "" && s.has("open") && s.has("closed"):
		return Shades
	case s.has("report") && !s.has("zone", "floor", "device", "meter", "peripheral", "bus"):
		return Report
	case s.f.Kind == Building && s.has("list", "count") && !s.has("command"):
		return Inventory
	case s.has("meter") && s.has0("zeigt", "zeigen", "show", "showing", "indicate", "display", "displaying") && (s.wordAt(0) == "what" || s.wordAt(0) == "was"):
		return Power // "what does the meter show"
	case s.has("meter") && s.has("total", "sum") && !s.has("count", "inventory", "zone", "floor", "where"), s.has("meter") && s.has("most", "least") && !s.has("inventory", "zone", "floor", "bus", "count", "where", "type"): // "which meter shows the least"
		return s.powerOrEnergy()
	case len(s.f.Having) > 0, s.has("zone", "floor", "device", "meter", "peripheral", "bus", "inventory", "dali", "modbus", "dmx", "somfy", "able", "metered"), s.has("type") && s.f.By == "":
		return Inventory
	case s.has("status", "report"):
		return Report
	case s.has("where") && len(s.f.Places) > 0:
		return Inventory
	case s.has("since") && len(s.f.Places) > 0:
		return Offline
	case s.has("greeting"), s.f.Topic == Greeting:
		return Greeting
	case s.figure():
		return Energy
	}
	return Nothing
}

// countsThat reports whether it is asked how many things those are that were spoken of: "how many lamps is that".
func (s *sentence) countsThat() bool {
	n := len(s.t)
	return n > 3 && s.has("count") && s.has("light", "shade", "device") && len(s.f.Places) == 0 && s.f.State == "" && len(s.f.Conds) == 0 &&
		slices.Contains([]string{"that", "those", "these", "das"}, s.t[n-1].stem) && slices.Contains([]string{"is", "are", "make", "ist", "sind", "macht"}, s.t[n-2].stem)
}

// others reports whether no more is asked than which things are not so: "and which are not?", "welche nicht?".
func (s *sentence) others() bool {
	if !s.bare() || !s.has("not") || !s.has("list", "where", "who") || slices.ContainsFunc(s.chunks, func(c chunk) bool { return !c.is("not", "list", "where", "who", "it", "fill", "talk") }) {
		return false
	}
	for _, c := range s.chunks {
		s.claims[key(c)] = true
	}
	return true
}

// counted reports whether it is asked what a meter has counted ever since, which is what its counter stands at: "what has it counted in
// total", of no time.
func (s *sentence) counted() bool {
	meter := s.has("meter") || slices.ContainsFunc(s.f.Places, func(p Place) bool { return p.Kind == Meter })
	ever := s.has("total", "sum") && s.has("energy", "use") || s.has("energy") && s.onTheMeter() || s.has0("counted", "registered", "clocked", "gezaehlt", "registriert")
	return meter && ever && s.f.When == nil && s.f.By == "" && len(s.f.Mentioned()) < 2 && !s.has("most", "least", "share", "average", "power")
}

// lights reports whether lights are spoken of, or what only lights do.
func (s *sentence) lights() bool {
	return s.has("light", "level", "complaint", "full", "brightest", "darkest", "brighter", "darker") || s.f.State == On || s.f.State == Off ||
		slices.ContainsFunc(s.f.Conds, func(c Cond) bool { return c.Unit == Percent || c.Of == Light && s.f.State == On }) && !s.has("shade", "position", "open", "closed")
}

// measured reports whether figures of a period are asked for that only meters give: "what did the meter say for yesterday".
func (f *Frame) measured(s *sentence) bool {
	period := f.When != nil && !f.When.Now
	if s.has("light", "shade", "power", "peak", "base", "on", "off", "open", "closed") {
		return false
	}
	meter := s.has("meter") || slices.ContainsFunc(f.Places, func(p Place) bool { return p.Kind == Meter })
	return period && s.has("metered") && !s.yesNo() && !s.has("zone", "floor", "list") || period && s.has("share") || (f.By == "day" || f.By == "hour") && s.has("most", "least") || period && meter && !s.has("list", "inventory", "fault", "offline")
}

// figure reports whether a figure of a place and a past time is asked for, in words that name no quantity: "the total for the offices
// last week".
func (s *sentence) figure() bool {
	return len(s.f.Places) > 0 && s.f.When != nil && !s.f.When.Now && s.has("howmuch", "average", "total", "sum", "compare", "difference")
}

// powerOrEnergy tells power, which is drawn now, from energy, which was used over a time.
func (s *sentence) powerOrEnergy() Topic {
	period := s.f.When != nil && !s.f.When.Now
	now := s.live && s.f.When == nil || s.f.When != nil && s.f.When.Now || s.has0("currently", "moment", "current", "instantaneous", "present", "aktuelle", "aktuell", "gerade", "derzeit", "momentan", "zurzeit", "augenblicklich", "jetzt", "presently", "right")
	strong := slices.ContainsFunc(s.f.Conds, func(c Cond) bool { return c.Unit == Watt })
	switch {
	case slices.ContainsFunc(s.f.Conds, func(c Cond) bool { return c.Unit == WattHour }):
		return Energy
	case s.has("energy", "use") && !s.has("power", "peak", "base") && !strong && !now:
		return Energy
	case s.has("energy", "use") && !s.has("power", "peak", "base") && now && s.f.Against == nil && !period:
		return Power
	case period && s.has("power") && s.has("use", "energy") && !s.has("peak", "base", "average", "most", "least"):
		return Energy
	case s.has("power") && s.f.Against != nil && !s.has("peak", "base"):
		return Energy // what two periods needed is compared
	case s.has("consumer") && !s.has("power") && period:
		return Energy
	}
	return Power
}

// orInventory: lights or shades that are only counted or listed are a question of what there is.
func (s *sentence) orInventory(t Topic) Topic {
	f := &s.f
	told := f.State != "" || s.has("same") && s.yesNo() || t == Shades && s.word("lowest", "highest", "tiefsten", "niedrigsten", "höchsten") != "" || f.Aspect == "both" || s.has("ends", "full") || slices.ContainsFunc(f.Conds, func(c Cond) bool { return c.Unit == Number && c.Of == "" }) || slices.ContainsFunc(f.Conds, func(c Cond) bool { return c.Unit == Percent || c.Unit == Minutes }) || s.has("level", "full", "brightest", "darkest", "brighter", "darker", "position", "moving", "half", "status", "average", "who", "why", "since", "switch", "report") ||
		s.has("most", "least") && !s.has("zone", "floor", "bus", "count", "device")
	asked := s.has("count", "list", "inventory", "able", "type", "dali", "modbus", "dmx", "somfy", "where") || len(f.Having) > 0 || slices.ContainsFunc(f.Conds, func(c Cond) bool { return c.Of != "" })
	bare := s.has("any", "there", "inventory") && s.yesNo()
	if !told && (asked || bare) {
		return Inventory
	}
	return t
}

// onTheMeter reports whether it is asked what a meter shows, as one reads it off: "how many kWh are on the meter", "was zeigt der Zähler an".
func (s *sentence) onTheMeter() bool {
	if s.has0("show", "showing", "read", "reading", "display", "displaying", "say", "indicate", "stand", "zeigt", "zeigen", "anzeigt", "anzeigen", "steht", "stehen") {
		return true
	}
	on := func(k int) bool {
		for k--; k > 0 && (articles[s.wordAt(k)] || s.t[k].name); k-- {
		}
		return s.wordAt(k) == "on" || s.wordAt(k) == "auf"
	}
	return slices.ContainsFunc(s.chunks, func(c chunk) bool { return c.is("meter") && on(c.at) }) ||
		slices.ContainsFunc(s.f.Places, func(p Place) bool { return p.Kind == Meter && on(p.Mention) })
}
