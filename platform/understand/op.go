package understand

import "slices"

// op finds what is asked of the topic.
func (s *sentence) op() {
	f := &s.f
	s.severally()
	two := f.Against != nil || len(f.Mentioned()) >= 2
	duration := slices.ContainsFunc(f.Conds, func(c Cond) bool { return c.Unit == Minutes })
	switch {
	case f.Op == Can:
		s.claim("can", "able", "dim?", "tune?", "hue?", "hue", "any", "level")
		if s.has("shade") && !s.has("light") && f.Unclear == nil { // nothing of that kind can be dimmed
			f.Unclear = &Unclear{Conflict, []string{said(s.t, max(0, s.first("dim?", "tune?", "hue?", "hue")), s.chunkAt(s.first("dim?", "tune?", "hue?", "hue")).n)}}
		}
		for _, c := range s.chunks {
			if c.is("not") { // "which lamps are not dimmable"
				s.claims[key(c)] = true
				f.Set(None, true)
			}
		}
	case f.Op == Who:
		s.claim("switch", "command", "change", "who", "since", "when", "any", "status", "use", "everything", "why")
	case f.Topic == Nothing && s.has("who") && f.State == "" && !(s.has("switch") && len(f.Places) > 0): // "who was it?", of what was said before
		f.Op = Who
		if !f.Is(Follows) && f.Unclear == nil && (len(f.Places) > 0 || s.has("whole")) && s.present() { // "who was in the lobby": nobody knows who is where
			f.Topic, f.Op = Occupancy, Tell
			s.claim("last")
		} else if !s.bare() && !f.Is(Follows) && f.Unclear == nil { // "who was the lobby"
			f.Unclear = &Unclear{Conflict, []string{said(s.t, max(0, s.first("who")), 1)}}
		}
		s.claim("who", "switch")
	case (f.Topic == Lights || f.Topic == Shades) && s.agent(): // "what switched it off"
		f.Op = Who
		s.claim("switch")
	case (f.Topic == Lights || f.Topic == Shades) && (s.somebody() || s.has("switch") && (f.State == "" || f.State == Moving) && f.When != nil && !f.When.Now): // "which were switched today"
		f.Op = Who
		s.claim("switch", "since", "moving")
		if f.State == Moving {
			f.State = ""
		}
	case (f.Topic == Lights || f.Topic == Shades) && f.State != "" && s.wordAt(0) == "how" && (s.wordAt(1) == "was" || s.wordAt(1) == "were") && s.word("switched", "turned", "opened", "closed") != "": // "how was it switched on"
		f.Op = Who
		s.claim("switch", "since")
	case (f.Topic == Lights || f.Topic == Shades) && f.State != "" && f.When != nil && !f.When.Now && s.wasDone(): // "what was switched off tonight"
		f.Op = Who
		s.claim("switch", "since")
	case s.has("who") && (s.has("switch", "on", "off", "open", "closed", "level") || len(f.Places) > 0 && s.has("light", "shade")) && (f.Topic == Lights || f.Topic == Shades || f.Topic == Nothing || f.Topic == Inventory):
		f.Op = Who
		if f.Topic == Nothing || f.Topic == Inventory {
			f.Topic = Lights
			if s.has("shade") || len(f.Places) > 0 && f.Places[0].Kind == Shade {
				f.Topic = Shades
			}
		}
		s.claim("who", "switch", "since", "can", "future")
		if !slices.ContainsFunc(s.chunks, func(c chunk) bool { return c.is("level") && slices.Contains([]string{"how", "wie"}, s.t[c.at].stem) }) { // "how bright is it and who made it so" are two questions
			s.claim("level")
		}
	case f.Topic == Nothing && s.bare() && s.has("compare") && s.has("it"): // "compare them"
		f.Op = Compare
		s.claim("compare", "it")
	case f.Topic == Nothing && s.bare() && s.has("sum", "total") && len(s.t) < 5 && !s.has("why", "who", "average", "compare"): // "and together?"
		f.Op = Sum
		f.Set(Follows, true)
		s.claim("sum", "howmuch", "compare")
	case f.Topic == Nothing && s.bare() && (s.has("since") || s.has("when") && len(s.t) < 4) && !s.has("why"): // "since when?", "and when?"
		f.Op = Since
		s.claim("since", "when", "longer")
	case s.has("why"):
		if (f.Topic == Lights || f.Topic == Shades) && s.thwarted() { // what stands in the way, and not by what command they are as they are
			f.Topic, f.State, f.Conds = Faults, "", nil
			for _, c := range s.chunks {
				if stateOf(c) != "" || c.is("level", "able", "can") {
					s.t[c.at].used = true
				}
			}
		}
		f.Op = Why
		s.claim("why", "switch", "most", "more", "less", "can")
		for _, c := range s.chunks {
			if c.is("not") { // "why is it not moving"
				s.claims[key(c)] = true
			}
		}
	case s.has("usual") && f.Topic != Faults:
		f.Op = Usual
		s.claim("usual", "more", "less", "than", "compare", "most")
	case s.has("difference"):
		f.Op = Difference
		s.claim("difference", "more", "less", "than", "trend", "change", "brighter", "darker", "compare")
	case len(f.Mentioned()) >= 2 && s.thingsThan(): // "which rooms upstairs are brighter than the lobby"
		f.Unclear = &Unclear{Conflict, []string{said(s.t, s.first("than"), s.nameEnd(f.Places[len(f.Places)-1].Mention)-s.first("than"))}}
	case s.likeIt() != "": // what it stands for is not known
		f.Unclear = &Unclear{Conflict, []string{s.likeIt()}}
	case f.Against != nil && s.has("compare", "than", "trend", "change", "more", "less", "difference") || len(f.Mentioned()) >= 2 && s.has("compare", "than", "more", "less", "brighter", "darker", "most"):
		f.Op = Compare
		s.claim("compare", "than", "more", "less", "trend", "change", "brighter", "darker", "most", "least", "with")
		if s.joins() {
			s.claim("sum")
		}
	case s.has("same") && s.has("count", "howmuch"): // the same number is not the same level
		f.Unclear = &Unclear{Conflict, []string{said(s.t, s.first("same"), s.chunkAt(s.first("same")).n)}}
	case s.has("same") && (f.Topic == Lights || f.Topic == Shades) && s.yesNo():
		f.Op = Same
		s.claim("same")
	case s.thanThat():
		f.Op = Compare
		f.Set(Follows, true)
		s.claim("than", "more", "less", "brighter", "darker", "it", "compare")
	case s.has("trend") && !two && f.Topic != Offline && f.Topic != Faults:
		f.Op = Trend
		s.claim("trend", "change", "more", "less")
	case s.has("share") && s.attributive() != "": // "what share of the lit lamps is in the tower" is no share of the tower's lamps
		f.Unclear = &Unclear{Conflict, []string{s.attributive()}}
	case s.has("share") && f.Topic == Lights && f.State == "" && len(f.Places) > 0 && len(f.Mentioned()) < 2 && f.By == "" && !s.has("all", "count", "list") && !s.has0("of"): // "the lobby lights, how many percent" is how bright they are
		s.claim("share")
	case s.has("share"), slices.ContainsFunc(f.Conds, func(c Cond) bool { return c.Unit == Part }):
		f.Op = Share
		s.claim("share")
	case f.Per != "":
		f.Op = PerUnit
		s.claim("perm2", "perlight", "average")
		if f.Per == "m2" && s.has("most", "least") && s.has("floor") && f.Top == 0 && len(f.Places) == 0 { // each is told, with its figure
			f.By = string(Floor)
			f.Set(More, s.has("most"))
			f.Set(Less, !s.has("most"))
			s.claim("most", "least", "floor", "list", "consumer")
		}
	case (s.has("since") || s.has("when") && f.State != "" && s.word("went", "came") != "" || duration && (f.Topic == Lights || f.Topic == Shades)) && slices.Contains([]Topic{Lights, Shades, Faults, Offline, Controllers}, f.Topic):
		if f.Topic != Offline || !duration {
			f.Op = Since
		}
		s.claim("since", "switch", "longer", "when")
	case (f.Topic == Power || f.Topic == Energy) && s.has("most") && s.has("least") && s.has("meter", "zone", "floor"): // a ranking has both ends
		f.Op = Most
		s.claim("most", "least", "consumer")
	case f.Topic == Power && s.has("most", "peak") && s.has("least", "base") && f.When != nil && !f.When.Now: // both are told
		s.claim("most", "least", "peak", "base")
	case f.Topic == Power && s.has("list", "who") && (s.has("peak") && s.word("highest", "maximum", "höchste") != "" || s.has("base") && s.word("lowest", "niedrigste") != "") && s.has("zone", "floor", "meter"): // "which floor has the lowest power"
		if f.Op = Most; s.has("base") {
			f.Op = Least
		}
		s.claim("peak", "base", "list")
	case f.Topic == Lights && s.has("brightest") && s.has("darkest") && s.has("zone", "floor"): // a ranking has both ends
		f.Op = Most
		s.claim("brightest", "darkest")
	case s.has("most", "brightest", "peak"), f.Op == Most:
		f.Op = Most
		s.claim("most", "brightest", "peak", "consumer", "who", "list", "where", "when", "since")
		if f.Topic != Lights && f.Topic != Shades {
			s.claim("longer")
		} else if s.word("longest", "längsten", "laengsten") != "" { // that is not the brightest
			f.Op, f.Top = Since, max(f.Top, 1)
			if f.State == "" && f.Topic == Lights { // "been on the longest": this "on" was read as one before a place
				f.State = On
			}
		} else if w := s.word("shortest", "kürzesten", "kuerzesten"); w != "" {
			f.Unclear = &Unclear{Conflict, []string{w}}
		}
	case s.has("least", "darkest", "base"):
		f.Op = Least
		s.claim("least", "darkest", "base", "consumer", "who", "where", "when")
	case s.has("average"):
		f.Op = Average
		s.claim("average")
	case f.Against != nil:
		f.Op = Compare
		s.claim("with")
	case s.has("compare") && (f.When != nil && !f.When.Now || f.Topic == Energy || f.Topic == Power):
		f.Op = Compare
		s.claim("compare", "than", "more", "less", "with")
	case s.has("sum") && len(f.Mentioned()) >= 2:
		f.Op = Sum
		s.claim("sum")
	}
	if f.Topic == Lights && (f.Op == Most || f.Op == Least) && s.has("brightest", "darkest") && (f.State != "" || len(f.Conds) > 0) {
		f.Aspect = "level" // "the dimmest that is on" is no count of what is on
	}
	if f.Op == Who && f.Kind == Everything && s.has0("last", "zuletzt", "latest") && !s.timely("last") && s.has("any", "who") {
		f.Aspect = "last"
	}
	if f.Op == Who {
		s.claim("nobody") // what was done is told, which answers both "did nobody" and "did anybody"
		s.through()
	}
	if f.Op == Who || f.Op == Why || f.Op == Since {
		s.claim("last", "when")
		if f.By == "hour" && s.has("byhour") { // "who was it, and at what time?": it is told with every command
			f.By = ""
			s.claim("byhour")
		}
	}
	if s.has("average") && f.Op != Average && (f.Op == Most || f.Op == Least || f.By != "") && !(f.Topic == Power && f.When == nil) {
		s.claim("average")
	}
}

