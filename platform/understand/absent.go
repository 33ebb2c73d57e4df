package understand

import (
	_ "embed" // what buildings have that is not here
	"slices"
	"strings"
)

//go:embed absent.txt
var absentText string

// absentTag begins the tags of things that buildings have and no controller here tells of; the kind follows.
const absentTag = "absent "

// absentIn are the lines of a lexicon with the words for what is not here.
func absentIn(lang Lang) string {
	var text strings.Builder
	for line := range strings.Lines(absentText) {
		kind, words, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		en, de, _ := strings.Cut(words, "=")
		text.WriteString(absentTag + kind + ": " + map[Lang]string{English: en, German: de}[lang] + "\n")
	}
	return text.String()
}

// absentKind is the kind of thing that is not here that a tag names, empty if none.
func absentKind(tag string) string {
	kind, ok := strings.CutPrefix(tag, absentTag)
	if !ok {
		return ""
	}
	return kind
}

// absent reports whether it is asked about something that is not here, which no answer to the rest of the question would tell. What is
// understood whole is none: a place may be named after a door.
func (s *sentence) absent() bool {
	var words []string
	for i, c := range s.chunks {
		for _, tag := range c.tags {
			kind := absentKind(tag)
			if kind == "" || s.t[c.at].used {
				continue
			}
			s.f.Aspect = kind
			from := c.at
			for k := i - 1; k >= 0 && len(s.chunks[k].tags) == 0 && s.chunks[k].at == from-1 && !s.t[from].apart; k-- {
				from-- // "security gate"
			}
			if w := said(s.t, from, c.at+c.n-from); !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
	}
	if words != nil {
		s.f.Unclear = &Unclear{Absent, join(words, s)}
	}
	return words != nil
}

// unmeasured puts what is understood to be about a quantity that nobody measures as such, whatever else of it is not understood.
func (s *sentence) unmeasured(words, strange []string) bool {
	f := &s.f
	only := func(tags ...string) bool { // is left over
		return len(strange) == 0 && len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool {
			return !slices.ContainsFunc(s.chunks, func(c chunk) bool { return c.is(tags...) && said(s.t, c.at, c.n) == w })
		})
	}
	kind := ""
	switch {
	case len(words)+len(strange) == 0, !s.asks && !s.f.Is(Asked) && !s.put():
	case f.Topic == Comfort && f.Aspect != "":
		kind = f.Aspect
	case f.Topic == Occupancy:
		kind = "occupancy"
	case only(aspects...):
		kind = aspects[slices.IndexFunc(aspects, func(a string) bool { return s.has(a) })]
	case f.Topic == Carbon:
		kind = "carbon"
	case (f.Topic == Power || f.Topic == Energy || f.Topic == Cost) && !s.has0("that", "davon") && only("light", "shade", "device", "any", "all", "on"):
		kind = "single"
	}
	if kind == "" {
		return false
	}
	f.Aspect, f.Unclear = kind, &Unclear{Absent, append(strange, words...)}
	return true
}
