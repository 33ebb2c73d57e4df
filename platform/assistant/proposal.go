package assistant

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// What proposals assume where nobody said otherwise; every proposal that uses one names it.
const (
	assumedPrice    = 0.25 // per kWh
	assumedCurrency = "EUR"
	nightFrom       = 22 // hour
	nightTo         = 6
	dimTo           = 80.0 // percent: most people do not notice the last fifth
	enoughNight     = 2 * time.Hour
	told            = 8 // proposals that are put into words
)

// Proposal is one thing that could be done, with its arithmetic.
type Proposal struct {
	Rank    int     `json:"rank"`
	Title   string  `json:"title"`
	Zones   []int64 `json:"zones,omitempty"`
	Comfort string  `json:"comfortEffect"`
	// Savings of a week; nil where the site's data does not tell them.
	KWh         *float64 `json:"kWhPerWeek"`
	Cost        *float64 `json:"costPerWeek"`
	Currency    string   `json:"currency,omitempty"`
	Arithmetic  []string `json:"arithmetic"`
	Assumptions []string `json:"assumptions"`

	comfort int // points: above zero is better for people, below is worse
}

// Proposals are ranked.
type Proposals struct {
	Site     string          `json:"site"`
	Target   platform.Target `json:"target"`
	From     time.Time       `json:"from"`
	To       time.Time       `json:"to"`
	Measured facts.Duration  `json:"measuredSeconds"` // of the period, by the meter that covers least
	Ranked   []Proposal      `json:"proposals"`
	Notes    []string        `json:"notes,omitempty"` // what could not be looked at, and why
}

// proposals looks for what could be done at a site.
func (a *asked) proposals(wish platform.Wish) (*Proposals, error) {
	span := understand.Span{From: a.site.Now.AddDate(0, 0, -7), To: a.site.Now}
	if wish.Period != nil {
		span.From, span.To = wish.Period.Start, wish.Period.End
	}
	p := &Proposals{Site: a.site.Name(), Target: wish.Target, From: span.From, To: span.To}
	if p.To.After(a.site.Now) {
		p.To = a.site.Now
	}
	price, currency, about := a.tariff(wish)
	spare := a.spared(wish)
	meters := a.site.MeteringOf(facts.Scope{})
	if len(meters.Meters) == 0 {
		p.Notes = append(p.Notes, a.f("No meter is known, so no saving can be told in kWh."))
	}
	for i, m := range meters.Meters {
		e, err := a.site.EnergyOf(a.ctx, facts.Scope{Label: m.Name, Devices: []int64{m.Node}}, span.From, span.To)
		if err != nil {
			return nil, err
		}
		if i == 0 || e.Measured < p.Measured {
			p.Measured = e.Measured
		}
		if !e.Known() {
			p.Notes = append(p.Notes, a.f("Meter %s has no samples in the period.", quoted(m.Name)))
			continue
		}
		p.Ranked = append(p.Ranked, a.idle(m, e)...)
		if one, ok := a.dim(m, e, wish, spare); ok {
			p.Ranked = append(p.Ranked, one)
		}
	}
	if len(meters.Missing) > 0 {
		p.Notes = append(p.Notes, a.f("No meter covers %s.", a.zoneNames(meters.Missing)))
	}
	p.Ranked = append(p.Ranked, a.uneven(spare)...)
	p.Ranked = append(p.Ranked, a.daylight(spare)...)
	p.Ranked = append(p.Ranked, a.repairs()...)
	for _, name := range wish.Unknown {
		p.Notes = append(p.Notes, a.f("The constraint %s means nothing to me and was not considered.", quoted(name)))
	}
	for i := range p.Ranked {
		if one := &p.Ranked[i]; one.KWh != nil {
			c := *one.KWh * price
			one.Cost, one.Currency = &c, currency
			one.Arithmetic = append(one.Arithmetic, a.f("%.2f kWh × %.4g %s/kWh = %.2f %s a week", *one.KWh, price, currency, c, currency))
			one.Assumptions = append(one.Assumptions, about)
		}
	}
	p.rank()
	return p, nil
}

// tariff is the price to calculate with, and a sentence about where it comes from.
func (a *asked) tariff(wish platform.Wish) (price float64, currency, told string) {
	switch {
	case wish.PricePerKWh > 0:
		currency = cmp.Or(wish.Currency, a.price.Currency, assumedCurrency)
		return wish.PricePerKWh, currency, a.f("%.4g %s per kWh, as the asker says", wish.PricePerKWh, currency)
	case a.price.PerKWh > 0:
		return a.price.PerKWh, a.price.Currency, a.f("%.4g %s per kWh, the tariff entered for this platform", a.price.PerKWh, a.price.Currency)
	}
	return assumedPrice, assumedCurrency, a.f("%.4g %s per kWh is assumed, nobody entered a tariff; give constraints.pricePerKWh", assumedPrice, assumedCurrency)
}