// chunkAt is the chunk that begins at a token.
func (s *sentence) chunkAt(at int) chunk {
	for _, c := range s.chunks {
		if c.at == at {
			return c
		}
	}
	return chunk{n: 1}
}

// severally tells places apart that were named by the same words, where they are compared: "which of the two open offices is brighter".
func (s *sentence) severally() {
	places := s.f.Places
	compared := s.has("compare") && s.f.Against == nil && s.f.When == nil || s.has("brighter", "darker", "more", "less") && s.has("list", "who")
	if len(places) < 2 || len(places) > 6 || len(s.f.Mentioned()) > 1 || s.has("than") || !compared {
		return
	}
	for i := range places[1:] {
		places[i+1].Mention = -1 - i // no word is theirs alone
	}
}

// thingsThan reports whether it is asked which things of a place are more so than another place.
func (s *sentence) thingsThan() bool {
	than := s.first("than")
	return than >= 0 && s.f.Places[len(s.f.Places)-1].Mention > than && s.has("list", "count") && slices.ContainsFunc(s.chunks, func(c chunk) bool {
		return c.at < than && c.is("zone", "floor", "light", "shade", "meter", "device") && !s.apposed(c)
	})
}

// likeIt are words that stand for a place of the same kind on another floor: "brighter than the one upstairs", "heller als der im
// Erdgeschoss"; empty: there are none.
func (s *sentence) likeIt() string {
	for _, p := range s.f.Places {
		k := p.Mention - 1
		for k > 0 && leading[s.t[k].stem] && !slices.Contains([]string{"der", "die", "das"}, s.t[k].stem) {
			k--
		}
		if k <= 0 || !slices.Contains([]string{"one", "those", "that", "der", "die", "das", "dem", "den", "jener"}, s.t[k].stem) {
			continue
		}
		if s.t[k].stem == "those" && s.has("shade", "light") { // they are things, which each place has
			continue
		}
		german := slices.Contains([]string{"der", "die", "das", "dem", "den"}, s.t[k].stem)
		if before := s.wordAt(k - 1); (before == "than" || before == "als" || before == "the" && s.wordAt(k-2) == "than") && (!german || k < p.Mention-1) {
			return said(s.t, k, s.nameEnd(p.Mention)-k)
		}
	}
	return ""
}

