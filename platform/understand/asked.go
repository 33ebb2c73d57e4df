package understand

import "slices"

// questioned reports whether a sentence is put as a question, and not as a polite order.
func (s *sentence) questioned() bool {
	i := s.reasonAt(0)
	if i == len(s.t) {
		i = 0
	}
	for i < len(s.t) && slices.Contains([]string{"hey", "hi", "hello", "ok", "okay", "please", "so", "and", "um", "well", "then", "webex", "now", "bitte", "hallo", "also", "thanks"}, s.t[i].stem) {
		i++
	}
	w, next := s.wordAt(i), s.wordAt(i+1)
	if begunAt[w] && begunWith[next] { // "auf wie viel Prozent"
		return true
	}
	if (w == "how" || w == "what") && next == "about" || w == "wie" && next == "waere" {
		return false
	}
	if k := slices.IndexFunc(s.t, func(w token) bool { return w.stem == "how" || w.stem == "what" }); k > 0 && s.wordAt(k-1) == "to" { // "back to how it was"
		return false
	}
	if slices.Contains([]string{"exactly", "precisely", "genau"}, next) {
		next = s.wordAt(i + 2)
	}
	if w == "when" && slices.Contains([]string{"do", "does", "did", "will", "is", "are", "was", "were"}, next) && !slices.Contains([]string{"you", "we", "i"}, s.wordAt(i+2)) {
		return true
	}
	if s.has0("which", "what", "who", "why", "whose", "how", "welche", "welcher", "welches", "welchem", "welchen", "warum", "wieso", "wer") || s.has0("wann", "when") && (w == "since" || w == "seit") {
		return true
	}
	polite := slices.Contains([]string{"you", "we", "i", "someone", "somebody", "anyone", "anybody", "one", "please", "du", "sie", "ihr", "wir", "ich", "man", "jemand", "bitte", "mal", "mir", "uns", "es"}, next)
	if s.asks && (w == "can" && next == "the" || w == "kann" && next == "man" || (w == "kann" || w == "koennen") && (next == "das" || next == "die")) && !s.has0("please", "now", "bitte", "mal", "jetzt", "vielleicht", "etwas", "up", "to", "at", "auf") { // whether it is possible
		return true
	}
	switch w {
	case "can", "could", "would", "will", "may", "might", "kannst", "kann", "koennte", "koenntest", "koennen", "koennten", "wuerdest", "wuerden", "wuerde", "waeren", "waere", "waerst", "duerfte", "duerften":
		if (next == "the" || next == "those") && (s.has0("be") || s.has0("go") || s.has0("come")) && slices.Contains([]string{"be", "go", "come"}, s.behindThing(i+2)) && (w != "can" || !slices.ContainsFunc(s.t, func(w token) bool { return w.name }) || slices.ContainsFunc(s.t, func(w token) bool { return digit(w.stem[0]) && !w.used })) { // "could the lights be at 45 percent"
			return false
		}
		if s.f.Lang == German && slices.Contains([]string{"das", "die", "der"}, next) && s.passive() { // "könnte das Licht ausgemacht werden"
			return false
		}
		if next == "do" && s.wordAt(i+2) == "with" { // "could do with more light"
			return false
		}
		if next == "it" && s.has0("possible", "trouble", "ok", "okay", "much", "problem") { // "would it be too much trouble to"
			return false
		}
		return !polite || slices.Contains([]string{"tell", "check", "explain", "mir", "control", "hear", "understand", "help", "report"}, s.wordAt(i+2))
	case "what", "which", "who", "whose", "how", "why", "when", "where", "is", "are", "was", "were", "do", "does", "did", "has", "had", "any", "welche", "welcher", "welches", "welchen", "wie", "wo", "wer", "warum", "wieso", "wann", "ist", "sind", "war",
		"should", "shall", "list", "tell", "compare", "report", "count", "name", "explain", "describe", "summarize", "summarise", "find", "check", "anything", "gibt", "hat", "brennt", "seit", "lassen", "laesst":
		if w == "ist" && next == "es" && s.wordAt(i+2) == "moeglich" || (w == "any" || s.wordAt(i+2) == "any") && s.has0("chance") || w == "do" && (next == "you" || next == "we") && slices.Contains([]string{"mind", "think", "suppose"}, s.wordAt(i+2)) && s.has0("mind", "could", "can") || w == "is" && next == "it" && s.wordAt(i+2) == "possible" || w == "do" && (next == "me" || next == "us") {
			return false
		}
		if w == "lassen" && !s.has0("sich") { // "lassen Sie die Rollos runter"
			return false
		}
		if (w == "when" || w == "do") && (next == "you" && s.wordAt(i+2) == "can" || next == "not" || next == "me" || next == "us" || next == "everyone") {
			return false
		}
		return w != "when" || s.asks || slices.Contains([]string{"was", "were", "did", "will", "do", "does", "has", "have"}, next) && !slices.Contains([]string{"you", "we", "i"}, s.wordAt(i+2))
	}
	return false
}

// begunAt are prepositions in front of a word that a question begins with, and begunWith such words.
var (
	begunAt   = wordSet("at to by in with auf zu um bei in mit")
	begunWith = wordSet("what which how wie wieviel welche welcher welchem welchen")
)

// behindThing is the word behind the thing at i, which may have several words.
func (s *sentence) behindThing(i int) string {
	for s.means(i, "light", "shade", "level", "all") || i < len(s.t) && (s.t[i].name || slices.Contains([]string{"in", "on", "at", "of", "the"}, s.t[i].stem)) {
		i++
	}
	return s.wordAt(i)
}

// passive reports whether a German sentence ends as "… ausgemacht werden".
func (s *sentence) passive() bool {
	n := len(s.t)
	return n > 2 && s.t[n-1].stem == "werden" && s.means(n-2, "on", "off", "open", "close", "dim", "raise", "lower", "set")
}

// infinitives end what somebody asks to be done: "kannst du die Jalousien schliessen?".
var infinitives = wordSet("schliessen oeffnen zumachen aufmachen zufahren auffahren zuziehen aufziehen")

// terse reports whether an order has no verb: "lobby lights off".
func (s *sentence) terse(all []cue) bool {
	return !slices.ContainsFunc(all, func(c cue) bool {
		w := s.t[c.at].stem
		return c.is("set", "flip", "give", "shut", "toggle", "dim", "brighten", "increase", "reduce", "raise", "lower", "pull", "draw", "stop", "show", "bringup", "max", "morelight", "lesslight", "dimmer", "brighter") ||
			c.is("open", "close") && (w == "open" || w == "close" || w == "oeffne" || w == "schliesse") && c.at < 3 || c.at == len(s.t)-1 && infinitives[w] && s.has0("kannst", "koennen", "koennt") || c.is("on", "off") && w != "on" && w != "off" && w != "out" && w != "an" && w != "aus"
	}) && !s.has0("please", "bitte", "mind", "chance", "would", "could", "wuerde", "wuerden", "koennte", "koennten", "koenntest", "waere", "waeren", "haette", "haetten", "gern", "gerne", "bitten", "duerfte", "geht", "ginge", "about", "moeglich")
}
