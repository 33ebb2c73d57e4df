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
	case s.f.Actor != "" && (!metered || s.word("anybody", "anyone", "somebody", "someone", "jemand") != "" && !s.has("energy", "power")) && !s.has("fault", "offline", "cost"): // "what did the operator do"
		s.f.Op = Who
		switch {
		case s.has("shade") && !s.has("light"), state == Open, state == Closed, state == Moving:
			return Shades
		case state == "" && !s.has("light"):
			s.f.Kind = Everything
		}
		return Lights
	case s.has("command") && (len(s.f.Places) > 0 || s.f.When != nil && !s.f.When.Now) && s.commanded():
		s.f.Kind, s.f.Op = Everything, Who
		return Lights
	case s.has("help") && len(s.f.Places) > 0 && s.wordAt(0) == "what": // "what do you know about Lobby 3"
		return Report
	case s.has("self"), s.has("help") && !metered && !thing:
		return Help
	case s.has("complaint") && !s.asks && len(s.f.Places) == 0 && !s.has("light", "shade"):
		return Comfort
	case s.has("source") && !thing && !s.has("fault", "offline"):
		return Sources
	case s.has("saving") && s.f.Against == nil && !s.has("difference", "trend", "fault"):
		return Saving
	case s.has("carbon"):
		return Carbon
	case s.has("cost"), s.f.Assumed.PerKWh > 0:
		return Cost
	case s.has("kelvin"), slices.ContainsFunc(s.f.Conds, func(c Cond) bool { return c.Unit == Kelvin }):
		return Colour
	case s.has("dim?", "tune?") && (s.has("can", "able", "list") || s.has("dim?") && !s.has("level") || s.has("tune?")):
		s.f.Op = Can
		return Inventory
	case s.has("future") && !metered && !thing && !s.has("automation", "fault", "on", "off", "open", "closed") && len(s.f.Places) == 0 && s.f.Is(Future):
		return Energy // "forecast for next week"
	case s.has("occupancy") && !s.has("light", "shade", "fault"):
		return Occupancy
	case s.has(aspects...) && !(s.has("temperature") && s.has("light") && len(s.f.Conds) > 0):
		return Comfort
	case s.has("automation"):
		return Automation
	case s.has("flicker"):
		return Faults
	case s.has("controller"):
		return Controllers
	case s.has("firmware"):
		return Controllers
	case state == Away && slices.ContainsFunc(s.f.Places, func(p Place) bool { return p.Kind == Bus }):
		return Faults // "how long was the bus down"
	case s.has("availability"), state == Away:
		return Offline
	case s.has("fault"), s.has("healthy") && !thing || s.has("healthy") && s.yesNo() && !s.has("on", "off", "open", "closed"):
		return Faults
	case state == Online:
		return Offline
	case s.has("size") && s.f.Per == "" && !metered:
		return Inventory
	case s.has("timezone"):
		return Inventory
	case s.f.measured(s):
		return Energy
	case s.has("counter"), s.has("data") && slices.ContainsFunc(s.f.Places, func(p Place) bool { return p.Kind == Meter }) && !thing:
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
	case s.has("shade", "position") || state == Open || state == Closed || state == Moving:
		return s.orInventory(Shades)
	case s.lights():
		return s.orInventory(Lights)
	case s.has("same") && s.has0("brightness", "bright", "hell", "helligkeit"):
		return Lights
	case s.has("same") && s.has0("position", "height", "open", "offen", "stellung"):
		return Shades
	case s.commanded():
		s.f.Kind, s.f.Op = Everything, Who
		return Lights
	case s.has("report") && !s.has("zone", "floor", "device", "meter", "peripheral", "bus"):
		return Report
	case s.f.Kind == Building && s.has("list", "count"):
		return Inventory
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
	return period && s.has("share") || (f.By == "day" || f.By == "hour") && s.has("most", "least") || period && meter && !s.has("list", "inventory", "fault", "offline")
}

// figure reports whether a figure of a place and a past time is asked for, in words that name no quantity: "the total for the offices
// last week".
func (s *sentence) figure() bool {
	return len(s.f.Places) > 0 && s.f.When != nil && !s.f.When.Now && s.has("howmuch", "average", "total", "sum", "compare", "difference")
}

