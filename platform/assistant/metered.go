package assistant

import (
	"slices"
	"strings"

	"svc.internal/controller/platform/understand"
)

// byKind answers which part of a figure lights or shades need.
func (a *asked) byKind() string {
	return a.f("I do not know: it is not measured per kind. Meters tell what a place draws, not how much of it goes into lights, shades or sockets.")
}

// coversOf answers what a meter measures.
func (a *asked) coversOf() (answer, error) {
	for _, m := range a.site.Meters() {
		if !slices.Contains(a.scope.Devices, m.Node) {
			continue
		}
		what := a.zoneNames(m.Zones)
		switch {
		case m.Whole:
			what = a.f("the whole building")
		case !m.Assigned:
			return answer{sentences(a.f("I do not know: nobody entered what %s covers.", label(m.Name)), a.reported()), m}, nil
		}
		return answer{sentences(a.f("%s covers %s.", label(m.Name), what), a.reported()), m}, nil
	}
	return a.everything()
}

// meteredBy answers which meters measure a place, and what of it none does.
func (a *asked) meteredBy() (answer, error) {
	m := a.site.MeteringOf(a.scope)
	var head []string
	switch {
	case len(m.Meters) > 0 && len(m.Missing) == 0:
		head = append(head, a.yesNo(true)+a.f("%s is measured by %s.", a.where(), a.meterNames(m.Meters)))
	case len(m.Meters) > 0:
		head = append(head, a.f("Partly: ")+a.f("%s is measured by %s.", a.where(), a.meterNames(m.Meters)), a.f("Not measured: %s.", a.zoneNames(m.Missing)))
	default:
		head = append(head, a.yesNo(false)+a.f("no meter measures %s on its own.", a.where()))
	}
	for _, one := range m.Shared {
		head = append(head, strings.TrimSpace(a.f(" Meter %s measures it together with others.", quoted(one.Name))))
	}
	return answer{sentences(append(head, a.reported())...), m}, nil
}

// unmetered tells which zones no meter measures on their own.
func (a *asked) unmetered() (answer, error) {
	var own, shared, none, all []string
	for _, z := range a.zonesIn() {
		m := a.site.MeteringOf(a.scopeIn([]understand.Place{{Kind: understand.Zone, ID: z.ID, Name: z.Name}}))
		switch {
		case len(m.Meters) > 0:
			own = append(own, label(z.Name))
			continue
		case len(m.Shared) > 0:
			shared = append(shared, a.f("%s (with others by %s)", label(z.Name), a.meterNames(m.Shared)))
		default:
			none = append(none, label(z.Name))
		}
		all = append(all, z.Name)
	}
	text := a.f("Every zone%s has a meter of its own.", a.in())
	if len(all) > 0 {
		text = a.f("%s%s %s no meter of their own.", upper(a.count(len(all), "zone")), a.in(), a.have(len(all)))
	}
	if !a.q.Having[0].Not {
		text = a.f("%d of %s%s %s a meter of their own: %s.", len(own), a.count(len(a.zonesIn()), "zone"), a.in(), a.have(len(own)), a.some(own, 25))
	}
	if len(none) > 0 {
		text += a.f(" Not measured at all: %s.", a.some(none, 25))
	}
	if len(shared) > 0 {
		text += a.f(" Measured together with others only: %s.", a.some(shared, 25))
	}
	return answer{sentences(text, a.reported()), all}, nil
}
