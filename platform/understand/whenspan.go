package understand

import (
	"slices"
	"strings"
)

// composite reads "between A and B", "from A to B", "since A", "until A".
func (c *clock) composite(i int) (part, bool) {
	switch c.word(i) {
	case "between", "from":
		p, ok := c.fromTo(i, 1)
		if a, edge := c.edge(i + 1); !ok && c.word(i) == "from" && edge && !a.ofDay && isDay(a.span) && slices.Contains([]string{"on", "onward"}, c.word(i+1+a.n)) && !c.names(i+2+a.n) { // "from Monday on"
			n := a.n + 2
			return part{at: i, n: n, open: true, span: Span{From: a.span.From, To: c.now, Label: c.said(i, n)}}, true
		}
		return p, ok
	case "since":
		a, ok := c.edge(i + 1)
		if !ok {
			return part{}, false
		}
		n := 1 + a.n
		if a.ofDay {
			day := c.midnight(0)
			if b, ok := c.edge(i + n); ok && !b.ofDay && isDay(b.span) { // "since 11 pm yesterday"
				day, n = b.span.From, n+b.n
			} else if c.onDay(a, day).span.From.After(c.now) { // "since 11 pm", said at 1 am
				day = c.midnight(-1)
			}
			a = c.onDay(a, day)
		}
		return part{at: i, n: n, open: true, span: Span{From: a.span.From, To: c.now, Label: c.said(i, n)}}, true
	}
	return c.fromTo(i, 0)
}

// names reports whether a name or what leads to one stands at i.
func (c *clock) names(i int) bool { return i < len(c.t) && (c.t[i].name || c.word(i) == "the") }

// fromTo reads "A and B", "A to B"; lead is the number of words before A. Without "between" or "from" only "to", "until"
// and "till" join.
func (c *clock) fromTo(i, lead int) (part, bool) {
	if p, ok := c.days(i, lead); ok {
		return p, true
	}
	a, ok := c.edge(i + lead)
	if !ok {
		return part{}, false
	}
	k := i + lead + a.n
	joint := c.word(k)
	switch joint {
	case "to", "until", "till", "through", "and", "untill":
	default:
		return part{}, false
	}
	if joint == "and" && (lead == 0 || c.word(i) == "from") {
		return part{}, false
	}
	b, ok := c.edge(k + 1)
	if !ok {
		return part{}, false
	}
	n := k + 1 + b.n - i
	switch {
	case a.ofDay && b.ofDay:
		from, to := a.fromMin, b.fromMin
		if bare := a.n == 1 && !strings.Contains(c.word(i+lead), ":"); bare && c.word(k+2) == "pm" && from+12*60 < to {
			from += 12 * 60 // "between 6 and 7 pm"
		}
		if to <= from { // "between 8 and 5", "from 22 to 6"
			if from < 12*60 && to+12*60 > from {
				to += 12 * 60
			} else {
				to += 24 * 60
			}
		}
		return part{at: i, n: n, ofDay: true, fromMin: from, toMin: to, span: Span{Label: c.said(i, n)}}, true
	case a.ofDay:
		a = c.onDay(a, c.midnight(0))
	case b.ofDay: // "from yesterday until 8 am"
		b = c.onDay(b, c.midnight(0))
		b.span.To = b.span.From
	}
	p := part{at: i, n: n, span: Span{From: a.span.From, To: b.span.To, Label: c.said(i, n)}}
	if b.span.Now {
		p.span.To = c.now
	}
	if p.span.To.Before(p.span.From) && b.span.From.Before(a.span.From) { // "between 10 and yesterday"
		p.span.From, p.span.To = b.span.From, a.span.From
	}
	return p, p.span.From.Before(p.span.To) || !a.span.Now
}

// edge reads one end of a range, with or without "the", "last", where bare numbers are times of day. A day may carry a
// time: "monday 8 am", "yesterday at 10:00".
func (c *clock) edge(i int) (part, bool) {
	skip := 0
	for c.word(i+skip) == "the" || c.word(i+skip) == "on" || c.word(i+skip) == "at" {
		skip++
	}
	i += skip
	if p, ok := c.border(i); ok {
		p.n += skip
		return p, true
	}
	if p, ok := c.timeOfDay(i, true); ok && !c.isMonth(i+p.n) {
		p.n += skip
		return p, true
	}
	p, ok := c.single(i)
	if !ok || p.future {
		return part{}, false
	}
	if !p.ofDay && !p.span.Now {
		k := i + p.n
		if c.word(k) == "at" {
			k++
		}
		if tod, ok := c.timeOfDay(k, false); ok {
			on := c.onDay(tod, p.span.From)
			p.span.From, p.span.To = on.span.From, on.span.From
			p.n = k + tod.n - i
		}
	}
	p.n += skip
	return p, true
}
