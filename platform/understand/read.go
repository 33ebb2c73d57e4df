package understand

import (
	"slices"
	"strings"
	"time"
)

// chunk is a word or phrase of the lexicon, with all that it may mean.
type chunk struct {
	at, n int
	tags  []string
}

// sentence is what somebody said while it is read.
type sentence struct {
	t      []token
	lex    *lexicon
	now    time.Time
	asks   bool   // it ends with a question mark
	closes []bool // by words: nothing follows from there on but what adds nothing
	named  bool   // the building has names: nobody speaks from a room of it
	when   []part
	chunks []chunk
	claims map[string]bool // tags that the frame makes use of
	kindAt int             // token of the noun that is asked for
	odd    []string        // numbers that no place has, and the like
	live   bool            // "at the moment" was said, perhaps among words that add nothing
	before Do              // what was told of an order ahead of it
	f      Frame
}

// Read understands a message at a moment; now is in the building's time zone, and names are the building's.
func Read(text string, names Names, now time.Time) Frame {
	s := &sentence{t: cut(text), now: now, asks: strings.HasSuffix(strings.TrimSpace(text), "?"), claims: map[string]bool{}}
	if answer := reaction(s.t); answer != Nothing {
		return Frame{Topic: answer}
	}
	s.words(names)
	if s.participial() { // "canteen blinds shut?"
		q := *s
		q.t, q.claims = slices.Clone(s.t), map[string]bool{}
		return q.readQuestion(names)
	}
	order, ok := s.readOrder(names)
	unsaid := order.Unclear != nil && order.Unclear.Why == Nowhere && s.asks && s.f.Lang == German // "fahren die Storen gerade?"
	if ok && (order.Unclear == nil || order.Form == Imperative && !s.begunAsQuestion() && !unsaid || !s.asks && slices.Contains([]Reason{Negated, Value, For, Later, If, Contrary}, order.Unclear.Why)) {
		return order
	}
	wanted := ok && order.Form != Imperative && s.put() && slices.Contains([]Reason{Elsewhere, Missing, Cannot, Nowhere}, order.Unclear.Why) // "give me the voltage"
	if f := s.readQuestion(names); !ok || f.Unclear == nil || s.asks || wanted {
		return f
	}
	return order
}

// participial reports whether it is asked, without a verb, whether things are as something was done to them: "everyone upstairs switched off?".
func (s *sentence) participial() bool {
	if !s.asks || s.f.Lang != English || len(s.t) < 2 || s.has0("please", "can", "could", "would", "get", "have") || s.means(0, "set", "flip", "give", "dim", "brighten", "open", "close", "shut", "raise", "lower", "toggle", "stop", "show", "increase", "reduce") {
		return false
	}
	last := s.t[len(s.t)-1].text
	if last == "off" || last == "on" {
		last = s.t[len(s.t)-2].text
	}
	return slices.Contains([]string{"switched", "turned", "raised", "lowered", "closed", "opened", "shut", "lit", "dimmed"}, last)
}

// begunAsQuestion reports whether a question begins with its word for what is asked, perhaps behind a preposition: "auf wie viel Prozent".
func (s *sentence) begunAsQuestion() bool {
	return s.asks && slices.ContainsFunc(s.t[:min(2, len(s.t))], func(t token) bool {
		return slices.Contains([]string{"wie", "was", "wer", "wann", "wo", "warum", "welche", "welcher", "welchem", "welchen", "how", "what", "which", "who", "when", "where", "why"}, t.stem)
	})
}

// Question understands a message as a question, which [Read] took for an order said without a verb: "lights on in the lobby".
func Question(text string, names Names, now time.Time) Frame {
	s := &sentence{t: cut(text), now: now, asks: true, claims: map[string]bool{}}
	s.words(names)
	return s.readQuestion(names)
}

// words finds the language of a sentence, and writes its words as the lexicon and the building's names have them.
func (s *sentence) words(names Names) {
	s.t = names.uncompound(s.t)
	s.f.Lang = language(s.t, names.known)
	s.lex = lexicons[s.f.Lang]
	if s.f.Lang == German {
		s.t = translate(s.t)
	}
	names.respell(s.t)
	s.t = names.rename(s.t)
	s.forgive(names)
	if s.f.Lang == German && names.known["upstair"] && !slices.ContainsFunc(s.t, func(t token) bool { return countable(t.stem) == Shade }) {
		for i, t := range s.t { // of rollers it says how far they are open
			if up := map[string]string{"oben": "upstair", "unten": "downstair", "obere": "upstair", "oberen": "upstair", "unteren": "downstair", "untere": "downstair"}[t.stem]; up != "" && names.known[up] {
				s.t[i].stem = up
			}
		}
	}
}

