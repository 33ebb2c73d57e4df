package understand

import (
	"slices"
	"strings"
)

// always are tags that any question may have beside what it is about: how it is put changes the sentence and not the facts.
var always = []string{"fill", "talk", "there", "count", "list", "howmuch", "any", "total", "whole", "site", "data"}

// readQuestion understands a sentence that is no order.
func (s *sentence) readQuestion(names Names) Frame {
	s.f.Unclear, s.f.Do = nil, nil
	s.places(names)
	s.howManyThereAre()
	s.greeted()
	s.dismiss()
	s.assumptions()
	s.conditions()
	turned := s.turnChange()
	s.when = whens(s.t, s.now)
	s.top()
	s.chunks = s.tag(func(tag string) bool { return tag[0] != '!' })
	s.sense()
	s.exclude()
	s.having()
	s.times()
	s.state()
	s.nouns()
	s.f.Topic = s.topic()
	s.op()
	s.settle()
	if turned && s.f.Against != nil {
		s.f.When, s.f.Against = s.f.Against, s.f.When
	}
	s.manner()
	s.account()
	s.f.Places, s.f.Except = once(s.f.Places), once(s.f.Except)
	return s.f
}

// once keeps the first mention of every place.
func once(places []Place) []Place {
	var out []Place
	for _, p := range places {
		if !slices.ContainsFunc(out, func(o Place) bool { return o.Kind == p.Kind && o.ID == p.ID && o.Name == p.Name }) {
			out = append(out, p)
		}
	}
	return out
}

// greeted takes the words of a greeting, which hold a time of day.
func (s *sentence) greeted() {
	for i := 0; i+1 < len(s.t); i++ {
		if w := s.t[i+1].stem; (s.t[i].stem == "good" || s.t[i].stem == "guten") && slices.Contains([]string{"morning", "afternoon", "evening", "morgen", "abend", "tag", "day", "tomorrow"}, w) {
			s.mark(i, 2)
			s.f.Topic = Greeting
		}
	}
}

// howManyThereAre takes numbers that only say again how many things there are: "how many of the 16 lamps in the workshop".
func (s *sentence) howManyThereAre() {
	for i := 1; i+1 < len(s.t); i++ {
		if s.t[i].used || !isDigits(s.t[i].stem) || !counted(s.t, i) || !counting[s.t[i-1].stem] {
			continue
		}
		end := i + 1
		for end < len(s.t) && s.t[end].name {
			end++
		}
		if end > i+1 || countable(s.wordAt(end)) != "" {
			s.t[i].used = true
		}
	}
}

// sense drops meanings that the words beside exclude: "on" of "on Monday" is no state.
func (s *sentence) sense() {
	for i := range s.chunks {
		c := &s.chunks[i]
		if c.n > 1 && c.is("on") && s.wordAt(c.at+c.n-1) == "on" && s.onAFloor(c.at+c.n) { // "what was switched on the ground floor"
			c.tags = []string{"switch"}
			continue
		}
		c.tags = slices.DeleteFunc(slices.Clone(c.tags), func(tag string) bool { return !s.meant(tag, c.at, c.n) })
	}
}

// onAFloor reports whether a floor stands at i, and behind it no lights that something was done to.
func (s *sentence) onAFloor(i int) bool {
	if s.wordAt(i) == "the" {
		i++
	}
	places := s.placeAt(i)
	return len(places) == 1 && places[0].Kind == Floor && !slices.ContainsFunc(s.t[i:], func(t token) bool { return countable(t.stem) == Light })
}

