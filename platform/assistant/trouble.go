package assistant

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// cause answers who or why of a trouble, which nobody reports, with what is known of it.
func (a *asked) cause(why, who string, tell func() (answer, error)) (answer, error) {
	head := map[understand.Op]string{understand.Why: why, understand.Who: who}[a.q.Op]
	a.q.Op, a.q.Form = understand.Tell, understand.Plain
	said, err := tell()
	said.text = sentences(a.f(head), said.text)
	return said, err
}

// faults answers what is wrong, or was in a period.
func (a *asked) faults() (answer, error) {
	if a.q.Op == understand.Why || a.q.Op == understand.Who {
		return a.cause("Why, I do not know, beyond what is reported:", "Who or what did that is not reported. What is known:", a.faults)
	}
	var from, to time.Time
	if a.past() || a.q.When != nil && !a.q.When.Now {
		from, to = a.q.When.From, a.q.When.To
	}
	kind := deviceKind(a.q.Kind)
	if a.q.Kind == understand.Bus {
		kind = "bus"
	} else if len(a.scope.Devices) > 0 { // "a shade motor" is what is named, and no shade
		kind = ""
	}
	f, err := a.site.FaultsOf(a.ctx, a.scope, kind, from, to)
	if err != nil {
		return answer{}, err
	}
	reach, err := a.site.ReachOf(a.ctx, a.scope, kind, time.Time{}, time.Time{})
	if err != nil {
		return answer{}, err
	}
	data := map[string]any{"faults": f, "offline": reach.Away}
	if !to.IsZero() {
		past, err := a.site.ReachOf(a.ctx, a.scope, deviceKind(a.q.Kind), from, to)
		if err != nil {
			return answer{}, err
		}
		data["outages"] = past.Outages
		return answer{sentences(a.pastFaults(f), a.pastOutages(past, to), a.basis(f.Basis)), data}, nil
	}
	if a.q.By != "" {
		return answer{sentences(a.troubleBy(f, reach), a.basis(f.Basis)), data}, nil
	}
	var lines []string
	slices.SortStableFunc(f.Present, func(x, y facts.Fault) int { return y.Since.Compare(x.Since) })
	for _, one := range f.Present {
		lines = append(lines, a.faultLine(one))
	}
	head := a.f("No fault is reported%s.", a.in())
	if len(lines) > 0 {
		head = a.f("%s %s reported%s: %s.", upper(a.count(len(lines), "fault")), a.are(len(lines)), a.in(), a.some(lines, 20))
	}
	if n := len(reach.Away); n > 0 {
		if len(lines) == 0 {
			head = strings.TrimSuffix(head, ".") + ", " + a.f("but %s %s not answering: %s.", a.count(n, "device"), a.are(n), a.few("", reach.Away, a.lastSeen))
		} else {
			head = sentences(head, a.f("Besides, %s %s not answering: %s.", a.count(n, "device"), a.are(n), a.few("", reach.Away, a.lastSeen)))
		}
	}
	if a.q.Form == understand.Check && len(a.site.Devices) > 0 {
		good := len(lines) == 0 && len(reach.Away) == 0
		if well := a.q.Is(understand.None); !good || a.site.Controller.Online {
			head = a.yesNo(good == well) + lower(head)
		}
	}
	if len(a.site.Devices) == 0 {
		head = a.f("%s has not reported any devices yet, so I know of no faults either.", quoted(a.site.Name()))
	}
	return answer{sentences(head, a.basis(f.Basis)), data}, nil
}

