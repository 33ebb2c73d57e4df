package understand

import (
	"strings"
	"time"
)

// join lays times of day on their days: "yesterday morning", "between 8 and 12 on Monday".
func (c *clock) join(found []part) []part {
	var out []part
	for i := 0; i < len(found); i++ {
		p := found[i]
		if p.before != "" {
			from := Span{From: c.midnight(0), To: c.midnight(1)}
			if unit := p.before; unit == "week" || unit == "month" || unit == "quarter" || unit == "year" {
				from.From, from.To = c.period(unit, 0) // "the week before" is no day before
			}
			if len(out) > 0 {
				from = out[len(out)-1].span
			}
			label := p.span.Label
			if day, ok := weekdays[p.before]; ok { // "this Tuesday and the Tuesday before", "the Tuesday before last"
				latest := c.midnight(-(int(c.now.Weekday()) - int(day) + 7) % 7)
				from = Span{From: latest, To: latest.AddDate(0, 0, 1)}
				if len(out) > 0 {
					from.From = out[len(out)-1].span.From
				}
				back := (int(from.From.Weekday())-int(day)+6)%7 + 1
				p.span = Span{From: from.From.AddDate(0, 0, -back), To: from.From.AddDate(0, 0, 1-back), Label: label}
				out = append(out, p)
				continue
			}
			p.span = Before(from)
			if p.before == weekEarlier {
				p.span = Span{From: from.From.AddDate(0, 0, -7), To: from.To.AddDate(0, 0, -7)}
			}
			p.span.Label, p.span.Ahead = label, len(out) == 0
			out = append(out, p)
			continue
		}
		for p.ofDay && i+1 < len(found) && c.qualifies(p, found[i+1]) {
			i++
			p = p.within(found[i])
		}
		for p.ofDay && i+1 < len(found) && found[i+1].ofDay && c.bounds(p, found[i+1]) {
			i++
			p = p.overlap(found[i])
		}
		if i+1 < len(found) {
			next := found[i+1]
			switch {
			case p.ofDay && !next.ofDay && isDay(next.span):
				merged := c.onDay(p, next.span.From)
				merged.span.Label = p.span.Label + " " + next.span.Label
				merged.at, merged.n = p.at, next.at+next.n-p.at
				out = append(out, merged)
				i++
				continue
			case !p.ofDay && next.ofDay && isDay(p.span):
				merged := c.onDay(next, p.span.From)
				merged.span.Label = p.span.Label + " " + next.span.Label
				merged.at, merged.n = p.at, next.at+next.n-p.at
				out = append(out, merged)
				i++
				continue
			}
		}
		if p.ofDay {
			label := p.span.Label
			day := c.midnight(0)
			if !day.Add(time.Duration(p.fromMin) * time.Minute).Before(c.now) {
				day = c.midnight(-1) // the latest one that has begun
			}
			p = c.onDay(p, day)
			p.span.Label = label
		}
		out = append(out, p)
	}
	return apart(out)
}

// qualifies reports whether next only tells which half of the day is meant: "between 2 and 5 in the morning".
func (c *clock) qualifies(p, next part) bool {
	if !next.ofDay || p.at+p.n != next.at {
		return false
	}
	_, clock := dayParts[c.word(p.at+p.n-1)]
	_, half := dayParts[c.word(next.at+next.n-1)]
	return !clock && half
}

// within is p at the time of day that half tells.
func (p part) within(half part) part {
	if noon := 12 * 60; half.fromMin >= noon && p.fromMin < noon && (half.fromMin < 20*60 || p.fromMin >= 6*60) { // "at 2 in the night" is early
		p.fromMin, p.toMin = p.fromMin+noon, p.toMin+noon
	}
	p.n = half.at + half.n - p.at
	p.span.Label += " " + half.span.Label
	return p
}

// apart tells "this Monday" from "last Monday" where both are said: the last one is a week earlier. A day that is told twice in a row,
// "Friday the 13th", is one.
func apart(list []part) []part {
	if len(list) != 2 || list[0].span.Now || !list[0].span.From.Equal(list[1].span.From) || !isDay(list[0].span) {
		return list
	}
	for i := range list {
		if s := &list[i].span; strings.HasPrefix(s.Label, "last ") || strings.HasPrefix(s.Label, "previous ") {
			s.From, s.To = s.From.AddDate(0, 0, -7), s.To.AddDate(0, 0, -7)
			return list
		}
	}
	if first, next := list[0], list[1]; next.at-first.at-first.n <= 1 { // "Friday the 13th"
		first.n, first.span.Label = next.at+next.n-first.at, first.span.Label+" "+next.span.Label
		return []part{first}
	}
	return list
}
