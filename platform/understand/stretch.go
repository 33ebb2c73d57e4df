package understand

import (
	"slices"
	"time"
)

// around reads a period that others are a piece of: "the week", "last month", "November", "2025".
func (c *clock) around(i int) (part, bool) {
	k := i
	if c.word(k) == "the" {
		k++
	}
	if c.isUnit(k) && c.word(k+1) != "before" && c.word(k+1) != "of" {
		from, to := c.period(c.word(k), 0)
		return part{at: i, n: k + 1 - i, span: Span{From: from, To: to}}, true
	}
	if year, ok := c.year(k); ok {
		return part{at: i, n: k + 1 - i, span: Span{From: c.day(year, 1, 1), To: c.day(year+1, 1, 1)}}, true
	}
	p, ok := c.single(i)
	return p, ok && !p.ofDay && !p.span.Now && !p.future && p.before == ""
}

// stretch reads a piece of a period: "the first week of November", "the last 2 days of last week", "the second half of October".
func (c *clock) stretch(i int) (part, bool) {
	start := i
	for c.word(i) == "the" || c.word(i) == "in" || c.word(i) == "during" || c.word(i) == "over" {
		i++
	}
	nth := slices.Index(ordinals, c.word(i))
	last := c.word(i) == "last"
	if nth < 1 && !last {
		return part{}, false
	}
	i++
	count := 1
	if n, ok := c.number(i); ok && n >= 1 && n <= 100 {
		count, i = int(n), i+1
	}
	unit := c.word(i)
	if unit != "half" && unit != "hour" && unit != "day" && unit != "week" && unit != "month" && unit != "quarter" || c.word(i+1) != "of" && c.word(i+1) != "in" {
		return part{}, false
	}
	whole, ok := c.around(i + 2)
	if !ok {
		return part{}, false
	}
	from, to := whole.span.From, whole.span.To
	switch {
	case unit == "half":
		middle := from.AddDate(0, 0, int(to.Sub(from).Hours()/24+0.5)/2)
		if isDay(whole.span) {
			middle = from.Add(12 * time.Hour)
		}
		if last || nth == 2 {
			from = middle
		} else {
			to = middle
		}
	case last:
		from = later(to, unit, -count)
	default:
		from = later(from, unit, nth-1)
		to = later(from, unit, count)
	}
	if from.Before(whole.span.From) || to.After(whole.span.To) || nth > 2 && unit == "half" {
		return part{}, false
	}
	return part{at: start, n: i + 2 + whole.n - start, span: Span{From: from, To: to}}, true
}

// later is n units after t, or before it.
func later(t time.Time, unit string, n int) time.Time {
	switch unit {
	case "hour":
		return t.Add(time.Duration(n) * time.Hour)
	case "week":
		return t.AddDate(0, 0, 7*n)
	case "month":
		return t.AddDate(0, n, 0)
	case "quarter":
		return t.AddDate(0, 3*n, 0)
	}
	return t.AddDate(0, 0, n)
}

// border reads "the start of the week", where a range begins or ends.
func (c *clock) border(i int) (part, bool) {
	w := c.word(i)
	if w != "start" && w != "beginning" && w != "end" || c.word(i+1) != "of" {
		return part{}, false
	}
	whole, ok := c.around(i + 2)
	at := whole.span.From
	if w == "end" {
		at = whole.span.To
	}
	return part{at: i, n: 2 + whole.n, span: Span{From: at, To: at}}, ok
}

