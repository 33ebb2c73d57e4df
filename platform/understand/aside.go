package understand

import "slices"

// Words that add nothing to a question are of closed classes, told apart by where they may stand: adverbs of stance and courtesies
// anywhere ("aside"), what introduces a question and interjections at its beginning ("lead", "opening"), tags such as "or not" at its end
// ("closing"). A word that may mean something else at another place is not one of them there.

// longestEnd is how many words at the end of a question may add nothing.
const longestEnd = 16

// asideless takes such words out of a question. What the building's names are made of stays.
func (s *sentence) asideless(names Names) {
	var out []token
	apart := false
	s.closes = make([]bool, len(s.t)+1)
	s.closes[len(s.t)] = true
	for i := len(s.t) - 1; i > max(0, len(s.t)-longestEnd); i-- {
		n, _ := s.asideAt(i, false, names)
		s.closes[i] = n > 0 && s.closes[i+n]
	}
	for i := 0; i < len(s.t); {
		if len(out) == 1 && s.closes[i] && i < len(s.t) { // "what can I ask"
			out = append(out, s.t[i:]...)
			break
		}
		if n, lead := s.asideAt(i, len(out) == 0, names); n > 0 && n < len(s.t) {
			apart = apart || s.t[i].apart
			last := s.t[i+n-1].stem
			if next := s.wordAt(i + n); n > 1 && (len(out) == 0 && doubting[s.t[i].stem] && affirming[last] || lead && (last == "that" || last == "dass" || next == "dass")) { // "is it true that"
				s.f.Form = Check
			}
			s.f.Set(Asked, s.f.Is(Asked) || lead)
			i += n
			if lead && i < len(s.t) && s.t[i].stem == "if" {
				s.t[i].stem = "whether"
			}
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

// asideAt is the number of words from i on that add nothing, and whether they introduce a question; first: nothing but such words
// stands before.
func (s *sentence) asideAt(i int, first bool, names Names) (n int, lead bool) {
	n, meant := 0, 0
	for _, e := range s.lex.byFirst[s.t[i].stem] {
		k := phraseAt(s.t, i, e.words)
		if k == 0 {
			continue
		}
		fits := slices.Contains(e.tags, "aside") || first && slices.Contains(e.tags, "opening") || slices.Contains(e.tags, "closing") && s.closes[i+k]
		if fits && !s.nameAmong(i, k, names) {
			n = max(n, k)
		} else if k > 1 && !slices.Contains(e.tags, "talk") && !slices.Contains(e.tags, "fill") {
			meant = max(meant, k) // a phrase that means something
		}
	}
	for _, p := range s.lex.patterns[s.t[i].stem] {
		if p.tag != "aside" && p.tag != "closing" && !first || p.tag[0] == '~' {
			continue
		}
		k := at(s.t, i, p.slots) - i
		if k > n && (p.tag != "closing" || s.closes[i+k]) && !s.nameAmong(i, k, names) {
			n, lead = k, p.tag == "lead"
		}
	}
	if meant > n {
		return 0, false
	}
	return n, lead
}

// doubting words begin, and affirming ones end, what asks whether something is so.
var (
	doubting  = wordSet("is was would can could am do does may might stimmt trifft ist kann habe gehe gehen sehe verstehe")
	affirming = wordSet("that dass say confirm true correct right case stimmt es wahr richtig recht zu")
)

// nameAmong reports whether a name of the building is among n words, so that they may be said of it.
func (s *sentence) nameAmong(i, n int, names Names) bool {
	return slices.ContainsFunc(s.t[i:i+n], func(t token) bool {
		return t.used || names.known[t.stem] && t.stem != "and" && t.stem != "und" && !isDigits(t.stem) && !leading[t.stem]
	})
}
