package understand

import (
	"slices"
)

// relations are the words that make a bound of the number behind them, longest first.
var relations = []struct {
	words []string
	rel   Relation
}{
	{stems("not less than"), AtLeast}, {stems("no less than"), AtLeast}, {stems("not more than"), AtMost}, {stems("no more than"), AtMost},
	{stems("not at"), Unlike}, {stems("differ from"), Unlike}, {stems("different from"), Unlike}, {stems("nicht bei"), Unlike}, {stems("nicht auf"), Unlike},
	{stems("exactly at"), Exactly}, {stems("genau auf"), Exactly}, {stems("genau bei"), Exactly},
	{stems("at least"), AtLeast}, {stems("at most"), AtMost}, {stems("or more"), AtLeast}, {stems("up to"), AtMost},
	{stems("more than"), Above}, {stems("greater than"), Above}, {stems("brighter than"), Above}, {stems("warmer than"), Below}, {stems("cooler than"), Above},
	{stems("higher than"), Above}, {stems("longer than"), Above}, {stems("wider than"), Above}, {stems("further than"), Above}, {stems("further open than"), Above}, {stems("more open than"), Above}, {stems("weiter offen als"), Above}, {stems("offener als"), Above},
	{stems("less than"), Below}, {stems("lower than"), Below}, {stems("dimmer than"), Below}, {stems("darker than"), Below}, {stems("fewer than"), Below},
	{stems("shorter than"), Below}, {stems("dimmed to"), Exactly}, {stems("set to"), Exactly}, {stems("open to"), Exactly},
	{stems("above"), Above}, {stems("over"), Above}, {stems("exceed"), Above}, {stems("exceeding"), Above}, {stems("beyond"), Above},
	{stems("below"), Below}, {stems("under"), Below}, {stems("exactly"), Exactly}, {stems("at"), Exactly}, {stems("to"), Exactly},
	{stems("mehr als"), Above}, {stems("heller als"), Above}, {stems("länger als"), Above}, {stems("höher als"), Above}, {stems("größer als"), Above},
	{stems("weniger als"), Below}, {stems("tiefer als"), Below}, {stems("dunkler als"), Below}, {stems("niedriger als"), Below}, {stems("kürzer als"), Below}, {stems("mindestens"), AtLeast},
	{stems("höchstens"), AtMost}, {stems("über"), Above}, {stems("unter"), Below}, {stems("genau"), Exactly}, {stems("auf"), Exactly}, {stems("bei"), Exactly},
}

// measures are the units of conditions, with what one of them is in the unit that frames have.
var measures = map[string]struct {
	unit  Unit
	scale float64
}{
	"percent": {Percent, 1}, "w": {Watt, 1}, "watt": {Watt, 1}, "kw": {Watt, 1000}, "kwh": {WattHour, 1000}, "wh": {WattHour, 1},
	"k": {Kelvin, 1}, "kelvin": {Kelvin, 1}, "minute": {Minutes, 1}, "hour": {Minutes, 60}, "day": {Minutes, 24 * 60}, "week": {Minutes, 7 * 24 * 60},
}

// conditions reads "above 50 %", "more than 4 lights", "for over 3 hours" and takes their words.
func (s *sentence) conditions() {
	for i := 0; i < len(s.t); i++ {
		if n := s.rangeAt(i); n > 0 {
			i += n - 1
			continue
		}
		if slices.Contains([]string{"mostly", "mainly", "predominantly", "ueberwiegend", "groesstenteil", "mehrheitlich", "meistens"}, s.t[i].stem) {
			s.f.Conds = append(s.f.Conds, Cond{Rel: Above, Value: 50, Unit: Part})
			s.t[i].used = true
			continue
		}
		c, n, ok := s.condition(i)
		if !ok {
			continue
		}
		s.f.Conds = append(s.f.Conds, c)
		for k := i; k < i+n; k++ {
			s.t[k].used = true
		}
		i += n - 1
	}
}

// rangeAt takes "between 20 and 60 percent", which is two conditions, and returns how many words it has. Hours are for the reader of times.
func (s *sentence) rangeAt(i int) int {
	if !slices.Contains([]string{"between", "from", "zwischen", "von"}, s.wordAt(i)) {
		return 0
	}
	low, n := s.quantity(i + 1)
	k := i + 1 + n
	if s.wordAt(k) == "percent" {
		k++
	}
	if n == 0 || !slices.Contains([]string{"and", "to", "und", "bis"}, s.wordAt(k)) {
		return 0
	}
	high, m := s.quantity(k + 1)
	unit, ok := measures[s.wordAt(k+1+m)]
	if m > 0 && !ok && high > 24 && high <= 100 && slices.ContainsFunc(s.t, func(t token) bool {
		kind := countable(t.stem)
		return kind == Light || kind == Shade || kind == Zone || kind == Floor
	}) {
		unit, ok = measures["percent"], true // "lights between 40 and 60" is no time of day
		m--                                  // there is no word for the unit
	}
	if m < 0 || n == 0 || !ok || unit.unit == Minutes || low >= high {
		return 0
	}
	s.f.Conds = append(s.f.Conds, Cond{Rel: AtLeast, Value: low * unit.scale, Unit: unit.unit}, Cond{Rel: AtMost, Value: high * unit.scale, Unit: unit.unit})
	s.mark(i, k+2+m-i)
	return k + 2 + m - i
}

