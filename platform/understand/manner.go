package understand

import (
	"slices"
	"strings"
)

// manner notes how the question was put.
func (s *sentence) manner() {
	f := &s.f
	f.Set(Whole, s.has("whole") && len(f.Places) == 0)
	f.Set(Estimate, f.Is(Estimate) || s.has("estimate"))
	f.Set(Follows, f.Is(Follows) || s.follows())
	f.Set(Both, s.both())
	f.Set(Asked, s.asks || s.f.Is(Asked) || s.put())
	f.Set(Either, f.Is(Either) || s.either())
	f.Set(Past, s.f.Lang == English && (s.has0("was", "were", "been") || s.has0("did") && s.f.When != nil) || s.has0("war", "waren", "wurde", "wurden", "gewesen", "gebrannt", "brannte", "brannten", "leuchtete"))
	f.Set(Still, f.Op == Who && f.State != "" && s.has0("left", "leave", "leaving", "forget", "forgot", "forgotten", "lassen", "gelassen", "laesst", "vergessen", "angelassen", "offengelassen"))
	f.Set(InKilo, s.inUnits("kw", "kwh"))
	f.Set(InOnes, !f.Is(InKilo) && s.inUnits("watt", "wh"))
	f.Set(Future, f.Is(Future) || s.has("future") && f.Topic != Automation && f.Aspect != "metered" && !s.passiveNow())
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
	if f.Form == Check && f.Is(All) && f.By != "" && string(f.Kind) == f.By && !s.everyRow() { // "is there a zone with all lamps on": one is enough
		f.Set(Either, true)
	}
	f.Set(Mostly, f.Form == Check && (f.State != "" || len(f.Conds) > 0) && !f.Is(All) && !f.Is(None) && (s.ofTheThings() || f.State == Off && s.darkPlace()))
	s.everBefore()
	s.verdict()
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

// everyRow reports whether it is asked of all places of a kind: "in all rooms".
func (s *sentence) everyRow() bool {
	for i, c := range s.chunks[:max(0, len(s.chunks)-1)] {
		if c.is("all", "each") && s.chunks[i+1].is("zone", "floor") || c.is("each") {
			return true
		}
	}
	return false
}

// darkPlace reports whether it is asked of a place whether it is dark, which it is not while one of its lights is on.
func (s *sentence) darkPlace() bool {
	return len(s.f.Places) > 0 && !s.has("light", "any", "there", "half", "device", "zone", "floor") && s.f.Places[0].Kind != Device && !s.has0("still", "noch", "something", "etwas")
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
	if s.has("everything") || s.has("all") && !(s.has("any") && s.f.By == "") {
		return true
	}
	return s.has("whole") && !s.has("any") || s.has("ends", "full") && !s.has("any", "there") && slices.Contains([]string{"are", "is", "sind", "ist"}, s.wordAt(0))
}

func (s *sentence) yesNo() bool {
	for i := range s.t { // "tell me whether …"
		if w := s.t[i].stem; w == "whether" || w == "ob" || w == "if" && i > 0 && slices.Contains([]string{"me", "know", "check", "see", "us", "wonder", "wondering"}, s.t[i-1].stem) {
			return true
		}
	}
	for _, c := range s.chunks {
		w := s.t[c.at].stem
		if c.is("talk") && w != "did" || c.is("except") && s.asks { // "bis auf die Büros alles dunkel?"
			continue
		}
		if s.f.Lang == German && w == "was" { // that is "what"
			return false
		}
		return slices.Contains([]string{"is", "are", "was", "were", "do", "does", "did", "has", "have", "any", "anything", "can", "ist", "sind", "war", "waren", "hat", "haben", "brennt", "brennen", "brannte", "brannten", "leuchtete",
			"laeuft", "gibt", "steigt", "faehrt", "will", "steht", "stehen", "leuchtet", "zieht", "ziehen", "braucht", "brauchen", "antwortet", "antworten", "funktionieren", "funktioniert", "laufen", "tun", "tut", "gehen", "klappt", "klappen", "hab", "habt", "leuchten", "klemmt", "klemmen", "spinnt", "wird", "werden", "waere", "meldet", "melden", "bewegt", "fehlt", "misst", "kann", "koennen"}, w) || c.is("no") || c.is("any") || s.asks && c.is("everything", "all") && s.f.State != ""
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
	if begunAt[s.wordAt(i)] && begunWith[s.wordAt(i+1)] {
		return true
	}
	return asking[s.wordAt(i)] && !(s.wordAt(i) == "do" && s.wordAt(i+1) == "not")
}

// asking are the words that questions and requests for reports begin with.
var asking = wordSet("what which who whose how why when where is are am was were do does did has have had list tell compare report count name explain describe summarize summarise find " +
	"show give get check any can could should will would may anything display enumerate help welche welcher welches welchen wie wo wer was warum wieso wann ist sind war hat haben gibt seit zeig nenne vergleiche brennt brennen leuchtet")

func (s *sentence) both() bool {
	for i := range s.t {
		if s.wordAt(i) == "davon" && s.has("more", "less", "brighter", "darker") || s.wordAt(i) == "both" || s.wordAt(i) == "beide" || s.wordAt(i) == "beiden" ||
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
	if len(s.f.Places) == 0 && !s.f.Is(Whole) && (s.has0("davon", "darunter") || // "how far?", "welche davon sind Lampen", "what would that cost"
		len(s.t) == 2 && s.f.When == nil && slices.Contains([]string{"how", "wie"}, s.wordAt(0)) && s.f.Topic != Help ||
		s.f.Topic == Cost && s.f.When == nil && (s.has0("that") || s.wordAt(len(s.t)-1) == "das")) {
		return true
	}
	if s.f.Topic == Inventory && s.f.onlyRows() && s.has("list", "where") && !slices.ContainsFunc(s.chunks, func(c chunk) bool {
		return !c.is("list", "where", "zone", "floor", "fill", "it", "talk") || c.is("inventory", "there")
	}) {
		return true
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

// passiveNow reports whether "wird" is of something that is being done, and no future: "wird gerade Strom verbraucht".
func (s *sentence) passiveNow() bool {
	last := s.wordAt(len(s.t) - 1)
	participle := strings.HasPrefix(last, "ge") || strings.HasPrefix(last, "ver") || strings.HasPrefix(last, "be")
	return s.f.Lang == German && s.has0("wird", "werden") && participle && strings.HasSuffix(last, "t") && (s.f.When == nil || s.f.When.Now)
}
