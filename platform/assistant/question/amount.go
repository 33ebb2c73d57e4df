package question

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A number that an order sets is one from 0 to 100 in figures, with nothing that makes it another: no sign, fraction, second
// number or unit. What is written or said in another way is told as it was understood, and nothing is offered.

var (
	// beforeNumber may stand in front of a number without a space, afterNumber behind it.
	beforeNumber = regexp.MustCompile(`(?:^|\s|[\p{L}\s][:,;=])[("“„'=]*$`)
	afterNumber  = regexp.MustCompile(`^(?:%|percent|pct|prozent|procent)?[)"”'.,;:!?]*(?:\s|$)|^%[).,;:!?]+\p{L}`)
	// signBefore and signAfter are signs that stand alone beside it, signBeforeWord one that clings to a number in words.
	signBefore     = regexp.MustCompile(`(?:^|\s)[+<>±×÷−~∓≈/*^‰°\p{Pd}]+\s+$`)
	signBeforeWord = regexp.MustCompile(`(?:^|\s)[+<>±×÷−~∓≈/*^‰°\p{Pd}]+$`)
	signAfter      = regexp.MustCompile(`^%?\s+[+<>±×÷−~∓≈/*^‰°\p{Pd}]+\s*(?:$|\d|%)`)
)

// written is how many bytes on either side of a number are looked at.
const written = 48

// oddNumber is what the number text[from:to] is written in, with the sign beside it; empty if it stands for itself.
func oddNumber(text string, from, to int) string {
	before, after := text[max(0, from-written):from], text[to:min(len(text), to+written)]
	sign := signBefore.FindString(before)
	if isDigits(text[from:to]) && sign == "" && beforeNumber.MatchString(before) && afterNumber.MatchString(after) && !signAfter.MatchString(after) {
		return ""
	}
	begin := strings.LastIndexFunc(strings.TrimSuffix(before, sign), unicode.IsSpace) + 1
	if sign != "" {
		begin = len(before) - len(strings.TrimLeftFunc(sign, unicode.IsSpace))
	}
	end := strings.IndexFunc(after, unicode.IsSpace)
	if end < 0 {
		end = len(after)
	}
	return strings.ToValidUTF8(strings.TrimRight(before[begin:]+text[from:to]+after[:end], ".,;:!?"), "")
}

var (
	// numberWords make another number of the one beside them.
	numberWords = wordsOf("minus negative plus point dot comma dozen hundred hundreds thousand thousands million millions billion " +
		"eleven thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fourty fifty sixty seventy eighty ninety " +
		"zero half third thirds quarter quarters fifth fifths tenth tenths")
	// otherUnits are no percent.
	otherUnits = wordsOf("k kelvin mired w watt watts kw kwh lux lx lumen lumens degree degrees c f celsius fahrenheit ppm v volt volts ma hz " +
		"step steps point points times promille permille per pro min minute minutes h hour hours s sec second seconds")
	// settingWords stand before what is set, or before one of several numbers of which it is not known which is meant.
	settingWords = wordsOf("to at by auf from between or of below under above over than least most minus negative plus")
	// comparing words make of a number an amount or a bound, ahead of it or behind.
	comparing = wordsOf("by below under above over than least most brighter darker dimmer more less higher lower further")
)

func wordsOf(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

// amount finds the number that an order sets: "60 %", "to 60", "half". Where it is none from 0 to 100, unclear says what was
// understood.
func (s *sentence) amount(from int) (n *int, unclear string) {
	var values []int
	var said []string
	odd := false
	for i := from; i < len(s.t); i++ {
		if s.t[i].used || !s.partOfNumber(i) {
			continue
		}
		end := i
		for end < len(s.t) && !s.t[end].used && s.partOfNumber(end) {
			end++
		}
		fraction, isFraction := s.fraction(i, end)
		marked := s.wordAt(end) == "percent"
		signed := end > i+1 && settingWords[s.t[i].text]
		if !isFraction && !marked && !signed && !settingWords[s.wordAt(i-1)] {
			i = end
			continue
		}
		text, plain := s.saidNumber(i, end)
		v, err := strconv.Atoi(s.t[i].stem)
		lead, next := s.t[i-1].text, end
		if marked {
			next++
		}
		switch {
		case comparing[lead], lead == "at" && !marked && v <= 24: // "turn it on at 8" is a time as well
			odd, text = true, lead+" "+text
		case next < len(s.t) && (comparing[s.t[next].text] || !marked && otherUnits[s.t[next].text]):
			odd, text = true, text+" "+s.t[next].text
		case isFraction && s.t[i].odd == "":
			v = fraction
		case !plain || err != nil || v > 100:
			odd = true
		}
		if text = strings.TrimSpace(text); (!slices.Contains(values, v) || odd) && !slices.Contains(said, text) {
			values, said = append(values, v), append(said, text)
		}
		i = end
	}
	switch {
	case odd || len(values) > 1:
		return nil, fmt.Sprintf("I understood “%s”, and I need one whole number from 0 to 100 in figures: say for example “set the lobby to 60 %%”",
			clipped(strings.Join(said, " and ")))
	case len(values) == 1:
		return &values[0], ""
	}
	return nil, ""
}

// partOfNumber reports whether a word belongs to a number.
func (s *sentence) partOfNumber(i int) bool {
	return isDigits(s.t[i].text[:1]) || isDigits(s.t[i].stem) || numberWords[s.t[i].text] || s.t[i].stem == "halfway" ||
		s.t[i].text == "one" && i+1 < len(s.t) && (numberWords[s.t[i+1].text] || s.t[i+1].stem == "percent") ||
		s.t[i].text == "and" && i > 0 && strings.HasSuffix(s.t[i-1].stem, "hundred") && i+1 < len(s.t) && s.partOfNumber(i+1)
}

// fraction reads "half", "a third" and "two thirds", which are all that orders know of.
func (s *sentence) fraction(from, to int) (int, bool) {
	var words []string
	for _, t := range s.t[from:to] {
		words = append(words, t.stem)
	}
	switch strings.Join(words, " ") {
	case "half", "halfway":
		return 50, true
	case "third":
		return 33, s.wordAt(from-1) == "a"
	case "one third":
		return 33, true
	case "2 third":
		return 67, s.t[from].odd == ""
	}
	return 0, false
}

// saidNumber is a number as it was said; plain tells that it is one in figures, or one of the words up to twelve.
func (s *sentence) saidNumber(from, to int) (text string, plain bool) {
	var words []string
	plain = to == from+1 && isDigits(s.t[from].stem)
	for _, t := range s.t[from:to] {
		w := t.text
		if t.odd != "" {
			w, plain = t.odd, false
		}
		if len(words) == 0 || words[len(words)-1] != w { // "50-60" is cut in two
			words = append(words, w)
		}
	}
	text = strings.Join(words, " ")
	if s.wordAt(to) == "percent" && !strings.Contains(text, "%") {
		text += " %"
	}
	return text, plain
}

// clipped bounds what an answer repeats.
func clipped(text string) string {
	if r := []rune(text); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return text
}
