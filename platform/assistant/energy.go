package assistant

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// energy answers what was used.
func (a *asked) energy() (answer, error) {
	if a.q.When == nil && a.q.By == "day" {
		week := understand.Span{From: day(a.site.Now, -7, "").From, To: day(a.site.Now, 0, "").From, Label: a.f("in the last 7 whole days")}
		a.q.When = &week
		if a.q.Op == understand.Average {
			a.q.By = ""
		}
	}
	if y, m, d := a.site.Now.Date(); a.q.When == nil && (a.q.By == "week" || a.q.By == "month") {
		from := time.Date(y, m, d-28-(int(a.site.Now.Weekday())+6)%7, 0, 0, 0, 0, a.site.Now.Location())
		if a.q.By == "month" {
			from = time.Date(y, m-3, 1, 0, 0, 0, 0, a.site.Now.Location())
		}
		a.q.When = &understand.Span{From: from, To: a.site.Now, Label: a.f("since %s", a.date(from, "2 January"))}
	}
	switch {
	case a.q.Is(understand.Future):
		return answer{text: a.f("I do not know: that has not happened yet, and I make no forecasts. I can tell what was measured up to now.")}, nil
	case a.q.Op == understand.Why:
		return a.why(a.energy)
	case a.q.Op == understand.Trend:
		return a.trend()
	case a.q.Op == understand.Usual:
		return a.usual()
	case a.q.Op == understand.PerUnit:
		return a.perUnit()
	case a.q.Op == understand.Sum && len(a.q.Mentioned()) > 1:
		return a.together()
	case a.cond(understand.WattHour) != nil:
		return a.bounded(*a.cond(understand.WattHour))
	case a.q.Op == understand.Compare && a.q.Against == nil && len(a.q.Mentioned()) < 2:
		earlier := understand.Before(a.span())
		a.q.Against = &earlier
		return a.comparePeriods()
	case (a.q.Op == understand.Compare || a.q.Op == understand.Difference) && a.q.Against == nil && len(a.q.Mentioned()) > 1:
		return a.comparePlaces()
	case a.q.Op == understand.Difference && a.q.Against == nil:
		return answer{text: a.f("The difference between what and what? Name two places or two times.")}, nil
	case a.q.Against != nil:
		return a.comparePeriods()
	case a.slotted():
		return a.energySlots()
	case a.q.By != "" || a.q.Op == understand.Most || a.q.Op == understand.Least:
		return a.rankEnergy()
	}
	span := a.span()
	if groups := a.q.Mentioned(); a.q.Op == understand.Share && len(groups) == 2 {
		part, whole := a.scopeIn(groups[0]), a.scopeIn(groups[1])
		if len(part.Zones) > len(whole.Zones) {
			part, whole = whole, part // "what share of the ground floor was the lobby's"
		}
		return a.shareOf(part, whole, span)
	}
	e, err := a.site.EnergyOf(a.ctx, a.scope, span.From, span.To)
	if err != nil {
		return answer{}, err
	}
	if !e.Known() {
		return answer{a.noEnergy(e, span), e}, nil
	}
	text := a.f("%s used %s %s.", upper(a.where()), wattHours(e.WattHours), a.period(span))
	if len(e.Missing) > 0 {
		text = a.f("What is measured of %s used %s %s.", a.where(), wattHours(e.WattHours), a.period(span))
	}
	if a.q.Op == understand.Average {
		text = a.averageEnergy(e, span) + " " + text
	}
	if a.q.Op == understand.Share && !a.scope.Whole() {
		all, err := a.site.EnergyOf(a.ctx, facts.Scope{}, span.From, span.To)
		if err != nil {
			return answer{}, err
		}
		if all.Known() && all.WattHours > 0 {
			text += a.f(" That is %s of the %s measured in the whole building.", percent(100*e.WattHours/all.WattHours), wattHours(all.WattHours))
		}
	}
	return answer{sentences(text, a.parts(e), a.gaps(e, span), a.uncovered(e), a.basis(e.Basis)), e}, nil
}

