package understand

import (
	_ "embed" // the common names of places
	"slices"
	"strings"
)

//go:embed rooms.txt
var roomsText string

// called is what people call a place that the building's own names call otherwise.
type called struct {
	words []string
	own   []string // the words of the building's names
}

// rooms are the lines of common names, each a list of phrases; germanRooms are the German words of them.
var rooms, germanRooms = readRooms(roomsText)

func readRooms(text string) (all [][][]string, inGerman map[string]bool) {
	inGerman = map[string]bool{}
	for line := range strings.Lines(text) {
		en, de, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		var phrases [][]string
		for i, list := range []string{en, de} {
			for phrase := range strings.SplitSeq(list, ",") {
				for _, form := range forms(strings.TrimSpace(phrase)) {
					words := stems(form)
					phrases = append(phrases, words)
					if i == 1 && len(words) == 1 {
						inGerman[words[0]] = true
					}
				}
			}
		}
		all = append(all, phrases)
	}
	return all, inGerman
}

// calledIn finds what else the places of a building are called, longest first. Where the building's names have two words of the same
// meaning it is not known which one is meant, so that neither is.
func calledIn(known map[string]bool) map[string][]called {
	all := map[string][]called{}
	for _, phrases := range rooms {
		var own [][]string
		for _, p := range phrases {
			if !slices.ContainsFunc(p, func(w string) bool { return !known[w] }) && !slices.ContainsFunc(own, func(o []string) bool { return slices.Equal(o, p) }) {
				own = append(own, p)
			}
		}
		if len(own) != 1 {
			continue
		}
		for _, p := range phrases {
			if !slices.Equal(p, own[0]) && !(len(p) == 1 && lexicons[English].single[p[0]]) {
				all[p[0]] = append(all[p[0]], called{p, own[0]})
			}
		}
	}
	for first, list := range all { // "Empfang" may be the lobby or the reception
		all[first] = slices.DeleteFunc(list, func(c called) bool {
			return slices.ContainsFunc(list, func(o called) bool { return slices.Equal(o.words, c.words) && !slices.Equal(o.own, c.own) })
		})
	}
	for _, list := range all {
		slices.SortStableFunc(list, func(a, b called) int { return len(b.words) - len(a.words) })
	}
	return all
}

// rename writes what places are commonly called as the building calls them: "Kantine" as "canteen".
func (n Names) rename(t []token) []token {
	out := make([]token, 0, len(t))
	for i := 0; i < len(t); {
		took := 0
		for _, c := range n.called[t[i].stem] {
			if took = phraseAt(t, i, c.words); took == 0 {
				continue
			}
			one := t[i]
			for _, more := range t[i+1 : i+took] {
				one.text += " " + more.text
			}
			for _, w := range c.own {
				one.stem = w
				out = append(out, one)
				one.text, one.apart = "", false // it was said once
			}
			break
		}
		if took == 0 {
			out = append(out, t[i])
			took = 1
		}
		i += took
	}
	return out
}

// joiningLetters stand between the words of a German compound: "Bühne-n-licht", "Sitzung-s-zimmer".
var joiningLetters = []string{"", "n", "s", "en", "es"}

// partNouns are the tags of nouns that are said in one word with a place.
var partNouns = []string{"light", "shade", "meter", "floor", "zone", "energy", "power", "level", "fault", "cost", "device"}

// leastPart is how long a part of a compound is at least, in bytes.
const leastPart = 4

// uncompound cuts "Turmkorridor" and "Bühnenlicht" into words, where the first is the name of a place and the other one as well, or a
// noun that is known. Nothing else is cut: "Turmuhr" stays what nobody knows.
func (n Names) uncompound(t []token) []token {
	if len(n.all) == 0 {
		return t
	}
	place := func(w string) bool { return len(w) >= leastPart && (n.known[w] && own(w) || len(n.called[w]) > 0) }
	out := make([]token, 0, len(t))
	for _, w := range t {
		if first, second := n.cutOne(w, place); first != "" {
			a, b := w, w
			a.stem, b.stem, b.text, b.apart = first, second, "", false
			out = append(out, a, b)
			continue
		}
		out = append(out, w)
	}
	return out
}

func (n Names) cutOne(w token, place func(string) bool) (first, second string) {
	s := w.stem
	if len(s) < 2*leastPart || n.known[s] || len(n.called[s]) > 0 || germanRooms[s] || timeWords[s] || lexicons[English].words[s] || lexicons[German].words[s] || notSlips[s] {
		return "", ""
	}
	for at := len(s) - leastPart; at >= leastPart; at-- {
		second := stem(s[at:])
		if !place(second) && !slices.ContainsFunc([]Lang{English, German}, func(l Lang) bool { return lexicons[l].noun(second) }) {
			continue
		}
		for _, joint := range joiningLetters {
			if first, ok := strings.CutSuffix(s[:at], joint); ok && place(first) {
				return first, second
			}
		}
	}
	return "", ""
}

// noun reports whether a word alone is one of the nouns that places are said together with.
func (l *lexicon) noun(w string) bool {
	return slices.ContainsFunc(l.byFirst[w], func(e entry) bool {
		return len(e.words) == 1 && slices.ContainsFunc(e.tags, func(tag string) bool { return slices.Contains(partNouns, tag) })
	})
}

// nearMost is how many names are offered for a word that is none.
const nearMost = 3

// Near are those of a list of names that a word may have been meant for, the first ones of equals: what is spelled alike, begins alike, or
// has the same meaning where several do.
func Near(said string, names []string) []string {
	var near []string
	for _, name := range names {
		if len(near) < nearMost && slices.ContainsFunc(stems(name), func(w string) bool {
			return own(w) && slices.ContainsFunc(stems(said), func(s string) bool { return alikeWords(s, w) })
		}) {
			near = append(near, name)
		}
	}
	return near
}

// alikeWords reports whether two words are spelled alike or have the same meaning.
func alikeWords(a, b string) bool {
	if len(a) >= 4 && len(b) >= 4 && a[0] == b[0] && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a) || distance([]rune(a), []rune(b)) <= min(len(a), len(b))/4) { // nobody misspells "ground" as "round"
		return true
	}
	return slices.ContainsFunc(rooms, func(phrases [][]string) bool {
		has := func(w string) bool {
			return slices.ContainsFunc(phrases, func(p []string) bool { return len(p) == 1 && p[0] == w })
		}
		return has(a) && has(b)
	})
}
