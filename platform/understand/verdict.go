package understand

import "slices"

// verdict notes which of two places is asked to be more: "is Alps brighter than the lobby", "are more blinds up in the annex than in
// the tower"; and whether a question about faults asks for what is wrong or for what is not. The answer needs a yes or no then.
func (s *sentence) verdict() {
	f := &s.f
	if f.Topic == Faults && f.Form == Check { // "is everything in order" and "is anything broken" have contrary answers
		well, ill := s.has("healthy"), s.has("fault")
		f.Set(None, well && !ill && !s.has("not"))
		if well == ill || s.has("not") || s.word("fixed", "repaired", "repariert", "behoben") != "" { // whether what was wrong still is, the faults tell
			f.Form = Plain
		}
	}
	groups := f.Mentioned()
	if f.Op != Compare || f.Form != Check && !s.has0("do", "doe", "does", "did") || f.Against != nil || len(groups) != 2 || s.has("not") {
		return
	}
	than := slices.IndexFunc(s.t, func(t token) bool { return t.stem == "than" || t.stem == "als" })
	if first, second := groups[0][0].Mention, groups[1][0].Mention; than < first || than > second {
		return
	}
	more, less := s.has("more", "brighter"), s.has("less", "darker")
	if more == less {
		return
	}
	if f.State == "" && s.has("closed") { // how far closed, not how many are
		more = !more
	}
	f.Set(More, more)
	f.Set(Less, !more)
}