// slotted reports whether figures are asked for time by time.
func (a *asked) slotted() bool {
	return a.q.By == "hour" || a.q.By == "day" || a.q.By == "week" || a.q.By == "month"
}

// shareOf tells which part of one place's energy another needed: "the canteen's share of the ground floor".
func (a *asked) shareOf(part, whole facts.Scope, span understand.Span) (answer, error) {
	var used [2]facts.Energy
	for i, scope := range []facts.Scope{part, whole} {
		e, err := a.site.EnergyOf(a.ctx, scope, span.From, span.To)
		if err != nil {
			return answer{}, err
		}
		if a.scope = scope; !e.Known() {
			return answer{a.noEnergy(e, span), e}, nil
		}
		used[i] = e
	}
	text := a.f("%s used %s %s and %s %s", upper(part.Label), wattHours(used[0].WattHours), a.period(span), whole.Label, wattHours(used[1].WattHours))
	if used[1].WattHours > 0 {
		text += a.f(": %s of it", percent(100*used[0].WattHours/used[1].WattHours))
	}
	return answer{sentences(text+".", a.unlike(used[0], used[1]), a.uncovered(used[0]), a.uncovered(used[1]), a.basis(used[0].Basis)), used}, nil
}

// averageEnergy words the mean power, and the mean of a day where the period has several.
func (a *asked) averageEnergy(e facts.Energy, span understand.Span) string {
	mean, _ := e.Mean()
	text := a.f("On average %s drew %s", a.where(), watts(mean))
	if e.To.Sub(e.From) >= 48*time.Hour {
		text += a.f(", which is %s in 24 hours", wattHours(mean*24))
	}
	return text + "."
}

// parts lists the meters where there are several, or tells the only one.
func (a *asked) parts(e facts.Energy) string {
	if len(e.Parts) == 1 {
		m := e.Parts[0].Meter
		return a.f("Meter: %s.", quoted(m.Name)+covers(m))
	}
	var list []string
	for _, p := range e.Parts {
		figure := wattHours(p.WattHours)
		if p.Measured == 0 {
			figure = a.f("not measured")
		}
		list = append(list, label(p.Meter.Name)+" "+figure)
	}
	text := a.f("By meter: %s.", strings.Join(list, ", "))
	if e.Unassigned {
		text += a.f(" Nobody entered what these meters cover, so their sum may count something twice or leave something out.")
	}
	return text
}

func covers(m facts.Meter) string {
	if m.Covers == "" {
		return ""
	}
	return " (" + label(m.Covers) + ")"
}

// gaps tells which part of the period was not measured.
func (a *asked) gaps(e facts.Energy, span understand.Span) string {
	whole := e.To.Sub(e.From)
	if a.partOf(e) == "" {
		return ""
	}
	long := func(d time.Duration) string { return lengthIn(a.q.Lang, d) }
	text := a.f("It was measured for %s of %s; the other %s are not measured and not in this figure", long(time.Duration(e.Measured)), long(whole), long(time.Duration(e.Gap)))
	if first := since(e); first.After(e.From) {
		text += a.f(" (the first sample came at %s)", momentIn(a.q.Lang, first, a.site.Now))
	}
	return text + "."
}

// since is when the last of the meters began.
func since(e facts.Energy) time.Time {
	var latest time.Time
	for _, p := range e.Parts {
		if p.Since.After(latest) {
			latest = p.Since
		}
	}
	return latest
}

// uncovered tells what no meter of its own measures.
func (a *asked) uncovered(e facts.Energy) string {
	if len(e.Missing) == 0 {
		return ""
	}
	var names []string
	for _, z := range e.Missing {
		names = append(names, label(a.site.ZoneName(z)))
	}
	return a.f("Not measured and not in it: %s.", a.some(names, 8))
}

