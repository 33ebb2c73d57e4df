package understand

import (
	"slices"
	"strings"
)

// dimmed reads "dimmed" as what it says of a light: it is on, and below a value that is said or below all it can give. "How far is it
// dimmed" asks for the level, and who or when somebody dimmed it for a command.
func (s *sentence) dimmed() {
	at := slices.IndexFunc(s.t, func(t token) bool {
		return t.text == "dimmed" || t.text == "gedimmt" || t.text == "gedimmte" || t.text == "gedimmten" || t.text == "heruntergedimmt" || t.text == "runtergedimmt" || t.text == "abgedimmt"
	})
	if lit := slices.IndexFunc(s.t, func(t token) bool { return t.text == "lit" || t.text == "beleuchtet" }); at < 0 && lit > 0 && slices.ContainsFunc(s.f.Conds, func(c Cond) bool { return c.Unit == Percent }) {
		at = lit
	}
	if at < 0 || s.has("shade", "who", "since", "why", "able", "can", "when", "dim?", "average", "difference", "compare") || s.f.When != nil && !s.f.When.Now {
		return
	}
	bounded := slices.ContainsFunc(s.f.Conds, func(c Cond) bool { return c.Unit == Percent })
	asked := slices.ContainsFunc(s.t[:at], func(t token) bool { return slices.Contains([]string{"how", "wie", "to", "what", "was"}, t.stem) }) && !s.has("count")
	is := s.has0("is", "are", "ist", "sind", "any") || at+1 < len(s.t) && countable(s.t[at+1].stem) != ""
	switch {
	case s.f.State != "" && s.f.State != On, !bounded && (asked || !is):
		return
	case !bounded:
		s.f.Conds = append(s.f.Conds, Cond{Rel: Below, Value: 100, Unit: Percent})
	}
	s.f.State = On
}

// forgotten takes the verb of what was forgotten, which only says again what the things still are: "vergessen, das Licht auszumachen".
func (s *sentence) forgotten() {
	if s.f.Lang != German || !s.has0("vergessen") {
		return
	}
	for i, t := range s.t {
		for _, prefix := range []string{"aus", "ab", "zu"} {
			if verb, ok := strings.CutPrefix(t.stem, prefix+"zu"); ok && s.lex.words[prefix+verb] {
				s.t[i].used = true
			}
		}
	}
}

// lightColour reports whether the colour of white light is named: "light colour", "colour temperature".
func (s *sentence) lightColour() bool {
	return slices.ContainsFunc(s.chunks, func(c chunk) bool {
		return c.is("kelvin") && slices.ContainsFunc(s.t[c.at:c.at+c.n], func(t token) bool { return t.stem == "light" || t.stem == "temperature" || t.stem == "white" })
	})
}

// wished reports whether what stands at i is what somebody asks whether to do: "what should I switch off", "was soll ich ausschalten".
func (s *sentence) wished(i int) bool {
	modal := slices.IndexFunc(s.t, func(t token) bool {
		return slices.Contains([]string{"should", "shall", "must", "soll", "sollte", "muss", "muesste", "sollen", "muessen"}, t.stem)
	})
	verb := strings.HasSuffix(s.t[i].stem, "en") || s.f.Lang == English
	return verb && modal >= 0 && modal < i && s.has0("what", "which", "anything", "was", "welche") && slices.Contains([]string{"i", "we", "ich", "wir", "man"}, s.wordAt(modal+1))
}

// colourOf is the side of colour that is spoken of: "kelvin", "hue", or none.
func (s *sentence) colourOf() string {
	switch {
	case s.has("kelvin") || slices.ContainsFunc(s.f.Conds, func(c Cond) bool { return c.Unit == Kelvin }):
		return "kelvin"
	case s.has("hue"):
		return "hue"
	}
	return ""
}