// meant sorts out words that are prepositions, articles or fragments as often as they are states.
func (s *sentence) meant(tag string, i, n int) bool {
	if n != 1 {
		return true
	}
	next, before := token{}, s.wordAt(i-1)
	if i+1 < len(s.t) {
		next = s.t[i+1]
	}
	last := i == len(s.t)-1
	switch w := s.t[i].stem; {
	case w == "on" && tag == "on":
		return s.stateOn(i, next)
	case w == "au" && tag == "off" || w == "aus" && tag == "off": // "wie sieht es in der Lobby aus"
		return !s.has0("sieht", "schaut", "sehen")
	case w == "an" && tag == "on" && s.has0("zeigt", "zeigen", "gibt", "faengt"):
		return false
	case (w == "left" || w == "leave") && tag == "fill": // "who left the lamps burning", not "the lamps on the left"
		return before != "the" && before != "to" && s.has0("on", "burning", "lit", "running")
	case tag == "position" && slices.Contains([]string{"steht", "stehen", "standing"}, w):
		return !s.hasWord("light")
	case tag == "healthy" && slices.Contains([]string{"geht", "gehen", "tut", "tun"}, w): // "was geht nicht", not "geht in den Anbau"
		return s.hasWord("not")
	case w == "ausgefallen" && (tag == "fault" || tag == "offline"): // of a lamp it is broken, of a device it does not answer
		return (tag == "fault") == s.hasWord("light")
	case w == "running" && (tag == "on" || tag == "moving") && s.hasWord("light"), w == "laufen" && tag == "on":
		return tag == "on" && s.hasWord("light")
	case w == "running" && tag == "on":
		return false
	case w == "leuchten" && tag == "on":
		return last && s.hasWord("list")
	case s.f.Lang == German && (w == "an" || w == "ein" || w == "auf" || w == "zu") && (tag == "on" || tag == "open" || tag == "closed"):
		return last || next.apart || slices.Contains([]string{"sind", "ist", "waren", "war", "bleiben", "ausser", "und", "oder", "bis", "seit"}, next.stem) || next.used && s.isTime(i+1) || (w == "an" || w == "ein") && s.hasWord("light") && (next.stem == "in" || next.stem == "im")
	case w == "out":
		return tag == "fill"
	case w == "dark" && tag == "off": // "why is it so dark" says of no light that it is off
		return before != "so" && before != "too"
	case (w == "up" || w == "down") && (tag == "open" || tag == "closed"):
		return next.stem != "to" && s.hasWord("shade")
	case (w == "up" || w == "down") && (tag == "online" || tag == "offline"):
		bus := slices.ContainsFunc(s.f.Places, func(p Place) bool { return p.Kind == Bus })
		return s.hasWord("device") || s.hasWord("controller") || s.hasWord("meter") || s.hasWord("bus") || bus
	case w == "level" && tag == "level":
		return slices.Index(ordinals, before) < 1
	case w == "may" && tag == "fill", w == "it" && tag == "it":
		return true
	case w == "can" && tag == "can":
		return i == 0 || s.hasWord("dim?") || s.hasWord("tune?") || s.hasWord("able")
	case w == "free" && tag == "occupancy", w == "empty" && tag == "occupancy":
		return true
	case (tag == "power" || tag == "closed") && slices.Contains([]string{"drawn", "draw", "drew", "drawing", "pull", "pulling"}, w):
		return (tag == "power") != s.hasWord("shade")
	case w == "break" && (tag == "fault") == (s.has0("down") || s.has0("by")):
		return false
	case (w == "burn" || w == "burning" || w == "burnt" || w == "burned") && (tag == "use" || tag == "on"):
		if s.wordAt(0) == "what" && s.wordAt(1) == "is" && w == "burning" && !s.hasWord("energy") {
			return tag == "on"
		}
		return (tag == "on") == (s.hasWord("light") && !s.hasWord("energy") || s.hasWord("any") && !s.hasWord("howmuch"))
	case w == "opening" && tag == "moving":
		return slices.Contains([]string{"is", "are", "shade", "blind", "curtain", "still", "not", "currently", "now"}, before)
	case (w == "running" || w == "opening" || w == "closing") && tag == "moving":
		return s.hasWord("shade") || w != "opening"
	case w == "minute" || w == "second":
		return false
	case w == "light" && tag == "light", w == "shade" && tag == "shade":
		return true
	case w == "set" || w == "turn" || w == "moved":
		return tag != "switch" || s.hasWord("who") || s.hasWord("since") || w == "moved" && (s.has0("were", "was", "been") || s.hasWord("list"))
	case w == "free":
		return true
	case tag == "brighter" || tag == "darker":
		return w != "lighter" || s.hasWord("than")
	}
	return true
}