// Find looks for what a text names, and tells whether it names the whole building.
func Find(text string, names Names) (places []Place, whole bool) {
	t := names.rename(names.uncompound(cut(text)))
	places = names.byNumber(t, names.find(t))
	if len(places) == 0 {
		whole = Question(text, names, time.Unix(0, 0)).Is(Whole) || slices.ContainsFunc(t, func(w token) bool { return w.used })
	}
	return places, whole
}

// places finds what is named, and notes numbers of things that there are not.
func (s *sentence) places(names Names) {
	s.f.Places = names.byNumber(s.t, names.find(s.t))
	for i := range s.t {
		s.t[i].name = s.t[i].used
	}
	slices.SortStableFunc(s.f.Places, func(a, b Place) int { return a.Mention - b.Mention })
	s.f.Places = slices.DeleteFunc(s.f.Places, func(p Place) bool {
		if p.Kind == Person {
			if k := p.Mention - 1; k >= 0 && accounts[s.t[k].stem] { // "the user admin"
				s.t[k].used = true
			}
			s.f.Actor = p.Name
		}
		return p.Kind == Person
	})
	s.odd = append(s.upstairs(), s.unknownNumbers()...)
	s.onTheFloor()
}

// accounts are words for what a person or a program is known by.
var accounts = wordSet("user account login key operator benutzer nutzer konto schluessel")

// onTheFloor drops a floor that says only where the zones are that are named beside it: "which one upstairs is darker, Alps or Lakes".
func (s *sentence) onTheFloor() {
	var floors, zones []Place
	for _, p := range s.f.Places {
		switch p.Kind {
		case Floor:
			floors = append(floors, p)
		case Zone:
			zones = append(zones, p)
		default:
			return
		}
	}
	if len(floors) != 1 || len(zones) < 2 || len(s.f.Mentioned()) < 3 || slices.ContainsFunc(zones, func(p Place) bool { return p.On != floors[0].Name }) {
		return
	}
	at := floors[0].Mention
	if !slices.Contains([]string{"one", "room", "zone", "area", "raum", "zimmer", "bereich"}, s.wordAt(at-1)) {
		return
	}
	s.f.Places = slices.DeleteFunc(s.f.Places, func(p Place) bool { return p.Kind == Floor })
}

// leading are words between the names of a zone and of its floor.
var leading = wordSet("on the in of at up im auf dem der am vom des")

// upstairs narrows zones to those on the floor that is said with them: "the corridor on the upper floor". Where that leaves none, the
// words are told as unknown.
func (s *sentence) upstairs() (unknown []string) {
	if s.sharing() {
		return nil
	}
	for again := true; again; {
		again = false
		groups := s.f.Mentioned()
		for i := 0; i+1 < len(groups) && !again; i++ {
			zones, floor := groups[i], groups[i+1]
			if zones[0].Kind == Floor {
				zones, floor = floor, zones
			}
			from, to := groups[i][0].Mention, groups[i+1][0].Mention
			if len(floor) != 1 || floor[0].Kind != Floor || slices.ContainsFunc(zones, func(p Place) bool { return p.Kind != Zone }) || !slices.ContainsFunc(zones, func(p Place) bool { return p.On != "" || p.on(floor[0]) }) || !s.leads(s.nameEnd(from), to) {
				continue
			}
			end := s.nameEnd(to)
			kept := slices.DeleteFunc(slices.Clone(zones), func(p Place) bool { return !p.on(floor[0]) })
			for k := range kept {
				kept[k].Mention = from
			}
			for k := from; k < end; k++ {
				if s.t[k].name || leading[s.t[k].stem] || len(kept) == 0 {
					s.t[k].used, s.t[k].name = true, len(kept) > 0
				}
			}
			if len(kept) == 0 {
				unknown = append(unknown, said(s.t, from, end-from))
			}
			rest := slices.DeleteFunc(s.f.Places, func(p Place) bool { return p.Mention == from || p.Mention == to })
			s.f.Places = append(rest, kept...)
			slices.SortStableFunc(s.f.Places, func(a, b Place) int { return a.Mention - b.Mention })
			again = true
		}
	}
	return unknown
}

// on reports whether a zone is on a floor, or named after it where it is on none.
func (p Place) on(floor Place) bool {
	return p.On == floor.Name || p.On == "" && strings.Contains(" "+p.Name+" ", " "+floor.Name+" ")
}