// moreSo reports whether one state is compared, and not how many things are in it: "more open", not "more shades open".
func (s *sentence) moreSo() bool {
	for i, c := range s.chunks[:max(0, len(s.chunks)-1)] {
		if next := s.chunks[i+1]; c.is("more", "less") && next.is("open", "closed") && next.at == c.at+c.n {
			return true
		}
	}
	return false
}

// state reads the filter; "not" ahead of it turns it round.
func (s *sentence) state() {
	var states []State
	for i, c := range s.chunks[:max(0, len(s.chunks)-1)] { // "where not all of the lamps are on"
		if c.is("not") && s.chunks[i+1].is("all", "everything") && !s.claims[key(c)] && s.chunks[i+1].at == c.at+c.n {
			s.claims[key(c)] = true
			s.f.Conds = append(s.f.Conds, Cond{Rel: Below, Value: 100, Unit: Part})
			s.chunks[i+1].tags = []string{"fill"}
		}
	}
	for i, c := range s.chunks {
		st := stateOf(c)
		if st == "" || s.taken(c) {
			continue
		}
		if (c.n > 1 || s.f.Lang == German) && s.wished(c.at) && (st == Off || st == Closed) { // "what should I switch off": what is not yet
			st = opposite[st]
		}
		if c.n > 1 && s.wordAt(c.at-1) == "to" && (s.t[c.at].stem == "turn" || s.t[c.at].stem == "switch") && s.f.Unclear == nil { // "how many would I have to switch off", "remind me to switch off": it says what is to be done
			s.f.Unclear = &Unclear{Conflict, []string{said(s.t, c.at, c.n)}}
		}
		if n := slices.IndexFunc(s.chunks[max(0, i-3):i], func(o chunk) bool { return o.is("not") && !s.claims[key(o)] }); n >= 0 && c.is("ends") { // "not fully open"
			s.claims[key(s.chunks[max(0, i-3)+n])] = true
			s.f.Conds = append(s.f.Conds, Cond{Rel: Below, Value: 100, Unit: Percent})
			s.claim("ends", "open")
			continue
		}
		if st == Moving && s.has("position") && !s.has("moving") {
			continue
		}
		for k := i - 1; k >= 0 && k >= i-4; k-- {
			o := s.chunks[k]
			if never[s.t[o.at].stem] { // what was never on is another thing than what is off
				break
			}
			if o.is("not") && i+1 < len(s.chunks) && s.chunks[i+1].is("full") { // "not on full" is said of that
				break
			}
			if o.is("not") && slices.Contains([]string{"will", "do", "doe"}, s.wordAt(o.at-1)) && slices.Contains([]string{"come", "go", "light", "turn", "switch"}, s.t[c.at].stem) && c.n > 1 && s.f.Unclear == nil && !s.has("why") { // "do not come on" is no state
				s.f.Unclear = &Unclear{Conflict, []string{said(s.t, o.at, c.at+c.n-o.at)}}
			}
			if o.is("not") && !s.claims[key(o)] && opposite[st] != "" {
				st = opposite[st]
				s.claims[key(o)] = true
				break
			}
			if !o.is("fill", "light", "shade", "any", "device") && !o.is("not") {
				break
			}
		}
		if s.f.Lang == German && opposite[st] != "" { // "antwortet gerade nicht"
			for k := i + 1; k < len(s.chunks) && k <= i+3; k++ {
				if o := s.chunks[k]; o.is("not") && k+1 < len(s.chunks) && s.chunks[k+1].is("full") { // "brennen nicht voll"
					break
				} else if o.is("not") && !s.claims[key(o)] {
					st, s.claims[key(o)] = opposite[st], true
					break
				} else if !o.is("fill", "it", "any", "device", "light", "shade") || s.t[o.at].apart {
					break
				}
			}
		}
		if !slices.Contains(states, st) {
			states = append(states, st)
		}
	}
	if i := slices.IndexFunc(s.chunks, func(c chunk) bool { return c.is("not") && !s.claims[key(c)] }); i >= 0 && s.has("known") && s.has("position", "level", "status") {
		s.claims[key(s.chunks[i])] = true // "von welchen Rollos kennt man die Stellung nicht"
		states = []State{Unread}
		s.claim("known", "position", "level", "status")
	}
	for i, c := range s.chunks[:max(0, len(s.chunks)-1)] { // "not at full power"
		for k := i + 1; k < min(len(s.chunks), i+4) && c.is("not") && !s.claims[key(c)]; k++ {
			if s.chunks[k].is("full") {
				s.claims[key(c)] = true
				s.f.Conds = append(s.f.Conds, Cond{Rel: Below, Value: 100, Unit: Percent})
				s.chunks[k].tags = []string{"fill"}
			} else if !s.chunks[k].is("fill", "on") {
				break
			}
		}
	}
	if s.has("partway") {
		s.f.Conds = append(s.f.Conds, Cond{Rel: Above, Value: 0, Unit: Percent}, Cond{Rel: Below, Value: 100, Unit: Percent})
		s.claim("partway")
	}
	if s.has("unread") {
		states = []State{Unread}
	}
	if len(states) == 0 && s.has("light") && s.has0("still", "noch") && !s.has("neither", "who", "fault", "level", "count") {
		states = []State{On} // "which rooms still have light"
		s.claim("inventory", "there")
	}
	if len(states) == 2 && s.has0("between", "zwischen") && slices.Contains(states, Open) && slices.Contains(states, Closed) {
		s.f.Conds = append(s.f.Conds, Cond{Rel: Above, Value: 0, Unit: Percent}, Cond{Rel: Below, Value: 100, Unit: Percent})
		s.claim("ends")
		for k := range s.t {
			s.t[k].used = s.t[k].used || slices.Contains([]string{"between", "zwischen", "and"}, s.t[k].stem)
		}
		states = nil
	}
	if len(states) == 0 && s.isThereLight() {
		states = []State{On}
		s.claim("there", "inventory")
	}
	if i := slices.IndexFunc(s.chunks, func(c chunk) bool { return c.is("neither") }); i >= 0 && len(states) == 2 && slices.Contains(states, Open) && slices.Contains(states, Closed) {
		s.claims[key(s.chunks[i])] = true // "neither open nor closed"
		s.claimBetween(s.chunks[i].at, len(s.t), "neither")
		s.f.Conds = append(s.f.Conds, Cond{Rel: Above, Value: 0, Unit: Percent}, Cond{Rel: Below, Value: 100, Unit: Percent})
		s.claim("ends")
		states = nil
	}
	if len(states) == 2 && s.has("count") && slices.Contains(states, On) && slices.Contains(states, Off) { // "how many on, how many off": both are told
		states = nil
		s.claim("level")
		s.f.Aspect = "both"
	}
	if len(states) == 2 && s.has0("or", "oder") { // "are the blinds open or closed"
		states = nil
	}
	s.claim("on", "off", "open", "closed", "moving", "online", "offline", "unread")
	if len(states) > 1 {
		var words []string
		for _, c := range s.chunks {
			if stateOf(c) != "" && !s.taken(c) {
				words = append(words, said(s.t, c.at, c.n))
			}
		}
		s.f.Unclear = &Unclear{Conflict, words}
		return
	}
	if len(states) == 0 || s.f.State != "" {
		return
	}
	if states[0] == Moving && s.stuck() {
		return
	}
	s.f.State = states[0]
	s.nobody()
}

