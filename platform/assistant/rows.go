package assistant

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
)

func (l *lookup) places() (platform.Found, error) {
	if err := l.state("zone", "floor"); err != nil {
		return platform.Found{}, err
	}
	var rows []platform.PlaceRow
	scopes := map[platform.PlaceRow]facts.Scope{} // of rows of which nothing more is known yet
	add := func(row platform.PlaceRow, scope facts.Scope) {
		scopes[row] = scope
		rows = append(rows, row)
	}
	for _, z := range l.site.Zones {
		if l.in.State != "floor" && l.scope.HasZone(z) {
			add(platform.PlaceRow{ID: z.ID, Kind: "zone", Name: label(z.Name), Floor: label(z.Floor)}, l.site.ZoneScope(z.ID))
		}
	}
	for _, f := range l.site.Building.Floors {
		if l.in.State != "zone" && (l.scope.Whole() || l.scope.Floor == f.Name) {
			add(platform.PlaceRow{Kind: "floor", Name: label(f.Name)}, l.site.FloorScope(f.Name))
		}
	}
	if err := l.sorted(rows, scopes); err != nil {
		return platform.Found{}, err
	}
	p, err := page(l, rows, l.offline())
	for i, row := range p.Items { // those that are told, not all
		l.fill(&p.Items[i], scopes[row])
	}
	text := count(len(rows), "place") + " in " + l.where() + "."
	if first := p.Items[:min(len(p.Items), 5)]; l.in.Sort != "" && len(first) > 0 {
		var names []string
		for _, r := range first {
			level := "not known"
			if r.MeanLevel != nil {
				level = percent(*r.MeanLevel)
			}
			names = append(names, r.Name+" ("+level+")")
		}
		text += " The " + l.in.Sort + " first: " + list(names) + "."
	}
	return summed(text, p), err
}

// fill looks how a place is.
func (l *lookup) fill(row *platform.PlaceRow, scope facts.Scope) {
	levels, positions := l.site.Levels(scope), l.site.Positions(scope)
	row.Lights, row.Shades = len(levels.All), len(positions.All)
	row.LightsOn = len(levels.Where(facts.Current, func(t facts.Thing) bool { return *t.Value > 0 }))
	row.LightsUnread = len(levels.All) - levels.Basis.Readings
	if mean, ok := levels.Mean(); ok {
		row.MeanLevel = rounded(mean)
	}
	if mean, ok := positions.Mean(); ok {
		row.MeanOpen = rounded(mean)
	}
	if p := l.site.PowerOf(scope); p.Known() && len(p.Missing) == 0 {
		row.Watts = rounded(p.Watts)
	}
}

// sorted puts places in order by how bright they are; those of which nothing is known come last.
func (l *lookup) sorted(rows []platform.PlaceRow, scopes map[platform.PlaceRow]facts.Scope) error {
	sign := map[string]float64{"brightest": -1, "dimmest": 1}[l.in.Sort]
	if sign == 0 {
		if l.in.Sort != "" {
			return platform.Invalid("sort %q is not one of brightest, dimmest", clip(l.in.Sort, 50))
		}
		return nil
	}
	key := map[platform.PlaceRow]float64{}
	for row, scope := range scopes {
		key[row] = math.Inf(1)
		if mean, ok := l.site.MeanLevel(scope); ok {
			key[row] = sign * *rounded(mean)
		}
	}
	slices.SortStableFunc(rows, func(a, b platform.PlaceRow) int { return cmp.Compare(key[a], key[b]) })
	return nil
}

func (l *lookup) lights() (platform.Found, error) {
	if err := l.state("on", "off", "unknown"); err != nil {
		return platform.Found{}, err
	}
	var rows []platform.LightRow
	on, known := 0, 0
	all := l.site.In(l.scope, platform.KindLight)
	for _, d := range all {
		state := "unknown"
		if l.site.Judge(d, d.Level) == facts.Current {
			known++
			if state = "off"; d.Level.Value > 0 {
				state = "on"
				on++
			}
		}
		if l.in.State == "" || l.in.State == state {
			rows = append(rows, platform.LightRow{ID: d.ID, Name: label(d.Name), Zones: l.zoneNames(d.Zones), Floor: label(d.Floor), Level: value(d.Level), Kelvin: value(d.Kelvin),
				Can: append([]string{}, d.Abilities...), Trouble: label(d.Trouble), Read: l.read(d, d.Level)})
		}
	}
	p, err := page(l, rows, l.offline())
	return summed(fmt.Sprintf("%s in %s: %d on, %d off, %d not known.", count(len(all), "light"), l.where(), on, known-on, len(all)-known), p), err
}

func (l *lookup) shades() (platform.Found, error) {
	if err := l.state("open", "closed", "moving", "unknown"); err != nil {
		return platform.Found{}, err
	}
	var rows []platform.ShadeRow
	of := map[string]int{}
	all := l.site.In(l.scope, platform.KindShade)
	for _, d := range all {
		state := "unknown"
		switch {
		case d.Online && l.site.Controller.Online && moves(d):
			state = "moving"
		case l.site.Judge(d, d.Position) == facts.Current && d.Position.Value > 0:
			state = "open"
		case l.site.Judge(d, d.Position) == facts.Current:
			state = "closed"
		}
		of[state]++
		if l.in.State == "" || l.in.State == state {
			rows = append(rows, platform.ShadeRow{ID: d.ID, Name: label(d.Name), Zones: l.zoneNames(d.Zones), Floor: label(d.Floor), Open: value(d.Position), Motion: d.Motion,
				Trouble: label(d.Trouble), Read: l.read(d, d.Position)})
		}
	}
	p, err := page(l, rows, l.offline())
	return summed(fmt.Sprintf("%s in %s: %d open or partly open, %d closed, %d moving, %d not known.", count(len(all), "shade"), l.where(), of["open"], of["closed"], of["moving"], of["unknown"]), p), err
}
