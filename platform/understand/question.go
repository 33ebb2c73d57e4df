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
	for i, t := range s.t {
		before := s.wordAt(i - 1)
		if t.stem == "at" && before == "even" && s.wordAt(i-2) == "not" { // "not even at 50 percent"
			s.t[i].stem, s.t[i-2].used = "below", true
		}
		s.live = s.live || (t.stem == "moment" || t.stem == "augenblick") && slices.Contains([]string{"the", "this", "im", "in", "diesem"}, before) || before == "this" && (t.stem == "second" || t.stem == "minute" || t.stem == "instant")
	}
	s.asideless(names)
	s.upThere()
	s.whatAt()
	s.clockTimes()
	s.forgotten()
	s.places(names)
	s.howManyThereAre()
	s.greeted()
	s.dismiss()
	s.assumptions()
	s.conditions()
	turned := s.turnChange()
	s.when = whens(s.t, s.now)
	s.top()
	s.someOf()
	s.chunks = s.tag(meaning)
	s.sense()
	s.separated()
	s.exclude()
	s.having()
	s.times()
	s.state()
	s.dimmed()
	s.nouns()
	s.turnedDown()
	s.f.Topic = s.topic()
	s.op()
	s.settle()
	if turned && s.f.Against != nil {
		s.f.When, s.f.Against = s.f.Against, s.f.When
	}
	s.manner()
	s.account()
	s.partOfFigure()
	s.f.Places, s.f.Except = once(s.f.Places), once(s.f.Except)
	return s.f
}