// spared are the zones that the asker wants left alone.
func (a *asked) spared(wish platform.Wish) map[int64]bool {
	spare := map[int64]bool{}
	for _, name := range wish.Zones {
		for _, z := range a.site.Zones {
			if strings.EqualFold(z.Name, name) || fmt.Sprint(z.ID) == name {
				spare[z.ID] = true
			}
		}
	}
	return spare
}

// idle compares what a meter shows at night and at weekends with the least it ever showed.
func (a *asked) idle(m facts.Meter, e facts.Energy) []Proposal {
	here := a.site.Now.Location()
	low, ok := e.Base(here)
	if !ok {
		return nil
	}
	var night, weekend facts.Slot
	for _, s := range e.By("hour", here) {
		isNight := s.Start.Hour() >= nightFrom || s.Start.Hour() < nightTo
		isWeekend := s.Start.Weekday() == time.Saturday || s.Start.Weekday() == time.Sunday
		into := &night
		switch {
		case isNight:
		case isWeekend:
			into = &weekend
		default:
			continue
		}
		into.WattHours += s.WattHours
		into.Measured += s.Measured
	}
	var out []Proposal
	for _, one := range []struct {
		what  string
		slot  facts.Slot
		hours float64 // of a week
	}{{a.f("at night (22:00 to 06:00)"), night, 56}, {a.f("on weekend days (06:00 to 22:00)"), weekend, 32}} {
		excess := one.slot.Watts() - low.Watts()
		if time.Duration(one.slot.Measured) < enoughNight || excess < 5 {
			continue
		}
		kwh := excess * one.hours / 1000
		out = append(out, Proposal{
			Title: a.f("Switch off what runs %s behind meter %s", one.what, quoted(m.Name)), Zones: m.Zones, KWh: &kwh,
			Comfort: a.f("none while nobody is there; whoever comes switches on"), comfort: 0,
			Arithmetic: []string{
				a.f("mean power %s: %s over %s measured", one.what, a.watts(one.slot.Watts()), lengthIn(a.q.Lang, time.Duration(one.slot.Measured))),
				a.f("least power in the period: %s (quarter of an hour from %s)", a.watts(low.Watts()), momentIn(a.q.Lang, low.Start, a.site.Now)),
				a.f("(%.0f W − %.0f W) × %.0f h a week = %.2f kWh", one.slot.Watts(), low.Watts(), one.hours, kwh),
			},
			Assumptions: []string{a.f("what could once be off can be off in all these hours"), a.f("a week like the measured one; occupancy is not measured")},
		})
	}
	return out
}

// dim proposes a lower level where all lights behind a meter are brighter than dimTo.
func (a *asked) dim(m facts.Meter, e facts.Energy, wish platform.Wish, spare map[int64]bool) (Proposal, bool) {
	zones := slices.DeleteFunc(slices.Clone(m.Zones), func(z int64) bool { return spare[z] })
	if m.Whole {
		for _, z := range a.site.Zones {
			if !spare[z.ID] {
				zones = append(zones, z.ID)
			}
		}
	}
	goal := max(dimTo, wish.MinLevel)
	lit := a.site.Levels(facts.Scope{Zones: zones}).Where(facts.Current, func(t facts.Thing) bool { return *t.Value > 0 })
	low, ok := e.Base(a.site.Now.Location())
	if len(zones) == 0 || len(lit) == 0 || !ok || len(zones) < len(m.Zones) {
		return Proposal{}, false
	}
	sum, lower := 0.0, 0.0
	for _, t := range lit {
		sum += *t.Value
		lower += min(*t.Value, goal)
	}
	part := 1 - lower/sum
	mean, _ := e.Mean()
	if part < 0.02 || mean <= low.Watts() {
		return Proposal{}, false
	}
	kwh := (mean - low.Watts()) * 168 / 1000 * part
	return Proposal{
		Title: a.f("Let no light behind meter %s be brighter than %.0f %%", quoted(m.Name), goal), Zones: zones, KWh: &kwh,
		Comfort: a.f("slightly darker: %s from a mean of %.0f %% to %.0f %%", a.count(len(lit), "light"), sum/float64(len(lit)), lower/float64(len(lit))), comfort: -1,
		Arithmetic: []string{
			a.f("mean power above the least: %.0f W − %.0f W = %.0f W", mean, low.Watts(), mean-low.Watts()),
			a.f("levels of the lights that are on now, %.0f in sum, would become %.0f: %.1f %% less", sum, lower, part*100),
			a.f("%.0f W × 168 h × %.3f = %.2f kWh a week", mean-low.Watts(), part, kwh),
		},
		Assumptions: []string{a.f("power follows the level"), a.f("what is drawn above the least is light"), a.f("the levels of now are typical")},
	}, true
}

