package understand

import (
	"slices"
	"strings"
)

// What people say around an order when they speak: words twice, "Sie" behind a verb, why they want it, and what they take back.

// repeated drops words that are said twice in a row: "stop, stop the blinds".
func repeated(t []token) []token {
	out := t[:0:0]
	for i, w := range t {
		if i > 0 && !digit(w.stem[0]) && w.stem == t[i-1].stem && !w.used {
			continue
		}
		out = append(out, w)
	}
	return out
}

// greetingless drops a greeting, which holds a time of day: "good evening, lights on".
func greetingless(t []token) []token {
	n := 0
	for n < len(t) && n < 4 && slices.Contains([]string{"good", "guten", "schoenen", "hello", "hi", "hey", "hallo"}, t[n].stem) {
		n++
	}
	day := n < len(t) && slices.Contains([]string{"morning", "afternoon", "evening", "day", "morgen", "tomorrow", "tag", "abend"}, t[n].stem)
	if day && n+1 < len(t) && (n > 0 || t[n+1].apart) {
		return t[n+1:]
	}
	return t
}

// germanVerbs writes forms of German verbs as the lexicon has them: "auszumachen" as "ausmachen", "zu öffnen" as "öffnen", and takes
// out the "Sie" of "machen Sie".
func (s *sentence) germanVerbs() {
	var out []token
	shades := s.kindNamed("shade")
	for i, w := range s.t {
		for _, prefix := range []string{"aus", "an", "ein", "auf", "zu", "ab", "hoch", "runter", "herunter", "hinunter", "herauf", "hinauf", "um"} {
			if verb, ok := strings.CutPrefix(w.stem, prefix+"zu"); ok && s.lex.words[prefix+verb] {
				w.stem = prefix + verb
			}
		}
		verb := strings.HasSuffix(w.stem, "n")
		if (w.stem == "sie" || w.stem == "wir") && i > 0 && strings.HasSuffix(s.t[i-1].stem, "en") && s.means(i-1, "set", "on", "off", "open", "close", "dim", "brighten", "increase", "reduce", "raise", "lower", "stop", "show", "toggle") && !(i == len(s.t)-1) {
			continue
		}
		if verb && i > 0 && s.t[i-1].stem == "zu" && len(out) > 0 && (s.means(i, "on", "off", "open", "close", "dim", "brighten", "increase", "reduce", "raise", "lower", "stop") || s.means(i, "set") && !shades) {
			w.apart = w.apart || out[len(out)-1].apart
			out = out[:len(out)-1]
		}
		out = append(out, w)
	}
	s.t = out
}

// kindNamed reports whether the sentence has a noun for a kind of things.
func (s *sentence) kindNamed(tag string) bool {
	return slices.ContainsFunc(s.t, func(w token) bool {
		return slices.ContainsFunc(s.lex.byFirst[w.stem], func(e entry) bool { return len(e.words) == 1 && slices.Contains(e.tags, tag) })
	})
}

// reasonAt is the number of words from i on that only tell why somebody wants it: "it is so dark in here", "so we can see the
// screen". All of them are words of reasons, one at least is what the reason is, and nothing in them could be done. What somebody
// sees or reads may be anything.
func (s *sentence) reasonAt(i int) int {
	is := func(k int, tag string) bool {
		return k < len(s.t) && (!s.t[k].used || slices.Contains([]string{"heute", "jetzt", "today", "now"}, s.t[k].text)) && s.means(k, tag)
	}
	if !is(i, "reason-first") || i > 0 && !s.t[i].apart && !s.reasonBegins(i) {
		return 0
	}
	k, told, seeing, clause := i, false, false, false
	for k < len(s.t) {
		w := s.t[k].stem
		clause = clause || finite[w]
		switch {
		case k > i && s.t[k].apart:
			return length(k-i, told)
		case is(k, "reason"):
			told, seeing = true, seeing || reading[w] || glaring[w]
		case glaring[w]:
			seeing = true
		case is(k, "reason-first"), is(k, "reasoning"):
		case w == "not" && (reading[s.wordAt(k+1)] || s.wordAt(k+1) == "need"), w == "nicht" && reading[s.wordAt(k+1)]:
		case is(k, "light") && s.complains(k), is(k, "shade") && s.complains(k):
		case seeing && !s.t[k].used && !digit(w[0]) && !s.orders(k):
		default:
			if i == 0 || s.t[i].apart { // an order follows without a comma
				return length(k-i, told && clause && s.opens(k))
			}
			return 0
		}
		k++
	}
	return length(k-i, told)
}

