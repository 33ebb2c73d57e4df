package understand

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// reader of times; everything is meant in the building's time zone, the location of now.
type clock struct {
	now time.Time
	t   []token
}

// part is a piece of time found in the sentence.
type part struct {
	span  Span
	at, n int // tokens
	// ofDay is a time of day that still needs a date: "morning", "between 8 and 12".
	ofDay bool
	named string // the part of the day that it is: "morning"
	// fromMin and toMin of such a time, in minutes since midnight; toMin over 1440 reaches into the next day.
	fromMin, toMin int
	future         bool
	open           bool   // "since …": up to now
	before         string // "the week before": a unit ahead of the time before it
}

var weekdays = map[string]time.Weekday{"monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4, "friday": 5, "saturday": 6,
	"sunday": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5}

var months = map[string]time.Month{"january": 1, "february": 2, "march": 3, "april": 4, "june": 6, "july": 7, "august": 8,
	"september": 9, "october": 10, "november": 11, "december": 12, "jan": 1, "feb": 2, "apr": 4, "jun": 6, "jul": 7, "aug": 8,
	"sep": 9, "sept": 9, "oct": 10, "nov": 11, "dec": 12, "may": 5}

// dayParts in minutes since midnight.
var dayParts = map[string][2]int{"morning": {6 * 60, 12 * 60}, "afternoon": {12 * 60, 18 * 60}, "evening": {18 * 60, 22 * 60},
	"night": {22 * 60, 30 * 60}, "overnight": {22 * 60, 30 * 60}, "nighttime": {22 * 60, 30 * 60}, "lunchtime": {12 * 60, 13 * 60}}

var units = []string{"minute", "hour", "day", "week", "month", "quarter", "year", "weekend", "night", "fortnight"}

// weekEarlier is ahead of another time by a week: "the same day last week".
const weekEarlier = "week earlier"

// whens finds all times of the sentence and marks their words as used.
func whens(t []token, now time.Time) []part {
	c := clock{now, t}
	var found []part
	for i := 0; i < len(t); {
		if t[i].used {
			i++
			continue
		}
		p, ok := c.composite(i)
		if !ok {
			p, ok = c.single(i)
		}
		if !ok {
			i++
			continue
		}
		for k := p.at; k < p.at+p.n; k++ {
			t[k].used = true
		}
		found = append(found, p)
		i = p.at + p.n
	}
	return c.join(found)
}

// single reads one time expression.
func (c *clock) single(i int) (part, bool) {
	readers := []func(int) (part, bool){c.sameTime, c.instant, c.future, c.stretch, c.relative, c.named, c.date, c.weekday, c.month, c.partOfDay, c.at}
	for _, read := range readers {
		if p, ok := read(i); ok {
			if p.span.Label == "" {
				p.span.Label = c.said(i, p.n)
			}
			return p, true
		}
	}
	return part{}, false
}

func (c *clock) instant(i int) (part, bool) {
	for _, phrase := range []string{"right now", "at the moment", "at the minute", "at this moment", "at present", "as of now", "just now",
		"at this time", "so far", "these day", "now", "currently", "presently", "live", "still"} {
		if n := c.phrase(i, phrase); n > 0 {
			if phrase == "so far" || phrase == "still" {
				return part{}, false
			}
			return part{at: i, n: n, span: Span{Now: true}}, true
		}
	}
	return part{}, false
}

func (c *clock) future(i int) (part, bool) {
	n := 0
	switch w := c.word(i); {
	case w == "tomorrow":
		n = 1
	case w == "next" && slices.Contains(units, c.word(i+1)), w == "next" && c.isWeekday(i+1):
		n = 2
	case w == "next" && c.isNumber(i+1) && slices.Contains(units, c.word(i+2)):
		n = 3
	case w == "coming" && slices.Contains(units, c.word(i+1)):
		n = 2
	default:
		return part{}, false
	}
	return part{at: i, n: n, future: true}, true
}

