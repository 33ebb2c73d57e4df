package understand

import (
	"math"
	"slices"
)

// settle claims what goes with the topic, and puts the frame in order.
func (s *sentence) settle() {
	f := &s.f
	switch f.Topic {
	case Energy, Cost, Carbon:
		s.claim("energy", "use", "power", "consumer", "carbon", "cost", "estimate", "saving", "air", "metered")
		if f.Topic == Energy {
			s.drop("cost", "carbon", "saving", "air")
		} else if f.Topic == Cost {
			s.drop("carbon", "air", "saving")
		} else {
			s.drop("cost", "saving")
		}
		s.claim("hourly", "daily", "weekly", "monthly", "byhour", "byday", "sum", "meter")
		s.grouping(Zone, Floor, Meter)
	case Power:
		s.claim("power", "energy", "use", "peak", "base", "consumer", "estimate", "hourly", "daily", "byhour", "byday", "sum", "meter", "status")
		s.grouping(Zone, Floor, Meter)
		s.claim("counter", "metered")
		if s.has("counter") {
			s.claim("since")
		}
		if f.Aspect = ""; s.has("counter") || s.counted() {
			f.Aspect = "counter"
		} else if ranked := s.has("zone", "floor", "meter") && (f.Op == Most || f.Op == Least) && f.When == nil; ranked && s.has("peak", "base") && s.word("highest", "maximum", "höchste", "lowest", "niedrigste") != "" {
		} else if s.has("peak") && f.By == "" && !s.has("least", "base") {
			f.Aspect = "peak"
		} else if s.has("base") && !s.has("most", "peak") {
			f.Aspect = "base"
		}
		if f.By == "hour" && s.has("when", "byhour") {
			f.By = ""
		}
		s.claim("when")
	case Lights:
		if f.Op == Sum { // "how many are on in Alps and Lakes together"
			f.Op = Tell
			s.claim("sum")
		}
		if f.When != nil {
			s.claim("ever")
		}
		if s.has0("vergessen", "lassen", "gelassen", "angelassen", "left", "forget", "forgot") {
			s.claim("occupancy") // "hat jemand in der Lobby das Licht vergessen"
		}
		s.claim("complaint", "light", "level", "status", "full", "report", "switch", "everything", "device")
		s.full()
		s.rows(Light)
	case Shades:
		if f.When != nil {
			s.claim("ever")
		}
		if s.has("position") && (f.State == Open || f.State == Closed) && len(f.Conds) == 0 {
			f.State = "" // "how far is it open", "how far down"
		}
		if f.Op == Compare && (s.word("weiter", "further", "farther", "wider") != "" || s.moreSo()) && (f.State == Open || f.State == Closed) {
			f.State = "" // how far, not how many
		}
		if s.has0("percent") {
			s.claim("level") // "auf wie viel Prozent sind die Storen"
		}
		s.claim("shade", "position", "status", "half", "ends", "report", "switch", "device", "everything")
		s.full()
		s.rows(Shade)
	case Colour:
		s.claim("kelvin", "light", "level", "temperature", "hue", "else", "moving")
		if f.State == On && !s.has("list", "count", "who") { // "are they on warm or on cold white"
			f.State = ""
		}
		if f.Aspect = ""; s.has("hue") || s.word("colour", "color", "colours", "colors", "farbe") != "" && !s.has("temperature") && !s.lightColour() {
			f.Aspect = "hue"
		}
		s.rows(Light)
	case Faults:
		s.claim("fault", "healthy", "light", "shade", "device", "meter", "peripheral", "status", "everything", "switch", "when", "report", "bus", "with", "since", "offline")
		if s.has0("newest", "neueste", "neuesten", "neusten") && s.has0("first", "zuerst", "oben") { // as they are told
			s.used("newest", "neueste", "neuesten", "neusten", "first", "zuerst", "oben")
		}
		s.noneOfRows()
		s.ofKind()
		if f.By == "" && s.has("light") && s.has("shade") && s.has0("and", "or", "und", "oder") { // all of them
			f.Kind = ""
		}
		if s.has("healthy") { // "what isn't working", "was geht nicht"
			for _, c := range s.chunks {
				if c.is("not") {
					s.claims[key(c)] = true
				}
			}
		}
		s.drop("on", "off") // a fault is no light
		f.State = ""
		if f.Kind == Device || f.Kind == Zone || f.Kind == Floor {
			f.Kind = ""
		}
	case Offline:
		s.claim("offline", "online", "availability", "light", "shade", "device", "meter", "peripheral", "status", "everything", "switch", "when", "since", "longer", "fault", "moving")
		if s.has("since") {
			s.claim("with")
		}
		s.noneOfRows()
		s.ofKind()
		if f.State == Away || f.State == Moving {
			f.State = ""
		}
	case Controllers:
		s.claim("controller", "online", "offline", "firmware", "status", "since", "healthy", "inventory", "on", "off", "moving", "type", "report", "fault")
		f.Kind = ""
		if s.has("firmware") {
			f.Aspect = "firmware"
		}
		switch f.State {
		case On, Open, Moving:
			f.State = Online
		case Off, Closed:
			f.State = Away
		}
		if f.Aspect == "firmware" {
			f.State = ""
		}
		s.claim("everything")
	case Comfort:
		for _, a := range aspects {
			if s.has(a) {
				f.Aspect = a
				break
			}
		}
		s.claim(aspects...)
		s.claim("complaint", "off", "light")
		s.drop("light")
		s.claim("on", "level", "zone", "floor", "status", "able", "more", "less", "than", "healthy", "most", "least", "average", "where", "moving", "report")
		f.State, f.Kind, f.Conds, f.By, f.Op = "", "", nil, "", Tell
	case Occupancy:
		s.claim("occupancy", "zone", "floor", "status", "who", "where")
		f.State, f.Kind, f.By = "", "", ""
	case Automation:
		s.claim("report", "use", "can", "able", "status", "automation", "light", "shade", "on", "off", "open", "closed", "future", "inventory", "when", "zone", "everything", "healthy", "since", "fault", "online", "moving")
		f.State, f.Kind, f.Op = "", "", Tell
	case Inventory:
		s.inventory()
	case Report:
		s.claim("report", "status", "healthy", "everything", "use", "light", "energy", "help")
		s.drop("light", "energy", "use")
		f.Kind = ""
	case Sources:
		s.claim("source", "meter", "energy", "power", "level", "position")
		f.Kind = ""
	case Saving:
		if s.has("waste") && s.has("howmuch", "count", "share") && f.Unclear == nil { // nobody measures what is wasted
			f.Unclear = &Unclear{Conflict, []string{said(s.t, s.first("waste"), 1)}}
		}
		s.claim("saving", "waste", "energy", "power", "cost", "can", "use", "where", "light", "consumer", "able", "more", "less")
		f.Kind = ""
	case Help:
		s.claim("help", "self", "can", "greeting", "able", "level", "light", "shade")
		f.Kind = ""
	case Greeting:
		s.claim("greeting")
	case Nothing:
		s.claim("it", "light", "shade", "zone", "floor", "meter", "device", "compare", "than", "more", "less", "why", "since", "each", "hourly", "daily", "weekly", "monthly", "average", "most", "least", "half", "full", "everything",
			"difference", "trend", "share", "sum", "usual", "perm2", "perlight", "list")
		s.full()
		if s.has("difference") {
			f.Op = Difference
		}
	}
	if w, v := f.When, f.Against; w != nil && v != nil && w.From.Equal(v.From) && w.To.Equal(v.To) && len(f.Mentioned()) > 1 { // "compare today's use of the two"
		f.Against = nil
	}
	if w := f.When; w != nil && s.sinceThen(w) && (f.Topic == Lights || f.Topic == Shades) && f.State != "" && (f.Op == Tell || f.Op == Since) && len(f.Conds) == 0 && !f.Is(Past) {
		f.Conds = append(f.Conds, Cond{Rel: AtLeast, Value: math.Floor(w.To.Sub(w.From).Minutes()), Unit: Minutes}) // "which lights are on since 8": for as long
		f.Op, f.When = Since, nil
	}
	if f.By != "" {
		s.claim("each")
		s.used("sorted", "ordered", "grouped", "sortiert", "geordnet", "gruppiert", "aufgeschluesselt")
	}
	if f.Is(Future) || s.has("future") {
		s.claim("when", "since")
	}
	s.twoMeasures()
	if s.both() {
		s.claim("more", "less", "most", "least", "than", "compare")
	}
	s.claim("all", "everything", "future", "it")
	if f.Topic == Lights || f.Topic == Shades { // "roughly how many are on"
		s.claim("estimate")
	}
	s.appositions()
	s.units()
}

