package assistant

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// inventory answers what there is.
func (a *asked) inventory() (answer, error) {
	s := a.site
	if len(s.Devices) == 0 && len(s.Zones) == 0 {
		return answer{text: a.f("%s has not reported what it has yet.", quoted(s.Name())) + awayIn(a.q.Lang, facts.Basis{ControllerOnline: s.Controller.Online, ControllerSeen: s.Controller.LastSeen}, s.Now)}, nil
	}
	switch a.q.Aspect {
	case "size":
		return a.size()
	case "can:dim", "can:tune", "can:colour":
		return a.able()
	case "covers":
		return a.coversOf()
	case "metered":
		return a.meteredBy()
	case "timezone":
		return answer{text: a.f("%s is in the time zone %s; there it is %s.", quoted(s.Name()), s.Now.Location(), a.date(s.Now, "15:04 on Mon 2 Jan 2006"))}, nil
	}
	if a.q.Make != "" && deviceKind(a.q.Kind) == "" {
		a.q.Kind = understand.Device
	}
	switch {
	case len(a.q.Having) == 1 && a.q.Having[0].Kind == understand.Meter && a.q.Kind == understand.Zone: // with or without: the others are told as well
		return a.unmetered()
	case len(a.q.Having) > 0 || len(a.q.Conds) > 0:
		return a.placesThat()
	}
	if a.q.Op == understand.Compare || a.q.Op == understand.Difference {
		return a.compareStock(), nil
	}
	switch a.q.Kind {
	case understand.Zone:
		return a.zones()
	case understand.Floor:
		return a.floors()
	case understand.Meter:
		return a.meters()
	case understand.Bus:
		return a.buses()
	case understand.Light, understand.Shade, understand.Peripheral, understand.Device:
		return a.devices()
	case understand.Building:
		return answer{text: a.f("This is %s.", quoted(s.Name())), data: s.Building}, nil
	}
	return a.everything()
}

// noHistory warns that an inventory is the present one.
func (a *asked) noHistory() string {
	if a.past() {
		return a.f("That is as of now; what was installed in the past is not kept.")
	}
	return ""
}

func (a *asked) reported() string {
	var b facts.Basis
	b.Controller, b.ControllerOnline, b.ControllerSeen = a.site.Name(), a.site.Controller.Online, a.site.Controller.LastSeen
	for _, d := range a.site.Devices {
		if a.scope.Holds(d) {
			b.Add(d.ReportedAt, "reported by the controller")
		}
	}
	if b.Readings == 0 {
		return a.f("Source: controller %s.", quoted(b.Controller)) + awayIn(a.q.Lang, b, a.site.Now)
	}
	return a.f("Source: controller %s, as reported %s ago.", quoted(b.Controller), lengthIn(a.q.Lang, a.site.Now.Sub(b.Newest))) + awayIn(a.q.Lang, b, a.site.Now)
}

func (a *asked) zones() (answer, error) {
	if text := a.located(); text != "" {
		return answer{sentences(text, a.reported()), a.site.Zones}, nil
	}
	zones := a.zonesIn()
	if a.q.By == "floor" {
		var lines []string
		for _, f := range a.site.Building.Floors {
			n := 0
			for _, z := range zones {
				if z.Floor == f.Name {
					n++
				}
			}
			lines = append(lines, a.f("%s %d", label(f.Name), n))
		}
		return answer{sentences(a.f("Zones by floor: %s.", a.list(lines)), a.reported()), zones}, nil
	}
	var names []string
	for _, z := range zones {
		names = append(names, label(z.Name))
	}
	return answer{sentences(a.f("There %s %s%s: %s.", a.are(len(zones)), a.count(len(zones), "zone"), a.in(), a.some(names, 40)), a.noHistory(), a.reported()), zones}, nil
}

