package voice

import (
	"slices"
	"strings"
	"unicode"
)

// respell puts one spelling in place of what people and speech recognition write for it. Words here have one reading only,
// whatever stands beside them.
var respell = map[string]string{
	"lites": "lights", "lite": "light", "lightes": "lights", "litghts": "lights", "toggel": "toggle",
	"dem": "dim", "dimm": "dim", "brighton": "brighten", "brightin": "brighten", "briten": "brighten",
	"fourty": "forty", "ninty": "ninety", "fivety": "fifty", "quater": "quarter", "1/3": "third", "2/3": "twothirds",
	"1/2": "half", "1/4": "quarter", "3/4": "threequarters", "½": "half", "⅓": "third", "⅔": "twothirds", "¼": "quarter", "¾": "threequarters",
	"colour": "color", "colours": "colors", "centre": "center", "grey": "gray", "dont": "not", "wont": "not",
	"cant": "not", "doesnt": "not", "isnt": "not", "arent": "not", "shouldnt": "not", "didnt": "not", "cannot": "not",
	"blindes": "blinds", "shads": "shades", "curtins": "curtains", "maxed": "max", "alright": "ok", "okay": "ok",
	"turnon": "turn on", "turnoff": "turn off", "switchon": "switch on", "switchoff": "switch off", "procent": "percent", "pct": "percent",
}

// normalise writes a sentence in small letters without punctuation, contractions or signs. A comma becomes a word of its
// own, since it may stand between two actions.
func normalise(text string) []string {
	var b strings.Builder
	runes := []rune(strings.ToLower(text))
	for i, r := range runes {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '½', r == '⅓', r == '⅔', r == '¼', r == '¾':
			b.WriteRune(r)
		case r == '\'', r == '’', r == '‘', r == '`', r == '´': // light's, don't
		case r == '%':
			b.WriteString(" percent ")
		case r == ',', r == ';', r == '&':
			if r == '&' {
				b.WriteString(" and ")
			} else {
				b.WriteString(" , ")
			}
		case (r == '.' || r == '/') && i > 0 && i+1 < len(runes) && unicode.IsDigit(runes[i-1]) && unicode.IsDigit(runes[i+1]):
			b.WriteRune(r) // 2.5, 1/3
		case (r == '-' || r == '−') && i+1 < len(runes) && unicode.IsDigit(runes[i+1]) && (i == 0 || unicode.IsSpace(runes[i-1])):
			b.WriteString(" minus ")
		case r == '.', r == '!', r == '?':
			if i+1 < len(runes) && strings.TrimSpace(string(runes[i+1:])) != "" {
				b.WriteString(" , ") // another sentence follows
			}
		default:
			b.WriteByte(' ')
		}
	}
	var words []string
	for _, w := range strings.Fields(strings.ReplaceAll(b.String(), "per cent", "percent")) {
		if better, ok := respell[w]; ok {
			words = append(words, strings.Fields(better)...)
		} else {
			words = append(words, w)
		}
	}
	return slips(words)
}

// slips mends what speech recognition hears where only the words beside it tell what was meant.
func slips(words []string) []string {
	at := func(i int) string {
		if i < 0 || i >= len(words) {
			return ""
		}
		return words[i]
	}
	noun := func(i int) bool {
		for at(i) == "the" || at(i) == "all" || at(i) == "my" || at(i) == "our" || at(i) == "window" {
			i++
		}
		return class(at(i)) == "shades"
	}
	var out []string
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "of" && (verbOfSwitching[at(i-1)] || class(at(i-1)) == "lights" && i == len(words)-1):
			w = "off"
		case (w == "clothes" || w == "cloths" || w == "clothe" || w == "cloth" || w == "clause") && noun(i+1):
			w = "close"
		case (at(i-1) == "mind" || at(i-1) == "about") && bare(w) != "":
			w = bare(w)
		case w == "rooms" && (class(at(i+1)) == "lights" || class(at(i+1)) == "shades"):
			w = "room"
		case w == "power" && (isAmountWord(at(i-1)) || at(i-1) == "percent"):
			w = "level"
		case w == "back" && drawn(words[:i]) && at(i+1) != "up" && at(i+1) != "down": // "draw the curtains back"
			w = "open"
		case w == "rays" && noun(i+1), w == "raze" && noun(i+1):
			w = "raise"
		case w == "bright" && at(i+1) == "in" && (at(i+2) == "the" && class(at(i+3)) == "lights" || class(at(i+2)) == "lights"):
			w, i = "brighten", i+1
		case (w == "too" || w == "to" || w == "2") && (at(i+1) == "third" || at(i+1) == "thirds"):
			w = "two"
		case (w == "too" || w == "two" || w == "2") && i > 0 && isAmountWord(at(i+1)) && class(at(i-1)) != "to":
			w = "to"
		}
		out = append(out, w)
	}
	return out
}

// drawn reports whether words before "back" draw something aside.
func drawn(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return w == "draw" || w == "pull" || w == "slide" })
}

// bare is the verb of a gerund, as it follows "would you mind" and "how about"; empty if it is none that a command may have.
func bare(w string) string {
	stem, ok := strings.CutSuffix(w, "ing")
	if !ok || len(stem) < 3 {
		return ""
	}
	for _, verb := range []string{stem, stem + "e", stem[:len(stem)-1]} { // open, close, shut
		if _, known := classes[verb]; known {
			return verb
		}
	}
	return ""
}

var verbOfSwitching = map[string]bool{"turn": true, "switch": true, "shut": true, "power": true, "turned": true, "switched": true}
