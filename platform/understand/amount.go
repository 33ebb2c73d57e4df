package understand

import (
	"regexp"
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
