package voice

import (
	"maps"
	"slices"
	"strings"
)

// token is one word, phrase or amount of a sentence.
type token struct {
	class string
	n     int // of an amount: percent; of a "third": how many
}

// classes are the words that a command may be made of. A word that is not here is not understood.
var classes = invert(map[string]string{
	"verb":       "turn switch put knock pop stick set make change adjust bring move get have power leave keep crank take go run let be tone bump nudge",
	"give":       "give",
	"flip":       "flip flick",
	"activate":   "activate enable illuminate start",
	"kill":       "deactivate disable kill cut douse extinguish",
	"shut":       "shut",
	"open":       "open opened opening",
	"close":      "close closed closing drawn",
	"covered":    "covered",
	"raise":      "raise lift hoist raised",
	"lower":      "lower drop lowered",
	"pull":       "pull roll slide wind",
	"draw":       "draw",
	"dim":        "dim dimmed darken fade",
	"dimmer":     "dimmer darker softer duller",
	"brighten":   "brighten lighten",
	"brighter":   "brighter lighter",
	"increase":   "increase boost",
	"reduce":     "reduce decrease soften",
	"up":         "up",
	"down":       "down",
	"on":         "on",
	"off":        "off out",
	"toggle":     "toggle",
	"stop":       "stop halt freeze pause hold",
	"moving":     "moving raising lowering shutting",
	"there":      "there",
	"lights":     "light lights lamp lamps lighting luminaires luminaire lightbulbs",
	"brightness": "brightness dimness illumination",
	"level":      "level intensity output setting settings",
	"shades":     "shade shades blind blinds curtain curtains drape drapes coverings",
	"panel":      "panel controls",
	"show":       "show display launch see",
	"screen":     "screen",
	"room":       "room",
	"more":       "more",
	"less":       "less",
	"it":         "it things",
	"to":         "to",
	"at":         "at",
	"by":         "by",
	"percent":    "percent",
	"points":     "points point",
})

// filler is what a sentence means the same without. Phrases are tried longest first.
var filler = phrases(
	// wake words and hesitation
	"hey webex", "ok webex", "hi webex", "hello webex", "webex", "hey", "ok", "hi", "um", "uh", "er", "erm", "hmm", "ah", "oh", "uhm", "umm",
	"well", "so", "like", "kind of", "sort of", "basically", "actually", "you know", "i guess", "alexa", "hey there",
	// politeness
	"please", "pls", "kindly", "thanks", "thank you", "thanks a lot", "thank you very much", "cheers", "for me", "for us", "for everyone", "can you", "could you", "would you",
	"will you", "can we", "could we", "may we", "can i", "could i", "may i", "might we", "can someone", "could someone", "can somebody", "could somebody", "would you mind", "do you mind", "would it be possible to",
	"is it possible to", "it would be great if you could", "it would be nice if you could", "it would be great to", "it would be nice to", "how about", "what about", "position", "positions", "i would like", "i would like you to", "i would like to", "id like", "id like you to", "id like to", "we would like", "wed like",
	"wed like to", "i want", "i want you to", "i want to", "we want", "we want to", "i need", "i need you to", "i need to", "we need", "we need to", "id love", "need", "want",
	"you to", "lets", "let us", "go ahead and", "go and", "try to", "just go ahead and", "if you can", "if you could", "if possible", "if you would", "if you dont mind", "if you please",
	"when you can", "when you get a chance", "be so kind and", "be a dear and", "do me a favor and", "have", "would you please", "could you please", "can you please", "i think", "would be great", "would be nice", "would you kindly",
	// now
	"now", "right now", "right away", "at once", "immediately", "asap", "quickly", "quick", "straight away", "again", "back", "for now", "today", "already", "real quick",
	// how much, where nothing is measured
	"a bit", "a little", "a little bit", "a bit more", "a little more", "a touch", "a tad", "a notch", "a smidge", "slightly", "somewhat", "bit", "some", "much", "a lot", "just a bit", "just a little", "a wee bit", "just a touch", "just a tad", "ever so slightly", "gently", "a step", "one step", "one notch",
	// the room, which is the caller's own
	"in here", "here", "in this room", "in the room", "in our room", "in my room", "in the meeting room", "in this meeting room", "in the conference room",
	"in this conference room", "of this room", "of the room", "for this room", "for the room", "around here", "of the meeting room", "of the conference room", "this meeting room", "for the meeting room", "in the office", "in the boardroom",
	// articles
	"the", "an", "my", "our", "all", "all of", "both", "these", "those", "this", "that", "of", "your", "window", "windows", "entire", "whole", "overhead", "ceiling",
)

