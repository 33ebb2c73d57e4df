package voice

import (
	"slices"
	"strings"
)

// longestCompound is how many words a sentence may have that is looked through for several actions, times or places. A
// command is short; the bound keeps the work small.
const longestCompound = 40

// compound understands what cannot be done as said, and why: a sentence that holds an action for this room together with
// something else.
func compound(words []string) (Heard, bool) {
	if len(words) > longestCompound {
		return Heard{}, false
	}
	if actions, ok := several(words); ok {
		return Heard{Intent: Compound, Slots: Slots{Reason: Multi, Actions: actions}}, true
	}
	for _, find := range []struct {
		reason string
		in     func([]string) bool
	}{{Scene, scene}, {Color, color}, {Condition, condition}, {Schedule, schedule}, {Scope, scope}} {
		if find.in(words) {
			return Heard{Intent: Compound, Slots: Slots{Reason: find.reason}}, true
		}
	}
	return Heard{}, false
}

// joins stand between two actions.
var joins = set("and then , also plus afterwards next after")

// several understands two or more actions, each whole in itself, but that the thing or the verb may be said only once:
// "turn on the lights and dim them", "open the blinds and the panel".
func several(words []string) ([]Heard, bool) {
	parts := split(words)
	if len(parts) < 2 {
		// two sentences without a word between: "lights off shades down"
		for i := 2; i <= len(words)-2; i++ {
			a, okA := act(words[:i])
			b, okB := act(words[i:])
			if okA && okB && family(a) != family(b) {
				return []Heard{a, b}, true
			}
		}
		return nil, false
	}
	var actions []Heard
	thing := ""
	for _, p := range parts {
		h, ok := act(p)
		if !ok && thing != "" {
			h, ok = act(replaced(p, thing))
		}
		if !ok {
			return nil, false
		}
		thing = family(h)
		actions = append(actions, h)
	}
	return actions, true
}

// split cuts a sentence at its joins and drops empty parts.
func split(words []string) [][]string {
	var parts [][]string
	begin := 0
	for i := 0; i <= len(words); i++ {
		if i < len(words) && !joins[words[i]] {
			continue
		}
		if p := words[begin:i]; len(classify(p)) > 0 {
			parts = append(parts, p)
		}
		begin = i + 1
	}
	return parts
}

// family is the word for what an action is about.
func family(h Heard) string {
	return map[string]string{"lights": "lights", "shades": "shades", "panel": "panel"}[strings.SplitN(string(h.Intent), ".", 2)[0]]
}

// replaced says "the lights" for "them".
func replaced(words []string, thing string) []string {
	out := slices.Clone(words)
	for i, w := range out {
		if w == "them" || w == "it" || w == "those" || w == "these" {
			out[i] = thing
		}
	}
	return out
}

// begins reports whether some words at the start, at least two, are an action, and what follows them.
func begins(words []string, follows func([]string) bool) bool {
	for i := 2; i < len(words); i++ {
		if follows(words[i:]) {
			if _, ok := act(words[:i]); ok {
				return true
			}
			if _, ok := several(words[:i]); ok {
				return true
			}
		}
	}
	return false
}

// ends reports whether the sentence ends with an action that begins after its first word.
func ends(words []string) bool {
	for i := 1; i < len(words)-1; i++ {
		if _, ok := act(words[i:]); ok {
			return true
		}
		if _, ok := several(words[i:]); ok {
			return true
		}
	}
	return false
}

var conditionWords = set("when whenever if once unless until till while after before because where wherever")

func isCondition(words []string) bool {
	if conditionWords[words[0]] {
		return len(words) > 1 && !isTimeSpan(words[1:])
	}
	return len(words) > 3 && words[0] == "as" && (words[1] == "soon" || words[1] == "long") && words[2] == "as"
}

func condition(words []string) bool {
	return isCondition(words) && ends(words) || begins(words, isCondition)
}

var (
	timeUnits = set("seconds minute minutes hour hours day days week weeks month months moment moments while")
	timeWords = set(`tomorrow tonight later morning mornings afternoon evening evenings night nightly noon midnight midday lunch
		lunchtime dawn dusk sunrise sunset monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays
		thursdays fridays saturdays sundays weekday weekdays weekend weekends daily weekly hourly soon overnight`)
)