// uneven proposes one colour temperature where lights of a zone differ.
func (a *asked) uneven(spare map[int64]bool) []Proposal {
	var out []Proposal
	for _, z := range a.site.Zones {
		t := a.site.Kelvins(a.site.ZoneScope(z.ID)).Where(facts.Current, nil)
		if spare[z.ID] || len(t) < 2 {
			continue
		}
		low, high := *t[0].Value, *t[0].Value
		for _, one := range t {
			low, high = min(low, *one.Value), max(high, *one.Value)
		}
		if high-low < 300 {
			continue
		}
		out = append(out, Proposal{Title: a.f("Give all lights of %s one colour temperature", label(z.Name)), Zones: []int64{z.ID},
			Comfort: a.f("better: the room looks of one piece"), comfort: 2,
			Arithmetic:  []string{a.f("%.0f K to %.0f K now, a difference of %.0f K", low, high, high-low)},
			Assumptions: []string{a.f("the difference is not intended")}})
	}
	return out
}

// daylight proposes to open shades where lights are bright by day behind closed ones.
func (a *asked) daylight(spare map[int64]bool) []Proposal {
	if h := a.site.Now.Hour(); h < 9 || h >= 16 {
		return nil
	}
	var out []Proposal
	for _, z := range a.site.Zones {
		scope := a.site.ZoneScope(z.ID)
		open, isOpen := a.site.Positions(scope).Mean()
		level, isLevel := a.site.Levels(scope).Mean()
		if spare[z.ID] || !isOpen || !isLevel || open > 30 || level < 50 {
			continue
		}
		out = append(out, Proposal{Title: a.f("Open the shades of %s and dim its lights", label(z.Name)), Zones: []int64{z.ID},
			Comfort: a.f("better: daylight and a view; glare is possible"), comfort: 1,
			Arithmetic:  []string{a.f("shades %.0f %% open, lights at %.0f %% on average at %s", open, level, a.site.Now.Format("15:04")), a.f("kWh cannot be told: daylight is not measured")},
			Assumptions: []string{a.f("it is light outside between 9:00 and 16:00"), a.f("nobody closed them against glare")}})
	}
	return out
}

// repairs proposes to mend what is broken or silent.
func (a *asked) repairs() []Proposal {
	var names []string
	var zones []int64
	for _, d := range a.site.Devices {
		if facts.Kind(d) == platform.KindLight && (!d.Online || d.Trouble != "") {
			names = append(names, label(d.Name))
			zones = append(zones, d.Zones...)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(zones)
	return []Proposal{{Title: a.f("Repair lights that are faulty or do not answer"), Zones: slices.Compact(zones), Comfort: a.f("better: light where it is missing, and lights that obey"), comfort: 2,
		Arithmetic:  []string{a.f("%s: %s", a.count(len(names), "light"), a.some(names, 10)), a.f("kWh cannot be told: what they draw is not measured on its own")},
		Assumptions: []string{a.f("the controller's report is true")}}}
}

// rank sorts by what was asked for.
func (p *Proposals) rank() {
	kwh := func(one Proposal) float64 {
		if one.KWh == nil {
			return 0
		}
		return *one.KWh
	}
	slices.SortStableFunc(p.Ranked, func(x, y Proposal) int {
		switch p.Target {
		case platform.TargetComfort:
			return cmp.Or(cmp.Compare(y.comfort, x.comfort), cmp.Compare(kwh(y), kwh(x)))
		case platform.TargetEfficiency: // least loss of comfort for a kilowatt-hour
			return cmp.Compare(kwh(y)/float64(2-min(y.comfort, 1)), kwh(x)/float64(2-min(x.comfort, 1)))
		}
		return cmp.Compare(kwh(y), kwh(x)) // the price is one for all, so cost ranks like energy
	})
	for i := range p.Ranked {
		p.Ranked[i].Rank = i + 1
	}
}

// proposalText words the proposals.
func (a *asked) proposalText(p *Proposals) string {
	head := a.f("%s for %s, target %s, from what was measured %s (%s of %s).", upper(a.count(len(p.Ranked), "proposal")), quoted(p.Site),
		a.f(string(p.Target)), a.period(understand.Span{From: p.From, To: p.To}), lengthIn(a.q.Lang, time.Duration(p.Measured)), lengthIn(a.q.Lang, p.To.Sub(p.From)))
	if len(p.Ranked) == 0 {
		head = a.f("I have no proposal for %s: what is measured and reported shows nothing to improve, or too little is measured.", quoted(p.Site))
	}
	lines := []string{head}
	for _, one := range p.Ranked[:min(len(p.Ranked), told)] {
		saving := a.f("no figure in kWh")
		if one.KWh != nil {
			saving = a.f("%.2f kWh a week", *one.KWh)
		}
		if one.Cost != nil {
			saving += a.f(", %.2f %s a week", *one.Cost, one.Currency)
		}
		lines = append(lines, a.f("%d. %s: %s. Comfort: %s. Arithmetic: %s. Assumptions: %s.", one.Rank, one.Title, saving, one.Comfort,
			strings.Join(one.Arithmetic, "; "), strings.Join(one.Assumptions, "; ")))
	}
	if more := len(p.Ranked) - told; more > 0 {
		lines = append(lines, a.f("%s with less effect %s in the data only.", a.count(more, "further proposal"), a.are(more)))
	}
	lines = append(lines, p.Notes...)
	lines = append(lines, a.f("Nothing was changed."))
	return strings.Join(lines, "\n")
}