var never = wordSet("never nie niemals")

func stateOf(c chunk) State {
	for _, st := range []State{On, Off, Open, Closed, Moving, Online} {
		if c.is(string(st)) {
			return st
		}
	}
	if c.is("offline") {
		return Away
	}
	return ""
}

// nobody reads "no lights on", "nothing on", "rooms without lights on": of places, that all is off; of things, a question
// whether any is.
func (s *sentence) nobody() {
	for i, c := range s.chunks {
		if !c.is("no", "without", "nothing") && !(c.is("except") && s.f.Lang == German) || s.claims[key(c)] {
			continue
		}
		noun := c.is("nothing")
		for _, o := range s.chunks[i+1 : min(len(s.chunks), i+4)] {
			noun = noun || o.is("light", "shade", "device")
		}
		if !noun {
			continue
		}
		s.claims[key(c)] = true
		if (s.has("zone", "floor") || s.has("where") && len(s.f.Places) == 0) && s.f.State == On {
			s.f.State = Off
			s.f.Set(All, true)
			return
		}
		s.f.Set(None, true)
		s.f.Form = Check
	}
}

// existing reports whether light, and no lamp, is said to be somewhere: "was there light", "any light showing", "ist in der Lobby Licht".
func (s *sentence) existing(i int) bool {
	before := s.wordAt(i - 1)
	if s.has("count", "list", "brighter", "brightest", "more", "less", "most", "least", "howmuch", "inventory", "automation", "energy", "power", "use", "complaint", "able", "can") && !s.has("since") || s.has("switch", "why", "with", "without", "no", "not", "nothing", "position", "healthy", "flicker", "dim?", "tune?", "occupancy", "change") {
		return false
	}
	if s.t[i].text == "light" {
		return before == "there" && slices.Contains([]string{"is", "was"}, s.wordAt(i-2)) || before == "any" && (slices.Contains([]string{"there", "have", "got", "show"}, s.wordAt(i-2)) || s.wordAt(i+1) == "showing") && len(s.f.Conds) == 0 || before == "of" && s.has("since")
	}
	be := s.has0("ist", "war") || i == len(s.t)-1 && s.asks && s.yesNo()
	last := i == len(s.t)-1 || s.t[i+1].used || s.t[i+1].apart || s.wordAt(i+1) == "in"
	return be && last && !slices.Contains([]string{"das", "dem", "dein", "unser", "welches", "ein"}, before)
}