func (s *sentence) condition(i int) (c Cond, n int, ok bool) {
	for _, r := range relations {
		k := phraseAt(s.t, i, r.words)
		if k == 0 || i+k >= len(s.t) || s.t[i+k].used {
			continue
		}
		if part, n := s.fraction(i + k); n > 0 {
			return Cond{Rel: r.rel, Value: part, Unit: Part}, k + n, true
		}
		value, took := s.quantity(i + k)
		if took == 0 {
			continue
		}
		c = Cond{Rel: r.rel, Value: value}
		end := i + k + took
		unit, isUnit := measures[s.wordAt(end)]
		kind := countable(s.wordAt(end))
		if w := s.wordAt(end); (w == "of" || w == "der" || w == "von") && took > 0 && value >= 1 { // "at least three of the lobby lamps"
			for k := end + 1; k < min(len(s.t), end+7) && kind == "" && !s.t[k].apart; k++ {
				kind = countable(s.wordAt(k))
			}
			if kind == Light || kind == Shade {
				c.Of = kind
				return c, end + 1 - i, true
			}
			kind = ""
		}
		half := slices.Contains([]string{"half", "halb", "halfway", "haelfte", "full"}, s.t[i+k].stem) || took == 2 && partOfWhole[s.wordAt(i+k+1)] > 0
		loose := len(r.words) == 1 && slices.Contains([]string{"at", "to", "auf", "bei", "over", "under", "up", "above", "below", "ueber", "unter"}, r.words[0])
		article := slices.Contains([]string{"a", "an", "ein", "eine", "einen", "einem"}, s.wordAt(end))
		if m, ok := measures[s.wordAt(end+1)]; half && article && ok && (m.unit == Watt || m.unit == WattHour) {
			c.Unit, c.Value = m.unit, m.scale/2
			return c, end + 2 - i, true
		}
		switch {
		case half:
			c.Unit = Percent
			if s.wordAt(end) == "way" {
				end++
			}
		case r.rel == Unlike && !isUnit && value > 24 && value <= 100 && end == len(s.t): // "which are not at 50"
			c.Unit = Percent
		case r.rel == Unlike && !(isUnit && unit.unit == Percent):
			return c, 0, false
		case isUnit && unit.unit == Minutes:
			lead := s.wordAt(i - 1)
			lasting := s.means(i-1, "on", "off") && r.rel != Exactly // "burning over 12 hours"
			if loose && lead != "for" && lead != "since" && !lasting || r.rel == Exactly || s.wordAt(end+1) == "ago" {
				return c, 0, false
			}
			c.Unit, c.Value = Minutes, value*unit.scale
			end++
			if lead == "for" || lead == "since" {
				s.t[i-1].used = true
			}
		case isUnit:
			c.Unit, c.Value = unit.unit, value*unit.scale
			end++
		case kind != "" && (r.rel != Exactly || r.words[0] == "exactly" || r.words[0] == "genau"):
			c.Of = kind
			end++
		case loose && r.rel != Exactly && value <= 100 && slices.Contains([]string{"gedimmt", "dimmed", "hell", "bright", "brightness", "helligkeit"}, s.wordAt(end)):
			c.Unit = Percent
		case loose && len(s.wordAt(end)) > 0 && r.rel != Exactly:
			return c, 0, false // "over 3 days", "above 2 other rooms"
		case r.rel == Exactly && loose && value > 24 && value <= 100 && (end == len(s.t) || s.t[end].apart || slices.Contains([]string{"gedimmt", "gestellt", "gesetzt"}, s.wordAt(end))):
			c.Unit = Percent // "at 80" is no time of day
		case r.rel == Exactly:
			return c, 0, false // "at 5", "to 3" are too many things
		}
		return c, end - i, true
	}
	if value, took := s.quantity(i); took > 0 && (s.wordAt(i-1) == "for" || s.wordAt(i-1) == "seit" || s.wordAt(i-1) == "since") {
		unit, isUnit := measures[s.wordAt(i+took)]
		if isUnit && unit.unit == Minutes && s.wordAt(i+took+1) != "ago" && (s.has0("on", "off", "open", "closed", "offline", "seen", "heard", "answered", "reached", "reported", "responded", "silent") || s.f.Lang == German && s.has0("an", "aus")) {
			return Cond{Rel: AtLeast, Value: value * unit.scale, Unit: Minutes}, took + 1, true
		}
	}
	return c, 0, false
}

// has0 reports whether a word stands anywhere in the sentence.
func (s *sentence) has0(words ...string) bool {
	return slices.ContainsFunc(s.t, func(t token) bool { return slices.Contains(words, t.stem) })
}
