package understand

import (
	"slices"
	"strings"
)

// cue is a part of an order: a word or phrase, an amount, a name, or a time.
type cue struct {
	at, n  int
	tags   []string
	amount *amount
	places []Place
	apart  bool // it begins another part of the sentence
	// instead tells that it is said in place of the action before it: "on, no wait, off".
	instead bool
}

// amount is what an order sets.
type amount struct {
	form    string // "num", "part", "third"
	value   int    // percent; of a third, how many
	percent bool   // "percent" or "points" was said
	bad     string // as it was said, where it is no whole number from 0 to 100
}

func (c cue) is(tags ...string) bool {
	return slices.ContainsFunc(c.tags, func(t string) bool { return slices.Contains(tags, t) })
}

// orderTags are tags of questions that orders are made of, too.
var orderTags = []string{"light", "shade", "panel", "everything", "it", "except", "not", "neither", "no", "only"}

// cues cuts a sentence for the reader of orders.
func (s *sentence) cues() []cue {
	wanted := func(tag string) bool {
		return tag[0] == '!' && !strings.HasPrefix(tag, "!reason") || slices.Contains(orderTags, tag)
	}
	var out []cue
	add := func(c cue) { out = append(out, c) }
	sure, future := false, slices.ContainsFunc(s.when, func(p part) bool { return p.future })
	for i := 0; i < len(s.t); {
		w := s.t[i]
		if w.name {
			end := s.nameEnd(i)
			add(cue{at: i, n: end - i, tags: []string{"place"}, places: s.placeAt(i), apart: w.apart})
			i = end
			continue
		}
		if w.used { // a number that no place has, or a time
			n := 1
			tag := "strange"
			for _, p := range s.when {
				if p.at == i {
					n, tag = p.n, "later"
					switch lead := s.wordAt(i); {
					case p.span.Now:
						tag = "filler"
					case !future && !p.span.To.After(s.now) && !slices.Contains([]string{"at", "by", "until", "till", "after", "before", "um", "bis"}, lead) && !digit(lead[0]):
						tag = "past"
					}
				}
			}
			if s.wordAt(i+n-1) == "oclock" && i+n < len(s.t) && isDigits(s.t[i+n].stem) && !percentWord(s.wordAt(i+n+1)) { // "um 17 Uhr 30"
				n++
			}
			add(cue{at: i, n: n, tags: []string{tag}, apart: w.apart})
			i += n
			continue
		}
		if n := s.reasonAt(i); n > 0 && n < len(s.t) {
			if i+n < len(s.t) {
				s.t[i+n].apart = true
			}
			i += n
			continue
		}
		if n, tag := s.whileOrLater(i); n > 0 {
			add(cue{at: i, n: n, tags: []string{tag}, apart: w.apart})
			i += n
			continue
		}
		if slices.Contains([]string{"than", "as", "als", "wie"}, w.stem) && slices.ContainsFunc(s.when, func(p part) bool { return p.at == i+1 && p.span.Now }) { // "half as bright as now"
			i++
			continue
		}
		if s.onlySome(i) {
			add(cue{at: i, n: 1, apart: w.apart})
			i++
			continue
		}
		if tags, n := s.timesAt(i); n > 0 {
			add(cue{at: i, n: n, tags: tags, apart: w.apart})
			i += n
			continue
		}
		if a, n := s.amountAt(i); n > 0 {
			add(cue{at: i, n: n, tags: []string{"amount"}, amount: &a, apart: w.apart})
			i += n
			continue
		}
		if (w.stem == "side" || w.stem == "seite") && i > 0 && s.t[i-1].name { // "on the west side"
			i++
			continue
		}
		if i+1 < len(s.t) && s.t[i+1].name && slices.Contains([]string{"ganze", "ganzen", "ganzes", "gesamte", "gesamten", "gesamtes", "komplette", "kompletten"}, w.text) { // "das ganze Obergeschoss"
			s.t[i+1].apart = s.t[i+1].apart || w.apart
			i++
			continue
		}
		if s.firstOf(i) {
			if i++; i < len(s.t) {
				s.t[i].apart = true
			}
			continue
		}
		if n := s.leadsToPlace(i, out); n > 0 {
			s.t[i+n].apart = s.t[i+n].apart || w.apart
			i += n
			continue
		}
		took := 0
		for _, e := range s.lex.byFirst[w.stem] {
			if !slices.ContainsFunc(e.tags, wanted) {
				continue
			}
			if took = phraseAt(s.t, i, e.words); took > 1 && !e.spans() && slices.ContainsFunc(s.t[i+1:i+took], func(w token) bool { return w.apart }) { // "the lights, the …" is not "light the"
				took = 0
			}
			if took > 0 {
				c := cue{at: i, n: took, apart: w.apart}
				for _, tg := range e.tags {
					if wanted(tg) {
						c.tags = append(c.tags, strings.TrimPrefix(tg, "!"))
					}
				}
				if c.is("filler") && w.apart && len(c.tags) == 1 && took == 1 && i+1 < len(s.t) {
					s.t[i+1].apart = s.t[i+1].apart || w.apart
				}
				sure = sure || c.is("sure")
				add(c)
				for c.is("sure") && wished[s.wordAt(i+took)] { // "it would be nice if somebody could …"
					took++
				}
				break
			}
		}
		if took == 0 {
			c := cue{at: i, n: 1, apart: w.apart}
			if sure && slices.Contains([]string{"is", "are", "be", "were", "would", "could", "that", "ist", "sind", "dass", "sein", "waere", "waeren", "wuerde", "wuerden", "koennten", "koennte"}, w.stem) {
				c.tags = []string{"filler"}
			}
			add(c)
			took = 1
		}
		i += took
	}
	return s.settleCues(s.takenBack(out))
}

