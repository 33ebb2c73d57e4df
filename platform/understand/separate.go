package understand

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// maxParts bounds how many questions one message may have.
const maxParts = 3

var (
	sentenceEnd = regexp.MustCompile(`[?;!]+\s+|\.\s+|\n+`)
	partOfThat  = regexp.MustCompile(`(?i)\b(of (that|this|it|which)|davon|daran)\b`) // it does not stand on its own
	further     = regexp.MustCompile(`(?i),?\s+(?:and|und)\s+(?:also\s+)?(how|which|what|when|where|who|is|are|was|were|did|does|do|show|list|tell|give|why|wie|welche|was|wann|wo|wer|warum|ist|sind|hat|gibt|brennt)\b`)
)

// plain are the reasons that say no more than that words were not understood.
var plain = []Reason{Words, Conflict, TimeWords, Elsewhere, Missing, Cannot, Nowhere, Absent}

// Separate cuts a message into its questions where each of them stands on its own: "Which lights are on, and how much power does the
// building draw?". Otherwise, and where it was understood as one, the message comes back whole. What was said
// before and has nothing to do with it is left out, and told.
func Separate(message string, read Frame, names Names, now time.Time) (questions []string, leftOut string) {
	if len(message) > 500 || read.Alone().Unclear == nil {
		return []string{message}, ""
	}
	if parts := separate(message, read, names, now); len(parts) > 1 {
		return parts, ""
	}
	if f := read.Alone(); !slices.Contains(plain, f.Unclear.Why) {
		return []string{message}, ""
	}
	if asked, why := withoutWhy(message, names, now); asked != "" {
		return separate(asked, Read(asked, names, now), names, now), why
	}
	return []string{message}, ""
}

func separate(message string, read Frame, names Names, now time.Time) []string {
	whole := []string{message}
	if read.Alone().Unclear == nil {
		return whole
	}
	var parts []string
	for _, sentence := range sentenceEnd.Split(message, -1) {
		rest := sentence
		for {
			at := further.FindStringSubmatchIndex(rest)
			if at == nil || at[0] == 0 {
				break
			}
			parts = append(parts, rest[:at[0]])
			rest = rest[at[2]:]
		}
		parts = append(parts, rest)
	}
	parts = slices.DeleteFunc(parts, func(p string) bool { return strings.TrimSpace(p) == "" })
	if len(parts) < 2 || len(parts) > maxParts {
		return whole
	}
	for i, p := range parts {
		f := Read(p, names, now)
		if f.Topic == Order && f.Is(Terse) {
			f = Question(p, names, now)
		}
		if f.Topic == Order || f.Topic == Nothing && i == 0 || f.Unclear != nil || i > 0 && partOfThat.MatchString(p) {
			return whole
		}
	}
	return parts
}
