package understand

import (
	"slices"
	"strconv"
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
	{stems("higher than"), Above}, {stems("longer than"), Above}, {stems("wider than"), Above}, {stems("further than"), Above},
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
			if loose && lead != "for" && lead != "since" || r.rel == Exactly || s.wordAt(end+1) == "ago" {
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
		case kind != "" && r.rel != Exactly:
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

// fraction reads a part of all: "half of the", "80 percent of the", "a third of the"; the last word is left.
func (s *sentence) fraction(i int) (percent float64, took int) {
	k := i
	if slices.Contains([]string{"a", "the", "one", "ein", "eine", "einem", "der", "die"}, s.wordAt(k)) {
		k++
	}
	part := map[string]float64{"half": 50, "haelfte": 50, "third": 100.0 / 3, "drittel": 100.0 / 3, "quarter": 25, "viertel": 25}[s.wordAt(k)]
	if v, n := s.quantity(i); part == 0 && n > 0 && measures[s.wordAt(i+n)].unit == Percent && v <= 100 {
		part, k = v, i+n
	}
	if part == 0 || !slices.Contains([]string{"of", "der", "aller", "von"}, s.wordAt(k+1)) || k < len(s.t) && s.t[k].used {
		return 0, 0
	}
	return part, k + 2 - i
}

// partOfWhole are parts in percent.
var partOfWhole = map[string]float64{"third": 100.0 / 3, "drittel": 100.0 / 3, "quarter": 25, "viertel": 25}

// quantity reads a number, or half.
func (s *sentence) quantity(i int) (value float64, took int) {
	if i >= len(s.t) || s.t[i].used {
		return 0, 0
	}
	article := slices.Contains([]string{"a", "one", "ein", "eine", "einem", "1"}, s.t[i].stem)
	if part := partOfWhole[s.wordAt(i+1)]; article && part > 0 && s.wordAt(i+2) != "hour" {
		return part, 2
	}
	switch w := s.t[i]; {
	case w.stem == "full" && i > 0 && slices.Contains([]string{"than", "below", "under", "unter"}, s.t[i-1].stem):
		return 100, 1
	case article && i+1 < len(s.t) && (measures[s.t[i+1].stem].unit == Watt || measures[s.t[i+1].stem].unit == WattHour):
		return 1, 1
	case w.stem == "half" || w.stem == "halb" || w.stem == "halfway" || w.stem == "haelfte":
		return 50, 1
	case (w.stem == "an" || w.stem == "a" || w.stem == "one" || w.stem == "eine" || w.stem == "einem" || w.stem == "einer") && i+1 < len(s.t) && measures[s.t[i+1].stem].unit == Minutes && measures[s.t[i+1].stem].scale > 0:
		return 1, 1
	case digit(w.stem[0]):
		v, err := strconv.ParseFloat(w.stem, 64)
		if err != nil {
			return 0, 0
		}
		return v, 1
	}
	return 0, 0
}

// countable is the kind of things that a noun counts; empty for others.
func countable(w string) Kind {
	for _, l := range lexicons {
		for _, e := range l.byFirst[w] {
			if len(e.words) != 1 {
				continue
			}
			for _, k := range []Kind{Light, Shade, Zone, Floor, Meter} {
				if slices.Contains(e.tags, string(k)) {
					return k
				}
			}
		}
	}
	return ""
}

// top reads "top 3", "3 highest", "the 5 brightest rooms".
func (s *sentence) top() {
	for i := 0; i+1 < len(s.t); i++ {
		number, err := strconv.Atoi(s.t[i+1].stem)
		if s.t[i].stem == "top" && err == nil && number > 0 && number <= 100 && !s.t[i+1].used {
			s.f.Top, s.f.Op = number, Most
			s.mark(i, 2)
			return
		}
		number, err = strconv.Atoi(s.t[i].stem)
		if err != nil || number <= 0 || number > 100 || s.t[i].used {
			continue
		}
		if k := countable(s.t[i+1].stem); k != "" && s.ranks() { // "which three zones have the most lamps on"
			s.f.Top = number
			s.t[i].used = true
			return
		}
		if s.wordAt(i-1) == "last" && s.means(i+1, "command", "change") { // "the last three commands"
			s.f.Top = number
			s.t[i].used = true
			return
		}
		for _, e := range s.lex.byFirst[s.t[i+1].stem] {
			if len(e.words) == 1 && slices.ContainsFunc(e.tags, func(t string) bool {
				return slices.Contains([]string{"most", "least", "brightest", "darkest"}, t)
			}) {
				s.f.Top = number
				s.t[i].used = true
				return
			}
		}
	}
}

// ranks reports whether a word for the most or the least is said.
func (s *sentence) ranks() bool {
	return slices.ContainsFunc(s.t, func(t token) bool {
		return slices.ContainsFunc(s.lex.byFirst[t.stem], func(e entry) bool {
			return len(e.words) == 1 && slices.ContainsFunc(e.tags, func(tag string) bool { return slices.Contains([]string{"most", "least", "brightest", "darkest"}, tag) })
		})
	})
}

// assumptions reads what the asker wants calculated with: "30 W per lamp", "at 31 cents a kWh".
func (s *sentence) assumptions() {
	for i := 0; i+1 < len(s.t); i++ {
		v, err := strconv.ParseFloat(s.t[i].stem, 64)
		unit, lead, next := s.t[i+1].stem, s.wordAt(i-1), s.wordAt(i+2)
		assumed := slices.Contains([]string{"assume", "assuming", "with"}, lead) || slices.Contains([]string{"per", "each", "a", "pro", "je"}, next)
		if err == nil && !s.t[i].used && v > 0 && v <= 5000 && (unit == "w" || unit == "watt") && assumed {
			s.f.Assumed.Watts = v
			s.f.Set(Estimate, true)
			n := 2
			if slices.Contains([]string{"per", "each", "a", "pro", "je"}, next) && countable(s.wordAt(i+3)) == Light {
				n = 4
			}
			if slices.Contains([]string{"assume", "assuming", "with"}, lead) {
				i, n = i-1, n+1
			}
			s.mark(i, n)
			return
		}
	}
	s.tariff()
}

// coins are worth so much of a currency.
var coins = map[string]Assumed{"cent": {PerKWh: 0.01}, "ct": {PerKWh: 0.01}, "euro": {PerKWh: 1, Currency: "EUR"}, "eur": {PerKWh: 1, Currency: "EUR"}, "€": {PerKWh: 1, Currency: "EUR"},
	"dollar": {PerKWh: 1, Currency: "USD"}, "usd": {PerKWh: 1, Currency: "USD"}, "$": {PerKWh: 1, Currency: "USD"}, "pound": {PerKWh: 1, Currency: "GBP"}, "gbp": {PerKWh: 1, Currency: "GBP"},
	"penny": {PerKWh: 0.01, Currency: "GBP"}, "rappen": {PerKWh: 0.01, Currency: "CHF"}, "rp": {PerKWh: 0.01, Currency: "CHF"}, "centime": {PerKWh: 0.01}, "pence": {PerKWh: 0.01, Currency: "GBP"}, "p": {PerKWh: 0.01, Currency: "GBP"}, "franc": {PerKWh: 1, Currency: "CHF"}, "chf": {PerKWh: 1, Currency: "CHF"}}

// tariff reads what the asker says energy costs: "at 31 cents a kWh", "€0.31 per kWh".
func (s *sentence) tariff() {
	for i := range s.t {
		v, err := strconv.ParseFloat(s.t[i].stem, 64)
		coin, ok := coins[s.wordAt(i+1)]
		from, k := i, i+2
		if !ok && i > 0 {
			coin, ok = coins[s.t[i-1].stem]
			from, k = i-1, i+1
		}
		if err == nil && v > 0 && !ok && !s.t[i].used && slices.Contains([]string{"per", "pro", "je"}, s.wordAt(i+1)) && s.wordAt(i+2) == "kwh" { // of whatever currency
			s.f.Assumed.PerKWh = v
			s.mark(i, 3)
			return
		}
		if err != nil || v <= 0 || !ok || s.t[i].used {
			continue
		}
		if w := s.wordAt(k); slices.Contains([]string{"a", "per", "each", "the", "for", "pro", "je", "die"}, w) {
			k++
		}
		if s.wordAt(from-1) == "kwh" { // "wenn die kWh 27 Rappen kostet"
			s.f.Assumed.PerKWh, s.f.Assumed.Currency = v*coin.PerKWh, coin.Currency
			s.mark(from-1, 3)
			return
		}
		if s.wordAt(k) != "kwh" {
			continue
		}
		s.f.Assumed.PerKWh, s.f.Assumed.Currency = v*coin.PerKWh, coin.Currency
		s.mark(from, k+1-from)
		return
	}
}