// finite are words that make a clause of a reason: "the meeting is over", but not "the meeting lights".
var finite = wordSet("is are am was can cannot have has need want get too so ist sind bin kann koennen haben hat zu so blendet scheint wollen will fangen faengt beginnt startet sehe seh sieht schauen moechte moechten")

// reading are verbs of what people do with light.
var reading = wordSet("see read watch lesen sehen sehe seh sieht lese anschauen schauen schaue")

// glaring are things of which anything is said that is wrong with them.
var glaring = wordSet("sun sonne screen leinwand slide projector beamer people everyone leute folien")

// reasonBegins reports whether a reason begins at a word in the middle of a sentence: with a word that says so, or with a whole
// clause, which no preposition leads to ("at the end of the meeting").
func (s *sentence) reasonBegins(i int) bool {
	if slices.Contains([]string{"because", "cause", "so", "since", "weil", "denn", "damit"}, s.wordAt(i)) {
		return true
	}
	if before := s.wordAt(i - 1); prepositions[before] || s.means(i-1, "if") || slices.Contains([]string{"to", "during", "with", "after", "before", "until", "bei", "nach", "vor", "bis", "zum", "zur", "mit"}, before) {
		return false
	}
	return slices.ContainsFunc(s.t[i+1:min(i+3, len(s.t))], func(w token) bool {
		return slices.Contains([]string{"is", "are", "am", "can", "have", "need", "want", "ist", "sind", "bin", "kann", "blendet"}, w.stem)
	})
}

// orders reports whether a word may be of an order.
func (s *sentence) orders(k int) bool {
	return s.wordAt(k) != "out" && s.means(k, "light", "shade", "panel", "everything", "set", "flip", "give", "on", "off", "dim", "brighten", "open", "close", "shut", "raise", "lower", "increase", "reduce", "stop", "toggle", "if", "and", "level", "brighter", "dimmer", "up", "down", "later")
}

func length(n int, so bool) int {
	if so {
		return n
	}
	return 0
}

// complains reports whether "is too bright" or the like follows a thing.
func (s *sentence) complains(k int) bool {
	be := s.wordAt(k + 1)
	return slices.Contains([]string{"is", "are", "ist", "sind"}, be) && (s.wordAt(k+2) == "too" || s.wordAt(k+2) == "zu" || s.wordAt(k+2) == "so" || s.wordAt(k+2) == "way" || s.wordAt(k+2) == "viel")
}

// opens reports whether an order may begin at a word.
func (s *sentence) opens(k int) bool {
	if s.means(k, "and") {
		return true
	}
	if s.means(k, "light", "shade") && slices.Contains([]string{"the", "my", "our", "all", "das", "die", "den", "alle"}, s.wordAt(k-1)) { // "we are leaving the lights on"
		return false
	}
	return s.means(k, "set", "flip", "give", "dim", "brighten", "open", "close", "shut", "raise", "lower", "increase", "reduce", "pull", "draw", "on", "off", "light", "shade", "stop", "dimmer", "brighter") ||
		slices.Contains([]string{"please", "can", "could", "would", "let", "bitte", "koennen", "koennten", "kannst", "koenntest"}, s.wordAt(k))
}

// takenBack marks what replaces the action before it, "on, no wait, off", and drops the words that say so, and a "no" or "sorry"
// in front of all.
func (s *sentence) takenBack(in []cue) []cue {
	var out []cue
	instead, apart := false, false
	for i, c := range in {
		correcting := c.is("correct")
		if c.is("no") && len(c.tags) > 0 { // "no lights" is none, "no, lights" is one
			next := i+1 < len(in) && (in[i+1].apart || in[i+1].is("correct") || in[i+1].amount != nil && len(out) > 0 && out[len(out)-1].amount != nil)
			correcting = correcting || next || c.apart && i+1 < len(in) && in[i+1].is("on", "off", "amount", "set", "up", "down", "open", "close")
		}
		if correcting && i+1 < len(in) {
			instead, apart = instead || len(out) > 0, true
			continue
		}
		if apart {
			c.apart, c.instead = true, instead
			instead, apart = false, false
		}
		out = append(out, c)
	}
	return out
}