// spans reports whether a phrase may have a comma in it: "it would be nice, if".
func (e entry) spans() bool {
	return slices.ContainsFunc(e.tags, func(t string) bool { return t == "!filler" || t == "!correct" || t == "!sure" })
}

// wished are those of whom, and words by which, something is wished.
var wished = wordSet("you we i somebody someone could had have there was were sie du ihr wir ich jemand man es")

// onlySome reports whether a word makes of a thing one or some of its kind: "that lamp", "some lights", "ein Licht"; or of a state
// a place: "aus dem Licht".
func (s *sentence) onlySome(i int) bool {
	if i+1 >= len(s.t) || s.t[i+1].apart {
		return false
	}
	thing := s.means(i+1, "light", "shade")
	plural := strings.HasSuffix(s.t[i+1].text, "s")
	if quantified(s.t, i) { // "dim three of the lobby lights"
		return true
	}
	if digit(s.t[i].stem[0]) && thing { // "close 2 blinds", but not "blinds 30, lights 50"
		before := s.wordAt(i - 1)
		return !s.means(i-1, "light", "shade") && !slices.Contains([]string{"to", "at", "by", "auf", "um", "mit"}, before)
	}
	switch w := s.t[i].stem; w {
	case "that", "this", "one":
		return thing && !plural && s.t[i+1].text != "lighting"
	case "some", "few", "several":
		return thing && plural
	case "ein", "eine", "einen", "einem", "einer", "einige", "manche", "dieses", "jenes":
		return thing && s.f.Lang == German
	case "lamp", "lampe", "leuchte", "bulb", "blind", "shade", "curtain", "rollo", "jalousie", "light", "licht": // "lamp 3"
		bare := s.t[i].text == w && !s.t[i+1].used && digit(s.t[i+1].stem[0]) && s.wordAt(i+2) != "percent"
		return bare && ((w != "light" && w != "licht") || slices.Contains([]string{"on", "off", "an", "aus"}, s.wordAt(i+2)))
	case "zu", "aus", "an", "ab":
		return s.f.Lang == German && slices.Contains([]string{"dem", "den", "der"}, s.t[i+1].stem) && (w != "an" || s.leadsToPlace(i, nil) == 0)
	}
	return false
}

// leadsToPlace is the number of words that only lead to a name: "in the", "of the". "On" is one if nothing else is switched by it.
func (s *sentence) leadsToPlace(i int, before []cue) int {
	if !slices.Contains([]string{"in", "on", "at", "of", "for", "from", "inside", "within", "across", "throughout", "im", "am", "an", "auf", "von", "vom", "beim", "fuer"}, s.wordAt(i)) {
		return 0
	}
	k := i + 1
	for slices.Contains([]string{"the", "our", "my", "all", "of", "der", "dem", "den", "die", "das", "both", "beiden", "whole", "entire", "ganzen", "gesamten", "room", "zone"}, s.wordAt(k)) && !(k < len(s.t) && s.t[k].name) {
		k++
	}
	if k >= len(s.t) || !s.t[k].name || slices.ContainsFunc(s.t[i+1:k+1], func(t token) bool { return t.apart }) {
		return 0 // "the lobby on, the canteen off"
	}
	if s.wordAt(i) != "on" && s.wordAt(i) != "auf" && s.wordAt(i) != "an" {
		return k - i
	}
	if s.t[k].text == "upstairs" || s.t[k].text == "downstairs" { // nothing is "on upstairs"
		return 0
	}
	switched := slices.ContainsFunc(before, func(c cue) bool {
		return c.is("on", "off", "open", "close", "dim", "brighten", "toggle", "stop", "lower", "raise", "shut", "up", "down", "morelight", "lesslight", "dimmer", "brighter") || c.amount != nil
	}) || s.switchedBehind(k)
	verb := len(before) > 0 && before[len(before)-1].is("set", "flip")
	if verb && s.wordAt(i) == "on" || !switched {
		return 0
	}
	return k - i
}

// switchedBehind reports whether words behind a name tell what is to be done: "the lights on the ground floor off".
func (s *sentence) switchedBehind(k int) bool {
	for i := s.nameEnd(k); i < len(s.t); i++ {
		if slices.Contains([]string{"on", "off", "open", "closed", "to", "at", "up", "down", "aus", "an"}, s.t[i].stem) || digit(s.t[i].stem[0]) || s.means(i, "open", "close", "dim", "brighten", "raise", "lower", "stop", "on", "off", "up", "down", "fully") {
			return true
		}
	}
	return false
}

