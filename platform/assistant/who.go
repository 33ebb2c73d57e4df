package assistant

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// who answers who switched or moved things last, through what, when and, where it is asked or known, why.
func (a *asked) who(t facts.Things, kind string) (answer, error) {
	from, to := a.site.Now.Add(-platform.HistoryKept), a.site.Now.Add(time.Minute)
	if a.q.When != nil && !a.q.When.Now {
		from, to = a.q.When.From, a.q.When.To
	}
	things, wanted := t.All, a.wantedCommand()
	ofNow := a.q.When == nil || a.q.When.Now
	asItIs := ofNow && (a.q.Op == understand.Why || a.q.Op == understand.Since || a.level() != nil || a.q.Is(understand.Follows) || a.q.Is(understand.Still)) // how it is, not who last made it so
	if asItIs {
		things, wanted = a.inState(t), func(c platform.Command) bool { return a.q.Actor == "" || c.Who == a.q.Actor }
	}
	c, err := a.site.LastCommands(a.ctx, things, kind, from, to, wanted)
	if err != nil {
		return answer{}, err
	}
	switch {
	case !c.Reported:
		return a.unkept(), nil
	case !c.Since.Before(to):
		return answer{a.f("I do not know: the controller reports its ledger only since %s.", momentIn(a.q.Lang, c.Since, a.site.Now)), c}, nil
	}
	if text := a.notSo(t, kind); a.q.Is(understand.Still) && text != "" {
		return answer{sentences(text, a.doubts(t, kind), a.basis(t.Basis)), t}, nil
	}
	lines := a.commandLines(c)
	head := a.lines(lines, commandsTold)
	if len(lines) == 0 && ofNow {
		head = a.f("I do not know.")
	} else if len(lines) == 0 {
		head = ""
	} else if a.q.Op != understand.Who {
		head = sentences(a.f("As far as commands tell:"), head)
	}
	if asItIs {
		head = sentences(a.notSo(t, kind), head)
	} else if text := a.notSo(t, kind); len(lines) == 0 && ofNow && text != "" { // it is not so, and nobody made it so
		none := a.f("No such command of the controller is reported since %s.", momentIn(a.q.Lang, c.Since, a.site.Now))
		return answer{sentences(text, none, a.f("Source: the ledger that controller %s reports.", quoted(a.site.Name()))), c}, nil
	}
	without := ""
	if a.q.Actor != "" && len(lines) == 0 {
		head, without = "", a.f("No such command by %s is reported%s since %s.", label(a.q.Actor), a.in(), momentIn(a.q.Lang, c.Since, a.site.Now))
	} else if len(c.Without) > 0 && a.q.Actor == "" {
		names := a.few(kind, c.Without, nil)
		if len(lines) > 0 && len(c.Without) > 10 {
			names = a.f("the other %d", len(c.Without))
		}
		if ofNow {
			without = a.f("No such command of the controller is reported since %s for %s: it was done by hand at the device, in another way, or before.", momentIn(a.q.Lang, c.Since, a.site.Now), names)
		} else {
			without = a.f("No such command of the controller is reported %s for %s.", a.period(understand.Span{From: c.Since, To: to, Label: a.q.When.Label}), names)
		}
	}
	after := ""
	if ofNow && a.q.Actor == "" && (a.q.State == "" || asItIs) { // of one person's commands it is not known what others did since
		after = a.sinceThen(t, c)
	}
	source := a.f("Source: the ledger that controller %s reports.", quoted(a.site.Name())) + awayIn(a.q.Lang, t.Basis, a.site.Now)
	return answer{sentences(a.partly(), head, without, after, source), c}, nil
}

// commandLines tell what was commanded of which things.
func (a *asked) commandLines(c facts.Commands) []string {
	var lines []string
	for _, one := range c.Last {
		lines = append(lines, a.few(kindOf(one.Do), one.Things, nil)+": "+a.commandWords(one.Command))
	}
	return lines
}

// commandedSo tells by which commands things came to be as is asked, where the history does not say when; empty: none is known.
func (a *asked) commandedSo(t facts.Things, kind string, holds []facts.Hold) (string, error) {
	if a.q.State == "" || !slices.ContainsFunc(holds, func(h facts.Hold) bool { return h.Is != "" && h.Until.IsZero() && !h.Sharp() }) {
		return "", nil
	}
	c, err := a.site.LastCommands(a.ctx, t.All, kind, a.site.Now.Add(-platform.HistoryKept), a.site.Now.Add(time.Minute), a.wantedCommand())
	if lines := a.commandLines(c); err == nil && len(lines) > 0 {
		return sentences(a.f("As far as commands tell:"), a.lines(lines, commandsTold)), nil
	}
	return "", err
}

// people are those in the ledger of whom a sentence may speak by words that name nothing of the building, or that might; nil: there are none.
func (e *Assistant) people(ctx context.Context, site building, message string, read understand.Frame) []understand.Name {
	words := bareWords(message)
	switch u := read.Unclear; {
	case u != nil && u.Why == understand.Words && read.Topic != understand.Order:
		words = bareWords(strings.Join(u.Words, " "))
	case u != nil && u.Why == understand.Conflict && read.Topic != understand.Order && slices.ContainsFunc(u.Words, func(w string) bool { return slices.Contains(accountWords, w) }):
	case u == nil && read.Topic == understand.Report && (slices.Contains(words, "did") || slices.Contains(words, "hat")): // "what did facility do"
	default:
		return nil
	}
	l, err := e.Sites.Ledger(ctx, site.Controller.ID, site.Now.Add(-platform.HistoryKept), site.Now.Add(time.Minute), peopleMost)
	if err != nil { // the words are refused then, which is true as well
		e.Log.Warn("the ledger was not read", "controller", site.Controller.ID, "error", err)
		return nil
	}
	var all []understand.Name
	said := false
	for _, c := range l.Commands {
		one := understand.Name{Place: understand.Place{Kind: understand.Person, Name: c.Who}, Text: c.Who}
		if c.Who == "" || slices.Contains(all, one) {
			continue
		}
		all = append(all, one)
		said = said || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(bareWords(c.Who), w) })
	}
	if !said && understand.Read(message, names(site.Site, all...), site.Now).Actor == "" { // by another word: "der Nachtwächter"
		return nil
	}
	return all
}