// days reads days of one month: "9th to 13th of November", "between November 9 and 13", "from the 9th to the 13th".
func (c *clock) days(i, lead int) (part, bool) {
	k := i + lead
	the := func() {
		if c.word(k) == "the" {
			k++
		}
	}
	month := func() time.Month {
		skip := 0
		if c.word(k) == "of" {
			skip = 1
		}
		m, ok := months[c.word(k+skip)]
		if ok {
			k += skip + 1
		}
		return m
	}
	ahead := month()
	the()
	first, ok := c.dayNumber(k)
	ordinal := c.isOrdinal(k)
	if !ok {
		return part{}, false
	}
	k++
	switch joint := c.word(k); {
	case joint == "to", joint == "until", joint == "till", joint == "through", joint == "and" && lead > 0 && c.word(i) == "between":
		k++
	default:
		return part{}, false
	}
	the()
	final, ok := c.dayNumber(k)
	if !ok || final < first {
		return part{}, false
	}
	ordinal = ordinal && c.isOrdinal(k)
	k++
	m := month()
	switch {
	case m == 0:
		m = ahead
	case ahead != 0:
		return part{}, false
	}
	year := c.now.Year()
	switch said, ok := c.year(k); {
	case m == 0 && !ordinal:
		return part{}, false // "between 8 and 12" are hours
	case m == 0:
		if m = c.now.Month(); c.day(year, m, first).After(c.now) {
			m--
		}
	case ok:
		year, k = said, k+1
	case c.day(year, m, first).After(c.now):
		year--
	}
	return part{at: i, n: k - i, span: Span{From: c.day(year, m, first), To: c.day(year, m, final+1), Label: c.said(i, k-i)}}, true
}

// several reports whether a weekday stands for all of them: "Mondays versus Fridays", where "Mondays consumption" is one's.
func (c *clock) several(i int) bool {
	next := c.word(i + 1)
	return c.raw(i) != c.word(i) && (next == "" || slices.Contains([]string{"vs", "and", "with", "than", "against", "or", "to", "compared", "in", "on"}, next))
}

// bounds reports whether next cuts a part of the day short: "this morning before 9".
func (c *clock) bounds(p, next part) bool {
	w := c.word(next.at)
	return p.at+p.n == next.at && (w == "before" || w == "after") && p.fromMin < next.toMin && next.fromMin < p.toMin
}

// overlap is what two times of day have in common.
func (p part) overlap(o part) part {
	p.fromMin, p.toMin = max(p.fromMin, o.fromMin), min(p.toMin, o.toMin)
	p.n = o.at + o.n - p.at
	p.span.Label += " " + o.span.Label
	return p
}

// moment is how much time stands for the present where it is compared with another day.
const moment = 15 * time.Minute

// sameTime reads "at this time yesterday": as long as a moment up to that time, or with "by" that day up to it.
func (c *clock) sameTime(i int) (part, bool) {
	start, by := i, false
	if w := c.word(i); w == "by" || w == "until" || w == "till" {
		i, by = i+1, true
	}
	for _, phrase := range []string{"at this time", "at this hour", "at the same time", "at the same hour", "this time", "the same time", "same time"} {
		n := c.phrase(i, phrase)
		if n == 0 {
			continue
		}
		k := i + n
		if c.word(k) == "of" || c.word(k) == "on" {
			k++
		}
		day, ok := c.single(k)
		if !ok || day.ofDay || day.future || day.before != "" || day.span.Now {
			return part{}, false
		}
		span := Span{From: day.span.From, To: c.asNow(day.span.From)}
		switch week, _ := c.period("week", 0); {
		case isDay(day.span):
		case day.span.From.AddDate(0, 0, 7).Equal(day.span.To): // "this time last week"
			to := c.now.AddDate(0, 0, int(day.span.From.Sub(week).Hours()/24-0.5))
			span = Span{From: day.span.From, To: to}
		default:
			return part{}, false
		}
		if !by {
			span.From = span.To.Add(-moment)
		}
		return part{at: start, n: k + day.n - start, span: span}, true
	}
	return part{}, false
}

// asNow is the present time of day on another day, to the quarter of an hour, which is how older figures are kept.
func (c *clock) asNow(day time.Time) time.Time {
	y, m, d := day.Date()
	return time.Date(y, m, d, c.now.Hour(), c.now.Minute(), 0, 0, c.now.Location()).Truncate(moment)
}

// nowAgainst makes "now" comparable with another time: a moment up to now, and as long at the same time of the other day.
func (c *clock) nowAgainst(other Span) (when, against Span, ok bool) {
	to := c.asNow(c.now)
	when = Span{From: to.Add(-moment), To: to, Label: "in the last quarter of an hour"}
	switch {
	case isDay(other):
		to := c.asNow(other.From)
		return when, Span{From: to.Add(-moment), To: to, Label: "at the same time " + other.Label}, true
	case other.To.Sub(other.From) == moment:
		return when, other, true
	}
	return when, other, false
}