// noneOfRows reads "which floor has no offline devices", "rooms without a fault".
func (s *sentence) noneOfRows() {
	for _, c := range s.chunks {
		if c.is("no", "without") && !s.claims[key(c)] && s.has("zone", "floor") && s.has("list", "where", "count") {
			s.claims[key(c)] = true
			s.f.Set(None, true)
		}
	}
}

// large reports whether sizes are compared.
func (s *sentence) large() bool {
	return s.word("largest", "biggest", "smallest", "größte", "größten", "grösste", "grössten", "kleinste", "kleinsten") != ""
}

// inventory puts a question of what there is in order.
func (s *sentence) inventory() {
	f := &s.f
	s.claim("inventory", "light", "shade", "zone", "floor", "device", "meter", "peripheral", "bus", "controller", "type", "able", "everything", "where", "with", "metered", "most", "least", "each", "sum", "can", "size", "timezone", "status")
	if s.has("light") && s.has("shade") && f.Op == Tell && f.By == "" && f.Make == "" && len(f.Conds)+len(f.Having) == 0 && s.has("count") && s.has0("and", "und") { // "how many lamps and shades"
		f.Kind, f.Aspect = "", ""
		s.claim("light", "shade", "count", "inventory", "with")
		return
	}
	if f.Kind == Floor && s.beside(Floor) && !s.has("count") && f.Op == Tell { // "what is on floor Tower"
		f.Kind = ""
	}
	switch {
	case s.has("size"):
		f.Aspect, f.Kind = "size", ""
		s.drop("light", "shade", "meter", "most", "least")
	case s.has("timezone"):
		f.Aspect, f.Kind = "timezone", ""
	case s.has("metered") && f.Kind == Zone && len(f.Having) == 0 && !slices.ContainsFunc(f.Places, func(p Place) bool { return p.Kind == Meter }): // "which zones are metered"
		f.Having = append(f.Having, Having{Meter, false})
	case s.has("metered") && len(f.Places) == 1 && f.Places[0].Kind == Meter:
		f.Aspect, f.Kind = "covers", ""
	case s.has("metered") && len(f.Having) == 0 && f.Kind == "":
		f.Aspect = "metered"
		f.Set(Future, false) // "wird der Turm gemessen"
		s.claim("future", "unmetered")
	case f.Op == Can:
		f.Aspect = "can:dim"
		if s.has("tune?") {
			f.Aspect = "can:tune"
		} else if s.has("hue?", "hue") {
			f.Aspect = "can:colour"
		}
	}
	for _, m := range []string{"dali", "modbus", "dmx", "somfy"} {
		if s.has(m) {
			f.Make = m
			s.claim(m)
			if f.Kind == "" {
				f.Kind = Device
			}
		}
	}
	if f.Aspect == "" && f.Make == "" && s.has("type") {
		f.Aspect = "type"
	}
	if s.has("where") && (f.Kind == "" || f.Kind == Zone || f.Kind == Floor || len(f.Places) > 0) && f.Op == Tell {
		f.Kind = Zone
		if s.has("floor") {
			f.Kind = Floor
		}
	} else if s.has("where") && f.By == "" {
		f.By = string(Zone)
		if s.has("floor") {
			f.By = string(Floor)
		}
	}
	if f.Op == Most || f.Op == Least {
		places := []Kind{Zone, Floor, Bus}
		if slices.Contains(places, f.Kind) { // "which floor has the most rooms"
			places = slices.Insert(places, 0, f.Kind)
		}
		for _, k := range places {
			if s.has(string(k)) && f.By == "" && !s.beside(k) {
				f.By = string(k)
			}
		}
		if f.Kind == Kind(f.By) {
			f.Kind = Device
			if f.By == string(Floor) && s.has("zone") && !s.has0("area") {
				f.Kind = Zone
			} else if f.By == string(Floor) && s.large() && !s.has("device", "light", "shade", "meter", "peripheral", "inventory") { // "the biggest floor"
				f.Kind, f.By, f.Aspect = "", "", "size"
				s.claim("zone")
				return
			} else if !s.has("device", "light", "shade", "meter", "peripheral", "inventory") { // "the biggest room"
				f.Unclear = &Unclear{Conflict, []string{said(s.t, max(0, s.first("most", "least")), 1)}}
			}
			for _, k := range []Kind{Light, Shade, Meter, Peripheral} {
				if s.has(string(k)) {
					f.Kind = k
				}
			}
		}
	}
	if f.Kind == Building {
		s.claim("site")
	}
	for _, k := range []Kind{Light, Shade, Zone, Floor, Meter, Peripheral, Bus, Controller} { // "zones and floors" are two questions
		if f.Kind != k && f.By != string(k) && f.Aspect != "size" && f.Aspect != "covers" && !(f.Op == Can && k == Light) && !(k == Floor && f.Kind == Zone && s.has("where")) && !(k == Zone && f.Kind == Floor && s.has("where")) {
			s.drop(string(k))
		}
	}
	if f.Kind == Device && len(f.Places) == 1 && (f.Places[0].Kind == Device || f.Places[0].Kind == Shade) {
		f.Kind = ""
	}
	if len(f.Having) > 0 && f.Kind != Floor && f.Kind != Device {
		f.Kind = Zone
	}
	if f.Kind == "" && len(f.Places) == 0 && f.Aspect == "" && f.Op == Tell && !s.has("inventory", "everything", "device") {
		f.Topic = Nothing
	}
	for i := range f.Conds {
		if f.Conds[i].Of == "" {
			f.Unclear = &Unclear{Conflict, []string{"number without a unit"}}
		}
	}
}

// opensForPeople reports whether no more is asked than whether a place is open or closed, which may be said of its doors and hours: "is the
// canteen open".
func (s *sentence) opensForPeople(i int) bool {
	f := s.f
	if f.Topic != Shades || f.Op != Tell && f.Op != Since || len(f.Places) == 0 || len(f.Conds) > 0 || s.has("shade", "position", "moving") || s.nameSays(Shade) || !slices.Contains([]string{"is", "are", "ist", "sind", "when", "wann"}, s.wordAt(0)) {
		return false
	}
	return !slices.ContainsFunc(f.Places, func(p Place) bool { return p.Kind != Zone }) && slices.Contains([]string{"open", "closed", "offen", "geschlossen", "zu", "auf", "geoeffnet", "opened"}, s.t[i].stem)
}
