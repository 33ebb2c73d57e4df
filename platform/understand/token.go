package understand

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// token is one word of the sentence, or a number.
type token struct {
	text  string // lower case, as it was said
	stem  string // without plural, spelling unified, a number in figures
	used  bool   // it is explained, by a name or a time
	name  bool   // by the name of a place
	apart bool   // it follows a comma or the end of a sentence
	odd   string // of a number: all that it is written in, where that is more than a whole number and a percent sign
	// from and to are the bytes of [plainly] written text that a word was cut from.
	from, to int
}

// maxTokens bounds the work that one sentence can make.
const maxTokens = 400

var tokenForm = regexp.MustCompile(`\d{4}-\d{2}-\d{2}(?:t\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:z|[+-]\d{2}:\d{2})?)?` +
	`|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}:\d{2}|\d+(?:st|nd|rd|th)\b|\d+/\d+|\d+(?:[.,]\d+)?|[½⅓⅔¼¾]|%|€|\$|\p{L}[\p{L}\p{N}]*(?:'\p{L}+)?`)

// mark stands before a word that begins another part of the sentence.
var mark = regexp.MustCompile(`[.,;:!?\n–—&]\s*$`)

// contractions are written out before words are cut, so that the rest knows one form only.
var contractions = strings.NewReplacer(
	"what's", "what is", "where's", "where is", "how's", "how is", "who's", "who is", "here's", "here is",
	"which're", "which are", "there's", "there is", "it's", "it is", "that's", "that is", "let's", "let us",
	"isn't", "is not", "aren't", "are not", "wasn't", "was not", "weren't", "were not", "don't", "do not",
	"doesn't", "does not", "didn't", "did not", "can't", "can not", "cannot", "can not", "won't", "do not",
	"haven't", "have not", "hasn't", "has not", "i'm", "i am", "we're", "we are", "you're", "you are", "they're", "they are", "it'd", "it would", "that'd", "that would", "you'd", "you would", "i'll", "i will", "we'll", "we will", "you'll", "you will", "it'll", "it will", "we've", "we have", "i'd", "i would", "i've", "i have", "we'd", "we would", "what've", "what have",
	"shouldn't", "should not", "mustn't", "must not", "wouldn't", "would not", "couldn't", "could not",
	"o'clock", "oclock", "wi-fi", "wifi", "co₂", "co2", "co 2", "co2", "per cent", "percent", "air-conditioning", "air conditioning",
	"air-con", "air conditioning", "kilowatt-hour", "kwh", "kilowatt hours", "kwh", "kilowatt hour", "kwh", "watt-hours", "wh", "watt hours", "wh", "watt hour", "wh", "watt-hour", "kwh", "m²", "m2", "square meters", "m2", "square metres", "m2", "square meter", "m2", "square metre", "m2", "sq m", "m2", "co2-", "co2 ",
	"day-to-day", "daily", "set-point", "setpoint", "set point", "setpoint", "turnon", "turn on", "turnoff", "turn off", "switchon", "switch on", "switchoff", "switch off", "off-line", "offline", "on-line", "online",
)

// apostrophes are written in one way before contractions are looked for.
var apostrophes = strings.NewReplacer("’", "'", "‘", "'", "`", "'", "´", "'", "ʼ", "'", "′", "'")

// plainly writes a text in lower case and without contractions.
func plainly(text string) string {
	return contractions.Replace(apostrophes.Replace(strings.ToLower(text)))
}

// cut takes a sentence apart.
func cut(text string) []token {
	low := plainly(text)
	found := tokenForm.FindAllStringIndex(low, maxTokens)
	tokens := make([]token, 0, len(found))
	for _, at := range found {
		w := strings.TrimSuffix(low[at[0]:at[1]], "'s")
		t := token{text: w, stem: stem(w), apart: mark.MatchString(low[max(0, at[0]-8):at[0]]), from: at[0], to: at[1]}
		if digit(w[0]) {
			t.odd = oddNumber(low, at[0], at[1])
		} else if sign := signBeforeWord.FindString(low[max(0, at[0]-8):at[0]]); sign != "" && numeral(w) {
			t.odd = strings.TrimSpace(sign) + w
		}
		tokens = append(tokens, t)
	}
	return fold(tokens)
}

func digit(b byte) bool { return b >= '0' && b <= '9' }

