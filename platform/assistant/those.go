package assistant

import (
	"slices"
	"strconv"
	"strings"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
)

// thoseTold is how many entries of a list of things are put into words.
const thoseTold = 8

// wholeFrom is of how many things a zone has to be named for all of them.
const wholeFrom = 3

// entry is a part of a list of things.
type entry struct {
	text string
	n    int // things
}

// those names things for people: a zone where all its things of the kind are meant, and numbered names together: "Lobby (all 4)",
// "Stage spot 1 and 2". Beyond a bound they are counted, and it is said how to hear of them. Value words what is told of each; nil: nothing.
func (a *asked) those(kind string, things []facts.Thing, value func(facts.Thing) string) string {
	text, left := a.told(a.entries(kind, things, value), thoseTold)
	if left > 0 {
		text += a.f("; ask for one zone or floor to hear the others")
	}
	return text
}

// few is like [asked.those] in the middle of a sentence: nothing is said of how to hear of the others.
func (a *asked) few(kind string, things []facts.Thing, value func(facts.Thing) string) string {
	text, _ := a.told(a.entries(kind, things, value), thoseTold)
	return text
}

// told joins the first entries of a list, and counts the things of the others.
func (a *asked) told(all []entry, most int) (text string, left int) {
	var texts []string
	several := false
	for i, one := range all {
		if i >= most {
			left += one.n
			continue
		}
		texts = append(texts, one.text)
		several = several || one.n > 1 && !strings.HasSuffix(one.text, ")")
	}
	switch {
	case left > 0:
		return strings.Join(texts, ", ") + a.f(" and %d more", left), left
	case several && len(texts) > 1: // "Lobby 1 and 2; Alps 3"
		return strings.Join(texts, "; "), 0
	}
	return a.list(texts), 0
}

// entries puts things together that have the same told of them.
func (a *asked) entries(kind string, things []facts.Thing, value func(facts.Thing) string) []entry {
	var order []string
	by := map[string][]facts.Thing{}
	for _, one := range things {
		v := ""
		if value != nil {
			v = value(one)
		}
		if by[v] == nil {
			order = append(order, v)
		}
		by[v] = append(by[v], one)
	}
	size := a.zoneSizes(kind)
	var out []entry
	for _, v := range order {
		left := by[v]
		for _, z := range a.site.Zones {
			within := func(one facts.Thing) bool { return slices.Contains(one.Zones, z.ID) }
			n := 0
			for _, one := range left {
				if within(one) {
					n++
				}
			}
			if n < wholeFrom || n < size[z.ID] || size[z.ID] == 0 {
				continue
			}
			all := a.f("all %d", n)
			if kind == platform.KindShade && !strings.Contains(strings.ToLower(z.Name), "shade") {
				all = a.f("all %s", a.count(n, kind))
			}
			if v != "" {
				all += ", " + v
			}
			out = append(out, entry{label(z.Name) + " (" + all + ")", n})
			left = slices.DeleteFunc(slices.Clone(left), within)
		}
		out = append(out, a.numbered(left, v)...)
	}
	return out
}

// zoneSizes are how many things of a kind each zone has.
func (a *asked) zoneSizes(kind string) map[int64]int {
	size := map[int64]int{}
	for _, d := range a.site.Devices {
		if facts.Kind(d) == kind {
			for _, z := range d.Zones {
				size[z]++
			}
		}
	}
	return size
}

// numbered puts things together that are called the same but for a number: "Lobby 1, 2 and 4 to 6".
func (a *asked) numbered(things []facts.Thing, value string) (out []entry) {
	var order []string
	numbers := map[string][]int{}
	for _, one := range things {
		name, number := label(one.Name), 0
		if i := strings.LastIndexByte(name, ' '); i > 0 {
			if n, err := strconv.Atoi(name[i+1:]); err == nil && n > 0 && strconv.Itoa(n) == name[i+1:] {
				name, number = name[:i], n
			}
		}
		if numbers[name] == nil {
			order = append(order, name)
		}
		numbers[name] = append(numbers[name], number)
	}
	for _, name := range order {
		all := numbers[name]
		slices.Sort(all)
		var runs []string
		for i := 0; i < len(all); {
			end := i
			for end+1 < len(all) && all[end+1] == all[end]+1 {
				end++
			}
			switch {
			case all[i] == 0: // without a number
				end = i
			case end-i >= 2:
				runs = append(runs, a.f("%d to %d", all[i], all[end]))
			default:
				for _, n := range all[i : end+1] {
					runs = append(runs, strconv.Itoa(n))
				}
			}
			i = end + 1
		}
		text := name
		if len(runs) > 0 {
			text += " " + a.list(runs)
		}
		if value != "" {
			text += " (" + value + ")"
		}
		out = append(out, entry{text, len(all)})
	}
	return out
}

