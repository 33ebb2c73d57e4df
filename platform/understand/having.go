package understand

import "slices"

// limit reads "only the ground floor": what is named is all that is meant anyway.
func (s *sentence) limit(i int) {
	c := s.chunks[i]
	for k := c.at + c.n; k < len(s.t); k++ {
		if s.t[k].name || slices.ContainsFunc(s.tagsAt(k), func(t string) bool { return slices.Contains([]string{"light", "shade", "zone", "floor", "meter"}, t) }) {
			s.claims[key(c)] = true
			return
		}
		if s.t[k].used && k == c.at+c.n && len(s.f.Conds) > 0 { // "why is it only at 45"
			s.claims[key(c)] = true
			return
		}
		if !slices.Contains(s.tagsAt(k), "fill") && !slices.Contains(s.tagsAt(k), "talk") {
			return
		}
	}
}

// having reads "rooms with lights but no shades": rows are places, and the kinds behind them are what they have.
func (s *sentence) having() {
	rows := s.first("zone", "floor")
	if u := s.first("unmetered"); u >= 0 {
		s.f.Having = append(s.f.Having, Having{Meter, true})
		s.claim("unmetered", "zone", "floor", "not")
	}
	if rows < 0 || slices.ContainsFunc(s.f.Conds, func(c Cond) bool { return c.Unit == Percent }) || s.has("light") && s.has0("still", "noch") && !s.has("neither") || s.has("on", "off", "open", "closed", "moving", "level", "full", "brightest", "darkest", "most", "least", "where", "each", "energy", "power", "fault", "offline", "online") && !s.has("neither") {
		return
	}
	negative, positive := -1, false
	for i, c := range s.chunks {
		if c.at < rows {
			continue
		}
		switch {
		case c.is("neither"):
			negative = i
			s.claims[key(c)] = true
		case c.is("no", "without", "except", "not") && !s.claims[key(c)]:
			negative = i
		case c.is("count") && positive: // "with the number of lamps": it is asked, place by place
			s.f.By = string(Zone)
			if s.has("floor") && !s.has("zone") {
				s.f.By = string(Floor)
			}
			s.claim("with", "count", s.f.By)
			for _, o := range s.chunks[i+1:] {
				if k := kindOf(o); k == Light || k == Shade || k == Device || k == Meter || k == Peripheral {
					s.f.Kind = k
					break
				}
			}
			return
		case c.is("with", "inventory") || slices.Contains([]string{"have", "has", "haben", "hat"}, s.t[c.at].stem):
			positive = true
		case c.is("light", "shade", "meter", "peripheral", "metered"):
			if negative < 0 && !positive {
				continue
			}
			if w := s.t[c.at].text; negative >= 0 && (w == "light" || w == "licht") && len(s.f.Having) == 0 { // there is none, whatever lamps there are
				return
			}
			kind := Meter
			for _, k := range []Kind{Light, Shade, Meter, Peripheral} {
				if c.is(string(k)) {
					kind = k
				}
			}
			s.f.Having = append(s.f.Having, Having{kind, negative >= 0})
			s.take(c.at)
			if negative >= 0 {
				s.claims[key(s.chunks[negative])] = true
				if !s.chunks[negative].is("neither") {
					negative, positive = -1, true
				}
			}
		}
	}
	if len(s.f.Having) == 1 && !s.f.Having[0].Not && s.has("only") { // "which zone has only shades"
		if other := map[Kind]Kind{Light: Shade, Shade: Light}[s.f.Having[0].Kind]; other != "" {
			s.f.Having = append(s.f.Having, Having{other, true})
		}
	}
	if len(s.f.Having) > 0 {
		s.claim("with")
	}
}
