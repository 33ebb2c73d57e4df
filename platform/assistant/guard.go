package assistant

import (
	"fmt"
	"slices"

	"svc.internal/controller/platform/understand"
)

// refused says why a question is not answered; empty if it is. Whoever asks hears which words were not understood, and what could
// be asked instead, and no figure.
func (a *asked) refused() string {
	if u := a.q.Unclear; u != nil {
		words := a.unclear()
		switch u.Why {
		case understand.Absent:
			return a.absent()
		case understand.Words:
			return sentences(a.strange(), a.f("So I do not answer, rather than answer something else."), a.nearest())
		case understand.TimeWords:
			return a.f("I did not understand the time %s, and a figure of another time would not help. Say it for instance as “yesterday”, “last week”, “since Monday” or “9 to 13 November”.", a.list(words))
		case understand.Conflict:
			return a.f("I do not understand %s together with the rest of the question, so I do not answer, rather than answer something else. Ask it in other words, or one thing at a time.", a.list(words))
		}
		return sentences(a.f("I did not understand that, so I will not guess."), a.f(helpText))
	}
	if left := a.unserved(); len(left) > 0 {
		return a.f("I understood the question, but cannot answer it with %s. Ask it without, or one thing at a time.", a.list(left))
	}
	return ""
}

// served are the operations that an answer on a topic knows of.
var served = map[understand.Topic][]understand.Op{
	understand.Energy: {understand.Average, understand.Most, understand.Least, understand.Sum, understand.Compare, understand.Difference, understand.Share, understand.PerUnit, understand.Trend, understand.Why, understand.Usual},
	understand.Power:  {understand.Average, understand.Most, understand.Least, understand.Sum, understand.Compare, understand.Difference, understand.Share, understand.PerUnit, understand.Why, understand.Usual},
	understand.Cost:   {understand.Average, understand.Sum, understand.Compare, understand.Difference}, understand.Carbon: {understand.Average, understand.Compare, understand.Trend},
	understand.Lights:    {understand.Same, understand.Average, understand.Most, understand.Least, understand.Compare, understand.Difference, understand.Share, understand.Since, understand.Who, understand.Why},
	understand.Shades:    {understand.Same, understand.Average, understand.Compare, understand.Difference, understand.Most, understand.Least, understand.Share, understand.Since, understand.Who, understand.Why},
	understand.Colour:    {understand.Average, understand.Most, understand.Least},
	understand.Faults:    {understand.Most, understand.Since, understand.Who, understand.Why},
	understand.Offline:   {understand.Most, understand.Since, understand.Who, understand.Why, understand.Share},
	understand.Inventory: {understand.Most, understand.Least, understand.Can, understand.Sum, understand.Compare, understand.Difference}, understand.Controllers: {understand.Since},
	understand.Comfort: {}, understand.Occupancy: {understand.Since, understand.Most}, understand.Automation: {}, understand.Report: {}, understand.Sources: {understand.Since}, understand.Saving: {},
}

// rows are what an answer on a topic can be split into.
var rows = map[understand.Topic][]string{
	understand.Energy: {"zone", "floor", "meter", "hour", "day", "week", "month"}, understand.Cost: {"hour", "day", "week", "month"}, understand.Carbon: {"hour", "day", "week", "month"},
	understand.Power: {"zone", "floor", "meter", "hour", "day"}, understand.Lights: {"zone", "floor"}, understand.Shades: {"zone", "floor"}, understand.Inventory: {"zone", "floor", "bus"}, understand.Faults: {"zone", "floor"}, understand.Offline: {"zone", "floor"},
}