// stateOn tells "on" as a state from "on" as a preposition.
func (s *sentence) stateOn(i int, next token) bool {
	switch {
	case s.wordAt(i-1) == "on" && i > 0:
		return false // the second one of "on on the upper floor"
	case i == len(s.t)-1:
		first, second := s.wordAt(0), s.wordAt(1)
		return !((first == "which" || first == "what") && slices.Contains([]string{"floor", "bus", "line", "level", "day"}, second)) || s.hasWord("light") || slices.ContainsFunc(s.f.Conds, func(c Cond) bool { return c.Of == Light })
	case next.used && s.isTime(i+1):
		_, weekday := weekdays[next.stem]
		_, month := months[next.stem]
		return !weekday && !month && next.stem != "the" && !digit(next.text[0])
	case next.stem == "on", next.stem == "all" && i+2 < len(s.t) && s.isTime(i+2): // "on all night"
		return true
	case next.name:
		return next.text == "upstairs" || next.text == "downstairs"
	case next.used:
		return true
	}
	return !slices.Contains([]string{"the", "a", "this", "that", "which", "what", "our", "my", "each", "every", "all", "average", "floor", "any", "new", "christmas", "lighting", "electricity", "energy", "bus"}, next.stem)
}

// hasWord reports whether a word that means tag stands in the sentence, before the words are sorted out.
func (s *sentence) hasWord(tag string) bool {
	return slices.ContainsFunc(s.chunks, func(c chunk) bool { return slices.Contains(c.tags, tag) })
}

// nouns finds what is counted and what it is grouped by.
func (s *sentence) nouns() {
	s.grouped()
	ask := s.first("count", "list", "where")
	for _, c := range s.chunks {
		k := kindOf(c)
		if k == "" || s.f.By == string(k) && s.groupedAt(c) || s.taken(c) {
			continue
		}
		if s.f.Kind == "" || ask >= 0 && s.kindAt < ask && c.at > ask {
			s.f.Kind, s.kindAt = k, c.at
		}
	}
}

// kindOf is the kind of things that a noun names.
func kindOf(c chunk) Kind {
	for _, k := range []Kind{Light, Shade, Zone, Floor, Device, Meter, Peripheral, Bus, Controller, Building} {
		if c.is(string(k)) {
			return k
		}
	}
	return ""
}

// taken reports whether a noun belongs to something that was read already: the name beside it, or what a place has.
func (s *sentence) taken(c chunk) bool {
	return slices.Contains(c.tags, "taken")
}

// grouped reads "per floor", "by zone", "in each room", "hourly".
func (s *sentence) grouped() {
	for i, c := range s.chunks {
		switch {
		case c.is("hourly", "byhour"):
			s.f.By = "hour"
		case c.is("daily", "byday"):
			s.f.By = "day"
		case c.is("weekly"):
			s.f.By = "week"
		case c.is("monthly"):
			s.f.By = "month"
		case c.is("most", "least") && slices.Contains([]string{"hour", "day", "week", "month"}, s.wordAt(c.at+c.n)):
			s.f.By = s.wordAt(c.at + c.n) // "the heaviest day"
			s.t[c.at+c.n].used = true
		case c.is("perm2"):
			s.f.Per = "m2"
		case c.is("perlight"):
			s.f.Per = "light"
		case c.is("each"):
			for _, o := range s.chunks[i+1 : min(len(s.chunks), i+3)] {
				for _, k := range []Kind{Zone, Floor, Meter, Device, Bus, Light, Shade} {
					if o.is(string(k)) && s.f.By == "" && !(c.is("all") && s.has("list", "count") && (k == Light || k == Shade)) {
						if k == Light && s.has("energy", "power", "use") {
							s.f.Per = "light"
						} else if k != Light && k != Shade {
							s.f.By = string(k)
						}
						s.claim("each")
					}
				}
			}
		}
	}
}

func (s *sentence) groupedAt(c chunk) bool {
	i := slices.IndexFunc(s.chunks, func(o chunk) bool { return o.at == c.at })
	return i > 0 && (s.chunks[i-1].is("each") || i > 1 && s.chunks[i-2].is("each"))
}

// manner notes how the question was put.
func (s *sentence) manner() {
	f := &s.f
	f.Set(Whole, s.has("whole") && len(f.Places) == 0)
	f.Set(Estimate, f.Is(Estimate) || s.has("estimate"))
	f.Set(Follows, f.Is(Follows) || s.follows())
	f.Set(Both, s.both())
	f.Set(Asked, s.asks || s.put())
	f.Set(Either, s.either())
	f.Set(Past, s.f.Lang == English && s.has0("was", "were", "been") || s.has0("war", "waren", "wurde", "wurden", "gewesen", "gebrannt"))
	f.Set(InKilo, s.inUnits("kw", "kwh"))
	f.Set(InOnes, !f.Is(InKilo) && s.inUnits("watt", "wh"))
	f.Set(Future, f.Is(Future) || s.has("future") && f.Topic != Automation && f.Aspect != "metered")
	switch {
	case f.Form != "":
	case s.has("count"):
		f.Form = Count
	case s.has("list", "where"):
		f.Form = List
	case s.yesNo():
		f.Form = Check
	}
	if s.allOf() {
		f.Set(All, true)
	}
	f.Set(Mostly, f.Form == Check && (f.State != "" || len(f.Conds) > 0) && !f.Is(All) && !f.Is(None) && s.ofTheThings())
	s.everBefore()
}

