package understand

import (
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

var partWords = map[string]string{"viertel": "quarter", "viertels": "quarter", "vierteln": "quarter", "drittel": "third", "dritteln": "third", "haelfte": "half", "halb": "half", "halbe": "half", "halfway": "half", "midway": "half"}

// amountAt reads "40", "40 %", "half", "a third", "two thirds", "three quarters".
func (s *sentence) amountAt(i int) (a amount, n int) {
	part := func(k int) string {
		w := s.wordAt(k)
		if same, ok := partWords[w]; ok {
			return same
		}
		return w
	}
	count, k := 1, i
	switch w := s.wordAt(i); {
	case w == "a" || w == "1" || w == "ein" || w == "eine" || w == "einem" || w == "einen":
		k++
	case w == "2" || w == "3":
		count, _ = strconv.Atoi(w)
		k++
	}
	switch p := part(k); {
	case p == "third" && (k > i || s.t[k].text == "thirds" || s.t[k].text == "third"):
		if count == 3 {
			return a, 0
		}
		return amount{form: "third", value: count, bad: s.t[i].odd}, k + 1 - i
	case p == "quarter" && (count == 1 || count == 3):
		return amount{form: "part", value: 25 * count, bad: s.t[i].odd}, k + 1 - i
	case p == "half" && count == 1 && s.wordAt(i) != "1":
		n = k + 1 - i
		if s.wordAt(i+n) == "way" {
			n++
		}
		return amount{form: "part", value: 50, bad: s.t[i].odd}, n
	}
	w := s.t[i]
	switch w.stem {
	case "⅓", "1/3":
		return amount{form: "third", value: 1}, 1
	case "⅔", "2/3":
		return amount{form: "third", value: 2}, 1
	case "¼", "1/4":
		return amount{form: "part", value: 25}, 1
	case "¾", "3/4":
		return amount{form: "part", value: 75}, 1
	}
	signed := w.stem == "minu" || w.stem == "minus" || w.stem == "plus" || w.stem == "plu"
	if !digit(w.stem[0]) && !signed {
		return a, 0
	}
	if signed { // "minus ten"
		if i+1 >= len(s.t) || !digit(s.t[i+1].stem[0]) || s.t[i+1].used {
			return a, 0
		}
		return amount{form: "num", bad: said(s.t, i, 2)}, 2
	}
	a = amount{form: "num"}
	v, err := strconv.Atoi(w.stem)
	a.value, n = v, 1
	if w.odd != "" || err != nil || v > 100 {
		a.bad = w.text
		if w.odd != "" {
			a.bad = w.odd
		}
	}
	switch next := s.wordAt(i + 1); {
	case next == "percent":
		a.percent, n = true, 2
		if s.wordAt(i+2) == "point" {
			n++
		}
	case next == "percentage" && s.wordAt(i+2) == "point":
		a.percent, n = true, 3
	case next == "point" && i+2 < len(s.t) && digit(s.wordAt(i + 2)[0]): // "3 point 5"
		a.bad, n = said(s.t, i, 3), 3
	case next == "point":
		n = 2
	case otherUnits[next] && !s.t[i+1].used:
		a.bad, n = said(s.t, i, 2), 2
	}
	return a, n
}

// otherUnits are no percent.
var otherUnits = wordSet("k kelvin mired w watt kw kwh lux lx lumen degree c f celsius fahrenheit ppm v volt ma hz " +
	"minute hour second sec sekunde stunde times promille permille grad")

// timesAt reads "twice as bright", "half as much", "doppelt so hell", and what "double" and "half" are of in "half the light": how
// it is said as cues, and by how many words. "Half the lights" are some of them.
func (s *sentence) timesAt(i int) (tags []string, n int) {
	tag := map[string]string{"half": "halve", "halb": "halve", "twice": "double", "double": "double", "doppelt": "double"}[s.wordAt(i)]
	as, how := s.wordAt(i+1), s.wordAt(i+2)
	switch {
	case s.wordAt(i) == "in" && as == "half" && s.has0("cut"): // "cut the lights in half"
		return []string{"halve"}, 2
	case tag == "":
	case (as == "as" || as == "so") && slices.Contains([]string{"bright", "light", "hell"}, how):
		return []string{tag, "level"}, 3
	case (as == "as" || as == "so") && slices.Contains([]string{"much", "strong", "high", "viel", "stark", "hoch"}, how):
		return []string{tag}, 3
	case (as == "the" || as == "das") && s.means(i+2, "light", "level") && !strings.HasSuffix(s.t[i+2].text, "s"):
		return []string{tag}, 1
	}
	return nil, 0
}
