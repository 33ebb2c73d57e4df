package assistant

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// slotted reports whether figures are asked for time by time.
func (a *asked) slotted() bool {
	return a.q.By == "hour" || a.q.By == "day" || a.q.By == "week" || a.q.By == "month"
}

// energySlots answers by hour or by day.
func (a *asked) energySlots() (answer, error) {
	span := a.span()
	e, err := a.site.EnergyOf(a.ctx, a.scope, span.From, span.To)
	if err != nil {
		return answer{}, err
	}
	if !e.Known() {
		return answer{a.noEnergy(e, span), e}, nil
	}
	slots := e.By(a.q.By, a.site.Now.Location())
	word := func(s facts.Slot) string {
		text := a.slot(s.Start, a.q.By) + " " + a.wattHours(s.WattHours)
		if s.Measured < s.Length*98/100 && s.Start.Add(time.Duration(s.Length)).Before(a.site.Now) {
			text += a.f(" (measured for %s)", lengthIn(a.q.Lang, time.Duration(s.Measured)))
		}
		return text
	}
	var lines []string
	switch a.q.Op {
	case understand.Most, understand.Least:
		slices.SortStableFunc(slots, func(x, y facts.Slot) int { return cmp.Compare(y.WattHours, x.WattHours) })
		if a.q.Op == understand.Least {
			slices.Reverse(slots)
		}
		for _, s := range slots[:min(len(slots), max(1, a.q.Top))] {
			lines = append(lines, word(s))
		}
		text := a.f("The %s with the %s use of %s %s: %s.", a.noun(a.q.By), a.f(map[understand.Op]string{understand.Most: "highest", understand.Least: "lowest"}[a.q.Op]),
			a.where(), a.period(span), a.list(lines))
		return answer{sentences(text, a.gaps(e, span), a.uncovered(e), a.basis(e.Basis)), slots}, nil
	}
	for _, s := range slots {
		lines = append(lines, word(s))
	}
	if len(lines) > 62 {
		lines = lines[len(lines)-62:]
	}
	text := a.f("%s by %s, %s: %s. Together %s.", upper(a.where()), a.noun(a.q.By), a.period(span), strings.Join(lines, ", "), a.wattHours(e.WattHours))
	if mean, ok := e.Mean(); ok && a.q.Op == understand.Average {
		hours := map[string]float64{"hour": 1, "day": 24, "week": 168, "month": 720}[a.q.By]
		text = a.f("On average %s used %s in %.0f h of what was measured. ", a.where(), a.wattHours(mean*hours), hours) + text
	}
	return answer{sentences(text, a.gaps(e, span), a.uncovered(e), a.basis(e.Basis)), slots}, nil
}

// ranked is one line of a ranking.
type ranked struct {
	Label     string  `json:"label"`
	WattHours float64 `json:"wattHours"`
	Partly    bool    `json:"partly,omitempty"` // not all of it is measured
	Gap       string  `json:"gap,omitempty"`    // for how long of the period it was measured, if not all
}

// rankEnergy orders zones, floors or meters by what they used.
func (a *asked) rankEnergy() (answer, error) {
	span := a.span()
	var rows []ranked
	var unmeasured []string
	var b facts.Basis
	read := func(c facts.Scope, name string, whole bool) error {
		e, err := a.site.EnergyOf(a.ctx, c, span.From, span.To)
		if err != nil {
			return err
		}
		if !e.Known() || whole && len(e.Missing) > 0 {
			unmeasured = append(unmeasured, label(name))
			return nil
		}
		b.Join(e.Basis)
		rows = append(rows, ranked{label(name), e.WattHours, len(e.Missing) > 0, a.partOf(e)})
		return nil
	}
	by, err := a.readRanked(read)
	if err != nil {
		return answer{}, err
	}
	preface := ""
	if len(rows) == 0 && by == "zone" && len(a.site.Meters()) > 0 {
		preface = a.f("No zone%s has a meter of its own, so I can only rank the meters.", a.in())
		unmeasured = nil
		if err := a.readMeters(read); err != nil {
			return answer{}, err
		}
	}
	if len(rows) == 0 {
		return answer{text: a.f("I do not know: nothing of %s was measured %s.", a.where(), a.period(span))}, nil
	}
	slices.SortStableFunc(rows, func(x, y ranked) int { return cmp.Compare(y.WattHours, x.WattHours) })
	if a.q.Op == understand.Least {
		slices.Reverse(rows)
	}
	shown := rows
	if a.q.Top > 0 {
		shown = rows[:min(len(rows), a.q.Top)]
	}
	var lines []string
	for _, r := range shown {
		line := r.Label + " " + a.wattHours(r.WattHours)
		if r.Partly {
			line += a.f(" (not all of it is measured)")
		}
		if r.Gap != "" {
			line += a.f(" (measured for %s)", r.Gap)
		}
		lines = append(lines, line)
	}
	text := upper(a.period(span)) + ": " + a.list(lines) + "."
	switch a.q.Op {
	case understand.Most:
		text = a.f("%s used the most of what is measured on its own.", rows[0].Label) + " " + text
	case understand.Least:
		text = a.f("%s used the least of what is measured on its own.", rows[0].Label) + " " + text
	}
	if by == "zone" && preface == "" {
		shared, err := a.sharedMeters(span)
		if err != nil {
			return answer{}, err
		}
		text = sentences(text, shared)
	}
	if len(unmeasured) > 0 && by != "meter" {
		text += a.f(" Not measured on their own: %s.", a.some(unmeasured, 8))
	} else if len(unmeasured) > 0 {
		text += a.f(" No samples of %s.", a.some(unmeasured, 8))
	}
	return answer{sentences(preface, text, a.basis(b)), rows}, nil
}

