package assistant

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

var _ platform.Reader = (*Assistant)(nil)

// Look implements [platform.Reader].
func (e *Assistant) Look(ctx context.Context, in platform.Lookup) (platform.Found, error) {
	l, err := e.lookAt(ctx, in.Site)
	if err != nil {
		return platform.Found{}, err
	}
	l.in = in
	if l.scope, err = l.place(in.Place); err != nil {
		return platform.Found{}, err
	}
	switch in.What {
	case platform.LookPlaces:
		return l.places()
	case platform.LookLights:
		return l.lights()
	case platform.LookShades:
		return l.shades()
	case platform.LookMeters:
		return l.meters()
	case platform.LookEnergy:
		return l.energy(ctx)
	case platform.LookFaults:
		return l.faults(ctx)
	case platform.LookAbilities:
		return l.abilities(e.Act != nil && in.Control), nil
	}
	return platform.Found{}, platform.Invalid("%q cannot be looked up", in.What)
}

// lookup is a typed question to one site while it is answered.
type lookup struct {
	in    platform.Lookup
	site  *facts.Site
	scope facts.Scope
}

// lookAt finds a site by ID or name; an empty one is the only one there is.
func (e *Assistant) lookAt(ctx context.Context, name string) (*lookup, error) {
	all, err := e.Sites.Controllers(ctx)
	if err != nil {
		return nil, fmt.Errorf("list controllers: %w", err)
	}
	chosen, err := choose(all, &work{in: platform.Inquiry{Site: name}})
	switch {
	case err != nil:
		return nil, err
	case len(chosen) == 0:
		return nil, platform.Invalid("no site reports to this platform yet")
	case len(chosen) > 1:
		return nil, platform.Invalid("say which site: %s", sitesOf(chosen))
	}
	site, err := facts.Look(ctx, e.Sites, chosen[0], e.Now())
	if err != nil {
		return nil, err
	}
	return &lookup{site: site}, nil
}

// sitesOf names sites for whoever named none of them.
func sitesOf(all []platform.Controller) string {
	var names []string
	for _, c := range titled(all) {
		names = append(names, label(c.Title)+" ("+c.ID+")")
	}
	return some(names, 20)
}

// place is the scope of a name, or an error that says what there is.
func (l *lookup) place(name string) (facts.Scope, error) {
	if name == "" {
		return facts.Scope{}, nil
	}
	places, err := l.named(name)
	return scopeIn(l.site, places), err
}

// named are the places of a name, which is the whole one, or, if there is none, as people say it.
func (l *lookup) named(name string) ([]understand.Place, error) {
	_, by := placesByName(l.site, math.MaxInt)
	if places := by[label(name)]; places != nil {
		return places, nil
	}
	places, whole := understand.Find(name, names(l.site))
	if len(places) == 0 && !whole {
		a := &asked{site: l.site}
		return nil, platform.Invalid("nothing is called “%s” in “%s”. %s", clip(name, 100), label(l.site.Name()), a.around())
	}
	return places, nil
}

func (l *lookup) ref() platform.SiteRef {
	c := l.site.Controller
	return platform.SiteRef{ID: c.ID, Name: label(l.site.Name()), Online: c.Online, LastSeen: c.LastSeen, Now: l.site.Now.Truncate(time.Second)}
}

// in is where, for a sentence.
func (l *lookup) where() string {
	if l.scope.Label == "" {
		return quoted(l.site.Name())
	}
	return quoted(l.scope.Label)
}

// page cuts the rows that the question wants out of all of them.
func page[T any](l *lookup, all []T, notes ...string) (platform.Page[T], error) {
	p := platform.Page[T]{Site: l.ref(), Total: len(all), Items: []T{}, Notes: slices.DeleteFunc(notes, func(n string) bool { return n == "" })}
	limit, from := l.in.Limit, 0
	switch {
	case limit == 0:
		limit = platform.PageDefault
	case limit < 0 || limit > platform.PageMost:
		return p, platform.Invalid("limit is from 1 to %d", platform.PageMost)
	}
	if l.in.Cursor != "" {
		n, err := strconv.Atoi(l.in.Cursor)
		if err != nil || n < 0 || n > len(all) {
			return p, platform.Invalid("cursor is none of an answer's next, or fewer rows are left since; begin again without")
		}
		from = n
	}
	end := min(len(all), from+limit)
	p.Items = append(p.Items, all[from:end]...)
	if end < len(all) {
		p.Next = strconv.Itoa(end)
	}
	return p, nil
}