// attributive are the words of things that are so, where a place follows that they are a share of: "lit lamps … in the tower"; else empty.
func (s *sentence) attributive() string {
	for i, c := range s.chunks[:max(0, len(s.chunks)-1)] {
		if next := s.chunks[i+1]; stateOf(c) != "" && next.is("light", "shade") && next.at == c.at+c.n && len(s.f.Places) > 0 && s.f.Places[0].Mention > next.at {
			return said(s.t, c.at, c.n+next.n)
		}
	}
	return ""
}

// nameSays reports whether the name of a place says a noun of a kind: "the south blinds".
func (s *sentence) nameSays(k Kind) bool {
	bus := slices.ContainsFunc(s.f.Places, func(p Place) bool { return p.Kind == Bus }) // named after its shades
	return !bus && slices.ContainsFunc(s.t, func(t token) bool { return t.name && countable(t.stem) == k })
}

// thanThat reports whether what was said before is compared with a place: "is that more than the upper floor?".
func (s *sentence) thanThat() bool {
	than := s.first("than")
	return than >= 0 && s.has("more", "less", "brighter", "darker") && len(s.f.Mentioned()) == 1 && s.f.Against == nil && s.f.Places[0].Mention > than &&
		slices.ContainsFunc(s.t[:than], func(t token) bool {
			return slices.Contains([]string{"it", "that", "this", "das", "es", "dies"}, t.stem)
		})
}

