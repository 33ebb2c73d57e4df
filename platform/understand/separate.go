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
	further     = regexp.MustCompile(`(?i),?\s+(?:and|und)\s+(?:also\s+)?(how|which|what|when|where|who|is|are|was|were|did|does|do|show|list|tell|give|wie|welche|was|wann|wo|ist|sind)\b`)
)

// Separate cuts a message into its questions where each of them stands on its own: "Which lights are on, and how much power does the
// building draw?". Otherwise, and where it was understood as one, the message comes back whole.
func Separate(message string, read Frame, names Names, now time.Time) []string {
	whole := []string{message}
	if len(message) > 500 || read.Alone().Unclear == nil {
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
		if f.Topic == Order || f.Topic == Nothing && i == 0 || f.Unclear != nil {
			return whole
		}
	}
	return parts
}
