package understand

import (
	"slices"
	"strings"
	"time"
)

// changing are the words that a change between two times is told with.
var changing = wordSet("change changed rise rose risen fall fell fallen grow grew grown differ increase increased decrease decreased develop up down more less")

// turnChange reads "change from Sunday to Monday" as two times, not as all between them.
func (s *sentence) turnChange() bool {
	for i := 1; i+3 < len(s.t); i++ { // "the difference between Monday and Tuesday" is of two times
		if s.t[i].stem != "between" || !s.has0("difference", "differ", "unterschied", "differenz", "gap") {
			continue
		}
		for k := i + 2; k+1 < len(s.t) && k <= i+6; k++ {
			if (s.t[k].stem == "and" || s.t[k].stem == "und") && timeWords[s.t[k-1].stem] {
				s.t[i].stem, s.t[k].stem = "for", "vs"
				if s.f.Lang == German {
					s.t[i].stem, s.t[k].stem = "fuer", "gegen"
				}
				return false
			}
		}
	}
	change := slices.IndexFunc(s.t, func(t token) bool { return changing[t.stem] })
	if change < 0 {
		return false
	}
	for i := change + 1; i+3 < len(s.t); i++ {
		if s.t[i].stem != "from" {
			continue
		}
		for k := i + 2; k+1 < len(s.t) && k <= i+6; k++ {
			if s.t[k].stem == "to" && (timeWords[s.t[k-1].stem] || s.t[k-2].stem == "before") {
				s.t[i].stem, s.t[k].stem = "for", "vs"
				return true
			}
		}
	}
	return false
}

// times takes the first span as the one that is asked about, and a second one as what it is compared with.
func (s *sentence) times() {
	var spans []Span
	var at []int
	for _, p := range s.when {
		if p.future {
			s.f.Set(Future, true)
			continue
		}
		spans = append(spans, p.span)
		at = append(at, p.at)
	}
	if len(spans) == 2 && !spans[0].Now && at[1]-at[0] < 8 && !s.has("compare", "than", "difference") { // "between Monday and Wednesday last week", "Tuesday of last week"
		if moved, ok := within(spans[0], spans[1]); ok {
			spans, at = []Span{moved}, at[:1]
		}
	}
	compared := s.has("compare", "than", "difference", "change", "trend", "more", "less")
	c := clock{now: s.now}
	switch {
	case len(spans) == 0:
	case len(spans) > 2:
		s.f.Unclear = &Unclear{TimeWords, []string{spans[2].Label}}
	case len(spans) == 2 && !spans[0].Now && !spans[1].Now:
		s.f.When, s.f.Against = &spans[0], &spans[1]
	case len(spans) == 2 && compared && spans[0].Now != spans[1].Now:
		other := spans[1]
		if spans[1].Now {
			other = spans[0]
		}
		if when, against, ok := c.nowAgainst(other); ok { // "more now than yesterday"
			s.f.When, s.f.Against = &when, &against
		} else {
			s.f.When = &other
		}
	case len(spans) == 2 && spans[0].Now:
		s.f.When = &spans[1]
	case compared && s.comparedBefore(at[0]) && !spans[0].Now:
		s.f.Against = &spans[0]
		when := sameKindNow(spans[0], s.now)
		s.f.When = &when
	default:
		s.f.When = &spans[0]
	}
	if w := s.f.When; w != nil && !w.Now && w.From.After(s.now) && w.To.Sub(w.From) < 24*time.Hour && s.f.Lang == German && s.has0("wurde", "wurden", "war", "waren", "hat", "haben") {
		s.f.When = &Span{From: w.From.AddDate(0, 0, -1), To: w.To.AddDate(0, 0, -1), Label: w.Label} // "was wurde heute Nacht geschaltet" is asked of the night that was
	}
	if s.f.When != nil && !s.f.When.Now && s.f.When.From.After(s.now) {
		s.f.Set(Future, true)
	}
}

// within moves days of a week, said by their names, into the week that is said behind them.
func within(days, week Span) (Span, bool) {
	named := false
	for w := range strings.FieldsSeq(days.Label) {
		_, is := weekdays[stem(w)]
		named = named || is
	}
	if !named || week.Now || !week.From.AddDate(0, 0, 7).Equal(week.To) || week.From.Weekday() != time.Monday {
		return days, false
	}
	back := 0
	for back < 60 && days.From.AddDate(0, 0, -7*back).After(week.To.AddDate(0, 0, -1)) {
		back++
	}
	moved := Span{From: days.From.AddDate(0, 0, -7*back), To: days.To.AddDate(0, 0, -7*back), Label: days.Label + " " + week.Label}
	return moved, !moved.From.Before(week.From) && !moved.To.After(week.To)
}

// comparedBefore reports whether "than", "with", "against" leads to the word at i.
func (s *sentence) comparedBefore(i int) bool {
	for k := i - 1; k >= 0 && k >= i-3; k-- {
		if s.t[k].name {
			return false // "ground floor vs canteen, yesterday": places are compared
		}
		for _, c := range s.chunks {
			if c.at <= k && k < c.at+c.n && c.is("usual", "average") {
				return false // "higher than usual today"
			}
		}
		if slices.Contains([]string{"than", "vs", "against", "compared", "compare", "with", "to", "als", "gegen", "mit", "gegenueber"}, s.t[k].stem) {
			return s.t[k].stem != "to" || s.has("compare")
		}
	}
	return false
}