// phrase gives several words one class.
var phrase = map[string]string{
	"light level": "brightness", "lighting level": "brightness", "light levels": "brightness", "lights level": "brightness", "brightness level": "brightness",
	"light intensity": "brightness", "lights intensity": "brightness", "light brightness": "brightness", "lights brightness": "brightness", "lighting brightness": "brightness",
	"light switch": "lightswitch", "lights switch": "lightswitch", "light switches": "lightswitch",
	"all the way": "fully", "fully": "fully", "completely": "fully", "entirely": "fully", "totally": "fully", "the whole way": "fully", "wide": "fully", "right the way": "fully", "as far as possible": "fully", "as far as they go": "fully", "as far as they will go": "fully",
	"of the way": "way", "the way": "way", "way": "way",
	"as bright as possible": "max", "as bright as they go": "max", "as bright as they can go": "max", "as bright as it gets": "max", "as dim as possible": "min", "as low as possible": "min", "as dark as possible": "min", "as low as they go": "min", "full blast": "max", "full power": "max", "full on": "max", "full strength": "max",
	"meeting room": "room", "conference room": "room", "room": "room",
	"control panel": "panel", "touch panel": "panel", "control screen": "panel", "room controls": "panel", "room control": "panel", "light controls": "panel", "lighting controls": "panel", "shade controls": "panel", "touch controls": "panel", "control panels": "panel", "touch control panel": "panel", "controls panel": "panel", "room panel": "panel",
	"let me see": "show", "show me": "show", "show us": "show", "bring up": "bringup", "pull up": "bringup", "put up": "bringup", "pop up": "bringup", "give me": "give", "give us": "give",
	"let me have": "give", "let us have": "give", "bring me": "show", "get me": "show", "let us see": "show", "call up": "show",
	"on screen": "onscreen", "on the screen": "onscreen", "on my screen": "onscreen", "to the screen": "onscreen", "on the display": "onscreen", "on the touch screen": "onscreen",
	"right there": "there", "where they are": "there", "where it is": "there", "there": "there", "as they are": "there", "in place": "there", "like that": "there", "from moving": "there", "in their tracks": "there",
	"window shades": "shades", "window blinds": "shades", "window coverings": "shades", "window covering": "shades", "roller shades": "shades", "roller blinds": "shades", "venetian blinds": "shades",
	"bring down": "verb down", "let there be light": "activate lights", "light up the room": "activate room", "light the room": "activate room", "go with": "verb", "percent bright": "percent brightness",
	"a bit more light": "morelight", "a little more light": "morelight", "some more light": "morelight", "a bit less light": "lesslight", "a little less light": "lesslight", "more light": "morelight", "more brightness": "morelight", "less light": "lesslight", "less brightness": "lesslight", "less bright": "dimmer", "more bright": "brighter", "more dim": "dimmer",
	"no lights": "?", "room lights": "lights", "percentage points": "percent", "up to": "up to", "down to": "down to",
	"percent of": "percent", "to about": "to", "up to about": "up to", "down to about": "down to", "to around": "to", "to roughly": "to", "to approximately": "to",
}

// classify drops filler, folds amounts and gives every word its class. What is not understood has the class "?".
func classify(words []string) []token {
	words = assured(words)
	var out []token
	for i := 0; i < len(words); {
		rest := words[i:]
		if n, took := number(rest); took > 0 {
			if c, p, t := part(rest); t > took { // "one third", not "one"
				out = append(out, token{c, p})
				i += t
				continue
			}
			out = append(out, token{"num", n})
			i += took
			continue
		}
		if cls, n, took := part(rest); took > 0 {
			if _, longer := match(phrase, rest); longer <= took {
				out = append(out, token{cls, n})
				i += took
				continue
			}
		}
		cls, took := match(phrase, rest)
		if _, drop := match(filler, rest); drop > took {
			i += drop
			continue
		}
		switch {
		case took > 0:
			for _, c := range strings.Fields(cls) {
				out = append(out, token{c, map[string]int{"max": 100, "min": 1}[c]})
			}
			i += took
		default:
			out = append(out, token{class(rest[0]), 0})
			i++
		}
	}
	return out
}

