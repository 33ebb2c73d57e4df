package assistant

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// everyCommand answers what was commanded of lights and of shades.
func (a *asked) everyCommand() (answer, error) {
	a.q.Kind = ""
	lights, shades := a.site.Levels(a.scope), a.site.Positions(a.scope)
	if a.q.Aspect == "last" || a.q.Aspect == "often" || a.q.Aspect == "failed" || a.q.Top > 0 || a.q.When != nil && !a.q.When.Now { // of a time, all there were
		return a.newest(map[string][]facts.Thing{platform.KindLight: lights.All, platform.KindShade: shades.All})
	}
	switch {
	case len(lights.All) == 0 && len(shades.All) == 0:
		return answer{text: a.noneOf(lights, "light")}, nil
	case len(shades.All) == 0:
		return a.who(lights, platform.KindLight)
	case len(lights.All) == 0:
		return a.who(shades, platform.KindShade)
	}
	first, err := a.who(lights, platform.KindLight)
	if err != nil {
		return answer{}, err
	}
	second, err := a.who(shades, platform.KindShade)
	return answer{joinLines([]string{a.f("Lights: ") + first.text, a.f("Shades: ") + second.text}), []any{first.data, second.data}}, err
}

// newest answers which commands were the last ones, or the last.
func (a *asked) newest(of map[string][]facts.Thing) (answer, error) {
	from, to := a.site.Now.Add(-platform.HistoryKept), a.site.Now.Add(time.Minute)
	if a.q.When != nil && !a.q.When.Now {
		from, to = a.q.When.From, a.q.When.To
	}
	most := max(a.q.Top, 1)
	if a.q.Aspect != "last" && a.q.Top == 0 {
		most = peopleMost
	}
	c, err := a.site.NewestCommands(a.ctx, of, from, to, a.wantedCommand(), a.q.Aspect == "failed", most)
	switch {
	case err != nil:
		return answer{}, err
	case !c.Reported:
		return a.unkept(), nil
	case !c.Since.Before(to):
		return answer{a.f("I do not know: the controller reports its ledger only since %s.", momentIn(a.q.Lang, c.Since, a.site.Now)), c}, nil
	}
	source := a.f("Source: the ledger that controller %s reports.", quoted(a.site.Name()))
	lines, head := a.commandLines(c), ""
	switch since := a.sinceWhen(from, c.Since); {
	case len(lines) > 0 && a.q.Aspect == "failed":
		head = sentences(a.f("These did not do what they were told:"), a.lines(lines, commandsTold))
	case a.q.Aspect == "failed":
		head = a.f("No failed command is reported%s since %s.", a.in(), since)
	case len(lines) > 0 && (a.q.Aspect == "often" || a.q.Form == understand.Count):
		head = a.f("%s since %s: %s.", upper(a.count(len(lines), "command")), since, a.byWhom(c))
		if len(lines) <= behind {
			head = sentences(head, a.lines(lines, commandsTold))
		}
	case len(lines) > 0:
		head = a.lines(lines, commandsTold)
	case a.q.Actor != "":
		head = a.f("No such command by %s is reported%s since %s.", label(a.q.Actor), a.in(), since)
	default:
		head = a.f("No such command is reported since %s.", since)
	}
	without := ""
	if a.q.Aspect == "failed" {
		if without, err = a.calledDone(of, from, to, c); err != nil {
			return answer{}, err
		}
	}
	if ofTime := a.q.When != nil && !a.q.When.Now; ofTime && most == peopleMost && a.q.Aspect != "failed" {
		failed, err := a.site.NewestCommands(a.ctx, of, from, to, a.wantedCommand(), true, most)
		if err != nil {
			return answer{}, err
		}
		if not := a.commandLines(failed); len(not) > 0 {
			without = a.f("Not done, though commanded: %s", a.lines(not, behind))
		}
		if left := untold(of, facts.Commands{Last: slices.Concat(c.Last, failed.Last)}); len(left) > 0 && a.q.Actor == "" && a.q.Form != understand.Count && a.q.Aspect != "often" {
			names := a.few("", left, nil)
			if len(left) > 10 && len(c.Last) > 0 {
				names = a.f("the other %d", len(left))
			}
			without = sentences(without, a.f("No such command of the controller is reported %s for %s.", a.period(understand.Span{From: c.Since, To: to, Label: a.q.When.Label}), names))
		}
	}
	return answer{sentences(a.partly(), head, without, source), c}, nil
}

// sinceWhen words from when on commands are told, and that they are reported for a shorter time only.
func (a *asked) sinceWhen(from, reported time.Time) string {
	if a.q.When == nil || a.q.When.Now || !reported.After(from) {
		return momentIn(a.q.Lang, reported, a.site.Now)
	}
	return a.f("%s (reported only since %s)", momentIn(a.q.Lang, from, a.site.Now), momentIn(a.q.Lang, reported, a.site.Now))
}

// byWhom counts commands by who gave them, most first.
func (a *asked) byWhom(c facts.Commands) string {
	n := map[string]int{}
	for _, one := range c.Last {
		n[one.Who]++
	}
	who := slices.SortedFunc(maps.Keys(n), func(x, y string) int { return cmp.Or(n[y]-n[x], strings.Compare(x, y)) })
	var parts []string
	for _, w := range who {
		name := a.f("by %s", label(w))
		if w == "" {
			name = a.f("by somebody who is not named")
		}
		parts = append(parts, fmt.Sprintf("%d %s", n[w], name))
	}
	return a.some(parts, thoseTold)
}

