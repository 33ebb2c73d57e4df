package assistant

import (
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// momentMost is how long a time may be that is asked for as a moment, such as "at 6 pm".
const momentMost = 15 * time.Minute

// during answers what was on, off, open or closed in a time that is past, and for how long; false: that is not what is asked, or
// nothing of it is kept.
func (a *asked) during(t facts.Things, kind string) (answer, bool, error) {
	words := stateWords[a.q.State]
	if words == nil && a.q.Op == understand.Since {
		words = stateWords[map[string]understand.State{platform.KindLight: understand.On, platform.KindShade: understand.Open}[kind]]
	}
	if words == nil || a.q.Op != understand.Tell && a.q.Op != understand.Since || len(a.q.Conds) > 0 || a.q.By != "" {
		return answer{}, false, nil
	}
	span := *a.q.When
	if span.To.After(a.site.Now) {
		span.To = a.site.Now
	}
	all, known, err := a.site.DuringOf(a.ctx, t.All, wireKind[kind], words, span.From, span.To)
	if err != nil || !known {
		return answer{}, false, err
	}
	whole := span.To.Sub(span.From)
	lines, order := map[string][]facts.Thing{}, []string{}
	var unknown []facts.Thing
	some, always := 0, 0
	broken := false // something was not so for some of the time, for sure
	for _, d := range all {
		so := time.Duration(d.So)
		broken = broken || so+time.Duration(d.Unknown) < whole*99/100
		switch {
		case so == 0 && time.Duration(d.Unknown) > whole/100:
			unknown = append(unknown, d.Thing)
			continue
		case so == 0:
			continue
		case so >= whole*99/100:
			always++
		}
		some++
		long := a.soLong(d, whole)
		if lines[long] == nil {
			order = append(order, long)
		}
		lines[long] = append(lines[long], d.Thing)
	}
	word := a.f(words[0])
	if len(words) > 1 {
		word = a.f(isWords["part"])
	}
	head := a.f("%d of %s%s: %s, %s.", some, a.count(len(all), kind), a.in(), word, a.period(*a.q.When))
	switch {
	case len(unknown) == len(all):
		return answer{sentences(a.f("I do not know: of that time not enough is kept%s.", a.in()), a.basis(t.Basis)), all}, true, nil
	case a.q.Is(understand.None):
		head = a.none(some, map[bool]string{true: "?"}[len(unknown) > 0]) + lower(head)
	case a.q.Form == understand.Check && a.q.Is(understand.All) && (broken || always == len(all)):
		head = a.yesNo(always == len(all)) + lower(head)
	case a.q.Form == understand.Check && !a.q.Is(understand.All) && (some > 0 || len(unknown) == 0):
		head = a.yesNo(some > 0) + lower(head)
	case a.q.Form == understand.Check:
		head = a.f("As far as I know: ") + lower(head)
	}
	var named []string
	for _, long := range order {
		named = append(named, a.few(kind, lines[long], nil)+long)
	}
	list := ""
	if len(named) > 0 {
		list = a.lines(named, thoseTold)
	}
	doubt := ""
	if len(unknown) > 0 {
		doubt = a.f("Not known: %s.", a.few(kind, unknown, nil))
	}
	return answer{sentences(a.partly(), head, list, doubt, a.watched(), a.basis(t.Basis)), all}, true, nil
}

// soLong words after names how long they were so; nothing of a moment.
func (a *asked) soLong(d facts.During, whole time.Duration) string {
	switch unknown := time.Duration(d.Unknown); {
	case whole <= momentMost:
		return ""
	case time.Duration(d.So) >= whole*99/100:
		return a.f(": all the time")
	case unknown > whole/100:
		return a.f(": %s, and of %s it is not known", lengthIn(a.q.Lang, time.Duration(d.So)), lengthIn(a.q.Lang, unknown))
	}
	return ": " + lengthIn(a.q.Lang, time.Duration(d.So))
}