// relative reads "last 24 hours", "past week", "last week", "this month", "3 days ago", "previous day".
func (c *clock) relative(i int) (part, bool) {
	start := i
	if c.word(i) == "the" || c.word(i) == "in" || c.word(i) == "over" || c.word(i) == "during" || c.word(i) == "within" {
		if c.word(i+1) == "the" {
			i++
		}
		i++
	}
	w := c.word(i)
	number, isNumber := c.number(i)
	switch {
	case w == "last" && (i+1 == len(c.t) || c.t[i+1].apart || c.word(i+1) == "one" || c.word(i+1) == "doe") && slices.Contains([]string{"than", "with", "to", "als", "vs", "against", "and"}, c.word(start-1)) && c.thisUnit(i) != "": // "more this week than last"
		from, to := c.period(c.thisUnit(i), -1)
		n := i + 1 - start
		if c.word(i+1) == "one" {
			n++
		}
		return part{at: start, n: n, span: Span{From: from, To: to, Label: "last " + c.thisUnit(i)}}, true
	case isNumber && c.isUnit(i+1) && c.word(i+2) == "ago":
		from := c.back(c.word(i+1), number)
		to := from
		if u := c.word(i + 1); u == "minute" || u == "hour" {
			return part{at: start, n: i + 3 - start, span: Span{From: from, To: from.Add(time.Minute)}}, true
		}
		from, to = c.period(c.word(i+1), -int(number))
		return part{at: start, n: i + 3 - start, span: Span{From: from, To: to}}, true
	case (w == "last" || w == "past") && (c.word(i+1) == "half" || c.word(i+1) == "halben" || c.word(i+1) == "quarter") && hourAt(c, i+2) > 0: // "the last half an hour"
		length := 30 * time.Minute
		if c.word(i+1) == "quarter" {
			length = 15 * time.Minute
		}
		return part{at: start, n: hourAt(c, i+2) + 1 - start, span: Span{From: c.now.Add(-length), To: c.now}}, true
	case (w == "last" || w == "past" || w == "previous" || w == "recent") && c.isNumber(i+1) && c.isUnit(i+2):
		n, _ := c.number(i + 1)
		return part{at: start, n: i + 3 - start, span: Span{From: c.back(c.word(i+2), n), To: c.now}}, true
	case isNumber && c.isUnit(i+1) && start < i && c.word(start) != "the": // "in 24 hours", "over 3 days"
		if c.word(start) == "in" && c.word(i-1) != "the" {
			return part{}, false
		}
		return part{at: start, n: i + 2 - start, span: Span{From: c.back(c.word(i+1), number), To: c.now}}, true
	case w == "past" && c.isUnit(i+1), w == "last" && (c.word(i+1) == "hour" || c.word(i+1) == "minute"):
		return part{at: start, n: i + 2 - start, span: Span{From: c.back(c.word(i+1), 1), To: c.now}}, true
	case (w == "last" || w == "previous") && c.isUnit(i+1):
		from, to := c.period(c.word(i+1), -1)
		return part{at: start, n: i + 2 - start, span: Span{From: from, To: to}}, true
	case (w == "last" || w == "past" || w == "previous") && c.word(i+1) == "few" && c.isUnit(i+2):
		return part{at: start, n: i + 3 - start, span: Span{From: c.back(c.word(i+2), 3), To: c.now}}, true
	case (w == "this" || w == "current") && c.isUnit(i+1):
		from, to := c.period(c.word(i+1), 0)
		return part{at: start, n: i + 2 - start, span: Span{From: from, To: to}}, true
	case w == "week" && c.word(i+1) == "before" && c.word(i+2) == "last":
		from, to := c.period("week", -2)
		return part{at: start, n: i + 3 - start, span: Span{From: from, To: to}}, true
	case c.raw(i) == "weekend" && c.word(i+1) != "before" && !slices.Contains([]string{"each", "every", "per", "a", "by"}, c.word(i-1)):
		from, to := c.period("weekend", 0)
		if from.After(c.now) {
			from, to = c.period("weekend", -1) // "over the weekend" is the one that was
		}
		return part{at: start, n: i + 1 - start, span: Span{From: from, To: to}}, true
	}
	return part{}, false
}

// thisUnit is the unit that is said to be this one ahead of i: "this week"; empty: none.
func (c *clock) thisUnit(i int) string {
	for k := range i {
		if (c.word(k) == "this" || c.word(k) == "current") && c.isUnit(k+1) {
			return c.word(k + 1)
		}
	}
	return ""
}

// hourAt is the token of "hour", perhaps behind "of", "an" or "hour's"; 0 if it does not stand at i.
func hourAt(c *clock, i int) int {
	for c.word(i) == "of" || c.word(i) == "an" || c.word(i) == "a" {
		i++
	}
	if c.word(i) == "hour" {
		return i
	}
	return 0
}

