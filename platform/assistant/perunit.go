package assistant

import (
	"cmp"
	"slices"

	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// perUnit divides by what a unit stands for: the area that was entered, or the lights.
func (a *asked) perUnit() (answer, error) {
	if a.q.By == "floor" && a.scope.Whole() && a.q.Per == "m2" {
		return a.perFloor()
	}
	units, word, missing := 0.0, "light", ""
	scope := a.scope
	if a.q.Per == "m2" {
		word = "m²"
		var without []string
		scope = facts.Scope{}
		for _, f := range a.site.Building.Floors {
			on := a.site.FloorScope(f.Name)
			switch {
			case !a.scope.Whole() && (a.scope.Floor != f.Name || a.scope.Out != nil):
			case f.AreaM2 <= 0:
				without = append(without, label(f.Name))
			default:
				units += f.AreaM2
				scope.Zones = append(scope.Zones, on.Zones...)
				scope.Label = label(f.Name)
			}
		}
		if !a.scope.Whole() && a.scope.Floor == "" || units == 0 {
			return answer{text: a.f("I do not know: nobody entered the area of %s; areas are entered by floor.", a.where())}, nil
		}
		if len(without) > 0 {
			missing = a.f("Without %s, whose area nobody entered.", a.list(without))
		}
		if a.scope.Whole() {
			scope.Label = a.f("what of the building has an area")
		}
	} else {
		units = float64(len(a.site.In(a.scope, "light")))
	}
	if units == 0 {
		return answer{text: a.f("No light is known%s.", a.in())}, nil
	}
	if a.q.Topic == understand.Power && (a.q.When == nil || a.q.When.Now) {
		p := a.site.PowerOf(scope)
		if !p.Known() || len(p.Missing) > 0 {
			return answer{text: sentences(a.f("I do not know: not all of %s is measured now.", a.where()), a.uncoveredZones(p.Missing))}, nil
		}
		return answer{sentences(a.f("%s draws %s for %.0f %s: %.2f W per %s.", upper(orWhere(scope.Label, a.where())), a.watts(p.Watts), units, a.many(word), p.Watts/units, a.noun(word)), missing, a.basis(p.Basis)), p}, nil
	}
	span := a.span()
	e, err := a.site.EnergyOf(a.ctx, scope, span.From, span.To)
	if err != nil {
		return answer{}, err
	}
	if !e.Known() || len(e.Missing) > 0 {
		return answer{sentences(a.f("I do not know: not all of %s was measured.", a.where()), a.uncovered(e)), e}, nil
	}
	return answer{sentences(a.f("%s used %s %s for %.0f %s: %s per %s.", upper(orWhere(scope.Label, a.where())), a.wattHours(e.WattHours), a.period(span), units, a.many(word), a.perOne(e.WattHours/units), a.noun(word)),
		missing, a.gaps(e, span), a.basis(e.Basis)), e}, nil
}

// perFloor divides floor by floor, and names those that are not measured whole.
func (a *asked) perFloor() (answer, error) {
	var not []string
	var rows []placed
	var data []any
	var b facts.Basis
	for _, f := range a.site.Building.Floors {
		one := &asked{ctx: a.ctx, site: a.site, q: a.q, price: a.price, scope: a.site.FloorScope(f.Name)}
		one.q.By = ""
		one.q.Places = []understand.Place{{Kind: understand.Floor, Name: f.Name}}
		power, energy := a.site.PowerOf(one.scope), facts.Energy{}
		now := a.q.Topic == understand.Power && (a.q.When == nil || a.q.When.Now)
		if !now {
			var err error
			if energy, err = a.site.EnergyOf(a.ctx, one.scope, one.span().From, one.span().To); err != nil {
				return answer{}, err
			}
		}
		switch {
		case f.AreaM2 <= 0, now && (!power.Known() || len(power.Missing) > 0), !now && (!energy.Known() || len(energy.Missing) > 0):
			not = append(not, label(f.Name))
			continue
		case now:
			rows = append(rows, placed{label(f.Name), a.f("%.2f W per m²", power.Watts/f.AreaM2), power.Watts / f.AreaM2})
			b.Join(power.Basis)
			data = append(data, power)
		default:
			rows = append(rows, placed{label(f.Name), a.f("%s per m²", a.perOne(energy.WattHours/f.AreaM2)), energy.WattHours / f.AreaM2})
			b.Join(energy.Basis)
			data = append(data, energy)
		}
	}
	head, rest := a.f("I do not know: not all of %s is measured now.", a.where()), ""
	if len(rows) > 0 {
		var lines []string
		for _, r := range rows {
			lines = append(lines, r.name+" "+r.told)
		}
		head = a.list(lines) + "."
		if a.q.Is(understand.More) || a.q.Is(understand.Less) { // "which floor needs the most per square metre"
			slices.SortStableFunc(rows, func(x, y placed) int { return cmp.Compare(y.value, x.value) })
			if a.q.Is(understand.Less) {
				slices.Reverse(rows)
			}
			head = a.winner(rows)
		}
		if a.q.When != nil && !a.q.When.Now || a.q.Topic != understand.Power {
			head = upper(a.period(a.span())) + ": " + head
		}
	}
	if len(not) > 0 {
		rest = a.f("Not measured as a whole, or without an area: %s.", a.list(not))
	}
	return answer{sentences(head, rest, a.basis(b)), data}, nil
}

func orWhere(label, where string) string {
	if label == "" {
		return where
	}
	return label
}

func (a *asked) uncoveredZones(zones []int64) string {
	if len(zones) == 0 {
		return ""
	}
	return a.f("Not measured: %s.", a.zoneNames(zones))
}