// troubleBy counts faults and what does not answer, place by place, most first.
func (a *asked) troubleBy(f facts.Faults, reach facts.Reach) string {
	type row struct {
		name    string
		n, away int
	}
	var rows []row
	var all []string
	add := func(name string, in func(platform.Device) bool) {
		r := row{name: label(name)}
		if slices.ContainsFunc(a.site.Devices, in) {
			all = append(all, r.name)
		}
		for _, d := range a.site.Devices {
			if !in(d) {
				continue
			}
			same := func(id int64, shade bool) bool { return d.ID == id && (d.Kind == platform.KindShade) == shade }
			if slices.ContainsFunc(f.Present, func(one facts.Fault) bool { return one.Kind != "bus" && same(one.ID, one.Kind == "shade") }) {
				r.n++
			}
			if slices.ContainsFunc(reach.Away, func(t facts.Thing) bool { return t.Name == d.Name && t.ID == d.ID }) {
				r.away++
			}
		}
		if r.n+r.away > 0 {
			rows = append(rows, r)
		}
	}
	if a.q.By == "floor" {
		for _, fl := range a.site.Building.Floors {
			add(fl.Name, func(d platform.Device) bool { return d.Floor == fl.Name && a.scope.Holds(d) })
		}
	} else {
		for _, z := range a.zonesIn() {
			add(z.Name, func(d platform.Device) bool { return slices.Contains(d.Zones, z.ID) && a.scope.Holds(d) })
		}
	}
	if away := a.q.Topic == understand.Offline; a.q.Is(understand.None) {
		clear := slices.DeleteFunc(all, func(name string) bool {
			return slices.ContainsFunc(rows, func(r row) bool { return r.name == name && (away && r.away > 0 || !away && r.n > 0) })
		})
		if away {
			return a.f("Nothing is offline in %s.", a.list(clear))
		}
		return a.f("No fault is reported in %s.", a.list(clear))
	}
	slices.SortStableFunc(rows, func(x, y row) int { return cmp.Or(y.n-x.n, y.away-x.away) })
	if len(rows) == 0 && a.q.Topic == understand.Offline {
		return a.f("All %s%s answer; none is offline.", a.count(reach.Total, "device"), a.in())
	}
	if len(rows) == 0 {
		return a.f("No fault is reported%s.", a.in())
	}
	var lines []string
	for _, r := range rows {
		if a.q.Topic == understand.Offline {
			lines = append(lines, a.f("%s %d offline", r.name, r.away))
			continue
		}
		faults := a.f("no fault")
		if r.n > 0 || a.q.Op != understand.Most {
			faults = a.count(r.n, "fault")
		}
		lines = append(lines, a.f("%s %s, %d without an answer", r.name, faults, r.away))
	}
	return strings.Join(lines, "; ") + "."
}

// faultLine words one fault; the message is the controller's, quoted, without the name of the thing.
func (a *asked) faultLine(f facts.Fault) string {
	said := strings.TrimPrefix(strings.TrimPrefix(f.Message, f.Name+" reports: "), "bus "+f.Name+" ")
	text := label(f.Name) + ": " + a.trouble(said)
	if !f.Since.IsZero() {
		text += a.f(" since %s", momentIn(a.q.Lang, f.Since, a.site.Now))
	}
	if !f.Until.IsZero() {
		text += a.f(" until %s", momentIn(a.q.Lang, f.Until, a.site.Now))
	}
	return text
}

func (a *asked) pastFaults(f facts.Faults) string {
	span := a.period(*a.q.When)
	if len(f.Past) == 0 {
		return a.f("No fault was reported%s %s.", a.in(), span)
	}
	var lines []string
	for _, one := range f.Past {
		lines = append(lines, a.faultLine(one))
	}
	return a.f("%s reported%s %s: %s.", upper(a.count(len(f.Past), "fault")), a.in(), span, a.some(lines, 20))
}

// pastOutages tells what did not answer meanwhile.
func (a *asked) pastOutages(r facts.Reach, to time.Time) string {
	if len(r.Outages) == 0 {
		return ""
	}
	if to.After(a.site.Now) {
		to = a.site.Now
	}
	var lines []string
	for _, o := range r.Outages {
		until := a.f(" and still did not at its end")
		if !o.Until.IsZero() && !o.Until.After(to) {
			until = a.f(" until %s", momentIn(a.q.Lang, o.Until, a.site.Now))
		}
		lines = append(lines, a.f("%s from %s", label(o.Name), momentIn(a.q.Lang, o.Since, a.site.Now))+until)
	}
	return a.f("Besides, these did not answer: %s.", a.some(lines, 20))
}

// deviceKind is the kind of device that an object names; empty for any.
func deviceKind(kind understand.Kind) string {
	switch kind {
	case understand.Light:
		return platform.KindLight
	case understand.Shade:
		return platform.KindShade
	case understand.Meter:
		return facts.KindMeter
	case understand.Peripheral:
		return platform.KindPeripheral
	}
	return ""
}

func (a *asked) isKind(id int64, kind string) bool {
	return slices.ContainsFunc(a.site.Devices, func(d platform.Device) bool { return d.ID == id && facts.Kind(d) == kind })
}

// yesNo begins an answer.
func yesNo(yes bool) string {
	if yes {
		return "Yes: "
	}
	return "No: "
}