// either reports whether places are named as one or the other.
func (s *sentence) either() bool {
	for _, p := range s.f.Places {
		k := p.Mention - 1
		for k > 0 && leading[s.t[k].stem] || s.wordAt(k) == "the" {
			k--
		}
		if s.wordAt(k) == "or" || s.wordAt(k) == "oder" {
			return true
		}
	}
	return false
}

// inUnits reports whether figures are asked for in one of some units: "in kW", "how many watts", not "above 20 kW".
func (s *sentence) inUnits(units ...string) bool {
	for i, t := range s.t {
		if !slices.Contains(units, t.stem) || t.used {
			continue
		}
		if s.wordAt(i-1) == "in" || i == len(s.t)-1 && t.apart {
			return true
		}
	}
	return false
}

// ofTheThings reports whether it is asked of the things of a place, not of any of them: "are the lobby lights on".
func (s *sentence) ofTheThings() bool {
	if s.has("any", "there", "half") || s.has0("still", "noch", "jemand") || s.word("leave", "left") != "" {
		return false
	}
	for _, c := range s.chunks {
		if !c.is("light", "shade") {
			continue
		}
		k := c.at - 1
		for k > 0 && s.t[k].name {
			k--
		}
		return slices.Contains([]string{"the", "our", "die", "unsere"}, s.wordAt(k)) && slices.ContainsFunc(s.t[:k+1], func(t token) bool { return slices.Contains([]string{"are", "were", "sind", "waren"}, t.stem) })
	}
	return false
}

// allOf reports whether yes or no is asked of all of them: "are all lights off".
func (s *sentence) allOf() bool {
	if s.f.Form != Check || s.f.State == "" && len(s.f.Conds) == 0 {
		return false
	}
	if t := s.f.Topic; t != Lights && t != Shades && t != Offline && t != Faults {
		return false
	}
	if s.has("all", "everything") {
		return true
	}
	return s.has("whole") && !s.has("any") || s.has("ends", "full") && s.wordAt(0) == "are"
}

func (s *sentence) yesNo() bool {
	for i := range s.t { // "tell me whether …"
		if w := s.t[i].stem; w == "whether" || w == "ob" || w == "if" && i > 0 && slices.Contains([]string{"me", "know", "check", "see", "us", "wonder", "wondering"}, s.t[i-1].stem) {
			return true
		}
	}
	for _, c := range s.chunks {
		w := s.t[c.at].stem
		if c.is("talk") && w != "did" {
			continue
		}
		if s.f.Lang == German && w == "was" { // that is "what"
			return false
		}
		return slices.Contains([]string{"is", "are", "was", "were", "do", "does", "did", "has", "have", "any", "anything", "can", "ist", "sind", "war", "waren", "hat", "haben", "brennt", "brennen",
			"laeuft", "gibt", "steigt", "faehrt", "will"}, w) || c.is("no") || c.is("any") || s.asks && c.is("everything", "all") && s.f.State != ""
	}
	return false
}

// put reports whether a sentence is put as a question, or asks for a report.
func (s *sentence) put() bool {
	i := 0
	for i < len(s.t) && slices.Contains([]string{"hey", "hi", "hello", "ok", "okay", "webex", "please", "so", "and", "um", "uh", "well", "also", "thank", "bitte", "hallo"}, s.t[i].stem) {
		i++
	}
	if slices.Contains([]string{"can", "could", "will", "would", "may"}, s.wordAt(i)) && slices.Contains([]string{"you", "we", "i", "someone", "somebody"}, s.wordAt(i+1)) {
		i += 2
	}
	return asking[s.wordAt(i)] && !(s.wordAt(i) == "do" && s.wordAt(i+1) == "not")
}

// asking are the words that questions and requests for reports begin with.
var asking = wordSet("what which who whose how why when where is are am was were do does did has have had list tell compare report count name explain describe summarize summarise find " +
	"show give get check any can could should will would may anything display enumerate help welche welcher welches welchen wie wo wer was warum wieso wann ist sind war hat haben gibt seit zeig nenne vergleiche")