// noEnergy says why there is no figure.
func (a *asked) noEnergy(e facts.Energy, span understand.Span) string {
	if len(e.Meters) > 0 {
		text := a.f("I do not know: nothing was measured for %s %s.", a.where(), a.period(span))
		switch first := since(e); {
		case first.IsZero():
			text += a.f(" No sample of %s has arrived yet.", a.meterNames(e.Meters))
		case first.After(e.From):
			text += a.f(" The first sample of %s came at %s.", a.meterNames(e.Meters), momentIn(a.q.Lang, first, a.site.Now))
		default:
			text += a.f(" No samples of %s arrived in that time.", a.meterNames(e.Meters))
		}
		return sentences(text, a.uncovered(e), strings.TrimSpace(awayIn(a.q.Lang, e.Basis, a.site.Now)))
	}
	text := a.f("That is not measured: no meter measures %s on its own.", a.where())
	if a.scope.Whole() {
		text = a.f("That is not measured: no meter is known in %s.", quoted(a.site.Name()))
	}
	for _, m := range e.Shared {
		zones := a.f("the whole building")
		if !m.Whole {
			zones = a.zoneNames(m.Zones)
		}
		text += a.f(" Meter %s measures it together with others: %s; ask for that meter to get its figure.", quoted(m.Name), zones)
	}
	return sentences(text, a.offerEstimate())
}

func (a *asked) zoneNames(ids []int64) string {
	var names []string
	for _, id := range ids {
		names = append(names, label(a.site.ZoneName(id)))
	}
	return a.some(names, 8)
}

func (a *asked) meterNames(meters []facts.Meter) string {
	var names []string
	for _, m := range meters {
		names = append(names, quoted(m.Name))
	}
	return a.f("meter %s", a.some(names, 4))
}

// comparePeriods sets two periods against each other, like with like where one is not over.
func (a *asked) comparePeriods() (answer, error) {
	when, against := a.span(), *a.q.Against
	first, err := a.site.EnergyOf(a.ctx, a.scope, when.From, when.To)
	if err != nil {
		return answer{}, err
	}
	second, err := a.site.EnergyOf(a.ctx, a.scope, against.From, against.To)
	if err != nil {
		return answer{}, err
	}
	data := map[string]any{"first": first, "second": second}
	if !first.Known() {
		return answer{a.noEnergy(first, when), data}, nil
	}
	if !second.Known() {
		return answer{sentences(a.f("%s used %s %s, but I cannot compare it.", upper(a.where()), wattHours(first.WattHours), a.period(when)),
			a.noEnergy(second, against), a.basis(first.Basis)), data}, nil
	}
	text := a.f("%s used %s %s and %s %s:", upper(a.where()), wattHours(first.WattHours), a.period(when), wattHours(second.WattHours), a.period(against))
	// Older figures are kept by the quarter of an hour, so the point up to which both are compared is a whole one.
	if elapsed := a.site.Now.Truncate(15 * time.Minute).Sub(when.From); when.To.After(a.site.Now) && elapsed > 0 && against.From.Add(elapsed).Before(against.To) {
		until, err := a.site.EnergyOf(a.ctx, a.scope, when.From, when.From.Add(elapsed))
		if err != nil {
			return answer{}, err
		}
		alike, err := a.site.EnergyOf(a.ctx, a.scope, against.From, against.From.Add(elapsed))
		if err != nil {
			return answer{}, err
		}
		data["firstAlike"], data["secondAlike"] = until, alike
		text += a.f(" in the first %s of each it was %s against %s, so it is %s.", lengthIn(a.q.Lang, elapsed), wattHours(until.WattHours), wattHours(alike.WattHours), a.difference(until.WattHours, alike.WattHours))
		return answer{sentences(text, a.unlike(until, alike), a.uncovered(first), a.basis(first.Basis)), data}, nil
	}
	text += " " + a.difference(first.WattHours, second.WattHours) + "."
	return answer{sentences(text, a.unlike(first, second), a.uncovered(first), a.basis(first.Basis)), data}, nil
}

