package assistant

import (
	"context"
	"slices"
	"strings"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// asked is one question to one site while it is answered.
type asked struct {
	ctx     context.Context
	site    *facts.Site
	message string // as it was said
	q       understand.Frame
	scope   facts.Scope
	price   Price
	// What a model took it for, at the beginning of the answer, or why it did not help, at the end. Empty if none was asked.
	took, note string
}

// answer is text with the facts behind it.
type answer struct {
	text string
	data any
}

// where names the scope inside a sentence.
func (a *asked) where() string {
	switch {
	case a.scope.Whole():
		return a.f("the building")
	case len(a.q.Places) == 0 && a.scope.Out != nil:
		return a.f("the building") + " " + a.scope.Label
	}
	return a.scope.Label
}

// in is the scope after "on" or "in"; empty for the whole building.
func (a *asked) in() string {
	if a.scope.Whole() {
		return ""
	}
	if len(a.q.Places) == 0 && a.scope.Out != nil {
		return " " + a.scope.Label
	}
	if a.scope.Floor != "" && storey(a.scope.Floor) {
		return a.f(" on ") + a.scope.Label
	}
	if n := len(a.scope.Devices) + len(a.scope.Shades); n == 1 && len(a.scope.Zones) == 0 {
		return a.f(" for ") + a.scope.Label
	} else if n > 0 && len(a.scope.Zones) == 0 {
		return a.f(" among ") + a.scope.Label
	}
	return a.f(" in ") + a.scope.Label
}

// storey reports whether a floor is named as one: things are on the ground floor, and in the annex.
func storey(name string) bool {
	return slices.ContainsFunc([]string{"floor", "level", "storey", "etage", "stock", "geschoss", "keller", "basement"}, func(w string) bool { return strings.Contains(strings.ToLower(name), w) })
}

// partly tells which names were meant where only a part of them was said.
func (a *asked) partly() string {
	var names []string
	for _, p := range a.q.Places {
		if p.Partly {
			names = append(names, label(p.Name))
		}
	}
	if len(names) < 2 {
		return ""
	}
	return a.f("I took that as %s.", a.some(names, 6))
}

// strange words name nothing here; the answer says so and what there is instead.
func (a *asked) strange() string {
	if a.q.Unclear == nil {
		return ""
	}
	words, verb := a.unclear(), slices.ContainsFunc(a.q.Unclear.Words, a.actsLike)
	if verb {
		return a.f("I do not understand %s here.", a.list(words))
	}
	return a.f("I know nothing called %s in %s.", a.list(words), quoted(a.site.Name()))
}

// unclear are the words that keep a sentence from being answered or done, each once.
func (a *asked) unclear() (words []string) {
	for _, w := range a.q.Unclear.Words {
		if q := quoted(a.asSaid(w)); !slices.Contains(words, q) {
			words = append(words, q)
		}
	}
	return words
}

// asSaid are words of the message with their own large letters.
func (a *asked) asSaid(words string) string {
	low := strings.ToLower(a.message)
	if i := strings.Index(low, words); i >= 0 && len(low) == len(a.message) {
		return a.message[i : i+len(words)]
	}
	return words
}

// ahead are words that something is done or said behind, not named.
var ahead = []string{"to", "i", "we", "you", "he", "she", "they", "somebody", "someone", "anybody", "anyone", "nobody", "people", "not", "than",
	"ich", "wir", "du", "sie", "er", "jemand", "man", "nicht", "als"}

// actsLike reports whether words that were not understood are no name of anything, by their form and what stands before them:
// nobody calls a room "forgetting" or "did somebody forget".
func (a *asked) actsLike(words string) bool {
	said := bareWords(a.message)
	parts := bareWords(words)
	if len(parts) == 0 {
		return false
	}
	i := slices.Index(said, parts[0])
	form := len(parts) == 1 && (strings.HasSuffix(words, "ing") || strings.HasSuffix(words, "ly") || strings.HasSuffix(words, "ed") && len(words) > 4)
	return form || i > 0 && slices.Contains(ahead, said[i-1]) || len(parts) == 1 && slices.Contains(ahead, parts[0])
}

// around lists what there is, for somebody who named something that is not there.
func (a *asked) around() string {
	var zones, floors []string
	for _, z := range a.site.Zones {
		zones = append(zones, label(z.Name))
	}
	for _, f := range a.site.Building.Floors {
		floors = append(floors, label(f.Name))
	}
	text := ""
	if len(zones) > 0 {
		text = a.f("The zones are %s.", a.first(zones))
	}
	if len(floors) > 0 {
		text += " " + a.f("The floors are %s.", a.first(floors))
	}
	return strings.TrimSpace(text)
}

// nearest offers what may have been meant, or tells how to hear what there is.
func (a *asked) nearest() string {
	var names, near []string
	for _, z := range a.site.Zones {
		names = append(names, label(z.Name))
	}
	for _, f := range a.site.Building.Floors {
		names = append(names, label(f.Name))
	}
	for _, w := range a.q.Unclear.Words {
		for _, name := range understand.Near(w, names) {
			if !slices.Contains(near, name) {
				near = append(near, name)
			}
		}
	}
	if len(near) > 0 {
		return a.f("Perhaps you mean %s.", a.some(near, 3))
	}
	return a.f("Ask for the zones or the floors to hear what there is.")
}

// first are names, not too many to be read, and no figure of how many more there are.
func (a *asked) first(names []string) string {
	const most = 10
	if len(names) <= most {
		return a.list(names)
	}
	return strings.Join(names[:most], ", ") + ", …"
}

// span is the period of the question, or today.
func (a *asked) span() understand.Span {
	if a.q.When != nil && !a.q.When.Now {
		return *a.q.When
	}
	return day(a.site.Now, 0, a.f("today"))
}

// day is a calendar day in the building's time zone.
func day(now time.Time, offset int, label string) understand.Span {
	y, m, d := now.Date()
	from := time.Date(y, m, d+offset, 0, 0, 0, 0, now.Location())
	return understand.Span{From: from, To: from.AddDate(0, 0, 1), Label: label}
}

// past reports whether the question is about a time for which only measured energy and events are kept.
func (a *asked) past() bool {
	return a.q.When != nil && !a.q.When.Now && a.site.Now.Sub(a.q.When.To) > 0
}

// before reports whether it is asked how things were in a time that has begun at least.
func (a *asked) before() bool {
	since := a.site.Now.Add(-momentMost)
	if a.q.Is(understand.Past) { // "which were on at 5:36", asked at 5:39
		since = a.site.Now.Add(-time.Minute)
	}
	begun := a.q.When != nil && !a.q.When.Now && a.q.When.From.Before(since)
	return a.past() || begun && (a.q.Is(understand.Past) || a.q.When.To.Equal(a.site.Now))
}

// zonesIn are the zones of the scope.
func (a *asked) zonesIn() []platform.Zone {
	return slices.DeleteFunc(slices.Clone(a.site.Zones), func(z platform.Zone) bool { return !a.scope.HasZone(z) })
}