// sameWord unifies spellings, for names and questions alike.
var sameWord = map[string]string{
	"color": "colour", "colors": "colour", "%": "percent", "pct": "percent", "prozent": "percent", "procent": "percent", "1st": "first", "2nd": "second", "3rd": "third", "4th": "fourth",
	"5th": "fifth", "6th": "sixth", "7th": "seventh", "8th": "eighth", "9th": "ninth", "10th": "tenth",
	"centre": "center", "storey": "floor", "storeys": "floor", "story": "floor", "stories": "floor",
	"people": "people", "this": "this", "was": "was", "has": "has", "is": "is", "bus": "bus", "gas": "gas", "status": "status", "aus": "aus", "alles": "alles",
	"hours": "hour", "hrs": "hour", "hr": "hour", "h": "hour", "mins": "minute", "min": "minute", "lux": "lux",
	"always": "always", "less": "less", "yes": "yes", "please": "please", "plz": "please", "pls": "please", "buses": "bus",
	"versus": "vs", "us": "us", "lens": "lens", "kilowatts": "kw", "kilowatt": "kw", "kilowattstunde": "kwh", "kilowattstunden": "kwh",
	"lites": "light", "lite": "light", "lightes": "light", "litghts": "light", "toggel": "toggle", "dimm": "dim", "brighton": "brighten",
	"brightin": "brighten", "briten": "brighten", "quater": "quarter", "½": "half", "1/2": "half", "grey": "gray",
	"blindes": "blind", "shads": "shade", "curtins": "curtain", "halber": "halb", "halbem": "halb", "maxed": "max", "dont": "not", "wont": "not", "cant": "not", "doesnt": "not",
	"kanst": "kannst", "isnt": "not", "arent": "not", "shouldnt": "not", "didnt": "not",
}

// spelled writes umlauts out, so that both ways to write them are one.
var spelled = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss")

// stem strips plurals; it need not make real words, only the same from "light" and "lights".
func stem(w string) string {
	if s, ok := sameWord[w]; ok {
		return s
	}
	w = spelled.Replace(w)
	n := len(w)
	switch {
	case n > 4 && strings.HasSuffix(w, "ies"):
		return w[:n-3] + "y"
	case n > 4 && (strings.HasSuffix(w, "sses") || strings.HasSuffix(w, "xes") || strings.HasSuffix(w, "ches") || strings.HasSuffix(w, "shes")):
		return w[:n-2]
	case n > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us"):
		return w[:n-1]
	}
	return w
}

// stems cuts a phrase of the lexicon or a name the same way as a sentence.
func stems(text string) []string {
	var s []string
	for _, t := range cut(text) {
		s = append(s, t.stem)
	}
	return s
}

var units1 = map[string]int{
	"zero": 0, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
	"ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
	"null": 0, "zwei": 2, "drei": 3, "vier": 4, "fuenf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10, "elf": 11, "zwoelf": 12,
	"dreizehn": 13, "vierzehn": 14, "fuenfzehn": 15, "sechzehn": 16, "siebzehn": 17, "achtzehn": 18, "neunzehn": 19,
}

var tens = map[string]int{
	"twenty": 20, "thirty": 30, "forty": 40, "fourty": 40, "fifty": 50, "fivety": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "ninty": 90,
	"zwanzig": 20, "dreissig": 30, "vierzig": 40, "fuenfzig": 50, "sechzig": 60, "siebzig": 70, "achtzig": 80, "neunzig": 90,
}

// numeral reports whether a word is a number said in words, or a part of one.
func numeral(w string) bool {
	w = spelled.Replace(w)
	_, unit := units1[w]
	_, ten := tens[w]
	return unit || ten || w == "one" || w == "hundred" || w == "thousand" || w == "half" || w == "hundert" || w == "third" || germanNumber(w) > 0
}

// germanNumber reads "fünfundzwanzig"; 0 if it is none.
func germanNumber(w string) int {
	if before, after, ok := strings.Cut(w, "hundert"); ok { // "zweihundertfünfzig"
		n, known := units1[before]
		if before == "ein" || before == "" {
			n, known = 1, true
		}
		rest := strings.TrimPrefix(after, "und")
		low, ten := units1[rest], tens[rest]
		if rest != "" && low+ten == 0 {
			low = germanNumber(rest)
		}
		if !known || n == 0 || n > 9 || rest != "" && low+ten == 0 || before+after == "" {
			return 0
		}
		return 100*n + low + ten
	}
	at := strings.Index(w, "und")
	if at <= 0 {
		return 0
	}
	unit, ok := units1[w[:at]]
	if w[:at] == "ein" {
		unit, ok = 1, true
	}
	ten := tens[w[at+3:]]
	if !ok || ten == 0 || unit > 9 {
		return 0
	}
	return ten + unit
}

