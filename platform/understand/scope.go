package understand

import "slices"

// dismissals are put before what a question is not about.
var dismissals = [][]string{stems("not care about"), stems("not interested in"), stems("not ask about"), stems("not asking about"), stems("not talking about"), stems("forget about"),
	stems("forget"), stems("ignore"), stems("never mind"), stems("leave aside"), stems("not about"), stems("not mean"), stems("not")}

// boundary words begin what is asked after all.
var boundary = wordSet("i just only tell show give how what which when is are but instead list")

// dismiss takes out what the asker does not want to hear about: "I don't care about the lobby, just tell me …".
func (s *sentence) dismiss() {
	for i := range s.t {
		for _, d := range dismissals {
			n := phraseAt(s.t, i, d)
			if n == 0 || len(d) == 1 && d[0] == "not" && i > 0 { // "not the lobby, I meant …"
				continue
			}
			end := i + n
			for end < len(s.t) && (s.t[end].name || s.quiet(end)) && !boundary[s.t[end].stem] {
				end++
			}
			named := slices.ContainsFunc(s.f.Places, func(p Place) bool { return p.Mention >= i && p.Mention < end })
			if !named || end == len(s.t) {
				continue
			}
			s.f.Places = slices.DeleteFunc(s.f.Places, func(p Place) bool { return p.Mention >= i && p.Mention < end })
			for k := i; k < end; k++ {
				s.t[k].used, s.t[k].name = true, false
			}
			for k := i - 1; k >= 0 && (s.wordAt(k) == "do" || s.wordAt(k) == "i" || s.wordAt(k) == "am"); k-- {
				s.t[k].used = true
			}
			for k := end; k < len(s.t) && (s.wordAt(k) == "i" || s.wordAt(k) == "meant" || s.wordAt(k) == "mean"); k++ {
				s.t[k].used = true
			}
			return
		}
	}
}

// quiet reports whether a word alone means nothing.
func (s *sentence) quiet(i int) bool {
	for _, e := range s.lex.byFirst[s.t[i].stem] {
		if len(e.words) == 1 {
			return slices.Contains(e.tags, "fill")
		}
	}
	return false
}

// exclude reads "except the lobby", "without the canteen and the corridor", "but not in Alps", "neither the lobby nor the canteen".
func (s *sentence) exclude() {
	for i, c := range s.chunks {
		if c.is("not") && (auxiliaries[s.wordAt(c.at-1)] || subjects[s.wordAt(c.at-1)] && auxiliaries[s.wordAt(c.at-2)]) { // and neither does "why can I not see the stage lights" // "why doesn't Alps 4 answer", "isn't the lobby dark?" leave nothing out
			if c.at <= 1 {
				s.claims[key(c)] = true
			}
			continue
		}
		operator := c.is("except", "neither") || c.is("not", "no", "without")
		if !operator {
			if c.is("only") && !s.allBut(c) && !s.onlyThere(c) {
				s.limit(i)
			}
			continue
		}
		if c.is("no") && c.n > 1 && !c.is("without") { // "not one of the lobby lamps" leaves nothing out
			continue
		}
		k, found := c.at+c.n, false
		for k < len(s.t) {
			if found && s.t[k].apart && !s.nameAhead(k) { // "leaving aside the lobby, which rooms …"
				break
			}
			if s.t[k].name {
				if s.t[k].apart && found && !s.joined(k) {
					break
				}
				out := s.placeAt(k)
				s.f.Except = append(s.f.Except, out...)
				s.f.Places = slices.DeleteFunc(s.f.Places, func(p Place) bool { return p.Mention == k })
				k, found = s.nameEnd(k), true
				continue
			}
			if tags := s.tagsAt(k); s.t[k].used || !(slices.Contains(tags, "fill") || slices.Contains(tags, "neither") || slices.Contains(tags, "it") || found && slices.ContainsFunc(tags, placeNoun)) {
				break
			}
			if !found && (s.t[c.at].stem == "no" || c.is("not") && slices.ContainsFunc(s.tagsAt(k), func(t string) bool { return stateOf(chunk{tags: []string{t}}) != "" })) {
				break
			}
			k++
		}
		if found {
			s.claims[key(c)] = true
			s.claimBetween(c.at, k, "neither", "it")
			s.claim("else")
			continue
		}
		if c.is("except") && (s.exceptState(i) || s.exceptBefore(c)) {
			continue
		}
		if c.is("except") && !s.has("zone", "floor") { // "apart from the shades"
			for _, o := range s.chunks[i+1:] {
				if o.is("fill") && !o.is(string(Light), string(Shade), string(Meter), string(Peripheral)) {
					continue
				}
				for _, kind := range []Kind{Light, Shade, Meter, Peripheral} {
					if o.is(string(kind)) {
						s.f.Having = append(s.f.Having, Having{kind, true})
						s.take(o.at)
						s.claims[key(c)] = true
					}
				}
				break
			}
		}
	}
}

// leaveOut takes what is named by the words that begin at a token out of the places.
func (s *sentence) leaveOut(at int) {
	s.f.Except = append(s.f.Except, s.placeAt(at)...)
	s.f.Places = slices.DeleteFunc(s.f.Places, func(p Place) bool { return p.Mention == at })
}

