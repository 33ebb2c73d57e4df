package understand

import (
	"slices"
	"strings"
	"time"
)

// join lays times of day on their days: "yesterday morning", "between 8 and 12 on Monday".
func (c *clock) join(found []part) []part {
	var out []part
	found = c.halves(found)
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

// halves gives times by the clock the half of the day that is said on the other side of them, or of their day: "yesterday evening after
// 10", "between 7 and 10 yesterday evening", "on 12 November at 2 in the morning".
func (c *clock) halves(found []part) []part {
	out := slices.Clone(found)
	for i := 0; i+1 < len(out); i++ {
		clock, half := i, i+1
		if i+2 < len(out) && out[i].at+out[i].n == out[i+1].at && !out[i+1].ofDay && isDay(out[i+1].span) && out[i+1].at+out[i+1].n == out[i+2].at {
			half = i + 2
		} else if out[i].named != "" {
			clock, half = i+1, i
		}
		p, h := out[clock], out[half]
		if !p.ofDay || p.named != "" || h.named == "" || !h.ofDay || half < clock && h.at+h.n != p.at || half == i+1 && p.at+p.n != h.at {
			continue
		}
		bound, label, n, at := c.word(p.at), p.span.Label, p.n, p.at
		p = p.within(h)
		p.n, p.span.Label = n, label
		switch {
		case bound == "after" && p.fromMin < h.toMin:
			p.toMin = h.toMin
		case bound == "after":
			p.toMin = 24 * 60
		case bound == "before":
			p.fromMin = h.fromMin
		}
		switch {
		case half < clock:
			p.at, p.n, p.span.Label = h.at, at+n-h.at, h.span.Label+" "+label
		case half == i+1:
			p.n, p.span.Label = h.at+h.n-at, label+" "+h.span.Label
		default:
			out[i+1].n, out[i+1].span.Label = h.at+h.n-out[i+1].at, out[i+1].span.Label+" "+h.span.Label
		}
		out[clock] = p
		out = slices.Delete(out, half, half+1)
	}
	return out
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
