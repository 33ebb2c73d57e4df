package assistant

import (
	"regexp"
	"slices"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// named lists lights with their values, by zone or floor where that is too much.
func (a *asked) named(found []facts.Thing) string {
	if len(found) == 0 {
		return ""
	}
	entries := a.entries(platform.KindLight, found, lightValue)
	if len(entries) > thoseTold && slices.ContainsFunc(found, func(one facts.Thing) bool { return !slices.Equal(one.Zones, found[0].Zones) }) {
		return a.byPlace(found)
	}
	if v, ok := a.each(found, lightValue); ok {
		return a.f("Each is at %s.", v)
	}
	return upper(a.those(platform.KindLight, found, lightValue)) + "."
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
		names := a.few(kind, found, a.lastOpen(kind))
		if condition == facts.Unknown && found[0].Motion != "" { // what it does was read
			parts = append(parts, a.f("%s %s, but the position is not known: %s.", a.count(len(found), kind), a.f(map[bool]string{true: "answers", false: "answer"}[len(found) == 1]), names))
			continue
		}
		why := map[facts.Condition]string{facts.Away: "%s %s offline, so I do not know what is there: %s.", facts.Stale: "%s %s without a recent reading, so I do not know: %s.",
			facts.Unknown: "%s %s never been read, so I do not know: %s."}[condition]
		verb := a.are(len(found))
		if condition == facts.Unknown {
			verb = a.beenVerb(len(found))
		}
		parts = append(parts, a.f(why, a.count(len(found), kind), verb, names))
	}
	return sentences(parts...)
}

// failing names those of the things that are told as on which report a trouble: what reports a lamp failure may be dark.
func (a *asked) failing(on []facts.Thing) string {
	var order []string
	by := map[string][]facts.Thing{}
	for _, one := range on {
		if one.Trouble == "" || one.Value == nil || *one.Value == 0 {
			continue
		}
		if by[one.Trouble] == nil {
			order = append(order, one.Trouble)
		}
		by[one.Trouble] = append(by[one.Trouble], one)
	}
	var told []string
	for _, trouble := range order {
		text := "%s is among them and reports %s, so it may be dark."
		if len(by[trouble]) > 1 {
			text = "%s are among them and report %s, so they may be dark."
		}
		told = append(told, a.f(text, a.few(platform.KindLight, by[trouble], nil), a.trouble(trouble)))
	}
	return sentences(told...)
}

// trouble quotes what a device says is wrong with it, piece by piece in the language of the question where that is known.
func (a *asked) trouble(text string) string {
	if a.q.Lang != understand.German {
		return quoted(text)
	}
	de := pieces.ReplaceAllStringFunc(text, func(piece string) string {
		if de, ok := inGerman(piece); ok {
			return de
		}
		return piece
	})
	return "„" + label(de) + "“"
}

// pieces are what a controller's sentences are put together of: "blocked, last down, by the network: obstacle".
var pieces = regexp.MustCompile(`[^,: ][^,:]*`)

// beenVerb is the verb for n things to which something has been done.
func (a *asked) beenVerb(n int) string {
	if a.q.Lang == understand.German {
		return map[bool]string{true: "wurde", false: "wurden"}[n == 1]
	}
	return haveVerb(n)
}
