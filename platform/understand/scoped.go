package understand

import (
	"slices"
	"strings"
)

// scoped finds what tells which of the things are meant, where the rest is an action: "the kitchen lights", "in the sauna".
func (s *sentence) scoped(all []cue) *Unclear {
	if persons[s.wordAt(0)] && s.wordAt(0) != "we" && s.wordAt(0) != "i" || s.wordAt(0) == "the" {
		return nil
	}
	strange := make([]bool, len(all))
	var words []string
	for i, c := range all {
		if strange[i] = len(c.tags) == 0 || c.is("strange", "part"); strange[i] {
			if persons[s.t[c.at].stem] {
				return nil
			}
			if !prepositions[s.t[c.at].stem] && s.t[c.at].stem != "im" && s.t[c.at].stem != "am" {
				words = append(words, said(s.t, c.at, c.n))
			}
		}
	}
	if !slices.Contains(strange, true) {
		return nil
	}
	if len(words) == 0 {
		first := all[slices.Index(strange, true)]
		words = []string{said(s.t, first.at, first.n)}
	}
	for _, wide := range []bool{false, true} { // with the words that only lead to what is strange
		var rest []cue
		for i, c := range all {
			lead := wide && (prepositions[s.t[c.at].stem] || c.is("room", "own", "except", "amount", "it", "only")) && (i+1 < len(all) && (strange[i+1] || i+2 < len(all) && strange[i+2] && c.n == 1 && prepositions[s.t[all[i+1].at].stem]) || i > 0 && strange[i-1])
			if !strange[i] && !lead {
				rest = append(rest, c)
			}
		}
		if do, ok := s.actions(trim(rest)); ok && !slices.ContainsFunc(do, func(d Do) bool { return d.Kind == Panel }) && slices.ContainsFunc(rest, func(c cue) bool {
			here := !slices.ContainsFunc(words, func(w string) bool { return !strings.HasSuffix(w, "here") && !strings.HasSuffix(w, "hier") })
			return c.is("light", "shade", "level", "place", "morelight", "lesslight") || here && c.is("brighter", "dimmer", "brighten", "dim")
		}) {
			return &Unclear{Elsewhere, join(words, s)}
		}
	}
	return nil
}

func drop(all []cue, tags ...string) []cue {
	return slices.DeleteFunc(slices.Clone(all), func(c cue) bool { return c.is(tags...) })
}

// trim takes joins from the ends.
func trim(all []cue) []cue {
	for len(all) > 0 && all[len(all)-1].is("and") {
		all = all[:len(all)-1]
	}
	for len(all) > 0 && all[0].is("and") {
		all = all[1:]
	}
	return all
}