// isThereLight reports whether it is asked if there is light, which is not whether there is a lamp: "is there light in all rooms".
func (s *sentence) isThereLight() bool {
	for i := 1; i < len(s.t); i++ {
		before := s.t[i-1].stem
		if s.t[i].text != "light" && s.t[i].text != "licht" || s.has("level", "who", "fault", "kelvin", "hue") {
			continue
		}
		if s.existing(i) {
			return true
		}
		none := slices.Contains([]string{"no", "any", "without", "ohne", "kein"}, before) && s.has("no", "without", "except")
		if none && (s.has("zone", "floor") || s.asks && i == 1) { // "rooms without light", "no light in the gallery?"
			return true
		}
		if (before == "there" && s.wordAt(i-2) == "is" || before == "es" && s.wordAt(i-2) == "gibt") && !s.has("count", "list") {
			return true
		}
	}
	return false
}

// stuck reads that something does not move as a fault: "which shade won't move", "welche Store bewegt sich nicht".
func (s *sentence) stuck() bool {
	not := slices.IndexFunc(s.chunks, func(c chunk) bool { return c.is("not") && !slices.Contains([]string{"why", "warum"}, s.wordAt(c.at-1)) })
	if not < 0 || s.f.When != nil && !s.f.When.Now {
		return false
	}
	s.claims[key(s.chunks[not])] = true
	for i := range s.chunks {
		if s.chunks[i].is("moving") {
			s.chunks[i].tags = []string{"fault"}
		} else if s.has("why") && s.chunks[i].is("able", "can") {
			s.t[s.chunks[i].at].used = true
		}
	}
	return true
}

// makes takes the verb with which something is made so, behind a verb of ability: "can they be made red", "rot machen"; false: there is none.
func (s *sentence) makes() bool {
	i := slices.IndexFunc(s.t, func(t token) bool {
		return slices.Contains([]string{"make", "made", "turn", "turned", "set", "go", "glow", "shine", "become", "machen", "gemacht", "stellen", "faerben", "leuchten", "werden"}, t.stem)
	})
	if i < 0 {
		return false
	}
	s.t[i].used = true
	return true
}
