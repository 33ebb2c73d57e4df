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
		if c.is("not") && auxiliaries[s.wordAt(c.at-1)] { // "why doesn't Alps 4 answer", "isn't the lobby dark?" leave nothing out
			if c.at <= 1 {
				s.claims[key(c)] = true
			}
			continue
		}
		operator := c.is("except", "neither") || c.is("not", "no", "without")
		if !operator {
			if c.is("only") {
				s.limit(i)
			}
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
			continue
		}
		if c.is("except") && s.exceptState(i) {
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

// nameAhead reports whether only articles and joins stand before the next name.
func (s *sentence) nameAhead(k int) bool {
	for k < len(s.t) && !s.t[k].name && (leading[s.t[k].stem] || slices.Contains([]string{"and", "or", "nor", "und", "oder", "noch", "die", "das", "den", "neither", "weder"}, s.t[k].stem)) {
		k++
	}
	return k < len(s.t) && s.t[k].name
}

// exceptState reads "except those that are off" as what the others are.
func (s *sentence) exceptState(i int) bool {
	other := map[State]State{On: Off, Off: On, Open: Closed, Closed: Open, Online: Away, Away: Online}
	those := slices.Contains([]string{"not", "nicht"}, s.t[s.chunks[i].at+s.chunks[i].n-1].stem) // "but not off"
	for k := i + 1; k < len(s.chunks) && k < i+6; k++ {
		c := s.chunks[k]
		those = those || c.is("it") || slices.Contains([]string{"die", "der", "that"}, s.t[c.at].stem)
		those = those || stateOf(c) != "" && k+1 < len(s.chunks) && s.chunks[k+1].is("it", "light", "shade") // "the dark ones"
		if st := other[stateOf(c)]; st != "" && those && s.f.State == "" {
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
	if rows < 0 || slices.ContainsFunc(s.f.Conds, func(c Cond) bool { return c.Unit == Percent }) || s.has("light") && s.has0("still", "noch") && !s.has("neither") || s.has("on", "off", "open", "closed", "moving", "level", "brightest", "darkest", "most", "least", "where", "each", "energy", "power", "fault", "offline", "online") && !s.has("neither") {
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

// state reads the filter; "not" ahead of it turns it round.
func (s *sentence) state() {
	opposite := map[State]State{On: Off, Off: On, Open: Closed, Closed: Open, Online: Away, Away: Online}
	var states []State
	for i, c := range s.chunks[:max(0, len(s.chunks)-1)] { // "where not all of the lamps are on"
		if c.is("not") && s.chunks[i+1].is("all") && !s.claims[key(c)] && s.chunks[i+1].at == c.at+c.n {
			s.claims[key(c)] = true
			s.f.Conds = append(s.f.Conds, Cond{Rel: Below, Value: 100, Unit: Part})
			s.chunks[i+1].tags = []string{"fill"}
		}
	}
	for i, c := range s.chunks {
		st := stateOf(c)
		if st == "" || s.taken(c) {
			continue
		}
		if (c.n > 1 || s.f.Lang == German) && s.wished(c.at) && (st == Off || st == Closed) { // "what should I switch off": what is not yet
			st = opposite[st]
		}
		if c.n > 1 && s.wordAt(c.at-1) == "to" && (s.t[c.at].stem == "turn" || s.t[c.at].stem == "switch") && s.f.Unclear == nil { // "how many would I have to switch off", "remind me to switch off": it says what is to be done
			s.f.Unclear = &Unclear{Conflict, []string{said(s.t, c.at, c.n)}}
		}
		if n := slices.IndexFunc(s.chunks[max(0, i-3):i], func(o chunk) bool { return o.is("not") && !s.claims[key(o)] }); n >= 0 && c.is("ends") { // "not fully open"
			s.claims[key(s.chunks[max(0, i-3)+n])] = true
			s.f.Conds = append(s.f.Conds, Cond{Rel: Below, Value: 100, Unit: Percent})
			s.claim("ends", "open")
			continue
		}
		if st == Moving && s.has("position") && !s.has("moving") {
			continue
		}
		for k := i - 1; k >= 0 && k >= i-4; k-- {
			o := s.chunks[k]
			if o.is("not") && !s.claims[key(o)] && opposite[st] != "" {
				st = opposite[st]
				s.claims[key(o)] = true
				break
			}
			if !o.is("fill", "light", "shade", "any", "device") && !o.is("not") {
				break
			}
		}
		if s.f.Lang == German && opposite[st] != "" { // "antwortet gerade nicht"
			for k := i + 1; k < len(s.chunks) && k <= i+3; k++ {
				if o := s.chunks[k]; o.is("not") && !s.claims[key(o)] {
					st, s.claims[key(o)] = opposite[st], true
					break
				} else if !o.is("fill", "it", "any", "device", "light", "shade") || s.t[o.at].apart {
					break
				}
			}
		}
		if !slices.Contains(states, st) {
			states = append(states, st)
		}
	}
	if i := slices.IndexFunc(s.chunks, func(c chunk) bool { return c.is("not") && !s.claims[key(c)] }); i >= 0 && s.has("known") && s.has("position", "level", "status") {
		s.claims[key(s.chunks[i])] = true // "von welchen Rollos kennt man die Stellung nicht"
		states = []State{Unread}
		s.claim("known", "position", "level", "status")
	}
	if s.has("unread") {
		states = []State{Unread}
	}
	if len(states) == 0 && s.has("light") && s.has0("still", "noch") && !s.has("neither", "who", "fault", "level", "count") {
		states = []State{On} // "which rooms still have light"
		s.claim("inventory", "there")
	}
	if len(states) == 2 && s.has0("between", "zwischen") && slices.Contains(states, Open) && slices.Contains(states, Closed) {
		s.f.Conds = append(s.f.Conds, Cond{Rel: Above, Value: 0, Unit: Percent}, Cond{Rel: Below, Value: 100, Unit: Percent})
		s.claim("ends")
		for k := range s.t {
			s.t[k].used = s.t[k].used || slices.Contains([]string{"between", "zwischen", "and"}, s.t[k].stem)
		}
		states = nil
	}
	if i := slices.IndexFunc(s.chunks, func(c chunk) bool { return c.is("neither") }); i >= 0 && len(states) == 2 && slices.Contains(states, Open) && slices.Contains(states, Closed) {
		s.claims[key(s.chunks[i])] = true // "neither open nor closed"
		s.claimBetween(s.chunks[i].at, len(s.t), "neither")
		s.f.Conds = append(s.f.Conds, Cond{Rel: Above, Value: 0, Unit: Percent}, Cond{Rel: Below, Value: 100, Unit: Percent})
		s.claim("ends")
		states = nil
	}
	if len(states) == 2 && s.has("count") && slices.Contains(states, On) && slices.Contains(states, Off) { // "how many on, how many off": both are told
		states = nil
		s.claim("level")
		s.f.Aspect = "both"
	}
	if len(states) == 2 && s.has0("or", "oder") { // "are the blinds open or closed"
		states = nil
	}
	s.claim("on", "off", "open", "closed", "moving", "online", "offline", "unread")
	if len(states) > 1 {
		var words []string
		for _, c := range s.chunks {
			if stateOf(c) != "" && !s.taken(c) {
				words = append(words, said(s.t, c.at, c.n))
			}
		}
		s.f.Unclear = &Unclear{Conflict, words}
		return
	}
	if len(states) == 0 || s.f.State != "" {
		return
	}
	s.f.State = states[0]
	s.nobody()
}

func stateOf(c chunk) State {
	for _, st := range []State{On, Off, Open, Closed, Moving, Online} {
		if c.is(string(st)) {
			return st
		}
	}
	if c.is("offline") {
		return Away
	}
	return ""
}

// nobody reads "no lights on", "nothing on", "rooms without lights on": of places, that all is off; of things, a question
// whether any is.
func (s *sentence) nobody() {
	for i, c := range s.chunks {
		if !c.is("no", "without", "nothing") && !(c.is("except") && s.f.Lang == German) || s.claims[key(c)] {
			continue
		}
		noun := c.is("nothing")
		for _, o := range s.chunks[i+1 : min(len(s.chunks), i+4)] {
			noun = noun || o.is("light", "shade", "device")
		}
		if !noun {
			continue
		}
		s.claims[key(c)] = true
		if s.has("zone", "floor") && s.f.State == On {
			s.f.State = Off
			s.f.Set(All, true)
			return
		}
		s.f.Set(None, true)
		s.f.Form = Check
	}
}
