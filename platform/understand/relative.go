package understand

import "slices"

// stateVerbs are what an order does to things, by the state that they are in when it is worth doing.
var stateVerbs = map[string][]string{"on": {"off"}, "off": {"on"}, "open": {"close", "lower", "down", "shut"}, "closed": {"open", "raise", "up"}}

// relative takes a clause out of an order that says of the things to be switched only that they are not so yet: "turn off the lights
// that are on in the lobby", "close whatever is open". Where it would leave some of them out, it stays: "dim the lights that are on".
func (s *sentence) relative() {
	if s.has0("show", "list", "tell", "which", "how", "me", "count", "name", "find", "give") {
		return
	}
	for i := 1; i+1 < len(s.t); i++ {
		whatever := slices.Contains([]string{"whatever", "what", "whichever"}, s.t[i].stem)
		if !whatever && !slices.Contains([]string{"that", "which"}, s.t[i].stem) {
			continue
		}
		k := i + 1
		noun := s.means(i-1, "light", "shade", "everything")
		for whatever && s.means(k, "light", "shade") { // "whatever blinds are open"
			noun = true
			k++
		}
		if !slices.Contains([]string{"is", "are", "remain", "stay"}, s.wordAt(k)) {
			continue
		}
		for k++; slices.Contains([]string{"still", "currently", "now", "left"}, s.wordAt(k)); {
			k++
		}
		state := map[string]string{"on": "on", "lit": "on", "burning": "on", "running": "on", "off": "off", "dark": "off", "open": "open", "up": "open", "closed": "closed", "down": "closed", "shut": "closed"}[s.wordAt(k)]
		rest := slices.Concat(s.t[:i], s.t[k+1:])
		verb := slices.ContainsFunc(rest, func(t token) bool {
			return slices.ContainsFunc(stateVerbs[state], func(tag string) bool {
				return t.stem == tag || slices.ContainsFunc(s.lex.byFirst[t.stem], func(e entry) bool { return len(e.words) == 1 && slices.Contains(e.tags, "!"+tag) })
			})
		})
		if state == "off" && !s.has0("turn", "switch", "put") { // "on" leads to a place as well
			continue
		}
		if state == "" || !verb || slices.ContainsFunc(rest, func(t token) bool { return digit(t.stem[0]) }) || slices.ContainsFunc(s.t[i:k+1], func(t token) bool { return t.used }) {
			continue
		}
		switch {
		case whatever && noun: // the noun stays
			noun := s.t[i+1]
			noun.apart = false
			rest = slices.Concat(s.t[:i], []token{noun}, s.t[k+1:])
		case whatever && (state == "on" || state == "off"):
			rest = slices.Concat(s.t[:i], []token{{text: "everything", stem: "everything"}}, s.t[k+1:])
		case whatever:
			rest = slices.Concat(s.t[:i], []token{{text: "shades", stem: "shade"}}, s.t[k+1:])
		case !noun:
			continue
		}
		s.t = rest
		return
	}
}
