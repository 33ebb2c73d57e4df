package assistant

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// compareStock counts things of a kind in each of the places that were mentioned.
func (a *asked) compareStock() answer {
	kind := deviceKind(a.q.Kind)
	groups := a.q.Mentioned()
	if kind == "" || len(groups) < 2 {
		return answer{text: a.f("I understood the question, but cannot answer it with %s. Ask it without, or one thing at a time.", "“"+a.f(opWords[understand.Compare])+"”")}
	}
	var lines []string
	counts := map[string]int{}
	for _, places := range groups {
		scope := a.scopeIn(places)
		n := len(a.site.In(scope, kind))
		counts[scope.Label] = n
		lines = append(lines, a.f("%s has %s", scope.Label, a.count(n, string(a.q.Kind))))
	}
	return answer{upper(a.list(lines)) + ".", counts}
}

// kinds counts devices by kind.
func (a *asked) kinds(devices []platform.Device) string {
	counts := map[string]int{}
	for _, d := range devices {
		counts[facts.Kind(d)]++
	}
	var lines []string
	for _, kind := range []struct{ kind, one string }{{platform.KindLight, "light"}, {platform.KindShade, "shade"}, {facts.KindMeter, "meter"}, {platform.KindPeripheral, "peripheral"}} {
		if n := counts[kind.kind]; n > 0 {
			lines = append(lines, a.count(n, kind.one))
		}
	}
	return a.list(lines)
}

func (a *asked) devicesBy(found []platform.Device) (answer, error) {
	type row struct {
		Label string `json:"label"`
		Count int    `json:"count"`
	}
	var rows []row
	if a.q.By == "floor" {
		for _, f := range a.site.Building.Floors {
			n := 0
			for _, d := range found {
				if d.Floor == f.Name {
					n++
				}
			}
			rows = append(rows, row{label(f.Name), n})
		}
	} else {
		for _, z := range a.zonesIn() {
			n := 0
			for _, d := range found {
				if slices.Contains(d.Zones, z.ID) {
					n++
				}
			}
			rows = append(rows, row{label(z.Name), n})
		}
	}
	if a.q.Op == understand.Most || a.q.Op == understand.Least {
		slices.SortStableFunc(rows, func(x, y row) int { return a.ranked(x.Count, y.Count) })
	}
	var lines []string
	for _, r := range rows {
		lines = append(lines, a.f("%s %d", r.Label, r.Count))
	}
	return answer{sentences(a.f("%s by %s: %s.", upper(a.count(len(found), string(a.q.Kind))), a.noun(a.q.By), a.list(lines)), a.reported()), rows}, nil
}

func (a *asked) size() (answer, error) {
	var lines []string
	floors := slices.Clone(a.site.Building.Floors)
	if a.q.Op == understand.Most || a.q.Op == understand.Least {
		slices.SortStableFunc(floors, func(x, y platform.Floor) int {
			if a.q.Op == understand.Least {
				x, y = y, x
			}
			return cmp.Compare(y.AreaM2, x.AreaM2)
		})
	}
	for _, f := range floors {
		if a.scope.Whole() || a.scope.Floor == f.Name {
			if f.AreaM2 > 0 {
				lines = append(lines, a.f("%s %.0f m²", label(f.Name), f.AreaM2))
			} else {
				lines = append(lines, a.f("%s not entered", label(f.Name)))
			}
		}
	}
	if len(lines) == 0 {
		return answer{text: a.f("I do not know: nobody entered the area of %s.", a.where())}, nil
	}
	return answer{sentences(a.f("Areas as entered: %s.", a.list(lines)), a.reported()), a.site.Building.Floors}, nil
}

// everything sums up what is installed in the scope.
func (a *asked) everything() (answer, error) {
	var found []platform.Device
	for _, d := range a.site.Devices {
		if a.scope.Holds(d) {
			found = append(found, d)
		}
	}
	if len(a.q.Places) == 1 && len(found) == 1 {
		return a.oneDevice(found[0])
	}
	text := a.f("%s has %s", upper(a.where()), a.kinds(found))
	if len(a.q.Places) > 1 && len(a.scope.Zones) == 0 && len(found) == len(a.q.Places) { // "how many motors are there": they are named themselves
		names, _ := a.told(a.numbered(thingsOfDevices(found), ""), thoseTold)
		text = a.f("That is %s: %s", a.kinds(found), names)
	}
	if a.scope.Whole() {
		text += a.f(" in %s", a.count(len(a.site.Zones), "zone"))
		if n := len(a.site.Building.Floors); n > 0 {
			text += a.f(" on ") + a.count(n, "floor")
		}
	}
	if types := a.types(found); types != "" {
		text += a.f(". Device types: %s", types)
	}
	return answer{sentences(text+".", a.noHistory(), a.reported()), found}, nil
}

// types counts devices by type.
func (a *asked) types(devices []platform.Device) string {
	counts := map[string]int{}
	for _, d := range devices {
		if d.Profile != "" {
			counts[d.Profile]++
		}
	}
	var lines []string
	for _, p := range slices.Sorted(maps.Keys(counts)) {
		lines = append(lines, fmt.Sprintf("%s (%d)", label(p), counts[p]))
	}
	if len(lines) == 0 {
		return ""
	}
	return a.some(lines, 15)
}

func (a *asked) oneDevice(d platform.Device) (answer, error) {
	text := a.f("%s is a %s with ID %d", label(d.Name), a.noun(facts.Kind(d)), d.ID)
	if len(d.Zones) > 0 {
		text += a.f(" in ") + a.zoneNames(d.Zones)
	}
	if d.Floor != "" {
		text += a.f(" on ") + label(d.Floor)
	}
	if d.Bus != "" {
		text += a.f(", on bus %s", label(d.Bus))
	}
	if d.Profile != "" {
		text += a.f(", type %s", label(d.Profile))
	}
	if len(d.Abilities) > 0 {
		var can []string
		for _, ability := range d.Abilities {
			can = append(can, a.f(ability))
		}
		text += a.f("; it can %s", strings.Join(can, ", "))
	}
	return answer{sentences(text+".", a.reported()), d}, nil
}