// summed words a page: how many rows of how many, and where the others are.
func summed[T any](what string, p platform.Page[T]) platform.Found {
	text := what
	if len(p.Items) < p.Total {
		text += fmt.Sprintf(" %s of them are here", count(len(p.Items), "row"))
		if p.Next != "" {
			text += fmt.Sprintf("; cursor %q has more", p.Next)
		}
		text += "."
	}
	return platform.Found{Text: sentences(append([]string{text}, p.Notes...)...), Data: p}
}

// state refuses what the rows do not have.
func (l *lookup) state(known ...string) error {
	if l.in.State != "" && !slices.Contains(known, l.in.State) {
		return platform.Invalid("state %q is not one of %s", clip(l.in.State, 50), strings.Join(known, ", "))
	}
	return nil
}

func (l *lookup) offline() string {
	if l.site.Controller.Online {
		return ""
	}
	return "The controller is offline: nothing newer is known."
}

func (l *lookup) zoneNames(ids []int64) []string {
	out := []string{}
	for _, id := range ids {
		out = append(out, label(l.site.ZoneName(id)))
	}
	return out
}

// read is how a reading of a device came about.
func (l *lookup) read(d platform.Device, r *platform.Reading) platform.Read {
	out := platform.Read{Condition: string(l.site.Judge(d, r))}
	if r != nil {
		out.At, out.Source = new(r.At.In(l.site.Now.Location()).Truncate(time.Second)), r.Source
	}
	return out
}

func value(r *platform.Reading) *float64 {
	if r == nil {
		return nil
	}
	return rounded(r.Value)
}

// rounded to a tenth: what lies below is noise of a mean or a meter.
func rounded(v float64) *float64 { return new(math.Round(v*10) / 10) }

func (l *lookup) places() (platform.Found, error) {
	if err := l.state("zone", "floor"); err != nil {
		return platform.Found{}, err
	}
	var rows []platform.PlaceRow
	add := func(row platform.PlaceRow, scope facts.Scope) {
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
	if err := l.sorted(rows); err != nil {
		return platform.Found{}, err
	}
	p, err := page(l, rows, l.offline())
	return summed(count(len(rows), "place")+" in "+l.where()+".", p), err
}

// sorted puts places in order by how bright they are; those of which nothing is known come last.
func (l *lookup) sorted(rows []platform.PlaceRow) error {
	sign := map[string]float64{"brightest": -1, "dimmest": 1}[l.in.Sort]
	if sign == 0 {
		if l.in.Sort != "" {
			return platform.Invalid("sort %q is not one of brightest, dimmest", clip(l.in.Sort, 50))
		}
		return nil
	}
	key := func(r platform.PlaceRow) float64 {
		if r.MeanLevel == nil {
			return math.Inf(1)
		}
		return sign * *r.MeanLevel
	}
	slices.SortStableFunc(rows, func(a, b platform.PlaceRow) int { return cmp.Compare(key(a), key(b)) })
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
	text := fmt.Sprintf("%s used %s from %s to %s.", upper(l.where()), wattHours(e.WattHours), moment(e.From, l.site.Now), moment(e.To, l.site.Now))
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
	f, err := l.site.FaultsOf(ctx, l.scope, from, to)
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
		NotMeasured: slices.Clone(notMeasured), NotKept: []string{"levels of lights", "positions of shades"}, Orders: []string{}}
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
	may2 := "This key may not order."
	if may {
		may2 = "This key may order, zone by zone, after a preview."
	}
	return platform.Found{Text: fmt.Sprintf("%s has %s, %s and %s. Not measured: %s. %s", upper(l.where()), count(a.Lights["installed"], "light"), count(a.Shades["installed"], "shade"), count(a.Meters, "meter"), list(a.NotMeasured), may2), Data: a}
}
