package question

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// token is one word of the sentence.
type token struct {
	text  string // lower case, as it was said
	stem  string // without plural, spelling unified
	used  bool   // it is explained
	name  bool   // by the name of a place
	apart bool   // it follows a comma or the end of a sentence
	odd   string // of a number: all that it is written in, where that is more than a whole number and a percent sign
}

// maxTokens bounds the work that one sentence can make.
const maxTokens = 400

var tokenForm = regexp.MustCompile(`\d{4}-\d{2}-\d{2}(?:t\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:z|[+-]\d{2}:\d{2})?)?` +
	`|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}:\d{2}|\d+(?:st|nd|rd|th)\b|\d+(?:\.\d+)?|%|€|\$|\p{L}[\p{L}\p{N}]*(?:'\p{L}+)?`)

// clauseEnd is what a word that begins another part of the sentence follows.
var clauseEnd = regexp.MustCompile(`[.,;:!?\n–—]\s*$`)

// contractions are written out before words are cut, so that the rest knows one form only.
var contractions = strings.NewReplacer(
	"what's", "what is", "where's", "where is", "how's", "how is", "who's", "who is",
	"which're", "which are", "there's", "there is", "it's", "it is", "that's", "that is", "let's", "let us",
	"isn't", "is not", "aren't", "are not", "wasn't", "was not", "weren't", "were not", "don't", "do not",
	"doesn't", "does not", "didn't", "did not", "can't", "can not", "cannot", "can not", "won't", "will not",
	"haven't", "have not", "hasn't", "has not", "i'm", "i am", "we've", "we have", "i'd", "i would", "i've", "i have",
	"o'clock", "oclock", "wi-fi", "wifi", "co₂", "co2", "co 2", "co2", "per cent", "percent", "air-conditioning", "hvac",
	"air conditioning", "hvac", "air-con", "hvac", "kilowatt-hour", "kwh", "kilowatt hour", "kwh", "watt-hour", "kwh",
	"day-to-day", "daily", "set-point", "setpoint", "set point", "setpoint", "off-line", "offline", "on-line", "online",
)

// apostrophes are written in one way before contractions are looked for.
var apostrophes = strings.NewReplacer("’", "'", "‘", "'", "`", "'", "´", "'", "ʼ", "'", "′", "'")

// cut takes a sentence apart.
func cut(text string) []token {
	low := contractions.Replace(apostrophes.Replace(strings.ToLower(text)))
	found := tokenForm.FindAllStringIndex(low, maxTokens)
	tokens := make([]token, 0, len(found))
	for _, at := range found {
		w := strings.TrimSuffix(low[at[0]:at[1]], "'s")
		t := token{text: w, stem: stem(w), apart: clauseEnd.MatchString(low[max(0, at[0]-8):at[0]])}
		if isDigits(w[:1]) {
			t.odd = oddNumber(low, at[0], at[1])
		} else if sign := signBeforeWord.FindString(low[max(0, at[0]-8):at[0]]); sign != "" && (isDigits(t.stem) || numberWords[w] || w == "one") {
			t.odd = strings.TrimSpace(sign) + w
		}
		tokens = append(tokens, t)
	}
	return tokens
}

// sameWord unifies spellings and numbers, for names and questions alike.
var sameWord = map[string]string{
	"color": "colour", "colors": "colour", "%": "percent", "1st": "first", "2nd": "second", "3rd": "third", "4th": "fourth",
	"5th": "fifth", "6th": "sixth", "7th": "seventh", "8th": "eighth", "9th": "ninth", "10th": "tenth",
	"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10",
	"twelve": "12", "centre": "center", "storey": "floor", "storeys": "floor", "story": "floor", "stories": "floor",
	"people": "people", "this": "this", "was": "was", "has": "has", "is": "is", "bus": "bus", "gas": "gas", "status": "status",
	"hours": "hour", "hrs": "hour", "hr": "hour", "h": "hour", "mins": "minute", "min": "minute", "lux": "lux",
	"always": "always", "less": "less", "yes": "yes", "please": "please", "plz": "please", "pls": "please", "buses": "bus",
	"versus": "vs", "us": "us", "canteens": "canteen", "lens": "lens", "kilowatts": "kw", "kilowatt": "kw",
}

// stem strips plurals; it need not make real words, only the same from "light" and "lights".
func stem(w string) string {
	if s, ok := sameWord[w]; ok {
		return s
	}
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

// near reports whether b can be a misspelt a: one slip in five letters or more, two in nine or more, never in the first.
//
// least is the number of letters from which one slip is forgiven.
func near(a, b string, least int) bool {
	la, lb := utf8.RuneCountInString(a), utf8.RuneCountInString(b)
	short := min(la, lb)
	slips := 0
	switch {
	case short >= 9:
		slips = 2
	case short >= least:
		slips = 1
	}
	if slips == 0 || max(la, lb)-short > slips || a[0] != b[0] {
		return false
	}
	return distance([]rune(a), []rune(b)) <= slips
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