// fold writes numbers that are said in words as figures: "twenty five", "a hundred and five".
func fold(t []token) []token {
	out := t[:0]
	for i := 0; i < len(t); {
		n, took := numberAt(t[i:])
		if took == 0 {
			out = append(out, t[i])
			i++
			continue
		}
		one := t[i]
		for _, more := range t[i+1 : i+took] {
			one.text, one.to = one.text+" "+more.text, more.to
			if more.odd != "" {
				one.odd = one.text
			}
		}
		one.stem = strconv.Itoa(n)
		out = append(out, one)
		i += took
	}
	return out
}

// numberAt reads a number in words at the start of t, up to 999,999.
func numberAt(t []token) (n, took int) {
	word := func(i int) string {
		if i < len(t) && (i == 0 || !t[i].apart) {
			return spelled.Replace(t[i].text)
		}
		return ""
	}
	below := func(i int) (int, int) {
		w := word(i)
		if v, ok := tens[w]; ok {
			if u, ok := units1[word(i+1)]; ok && u > 0 && u < 10 {
				return v + u, 2
			} else if word(i+1) == "one" {
				return v + 1, 2
			}
			return v, 1
		}
		if v, ok := units1[w]; ok {
			return v, 1
		}
		if v := germanNumber(w); v > 0 {
			return v, 1
		}
		return 0, 0
	}
	scale := func(i int) int {
		return map[string]int{"hundred": 100, "hundert": 100, "thousand": 1000, "tausend": 1000}[word(i)]
	}
	first := word(0)
	switch {
	case scale(0) > 0:
		n, took = scale(0), 1
	case (first == "a" || first == "one" || first == "ein") && scale(1) > 0:
		n, took = scale(1), 2
	case first == "one" && (word(1) == "percent" || word(1) == "%" || word(1) == "third" || word(1) == "hour" || word(1) == "minute" || word(1) == "quarter"):
		return 1, 1
	case first == "eins":
		return 1, 1
	default:
		if n, took = below(0); took == 0 {
			return 0, 0
		}
		if s := scale(took); s > 0 {
			n, took = n*s, took+1
		} else {
			return n, took
		}
	}
	rest := took
	if word(rest) == "and" {
		rest++
	}
	if more, k := below(rest); k > 0 {
		return n + more, rest + k
	}
	return n, took
}

// near reports whether b can be a misspelt a: one slip in least letters or more, of a name two in nine or more, never in the first.
func near(a, b string, least int, name bool) bool {
	la, lb := utf8.RuneCountInString(a), utf8.RuneCountInString(b)
	short := min(la, lb)
	slips := 0
	switch {
	case short >= 9 && name:
		slips = 2
	case short >= least:
		slips = 1
	}
	if slips == 0 || max(la, lb)-short > slips || a[0] != b[0] {
		return false
	}
	ra, rb := []rune(a), []rune(b)
	if la == lb && !swapped(ra, rb) && (short < 6 || short < 8 && !name) {
		return false // one letter for another makes other words: "guest" of "guess", "flood" of "floor"
	}
	return distance(ra, rb) <= slips
}

// twisted reports whether a is b with two neighbours swapped behind the first letter, or a letter once that b has twice in a row, or the
// other way round: "lihct", "kanst".
func twisted(a, b string) bool {
	if len(a) < 4 || len(b) < 4 || a[0] != b[0] {
		return false
	}
	if len(a) == len(b) {
		return swapped([]rune(a), []rune(b))
	}
	undoubled := func(w string) string { return string(slices.Compact([]byte(w))) }
	return len(a)-len(b) <= 1 && len(b)-len(a) <= 1 && undoubled(a) == undoubled(b)
}

// swapped reports whether two words differ by the order of two neighbours.
func swapped(a, b []rune) bool {
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && string(a[i+2:]) == string(b[i+2:])
}

// distance counts insertions, deletions, replacements and swaps of neighbours.
func distance(a, b []rune) int {
	before := make([]int, len(b)+1)
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
