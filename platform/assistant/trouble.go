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
	f, err := a.site.FaultsOf(a.ctx, a.scope, from, to)
	if err != nil {
		return answer{}, err
	}
	reach, err := a.site.ReachOf(a.ctx, a.scope, "", time.Time{}, time.Time{})
	if err != nil {
		return answer{}, err
	}
	if a.q.Kind == understand.Bus {
		f.Present = slices.DeleteFunc(f.Present, func(f facts.Fault) bool { return f.Kind != "bus" })
		reach.Away = nil
	} else if kind := deviceKind(a.q.Kind); kind != "" {
		f.Present = a.ofKind(f.Present, kind)
		reach.Away = slices.DeleteFunc(reach.Away, func(t facts.Thing) bool { return !a.isKind(t.ID, kind) })
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
	for _, one := range f.Present {
		lines = append(lines, a.faultLine(one))
	}
	head := a.f("No fault is reported%s.", a.in())
	if len(lines) > 0 {
		head = a.f("%s %s reported%s: %s.", upper(a.count(len(lines), "fault")), a.are(len(lines)), a.in(), a.some(lines, 20))
	}
	if n := len(reach.Away); n > 0 {
		head = sentences(head, a.f("Besides, %s %s not answering: %s.", a.count(n, "device"), a.are(n), a.some(a.lastSeen(reach.Away), 10)))
	}
	if a.q.Form == understand.Check && len(a.site.Devices) > 0 {
		good := len(lines) == 0 && len(reach.Away) == 0
		switch {
		case good && a.site.Controller.Online:
			head = a.f("Nothing wrong is known.") + " " + head
		case !good:
			head = a.f("Not everything is in order.") + " " + head
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
	if a.q.Is(understand.None) && a.q.Topic == understand.Offline {
		clear := slices.DeleteFunc(all, func(name string) bool {
			return slices.ContainsFunc(rows, func(r row) bool { return r.name == name && r.away > 0 })
		})
		return a.f("Nothing is offline in %s.", a.list(clear))
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

// faultLine words one fault; the message is the controller's, quoted.
func (a *asked) faultLine(f facts.Fault) string {
	text := label(f.Name) + ": " + a.trouble(f.Message)
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

func (a *asked) ofKind(list []facts.Fault, kind string) []facts.Fault {
	return slices.DeleteFunc(list, func(f facts.Fault) bool { return f.Kind == "bus" || !a.isKind(f.ID, kind) })
}

func thingNames(things []facts.Thing) []string {
	var names []string
	for _, t := range things {
		names = append(names, label(t.Name))
	}
	return names
}

// offline answers what is out of reach, what is not, and for how long.
func (a *asked) offline() (answer, error) {
	if a.q.Op == understand.Why || a.q.Op == understand.Who {
		return a.cause("Why, I do not know: a device that does not answer tells no reason. What is known:", "Nobody is known to have done that: no command makes a device silent. What is known:", a.offline)
	}
	var from, to time.Time
	if a.q.When != nil && !a.q.When.Now {
		from, to = a.q.When.From, a.q.When.To
	} else if a.q.Aspect == "availability" {
		from, to = a.site.Now.AddDate(0, 0, -7), a.site.Now
	}
	kind := deviceKind(a.q.Kind)
	r, err := a.site.ReachOf(a.ctx, a.scope, kind, from, to)
	if err != nil {
		return answer{}, err
	}
	for _, h := range a.q.Having { // "apart from the shades"
		if out := deviceKind(h.Kind); h.Not && out != "" {
			r.Total -= len(a.site.In(a.scope, out))
			r.Away = slices.DeleteFunc(r.Away, func(t facts.Thing) bool { return a.isKind(t.ID, out) })
		}
	}
	noun := "device"
	if kind != "" {
		noun = string(a.q.Kind)
	}
	switch {
	case r.Total == 0 && len(a.site.Devices) == 0:
		return answer{a.f("%s has not reported any devices yet.", quoted(a.site.Name())) + awayIn(a.q.Lang, r.Basis, a.site.Now), r}, nil
	case r.Total == 0:
		return answer{a.f("No %s is known%s.", a.noun(noun), a.in()), r}, nil
	case !a.site.Controller.Online && to.IsZero():
		return answer{sentences(a.f("I do not know what answers now%s: the controller does not report.", a.in()),
			a.f("When last heard, %d of %s did not answer.", len(r.Away), a.count(r.Total, noun)), a.basis(r.Basis)), r}, nil
	case !to.IsZero():
		return answer{a.outages(r, noun, from, to), r}, nil
	case a.cond(understand.Minutes) != nil:
		return a.awayFor(r, *a.cond(understand.Minutes), noun), nil
	case r.Total == 1:
		return a.oneReach()
	}
	if a.q.Op == understand.Most {
		slices.SortStableFunc(r.Away, func(x, y facts.Thing) int { return x.LastSeen.Compare(y.LastSeen) })
	}
	if a.q.By != "" && a.q.State != understand.Online {
		return answer{sentences(a.troubleBy(facts.Faults{}, r), a.basis(r.Basis)), r}, nil
	}
	online := r.Total - len(r.Away)
	if a.q.State == understand.Online {
		head := a.f("%d of %s%s %s online.", online, a.count(r.Total, noun), a.in(), a.are(online))
		if a.q.Op == understand.Share {
			head += a.f(" That is %s.", percent(100*float64(online)/float64(r.Total)))
		}
		if a.q.Form == understand.Check {
			head = a.yesNo(len(r.Away) == 0 || !a.q.Is(understand.All) && online > 0) + lower(head)
		}
		return answer{sentences(head, a.awayLine(r), a.basis(r.Basis)), r}, nil
	}
	head := a.f("All %s%s answer; none is offline.", a.count(r.Total, noun), a.in())
	if len(r.Away) > 0 {
		head = a.f("%d of %s%s %s offline.", len(r.Away), a.count(r.Total, noun), a.in(), a.are(len(r.Away)))
	}
	if a.q.Form == understand.Check {
		head = a.yesNo(len(r.Away) > 0 != a.q.Is(understand.None)) + lower(head)
	}
	return answer{sentences(head, a.awayLine(r), a.basis(r.Basis)), r}, nil
}

// yesNo begins an answer.
func yesNo(yes bool) string {
	if yes {
		return "Yes: "
	}
	return "No: "
}

func (a *asked) awayLine(r facts.Reach) string {
	if len(r.Away) == 0 {
		return ""
	}
	return a.f("Offline: %s.", a.some(a.lastSeen(r.Away), 20))
}

// lastSeen names things with when they were last seen.
func (a *asked) lastSeen(away []facts.Thing) (lines []string) {
	for _, one := range away {
		seen := a.f("never seen")
		if !one.LastSeen.IsZero() {
			seen = a.f("last seen %s ago, %s", lengthIn(a.q.Lang, a.site.Now.Sub(one.LastSeen)), momentIn(a.q.Lang, one.LastSeen, a.site.Now))
		}
		lines = append(lines, label(one.Name)+" ("+seen+")")
	}
	return lines
}

// oneReach answers about a single device.
func (a *asked) oneReach() (answer, error) {
	var d platform.Device
	for _, one := range a.site.Devices {
		if a.scope.Holds(one) {
			d = one
		}
	}
	var b facts.Basis
	r, err := a.site.ReachOf(a.ctx, a.scope, "", time.Time{}, time.Time{})
	if err != nil {
		return answer{}, err
	}
	b = r.Basis
	seen := a.f("It was never seen.")
	if !d.LastSeen.IsZero() {
		seen = a.f("It was last seen %s ago, %s.", lengthIn(a.q.Lang, a.site.Now.Sub(d.LastSeen)), momentIn(a.q.Lang, d.LastSeen, a.site.Now))
	}
	state := a.f("is online")
	if !d.Online {
		state = a.f("is offline")
	}
	head := a.f("%s %s.", label(d.Name), state)
	if a.q.Op == understand.Since && d.Online {
		if seen, err = a.online([]facts.Thing{{ID: d.ID, Name: d.Name}}); err != nil {
			return answer{}, err
		}
	}
	if a.q.Form == understand.Check {
		head = a.yesNo(d.Online == (a.q.State != understand.Away)) + head
	}
	return answer{sentences(head, seen, a.basis(b)), r}, nil
}

// outages lists what was away in a period, with the time it took.
func (a *asked) outages(r facts.Reach, noun string, from, to time.Time) string {
	if to.After(a.site.Now) {
		to = a.site.Now
	}
	span := understand.Span{From: from, To: to}
	if a.q.When != nil {
		span.Label = a.q.When.Label
	}
	if len(r.Outages) == 0 {
		text := a.f("No %s was reported as offline%s %s.", a.noun(noun), a.in(), a.period(span))
		if a.q.Form == understand.Check {
			text = a.yesNo(a.q.Is(understand.None)) + lower(text)
		}
		return sentences(text, a.awayLine(r), a.basis(r.Basis))
	}
	var lines []string
	var total time.Duration
	for _, o := range r.Outages {
		start, end := o.Since, o.Until
		if start.Before(from) {
			start = from
		}
		still := ""
		if end.IsZero() {
			end, still = to, a.f(", still")
		}
		if end.After(to) {
			end = to
		}
		d := end.Sub(start)
		total += d
		lines = append(lines, a.f("%s from %s for %s%s", label(o.Name), momentIn(a.q.Lang, start, a.site.Now), lengthIn(a.q.Lang, d), still))
	}
	text := a.f("%s reported%s %s: %s.", upper(a.count(len(r.Outages), "outage")), a.in(), a.period(span), a.some(lines, 20))
	text += a.f(" Together %s, as far as the controller reported.", lengthIn(a.q.Lang, total))
	if a.q.Form == understand.Check {
		text = a.yesNo(!a.q.Is(understand.None)) + lower(text)
	}
	return sentences(text, a.basis(r.Basis))
}
