package understand

import (
	"slices"
	"time"
)

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
	for i, c := range s.chunks[:max(0, len(s.chunks)-1)] { // "are the lamps on in all rooms"
		for _, k := range []Kind{Zone, Floor} {
			if next := s.chunks[i+1]; (f.By == "" || f.By == string(k) && s.yesNo()) && c.is("all") && next.is(string(k)) && !s.apposed(next) && f.State != "" {
				f.By, rows = string(k), true
				f.Set(All, true)
				s.claim(string(k))
			}
		}
	}
	anywhere := s.has0("anywhere", "somewhere", "irgendwo")
	if f.By == "" && kind == Light && f.State == Off && f.Op == Tell && len(f.Conds) == 0 && (anywhere || s.has("any", "list", "count") && s.severalZones()) && !s.has("light", "device", "everything") { // "is any corridor dark", "which of the offices is dark"
		f.By, rows = string(Zone), true
		f.Set(All, true)
		f.Set(Either, true)
	}
	if f.By == "" && s.has("where") {
		f.By, rows = string(Zone), f.State != "" || len(f.Conds) > 0
		s.claim("where", "zone")
	}
	if f.By == "device" {
		f.By = ""
	}
	wholly := s.word("completely", "entirely", "wholly", "totally", "fully", "komplett", "vollständig", "ganz", "völlig") != "" || s.wordAt(len(s.t)-1) == "throughout"
	each := slices.ContainsFunc(s.chunks, func(c chunk) bool { return c.is("each") && !c.is("all") })
	part := slices.ContainsFunc(f.Conds, func(c Cond) bool { return c.Unit == Part }) // "rooms that are not fully lit"
	if all := s.allThings(); rows && !each && !part && (f.State != "" && (all || wholly) || len(f.Conds) > 0 && (all || s.has("full") && !s.has("light"))) {
		f.Set(All, true) // "rooms where everything is off", "rooms at full brightness"
	}
	if (f.By == string(Zone) || f.By == string(Floor)) && f.Op == Tell && f.State == "" && len(f.Conds) == 0 && s.has("level") && s.has("each") && kind == Light {
		f.Op = Average // "list zones by brightness"
	}
	if rows && f.State != "" && s.has("partly", "half") && len(f.Conds) == 0 {
		if s.has("half") && s.has("light") { // "with half of their lamps on"
			f.Op, f.Conds = Share, append(f.Conds, Cond{Rel: Exactly, Value: 50, Unit: Part})
		} else {
			f.Set(Some, true) // "which zones are half lit"
		}
		s.claim("partly", "half")
	}
	if (f.By == string(Zone) || f.By == string(Floor)) && f.State == Off && !s.has("each") && !f.Is(All) && s.has("list", "count", "where") && !s.has("light", "device") {
		f.Set(All, true) // "which rooms are dark", "in welchen Räumen ist es dunkel"
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

// severalZones reports whether the same words name several zones, or a kind of them.
func (s *sentence) severalZones() bool {
	zones := 0
	for _, p := range s.f.Places {
		if p.Kind == Zone {
			zones++
		}
	}
	return zones > 1 && zones == len(s.f.Places)
}

// allThings reports whether all of the things of a place are spoken of: "where everything is off", "where all lights are on".
func (s *sentence) allThings() bool {
	return s.has("everything") || slices.ContainsFunc(s.chunks, func(c chunk) bool {
		k := c.at + c.n
		for slices.Contains([]string{"of", "the", "their", "its", "ihre", "der", "die"}, s.wordAt(k)) { // "all their lamps"
			k++
		}
		next := slices.IndexFunc(s.chunks, func(o chunk) bool { return o.at == k })
		return c.is("all") && (slices.Contains([]Kind{Light, Shade}, countable(s.wordAt(k))) || next >= 0 && stateOf(s.chunks[next]) != "")
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
	off := f.Topic == Lights && f.State == On && slices.ContainsFunc(f.Conds, func(c Cond) bool { return c.Unit == Percent && c.Holds(0) }) // which does not go without saying
	if f.Topic == Lights && len(f.Conds) > 0 && f.State == On && f.Conds[0].Unit == Percent && !off {
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
	for _, k := range []Kind{Light, Shade, Meter} { // "which zone has offline lamps"
		if f.Kind == "" && f.By != "" && s.has(string(k)) && !s.beside(k) {
			f.Kind = k
		}
	}
	s.claim("where")
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
		fits := slices.Contains(allowed[f.Topic], c.Unit) || c.Unit == Kelvin && f.Aspect == "kelvin"
		if c.Unit == Number {
			fits = c.Of != "" && (f.Topic == Inventory || f.State != "" && f.Op == Tell && f.By == "" && (f.Topic == Lights && c.Of == Light || f.Topic == Shades && c.Of == Shade) || f.Topic == Lights && c.Of == Light && f.By != "" || f.Topic == Shades && c.Of == Shade && f.By != "")
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