// firstOf reports whether a word only says that something comes first, where something follows: "first the shades, then …".
func (s *sentence) firstOf(i int) bool {
	return slices.Contains([]string{"first", "firstly", "erst", "zuerst", "zunaechst", "erstmal"}, s.wordAt(i)) && (i == 0 || s.t[i].apart || s.wordAt(i-1) == "please" || s.wordAt(i-1) == "bitte" || s.f.Lang == German) &&
		slices.ContainsFunc(s.t[i+1:], func(w token) bool {
			return slices.Contains([]string{"then", "and", "afterward", "next", "dann", "danach", "und", "anschliessend"}, w.stem)
		})
}

// leftAlone writes "…, but leave the corridor on" as "… except the corridor", where that is another state than the one that the rest
// is brought to, or "as it is".
func (s *sentence) leftAlone(all []cue) []cue {
	var out []cue
	for i := 0; i < len(all); i++ {
		c := all[i]
		if i == 0 || !slices.Contains([]string{"leave", "keep", "las", "lass", "lassen", "lasse"}, s.t[c.at].stem) {
			out = append(out, c)
			continue
		}
		end := i + 1
		for end < len(all) && !(all[end].is("and") && (end+1 == len(all) || len(all[end+1].places) == 0)) && !(all[end].apart && len(all[end].places) == 0) {
			end++
		}
		var places []cue
		state := ""
		fits := true
		for _, o := range all[i+1 : end] {
			switch {
			case len(o.places) > 0:
				places = append(places, o)
			case o.is("untouched"):
				state += "untouched"
			case o.is("on", "off", "open", "close", "up", "down"):
				state += o.tags[0]
			default:
				fits = fits && o.is("light", "shade", "it", "all", "own", "and")
			}
		}
		if len(places) == 0 && fits && strings.HasSuffix(state, "untouched") && slices.ContainsFunc(all[i+1:end], func(o cue) bool { return o.is("light", "shade") }) { // "and leave the blinds as they are"
			for len(out) > 0 && out[len(out)-1].is("and", "except") {
				out = out[:len(out)-1]
			}
			i = end - 1
			continue
		}
		against := map[string]string{"on": "off", "off": "on", "open": "close", "close": "open", "up": "close", "down": "open"}[state]
		apart := state == "untouched" || slices.ContainsFunc(all[:i], func(o cue) bool {
			return o.is(against) || against == "close" && o.is("down", "lower") || against == "open" && o.is("up", "raise")
		})
		if !fits || len(places) == 0 || state == "" || !apart {
			out = append(out, c)
			continue
		}
		for len(out) > 0 && out[len(out)-1].is("and", "except") && len(out[len(out)-1].places) == 0 {
			out = out[:len(out)-1]
		}
		out = append(out, cue{at: c.at, n: c.n, tags: []string{"except"}})
		for _, p := range places {
			p.apart = false
			out = append(out, p)
		}
		i = end - 1
	}
	return out
}

// complaint understands who says of a place that it is too bright or too dark there, and nothing else: a step the other way.
func (s *sentence) complaint() (Do, bool) {
	d := Do{Kind: Light, Places: s.f.Places}
	if len(d.Places) == 0 || s.asks {
		return d, false
	}
	for i, w := range s.t {
		if !w.name && !slices.Contains([]string{"on", "at", "am", "auf", "dem"}, w.stem) && !s.means(i, "reason", "reasoning", "reason-first") {
			return d, false
		}
		if too := s.wordAt(i-1) == "too" || s.wordAt(i-1) == "zu"; too && d.Switch == "" {
			switch s.wordAt(i) {
			case "bright", "hell", "grell":
				d.Switch = "dim"
			case "dark", "dim", "gloomy", "dunkel", "finster", "duester":
				d.Switch = "brighten"
			}
		}
	}
	return d, d.Switch != "" && !s.has0("not", "nicht", "never", "nie", "kein", "no")
}