// assured rewrites "make sure the lights are off" as "the lights off".
func assured(words []string) []string {
	i := 0
	switch {
	case len(words) > 2 && (words[0] == "make" || words[0] == "be") && words[1] == "sure":
		i = 2
	case len(words) > 1 && words[0] == "ensure":
		i = 1
	default:
		for k := 1; k < len(words)-2 && k < 6; k++ {
			if words[k] == "make" && words[k+1] == "sure" {
				i = k + 2
			}
		}
	}
	if i == 0 {
		return words
	}
	var out []string
	for _, w := range words[i:] {
		if w != "are" && w != "is" && w != "that" {
			out = append(out, w)
		}
	}
	return out
}

// class of a single word; "?" if it is none that a command may have. Doubled letters and one slip in a long word are
// forgiven where that makes no other word.
func class(w string) string {
	if c, ok := classes[w]; ok {
		return c
	}
	if w == "," {
		return ","
	}
	if len(w) < 4 {
		return "?"
	}
	if c, ok := single[undouble(w)]; ok {
		return c
	}
	if len(w) < 5 || len(w) > 14 || otherWords[w] {
		return "?"
	}
	for _, known := range long {
		if known[0] == w[0] && oneSlip(w, known) {
			return classes[known]
		}
	}
	return "?"
}

// otherWords are words of their own that lie one slip from one of ours.
var otherWords = set(`nights rights sights fights tights slights flights lighter lightly lighted lightest shares shakes spades shapes shaves
	shaded shady shads chose clone clove loose closer closes closet binds blinks blends blonds blinded lumps limps camps ramps clamps panes
	pencil panels control contrail patrol certain curtail grapes drapery lever levels booms rooms broom groom bloom brights brightly frighten
	tighten lightens dime rise raises razed praise arise rinse lowers tower power mower flower blower opens often oven spoken
	stops shops steps stopped display displays launches lunch point pointed percents person persons toggles bright brightens brightest
	lamp lump damp camp reduced reduces decreased increased increases pulls rolls slides sliding setting settings putting switches switched
	turned turns putting output outputs screens scream those these there where their three light lights right night might sight fight
	shade share shape shave blind blink bland blend blinds grind curtain drape level lower raise close panel screen room rooms`)

// long are our words that are long enough to be known by all but one of their letters, in one order, and single maps all
// without doubled letters to their classes.
var long, single = func() ([]string, map[string]string) {
	var l []string
	s := map[string]string{}
	for _, w := range slices.Sorted(maps.Keys(classes)) {
		if len(w) >= 6 {
			l = append(l, w)
		}
		if len(w) >= 4 {
			s[undouble(w)] = classes[w]
		}
	}
	return l, s
}()

func undouble(w string) string {
	var b strings.Builder
	for i := range len(w) {
		if i == 0 || w[i] != w[i-1] {
			b.WriteByte(w[i])
		}
	}
	return b.String()
}

// oneSlip reports whether a becomes b by one letter added, missing, wrong or swapped with its neighbour.
func oneSlip(a, b string) bool {
	if len(a) > len(b)+1 || len(b) > len(a)+1 {
		return false
	}
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	x, y := a[i:], b[i:]
	switch {
	case len(x) == len(y)+1:
		return x[1:] == y
	case len(y) == len(x)+1:
		return x == y[1:]
	case x == "" || x[1:] == y[1:]:
		return true
	}
	return len(x) > 1 && x[0] == y[1] && x[1] == y[0] && x[2:] == y[2:]
}

// match finds the longest phrase of a table at the start of words, and how many words it has.
func match[V any](table map[string]V, words []string) (v V, took int) {
	const longest = 7
	var b strings.Builder
	for i, w := range words {
		if i == longest {
			break
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w)
		if found, ok := table[b.String()]; ok {
			v, took = found, i+1
		}
	}
	return v, took
}

func invert(byClass map[string]string) map[string]string {
	m := map[string]string{}
	for c, words := range byClass {
		for _, w := range strings.Fields(words) {
			m[w] = c
		}
	}
	return m
}

func phrases(list ...string) map[string]struct{} {
	m := map[string]struct{}{}
	for _, p := range list {
		m[p] = struct{}{}
	}
	return m
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}