func isTimeSpan(words []string) bool {
	for i, w := range words {
		if timeUnits[w] || timeWords[w] {
			return i <= 4
		}
	}
	return false
}

// isTime reports whether words begin with when something should happen: "in ten minutes", "at eight am", "for an hour",
// "every morning", "tomorrow".
func isTime(words []string) bool {
	switch w := words[0]; w {
	case "in", "for", "after", "within", "every", "each", "until", "till", "before", "by", "on", "during", "around", "from", "over":
		return len(words) > 1 && (isTimeSpan(words[1:]) || isClock(words[1:]))
	case "at":
		return len(words) > 1 && (isClock(words[1:]) || isTimeSpan(words[1:]))
	default:
		return timeWords[w]
	}
}

// isClock reports whether words are a time of day, and not a percentage.
func isClock(words []string) bool {
	if _, _, took := part(words); took > 0 && took < len(words) && (words[took] == "past" || words[took] == "to") {
		return true // "half past three", "a quarter to 9"
	}
	n, took := number(words)
	if took > 0 && took+1 < len(words) && (words[took] == "past" || words[took] == "to") {
		return true
	}
	if took == 0 || n > 2400 {
		return false
	}
	for _, w := range words[took:] {
		switch w {
		case "am", "pm", "oclock", "hours", "thirty", "fifteen", "sharp":
			return true
		case "a", "p", "m":
			return true
		case "percent":
			return false
		}
	}
	return false
}

func schedule(words []string) bool {
	if isTime(words) && ends(words) || begins(words, isTime) {
		return true
	}
	// a digital time runs together: "at 8am", "at 17:30"
	for i := 1; i < len(words); i++ {
		if (words[i-1] == "at" || words[i-1] == "by" || words[i-1] == "until") && len(words[i]) > 2 && words[i][0] >= '0' && words[i][0] <= '9' && (strings.HasSuffix(words[i], "am") || strings.HasSuffix(words[i], "pm")) {
			return begins(words, func(rest []string) bool { return len(rest) > 1 && rest[1] == words[i] }) || ends(words)
		}
	}
	// only one word beside the action: "later dim the lights"
	return timeWords[words[len(words)-1]] && begins(words, func(rest []string) bool { return len(rest) == 1 })
}

var awayWords = set("upstairs downstairs outside everywhere inside")

var (
	placeWords = set("in on at near by over under beside behind next from for outside upstairs downstairs around across along above except but only everywhere throughout within inside down up")
	scopeWords = set(`only just left right front back rear middle center corner first second third fourth last other every each half kitchen
		lobby hallway hall corridor bathroom restroom toilet reception entrance entire desk stage wall floor table podium whiteboard
		side north south east west upper lower outer inner outside emergency one two three four another next single few main
		spot spotlights track pendant accent downstairs upstairs cafeteria canteen break storage copy server staircase stairs
		building house home floors rooms`)
)

// scope is an action for other things than those of this room: "in the lobby", "the kitchen lights", "everything".
func scope(words []string) bool {
	if !startsAsCommand(words) {
		return false
	}
	for i, w := range words {
		if w == "everything" || w == "everywhere" || w == "building" && i > 0 {
			rest := slices.Clone(words)
			rest[i] = "lights"
			if _, ok := act(rest); ok {
				return true
			}
			rest[i] = "shades"
			if _, ok := act(rest); ok {
				return true
			}
		}
	}
	if begins(words, isPlace) {
		return true
	}
	// a place inside: "turn the lights in the hallway to 50 percent"; or before: "in the lobby turn off the lights"
	for i := range words {
		if !placeWords[words[i]] || i+1 == len(words) {
			continue
		}
		for j := i + 2; j < len(words) && j <= i+6; j++ {
			if _, ok := act(without(words, i, j)); ok {
				return true
			}
		}
	}
	// words before the thing: "the kitchen lights", "just the front lights", "one of the blinds"
	for j := 1; j < len(words); j++ {
		if c := class(words[j]); c != "lights" && c != "shades" {
			continue
		}
		for i := max(0, j-5); i < j; i++ {
			if !anyScope(words[i:j]) {
				continue
			}
			rest := without(words, i, j)
			if _, ok := act(rest); ok || begins(rest, isPlace) {
				return true
			}
		}
	}
	return false
}

