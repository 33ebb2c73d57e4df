package assistant

import (
	"slices"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// withThings leaves out, of places that the same words may mean, those that have nothing of what is asked about: "the shades in the
// north" are not those of an office without any.
func withThings(site *facts.Site, q understand.Frame) []understand.Place {
	kind := map[understand.Topic]string{understand.Lights: platform.KindLight, understand.Colour: platform.KindLight, understand.Shades: platform.KindShade}[q.Topic]
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