// sharedMeters tells what meters over several zones measured: one of those zones may have used more than those in the
// ranking.
func (a *asked) sharedMeters(span understand.Span) (string, error) {
	var lines []string
	for _, m := range a.site.Meters() {
		if len(m.Zones) < 2 || a.leftOut(m) || !a.scope.Whole() && a.scope.Out == nil && !slices.ContainsFunc(m.Zones, func(z int64) bool { return slices.Contains(a.scope.Zones, z) }) {
			continue
		}
		e, err := a.site.EnergyOf(a.ctx, facts.Scope{Devices: []int64{m.Node}}, span.From, span.To)
		if err != nil {
			return "", err
		}
		if e.Known() {
			lines = append(lines, a.f("%s %s (%s)", label(m.Name), a.wattHours(e.WattHours), a.zoneNames(m.Zones)))
		}
	}
	if len(lines) == 0 {
		return "", nil
	}
	return a.f("Meters over several zones: %s.", a.list(lines)), nil
}

// readRanked reads every zone, floor or meter of the scope and tells which it was.
func (a *asked) readRanked(read func(facts.Scope, string, bool) error) (string, error) {
	switch a.q.By {
	case "floor":
		for _, f := range a.site.Building.Floors {
			on := a.site.FloorScope(f.Name)
			zones := slices.DeleteFunc(slices.Clone(a.site.Zones), func(z platform.Zone) bool { return z.Floor != f.Name || !a.scope.HasZone(z) })
			if len(zones) == 0 && len(on.Zones) > 0 {
				continue // it is left out, or not meant
			}
			name := f.Name
			if len(zones) < len(on.Zones) {
				on.Out, name = a.scope.Out, a.f("%s in part", f.Name)
				if a.scope.Out == nil {
					on = facts.Scope{Label: name}
					for _, z := range zones {
						on.Zones = append(on.Zones, z.ID)
					}
				}
			}
			if err := read(on, name, false); err != nil {
				return "", err
			}
		}
		return "floor", nil
	case "meter", "device", "bus":
		return "meter", a.readMeters(read)
	}
	for _, z := range a.zonesIn() {
		if err := read(a.site.ZoneScope(z.ID), z.Name, true); err != nil {
			return "", err
		}
	}
	return "zone", nil
}

// leftOut reports whether a meter measures what is left out.
func (a *asked) leftOut(m facts.Meter) bool {
	return a.scope.Out != nil && (m.Whole || slices.ContainsFunc(a.site.Zones, func(z platform.Zone) bool {
		return slices.Contains(m.Zones, z.ID) && a.scope.Out.HasZone(z)
	}))
}

func (a *asked) readMeters(read func(facts.Scope, string, bool) error) error {
	for _, m := range a.site.Meters() {
		if a.leftOut(m) || !a.scope.Whole() && len(a.q.Places) > 0 && !slices.ContainsFunc(m.Zones, func(z int64) bool { return slices.Contains(a.scope.Zones, z) }) {
			continue
		}
		if err := read(facts.Scope{Label: m.Name, Devices: []int64{m.Node}}, m.Name, false); err != nil {
			return err
		}
	}
	return nil
}
