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
	further     = regexp.MustCompile(`(?i),?\s+(?:and|und)\s+(?:also\s+)?(how|which|what|when|where|who|is|are|was|were|did|does|do|show|list|tell|give|wie|welche|was|wann|wo|ist|sind)\b`)
)

// leadWords bounds what is said before a question and has nothing to do with it, in words.
const leadWords = 12

// lead is the length of the statements before a question that are about nothing here: "I'm about to lock up. Is the lobby dark?" They
// name nothing of the building, deny nothing, and have no word that asks for anything.
func lead(message string, names Names, now time.Time) int {
	end := 0
	for _, at := range sentenceEnd.FindAllStringIndex(message, maxParts) {
		said := message[end:at[0]]
		t := names.rename(names.uncompound(cut(said)))
		if strings.Contains(message[at[0]:at[1]], "?") || len(t) > leadWords || len(names.find(t)) > 0 {
			break
		}
		lang := language(t, names.known)
		s := &sentence{t: t, lex: lexicons[lang], f: Frame{Lang: lang}}
		s.chunks = s.tag(meaning)
		s.sense()
		if slices.ContainsFunc(s.chunks, func(c chunk) bool {
			return len(c.tags) > 0 && !c.is("fill", "talk", "greeting", "it", "there")
		}) || len(whens(t, now)) > 0 {
			break
		}
		end = at[1]
	}
	return end
}

// Separate cuts a message into its questions where each of them stands on its own: "Which lights are on, and how much power does the
// building draw?". Otherwise, and where it was understood as one, the message comes back whole. What was said
// before and has nothing to do with it is left out, and told.
func Separate(message string, read Frame, names Names, now time.Time) (questions []string, leftOut string) {
	if len(message) > 500 || read.Alone().Unclear == nil {
		return []string{message}, ""
	}
	if n := lead(message, names, now); n > 0 && n < len(message) {
		leftOut, message = strings.TrimRight(message[:n], " .!;\n"), message[n:]
		read = Read(message, names, now)
	}
	return separate(message, read, names, now), leftOut
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
