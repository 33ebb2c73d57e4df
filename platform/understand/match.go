package understand

import (
	"cmp"
	"slices"
)

// match is a name found at tokens [at, at+n).
type match struct {
	name    *name
	at, n   int
	covered int // words of the name that were said
	own     int // of these, such that are not generic
	full    bool
}

// find looks for names and marks their words as used. Several places come back for words that fit several.
func (n Names) find(t []token) []Place {
	var places []Place
	for range 8 { // a question names few places
		best := n.best(t)
		if len(best) == 0 {
			break
		}
		for i := best[0].at; i < best[0].at+best[0].n; i++ {
			t[i].used = true
		}
		for _, m := range best {
			p := m.name.place
			if p.Kind == "" { // the site itself: the question is about it anyway
				continue
			}
			p.Partly, p.Mention = !m.full, m.at
			if !slices.ContainsFunc(places, func(o Place) bool { return o == p }) {
				places = append(places, p)
			}
		}
	}
	slices.SortStableFunc(places, func(a, b Place) int { return cmp.Compare(a.Mention, b.Mention) })
	return places
}

// best are the matches that explain most words: full names before parts, places before things.
func (n Names) best(t []token) []match {
	var found []match
	var candidates []int
	for _, w := range t {
		if !w.used {
			candidates = append(candidates, n.with[w.stem]...)
			if same := inNames(w.stem); same != w.stem {
				candidates = append(candidates, n.with[same]...)
			}
		}
	}
	slices.Sort(candidates)
	for _, i := range slices.Compact(candidates) {
		whole := n.all[i].place.Kind != Person || len(n.all[i].words) < 3 // "what is for lunch" names no rule "Lunch is over"
		if m, ok := n.all[i].in(t); ok && (whole || m.full || m.covered > 1) {
			found = append(found, m)
		}
	}
	if len(found) == 0 {
		return nil
	}
	weigh := func(a, b match) int {
		if c := cmp.Compare(b.own, a.own); c != 0 {
			return c
		}
		if a.full != b.full {
			if a.full {
				return -1
			}
			return 1
		}
		if c := cmp.Compare(b.covered, a.covered); c != 0 {
			return c
		}
		if c := cmp.Compare(rank[b.name.place.Kind], rank[a.name.place.Kind]); c != 0 {
			return c
		}
		return cmp.Compare(a.at, b.at)
	}
	first := slices.MinFunc(found, weigh)
	return slices.DeleteFunc(found, func(m match) bool {
		return m.at != first.at || m.n != first.n || m.full != first.full || m.name.place.Kind != first.name.place.Kind
	})
}
