package understand

import (
	"slices"
	"strconv"
)

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
	case article && i > 0 && i+1 < len(s.t) && countable(s.t[i+1].stem) != "" && slices.Contains([]string{"than", "exactly", "genau", "als", "least", "most", "mindestens", "hoechstens"}, s.t[i-1].stem): // "exactly one lamp"
		return 1, 1
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