// sharing reports whether the part of one thing in another is asked for. Percent behind a number, "at", or before lamps are none.
func (s *sentence) sharing() bool {
	if s.has0("share", "proportion", "portion", "fraction", "part", "anteil") {
		return true
	}
	for i, t := range s.t {
		if t.stem != "percent" && t.stem != "percentage" || i > 0 && digit(s.t[i-1].stem[0]) {
			continue
		}
		at := slices.ContainsFunc(s.t[max(0, i-3):i], func(t token) bool { return t.stem == "auf" || t.stem == "at" || t.stem == "to" })
		lamps := slices.ContainsFunc(s.t[i+1:min(len(s.t), i+4)], func(t token) bool { return countable(t.stem) == Light || countable(t.stem) == Shade })
		if !at && !lamps {
			return true
		}
	}
	return false
}

// leads reports whether the words [from, to) only lead from one name to the next, which begins no other part of the sentence.
func (s *sentence) leads(from, to int) bool {
	for i := from; i < to; i++ {
		kind := countable(s.t[i].stem) // "the corridor lamps on the ground floor"
		if !leading[s.t[i].stem] && kind != Light && kind != Shade || s.t[i].apart {
			return false
		}
	}
	return from <= to && !s.t[to].apart
}

// Reaction is [Confirm] or [Decline] for a bare yes or no, else [Nothing].
func Reaction(text string) Topic { return reaction(cut(text)) }

// reaction recognises a bare yes or no.
func reaction(t []token) Topic {
	var words []string
	for _, w := range t {
		if !slices.Contains([]string{"please", "thank", "you", "bitte", "danke"}, w.stem) {
			words = append(words, w.stem)
		}
	}
	switch strings.Join(words, " ") {
	case "yes", "y", "yep", "yeah", "confirm", "confirmed", "i confirm", "go ahead", "do it", "ok", "okay", "sure", "yes do it",
		"yes go ahead", "proceed", "ok do it", "do that", "yes i confirm", "go", "yes confirm", "confirm it", "do", "sure do it", "correct",
		"ja", "ja mach", "ja mach es", "ja mach da", "mach es", "mach da", "bestaetigt", "in ordnung", "los", "ja gerne", "gerne", "jawohl", "einverstanden":
		return Confirm
	case "no", "n", "nope", "cancel", "stop that", "do not", "never mind", "nevermind", "no do not", "abort", "forget it", "no never mind", "cancel that", "cancel it", "no cancel", "better not",
		"nein", "abbrechen", "nicht", "nein nicht", "vergis es", "lieber nicht", "stornieren", "abbruch":
		return Decline
	}
	return Nothing
}

// numberable are things that numbers are said of.
var numberable = wordSet("room floor zone area meter light lamp luminaire device node shade blind controller building cluster raum etage zaehler leuchte lampe jalousie stock")

// unknownNumbers finds "floor 7", "room 12", "the third floor" that no name matched.
func (s *sentence) unknownNumbers() []string {
	var unknown []string
	for i := 0; i+1 < len(s.t); i++ {
		a, b := s.t[i], s.t[i+1]
		if a.used || b.used || b.apart {
			continue
		}
		next := ""
		if i+2 < len(s.t) {
			next = s.t[i+2].stem
		}
		numberFollows := numberable[a.stem] && isDigits(b.stem) && digit(b.text[0]) && !slices.Contains([]string{"percent", "minute", "hour", "day", "w", "watt", "kw", "oclock", "am", "pm"}, next)
		ordinal := slices.Index(ordinals, a.stem) > 0 && slices.Contains([]string{"floor", "level", "room", "zone", "etage", "stock"}, b.stem)
		if numberFollows || ordinal {
			unknown = append(unknown, a.text+" "+b.text)
			s.t[i].used, s.t[i+1].used = true, true
		}
	}
	return unknown
}

func (s *sentence) wordAt(i int) string {
	if i >= 0 && i < len(s.t) {
		return s.t[i].stem
	}
	return ""
}

func (s *sentence) mark(i, n int) {
	for k := i; k < i+n && k < len(s.t); k++ {
		s.t[k].used = true
	}
}

// isTime reports whether a word belongs to a time.
func (s *sentence) isTime(i int) bool {
	return slices.ContainsFunc(s.when, func(p part) bool { return i >= p.at && i < p.at+p.n })
}

// placeAt are the places that are named by the words that begin at a token.
func (s *sentence) placeAt(i int) []Place {
	var found []Place
	for _, p := range s.f.Places {
		if p.Mention == i {
			found = append(found, p)
		}
	}
	return found
}

// nameEnd is behind the words of the name that token i belongs to.
func (s *sentence) nameEnd(i int) int {
	k := i
	for k < len(s.t) && s.t[k].name && (k == i || len(s.placeAt(k)) == 0) {
		k++
	}
	return k
}
