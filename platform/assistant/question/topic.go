package question

import "slices"

// topic weighs the tags. The order says which meaning wins where several are possible; what is special comes first.
func (s *sentence) topic() Topic {
	light := s.has("light", "on", "off", "level", "full", "brightest", "dimmest")
	thing := light || s.has("shade")
	energetic := s.has("energy", "use", "power", "peak", "baseload")
	switch {
	case s.has("source") && !s.has("fault", "offline"):
		return Sources
	case s.has("help") && !thing && !energetic:
		return Help
	case s.has("saving") && s.q.Against == nil && !s.has("fault", "offline"):
		return Saving
	case s.has("carbon"):
		return Carbon
	case s.has("outside") && !thing && !s.has("fault"):
		s.aspect("outside")
		return Outside
	case s.has("cost"):
		return Cost
	}
	if t := s.ambience(thing); t != Nothing {
		return t
	}
	if t := s.trouble(); t != Nothing {
		return t
	}
	switch {
	case s.has("unmetered"):
		s.aspect("unmetered")
		return Inventory
	case s.measured():
		return Energy
	case s.has("kelvin"), s.has("temperature") && light:
		return Colour
	case s.has("shade") && s.first("shade") < s.firstOr("light", 1<<20), s.has("position", "moving", "partly") && !light:
		return s.orInventory(Shades)
	case s.has("energy", "peak", "baseload", "power"), s.has("use") && !s.has("on", "off"):
		if s.has("energy", "use") && !s.has("power", "peak", "baseload") || s.has("energy") && !s.has("peak", "baseload") {
			return Energy
		}
		return Power
	case light && !s.has("shade"):
		return s.orInventory(Lights)
	case s.has("shade", "open", "closed") && !s.has("controller", "bus", "device", "meter", "peripheral"):
		return s.orInventory(Shades)
	case s.has("firmware"):
		s.aspect("firmware")
		return Controllers
	case s.has("online", "open", "closed"): // "which devices are down"
		switch s.q.State {
		case Closed:
			s.q.State = Away
		case Open:
			s.q.State = Online
		}
		return Offline
	case s.has("controller"):
		return Controllers
	case s.has("size"):
		s.aspect("size")
		return Inventory
	case s.has("timezone"):
		s.aspect("timezone")
		return Inventory
	case s.has("report") && !s.has("zone", "floor", "device", "meter", "peripheral", "bus", "inventory"):
		return Report
	case s.has("zone", "floor", "device", "meter", "peripheral", "bus", "inventory", "protocol", "ability"):
		return Inventory
	case s.has("site"):
		return s.ofSite()
	case s.has("status", "health"):
		return Report
	case s.has("greeting"):
		return Greeting
	case s.has("since"):
		return Offline
	case s.q.By == "hour" || s.q.By == "day" || s.q.By == "week" || s.q.By == "month", s.figure():
		return Energy
	}
	return Nothing
}

// figure reports whether nothing but a figure of a place and a past time is asked for: "the total for the offices last week".
func (s *sentence) figure() bool {
	for i := range s.t {
		if s.leftover(i) {
			return false
		}
	}
	return len(s.q.Places) > 0 && s.q.When != nil && !s.q.When.Now && s.has("howmuch", "average")
}

// measured reports whether figures of a period are asked for that only meters give: "what did it take today", "the heaviest day",
// "total of all meters for October".
func (s *sentence) measured() bool {
	period := s.q.When != nil && !s.q.When.Now
	if s.has("light", "shade", "power", "peak", "baseload") {
		return false
	}
	return period && s.has("took", "share") || (s.q.By == "day" || s.q.By == "hour") && s.has("most", "least") || period && s.has("meter") && s.has("howmuch", "average", "most", "least")
}

// ambience: what is felt in a room, who is in it, what runs by itself.
func (s *sentence) ambience(thing bool) Topic {
	aspects := []tag{"humidity", "air", "noise", "daylight", "hvac", "temperature", "comfort"}
	switch {
	case s.has("kelvin"):
		return Nothing
	case s.has(aspects...) && !(s.has("temperature") && s.has("light")):
		for _, a := range aspects {
			if s.has(a) {
				s.q.Aspect = string(a)
				break
			}
		}
		return Comfort
	case s.has("occupancy") && !thing, s.has("someone") && !thing && !s.has("energy", "power", "fault"):
		return Occupancy
	case s.has("automation"):
		return Automation
	}
	return Nothing
}

// trouble: what is wrong or out of reach.
func (s *sentence) trouble() Topic {
	switch {
	case s.has("controller") && s.has("offline", "online", "since", "status", "health", "count", "list", "firmware", "open", "closed", "fault"):
		if s.has("firmware") {
			s.aspect("firmware")
		}
		if s.q.State == Closed {
			s.q.State = Away
		}
		if s.q.State == Open || s.q.State == Moving {
			s.q.State = Online
		}
		return Controllers
	case s.has("availability"):
		s.q.Aspect = "availability"
		return Offline
	case s.has("offline"):
		return Offline
	case s.has("fault"), s.has("bus") && s.has("closed"): // "how long was the bus down"
		if s.q.State == Closed {
			s.q.State = ""
		}
		return Faults
	case s.has("online") && !s.has("meter", "energy"):
		return Offline
	case s.has("health") && !s.has("energy", "power", "use"):
		return Faults
	case s.has("since") && !s.has("on", "off", "energy", "use", "power", "peak", "baseload", "open", "closed"):
		return Offline
	}
	return Nothing
}

// orInventory: lights or shades that are only counted or listed are a question of what there is.
func (s *sentence) orInventory(t Topic) Topic {
	told := s.q.State != "" || s.q.Bound != nil || s.has("level", "full", "brightest", "dimmest", "position", "moving", "partly", "half", "status", "average")
	asked := s.has("count", "list", "inventory", "ability", "protocol")
	if !told && asked {
		return Inventory
	}
	return t
}

// ofSite: "which buildings are there" against "tell me about the building".
func (s *sentence) ofSite() Topic {
	if s.has("count", "list") {
		s.q.Object = "site"
		return Inventory
	}
	return Report
}

func (s *sentence) aspect(tg tag) {
	for _, t := range s.tags {
		if t.tag == tg {
			s.q.Aspect = string(tg)
			if tg == "outside" {
				s.q.Aspect = said(s.t, t.at, t.n)
			}
			return
		}
	}
}

func (s *sentence) firstOr(tg tag, without int) int {
	if i := s.first(tg); i >= 0 {
		return i
	}
	return without
}

// Instant reports whether a topic is about the present state, of which no history is kept.
func (t Topic) Instant() bool {
	return slices.Contains([]Topic{Lights, Colour, Shades, Inventory, Comfort, Occupancy, Automation}, t)
}

// General reports whether a topic is not about one site.
func (t Topic) General() bool {
	return slices.Contains([]Topic{Help, Greeting, Controllers, Outside, Nothing, Confirm, Decline}, t)
}
