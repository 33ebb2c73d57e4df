package understand

import (
	"slices"
	"strings"
)

// name is a name of the building, cut like a sentence.
type name struct {
	place Place
	words []string
	// vague are words that people say of other things as often, and that other places of the kind have as well.
	vague map[string]bool
	own   int  // how many of the words are its own
	loose bool // one of them is, and no number
}

// common words name a thing that people do as often as a place.
var common = wordSet("meeting workshop training class conference call video lecture")

// Names are those of one building, ready to be looked for.
type Names struct {
	all   []name
	known map[string]bool  // every word of every name
	with  map[string][]int // the names that have a word
	// called is what people call places otherwise, by the first word of it.
	called map[string][]called
}

// maxNameWords bounds what one name can cost; what is longer cannot be said anyway.
const maxNameWords = 12

// alone are words that name nothing by themselves: "in the whole house" is not the "Stage house lights".
var alone = wordSet("house home place spot haus gebaeude")

// NewNames prepares names. What has no letter or digit is left out.
func NewNames(names []Name) Names {
	n := Names{known: map[string]bool{}, with: map[string][]int{}}
	for _, one := range names {
		words := slices.DeleteFunc(stems(one.Text), func(w string) bool { return w == "the" || w == "of" })
		if len(words) == 0 || len(words) > maxNameWords {
			continue
		}
		n.all = append(n.all, name{place: one.Place, words: words, own: countOwn(words), loose: slices.ContainsFunc(words, func(w string) bool { return own(w) && !isDigits(w) })})
		for i, w := range words {
			n.known[w] = true
			if slices.ContainsFunc(words, isDigits) {
				words[i] = inNames(w)
			}
			if w = words[i]; slices.Index(words, w) == i {
				n.with[w] = append(n.with[w], len(n.all)-1)
			}
		}
	}
	n.called = calledIn(n.known)
	for i := range n.all {
		one := &n.all[i]
		one.vague = map[string]bool{}
		for _, w := range one.words {
			one.vague[w] = common[w] && slices.ContainsFunc(n.with[w], func(k int) bool {
				return n.all[k].place != one.place && n.all[k].place.Kind == one.place.Kind
			})
		}
	}
	return n
}

// generic words say what kind of thing it is, not which one.
var generic = wordSet("work light lamp luminaire colour color shade blind meter room floor zone area building device node sensor controller level " +
	"power energy lighting space cluster group fixture number main raum etage licht lampe jalousie zaehler")

// rank of kinds where the same words fit several: people speak of places before they speak of things.
var rank = map[Kind]int{Zone: 5, Floor: 6, Meter: 3, Device: 2, Shade: 2, Bus: 1}

// shadeNouns are the words for shades, which names of shades have one of: "Rollo 3 in der Kantine" is "Canteen shade 3".
var shadeNouns = func() map[string]bool {
	words := map[string]bool{}
	for _, l := range lexicons {
		for first := range l.byFirst {
			words[first] = words[first] || countable(first) == Shade
		}
	}
	return words
}()

// inNames is a word as names of devices have it.
func inNames(w string) string {
	if shadeNouns[w] {
		return "shade"
	}
	return w
}

// in looks for the whole name within a window of words, in any order, then for a part of it.
func (n *name) in(t []token) (match, bool) {
	for at := range t {
		if width := n.window(t, at); width > 0 {
			return match{name: n, at: at, n: width, covered: len(n.words), own: n.own, full: true}, true
		}
	}
	var best match
	for at := range t {
		width, told := n.run(t, at)
		if told && width > best.n {
			best = match{name: n, at: at, n: width}
			for _, w := range t[at : at+width] {
				if n.has(n.words, w.stem) >= 0 {
					best.covered++
				}
				if own(w.stem) {
					best.own++
				}
			}
		}
	}
	return best, best.n > 0
}

// own words tell one name from others.
func own(w string) bool {
	return !generic[w] && !lexicons[English].asking[w] && !lexicons[German].asking[w]
}

func countOwn(words []string) int {
	n := 0
	for _, w := range words {
		if own(w) {
			n++
		}
	}
	return n
}

