package assistant

import (
	"slices"

	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// placed is one line of an order by size, the first of which wins.
type placed struct {
	name, told string
	value      float64
}

// behind is how many of those are told that did not win.
const behind = 4

// verdict is the yes or no to whether the first of two is more, or less, than the second, if that was asked; empty otherwise.
func (a *asked) verdict(first, second float64) string {
	switch {
	case a.q.Is(understand.More):
		return a.yesNo(first > second)
	case a.q.Is(understand.Less):
		return a.yesNo(first < second)
	}
	return ""
}

// joined is what two figures rest on together.
func joined(first, second facts.Basis) (b facts.Basis) {
	b.Join(first)
	b.Join(second)
	return b
}

// sourced adds to lines of a comparison how the figures of each came about, where they did not come about alike.
func (a *asked) sourced(lines []string, of []facts.Basis) []string {
	word := func(b facts.Basis) string {
		var words []string
		for _, s := range b.Sources {
			words = append(words, a.f(sourceWords[s]))
		}
		slices.Sort(words)
		return a.list(words)
	}
	if !slices.ContainsFunc(of, func(b facts.Basis) bool { return word(b) != word(of[0]) }) {
		return lines
	}
	for i := range lines {
		if len(of[i].Sources) > 0 {
			lines[i] += " (" + word(of[i]) + ")"
		}
	}
	return lines
}

// winner names first who is asked for, all who share the place, and then those who come next.
func (a *asked) winner(rows []placed) string {
	first := 1
	for first < len(rows) && rows[first].value == rows[0].value {
		first++
	}
	told := func(rows []placed) (all []string) {
		for _, r := range rows {
			all = append(all, a.f("%s with %s", r.name, r.told))
		}
		return all
	}
	text := a.f("%s, with %s", rows[0].name, rows[0].told)
	if first > 1 {
		text = a.f("%s are alike", a.some(told(rows[:first]), thoseTold))
		if !slices.ContainsFunc(rows[:first], func(r placed) bool { return r.told != rows[0].told }) {
			var names []string
			for _, r := range rows[:first] {
				names = append(names, r.name)
			}
			text = a.f("%s, each with %s", a.some(names, thoseTold), rows[0].told)
		}
	}
	if next := rows[first:min(len(rows), first+behind)]; len(next) > 0 {
		text += a.f("; then %s", a.list(told(next)))
	}
	return upper(text) + "."
}