// bare reports whether a sentence names no place, time, state or value: it is about what was said before, if about anything.
func (s *sentence) bare() bool {
	return len(s.f.Places)+len(s.f.Except)+len(s.f.Conds)+len(s.f.Having) == 0 && s.f.When == nil && s.f.State == "" && s.f.Kind == ""
}

// word is the first of some words that the sentence has, as it was said; empty: none.
func (s *sentence) word(words ...string) string {
	for _, t := range s.t {
		if slices.Contains(words, t.text) || slices.Contains(words, t.stem) {
			return t.text
		}
	}
	return ""
}

// joins takes places that are said to count together as one side of a comparison: "more than the ground floor and the annex together";
// false: none are.
func (s *sentence) joins() bool {
	groups := s.f.Mentioned()
	if len(groups) < 3 || !s.has("sum") {
		return false
	}
	than := s.first("than")
	side := map[bool][]int{}
	for _, g := range groups {
		side[g[0].Mention > than] = append(side[g[0].Mention > than], g[0].Mention)
	}
	for _, c := range s.chunks {
		joined := side[c.at > than]
		if !c.is("sum") || len(joined) < 2 || len(side) < 2 || than < 0 || len(side[c.at < than]) != 1 {
			continue
		}
		for i, p := range s.f.Places {
			if slices.Contains(joined, p.Mention) {
				s.f.Places[i].Mention = joined[0]
			}
		}
		slices.SortStableFunc(s.f.Places, func(a, b Place) int { return a.Mention - b.Mention })
		return true
	}
	return false
}
