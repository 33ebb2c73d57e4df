package assistant

import (
	"slices"

	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// named lists things with their values, by zone where there are many.
func (a *asked) named(found []facts.Thing) string {
	if len(found) == 0 {
		return ""
	}
	var lines []string
	if len(found) <= 20 {
		for _, one := range found {
			lines = append(lines, a.withValue(one))
		}
		return upper(a.list(lines)) + "."
	}
	for _, z := range a.site.Zones {
		n, sum := 0, 0.0
		for _, one := range found {
			if slices.Contains(one.Zones, z.ID) {
				n++
				sum += *one.Value
			}
		}
		if n > 0 {
			lines = append(lines, a.f("%s %d (mean %s)", label(z.Name), n, percent(sum/float64(n))))
		}
	}
	loose := 0
	for _, one := range found {
		if len(one.Zones) == 0 {
			loose++
		}
	}
	if loose > 0 {
		lines = append(lines, a.f("%d in no zone", loose))
	}
	return a.f("By zone: %s.", a.list(lines))
}

func (a *asked) withValue(one facts.Thing) string {
	if *one.Value == 0 {
		return label(one.Name)
	}
	return a.f("%s (%s)", label(one.Name), percent(*one.Value))
}

// doubts tells which things have no current value, and why.
func (a *asked) doubts(t facts.Things, kind string) string {
	var parts []string
	for _, condition := range []facts.Condition{facts.Away, facts.Stale, facts.Unknown} {
		found := t.Where(condition, nil)
		if len(found) == 0 {
			continue
		}
		if condition == facts.Away && !a.site.Controller.Online {
			return a.f("Of %s nothing current is known, because the controller does not report.", a.count(len(found), kind))
		}
		var names []string
		for _, one := range found {
			names = append(names, label(one.Name))
		}
		if condition == facts.Unknown && found[0].Motion != "" { // what it does was read
			parts = append(parts, a.f("%s %s, but the position is not known: %s.", a.count(len(found), kind), a.f(map[bool]string{true: "answers", false: "answer"}[len(found) == 1]), a.some(names, 10)))
			continue
		}
		why := map[facts.Condition]string{facts.Away: "%s %s offline, so I do not know what is there: %s.", facts.Stale: "%s %s without a recent reading, so I do not know: %s.",
			facts.Unknown: "%s %s never been read, so I do not know: %s."}[condition]
		verb := a.are(len(found))
		if condition == facts.Unknown {
			verb = a.beenVerb(len(found))
		}
		parts = append(parts, a.f(why, a.count(len(found), kind), verb, a.some(names, 10)))
	}
	return sentences(parts...)
}

// failing names those of the things that are told as on which report a trouble: what reports a lamp failure may be dark.
func (a *asked) failing(on []facts.Thing) string {
	var order []string
	names := map[string][]string{}
	for _, one := range on {
		if one.Trouble == "" || one.Value == nil || *one.Value == 0 {
			continue
		}
		if names[one.Trouble] == nil {
			order = append(order, one.Trouble)
		}
		names[one.Trouble] = append(names[one.Trouble], label(one.Name))
	}
	var told []string
	for _, trouble := range order {
		text := "%s is among them and reports %s, so it may be dark."
		if len(names[trouble]) > 1 {
			text = "%s are among them and report %s, so they may be dark."
		}
		told = append(told, a.f(text, a.some(names[trouble], 10), a.trouble(trouble)))
	}
	return sentences(told...)
}

// trouble quotes what a device says is wrong with it, in the language of the question where that is known.
func (a *asked) trouble(text string) string {
	if de, ok := inGerman(text); ok && a.q.Lang == understand.German {
		return "„" + de + "“"
	}
	return quoted(text)
}

// beenVerb is the verb for n things to which something has been done.
func (a *asked) beenVerb(n int) string {
	if a.q.Lang == understand.German {
		return map[bool]string{true: "wurde", false: "wurden"}[n == 1]
	}
	return haveVerb(n)
}
