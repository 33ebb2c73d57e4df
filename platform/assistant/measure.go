package assistant

import (
	"slices"
	"strings"
	"time"

	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// bounded answers whether more or less was used than a bound, for the whole scope or for what of it is asked for.
func (a *asked) bounded(c understand.Cond) (answer, error) {
	span := a.span()
	bound := a.f(sides[c.Rel]) + " " + a.wattHours(c.Value)
	if a.slotted() {
		e, err := a.site.EnergyOf(a.ctx, a.scope, span.From, span.To)
		if err != nil {
			return answer{}, err
		}
		if !e.Known() {
			return answer{a.noEnergy(e, span), e}, nil
		}
		slots := e.By(a.q.By, a.site.Now.Location())
		var lines []string
		for _, s := range slots {
			if c.Holds(s.WattHours) {
				lines = append(lines, a.slot(s.Start, a.q.By)+" "+a.wattHours(s.WattHours))
			}
		}
		text := a.f("%s of %s were measured %s; %d of them %s %s.", upper(a.count(len(slots), a.q.By)), a.where(), a.period(span), len(lines), a.are(len(lines)), bound)
		if len(lines) > 0 {
			text += " " + upper(a.some(lines, 31)) + "."
		}
		return answer{sentences(text, a.gaps(e, span), a.uncovered(e), a.basis(e.Basis)), slots}, nil
	}
	if a.q.By != "" {
		var lines, not, unmeasured []string
		var b facts.Basis
		_, err := a.readRanked(func(scope facts.Scope, name string, whole bool) error {
			e, err := a.site.EnergyOf(a.ctx, scope, span.From, span.To)
			switch {
			case err != nil:
				return err
			case !e.Known() || len(e.Missing) > 0 && c.Rel != understand.Above && c.Rel != understand.AtLeast:
				unmeasured = append(unmeasured, label(name))
			case c.Holds(e.WattHours):
				lines = append(lines, label(name)+" "+a.wattHours(e.WattHours))
				b.Join(e.Basis)
			case len(e.Missing) > 0:
				unmeasured = append(unmeasured, label(name))
			default:
				not = append(not, label(name)+" "+a.wattHours(e.WattHours))
				b.Join(e.Basis)
			}
			return nil
		})
		if err != nil {
			return answer{}, err
		}
		text := a.f("%s %s: %s.", upper(bound), a.period(span), a.list(lines))
		if len(not) > 0 {
			text += a.f(" Not: %s.", a.some(not, 20))
		}
		if len(unmeasured) > 0 {
			text += a.f(" Not measured, or not all of it: %s.", a.some(unmeasured, 12))
		}
		return answer{sentences(text, a.basis(b)), lines}, nil
	}
	e, err := a.site.EnergyOf(a.ctx, a.scope, span.From, span.To)
	if err != nil {
		return answer{}, err
	}
	if !e.Known() {
		return answer{a.noEnergy(e, span), e}, nil
	}
	holds := c.Holds(e.WattHours)
	head := a.yesNo(holds)
	if partial := len(e.Missing) > 0 || a.partOf(e) != ""; partial && holds != (c.Rel == understand.Above || c.Rel == understand.AtLeast) {
		head = a.f("As far as it is measured: ") + lower(a.yesNo(holds))
	}
	text := a.f("%s%s used %s %s, which is %s%s.", head, a.where(), a.wattHours(e.WattHours), a.period(span), a.f(map[bool]string{false: "not "}[holds]), bound)
	return answer{sentences(text, a.parts(e), a.gaps(e, span), a.uncovered(e), a.basis(e.Basis)), e}, nil
}

// boundedPower answers whether more or less is drawn now than a bound.
func (a *asked) boundedPower(c understand.Cond) (answer, error) {
	bound := a.f(sides[c.Rel]) + " " + a.watts(c.Value)
	if a.q.By != "" {
		var lines, not, unknown []string
		total := a.site.PowerOf(facts.Scope{}).Basis
		_, err := a.readRanked(func(scope facts.Scope, name string, whole bool) error {
			p := a.site.PowerOf(scope)
			switch {
			case !p.Known() || whole && len(p.Missing) > 0:
				unknown = append(unknown, label(name))
			case c.Holds(p.Watts):
				lines = append(lines, label(name)+" "+a.watts(p.Watts))
			default:
				not = append(not, label(name)+" "+a.watts(p.Watts))
			}
			return nil
		})
		if err != nil {
			return answer{}, err
		}
		text := a.f("%s now: %s.", upper(bound), a.list(lines))
		if len(not) > 0 {
			text += a.f(" Not: %s.", a.some(not, 20))
		}
		if len(unknown) > 0 {
			text += a.f(" Without a current figure of their own: %s.", a.some(unknown, 12))
		}
		return answer{sentences(text, a.basis(total)), lines}, nil
	}
	p := a.site.PowerOf(a.scope)
	if !p.Known() {
		return a.powerNow(p)
	}
	holds := c.Holds(p.Watts)
	head := a.yesNo(holds)
	if len(p.Missing) > 0 && holds != (c.Rel == understand.Above || c.Rel == understand.AtLeast) {
		head = a.f("As far as it is measured: ") + lower(a.yesNo(holds))
	}
	now, err := a.powerNow(p)
	now.text = strings.TrimPrefix(now.text, a.f("%s draws %s now.", upper(a.where()), a.watts(p.Watts))+" ") // it was just said
	return answer{sentences(a.f("%s%s draws %s, which is %s%s.", head, a.where(), a.watts(p.Watts), a.f(map[bool]string{false: "not "}[holds]), bound), now.text), p}, err
}

// trend compares whole weeks, which have the same days, or the time that was said with as long a time before.
func (a *asked) trend() (answer, error) {
	if a.q.When != nil && !a.q.When.Now {
		before := understand.Before(a.span())
		a.q.Against = &before
		return a.comparePeriods()
	}
	y, m, d := a.site.Now.Date()
	monday := time.Date(y, m, d-(int(a.site.Now.Weekday())+6)%7, 0, 0, 0, 0, a.site.Now.Location())
	span, by := understand.Span{From: monday.AddDate(0, 0, -28), To: monday, Label: a.f("in the last four whole weeks")}, "week"
	e, err := a.site.EnergyOf(a.ctx, a.scope, span.From, span.To)
	if err != nil {
		return answer{}, err
	}
	if !e.Known() {
		return answer{a.noEnergy(e, span), e}, nil
	}
	slots := slices.DeleteFunc(e.By(by, a.site.Now.Location()), func(s facts.Slot) bool { return s.Measured < s.Length*95/100 })
	if len(slots) < 2 {
		return answer{sentences(a.f("I do not know: fewer than two whole %s of %s were measured %s.", a.many(by), a.where(), a.period(span)), a.gaps(e, span)), e}, nil
	}
	half := len(slots) / 2
	mean := func(s []facts.Slot) float64 {
		sum := 0.0
		for _, one := range s {
			sum += one.WattHours
		}
		return sum / float64(len(s))
	}
	earlier, later := mean(slots[:half]), mean(slots[half:])
	word := a.f("about as before")
	switch {
	case later > earlier*1.03:
		word = a.f("rising")
	case later < earlier*0.97:
		word = a.f("falling")
	}
	var lines []string
	for _, s := range slots {
		lines = append(lines, a.slot(s.Start, "week")+" "+a.wattHours(s.WattHours))
	}
	text := a.f("The use of %s was %s %s: the later half of the whole %s had %s on average, %s than the earlier half. %s.", a.where(), word, a.period(span), a.many(by), a.wattHours(later), a.difference(later, earlier), upper(a.some(lines, 31)))
	return answer{sentences(text, a.uncovered(e), a.basis(e.Basis)), slots}, nil
}

// usualWeeks is how many weeks back is looked for what is usual.
const usualWeeks = 4

// usual sets a time against the same hours of the same weekday in the weeks before, and says so.
func (a *asked) usual() (answer, error) {
	span := a.span()
	if a.q.Topic == understand.Power && (a.q.When == nil || a.q.When.Now) {
		to := a.site.Now.Truncate(15 * time.Minute)
		span = understand.Span{From: to.Add(-15 * time.Minute), To: to, Label: a.f("in the last quarter of an hour")}
	} else if span.To.After(a.site.Now) {
		span.To = a.site.Now.Truncate(15 * time.Minute)
	}
	e, err := a.site.EnergyOf(a.ctx, a.scope, span.From, span.To)
	if err != nil {
		return answer{}, err
	}
	if !e.Known() || a.partOf(e) != "" {
		return answer{a.noUsual(e, span), e}, nil
	}
	var sum, least, most float64
	n := 0
	for w := 1; w <= usualWeeks; w++ {
		before, err := a.site.EnergyOf(a.ctx, a.scope, span.From.AddDate(0, 0, -7*w), span.To.AddDate(0, 0, -7*w))
		if err != nil {
			return answer{}, err
		}
		if !before.Known() || a.partOf(before) != "" || len(before.Parts) != len(e.Parts) {
			continue
		}
		if n == 0 || before.WattHours < least {
			least = before.WattHours
		}
		most = max(most, before.WattHours)
		sum += before.WattHours
		n++
	}
	if n == 0 {
		return answer{sentences(a.f("%s used %s %s. I do not know what is usual: the same hours of the weeks before were not measured.", upper(a.where()), a.wattHours(e.WattHours), a.period(span)), a.uncovered(e), a.basis(e.Basis)), e}, nil
	}
	word := a.f("That is within what these weeks had")
	switch {
	case e.WattHours > most*1.02:
		word = a.f("That is more than in any of them")
	case e.WattHours < least*0.98:
		word = a.f("That is less than in any of them")
	}
	text := a.f("%s used %s %s. In the same hours of the same weekday of the last %s it was %s on average, %s at least and %s at most. %s: %s than their mean.", upper(a.where()), a.wattHours(e.WattHours),
		a.period(span), a.count(n, "week"), a.wattHours(sum/float64(n)), a.wattHours(least), a.wattHours(most), word, a.difference(e.WattHours, sum/float64(n)))
	return answer{sentences(text, a.uncovered(e), a.basis(e.Basis)), e}, nil
}

func (a *asked) noUsual(e facts.Energy, span understand.Span) string {
	if e.Known() {
		return sentences(a.f("I do not know: that time itself was not wholly measured."), a.gaps(e, span))
	}
	return a.noEnergy(e, span)
}

// together adds places up.
func (a *asked) together() (answer, error) {
	span := a.span()
	data, unknown, err := a.ofEach(span)
	if err != nil {
		return answer{}, err
	}
	var lines []string
	var b facts.Basis
	total, seen := 0.0, map[int64]bool{}
	for _, e := range data {
		for _, z := range e.Scope.Zones {
			if seen[z] {
				return answer{text: a.f("%s lies within another of them, so a sum would count it twice.", label(a.site.ZoneName(z)))}, nil
			}
			seen[z] = true
		}
		lines = append(lines, e.Scope.Label+" "+a.wattHours(e.WattHours))
		total += e.WattHours
		b.Join(e.Basis)
	}
	if len(unknown) > 0 || len(data) == 0 {
		text := a.f("The sum is not known: not measured on its own: %s.", a.list(unknown))
		if len(lines) > 0 {
			text += a.f(" %s: %s.", upper(a.period(span)), a.list(lines))
		}
		return answer{text, data}, nil
	}
	return answer{sentences(a.f("Together %s %s: %s.", a.wattHours(total), a.period(span), a.list(lines)), a.basis(b)), data}, nil
}

// togetherNow adds the power of places up.
func (a *asked) togetherNow() (answer, error) {
	var lines, unknown []string
	var missing []int64
	total := 0.0
	var b facts.Basis
	for _, places := range a.q.Mentioned() {
		scope := a.scopeIn(places)
		p := a.site.PowerOf(scope)
		if !p.Known() {
			unknown = append(unknown, scope.Label)
			continue
		}
		missing = append(missing, p.Missing...)
		lines = append(lines, scope.Label+" "+a.watts(p.Watts))
		b.Join(p.Basis)
		total += p.Watts
	}
	if len(unknown) > 0 {
		return answer{text: a.f("The sum is not known: not measured on its own, or not now: %s.", a.list(unknown))}, nil
	}
	head, rest := a.f("Together %s now: %s.", a.watts(total), a.list(lines)), ""
	if len(missing) > 0 {
		head = a.f("As far as it is measured: ") + lower(head)
		rest = a.f("Not measured and not in it: %s.", a.zoneNames(missing))
	}
	return answer{sentences(head, rest, a.basis(b)), lines}, nil
}
