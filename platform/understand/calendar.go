package understand

import "time"

// Before is the period of the same kind just ahead of s.
func Before(s Span) Span {
	y, m, d := s.From.Date()
	loc := s.From.Location()
	switch {
	case d == 1 && s.From.AddDate(1, 0, 0).Equal(s.To):
		return Span{From: s.From.AddDate(-1, 0, 0), To: s.From, Label: "the year before"}
	case d == 1 && s.From.AddDate(0, 1, 0).Equal(s.To):
		return Span{From: time.Date(y, m-1, 1, 0, 0, 0, 0, loc), To: s.From, Label: "the month before"}
	case s.From.AddDate(0, 0, 7).Equal(s.To):
		return Span{From: s.From.AddDate(0, 0, -7), To: s.From, Label: "the week before"}
	case isDay(s):
		return Span{From: s.From.AddDate(0, 0, -1), To: s.From, Label: "the day before"}
	case s.To.Sub(s.From) < 24*time.Hour: // the same hours of the day before
		return Span{From: s.From.AddDate(0, 0, -1), To: s.To.AddDate(0, 0, -1), Label: "the same time of the day before"}
	}
	return Span{From: s.From.Add(-s.To.Sub(s.From)), To: s.From, Label: "the same length of time before"}
}

// isDay reports whether a span is one whole day; days have 23 to 25 hours.
func isDay(s Span) bool {
	d := s.To.Sub(s.From)
	return !s.Now && d >= 23*time.Hour && d <= 25*time.Hour
}

func (c *clock) onDay(p part, day time.Time) part {
	y, m, d := day.Date()
	if begin := time.Date(y, m, d, 0, p.fromMin, 0, 0, c.now.Location()); p.named == "morning" && day.Equal(c.midnight(0)) && c.now.Before(begin) {
		p.fromMin = 0 // it is so early that the morning has hardly begun
	}
	p.span.From = time.Date(y, m, d, 0, p.fromMin, 0, 0, c.now.Location())
	p.span.To = time.Date(y, m, d, 0, p.toMin, 0, 0, c.now.Location())
	p.ofDay = false
	return p
}

// back is n units before now.
func (c *clock) back(unit string, n float64) time.Time {
	whole := int(n)
	switch unit {
	case "minute":
		return c.now.Add(-time.Duration(n * float64(time.Minute)))
	case "hour":
		return c.now.Add(-time.Duration(n * float64(time.Hour)))
	case "week":
		return c.now.AddDate(0, 0, -7*whole)
	case "fortnight":
		return c.now.AddDate(0, 0, -14*whole)
	case "month":
		return c.now.AddDate(0, -whole, 0)
	case "quarter":
		return c.now.AddDate(0, -3*whole, 0)
	case "year":
		return c.now.AddDate(-whole, 0, 0)
	case "night", "weekend":
		from, _ := c.period(unit, -whole)
		return from
	}
	return c.now.AddDate(0, 0, -whole)
}

// period is the calendar's unit that is offset away from the current one.
func (c *clock) period(unit string, offset int) (from, to time.Time) {
	y, m, _ := c.now.Date()
	monday := c.midnight(-(int(c.now.Weekday()) + 6) % 7)
	switch unit {
	case "minute":
		from = c.now.Truncate(time.Minute).Add(time.Duration(offset) * time.Minute)
		return from, from.Add(time.Minute)
	case "hour":
		from = c.now.Truncate(time.Hour).Add(time.Duration(offset) * time.Hour)
		return from, from.Add(time.Hour)
	case "week":
		return monday.AddDate(0, 0, 7*offset), monday.AddDate(0, 0, 7*offset+7)
	case "fortnight":
		return monday.AddDate(0, 0, 14*offset), monday.AddDate(0, 0, 14*offset+14)
	case "weekend":
		if offset < 0 && c.now.Weekday() == time.Sunday || offset < 0 && c.now.Weekday() == time.Saturday {
			return monday.AddDate(0, 0, 7*offset+5), monday.AddDate(0, 0, 7*offset+7)
		}
		if offset < 0 {
			return monday.AddDate(0, 0, 7*offset+5), monday.AddDate(0, 0, 7*offset+7)
		}
		return monday.AddDate(0, 0, 5), monday.AddDate(0, 0, 7)
	case "month":
		return c.day(y, m+time.Month(offset), 1), c.day(y, m+time.Month(offset)+1, 1)
	case "quarter":
		first := m - (m-1)%3 + time.Month(3*offset)
		return c.day(y, first, 1), c.day(y, first+3, 1)
	case "year":
		return c.day(y+offset, 1, 1), c.day(y+offset+1, 1, 1)
	case "night":
		return c.midnight(offset).Add(22 * time.Hour), c.midnight(offset + 1).Add(6 * time.Hour)
	}
	return c.midnight(offset), c.midnight(offset + 1)
}

func (c *clock) whole(i, n int, at time.Time) (part, bool) {
	return part{at: i, n: n, span: Span{From: at, To: at.AddDate(0, 0, 1)}}, true
}

func (c *clock) day(y int, m time.Month, d int) time.Time {
	return time.Date(y, m, d, 0, 0, 0, 0, c.now.Location())
}

func (c *clock) midnight(offset int) time.Time {
	y, m, d := c.now.Date()
	return c.day(y, m, d+offset)
}
