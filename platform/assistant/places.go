package assistant

import (
	"slices"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// thingsOf is the kind of things that a topic is about.
var thingsOf = map[understand.Topic]string{understand.Lights: platform.KindLight, understand.Colour: platform.KindLight, understand.Shades: platform.KindShade}

// withThings leaves out, of places that the same words may mean, those that have nothing of what is asked about: "the shades in the
// north" are not those of an office without any.
func withThings(site *facts.Site, q understand.Frame) []understand.Place {
	kind := thingsOf[q.Topic]
	if kind == "" || q.Kind == understand.Everything {
		return q.Places
	}
	has := func(p understand.Place) bool { return len(site.In(scopeIn(site, []understand.Place{p}), kind)) > 0 }
	var kept []understand.Place
	for _, group := range q.Mentioned() {
		some := slices.DeleteFunc(slices.Clone(group), func(p understand.Place) bool { return !p.Partly || !has(p) })
		if len(some) == 0 {
			some = group
		}
		kept = append(kept, some...)
	}
	return kept
}

// wholeZones puts a zone in place of all its things of a kind, where words name them all: "the gallery shades".
func (a *asked) wholeZones(places []understand.Place) []understand.Place {
	var out []understand.Place
	groups := understand.Where{Places: places}.Mentioned()
	for _, group := range groups {
		scope := a.scopeIn(group)
		things, kind := scope.Shades, platform.KindShade
		if len(things) == 0 {
			things, kind = scope.Devices, platform.KindLight
		}
		var zones []understand.Place
		n := 0
		for _, z := range a.site.Zones {
			of := a.site.In(a.site.ZoneScope(z.ID), kind)
			if len(of) > 1 && !slices.ContainsFunc(of, func(d platform.Device) bool { return !slices.Contains(things, d.ID) }) {
				zones = append(zones, understand.Place{Kind: understand.Zone, ID: z.ID, Name: z.Name, On: z.Floor, Mention: group[0].Mention})
				n += len(of)
			}
		}
		if len(scope.Zones) > 0 || n == 0 || n != len(things) {
			zones = group
		}
		out = append(out, zones...)
	}
	return out
}

// onlyShades reports whether a place has shades and no light.
func (a *asked) onlyShades(p understand.Place) bool {
	scope := a.scopeIn([]understand.Place{p})
	return p.Kind == understand.Zone && len(a.site.In(scope, platform.KindLight)) == 0 && len(a.site.In(scope, platform.KindShade)) > 0
}
