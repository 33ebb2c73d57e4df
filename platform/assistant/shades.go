package assistant

import (
	"cmp"
	"fmt"
	"slices"

	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/assistant/question"
)

// A shade within this of an end counts as being there.
const shadeEnd = 1.5 // percent

// shades answers how far shades are open, and which move.
func (a *asked) shades() (answer, error) {
	t := a.site.Positions(a.scope)
	if text := a.noneOf(t, "shade"); text != "" {
		return answer{text, t}, nil
	}
	if a.past() || a.q.Op == question.Since {
		return answer{text: "I do not know: positions are reported as they are now, and their history is not kept."}, nil
	}
	if a.q.State == question.Unread {
		return a.unread(t, "shade", "position"), nil
	}
	keep, words := a.shadeFilter()
	if a.q.State == question.Moving {
		return a.movingShades(t)
	}
	if len(t.All) == 1 {
		return a.oneShade(t, keep)
	}
	if a.q.Op == question.Average {
		return a.allShades(t)
	}
	if keep == nil && a.q.Op != question.Most && a.q.Op != question.Least {
		return a.allShades(t)
	}
	current := t.Where(facts.Current, keep)
	if a.q.Op == question.Most || a.q.Op == question.Least {
		current = t.Where(facts.Current, nil)
		slices.SortStableFunc(current, func(x, y facts.Thing) int { return cmp.Compare(*y.Value, *x.Value) })
		if a.q.Op == question.Least || a.q.State == question.Closed {
			slices.Reverse(current)
		}
		current = current[:min(len(current), max(a.q.Top, 1))]
		return answer{sentences(a.named(current), a.doubts(t, "shade"), a.basis(t.Basis)), current}, nil
	}
	doubts := a.doubts(t, "shade")
	var head string
	switch {
	case t.Basis.Readings == 0:
		head = "I do not know: of " + count(len(t.All), "shade") + a.in() + " none has a current position."
	case len(current) == 0:
		head = fmt.Sprintf("None of the %d with a known position%s is %s.", t.Basis.Readings, a.in(), words)
	case len(current) == len(t.All):
		head = fmt.Sprintf("All %s%s are %s.", count(len(current), "shade"), a.in(), words)
	default:
		head = fmt.Sprintf("%d of %s%s %s %s.", len(current), count(len(t.All), "shade"), a.in(), are(len(current)), words)
	}
	if a.q.Op == question.Check && t.Basis.Readings > 0 {
		if yes := len(current) > 0 && (!a.q.Is(question.All) || len(current) == len(t.All)); yes {
			head = "Yes: " + lower(head)
		} else {
			head = "No: " + lower(head)
		}
	}
	return answer{sentences(a.partly(), head, a.openings(current), doubts, a.basis(t.Basis)), map[string]any{"matching": current, "all": t}}, nil
}

// openings lists positions in words.
func (a *asked) openings(found []facts.Thing) string {
	var lines []string
	for _, one := range found {
		lines = append(lines, fmt.Sprintf("%s %s open", label(one.Name), percent(*one.Value)))
	}
	if len(lines) == 0 {
		return ""
	}
	return upper(some(lines, 30)) + "."
}

func (a *asked) shadeFilter() (func(facts.Thing) bool, string) {
	switch {
	case a.q.Bound != nil:
		b := *a.q.Bound
		return func(t facts.Thing) bool { return b.Holds(*t.Value) }, "open as far as asked"
	case a.q.State == question.Open:
		return func(t facts.Thing) bool { return *t.Value > shadeEnd }, "open, wholly or partly"
	case a.q.State == question.Closed:
		return func(t facts.Thing) bool { return *t.Value <= shadeEnd }, "closed"
	}
	return nil, ""
}

// oneShade answers about a single shade; keep is the filter of the question, nil without one.
func (a *asked) oneShade(t facts.Things, keep func(facts.Thing) bool) (answer, error) {
	one := t.All[0]
	if one.Condition != facts.Current {
		return answer{sentences("I do not know: "+a.silence(one)+".", a.basis(t.Basis)), t}, nil
	}
	text := fmt.Sprintf("%s is %s open", label(one.Name), percent(*one.Value))
	if one.Motion != "" && one.Motion != "unknown" {
		text += " and " + one.Motion
	}
	if a.q.Op == question.Check && keep != nil {
		text = yesNo(keep(one)) + text
	}
	return answer{sentences(text+".", a.basis(t.Basis)), t}, nil
}

func (a *asked) movingShades(t facts.Things) (answer, error) {
	var lines []string
	for _, one := range t.All {
		if one.Condition == facts.Current && (one.Motion == "opening" || one.Motion == "closing" || one.Motion == "moving") {
			lines = append(lines, label(one.Name)+" ("+one.Motion+")")
		}
	}
	head := "No shade" + a.in() + " is reported as moving."
	if len(lines) > 0 {
		head = fmt.Sprintf("%s%s %s moving: %s.", upper(count(len(lines), "shade")), a.in(), are(len(lines)), some(lines, 20))
	}
	return answer{sentences(head, a.doubts(t, "shade"), a.basis(t.Basis)), t}, nil
}

func (a *asked) allShades(t facts.Things) (answer, error) {
	open := len(t.Where(facts.Current, func(one facts.Thing) bool { return *one.Value >= 100-shadeEnd }))
	closed := len(t.Where(facts.Current, func(one facts.Thing) bool { return *one.Value <= shadeEnd }))
	text := fmt.Sprintf("Of %s%s %d %s fully open, %d closed and %d in between.", count(len(t.All), "shade"), a.in(), open, are(open), closed, t.Basis.Readings-open-closed)
	if mean, ok := t.Mean(); ok {
		text += fmt.Sprintf(" The mean is %s open.", percent(mean))
	} else {
		text = "I do not know: of " + count(len(t.All), "shade") + a.in() + " none has a current position."
	}
	return answer{sentences(a.partly(), text, a.openings(t.Where(facts.Current, nil)), a.doubts(t, "shade"), a.basis(t.Basis)), t}, nil
}