// allBut reads "everything is closed, only the lobby is not" as all but the lobby.
func (s *sentence) allBut(c chunk) bool {
	k := c.at + c.n
	for k < len(s.t) && !s.t[k].name && s.quiet(k) {
		k++
	}
	end := s.nameEnd(k)
	for slices.Contains([]string{"is", "are", "ist", "sind"}, s.wordAt(end)) {
		end++
	}
	if len(s.placeAt(k)) == 0 || s.wordAt(end) != "not" && s.wordAt(end) != "nicht" {
		return false
	}
	s.leaveOut(k)
	s.claims[key(c)], s.claims[key(chunk{at: end})] = true, true
	return true
}

// onlyThere reads "is only the stage lit" as whether nothing is but there.
func (s *sentence) onlyThere(c chunk) bool {
	so := slices.ContainsFunc(s.chunks, func(o chunk) bool { return slices.Contains([]State{On, Off, Open, Closed}, stateOf(o)) })
	if !so || !s.yesNo() && !(s.asks && c.at == 0) || len(s.f.Places) == 0 || len(s.f.Conds) > 0 || s.has("count", "since", "not", "without", "no") || s.f.Places[0].Mention < c.at {
		return false
	}
	for len(s.f.Places) > 0 {
		s.leaveOut(s.f.Places[0].Mention)
	}
	s.claims[key(c)] = true
	s.f.Set(None, true)
	s.f.Form = Check
	return true
}

// exceptBefore reads an exclusion that stands behind what it leaves out: "the stage excluded", "leaving the tower aside".
func (s *sentence) exceptBefore(c chunk) bool {
	if c.at == 0 || !s.t[c.at-1].name || !behind[s.wordAt(c.at+c.n-1)] {
		return false
	}
	from := c.at - 1
	for len(s.placeAt(from)) == 0 && from > 0 {
		from--
	}
	s.leaveOut(from)
	for from--; from >= 0 && (articles[s.wordAt(from)] || setAside[s.wordAt(from)]); from-- {
		s.t[from].used = true
	}
	s.claims[key(c)] = true
	return true
}

// setsAside reports whether what is named before a word is set aside by a verb ahead of it.
func (s *sentence) setsAside(i int) bool {
	k := i - 1
	for k >= 0 && (s.t[k].name || articles[s.wordAt(k)]) {
		k--
	}
	return i > 0 && s.t[i-1].name && k >= 0 && k < i-1 && slices.Contains([]string{"leaving", "leave", "lassen", "lasst", "lass"}, s.wordAt(k))
}

// behind are words that stand behind what is left out.
var behind = wordSet("excluded aside out apart weg ausgenommen beiseite mitgerechnet mitgezaehlt")

// setAside are verbs before what is left out.
var setAside = wordSet("leaving leave setting set putting put taking take lassen lass lasst wir mit von")

// nameAhead reports whether only articles and joins stand before the next name.
func (s *sentence) nameAhead(k int) bool {
	for k < len(s.t) && !s.t[k].name && (leading[s.t[k].stem] || slices.Contains([]string{"and", "or", "nor", "und", "oder", "noch", "die", "das", "den", "neither", "weder"}, s.t[k].stem)) {
		k++
	}
	return k < len(s.t) && s.t[k].name
}

// exceptState reads "except those that are off" as what the others are.
func (s *sentence) exceptState(i int) bool {
	those := slices.Contains([]string{"not", "nicht"}, s.t[s.chunks[i].at+s.chunks[i].n-1].stem) // "but not off"
	for k := i + 1; k < len(s.chunks) && k < i+6; k++ {
		c := s.chunks[k]
		those = those || c.is("it") || slices.Contains([]string{"die", "der", "that"}, s.t[c.at].stem)
		those = those || stateOf(c) != "" && k+1 < len(s.chunks) && s.chunks[k+1].is("it", "light", "shade") // "the dark ones"
		if st := opposite[stateOf(c)]; st != "" && those && s.f.State == "" {
			s.f.State = st
			s.claims[key(s.chunks[i])] = true
			s.take(c.at)
			return true
		}
		if !c.is("fill", "it", "light", "shade", "there") {
			break
		}
	}
	return false
}

// auxiliaries stand before a "not" that is of the whole question.
var auxiliaries = wordSet("do does did is are was were has have had can could will would should")

func placeNoun(tag string) bool {
	return slices.Contains([]string{"light", "shade", "zone", "floor", "it"}, tag)
}

// joined reports whether a name is led to by "and", "or" or a comma among names.
func (s *sentence) joined(k int) bool {
	before := s.wordAt(k - 1)
	return before == "and" || before == "or" || before == "nor" || before == "und" || before == "the" || s.t[k-1].name
}

// claimBetween claims the operators within some words.
func (s *sentence) claimBetween(from, to int, tags ...string) {
	for _, c := range s.chunks {
		if c.at > from && c.at < to && c.is(tags...) {
			s.claims[key(c)] = true
		}
	}
}

// take notes that a noun was read as what a place has.
func (s *sentence) take(at int) {
	for i := range s.chunks {
		if s.chunks[i].at == at {
			s.chunks[i].tags = append(slices.Clone(s.chunks[i].tags), "taken")
			s.claim("taken")
		}
	}
}
