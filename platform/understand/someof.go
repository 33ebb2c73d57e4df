package understand

import "slices"

// partOf finds words that mean one or some of the things of a kind, and not all of a place: "lamp 3", "half of the lights", "jede
// zweite Lampe". Empty: none.
func (s *sentence) partOf() string {
	thing := func(i int) bool { return s.means(i, "light", "shade") }
	for i := range s.t {
		if slices.Contains([]string{"number", "nummer", "nr"}, s.t[i].stem) && i+1 < len(s.t) && isDigits(s.t[i+1].text) && !s.t[i+1].used { // "but leave number 2 alone"
			return said(s.t, i, 2)
		}
		if n := s.partAt(i); n > 0 {
			k := i + n
			for k < len(s.t) && (articles[s.t[k].stem] || slices.Contains([]string{"of", "der", "von", "den", "other"}, s.t[k].stem) || s.t[k].name) {
				k++
			}
			if thing(k) && !s.t[k].apart {
				return said(s.t, i, k+1-i)
			}
		}
		if !thing(i) || i+1 == len(s.t) || s.t[i+1].apart {
			continue
		}
		k, numbered := i+1, false
		if slices.Contains([]string{"number", "no", "nr", "nummer"}, s.t[k].stem) {
			k, numbered = k+1, true
		}
		from := k
		for k < len(s.t) && (isDigits(s.t[k].text) || k > from && k+1 < len(s.t) && slices.Contains([]string{"and", "und", "or", "oder"}, s.t[k].stem) && isDigits(s.t[k+1].text)) {
			k++
		}
		if k == from || s.wordAt(k) == "percent" || from > i+1 && k == from {
			continue
		}
		bare := s.t[i].text == s.t[i].stem && s.t[i].stem != "light" && s.t[i].stem != "licht"
		only := slices.ContainsFunc(s.t[max(0, i-2):i], func(t token) bool { return slices.Contains([]string{"only", "just", "nur"}, t.stem) })
		named := i
		for named > 0 && s.t[named].name && s.t[named-1].name {
			named--
		}
		if k == from+1 && len(s.placeAt(named)) > 0 { // "Lobby shade 2" is a name
			continue
		}
		if numbered || k > from+1 || only || bare {
			return said(s.t, i, k-i)
		}
	}
	return ""
}

// partAt is the number of words from i on that say how many of all are meant.
func (s *sentence) partAt(i int) int {
	w, next := s.wordAt(i), s.wordAt(i+1)
	switch {
	case s.t[i].text == "halbes", w == "half" && i+1 < len(s.t) && s.t[i+1].text == "light": // "halbes Licht" is half as bright as there is
		return 0
	case slices.Contains([]string{"half", "haelfte", "halben", "halbe"}, w) && !slices.Contains([]string{"to", "at", "by", "auf", "um"}, s.wordAt(i-1)):
		return 1
	case (w == "every" || w == "each" || w == "jede" || w == "jedes" || w == "jeden") && slices.Contains([]string{"second", "other", "third", "zweite", "zweites", "dritte", "andere"}, next):
		return 2
	case w == "alternate":
		return 1
	}
	return 0
}