// each is what is told alike of several things that are all those of the one zone that was asked about.
func (a *asked) each(found []facts.Thing, value func(facts.Thing) string) (string, bool) {
	if len(found) < 2 || len(a.scope.Zones) != 1 || len(found) != a.inScope(found[0]) {
		return "", false
	}
	v := value(found[0])
	return v, v != "" && !slices.ContainsFunc(found, func(one facts.Thing) bool { return value(one) != v })
}

// inScope is how many things there are of the kind of one in what was asked about.
func (a *asked) inScope(one facts.Thing) int {
	i := slices.IndexFunc(a.site.Devices, func(d platform.Device) bool { return d.ID == one.ID && d.Name == one.Name })
	if i < 0 {
		return 0
	}
	return len(a.site.In(a.scope, facts.Kind(a.site.Devices[i])))
}

// thingsOfDevices are devices as things without a reading.
func thingsOfDevices(devices []platform.Device) []facts.Thing {
	var out []facts.Thing
	for _, d := range devices {
		out = append(out, facts.Thing{ID: d.ID, Name: d.Name, Zones: d.Zones, Floor: d.Floor})
	}
	return out
}

// byPlace tells how many lights of each zone are meant, and their mean, or of each floor where the zones are too many.
func (a *asked) byPlace(found []facts.Thing) string {
	count := func(name string, in func(facts.Thing) bool) string {
		n, sum := 0, 0.0
		for _, one := range found {
			if in(one) {
				n, sum = n+1, sum+*one.Value
			}
		}
		if n == 0 {
			return ""
		}
		return a.f("%s %d (mean %s)", label(name), n, percent(sum/float64(n)))
	}
	var zones, floors []string
	for _, z := range a.site.Zones {
		zones = append(zones, count(z.Name, func(one facts.Thing) bool { return slices.Contains(one.Zones, z.ID) }))
	}
	for _, f := range a.site.Building.Floors {
		floors = append(floors, count(f.Name, func(one facts.Thing) bool { return one.Floor == f.Name }))
	}
	empty := func(s string) bool { return s == "" }
	zones, floors = slices.DeleteFunc(zones, empty), slices.DeleteFunc(floors, empty)
	loose, nowhere := 0, 0
	for _, one := range found {
		if len(one.Zones) == 0 {
			loose++
		}
		if one.Floor == "" {
			nowhere++
		}
	}
	if len(zones) > zonesTold && len(floors) > 1 && nowhere == 0 {
		return a.f("By floor: %s; ask for one of them to hear its zones.", a.list(floors))
	}
	if loose > 0 {
		zones = append(zones, a.f("%d in no zone", loose))
	}
	return a.f("By zone: %s.", a.some(zones, 2*zonesTold))
}

// zonesTold is how many zones are told where floors could be.
const zonesTold = 10

// lightValue words how bright a light is; nothing of one that is off.
func lightValue(one facts.Thing) string {
	if *one.Value == 0 {
		return ""
	}
	return percent(*one.Value)
}

// openValue words how far a shade is open.
func (a *asked) openValue(one facts.Thing) string {
	if one.Within >= aboutFrom {
		return a.f("about %s open, ± %.0f", percent(*one.Value), one.Within)
	}
	return a.f("%s open", percent(*one.Value))
}

// aboutFrom is from how many points on it is told how far off a position may be.
const aboutFrom = 5

// lastOpen words how far a shade was open when that was known last; nothing of other things.
func (a *asked) lastOpen(kind string) func(facts.Thing) string {
	if kind != platform.KindShade {
		return nil
	}
	return func(one facts.Thing) string {
		if one.Value == nil {
			return ""
		}
		return a.f("last known: %s", a.openValue(one))
	}
}

// kindOf is the kind of things that a command is for.
func kindOf(do string) string {
	if strings.HasPrefix(do, "shade-") {
		return platform.KindShade
	}
	return platform.KindLight
}