// difference words how much more or less first is than second.
func (a *asked) difference(first, second float64) string {
	d := first - second
	share := ""
	if second > 0 {
		share = fmt.Sprintf(" (%.0f %%)", math.Abs(d)/second*100)
	}
	switch {
	case math.Abs(d) < 0.5:
		return a.f("the same")
	case d > 0:
		return a.f("%s more", wattHours(d)) + share
	}
	return a.f("%s less", wattHours(-d)) + share
}

// unlike warns where the periods were not measured to the same extent.
func (a *asked) unlike(first, second facts.Energy) string {
	part := func(e facts.Energy) float64 {
		whole := e.To.Sub(e.From)
		if whole <= 0 {
			return 1
		}
		return min(1, float64(e.Measured)/float64(whole))
	}
	one, two := part(first), part(second)
	if one > 0.98 && two > 0.98 {
		return ""
	}
	return a.f("Careful: the first was measured for %.0f %% of its time, the second for %.0f %%; what was not measured is in neither.", one*100, two*100)
}

// partOf words how much of the period was measured; empty if all of it was.
func (a *asked) partOf(e facts.Energy) string {
	whole := e.To.Sub(e.From)
	if gap := time.Duration(e.Gap); gap < 2*time.Minute || gap < whole/100 {
		return ""
	}
	return a.f("%s of %s", lengthIn(a.q.Lang, time.Duration(e.Measured)), lengthIn(a.q.Lang, whole))
}

// comparePlaces sets places against each other.
func (a *asked) comparePlaces() (answer, error) {
	span := a.span()
	var all []facts.Energy
	var lines, unknown []string
	for _, places := range a.q.Mentioned() {
		scope := a.scopeIn(places)
		e, err := a.site.EnergyOf(a.ctx, scope, span.From, span.To)
		if err != nil {
			return answer{}, err
		}
		if !e.Known() || len(e.Missing) > 0 {
			unknown = append(unknown, scope.Label)
			continue
		}
		all = append(all, e)
	}
	slices.SortStableFunc(all, func(x, y facts.Energy) int { return cmp.Compare(y.WattHours, x.WattHours) })
	for _, e := range all {
		line := e.Scope.Label + " " + wattHours(e.WattHours)
		if part := a.partOf(e); part != "" {
			line += a.f(" (measured for %s only)", part)
		}
		lines = append(lines, line)
	}
	text := ""
	if len(all) > 0 {
		text = upper(a.period(span)) + ": " + a.list(lines) + "."
	}
	if len(all) == 2 {
		text += a.f(" %s used %s than %s.", all[0].Scope.Label, a.difference(all[0].WattHours, all[1].WattHours), all[1].Scope.Label)
	}
	if len(unknown) > 0 {
		text = sentences(text, a.f("Not measured on its own: %s.", a.list(unknown)))
	}
	if len(all) == 0 {
		return answer{text, nil}, nil
	}
	return answer{sentences(text, a.basis(all[0].Basis)), all}, nil
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
		text := a.slot(s.Start, a.q.By) + " " + wattHours(s.WattHours)
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
	text := a.f("%s by %s, %s: %s. Together %s.", upper(a.where()), a.noun(a.q.By), a.period(span), strings.Join(lines, ", "), wattHours(e.WattHours))
	if mean, ok := e.Mean(); ok && a.q.Op == understand.Average {
		hours := map[string]float64{"hour": 1, "day": 24, "week": 168, "month": 720}[a.q.By]
		text = a.f("On average %s used %s in %.0f h of what was measured. ", a.where(), wattHours(mean*hours), hours) + text
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
		b = e.Basis
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
		line := r.Label + " " + wattHours(r.WattHours)
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
			lines = append(lines, a.f("%s %s (%s)", label(m.Name), wattHours(e.WattHours), a.zoneNames(m.Zones)))
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

// basis words what an answer rests on; nothing where there was no figure.
func (a *asked) basis(b facts.Basis) string {
	if b.Controller == "" {
		return ""
	}
	return basis(a.q.Lang, b, a.site.Now)
}
