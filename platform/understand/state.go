package understand

import (
	"slices"
	"strings"
)

// dimmed reads "dimmed" as what it says of a light: it is on, and below a value that is said or below all it can give. "How far is it
// dimmed" asks for the level, and who or when somebody dimmed it for a command.
func (s *sentence) dimmed() {
	at := slices.IndexFunc(s.t, func(t token) bool {
		return t.text == "dimmed" || t.text == "gedimmt" || t.text == "gedimmte" || t.text == "gedimmten"
	})
	if lit := slices.IndexFunc(s.t, func(t token) bool { return t.text == "lit" || t.text == "beleuchtet" }); at < 0 && lit > 0 && slices.ContainsFunc(s.f.Conds, func(c Cond) bool { return c.Unit == Percent }) {
		at = lit
	}
	if at < 0 || s.has("shade", "who", "since", "why", "able", "can", "when", "dim?", "average", "difference", "compare") || s.f.When != nil && !s.f.When.Now {
		return
	}
	bounded := slices.ContainsFunc(s.f.Conds, func(c Cond) bool { return c.Unit == Percent })
	asked := slices.ContainsFunc(s.t[:at], func(t token) bool { return slices.Contains([]string{"how", "wie", "to", "what", "was"}, t.stem) }) && !s.has("count")
	is := s.has0("is", "are", "ist", "sind", "any") || at+1 < len(s.t) && countable(s.t[at+1].stem) != ""
	switch {
	case s.f.State != "" && s.f.State != On, !bounded && (asked || !is):
		return
	case !bounded:
		s.f.Conds = append(s.f.Conds, Cond{Rel: Below, Value: 100, Unit: Percent})
	}
	s.f.State = On
}

// forgotten takes the verb of what was forgotten, which only says again what the things still are: "vergessen, das Licht auszumachen".
func (s *sentence) forgotten() {
	if s.f.Lang != German || !s.has0("vergessen") {
		return
	}
	for i, t := range s.t {
		for _, prefix := range []string{"aus", "ab", "zu"} {
			if verb, ok := strings.CutPrefix(t.stem, prefix+"zu"); ok && s.lex.words[prefix+verb] {
				s.t[i].used = true
			}
		}
	}
}

// lightColour reports whether the colour of white light is named: "light colour", "colour temperature".
func (s *sentence) lightColour() bool {
	return slices.ContainsFunc(s.chunks, func(c chunk) bool {
		return c.is("kelvin") && slices.ContainsFunc(s.t[c.at:c.at+c.n], func(t token) bool { return t.stem == "light" || t.stem == "temperature" || t.stem == "white" })
	})
}

// wished reports whether what stands at i is what somebody asks whether to do: "what should I switch off", "was soll ich ausschalten".
func (s *sentence) wished(i int) bool {
	modal := slices.IndexFunc(s.t, func(t token) bool {
		return slices.Contains([]string{"should", "shall", "must", "soll", "sollte", "muss", "muesste", "sollen", "muessen"}, t.stem)
	})
	verb := strings.HasSuffix(s.t[i].stem, "en") || s.f.Lang == English
	return verb && modal >= 0 && modal < i && s.has0("what", "which", "anything", "was", "welche") && slices.Contains([]string{"i", "we", "ich", "wir", "man"}, s.wordAt(modal+1))
}

// colourOf is the side of colour that is spoken of: "kelvin", "hue", or none.
func (s *sentence) colourOf() string {
	switch {
	case s.has("kelvin") || slices.ContainsFunc(s.f.Conds, func(c Cond) bool { return c.Unit == Kelvin }):
		return "kelvin"
	case s.has("hue"):
		return "hue"
	}
	return ""
}

// moreSo reports whether one state is compared, and not how many things are in it: "more open", not "more shades open".
func (s *sentence) moreSo() bool {
	for i, c := range s.chunks[:max(0, len(s.chunks)-1)] {
		if next := s.chunks[i+1]; c.is("more", "less") && next.is("open", "closed") && next.at == c.at+c.n {
			return true
		}
	}
	return false
}
