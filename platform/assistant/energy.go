package assistant

import (
	"strings"
	"time"

	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// energy answers what was used.
func (a *asked) energy() (answer, error) {
	if a.q.Aspect == "bykind" {
		return answer{text: a.byKind()}, nil
	}
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
	text := a.f("%s used %s %s.", upper(a.where()), a.wattHours(e.WattHours), a.period(span))
	if len(e.Missing) > 0 {
		text = a.f("What is measured of %s used %s %s.", a.where(), a.wattHours(e.WattHours), a.period(span))
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
			text += a.f(" That is %s of the %s measured in the whole building.", percent(100*e.WattHours/all.WattHours), a.wattHours(all.WattHours))
			if c := a.cond(understand.Part); c != nil {
				text = a.partOfAll(*c, 100*e.WattHours/all.WattHours, len(all.Missing) > 0) + text
			}
		}
	}
	return answer{sentences(text, a.parts(e), a.gaps(e, span), a.uncovered(e), a.basis(e.Basis)), e}, nil
}

// averageEnergy words the mean power, and the mean of a day where the period has several.
func (a *asked) averageEnergy(e facts.Energy, span understand.Span) string {
	mean, _ := e.Mean()
	text := a.f("On average %s drew %s", a.where(), a.watts(mean))
	if e.To.Sub(e.From) >= 48*time.Hour {
		text += a.f(", which is %s in 24 hours", a.wattHours(mean*24))
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
		figure := a.wattHours(p.WattHours)
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

// partOf words how much of the period was measured; empty if all of it was.
func (a *asked) partOf(e facts.Energy) string {
	whole := e.To.Sub(e.From)
	if gap := time.Duration(e.Gap); gap < 2*time.Minute || gap < whole/100 {
		return ""
	}
	return a.f("%s of %s", lengthIn(a.q.Lang, time.Duration(e.Measured)), lengthIn(a.q.Lang, whole))
}

// basis words what an answer rests on; nothing where there was no figure.
func (a *asked) basis(b facts.Basis) string {
	if b.Controller == "" {
		return ""
	}
	return basis(a.q.Lang, b, a.site.Now)
}
