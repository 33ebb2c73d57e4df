package understand

import (
	"math"
	"slices"
	"time"
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
		s.claim("counter", "metered", "since")
		if f.Aspect = ""; s.has("counter") {
			f.Aspect = "counter"
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
		if s.has0("vergessen", "gelassen", "angelassen", "left", "forget", "forgot") {
			s.claim("occupancy") // "hat jemand in der Lobby das Licht vergessen"
		}
		s.claim("complaint", "light", "level", "status", "full", "report", "switch", "everything", "device")
		s.full()
		s.rows(Light)
	case Shades:
		if f.When != nil {
			s.claim("ever")
		}
		if s.has("position") && f.State == Open && len(f.Conds) == 0 {
			f.State = "" // "how far is it open"
		}
		s.claim("shade", "position", "status", "half", "ends", "report", "switch", "device", "everything")
		s.full()
		s.rows(Shade)
	case Colour:
		s.claim("kelvin", "light", "level", "temperature")
		s.rows(Light)
	case Faults:
		s.claim("fault", "healthy", "light", "shade", "device", "meter", "peripheral", "status", "everything", "switch", "when", "report", "bus", "with", "since", "offline")
		s.ofKind()
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
		s.claim("source")
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
	if w := f.When; w != nil && s.sinceThen(w) && (f.Topic == Lights || f.Topic == Shades) && f.State != "" && (f.Op == Tell || f.Op == Since) && len(f.Conds) == 0 && !f.Is(Past) {
		f.Conds = append(f.Conds, Cond{Rel: AtLeast, Value: math.Floor(w.To.Sub(w.From).Minutes()), Unit: Minutes}) // "which lights are on since 8": for as long
		f.Op, f.When = Since, nil
	}
	if f.By != "" {
		s.claim("each")
	}
	if f.Is(Future) || s.has("future") {
		s.claim("when", "since")
	}
	s.twoMeasures()
	if s.both() {
		s.claim("more", "less", "most", "least", "than", "compare")
	}
	s.claim("all", "everything", "future", "it")
	s.appositions()
	s.units()
}

// sinceThen reports whether a time is one since a moment, up to now.
func (s *sentence) sinceThen(w *Span) bool {
	return slices.ContainsFunc(s.when, func(p part) bool { return p.open && p.span.From.Equal(w.From) && w.To.Equal(s.now) })
}

// twoMeasures refuses "energy and power of the workshop", of which an answer would tell one.
func (s *sentence) twoMeasures() {
	measure := func(c chunk) string {
		for _, m := range []string{"energy", "power", "cost", "carbon", "level", "position"} {
			if c.is(m) {
				return m
			}
		}
		return ""
	}
	for i := 2; i < len(s.chunks); i++ {
		a, b := measure(s.chunks[i-2]), measure(s.chunks[i])
		if joint := s.t[s.chunks[i-1].at].stem; a != "" && b != "" && a != b && (joint == "and" || joint == "und") && s.f.Unclear == nil {
			s.f.Unclear = &Unclear{Conflict, []string{said(s.t, s.chunks[i-2].at, s.chunks[i].at+s.chunks[i].n-s.chunks[i-2].at)}}
		}
	}
}

// drop takes claims back.
func (s *sentence) drop(tags ...string) {
	for _, t := range tags {
		delete(s.claims, t)
	}
}

// grouping finds what is ranked or listed: "which floor used most", "which zones draw more than 500 W".
func (s *sentence) grouping(kinds ...Kind) {
	f := &s.f
	for _, k := range kinds {
		if f.Kind != k || s.beside(k) {
			continue
		}
		if f.By == "" && (f.Op == Most || f.Op == Least || len(f.Conds) > 0 || s.has("list", "any") || s.has("all") && !s.has("total", "sum")) {
			f.By = string(k)
		}
		if f.By == string(k) || s.has("all") {
			s.claim(string(k))
		}
	}
	for _, k := range kinds {
		if f.By == string(k) {
			s.claim(string(k))
		}
	}
	if (f.Op == Most || f.Op == Least) && s.has0("when", "wann") && f.By == "" && f.Topic == Energy {
		f.By = "hour"
		if f.When != nil && f.When.To.Sub(f.When.From) > 49*time.Hour {
			f.By = "day"
		}
		s.claim("when", "since")
	}
	if f.Per == "light" {
		s.claim("light", "perlight", "each")
	}
	f.Kind = ""
}

// beside reports whether a noun stands next to a name of its kind: "the ground floor meter", "the lobby room".
func (s *sentence) beside(k Kind) bool {
	for _, c := range s.chunks {
		if c.is(string(k)) && s.apposed(c) {
			return true
		}
	}
	return false
}

// apposed reports whether a noun only says again what kind of thing the name beside it is.
func (s *sentence) apposed(c chunk) bool {
	fits := func(i int) bool {
		if i < 0 || i >= len(s.t) || !s.t[i].name {
			return false
		}
		for k := i; k >= 0 && s.t[k].name; k-- {
			for _, p := range append(s.placeAt(k), s.f.Except...) {
				if p.Mention == k && (c.is(string(p.Kind)) || p.Kind == Device && c.is(string(Light)) || c.is("device")) {
					return true
				}
			}
		}
		return false
	}
	end := c.at + c.n
	for s.wordAt(end) == "the" || s.wordAt(end) == "of" || s.wordAt(end) == "in" || s.wordAt(end) == "on" {
		end++
	}
	return fits(c.at-1) || fits(end)
}

// appositions claims nouns that stand beside a name of their kind.
func (s *sentence) appositions() {
	for i := range s.chunks {
		if s.apposed(s.chunks[i]) && s.chunks[i].is("zone", "floor", "meter", "light", "shade", "device", "bus") {
			s.take(s.chunks[i].at)
		}
	}
}

// rows tells places that are asked for from things: "which rooms have lights on" is of rooms.
func (s *sentence) rows(kind Kind) {
	f, rows := &s.f, false
	for _, k := range []Kind{Zone, Floor} {
		if f.By == string(k) || f.Kind == k && !s.beside(k) && f.By == "" {
			rows = f.By == ""
			f.By = string(k)
			s.claim(string(k))
		}
	}
	if f.By == "" && (f.Op == Most || f.Op == Least) && s.has("brightest", "darkest") && !s.has(string(kind)) && len(f.Places) > 1 && f.Places[0].Kind == Zone {
		f.By = string(Zone) // "which of the corridors is brightest"
	}
	if f.By == "" && s.has("where") {
		f.By, rows = string(Zone), f.State != "" || len(f.Conds) > 0
		s.claim("where", "zone")
	}
	if f.By == "device" {
		f.By = ""
	}
	if rows && f.State != "" && s.allThings() && !s.has("each") {
		f.Set(All, true) // "rooms where everything is off"
	}
	if (f.By == string(Zone) || f.By == string(Floor)) && f.Op == Tell && f.State == "" && len(f.Conds) == 0 && s.has("level") && s.has("each") && kind == Light {
		f.Op = Average // "list zones by brightness"
	}
	if rows && f.State != "" && s.has("partly", "half") && len(f.Conds) == 0 {
		f.Set(Some, true) // "which zones are half lit"
		s.claim("partly", "half")
	}
	if (f.By == string(Zone) || f.By == string(Floor)) && f.State == Off && !s.has("each") && !f.Is(All) && s.has("list", "count") && !s.has("light") {
		f.Set(All, true) // "which rooms are dark"
	}
	if f.Op == Tell && len(f.Mentioned()) == 2 && s.has("brighter", "darker", "more", "less") {
		f.Op = Compare
	}
	s.claim("with", "inventory", "where", "no", "moving")
	if kind == Light {
		s.drop("moving")
	}
	if f.Kind != Everything {
		f.Kind = ""
	}
	if rows {
		f.Kind = Kind(f.By)
	}
}

// allThings reports whether all of the things of a place are spoken of: "where everything is off", "where all lights are on".
func (s *sentence) allThings() bool {
	return s.has("everything") || slices.ContainsFunc(s.chunks, func(c chunk) bool {
		next := slices.IndexFunc(s.chunks, func(o chunk) bool { return o.at == c.at+c.n })
		return c.is("all") && (slices.Contains([]Kind{Light, Shade}, countable(s.wordAt(c.at+c.n))) || next >= 0 && stateOf(s.chunks[next]) != "")
	})
}

// full reads "at full brightness" and "fully open" as conditions.
func (s *sentence) full() {
	f := &s.f
	switch {
	case len(f.Conds) > 0:
	case s.has("full") && f.Topic != Shades || s.has("ends"):
		f.Conds = append(f.Conds, Cond{Rel: Exactly, Value: 100, Unit: Percent})
		if f.State == Open || f.State == On {
			f.State = ""
		}
	case s.has("half") && f.Topic == Shades:
		f.Conds = append(f.Conds, Cond{Rel: Exactly, Value: 50, Unit: Percent})
		f.State = ""
	}
	if f.Topic == Shades && len(f.Conds) > 0 && f.State == Open && f.Conds[0].Unit != Part {
		f.State = "" // "more than half open"
	}
	if f.Topic == Shades && len(f.Conds) > 0 && f.State == Closed && f.Conds[0].Unit == Percent { // "more than 30 % closed"
		c := &f.Conds[0]
		c.Value = 100 - c.Value
		c.Rel = map[Relation]Relation{Above: Below, Below: Above, AtLeast: AtMost, AtMost: AtLeast, Exactly: Exactly}[c.Rel]
		f.State = ""
	}
	if f.Topic == Lights && len(f.Conds) > 0 && f.State == On && f.Conds[0].Unit == Percent {
		f.State = ""
	}
}

// ofKind keeps the kind that a question of faults or reach is limited to.
func (s *sentence) ofKind() {
	f := &s.f
	for _, k := range []Kind{Zone, Floor} {
		if f.Kind == k {
			f.Kind = ""
		}
		if f.By == string(k) || s.has(string(k)) && !s.beside(k) && s.has("list", "most", "where") {
			f.By = string(k)
			s.claim(string(k))
		}
	}
	if f.Kind == Device || f.Kind == Building {
		f.Kind = ""
	}
	s.claim("where")
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
			} else if f.By == string(Floor) && !s.has("device", "light", "shade", "meter", "peripheral", "inventory") { // "the biggest floor"
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

// units gives a number without a unit that of the topic, and refuses units that do not go with it.
func (s *sentence) units() {
	f := &s.f
	allowed := map[Topic][]Unit{Lights: {Percent, Minutes, Part}, Shades: {Percent, Minutes, Part}, Energy: {WattHour, Part}, Power: {Watt, Part}, Colour: {Kelvin}, Offline: {Minutes, Part}, Cost: {}, Nothing: {Percent}}
	for i := range f.Conds {
		c := &f.Conds[i]
		if c.Unit == Number && c.Of == "" && (f.Topic == Lights || f.Topic == Shades) && c.Value <= 100 {
			c.Unit = Percent
		}
		fits := slices.Contains(allowed[f.Topic], c.Unit)
		if c.Unit == Number {
			fits = c.Of != "" && (f.Topic == Inventory || f.Topic == Lights && c.Of == Light && f.By != "" || f.Topic == Shades && c.Of == Shade && f.By != "")
		}
		if !fits && f.Unclear == nil {
			f.Unclear = &Unclear{Conflict, []string{c.words(f.Lang)}}
		}
	}
}

// words name the dimension of a condition, which does not go with the rest.
func (c Cond) words(lang Lang) string {
	if lang == German {
		return map[Unit]string{Percent: "Prozent", Watt: "Leistung", WattHour: "Energie", Kelvin: "Farbtemperatur", Minutes: "Dauer", Number: "Anzahl", Part: "Anteil"}[c.Unit]
	}
	return map[Unit]string{Percent: "percentage", Watt: "power", WattHour: "energy", Kelvin: "colour temperature", Minutes: "duration", Number: "number", Part: "share"}[c.Unit]
}

// everLooks is how far back "did it ever" looks.
const everLooks = 30 * 24 * time.Hour

// everBefore reads "did it ever go offline", "did it go offline": of what was, not of what is.
func (s *sentence) everBefore() {
	f := &s.f
	if f.Topic != Offline && f.Topic != Faults || f.Form != Check || f.When != nil || !s.has("ever") && s.wordAt(0) != "did" {
		return
	}
	f.When = &Span{From: s.now.Add(-everLooks), To: s.now, Label: "in the last 30 days"}
	if f.Lang == German {
		f.When.Label = "in den letzten 30 Tagen"
	}
	s.claim("ever")
}
