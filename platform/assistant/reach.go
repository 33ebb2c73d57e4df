package assistant

import (
	"slices"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

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

func (a *asked) awayLine(r facts.Reach) string {
	if len(r.Away) == 0 {
		return ""
	}
	return a.f("Offline: %s.", a.few("", r.Away, a.lastSeen))
}

// lastSeen words when a thing was last seen.
func (a *asked) lastSeen(one facts.Thing) string {
	if one.LastSeen.IsZero() {
		return a.f("never seen")
	}
	return a.f("last seen %s ago, %s", lengthIn(a.q.Lang, a.site.Now.Sub(one.LastSeen)), momentIn(a.q.Lang, one.LastSeen, a.site.Now))
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