// has is the place of a word among words of the name. Of names with a number, what they name is told by any word for it.
func (n *name) has(words []string, w string) int {
	if i := slices.Index(words, w); i >= 0 || !slices.ContainsFunc(n.words, isDigits) {
		return i
	}
	return slices.Index(words, inNames(w))
}

// window is the width of the smallest stretch from at on that holds all words of the name and else only joints such as
// "of the"; names without a word of their own must be said in order and without joints.
func (n *name) window(t []token, at int) int {
	if n.has(n.words, t[at].stem) < 0 { // most names, at most words
		return 0
	}
	left := slices.Clone(n.words)
	spare := 0
	for i := at; i < len(t) && len(left) > 0; i++ {
		if t[i].used || counted(t, i) {
			return 0
		}
		k := n.has(left, t[i].stem)
		switch {
		case k >= 0 && i > at && isDigits(t[i].stem) && joints[t[i-1].stem]: // "the lobby on 1 November" is not "Lobby 1"
			return 0
		case k == 0, k > 0 && n.loose:
			left = slices.Delete(left, k, k+1)
		case n.loose && i > at && (joints[t[i].stem] || n.place.Kind == Device && countable(t[i].stem) == Light) && spare < 3: // "lobby lamp 6"
			spare++
		default:
			return 0
		}
		if len(left) == 0 {
			return i + 1 - at
		}
	}
	return 0
}

// counting are words before a number of things.
var counting = wordSet("all alle the these those our die der den unsere")

// counted reports whether a number is an amount, and no part of a name: "lobby shades one third", "all six lobby lamps".
func counted(t []token, i int) bool {
	if !digit(t[i].stem[0]) || i+1 >= len(t) {
		return false
	}
	if i > 0 && counting[t[i-1].stem] {
		return true
	}
	next := t[i+1].stem
	if kind := countable(next); (i == 0 || !t[i-1].used) && (kind == Light || kind == Shade) && (strings.HasSuffix(t[i+1].text, "s") || strings.HasSuffix(t[i+1].text, "en")) {
		return true // "which two lamps in the office"
	}
	return quantified(t, i) || percentWord(next) || slices.Contains([]string{"third", "quarter", "drittel", "viertel", "w", "kw", "minute", "k", "kelvin", "oclock", "am", "pm"}, next)
}

// joinedMost is how many words a name has at most that joints are looked for in: longer ones are lists of what a meter covers.
const joinedMost = 4

var joints = wordSet("of the in on at a for im am auf der dem")

// joining is how many joints stand at i before another word, 0 if none does.
func joining(t []token, i int) int {
	n := 0
	for n < 3 && i+n+1 < len(t) && joints[t[i+n].stem] && !t[i+n].used && !t[i+n+1].used && !t[i+n+1].apart {
		n++
	}
	return n
}

// run is the width of the stretch at at whose words are all of the name, in any order and perhaps with joints between them, and whether
// one of them is the name's own.
func (n *name) run(t []token, at int) (width int, told bool) {
	if n.has(n.words, t[at].stem) < 0 {
		return 0, false
	}
	left := slices.Clone(n.words)
	for i := at; i < len(t) && !t[i].used && !counted(t, i) && (i == at || !t[i].apart); i++ {
		k := n.has(left, t[i].stem)
		if k < 0 {
			if i += joining(t, i); len(n.words) > joinedMost || n.has(left, t[i].stem) < 0 || isDigits(t[i].stem) || !told {
				break
			}
			k = n.has(left, t[i].stem) // "the office in the north"
		}
		left = slices.Delete(left, k, k+1)
		width = i + 1 - at
		if w := t[i].stem; own(w) && !isDigits(w) {
			told = true
		}
	}
	if width == 0 || width == 1 && (n.vague[t[at].stem] || alone[t[at].stem]) {
		return width, false
	}
	return width, told
}

func percentWord(w string) bool {
	return w == "percent" || w == "watt" || w == "kwh" || w == "day" || w == "hour"
}

func isDigits(w string) bool { return strings.Trim(w, "0123456789") == "" }