// untold are the things of which no command tells.
func untold(of map[string][]facts.Thing, c facts.Commands) (left []facts.Thing) {
	for _, kind := range []string{platform.KindLight, platform.KindShade} {
		for _, t := range of[kind] {
			if !slices.ContainsFunc(c.Last, func(one facts.Commanded) bool {
				return strings.HasPrefix(one.Do, kind) && slices.ContainsFunc(one.Things, func(o facts.Thing) bool { return o.ID == t.ID })
			}) {
				left = append(left, t)
			}
		}
	}
	return left
}

// commandsTold is how many commands are put into words.
const commandsTold = 6

// commandWords tell what was commanded, when and by whom.
func (a *asked) commandWords(c platform.Command) string {
	what := a.f(doWords[c.Do])
	switch {
	case c.Do == "light-level" && c.Value != nil && *c.Value == 0:
		what = a.f(doWords["light-off"])
	case c.Value != nil && c.Do == "light-kelvin":
		what = a.f("set to %.0f K", *c.Value)
	case c.Value != nil && c.Do == "shade-move-to":
		what = a.f("moved to %s open", percent(*c.Value))
	case c.Value != nil:
		what = a.f("set to %s", percent(*c.Value))
	case what == "":
		what = a.f("commanded")
	}
	text := what + ", " + momentIn(a.q.Lang, c.At, a.site.Now)
	switch who := label(c.Who); {
	case c.Via == "automation":
		text += ", " + a.f("by the rule %s", quoted(c.Who))
	case who == "":
		text += ", " + a.f("by somebody who is not named")
	default:
		text += ", " + a.f("by %s", who)
	}
	if via, ok := viaWords[c.Via]; ok {
		text += " " + a.f(via)
	}
	byHand := c.Via == "panel" || c.Via == "voice" || c.Via == "assistant" // its reason is the widget that was touched
	switch {
	case c.Why != "" && !byHand && (c.Via == "automation" || a.q.Op == understand.Why):
		text += ", " + a.f("reason: %s", quoted(c.Why))
	case a.q.Op == understand.Why:
		text += ", " + a.f("a reason is not told")
	}
	return text
}

// viaWords word the doors of a controller.
var viaWords = map[string]string{"public-api": "through the public API", "admin-api": "on the controller's own pages", "console": "on its console", "panel": "at a panel", "voice": "by voice", "assistant": "through the assistant"}

// doWords word commands that have no figure.
var doWords = map[string]string{"light-on": "switched on", "light-off": "switched off", "light-level": "set", "light-kelvin": "set in colour temperature", "light-rgbw": "set in colour",
	"shade-open": "opened", "shade-close": "closed", "shade-stop": "stopped", "shade-move-to": "moved", "": ""}

// obeys reports whether a level or a position is what a command set it to, or the command sets none.
func obeys(value float64, c platform.Command) bool {
	to, ok := map[string]float64{"light-off": 0, "shade-open": 100, "shade-close": 0}[c.Do]
	if c.Value != nil && (c.Do == "light-level" || c.Do == "shade-move-to") {
		to, ok = *c.Value, true
	}
	return !ok || math.Abs(value-to) < astray
}

// astray is from how many points on a thing is not where it was told to be: positions are reckoned from times.
const astray = 5

// calledDone tells of things that the ledger has no failure of, that have a fault and are not as they were told last; empty: of none.
func (a *asked) calledDone(of map[string][]facts.Thing, from, to time.Time, failed facts.Commands) (string, error) {
	f, err := a.site.FaultsOf(a.ctx, a.scope, "", time.Time{}, time.Time{})
	if err != nil {
		return "", err
	}
	var lines []string
	for _, kind := range []string{platform.KindLight, platform.KindShade} {
		faulty := slices.DeleteFunc(slices.Clone(of[kind]), func(t facts.Thing) bool {
			faulty := slices.ContainsFunc(f.Present, func(one facts.Fault) bool {
				return one.ID == t.ID && one.Kind != "bus" && (one.Kind == "shade") == (kind == platform.KindShade)
			})
			told := slices.ContainsFunc(failed.Last, func(c facts.Commanded) bool {
				return strings.HasPrefix(c.Do, kind) && slices.ContainsFunc(c.Things, func(o facts.Thing) bool { return o.ID == t.ID })
			})
			return !faulty || told
		})
		if len(faulty) == 0 {
			continue
		}
		c, err := a.site.LastCommands(a.ctx, faulty, kind, from, to, a.wantedCommand())
		if err != nil {
			return "", err
		}
		for _, one := range c.Last {
			one.Things = slices.DeleteFunc(one.Things, func(t facts.Thing) bool { return t.Condition != facts.Current || obeys(*t.Value, one.Command) })
			if len(one.Things) > 0 {
				lines = append(lines, a.commandLines(facts.Commands{Last: []facts.Commanded{one}})...)
			}
		}
	}
	if len(lines) == 0 {
		return "", nil
	}
	return a.f("No failure is reported of these commands, but what they were for has a fault and is not as it was told: %s", a.lines(lines, behind)), nil
}
