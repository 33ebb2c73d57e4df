package assistant

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

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
	text := a.f("%s used %s %s and %s %s", upper(part.Label), a.wattHours(used[0].WattHours), a.period(span), whole.Label, a.wattHours(used[1].WattHours))
	if used[1].WattHours > 0 {
		text += a.f(": %s of it", percent(100*used[0].WattHours/used[1].WattHours))
	}
	return answer{sentences(text+".", a.unlike(used[0], used[1]), a.uncovered(used[0]), a.uncovered(used[1]), a.basis(joined(used[0].Basis, used[1].Basis))), used}, nil
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
		return answer{sentences(a.f("%s used %s %s, but I cannot compare it.", upper(a.where()), a.wattHours(first.WattHours), a.period(when)),
			a.noEnergy(second, against), a.basis(first.Basis)), data}, nil
	}
	text := a.f("%s used %s %s and %s %s:", upper(a.where()), a.wattHours(first.WattHours), a.period(when), a.wattHours(second.WattHours), a.period(against))
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
		text += a.f(" in the first %s of each it was %s against %s, so it is %s.", lengthIn(a.q.Lang, elapsed), a.wattHours(until.WattHours), a.wattHours(alike.WattHours), a.difference(until.WattHours, alike.WattHours))
		return answer{sentences(text, a.unlike(until, alike), a.uncovered(first), a.basis(joined(first.Basis, second.Basis))), data}, nil
	}
	text += " " + a.difference(first.WattHours, second.WattHours) + "."
	return answer{sentences(text, a.unlike(first, second), a.uncovered(first), a.basis(joined(first.Basis, second.Basis))), data}, nil
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
		return a.f("%s more", a.wattHours(d)) + share
	}
	return a.f("%s less", a.wattHours(-d)) + share
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

// ofEach is the energy of each of the places that were mentioned, and the names of those of which not all is measured.
func (a *asked) ofEach(span understand.Span) (known []facts.Energy, unknown []string, err error) {
	for _, places := range a.q.Mentioned() {
		scope := a.scopeIn(places)
		e, err := a.site.EnergyOf(a.ctx, scope, span.From, span.To)
		if err != nil {
			return nil, nil, err
		}
		if !e.Known() || len(e.Missing) > 0 {
			unknown = append(unknown, scope.Label)
			continue
		}
		known = append(known, e)
	}
	return known, unknown, nil
}

// comparePlaces sets places against each other.
func (a *asked) comparePlaces() (answer, error) {
	span := a.span()
	all, unknown, err := a.ofEach(span)
	if err != nil {
		return answer{}, err
	}
	var lines []string
	said := ""
	if len(all) == 2 && len(unknown) == 0 {
		said = a.verdict(all[0].WattHours, all[1].WattHours)
	}
	slices.SortStableFunc(all, func(x, y facts.Energy) int { return cmp.Compare(y.WattHours, x.WattHours) })
	for _, e := range all {
		line := e.Scope.Label + " " + a.wattHours(e.WattHours)
		if part := a.partOf(e); part != "" {
			line += a.f(" (measured for %s only)", part)
		}
		lines = append(lines, line)
	}
	text := ""
	if len(all) > 0 {
		text = said + upper(a.period(span)) + ": " + a.list(lines) + "."
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
	var b facts.Basis
	for _, e := range all {
		b.Join(e.Basis)
	}
	return answer{sentences(text, a.basis(b)), all}, nil
}