func isPlace(words []string) bool {
	return placeWords[words[0]] && !isTime(words) && (len(words) > 1 || awayWords[words[0]])
}

// anyScope reports whether words before a thing tell which of them: a word for a place or a choice, or one that no command
// has.
func anyScope(words []string) bool {
	for _, w := range words {
		if joins[w] || conditionWords[w] || persons[w] {
			return false
		}
	}
	for _, w := range words {
		if scopeWords[w] || class(w) == "?" && len(w) > 3 {
			return true
		}
	}
	return false
}

var persons = set("i me you he him she her it us they them we")

func without(words []string, i, j int) []string {
	return append(slices.Clone(words[:i]), words[j:]...)
}

var colors = set(`red green blue yellow orange purple pink violet white magenta cyan turquoise amber teal lilac indigo gold golden
	kelvin warmer cooler rainbow multicolor color colors colored tint hue crimson lavender daylight candlelight`)

// color is a light's colour or colour temperature.
func color(words []string) bool {
	named, thing := false, false
	for i, w := range words {
		switch {
		case w == "color" || w == "kelvin":
			named, thing = true, true
		case colors[w], (w == "warm" || w == "cool" || w == "cold") && i+1 < len(words):
			named = true
		}
		thing = thing || class(w) == "lights"
	}
	return named && thing && startsAsCommand(words)
}

var (
	purposes = set(`presentation presentations meeting meetings call calls movie movies film video videoconference videoconferencing lecture training workshop
		conference interview brainstorm brainstorming party dinner lunch reading relaxing relaxation focus cleaning town class yoga demo`)
	sceneWords = set("scene mode preset mood ambience ambiance atmosphere setting vibe")
)

// scene is a set-up of the whole room: "get the room ready for a presentation", "movie mode".
func scene(words []string) bool {
	purpose, named, room, ready, arranging := false, false, false, false, false
	for i, w := range words {
		switch {
		case purposes[w]:
			purpose = true
		case sceneWords[w]:
			named = true
		case w == "room" || w == "space" || class(w) == "lights" || class(w) == "shades" || w == "place" || w == "everything" || w == "things":
			room = true
		case w == "ready" || w == "up" && i > 0 || w == "for" || w == "prep" || w == "prepare":
			ready = true
		}
		switch w {
		case "get", "set", "make", "prepare", "prep", "activate", "start", "switch", "go", "put", "turn", "enter", "recall", "apply", "use", "arrange", "configure", "run", "want", "load", "trigger":
			arranging = true
		}
	}
	switch {
	case !startsAsCommand(words):
		return false
	case named && (arranging || purpose) && !hasAny(words, otherThings):
		return true
	default:
		return purpose && room && ready && arranging
	}
}

// startsAsCommand reports whether a sentence is no question and no statement.
func startsAsCommand(words []string) bool {
	return !asks(words) && !hasAny(words[:1], set("he she they it its the there i"))
}

func hasAny(words []string, of map[string]bool) bool {
	return slices.ContainsFunc(words, func(w string) bool { return of[w] })
}

// negations turn a command round.
var negations = set("minus not never without nothing neither nor no none")

// prohibits reports whether a sentence begins as a prohibition: "don't", "please do not", "never".
func prohibits(words []string) bool {
	for _, w := range words {
		switch {
		case negations[w]:
			return true
		case w != "do" && w != "please" && w != "ok" && w != "hey" && w != "webex" && w != ",":
			return false
		}
	}
	return false
}

func negated(words []string) bool {
	if hasAny(words, negations) {
		return !strings.Contains(strings.Join(words, " "), "if you do not mind")
	}
	return len(words) > 1 && (words[0] == "stop" || words[0] == "avoid" || words[0] == "quit") && strings.HasSuffix(words[1], "ing") && class(words[1]) == "?"
}
