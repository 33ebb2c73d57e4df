package assistant

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
)

func (l *lookup) meters() (platform.Found, error) {
	var rows []platform.MeterRow
	for _, m := range l.site.MeteringOf(l.scope).Meters {
		row := platform.MeterRow{ID: m.Node, Name: label(m.Name), Covers: label(m.Covers), Zones: l.zoneNames(m.Zones), Read: platform.Read{Condition: string(facts.Unknown)}}
		for _, d := range l.site.Devices {
			if d.ID == m.Node && d.Kind != platform.KindShade {
				row.Watts, row.Read = value(d.Power), l.read(d, d.Power)
			}
		}
		rows = append(rows, row)
	}
	p, err := page(l, rows, l.unmetered(), l.offline())
	return summed(fmt.Sprintf("%s for %s, counting nothing twice.", count(len(rows), "meter"), l.where()), p), err
}

// unmetered names zones of the place without a meter of their own.
func (l *lookup) unmetered() string {
	m := l.site.MeteringOf(l.scope)
	switch {
	case m.Unassigned:
		return "Nobody entered what the meters measure, so their sum is not known to be the building's."
	case len(m.Missing) == 0:
		return ""
	}
	return "Not measured, or only together with others: " + some(l.zoneNames(m.Missing), 12) + "."
}

func (l *lookup) energy(ctx context.Context) (platform.Found, error) {
	location := l.site.Now.Location()
	span := day(l.site.Now, 0, "today")
	from, to := span.From, span.To
	if p := l.in.Period; p != nil {
		from, to = p.Start.In(location), p.End.In(location)
	}
	to = earlier(to, l.site.Now)
	if !from.Before(to) {
		return platform.Found{}, platform.Invalid("timeRange has not begun yet, and nothing is forecast")
	}
	e, err := l.site.EnergyOf(ctx, l.scope, from, to)
	if err != nil {
		return platform.Found{}, err
	}
	row := func(meter string, from, to time.Time, wh float64, measured facts.Duration) platform.EnergyRow {
		r := platform.EnergyRow{Meter: meter, From: from, To: to, MeasuredSeconds: math.Round(time.Duration(measured).Seconds())}
		if measured > 0 {
			r.KWh = new(math.Round(wh) / 1000)
		}
		return r
	}
	var rows []platform.EnergyRow
	switch l.in.By {
	case "":
		rows = append(rows, row("", e.From, e.To, e.WattHours, e.Measured))
	case "meter":
		for _, part := range e.Parts {
			rows = append(rows, row(label(part.Meter.Name), e.From, e.To, part.WattHours, part.Measured))
		}
	case "hour", "day":
		for _, s := range e.By(l.in.By, location) {
			rows = append(rows, row("", s.Start, earlier(s.Start.Add(time.Duration(s.Length)), l.site.Now), s.WattHours, s.Measured))
		}
	default:
		return platform.Found{}, platform.Invalid("by %q is not one of meter, hour, day", clip(l.in.By, 50))
	}
	text := fmt.Sprintf("%s used %s from %s to %s.", upper(l.where()), (&asked{}).wattHours(e.WattHours), moment(e.From, l.site.Now), moment(e.To, l.site.Now))
	if !e.Known() {
		text = fmt.Sprintf("Nothing was measured for %s in that time.", l.where())
	}
	gap := ""
	if e.Known() && time.Duration(e.Gap) > time.Minute {
		gap = "Of the time " + length(time.Duration(e.Gap)) + " were not measured, and are not in the figure."
	}
	p, err := page(l, rows, gap, l.unmetered(), l.offline())
	return summed(text, p), err
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func (l *lookup) faults(ctx context.Context) (platform.Found, error) {
	if err := l.state("present", "past"); err != nil {
		return platform.Found{}, err
	}
	var from, to time.Time
	if p := l.in.Period; p != nil {
		from, to = p.Start, p.End
	}
	f, err := l.site.FaultsOf(ctx, l.scope, "", from, to)
	if err != nil {
		return platform.Found{}, err
	}
	reach, err := l.site.ReachOf(ctx, l.scope, "", from, to)
	if err != nil {
		return platform.Found{}, err
	}
	at := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		return new(t.In(l.site.Now.Location()).Truncate(time.Second))
	}
	var rows []platform.FaultRow
	present := 0
	add := func(one facts.Fault, now bool) {
		if now {
			present++
		}
		if l.in.State == "" || (l.in.State == "present") == now {
			rows = append(rows, platform.FaultRow{Kind: one.Kind, ID: one.ID, Name: label(one.Name), Message: reason(one.Message), Severity: one.Severity, Present: now, Since: at(one.Since), Until: at(one.Until)})
		}
	}
	for _, one := range f.Present {
		add(one, true)
	}
	for _, t := range reach.Away {
		kind := "node"
		if slices.ContainsFunc(l.site.Devices, func(d platform.Device) bool { return d.ID == t.ID && d.Kind == platform.KindShade }) {
			kind = "shade"
		}
		add(facts.Fault{Kind: kind, ID: t.ID, Name: t.Name, Message: "does not answer", Severity: "fault", Since: t.LastSeen}, true)
	}
	for _, one := range slices.Concat(f.Past, reach.Outages) {
		if !one.Until.IsZero() {
			add(one, false)
		}
	}
	p, err := page(l, rows, l.offline())
	return summed(fmt.Sprintf("%s in %s now, what does not answer among them.", count(present, "fault"), l.where()), p), err
}

func (l *lookup) abilities(may bool) platform.Found {
	a := platform.Abilities{Site: l.ref(), Lights: map[string]int{}, Shades: map[string]int{}, Meters: len(l.site.Meters()), MayOrder: may,
		NotMeasured: slices.Clone(notMeasured), NotKept: []string{"levels of lights while they are on", "positions of shades between open and closed"}, Orders: []string{}}
	if may {
		a.Orders = slices.Clone(formDos[1:])
	}
	for _, d := range l.site.Devices {
		of := map[string]map[string]int{platform.KindLight: a.Lights, platform.KindShade: a.Shades}[facts.Kind(d)]
		if of == nil {
			continue
		}
		of["installed"]++
		for _, ability := range d.Abilities {
			of[ability]++
		}
	}
	orders := "This key may not order."
	if may {
		orders = "This key may order, zone by zone, after a preview."
	}
	return platform.Found{Text: fmt.Sprintf("%s has %s, %s and %s. Not measured: %s. %s", upper(l.where()), count(a.Lights["installed"], "light"), count(a.Shades["installed"], "shade"), count(a.Meters, "meter"), list(a.NotMeasured), orders), Data: a}
}