// unserved are the parts of a frame that no answer on its topic takes into account: a figure without them would be of another
// question.
func (a *asked) unserved() []string {
	f := a.q
	var left []string
	if ops, ok := served[f.Topic]; ok && f.Op != understand.Tell && !slices.Contains(ops, f.Op) {
		left = append(left, "“"+a.f(opWords[f.Op])+"”")
	}
	if f.Actor != "" && f.Op != understand.Who {
		left = append(left, "“"+a.f(opWords[understand.Who])+"”")
	}
	switch f.Topic { // figures and stocks are of everything, whatever it does at the moment
	case understand.Energy, understand.Power, understand.Cost, understand.Carbon, understand.Colour, understand.Inventory, understand.Report, understand.Saving, understand.Sources:
		if f.State != "" {
			left = append(left, "“"+a.f(string(f.State))+"”")
		}
	case understand.Shades:
		if f.State == understand.On || f.State == understand.Off {
			left = append(left, "“"+a.f(string(f.State))+"”")
		}
	case understand.Controllers:
		if len(f.Places)+len(f.Except) > 0 {
			left = append(left, a.f("a place"))
		}
	}
	ranks := f.Op == understand.Most || f.Op == understand.Least
	if ranks && f.By == "" && (f.Topic == understand.Inventory && f.Aspect != "size" || f.Topic == understand.Faults) {
		left = append(left, "“"+a.f(opWords[f.Op])+"”")
	}
	if f.Top > 0 && !ranks && f.Op != understand.Since && f.Op != understand.Who {
		left = append(left, fmt.Sprintf("“%d”", f.Top))
	}
	overTime := f.Op == understand.Usual || f.Op == understand.Trend || f.Op == understand.PerUnit && !(f.By == "floor" && f.Per == "m2")
	if f.By != "" && (overTime || f.Op == understand.Can) {
		left = append(left, a.f("“by %s”", a.noun(f.By)))
	}
	if f.Make != "" && (f.Op == understand.Can || f.Kind == understand.Meter) {
		left = append(left, a.f("a type"))
	}
	if f.Against != nil && f.Op != understand.Compare && f.Op != understand.Difference && f.Op != understand.Usual {
		left = append(left, a.f("a second time"))
	}
	if price, _ := a.priced(); f.By != "" && !slices.Contains(rows[f.Topic], f.By) || f.Topic == understand.Cost && price.PerKWh > 0 && f.By != "" && (f.By != "hour" || f.When != nil) { // only a total is reckoned
		left = append(left, a.f("“by %s”", a.noun(f.By)))
	}
	places := len(f.Mentioned()) > 1 && slices.Contains([]understand.Op{understand.Compare, understand.Difference, understand.Sum, understand.Share}, f.Op)
	if len(f.Except) > 0 && (places || f.Topic == understand.Saving || f.Topic == understand.Report && len(f.Places) > 0) {
		left = append(left, a.f("something left out"))
	}
	if f.Topic == understand.Faults && f.By != "" && f.When != nil && !f.When.Now { // those of a time are told one by one
		left = append(left, a.f("“by %s”", a.noun(f.By)))
	}
	if f.Topic == understand.Inventory && f.By != "" && f.Kind == understand.Meter {
		left = append(left, a.f("“by %s”", a.noun(f.By)))
	}
	if len(f.Having) > 0 && f.Op == understand.Can {
		left = append(left, a.f("what a place has or has not"))
	}
	if len(f.Having) > 0 && f.Topic != understand.Inventory && f.Topic != understand.Offline {
		left = append(left, a.f("what a place has or has not"))
	}
	if f.When != nil && !f.When.Now && !f.Is(understand.Future) && (f.Topic == understand.Saving || f.Topic == understand.Sources || f.Topic == understand.Controllers || f.Topic == understand.Inventory && (f.Op == understand.Can || f.Kind == understand.Meter || len(f.Having)+len(f.Conds) > 0)) {
		left = append(left, a.f("a time"))
	}
	left = append(left, a.unservedConds()...)
	if f.Per != "" && f.Op != understand.PerUnit {
		left = append(left, a.f("“per %s”", a.noun(f.Per)))
	}
	return left
}

// unservedConds are conditions that the operation does not take into account.
func (a *asked) unservedConds() []string {
	f := a.q
	if len(f.Conds) == 0 {
		return nil
	}
	period := f.When != nil && !f.When.Now
	onLights := f.Topic == understand.Lights && f.Conds[0].Unit != understand.Minutes && (f.Op == understand.Compare || f.Op == understand.Difference || f.Op == understand.Share || f.Op == understand.Most || f.Op == understand.Least || f.By != "")
	onThings := f.Topic == understand.Lights || f.Topic == understand.Shades
	ofCommand := f.Op == understand.Who || f.Op == understand.Why || f.Op == understand.Since
	switch {
	case len(f.Conds) > 1 && !(onThings && len(f.Conds) == 2 && f.Conds[0].Unit == understand.Percent && f.Conds[1].Unit == understand.Percent):
		return []string{a.f("two conditions")}
	case f.Op != understand.Tell && !(f.Op == understand.Since && f.Conds[0].Unit == understand.Minutes) && !onLights && !(f.Topic == understand.Shades && f.Op == understand.Share) && !(onThings && ofCommand && (f.Conds[0].Unit == understand.Percent || f.Conds[0].Unit == understand.Kelvin)) && !(f.Conds[0].Unit == understand.Part && (f.Topic == understand.Power || f.Topic == understand.Energy) && len(f.Mentioned()) == 1), f.Conds[0].Unit == understand.Part && f.Op != understand.Share, period && (f.Topic == understand.Power || f.Topic == understand.Offline):
		return []string{a.f("a condition")}
	}
	return nil
}

// opWords name operations for people.
var opWords = map[understand.Op]string{understand.Average: "on average", understand.Most: "the most", understand.Least: "the least", understand.Sum: "together", understand.Compare: "compared",
	understand.Difference: "the difference", understand.Share: "the share", understand.PerUnit: "per", understand.Trend: "the trend", understand.Since: "since when", understand.Who: "who", understand.Why: "why",
	understand.Can: "can it", understand.Same: "alike", understand.Usual: "usual"}