// named reads today, yesterday, the day before yesterday, tonight, and years.
func (c *clock) named(i int) (part, bool) {
	start := i
	if c.word(i) == "the" {
		i++
	}
	day := func(n, offset int) (part, bool) {
		return part{at: start, n: i + n - start, span: Span{From: c.midnight(offset), To: c.midnight(offset + 1)}}, true
	}
	switch {
	case c.word(i) == "lately", c.word(i) == "recently":
		return part{at: start, n: i + 1 - start, span: Span{From: c.midnight(-7), To: c.now, Label: "in the last 7 days"}}, true
	case c.phrase(i, "day before yesterday") > 0:
		return day(3, -2)
	case c.word(i) == "yesterday":
		return day(1, -1)
	case c.word(i) == "today":
		return day(1, 0)
	case c.word(i) == "tonight" && c.now.Hour() < 6: // it is that night
		return part{at: start, n: i + 1 - start, span: Span{From: c.midnight(-1).Add(18 * time.Hour), To: c.midnight(0).Add(6 * time.Hour)}}, true
	case c.word(i) == "tonight":
		return part{at: start, n: i + 1 - start, span: Span{From: c.midnight(0).Add(18 * time.Hour), To: c.midnight(1)}}, true
	}
	if c.word(i) == "week" && slices.Contains([]string{"of", "from", "beginning", "starting", "commencing"}, c.word(i+1)) {
		k := i + 2
		for c.word(k) == "the" || c.word(k) == "on" || c.isWeekday(k) {
			k++
		}
		if p, ok := c.date(k); ok {
			monday := p.span.From.AddDate(0, 0, -(int(p.span.From.Weekday())+6)%7)
			return part{at: start, n: k + p.n - start, span: Span{From: monday, To: monday.AddDate(0, 0, 7)}}, true
		}
	}
	for _, p := range []string{"same weekday last week", "same day last week", "same weekday the week before", "same day the week before", "same day of the week before",
		"same weekday of the week before", "same day a week earlier", "same day a week before", "a week earlier", "a week before"} {
		if n := c.phrase(i, p); n > 0 {
			return part{at: start, n: i + n - start, before: weekEarlier}, true
		}
	}
	if unit := c.word(i); (c.isUnit(i) || c.isWeekday(i)) && c.word(i+1) == "before" {
		n := 2
		if c.isWeekday(i) && c.word(i+2) == "last" {
			n = 3
		}
		return part{at: start, n: i + n - start, before: unit}, true
	}
	if year, ok := c.year(i); ok && c.word(i-1) == "in" {
		return part{at: i, n: 1, span: Span{From: c.day(year, 1, 1), To: c.day(year+1, 1, 1)}}, true
	}
	return part{}, false
}

func (c *clock) word(i int) string {
	if i < 0 || i >= len(c.t) {
		return ""
	}
	return c.t[i].stem
}

func (c *clock) raw(i int) string {
	if i < 0 || i >= len(c.t) {
		return ""
	}
	return c.t[i].text
}

func (c *clock) said(i, n int) string { return said(c.t, i, n) }

func said(t []token, i, n int) string {
	text := ""
	for _, w := range t[i:min(i+n, len(t))] {
		if text != "" && w.text != "" {
			text += " "
		}
		text += w.text
	}
	return text
}

// phrase is the number of words of p, which are stems, if it stands at i, else 0.
func (c *clock) phrase(i int, p string) int {
	if first, _, _ := strings.Cut(p, " "); first != c.word(i) {
		return 0
	}
	return phraseAt(c.t, i, strings.Fields(p))
}

func phraseAt(t []token, i int, words []string) int {
	for k, w := range words {
		if i+k >= len(t) || t[i+k].used || t[i+k].stem != w {
			return 0
		}
	}
	return len(words)
}

func (c *clock) isUnit(i int) bool    { return slices.Contains(units, c.word(i)) }
func (c *clock) isWeekday(i int) bool { _, ok := weekdays[c.word(i)]; return ok }
func (c *clock) isMonth(i int) bool   { _, ok := months[c.word(i)]; return ok }
func (c *clock) isNumber(i int) bool  { _, ok := c.number(i); return ok }

func (c *clock) number(i int) (float64, bool) {
	n, err := strconv.ParseFloat(c.word(i), 64)
	return n, err == nil && n >= 0 && n <= 10_000
}

var ordinals = []string{"", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}

func (c *clock) isOrdinal(i int) bool {
	w := c.raw(i)
	return len(w) > 2 && w[0] >= '0' && w[0] <= '9' && w[len(w)-1] >= 'd'
}

func (c *clock) dayNumber(i int) (int, bool) {
	w := c.raw(i)
	if c.isOrdinal(i) {
		w = w[:len(w)-2]
	}
	if k := slices.Index(ordinals, w); k > 0 {
		return k, true
	}
	n, err := strconv.Atoi(w)
	return n, err == nil && n >= 1 && n <= 31
}

func (c *clock) year(i int) (int, bool) {
	n, err := strconv.Atoi(c.word(i))
	return n, err == nil && n >= 2000 && n <= 2100
}
