package understand

import (
	"slices"
	"strings"
	"time"
)

// What people say around an order when they speak: words twice, "Sie" behind a verb, what they take back, and what they want left.

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
	for n < len(t) && n < 4 && slices.Contains([]string{"good", "guten", "gute", "schoenen", "hello", "hi", "hey", "hallo"}, t[n].stem) {
		n++
	}
	day := n < len(t) && slices.Contains([]string{"morning", "afternoon", "evening", "day", "morgen", "tomorrow", "tag", "abend", "night", "nacht"}, t[n].stem)
	if !day {
		return t
	}
	greets := n > 0
	for n++; n < len(t) && !t[n].apart && slices.Contains([]string{"all", "everyone", "everybody", "zusammen", "miteinander", "alle"}, t[n].stem); n++ {
		greets = true
	}
	if n < len(t) && (greets || t[n].apart) {
		return t[n:]
	}
	return t
}

// germanVerbs writes forms of German verbs as the lexicon has them: "auszumachen" as "ausmachen", "zu öffnen" as "öffnen", and takes
// out the "Sie" of "machen Sie".
func (s *sentence) germanVerbs() {
	var out []token
	shades := s.kindNamed("shade")
	for i, w := range s.t {
		if w.stem == "ann" && s.means(i-1, "light", "shade") {
			w.stem = "an"
		}
		if len(w.stem) > len("modus") && strings.HasSuffix(w.stem, "modus") && !s.lex.words[w.stem] { // "Kinomodus"
			w.stem = "modus"
		}
		for _, prefix := range []string{"aus", "an", "ein", "auf", "zu", "ab", "hoch", "runter", "herunter", "hinunter", "herauf", "hinauf", "um"} {
			if verb, ok := strings.CutPrefix(w.stem, prefix+"zu"); ok && s.lex.words[prefix+verb] {
				w.stem = prefix + verb
			}
		}
		for _, state := range []string{"an", "aus", "offen", "zu"} { // "anlassen"
			if w.stem == state+"lassen" {
				out = append(out, token{text: state, stem: state, apart: w.apart})
				w.stem, w.apart = "lassen", false
			}
		}
		verb := strings.HasSuffix(w.stem, "n")
		if (w.stem == "sie" || w.stem == "wir") && i > 0 && strings.HasSuffix(s.t[i-1].stem, "en") && s.means(i-1, "set", "on", "off", "open", "close", "dim", "brighten", "increase", "reduce", "raise", "lower", "stop", "show", "toggle", "pull", "draw", "shut", "flip", "give", "halve", "double") && !(i == len(s.t)-1) {
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

// hesitation is said before people correct themselves.
var hesitation = wordSet("actually uh um er erm hmm hm sorry aeh aehm oeh nein ne doch")

// other reports whether two cues tell the same thing differently: "forty" and "fifty", "on" and "off".
func (c cue) other(next cue) bool {
	return c.amount != nil && next.amount != nil || c.is("on") && next.is("off") || c.is("off") && next.is("on") || c.is("up") && next.is("down") || c.is("down") && next.is("up") || c.is("open") && next.is("close") || c.is("close") && next.is("open")
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
		if n := len(out); n > 0 && i+1 < len(in) && (c.is("no") || hesitation[s.t[c.at].stem] && c.n == 1) { // "forty, er, fifty"
			correcting = correcting || out[n-1].other(in[i+1])
		}
		if correcting && i+1 == len(in) && len(out) > 1 && slices.ContainsFunc(s.t[c.at:c.at+c.n], func(w token) bool { return w.stem == "meant" || w.stem == "meinte" }) { // "…, fifty I meant"
			continue
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

// Corrected reads text as what corrects before, an order that was just done: "no, forty", "make that thirty". False: none of its first
// words corrects anything, or it wants something of another kind.
func Corrected(before, text string, now time.Time) (Frame, bool) {
	t := cut(text)
	if !slices.ContainsFunc(t[:min(3, len(t))], func(w token) bool { return correcting[w.stem] }) && !(len(t) > 1 && t[0].stem == "make" && (t[1].stem == "it" || t[1].stem == "that")) {
		return Frame{}, false
	}
	if slices.ContainsFunc(t, func(w token) bool { return w.stem == "at" || w.stem == "um" }) { // "sorry, at three" is a time of day
		return Frame{}, false
	}
	was := Read(before, Names{}, now)
	f := Read(before+map[Lang]string{English: ", no, ", German: ", nein, "}[was.Lang]+text, Names{}, now)
	return f, f.Topic == Order && (f.Unclear != nil && f.Unclear.Why != Words || len(f.Do) == 1 && len(was.Do) == 1 && f.Do[0].Kind == was.Do[0].Kind)
}

// Stops reports whether somebody says that something is to stop, and not what: "stop", "hold it, that's enough".
func Stops(text string) bool {
	t := cut(text)
	return slices.ContainsFunc(t, func(w token) bool { return stopping[w.stem] }) && !slices.ContainsFunc(t, func(w token) bool { return !stopping[w.stem] && !aroundStop[w.stem] })
}

// stopping are words that stop what moves, and aroundStop what is said around them.
var (
	stopping   = wordSet("stop stopp stoppe stoppen halt hold freeze anhalten stehen stehenbleiben")
	aroundStop = wordSet("please bitte it that s is this the there here right now ok okay good fine perfect thank danke enough wait moment so far das ist reicht reichen genug gut passt hier jetzt sofort mal doch es warte bleib bleiben bleibt")
)

// correcting are words with which people correct themselves.
var correcting = wordSet("no nope actually rather instead sorry meant mean correction nein ne nee doch lieber eher meinte meine sondern quatsch")

// firstOf reports whether a word only says that something comes first, where something follows: "first the shades, then …".
func (s *sentence) firstOf(i int) bool {
	return slices.Contains([]string{"first", "firstly", "erst", "zuerst", "zunaechst", "erstmal"}, s.wordAt(i)) && (i == 0 || s.t[i].apart || s.wordAt(i-1) == "please" || s.wordAt(i-1) == "bitte" || s.f.Lang == German) &&
		slices.ContainsFunc(s.t[i+1:], func(w token) bool {
			return slices.Contains([]string{"then", "and", "afterward", "next", "dann", "danach", "und", "anschliessend"}, w.stem)
		})
}

// leaving are verbs of what stays as it is.
var leaving = wordSet("leave keep stay stays remain remains lass lasse lassen bleib bleibt bleiben")

// leftAlone writes "…, but leave the corridor on" as "… except the corridor", where that is another state than the one that the rest
// is brought to, or "as it is".
func (s *sentence) leftAlone(all []cue) []cue {
	all = s.leftFirst(all)
	for from := 1; from < len(all); from++ {
		joins := all[from].is("and", "except") && len(all[from].places) == 0
		if !joins && !all[from].apart {
			continue
		}
		end := from + 1
		for end < len(all) && !all[end].apart && !(all[end].is("and", "except") && (end+1 == len(all) || len(all[end+1].places) == 0)) {
			end++
		}
		places, state, ok := s.left(all[from:end])
		against := map[string]string{"on": "off", "off": "on", "open": "close", "close": "open", "up": "close", "down": "open"}[state]
		switch {
		case !ok:
			continue
		case len(places) == 0 && (state == "untouched" || !sameKind(all[:from], all[from:end]) && state != ""): // "and leave the blinds open"
		case len(places) > 0 && (state == "untouched" || (state == "on" || state == "off") && slices.ContainsFunc(all[:from], func(o cue) bool { return o.amount != nil || o.is("dim", "brighten") }) || slices.ContainsFunc(all[:from], func(o cue) bool {
			return o.is(against) || against == "close" && o.is("down", "lower") || against == "open" && o.is("up", "raise")
		})):
			places = append([]cue{{at: all[from].at, n: all[from].n, tags: []string{"except"}}}, places...)
		default:
			continue
		}
		all = slices.Concat(all[:from], places, all[end:])
	}
	return all
}

// leftFirst drops what is said to stay as it is in front of all: "leave the lights as they are, but open the shades".
func (s *sentence) leftFirst(all []cue) []cue {
	for end := 1; end < len(all); end++ {
		joins := all[end].is("and", "except")
		if !joins && !all[end].apart {
			continue
		}
		places, state, ok := s.left(all[:end])
		if joins {
			end++
		}
		rest := all[end:]
		switch single := !slices.ContainsFunc(rest[min(1, len(rest)):], func(c cue) bool { return c.is("and") || c.apart }); {
		case !ok || state != "untouched" || sameKind(all[:end], rest):
			return all
		case len(places) == 0:
			return rest
		case len(rest) > 0 && single: // "do not touch the lobby, but switch off the corridor"
			return slices.Concat(rest, []cue{{at: all[0].at, n: all[0].n, tags: []string{"except"}}}, places)
		}
		return all
	}
	return all
}

// leavesThere reports whether things are to be left where they are, which is no order to stop.
func (s *sentence) leavesThere() bool {
	return slices.ContainsFunc(s.t, func(t token) bool { return leaving[t.stem] }) && s.has0("where")
}

// sameKind reports whether two parts of a sentence are about the same kind of things.
func sameKind(a, b []cue) bool {
	about := func(part []cue, tag string) bool {
		return slices.ContainsFunc(part, func(c cue) bool { return c.is(tag) || tag == "light" && c.is("level", "everything") })
	}
	return about(a, "light") && about(b, "light") || about(a, "shade") && about(b, "shade")
}

// left are the places that a part of a sentence wants left as they are, and how; false if it wants something else.
func (s *sentence) left(part []cue) (places []cue, state string, ok bool) {
	things := false
	for _, o := range part {
		switch {
		case leaving[s.t[o.at].stem]:
			ok = true
		case len(o.places) > 0:
			o.apart = false
			places = append(places, o)
		case o.is("letbe"): // "do not touch the lights"
			state, ok = state+"untouched", true
		case o.is("untouched"), o.is("here") && s.leavesThere():
			state += "untouched"
		case o.is("on", "off", "open", "close", "up", "down"):
			state += o.tags[0]
		case s.t[o.at].text == "oben" || s.t[o.at].text == "unten":
			state += map[string]string{"oben": "up", "unten": "down"}[s.t[o.at].text]
		case o.is("light", "shade"):
			things = true
		case s.t[o.at].text == "ones" || s.t[o.at].stem == "seite" || s.t[o.at].stem == "side":
		case !o.is("it", "all", "own", "and", "except"):
			return nil, "", false
		}
		if s.f.Lang == German && ok && state != "untouched" && s.wordAt(o.at+o.n) == "so" && !s.means(o.at+o.n+1, "untouched") { // "lass das Licht so"
			state += "untouched"
		}
	}
	if alone := slices.Contains([]string{"but", "aber", "nur", "jedoch", "except"}, s.t[part[0].at].stem) || leaving[s.t[part[0].at].stem]; alone && state == "" && len(places) > 0 { // "but leave the west ones"
		state = "untouched"
	}
	return places, state, ok && state != "" && (things || len(places) > 0)
}