// powerOrEnergy tells power, which is drawn now, from energy, which was used over a time.
func (s *sentence) powerOrEnergy() Topic {
	period := s.f.When != nil && !s.f.When.Now
	now := s.f.When != nil && s.f.When.Now || s.has0("currently", "moment", "current", "instantaneous", "present", "aktuelle", "aktuell", "gerade", "derzeit")
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

// op finds what is asked of the topic.
func (s *sentence) op() {
	f := &s.f
	s.severally()
	two := f.Against != nil || len(f.Mentioned()) >= 2
	duration := slices.ContainsFunc(f.Conds, func(c Cond) bool { return c.Unit == Minutes })
	switch {
	case f.Op == Can:
		s.claim("can", "able", "dim?", "tune?", "any", "level")
		for _, c := range s.chunks {
			if c.is("not") { // "which lamps are not dimmable"
				s.claims[key(c)] = true
				f.Set(None, true)
			}
		}
	case f.Op == Who:
		s.claim("switch", "command", "change", "who", "since", "when", "any", "status", "use", "everything", "why")
	case f.Topic == Nothing && s.has("who") && f.State == "" && !(s.has("switch") && len(f.Places) > 0): // "who was it?", of what was said before
		f.Op = Who
		if !s.bare() && !f.Is(Follows) && f.Unclear == nil { // "who was in the lobby"
			f.Unclear = &Unclear{Conflict, []string{said(s.t, max(0, s.first("who")), 1)}}
		}
		s.claim("who", "switch")
	case (f.Topic == Lights || f.Topic == Shades) && s.agent(): // "what switched it off"
		f.Op = Who
		s.claim("switch")
	case (f.Topic == Lights || f.Topic == Shades) && (s.somebody() || s.has("switch") && (f.State == "" || f.State == Moving) && f.When != nil && !f.When.Now): // "which were switched today"
		f.Op = Who
		s.claim("switch", "since", "moving")
		if f.State == Moving {
			f.State = ""
		}
	case (f.Topic == Lights || f.Topic == Shades) && f.State != "" && f.When != nil && !f.When.Now && s.wasDone(): // "what was switched off tonight"
		f.Op = Who
		s.claim("switch", "since")
	case s.has("who") && (s.has("switch", "on", "off", "open", "closed", "level") || len(f.Places) > 0 && s.has("light", "shade")) && (f.Topic == Lights || f.Topic == Shades || f.Topic == Nothing || f.Topic == Inventory):
		f.Op = Who
		if f.Topic == Nothing || f.Topic == Inventory {
			f.Topic = Lights
			if s.has("shade") || len(f.Places) > 0 && f.Places[0].Kind == Shade {
				f.Topic = Shades
			}
		}
		s.claim("who", "switch", "since", "level", "can", "future")
	case f.Topic == Nothing && s.bare() && s.has("since") && !s.has("why"): // "since when?"
		f.Op = Since
		s.claim("since", "when", "longer")
	case s.has("why"):
		f.Op = Why
		s.claim("why", "switch", "most", "more", "less", "can")
		for _, c := range s.chunks {
			if c.is("not") { // "why is it not moving"
				s.claims[key(c)] = true
			}
		}
	case s.has("usual"):
		f.Op = Usual
		s.claim("usual", "more", "less", "than", "compare", "most")
	case s.has("difference"):
		f.Op = Difference
		s.claim("difference", "more", "less", "than", "trend", "change", "brighter", "darker", "compare")
	case len(f.Mentioned()) >= 2 && s.thingsThan(): // "which rooms upstairs are brighter than the lobby"
		f.Unclear = &Unclear{Conflict, []string{said(s.t, s.first("than"), s.nameEnd(f.Places[len(f.Places)-1].Mention)-s.first("than"))}}
	case s.likeIt() != "": // what it stands for is not known
		f.Unclear = &Unclear{Conflict, []string{s.likeIt()}}
	case f.Against != nil && s.has("compare", "than", "trend", "change", "more", "less", "difference") || len(f.Mentioned()) >= 2 && s.has("compare", "than", "more", "less", "brighter", "darker", "most"):
		f.Op = Compare
		s.claim("compare", "than", "more", "less", "trend", "change", "brighter", "darker", "most", "least", "sum", "with")
	case s.has("same") && (f.Topic == Lights || f.Topic == Shades) && s.yesNo():
		f.Op = Same
		s.claim("same")
	case s.thanThat():
		f.Op = Compare
		f.Set(Follows, true)
		s.claim("than", "more", "less", "brighter", "darker", "it", "compare")
	case s.has("trend") && !two && f.Topic != Offline && f.Topic != Faults:
		f.Op = Trend
		s.claim("trend", "change", "more", "less")
	case s.has("share") && s.attributive() != "": // "what share of the lit lamps is in the tower" is no share of the tower's lamps
		f.Unclear = &Unclear{Conflict, []string{s.attributive()}}
	case s.has("share"), slices.ContainsFunc(f.Conds, func(c Cond) bool { return c.Unit == Part }):
		f.Op = Share
		s.claim("share")
	case f.Per != "":
		f.Op = PerUnit
		s.claim("perm2", "perlight", "average")
	case (s.has("since") || duration && (f.Topic == Lights || f.Topic == Shades)) && slices.Contains([]Topic{Lights, Shades, Faults, Offline, Controllers}, f.Topic):
		if f.Topic != Offline || !duration {
			f.Op = Since
		}
		s.claim("since", "switch", "longer", "when")
	case (f.Topic == Power || f.Topic == Energy) && s.has("most") && s.has("least") && s.has("meter", "zone", "floor"): // a ranking has both ends
		f.Op = Most
		s.claim("most", "least", "consumer")
	case f.Topic == Power && s.has("most", "peak") && s.has("least", "base") && f.When != nil && !f.When.Now: // both are told
		s.claim("most", "least", "peak", "base")
	case s.has("most", "brightest", "peak"), f.Op == Most:
		f.Op = Most
		s.claim("most", "brightest", "peak", "consumer", "who", "list", "where", "when", "since")
		if f.Topic != Lights && f.Topic != Shades {
			s.claim("longer")
		} else if s.word("longest", "längsten", "laengsten") != "" { // that is not the brightest
			f.Op, f.Top = Since, max(f.Top, 1)
			if f.State == "" && f.Topic == Lights { // "been on the longest": this "on" was read as one before a place
				f.State = On
			}
		} else if w := s.word("shortest", "kürzesten", "kuerzesten"); w != "" {
			f.Unclear = &Unclear{Conflict, []string{w}}
		}
	case s.has("least", "darkest", "base"):
		f.Op = Least
		s.claim("least", "darkest", "base", "consumer", "who", "where", "when")
	case s.has("average"):
		f.Op = Average
		s.claim("average")
	case f.Against != nil:
		f.Op = Compare
		s.claim("with")
	case s.has("compare") && (f.When != nil && !f.When.Now || f.Topic == Energy || f.Topic == Power):
		f.Op = Compare
		s.claim("compare", "than", "more", "less", "with")
	case s.has("sum") && len(f.Mentioned()) >= 2:
		f.Op = Sum
		s.claim("sum")
	}
	if f.Topic == Lights && (f.Op == Most || f.Op == Least) && s.has("brightest", "darkest") && (f.State != "" || len(f.Conds) > 0) {
		f.Aspect = "level" // "the dimmest that is on" is no count of what is on
	}
	if f.Op == Who || f.Op == Why || f.Op == Since {
		s.claim("last", "when")
	}
	if s.has("average") && f.Op != Average && (f.Op == Most || f.Op == Least || f.By != "") && !(f.Topic == Power && f.When == nil) {
		s.claim("average")
	}
}

// severally tells places apart that were named by the same words, where they are compared: "which of the two open offices is brighter".
func (s *sentence) severally() {
	places := s.f.Places
	compared := s.has("compare") && s.f.Against == nil && s.f.When == nil || s.has("brighter", "darker", "more", "less") && s.has("list", "who")
	if len(places) < 2 || len(places) > 6 || len(s.f.Mentioned()) > 1 || s.has("than") || !compared {
		return
	}
	for i := range places[1:] {
		places[i+1].Mention = -1 - i // no word is theirs alone
	}
}

// thingsThan reports whether it is asked which things of a place are more so than another place.
func (s *sentence) thingsThan() bool {
	than := s.first("than")
	return than >= 0 && s.f.Places[len(s.f.Places)-1].Mention > than && s.has("list", "count") && slices.ContainsFunc(s.chunks, func(c chunk) bool {
		return c.at < than && c.is("zone", "floor", "light", "shade", "meter", "device") && !s.apposed(c)
	})
}

// likeIt are words that stand for a place of the same kind on another floor: "brighter than the one upstairs", "heller als der im
// Erdgeschoss"; empty: there are none.
func (s *sentence) likeIt() string {
	for _, p := range s.f.Places {
		k := p.Mention - 1
		for k > 0 && leading[s.t[k].stem] && !slices.Contains([]string{"der", "die", "das"}, s.t[k].stem) {
			k--
		}
		if k <= 0 || !slices.Contains([]string{"one", "those", "that", "der", "die", "das", "dem", "den", "jener"}, s.t[k].stem) {
			continue
		}
		german := slices.Contains([]string{"der", "die", "das", "dem", "den"}, s.t[k].stem)
		if before := s.wordAt(k - 1); (before == "than" || before == "als" || before == "the" && s.wordAt(k-2) == "than") && (!german || k < p.Mention-1) {
			return said(s.t, k, s.nameEnd(p.Mention)-k)
		}
	}
	return ""
}

// wasDone reports whether it is asked what somebody did, without saying who: "was switched off", not "was off".
func (s *sentence) wasDone() bool {
	if s.f.Lang == German {
		return s.has0("ging", "gingen") || s.has0("wurde", "wurden") && s.word("ausgeschaltet", "eingeschaltet", "angeschaltet", "abgeschaltet", "ausgemacht", "angemacht", "geöffnet", "geschlossen", "gelöscht", "aufgemacht", "zugemacht") != ""
	}
	return s.has0("went") && s.has("list") || s.has0("was", "were", "been", "got") && s.word("switched", "turned", "opened", "closed", "raised", "lowered") != "" && !s.has0("how", "long") && s.has("list", "everything", "any", "count") || s.has0("what") && s.has0("was", "were") && s.word("switched", "turned", "opened", "closed") != ""
}

// attributive are the words of things that are so, where a place follows that they are a share of: "lit lamps … in the tower"; else empty.
func (s *sentence) attributive() string {
	for i, c := range s.chunks[:max(0, len(s.chunks)-1)] {
		if next := s.chunks[i+1]; stateOf(c) != "" && next.is("light", "shade") && next.at == c.at+c.n && len(s.f.Places) > 0 && s.f.Places[0].Mention > next.at {
			return said(s.t, c.at, c.n+next.n)
		}
	}
	return ""
}

// nameSays reports whether the name of a place says a noun of a kind: "the south blinds".
func (s *sentence) nameSays(k Kind) bool {
	return slices.ContainsFunc(s.t, func(t token) bool { return t.name && countable(t.stem) == k })
}

// thanThat reports whether what was said before is compared with a place: "is that more than the upper floor?".
func (s *sentence) thanThat() bool {
	than := s.first("than")
	return than >= 0 && s.has("more", "less", "brighter", "darker") && len(s.f.Mentioned()) == 1 && s.f.Against == nil && s.f.Places[0].Mention > than &&
		slices.ContainsFunc(s.t[:than], func(t token) bool {
			return slices.Contains([]string{"it", "that", "this", "das", "es", "dies"}, t.stem)
		})
}

// commanded reports whether it is asked what was commanded, of whatever there is: "what changed since 11", "the last command in the lobby".
func (s *sentence) commanded() bool {
	period := s.f.When != nil && !s.f.When.Now
	if s.f.State != "" || s.f.Against != nil || s.has("energy", "power", "use", "cost", "meter", "fault", "offline", "controller", "firmware") {
		return false
	}
	switch {
	case s.has("command"), s.has("switch", "change") && (s.has("who") || s.somebody()) && len(s.f.Places) > 0:
		return true
	}
	if period && (s.wordAt(0) == "what" || s.wordAt(0) == "was") && s.has0("done", "gemacht", "getan") && !s.has("report") {
		return true
	}
	return period && (s.has("switch") || s.has("change") && s.wordAt(0) == "what" || s.has("change") && s.wordAt(0) == "was")
}

// bare reports whether a sentence names no place, time, state or value: it is about what was said before, if about anything.
func (s *sentence) bare() bool {
	return len(s.f.Places)+len(s.f.Except)+len(s.f.Conds)+len(s.f.Having) == 0 && s.f.When == nil && s.f.State == "" && s.f.Kind == ""
}

// agent reports whether it is asked what did something, in the words of who did.
func (s *sentence) agent() bool {
	if s.wordAt(0) == "was" && s.wordAt(1) == "hat" {
		return s.has("switch", "on", "off", "open", "closed")
	}
	return s.wordAt(0) == "what" && s.first("switch") == 1
}

// somebody reports whether it is asked if anybody did something: "did anybody switch it off". Who leaves a light on does nothing.
func (s *sentence) somebody() bool {
	return s.word("anybody", "anyone", "somebody", "someone", "jemand") != "" && s.word("did", "has", "have", "hat") != "" &&
		s.word("leave", "left", "leaving", "forget", "forgot", "forgotten", "gelassen", "vergessen") == "" && (s.has("switch") || s.f.State != "")
}

// word is the first of some words that the sentence has, as it was said; empty: none.
func (s *sentence) word(words ...string) string {
	for _, t := range s.t {
		if slices.Contains(words, t.text) || slices.Contains(words, t.stem) {
			return t.text
		}
	}
	return ""
}