func (s *sentence) both() bool {
	for i := range s.t {
		if s.wordAt(i) == "both" || s.wordAt(i) == "beide" || s.wordAt(i) == "beiden" ||
			s.wordAt(i) == "2" && slices.Contains([]string{"the", "those", "these"}, s.wordAt(i-1)) {
			s.t[i].used = true
			s.f.Set(Both, true)
		}
	}
	return s.f.Is(Both)
}

func (s *sentence) follows() bool {
	if len(s.t) == 0 {
		return false
	}
	start := s.wordAt(0) + " " + s.wordAt(1)
	first := s.wordAt(0)
	return first == "and" || first == "then" || first == "or" || first == "und" || start == "what about" || start == "how about" || start == "now what" ||
		s.there() && len(s.f.Places) == 0 || s.has0("its", "their", "dessen", "deren") && len(s.f.Places) == 0 || s.has("it") && (len(s.f.Places) == 0 || s.wordAt(0) == "which") || (first == "why" || first == "warum" || first == "wieso") && len(s.t) == 1 || s.has("only") && len(s.t) < 5
}

// there reports whether the place of the sentence before is meant: "how many are off there?".
func (s *sentence) there() bool {
	return slices.ContainsFunc(s.chunks, func(c chunk) bool {
		w := s.t[c.at].stem
		return c.n == 1 && (w == "there" || w == "dort") && !slices.Contains([]string{"is", "are", "was", "were"}, s.wordAt(c.at-1)) && !slices.Contains([]string{"is", "are", "was", "were"}, s.wordAt(c.at+1))
	})
}

// account looks for what was said and is in no field of the frame.
func (s *sentence) account() {
	f := &s.f
	if f.Unclear != nil {
		return
	}
	var strange, words []string
	timely := false
	for i := 0; i < len(s.chunks); i++ {
		c := s.chunks[i]
		text := said(s.t, c.at, c.n)
		switch {
		case s.t[c.at].used, s.claims[key(c)]:
		case len(c.tags) == 0 || c.is("except", "not", "neither", "only", "no", "nothing", "without") && !s.claims[key(c)]:
			if !s.small(c) {
				strange = append(strange, text)
				timely = timely || timeWords[s.t[c.at].stem] || s.lex.times[s.t[c.at].stem] != "" || s.duringWord(c.at)
			}
		case !c.is(always...) && !slices.ContainsFunc(c.tags, func(t string) bool { return s.claims[t] }):
			words = append(words, text)
			timely = timely || timeWords[s.t[c.at].stem]
		}
	}
	strange = append(s.odd, join(strange, s)...)
	switch {
	case len(strange) > 0 && timely && len(s.odd) == 0:
		f.Unclear = &Unclear{TimeWords, strange}
	case len(strange) > 0:
		f.Unclear = &Unclear{Words, strange}
	case len(words) > 0:
		f.Unclear = &Unclear{Conflict, words}
	}
}

// key is the claim that a single operator needs: operators are claimed one by one.
func key(c chunk) string { return "at " + string(rune(c.at)) }

// small reports whether a word without tags is a lone letter or a number that belongs to what was read.
func (s *sentence) small(c chunk) bool {
	w := s.t[c.at]
	return len(w.stem) == 1 && !digit(w.stem[0]) && w.odd == ""
}

// duringWord reports whether a word stands behind one that leads to a time: "over Easter".
func (s *sentence) duringWord(i int) bool {
	k := i - 1
	for k > 0 && (s.t[k].stem == "the" || len(s.tagsAt(k)) == 0 && !s.t[k].used) {
		k--
	}
	return k >= 0 && slices.Contains([]string{"over", "during", "since", "until", "throughout"}, s.t[k].stem)
}

func (s *sentence) tagsAt(i int) []string {
	for _, c := range s.chunks {
		if c.at <= i && i < c.at+c.n {
			return c.tags
		}
	}
	return nil
}

// join puts words that stood beside each other back together.
func join(words []string, s *sentence) []string {
	whole := " " + said(s.t, 0, len(s.t)) + " "
	var out []string
	for _, w := range words {
		if n := len(out); n > 0 && strings.Contains(whole, " "+out[n-1]+" "+w+" ") {
			out[n-1] += " " + w
		} else {
			out = append(out, w)
		}
	}
	return out
}
