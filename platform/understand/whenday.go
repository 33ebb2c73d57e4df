package understand

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// date reads 2026-11-20, 20.11.2026, 20 November, November 20, the 20th.
func (c *clock) date(i int) (part, bool) {
	w := c.raw(i)
	if w == "" || c.t[i].used {
		return part{}, false
	}
	if len(w) >= 16 && w[4] == '-' {
		for _, form := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04"} {
			if at, err := time.ParseInLocation(form, strings.ToUpper(w), c.now.Location()); err == nil {
				at = at.In(c.now.Location())
				return part{at: i, n: 1, span: Span{From: at, To: at}}, true
			}
		}
	}
	for _, form := range []string{"2006-01-02", "2.1.2006", "2/1/2006", "2.1.06", "2/1/06"} {
		if !digit(w[0]) {
			break
		}
		if at, err := time.ParseInLocation(form, w, c.now.Location()); err == nil {
			return c.whole(i, 1, at)
		}
	}
	if day, ok := c.dayNumber(i); ok {
		k := i + 1
		if c.word(k) == "of" {
			k++
		}
		if m, ok := months[c.word(k)]; ok {
			return c.dayOf(i, k+1, m, day)
		}
		if c.word(i-1) == "the" && c.isOrdinal(i) && !slices.Contains([]string{"floor", "level"}, c.word(i+1)) && day > 10 {
			at := c.day(c.now.Year(), c.now.Month(), day)
			if at.After(c.now) {
				at = c.day(c.now.Year(), c.now.Month()-1, day)
			}
			return c.whole(i, 1, at)
		}
	}
	if day, ok := c.dayNumber(i); ok && c.word(i-1) == "the" && slices.Contains([]string{"with", "against", "than", "vs", "and", "to"}, c.word(i-2)) {
		for k := range i { // "the 3rd of November with the 10th"
			if m, ok := months[c.word(k)]; ok && !c.isUnit(i+1) {
				return c.dayOf(i, i+1, m, day)
			}
		}
	}
	if m, ok := months[c.word(i)]; ok {
		k := i + 1
		if c.word(k) == "the" {
			k++
		}
		if day, ok := c.dayNumber(k); ok {
			return c.dayOf(i, k+1, m, day)
		}
	}
	return part{}, false
}

// dayOf makes a part of a day of a month, in the year that follows at token k or in the most recent one.
func (c *clock) dayOf(i, k int, m time.Month, day int) (part, bool) {
	if year, ok := c.year(k); ok {
		return c.whole(i, k+1-i, c.day(year, m, day))
	}
	at := c.day(c.now.Year(), m, day)
	if at.After(c.now) {
		at = c.day(c.now.Year()-1, m, day)
	}
	return c.whole(i, k-i, at)
}

func (c *clock) weekday(i int) (part, bool) {
	start, last := i, false
	switch c.word(i) {
	case "last", "previous", "past":
		i, last = i+1, true
	case "this", "on":
		i++
	}
	day, ok := weekdays[c.word(i)]
	if !ok || c.several(i) {
		return part{}, false
	}
	back := (int(c.now.Weekday()) - int(day) + 7) % 7
	if back == 0 && last {
		back = 7
	}
	return part{at: start, n: i + 1 - start, span: Span{From: c.midnight(-back), To: c.midnight(-back + 1)}}, true
}

func (c *clock) month(i int) (part, bool) {
	m, ok := months[c.word(i)]
	if !ok || c.word(i) == "may" && c.word(i-1) != "in" && c.word(i-1) != "last" && c.word(i-1) != "of" && c.word(i-1) != "since" {
		return part{}, false
	}
	if year, ok := c.year(i + 1); ok {
		return part{at: i, n: 2, span: Span{From: c.day(year, m, 1), To: c.day(year, m+1, 1), Label: "in " + c.said(i, 2)}}, true
	}
	year := c.now.Year()
	if m > c.now.Month() {
		year--
	}
	return part{at: i, n: 1, span: Span{From: c.day(year, m, 1), To: c.day(year, m+1, 1), Label: "in " + m.String()}}, true
}

// partOfDay reads "this morning", "in the evening", "last night", "overnight".
func (c *clock) partOfDay(i int) (part, bool) {
	start := i
	lead := c.word(i)
	if lead == "this" || lead == "last" || lead == "in" || lead == "during" || lead == "at" {
		i++
		if c.word(i) == "the" {
			i++
		}
	}
	minutes, ok := dayParts[c.word(i)]
	if !ok {
		return part{}, false
	}
	p := part{at: start, n: i + 1 - start, ofDay: true, fromMin: minutes[0], toMin: minutes[1], named: c.word(i)}
	if p.named == "morning" && lead == "this" && !c.midnight(0).Add(time.Duration(p.fromMin)*time.Minute).Before(c.now) {
		p.fromMin = 0
	}
	if lead == "last" || c.word(i) == "overnight" {
		p = c.onDay(p, c.midnight(-1))
		p.at, p.n, p.ofDay = start, i+1-start, false
		if c.word(i) == "overnight" && c.word(i+1) == "yesterday" { // it is the same night
			p.n++
		}
	}
	return p, true
}

// at reads "at 14:00", "at 3 pm": the quarter of an hour from then on.
func (c *clock) at(i int) (part, bool) {
	start := i
	loose := false
	if c.word(i) == "at" || c.word(i) == "around" || c.word(i) == "after" || c.word(i) == "before" {
		i, loose = i+1, true
	}
	bound := c.word(start) == "after" || c.word(start) == "before"
	next := c.word(i + 1)
	p, ok := c.timeOfDay(i, bound && (next == "" || next == "on" || next == "in" || next == "this" || next == "yesterday" || next == "today") || c.word(start) == "at" && (next == "yesterday" || next == "this" && c.halfAt(i+2) || next == "in" && c.word(i+2) == "the" && c.halfAt(i+3)))
	if !ok || !loose && !p.ofDay {
		return part{}, false
	}
	p.at, p.n = start, i+p.n-start
	switch c.word(start) {
	case "after":
		p.toMin = 24 * 60
	case "before":
		p.fromMin, p.toMin = 0, p.fromMin
	}
	return p, true
}

// halfAt reports whether a part of the day is named at i.
func (c *clock) halfAt(i int) bool { _, ok := dayParts[c.word(i)]; return ok }

// timeOfDay reads 8:30, 8 am, noon; a bare hour only where one is expected.
func (c *clock) timeOfDay(i int, bare bool) (part, bool) {
	w := c.word(i)
	made := func(n, minute int) (part, bool) {
		return part{at: i, n: n, ofDay: true, fromMin: minute, toMin: minute + 15}, true
	}
	switch w {
	case "noon", "midday":
		return made(1, 12*60)
	case "midnight":
		return made(1, 0)
	}
	hour, minute, clear := -1, 0, false
	if at, err := time.Parse("15:04", w); err == nil {
		hour, minute, clear = at.Hour(), at.Minute(), true
	} else if w == "24:00" {
		return made(1, 24*60)
	} else if n, err := strconv.Atoi(w); err == nil && n >= 0 && n <= 24 {
		hour = n
	} else {
		return part{}, false
	}
	switch next := c.word(i + 1); {
	case (next == "am" || next == "pm") && hour <= 12:
		hour %= 12
		if next == "pm" {
			hour += 12
		}
		return made(2, hour*60+minute)
	case next == "oclock":
		return made(2, hour*60+minute)
	case c.isUnit(i + 1), next == "percent", next == "watt", next == "kwh":
		return part{}, false
	case clear || bare:
		return made(1, hour*60+minute)
	}
	return part{}, false
}
