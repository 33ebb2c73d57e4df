package understand

import "slices"

// Words that add nothing to a question are of closed classes, told apart by where they may stand: adverbs of stance and courtesies
// anywhere, interjections and words that take something back at its beginning, tags such as "or not" at its end. A word that may mean
// something else at another place is not one of them there.

// asideless takes such words out of a question. What the building's names are made of stays.
func (s *sentence) asideless(names Names) {
	var out []token
	apart := false
	for i := 0; i < len(s.t); {
		if n := s.asideAt(i, len(out) == 0, names); n > 0 && n < len(s.t) {
			apart = apart || s.t[i].apart
			if len(out) == 0 && n > 1 && slices.Contains([]string{"is", "would", "can", "could", "stimmt", "trifft", "ist"}, s.t[i].stem) { // "is it true that"
				s.f.Form = Check
			}
			i += n
			continue
		}
		t := s.t[i]
		t.apart = t.apart || apart && len(out) > 0
		apart = false
		out = append(out, t)
		i++
	}
	if len(out) > 0 {
		s.t = out
	}
}

// asideAt is the number of words from i on that add nothing; first: nothing but such words stands before.
func (s *sentence) asideAt(i int, first bool, names Names) int {
	for _, e := range s.lex.byFirst[s.t[i].stem] {
		n := phraseAt(s.t, i, e.words)
		if n == 0 {
			continue
		}
		fits := slices.Contains(e.tags, "aside") || first && slices.Contains(e.tags, "opening") || i+n == len(s.t) && slices.Contains(e.tags, "closing")
		if !fits {
			if n > 1 { // a longer phrase that means something
				return 0
			}
			continue
		}
		if slices.ContainsFunc(s.t[i:i+n], func(t token) bool {
			return t.used || names.known[t.stem] && t.stem != "and" && t.stem != "und" && !isDigits(t.stem) && !leading[t.stem]
		}) {
			continue
		}
		return n
	}
	return 0
}
