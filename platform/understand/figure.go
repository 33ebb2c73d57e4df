package understand

import "slices"

// partOfFigure finds the question which part of a figure lights or shades need: "how much of that is lights". Meters measure places, so it
// is no question about the lights.
func (s *sentence) partOfFigure() {
	f := &s.f
	of := s.has0("that", "this", "it", "which", "davon", "power", "energy", "consumption", "load", "leistung", "energie", "verbrauch")
	part := s.has("share") || s.has0("much", "viel", "part", "portion", "anteil", "teil", "fraction")
	kind := s.has("light") && s.first("light") > 0 || s.has("shade")
	about := f.Topic == Lights || f.Topic == Shades || f.Topic == Inventory && f.Op == Share || (f.Topic == Power || f.Topic == Energy) && f.Op == Share && f.Unclear != nil
	if !of || !part || !kind || !about || f.State != "" || len(f.Conds) > 0 || len(f.Places) > 0 || !s.onlyKind() {
		return
	}
	if f.Topic != Energy {
		f.Topic = Power
	}
	f.Op, f.Form, f.Aspect, f.Kind, f.Unclear = Tell, Plain, "bykind", "", nil
}

// onlyKind reports whether nothing is unclear but the kind of things.
func (s *sentence) onlyKind() bool {
	u := s.f.Unclear
	return u == nil || u.Why == Conflict && !slices.ContainsFunc(u.Words, func(w string) bool {
		t := cut(w)
		return len(t) != 1 || countable(t[0].stem) == ""
	})
}