// located tells where the devices are that were named; empty if places were.
func (a *asked) located() string {
	if a.scope.Whole() || a.scope.Floor != "" || a.scope.Bus != "" || len(a.scope.Zones) > 0 {
		return ""
	}
	var lines []string
	for _, d := range a.site.Devices {
		if !a.scope.Holds(d) {
			continue
		}
		line := a.f("%s is in no zone", label(d.Name))
		if len(d.Zones) > 0 {
			line = a.f("%s is in %s", label(d.Name), a.zoneNames(d.Zones))
		}
		if d.Floor != "" {
			line += a.f(" on ") + label(d.Floor)
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return ""
	}
	return a.some(lines, 20) + "."
}

func (a *asked) floors() (answer, error) {
	floors := a.site.Building.Floors
	if text := a.located(); text != "" {
		return answer{sentences(text, a.reported()), floors}, nil
	}
	if len(floors) == 0 {
		return answer{text: a.f("I do not know: nobody entered the floors of %s.", quoted(a.site.Name()))}, nil
	}
	if len(a.q.Places) > 0 && a.scope.Floor == "" { // "which floor is the lobby on"
		var lines []string
		for _, z := range a.zonesIn() {
			if z.Floor == "" {
				lines = append(lines, a.f("%s is on no floor that was entered", label(z.Name)))
			} else {
				lines = append(lines, a.f("%s is on %s", label(z.Name), label(z.Floor)))
			}
		}
		if len(lines) > 0 {
			return answer{sentences(a.list(lines)+".", a.reported()), floors}, nil
		}
	}
	var names []string
	for _, f := range floors {
		names = append(names, label(f.Name))
	}
	return answer{sentences(a.f("There %s %s: %s.", a.are(len(floors)), a.count(len(floors), "floor"), a.list(names)), a.reported()), floors}, nil
}

func (a *asked) meters() (answer, error) {
	all := a.site.Meters()
	if !a.scope.Whole() {
		m := a.site.MeteringOf(a.scope)
		all = append(m.Meters, m.Shared...)
	}
	if len(all) == 0 {
		return answer{sentences(a.f("There is no meter%s.", a.in()), a.reported()), all}, nil
	}
	var lines []string
	for _, m := range all {
		line := label(m.Name)
		switch {
		case m.Whole && m.Assigned:
			line += " (" + a.f("the whole building") + ")"
		case m.Assigned:
			line += " (" + a.zoneNames(m.Zones) + ")"
		default:
			line += a.f(" (nobody entered what it covers)")
		}
		lines = append(lines, line)
	}
	return answer{sentences(a.f("There %s %s%s: %s.", a.are(len(all)), a.count(len(all), "meter"), a.in(), a.list(lines)), a.reported()), all}, nil
}

func (a *asked) buses() (answer, error) {
	counts := map[string]int{}
	for _, d := range a.site.Devices {
		if d.Bus != "" && a.scope.Holds(d) {
			counts[d.Bus]++
		}
	}
	var lines []string
	buses := slices.Sorted(maps.Keys(counts))
	if a.q.Op == understand.Most || a.q.Op == understand.Least {
		slices.SortStableFunc(buses, func(x, y string) int { return a.ranked(counts[x], counts[y]) })
	}
	for _, name := range buses {
		lines = append(lines, label(name)+" ("+a.count(counts[name], "device")+")")
	}
	if len(lines) == 0 {
		return answer{text: a.f("I do not know: the controller reports no buses.")}, nil
	}
	return answer{sentences(a.f("There %s %d: %s.", a.are(len(lines)), len(lines), a.some(lines, 30)), a.reported()), counts}, nil
}

// devices counts or lists devices of the kind that was asked for.
func (a *asked) devices() (answer, error) {
	kind := deviceKind(a.q.Kind)
	var found []platform.Device
	for _, d := range a.site.Devices {
		if a.scope.Holds(d) && (kind == "" || facts.Kind(d) == kind) && strings.Contains(strings.ToLower(d.Profile), a.q.Make) {
			found = append(found, d)
		}
	}
	noun, make := string(a.q.Kind), strings.ToUpper(a.q.Make)
	switch {
	case a.q.By == "bus" && a.q.Make == "" && noun == "device":
		return a.buses()
	case a.q.By == "zone" || a.q.By == "floor":
		return a.devicesBy(found)
	case make != "" && len(found) == 0:
		return answer{sentences(a.f("I do not know: controllers report types of devices, not what they speak, and no type%s has “%s” in its name.", a.in(), make), a.reported()), found}, nil
	case make != "":
		return answer{sentences(a.f("%s%s %s of a type with “%s” in its name: %s.", upper(a.count(len(found), noun)), a.in(), a.are(len(found)), make, a.types(found)), a.reported()), found}, nil
	}
	if len(found) == 0 {
		return answer{sentences(a.f("There is no %s%s.", a.noun(noun), a.in()), a.reported()), found}, nil
	}
	text := a.f("There %s %s%s", a.are(len(found)), a.count(len(found), noun), a.in())
	if kind == "" {
		text += ": " + a.kinds(found)
	}
	text += "."
	if a.q.Form != understand.Count || len(found) <= 12 {
		list, _ := a.told(a.numbered(thingsOfDevices(found), ""), 2*thoseTold)
		text += " " + upper(list) + "."
	}
	if a.q.Aspect == "type" {
		text += a.f(" Device types: %s.", a.types(found))
	}
	if kind == platform.KindLight {
		t := a.site.Levels(a.scope)
		on := len(t.Where(facts.Current, func(one facts.Thing) bool { return *one.Value > 0 }))
		if t.Basis.Readings > 0 {
			text += a.f(" %d of them %s on now.", on, a.are(on))
		}
	}
	return answer{sentences(a.partly(), text, a.noHistory(), a.reported()), found}, nil
}

// ranked orders counts as the question wants them.
func (a *asked) ranked(x, y int) int {
	if a.q.Op == understand.Least {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(y, x)
}
