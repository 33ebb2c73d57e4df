package assistant

import (
	"cmp"
	"slices"

	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// brightest ranks single lights by level.
func (a *asked) brightest(t facts.Things) (answer, error) {
	current, words := t.Where(facts.Current, nil), ""
	if known := len(current); known > 0 && (a.q.State != "" || a.level() != nil) { // "the dimmest that is on"
		var keep func(facts.Thing) bool
		keep, words = a.wanted()
		if current = t.Where(facts.Current, keep); len(current) == 0 {
			return answer{sentences(a.f("None that I know of: none of the %d with a current level%s is %s.", known, a.in(), words), a.doubts(t, "light"), a.basis(t.Basis)), current}, nil
		}
	}
	if len(current) == 0 {
		return answer{sentences(a.f("I do not know any level%s now.", a.in()), a.doubts(t, "light"), a.basis(t.Basis)), t}, nil
	}
	slices.SortStableFunc(current, func(x, y facts.Thing) int { return cmp.Compare(*y.Value, *x.Value) })
	word := a.f("brightest")
	switch {
	case *current[0].Value == 0 && words == "":
		return answer{sentences(a.f("All %s%s with a current level are off.", a.count(len(current), "light"), a.in()), a.doubts(t, "light"), a.basis(t.Basis)), current}, nil
	case a.q.Op == understand.Least:
		slices.Reverse(current)
		word = a.f("dimmest")
	}
	n := a.q.Top
	if n == 0 { // all that share the first place
		for n < len(current) && *current[n].Value == *current[0].Value {
			n++
		}
	}
	if words != "" {
		word += " (" + words + ")"
	}
	shown := current[:min(n, len(current))]
	return answer{sentences(a.f("The %s%s: %s", word, a.in(), a.named(shown)), a.doubts(t, "light"), a.basis(t.Basis)), shown}, nil
}

// litRow is how the lights of one place are.
type litRow struct {
	Label string  `json:"label"`
	Match int     `json:"matching"`
	Known int     `json:"known"`
	All   int     `json:"all"`
	Mean  float64 `json:"mean"`
}

// brightestPlaces names the place that is asked for first; rows are in order.
func (a *asked) brightestPlaces(rows []litRow, weigh func(litRow) float64, words string, byLevel, ofThose bool) string {
	var all []placed
	for _, r := range rows {
		told := a.f("%d of %d", r.Match, r.All) + " " + words
		switch {
		case ofThose:
			told = a.f("a mean of %s of %d that are %s", percent(r.Mean), r.Match, words)
		case byLevel:
			told = a.f("a mean of %s", percent(r.Mean))
		}
		if r.Known < r.All {
			told += a.f(" (%d unknown)", r.All-r.Known)
		}
		all = append(all, placed{r.Label, told, weigh(r)})
	}
	return a.winner(all)
}

// lightsBy counts by zone or floor.
func (a *asked) lightsBy(t facts.Things) (answer, error) {
	if t.Basis.Readings == 0 {
		return answer{sentences(a.f("I do not know: of %s%s none has a current level.", a.count(len(t.All), "light"), a.in()), a.doubts(t, "light"), a.basis(t.Basis)), t}, nil
	}
	keep, words := a.wanted()
	ofThose := a.q.Aspect == "level" // the brightest or dimmest of what is so
	group := func(label string, in func(facts.Thing) bool) litRow {
		r := litRow{Label: label}
		sum := 0.0
		for _, one := range t.All {
			if !in(one) {
				continue
			}
			r.All++
			if one.Condition == facts.Current {
				r.Known++
				if keep(one) {
					r.Match++
				}
				if !ofThose || keep(one) {
					sum += *one.Value
				}
			}
		}
		if n := map[bool]int{false: r.Known, true: r.Match}[ofThose]; n > 0 {
			r.Mean = sum / float64(n)
		}
		return r
	}
	var rows []litRow
	if a.q.By == "floor" {
		for _, f := range a.site.Building.Floors {
			rows = append(rows, group(label(f.Name), func(one facts.Thing) bool { return one.Floor == f.Name }))
		}
	} else {
		for _, z := range a.zonesIn() {
			rows = append(rows, group(label(z.Name), func(one facts.Thing) bool { return slices.Contains(one.Zones, z.ID) }))
		}
	}
	rows = slices.DeleteFunc(rows, func(r litRow) bool { return r.All == 0 })
	for _, c := range a.q.Conds { // "rooms with more than 3 lights on"
		if c.Of == understand.Light {
			for i := range rows {
				if !c.Holds(float64(rows[i].Match)) {
					rows[i].Match = 0
				}
			}
		}
	}
	part := a.cond(understand.Part)
	if part != nil && string(a.q.Kind) == a.q.By { // "zones where less than half of the lamps are on"
		rows = slices.DeleteFunc(rows, func(r litRow) bool { return r.Known == 0 || !part.Holds(100*float64(r.Match)/float64(r.Known)) })
		if len(rows) == 0 {
			return answer{sentences(a.f("None that I know of: no %s%s has such a part of its lights %s.", a.noun(a.q.By), a.in(), words), a.doubts(t, "light"), a.basis(t.Basis)), rows}, nil
		}
	}
	for i := range rows { // "only some of the lights on"
		if a.q.Is(understand.Some) && rows[i].Match == rows[i].Known {
			rows[i].Match = 0
		}
	}
	if a.q.Is(understand.All) && (a.q.State == understand.Off || string(a.q.Kind) == a.q.By) {
		for i := range rows {
			if rows[i].Match < rows[i].Known {
				rows[i].Match = 0 // it is not dark
			}
		}
	}
	byLevel := a.q.Op == understand.Average && a.q.State == "" || (a.q.Op == understand.Most || a.q.Op == understand.Least) && (ofThose || a.q.State == "" && a.level() == nil) // "the brightest room"
	if ofThose {
		rows = slices.DeleteFunc(rows, func(r litRow) bool { return r.Match == 0 })
	}
	weigh := func(r litRow) float64 {
		if byLevel {
			return r.Mean
		}
		return float64(r.Match)
	}
	if c := a.level(); c != nil && a.q.Op == understand.Average { // "zones with a mean level above 50 %"
		var lines []string
		for _, r := range rows {
			if r.Known > 0 && c.Holds(r.Mean) {
				lines = append(lines, a.f("%s mean %s", r.Label, percent(r.Mean)))
			}
		}
		return answer{sentences(a.f("%d of %s with a known mean level %s %s %s: %s.", len(lines), a.count(len(rows), a.q.By), a.are(len(lines)), a.f(sides[c.Rel]), percent(c.Value), a.list(lines)), a.doubts(t, "light"), a.basis(t.Basis)), rows}, nil
	}
	if a.q.Op == understand.Most || a.q.Op == understand.Least {
		slices.SortStableFunc(rows, func(x, y litRow) int { return cmp.Compare(weigh(y), weigh(x)) })
		if a.q.Op == understand.Least {
			slices.Reverse(rows)
		} else if len(rows) > 0 && weigh(rows[0]) == 0 {
			return answer{sentences(a.f("None that I know of: no %s%s has a light %s.", a.noun(a.q.By), a.in(), words), a.doubts(t, "light"), a.basis(t.Basis)), rows}, nil
		}
		if byLevel {
			rows = slices.DeleteFunc(rows, func(r litRow) bool { return r.Known == 0 })
		}
		if a.q.Top < 2 && len(rows) > 0 {
			return answer{sentences(a.brightestPlaces(rows, weigh, words, byLevel, ofThose), a.doubts(t, "light"), a.basis(t.Basis)), rows}, nil
		}
		rows = rows[:min(len(rows), cmp.Or(a.q.Top, 3))]
	}
	those, together := a.q.Is(understand.Follows) && a.q.Form == understand.Count && a.q.Kind == understand.Light, 0 // "how many lamps is that"
	var lines []string
	for _, r := range rows {
		together += r.Match
		line := a.f("%s %d of %d %s", r.Label, r.Match, r.All, words)
		if a.q.Op == understand.Share && r.Known > 0 {
			line += " (" + percent(100*float64(r.Match)/float64(r.Known)) + ")"
		}
		switch {
		case ofThose:
			line = a.f("%s mean %s of %d that are %s", r.Label, percent(r.Mean), r.Match, words)
		case byLevel:
			line = a.f("%s mean %s", r.Label, percent(r.Mean))
		}
		if r.Known < r.All {
			line += a.f(" (%d unknown)", r.All-r.Known)
		}
		if (those || string(a.q.Kind) == a.q.By && a.q.Op == understand.Tell) && r.Match == 0 {
			continue
		}
		lines = append(lines, line)
	}
	if string(a.q.Kind) == a.q.By && len(lines) > 0 && a.q.Op == understand.Tell {
		of := "%d of %s with lights %s lights %s: %s"
		if a.q.Is(understand.All) {
			of = "%d of %s with lights %s all their lights %s: %s"
		}
		lines[0] = a.f(of, len(lines), a.count(len(rows), a.q.By), a.have(len(lines)), words, lines[0])
	}
	if those && len(lines) > 0 {
		lines[0] = a.f("Together %s: %s", a.count(together, "light"), lines[0])
	}
	if len(lines) == 0 {
		none := "None that I know of: no %s%s has a light %s."
		if a.q.Is(understand.All) {
			none = "None that I know of: no %s%s has all its lights %s."
		}
		return answer{sentences(a.f(none, a.noun(a.q.By), a.in(), words), a.doubts(t, "light"), a.basis(t.Basis)), rows}, nil
	}
	if a.q.Form == understand.Check && a.q.Op == understand.Tell && string(a.q.Kind) == a.q.By {
		head := upper(a.list(lines))
		all := !a.q.Is(understand.All) || a.q.Is(understand.Either) || len(lines) == len(rows)
		lines = []string{a.yesNo(all) + lower(head)}
	}
	lit := t.Where(facts.Current, func(one facts.Thing) bool {
		return keep(one) && slices.ContainsFunc(rows, func(r litRow) bool {
			return r.Match > 0 && (r.Label == label(one.Floor) || slices.ContainsFunc(one.Zones, func(z int64) bool { return label(a.site.ZoneName(z)) == r.Label }))
		})
	})
	if a.q.Is(understand.All) || a.q.Op != understand.Tell {
		lit = nil
	}
	return answer{sentences(upper(a.list(lines))+".", a.failing(lit), a.doubts(t, "light"), a.basis(t.Basis)), rows}, nil
}

func haveVerb(n int) string {
	if n == 1 {
		return "has"
	}
	return "have"
}