// settleCues resolves words whose meaning lies in those beside them, and drops filler.
func (s *sentence) settleCues(in []cue) []cue {
	var out []cue
	drawn := false
	sun := slices.ContainsFunc(in, func(c cue) bool {
		return c.is("sun") || c.is("light") && len(in[0].tags) > 0 && letting[s.t[in[0].at].stem]
	})
	for i, c := range in {
		next := cue{}
		if i+1 < len(in) {
			next = in[i+1]
		}
		if next.is("filler") && i+2 < len(in) && c.is("to") { // "auf die Hälfte"
			next = in[i+2]
		}
		w := s.t[c.at].stem
		drawn = drawn || c.is("draw", "pull")
		switch {
		case w == "back" && drawn && !next.is("up", "down"): // "draw the curtains back"
			c.tags = []string{"open"}
		case (w == "vor" || w == "um") && s.f.Lang == German && (i+1 == len(in) || next.apart) && in[0].is("set", "pull"): // "zieh die Vorhänge vor", "schalte das Licht um"
			c.tags = map[string][]string{"vor": {"close"}, "um": {"toggle"}}[w]
		case w == "zu" && next.amount != nil && slices.ContainsFunc(in[i+2:], func(o cue) bool { return o.is("open", "close") }): // "zu zwei Dritteln öffnen"
			continue
		case w == "auf" && i > 0 && in[i-1].is("max"): // "das Licht voll auf"
			continue
		case c.is("to") && c.is("open"): // auf 40 %
			c.tags = []string{"open"}
			if next.amount != nil || !next.apart && next.is("max", "min", "fully", "on", "off", "close", "color") {
				c.tags = []string{"to"}
			}
		case (w == "right" && len(c.tags) == 0 || w == "way" && (len(out) == 0 || out[len(out)-1].amount == nil)) && next.is("up", "down", "open"), i == 0 && (w == "about" || w == "regarding" || w == "right" && next.apart && len(c.tags) == 0):
			continue
		case i == 0 && slices.Contains([]string{"somebody", "someone", "anybody", "anyone"}, w) && next.is(verbs...) && s.t[next.at].text == s.t[next.at].stem && !strings.HasSuffix(s.t[next.at].stem, "ed"): // "somebody turn the lights on"
			continue
		case s.f.Lang == English && c.n == 1 && c.is(verbs...) && !c.is("light", "shade") && s.t[c.at].text == w+"s", // "this turns on the lights"
			s.f.Lang == German && i > 0 && in[i-1].is("light", "shade") && c.is("set") && strings.HasSuffix(w, "en") && next.is("up", "down", "on", "off", "open", "close"): // "die Rollos fahren hoch"
			c.tags = nil
		case w == "them" && next.is("light", "shade"), w == "jemand" && i > 0 && s.has0("kann", "koennte", "wuerde", "mag"):
			continue
		case w == "window" && next.is("shade"):
			continue
		case sun && c.n == 1 && slices.Contains([]string{"in", "inside", "rein", "herein", "hinein"}, w):
			c.tags = []string{"inside"}
		case w == "alles" && next.is("light"):
			c.tags = []string{"all"}
		case len(c.tags) == 0 && next.amount != nil && slices.Contains([]string{"about", "around", "roughly", "approximately", "etwa", "ungefaehr", "rund", "circa", "ca", "zirka"}, w):
			continue
		case w == "hoehe" && i > 0 && in[i-1].amount != nil: // "auf halbe Höhe"
			continue
		case (w == "power" || w == "leistung") && i > 0 && in[i-1].amount != nil: // "half power"
			c.tags = []string{"level"}
		case w == "back" && next.is("light", "shade"):
			c.tags = nil
		case w == "bright" && i > 0 && in[i-1].amount != nil:
			c.tags = []string{"level"}
		case c.is("of") && (i == 0 || in[i-1].amount == nil || next.is("level", "light") && in[i-1].amount.percent):
			continue
		case c.is("of"):
			c.tags = []string{"part"}
		case s.named && c.is("own") && slices.Contains([]string{"in", "of", "for", "here", "around", "hier"}, w):
			c.tags = nil // who writes from nowhere means no room by "here"
		case c.is("except") && w == "but" && next.is(verbs...) && len(next.places) == 0: // "lights on, but close the blinds"
			c.tags = []string{"and"}
		case c.is("room") && s.t[c.at].text == "rooms" && !next.is("light", "shade"):
			c.tags = nil
		case c.is("room") && next.is("light", "shade", "panel", "level"):
			c.tags = []string{"own"}
		case c.is("filler") && !c.is("max", "min", "own", "all", "up", "down", "on", "off", "not", "set"):
			if i+1 < len(in) {
				in[i+1].apart = in[i+1].apart || c.apart
				in[i+1].instead = in[i+1].instead || c.instead
			}
			continue
		}
		if c.is("own", "sure") && len(out) > 0 && c.apart && i+1 < len(in) {
			in[i+1].apart = true
		}
		if c.is("sure") {
			continue
		}
		out = append(out, c)
	}
	return out
}