// accountWords stand before the name of a person or a key.
var accountWords = []string{"user", "account", "login", "key", "benutzer", "nutzer", "konto", "schlüssel"}

// bareWords are the words of a text, without quotes and the like.
func bareWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// peopleMost bounds the commands that people are looked for in.
const peopleMost = 500

// inState are the things that are as the question says; if none is, what they do instead is what wants explaining.
func (a *asked) inState(t facts.Things) []facts.Thing {
	found := t.Where(facts.Current, func(one facts.Thing) bool {
		return isSo(a.q.State, *one.Value) && (a.level() == nil || a.level().Holds(*one.Value))
	})
	if len(found) == 0 {
		return t.All
	}
	return found
}

// notSo says that nothing is as the question takes for granted: "why is it off", of what is on.
func (a *asked) notSo(t facts.Things, kind string) string {
	if a.q.State == "" && a.level() == nil {
		return ""
	}
	current := t.Where(facts.Current, nil)
	keep, words := a.wanted()
	if kind == platform.KindShade {
		if keep, words = a.shadeFilter(); keep == nil {
			return ""
		}
	}
	if len(current) < len(t.All) || slices.ContainsFunc(current, keep) {
		return ""
	}
	if len(current) == 1 && kind == platform.KindLight {
		return a.f("No, it is not so: %s.", a.lightState(current[0]))
	}
	return a.f("No, it is not so: none of the %s%s is %s.", a.count(len(t.All), kind), a.in(), words)
}

// isSo reports whether a level or a position is one of a state; of no state, each is.
func isSo(s understand.State, value float64) bool {
	switch s {
	case understand.On:
		return value > 0
	case understand.Off:
		return value == 0
	case understand.Open:
		return value > shadeEnd
	case understand.Closed:
		return value <= shadeEnd
	}
	return true
}

// lines are the first of a list as a sentence, and how many more there are.
func (a *asked) lines(list []string, most int) string {
	n := min(len(list), most)
	text := upper(strings.Join(list[:n], "; ")) + "."
	if more := len(list) - n; more > 0 {
		text = sentences(text, a.f("And %d more; name a place or a time to hear of them.", more))
	}
	return text
}

// wantedCommand keeps the commands that brought what is asked about: "who switched it off" is not who switched it on.
func (a *asked) wantedCommand() func(platform.Command) bool {
	wanted := a.wantedDo()
	door, ofDoor := strings.CutPrefix(a.q.Aspect, understand.Through)
	return func(c platform.Command) bool {
		return (a.q.Actor == "" || c.Who == a.q.Actor) && (!ofDoor || c.Via == door) && wanted(c)
	}
}

func (a *asked) wantedDo() func(platform.Command) bool {
	to := func(c platform.Command, word string, zero bool) bool {
		if c.Value != nil && (c.Do == "light-level" || c.Do == "shade-move-to") {
			return (*c.Value == 0) == zero
		}
		return c.Do == word
	}
	if level := a.level(); level != nil {
		return func(c platform.Command) bool {
			return c.Value != nil && (c.Do == "light-level" || c.Do == "shade-move-to") && level.Holds(*c.Value)
		}
	}
	kelvin := a.cond(understand.Kelvin)
	switch a.q.Aspect {
	case "kelvin":
		return func(c platform.Command) bool {
			return c.Do == "light-kelvin" && (kelvin == nil || c.Value != nil && kelvin.Holds(*c.Value))
		}
	case "hue":
		return func(c platform.Command) bool { return c.Do == "light-rgbw" }
	}
	switch a.q.State {
	case understand.On:
		return func(c platform.Command) bool { return to(c, "light-on", false) }
	case understand.Off:
		return func(c platform.Command) bool { return to(c, "light-off", true) }
	case understand.Open:
		return func(c platform.Command) bool { return to(c, "shade-open", false) }
	case understand.Closed:
		return func(c platform.Command) bool { return to(c, "shade-close", true) }
	}
	return func(platform.Command) bool { return true }
}

// sinceThen names what is not as it was last commanded: the ledger does not tell what somebody did at the device.
func (a *asked) sinceThen(t facts.Things, c facts.Commands) string {
	var other []facts.Thing
	for _, one := range c.Last {
		dark := one.Do == "light-off" || one.Do == "light-level" && one.Value != nil && *one.Value == 0
		lit := one.Do == "light-on" || one.Do == "light-level" && !dark
		for _, thing := range one.Things {
			if v := thing.Value; thing.Condition == facts.Current && v != nil && thing.At.After(one.At) && (dark && *v > 0 || lit && *v == 0) {
				other = append(other, thing)
			}
		}
	}
	if len(other) == 0 {
		return ""
	}
	return a.f("Since then these changed without a command of the controller: %s.", a.few(platform.KindLight, other, nil))
}