// meaning reports whether a tag says what a word means in a question.
func meaning(tag string) bool {
	return tag[0] != '!' && tag[0] != '~' && tag != "aside" && tag != "opening" && tag != "closing"
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
		if metered := s.wordAt(i+1) == "metered" && countable(s.wordAt(i+2)) != ""; metered && !s.t[i].used && counting[s.t[i-1].stem] { // "of the three metered areas"
			s.mark(i, 1)
			continue
		}
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

// upThere takes the word before "there" that says no more than it, where no shades are spoken of: "how bright is it up there".
func (s *sentence) upThere() {
	if slices.ContainsFunc(s.t, func(t token) bool { return countable(t.stem) == Shade }) {
		return
	}
	for i, t := range s.t[:max(0, len(s.t)-1)] {
		if next := s.t[i+1].stem; (next == "there" || next == "here") && slices.Contains([]string{"up", "down", "over", "out"}, t.stem) {
			s.t[i].used = true
		}
	}
}

// whatAt writes "what are the blinds at" as "how far open are the blinds", and "auf wie viel Prozent sind sie" as "wie weit sind sie".
func (s *sentence) whatAt() {
	last := len(s.t) - 1
	if s.f.Lang == German && begunAt[s.wordAt(0)] && s.hasKind(Shade) { // "auf wie viel Prozent stehen die Rollos"
		from := map[bool]int{true: 2, false: 3}[s.wordAt(1) == "wieviel"]
		if (from == 2 || s.wordAt(1) == "wie" && s.wordAt(2) == "viel") && percentWord(s.wordAt(from)) {
			s.t = append([]token{{text: "wie", stem: "wie"}, {text: "weit", stem: "weit"}}, s.t[from+1:]...)
		}
		return
	}
	if last < 2 || s.f.Lang != English || s.wordAt(0) != "what" || s.wordAt(last) != "at" && !(s.wordAt(last) == "to" && s.wordAt(last-1) == "set") {
		return
	}
	be := 1
	for slices.Contains([]string{"level", "percentage", "percent", "position", "brightness", "height"}, s.wordAt(be)) {
		be++
	}
	if w := s.wordAt(be); w != "is" && w != "are" {
		return
	}
	how := []string{"how", "bright"}
	if s.hasKind(Shade) {
		how = []string{"how", "far", "open"}
	} else if !s.hasKind(Light) {
		return
	}
	var out []token
	for _, w := range how {
		out = append(out, token{text: w, stem: w})
	}
	end := last
	if s.wordAt(last) == "to" {
		end--
	}
	s.t = append(out, s.t[be:end]...)
}

// hasKind reports whether a noun for things of a kind is said.
func (s *sentence) hasKind(k Kind) bool {
	return slices.ContainsFunc(s.t, func(t token) bool { return countable(t.stem) == k })
}

// nouns finds what is counted and what it is grouped by.
func (s *sentence) nouns() {
	s.grouped()
	ask := -1
	for i, c := range s.chunks {
		relative := i > 0 && slices.Contains([]string{"where", "wo"}, s.wordAt(c.at)) && s.chunks[i-1].is("zone", "floor") // "a floor where no light is on"
		if ask < 0 && c.is("count", "list", "where") && !relative {
			ask = c.at
		}
	}
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
				if w := s.wordAt(o.at + o.n); c.is("all") && s.has("list") && slices.Contains([]string{"that", "which", "where", "with", "der", "die", "das", "wo", "in", "mit"}, w) { // "list every room that is dark"
					s.claim("each")
					continue
				}
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

// account looks for what was said and is in no field of the frame.
func (s *sentence) account() {
	f := &s.f
	if s.absent() || f.Unclear != nil {
		return
	}
	var strange, words []string
	timely := false
	for i := 0; i < len(s.chunks); i++ {
		c := s.chunks[i]
		text := said(s.t, c.at, c.n)
		if text == "" && c.at > 0 { // the second half of a word that was cut in two
			if text = said(s.t, c.at-1, c.n+1); slices.Contains(strange, text) {
				continue
			}
		}
		switch {
		case s.t[c.at].used, s.claims[key(c)]:
		case slices.Contains([]string{"between", "zwischen"}, s.t[c.at].stem) && c.n == 1 && len(f.Mentioned()) < 2 && f.By == "" && f.When == nil && !f.Is(Both) && f.Op != Difference && f.Op != Compare && len(f.Conds) == 0: // of what, is not known
			strange = append(strange, text)
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
	if f.Topic == Automation && (s.asks || s.f.Is(Asked) || s.put()) && !s.has("switch", "on", "off", "open", "closed", "who", "energy", "power", "level", "command") {
		return // nothing is known of any of them, whatever else is said
	}
	if i := s.first("who"); i >= 0 && slices.Contains([]Topic{Lights, Shades, Colour, Energy, Power, Inventory, Controllers, Saving}, f.Topic) && slices.Contains([]Op{Tell, Since, Average, Share, Trend, PerUnit, Usual}, f.Op) && f.Form != Check {
		words = append(words, said(s.t, i, 1)) // a figure would not tell who
	}
	if f.Topic == Inventory { // neither is asked of what there is: "is the entire thing running", "how many lamps give everything"
		if w := s.word("running"); w != "" {
			words = append(words, w)
		} else if i := s.first("everything"); i >= 0 && f.Kind == Light {
			words = append(words, said(s.t, i, 1))
		}
	}
	words = append(words, s.hypothetical()...)
	if i := s.first("share"); i >= 0 && f.Topic == Report {
		words = append(words, said(s.t, i, 1))
	}
	if f.Topic == Inventory && f.Op == Tell && f.When != nil && !f.When.Now && !s.has("inventory", "there", "count", "metered", "where") { // "which bulbs went yesterday" asks what became of them
		words = append(words, f.When.Label)
	}
	if i := s.second(); i >= 0 {
		words = append(words, said(s.t, i, 1))
	}
	if i := s.first("open", "closed"); i > 0 && s.opensForPeople(i) {
		words = append(words, said(s.t, i, s.chunkAt(i).n))
	}
	if f.Topic == Faults || f.Topic == Offline { // "how many are there, and how many are broken" are two questions
		n := 0
		for _, c := range s.chunks {
			if c.is("count") {
				if n++; n == 2 {
					words = append(words, said(s.t, c.at, c.n))
				}
			}
		}
	}
	if from := s.switchedFrom(); from != "" {
		words = append(words, from)
	}
	strange = append(s.odd, join(strange, s)...)
	switch {
	case s.unmeasured(words, strange):
	case len(strange) > 0 && timely && len(s.odd) == 0:
		f.Unclear = &Unclear{TimeWords, strange}
	case len(strange) > 0:
		f.Unclear = &Unclear{Words, strange}
	case len(words) > 0:
		f.Unclear = &Unclear{Conflict, words}
	}
}

// hypothetical are words by which no more is asked of what is: what would be, what should be, how old or how wide a place is, when
// something was built in, how long a thing lasts, what a word means.
func (s *sentence) hypothetical() []string {
	f := &s.f
	n := len(s.t)
	asked := slices.Contains([]string{"what", "how", "which"}, s.wordAt(0))
	place := len(f.Places) > 0 && !s.has("light", "shade", "data", "level", "energy", "power") && !s.nameSays(Shade)
	still := slices.Contains([]Topic{Nothing, Report, Sources}, f.Topic) || f.Topic == Shades && f.State == "" // what it measures is not known
	would := slices.ContainsFunc(s.t[:min(n, 4)], func(t token) bool { return t.stem == "would" })
	var words []string
	for i, t := range s.t {
		next := s.wordAt(i + 1)
		switch {
		case s.f.Lang == English && t.stem == "if" && i > 0 && asked && would,
			t.stem == "should" && asked && slices.Contains([]Topic{Nothing, Lights, Shades, Report}, f.Topic) && next != "i" && next != "we",
			i == 1 && s.wordAt(0) == "how" && place && slices.Contains([]string{"old", "wide", "high", "tall", "long", "deep"}, t.stem) && still,
			i == 1 && s.wordAt(0) == "wie" && place && slices.Contains([]string{"alt", "breit", "hoch", "lang", "tief"}, t.stem) && still,
			i == n-1 && (t.stem == "last" || t.stem == "mean") && asked && (s.has0("doe", "do")) && f.Op != Who,
			f.Op == Since && slices.Contains([]string{"installed", "fitted", "mounted", "deployed", "installiert", "verbaut", "eingebaut", "montiert"}, t.text),
			f.Topic == Faults && t.stem == "alarm" && s.has0("set", "los"):
			words = append(words, t.text)
		}
	}
	return words
}

// second is where another question begins behind "and" that the answer to the first would not tell: "are all lamps off and who …",
// "since when is it on and how bright …"; -1: none does.
func (s *sentence) second() int {
	for i := 2; i+1 < len(s.t); i++ {
		if w := s.wordAt(i - 1); w != "and" && w != "und" {
			continue
		}
		w := s.wordAt(i)
		who := w == "who" || w == "wer"
		how := (w == "how" || w == "wie") && slices.ContainsFunc(s.tagsAt(i), func(t string) bool { return t == "level" || t == "position" || t == "count" || t == "howmuch" })
		if who && s.f.Op == Who && s.yesNo() || how && slices.Contains([]Op{Since, Who, Why}, s.f.Op) {
			return i
		}
	}
	return -1
}

// switchedFrom are the words for the place that somebody gave a command from, of which nothing is known: "vom Empfang aus"; empty: none.
func (s *sentence) switchedFrom() string {
	for _, p := range s.f.Places {
		if p.Mention < 0 { // no word is its alone
			continue
		}
		end, k := s.nameEnd(p.Mention), p.Mention-1
		for k > 0 && articles[s.wordAt(k)] {
			k--
		}
		out := s.wordAt(end) == "aus" || s.wordAt(end) == "au"
		switch w := s.wordAt(k); {
		case (w == "vom" || w == "von") && out && s.has("switch"):
			return said(s.t, k, end+1-k)
		case w == "from" && s.f.Op == Who && p.Kind != Device:
			return said(s.t, k, end-k)
		}
	}
	return ""
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
