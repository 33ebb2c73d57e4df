package understand

import (
	"slices"
	"strings"
	"time"
)

// People say why they ask: "I'm about to mop the corridor, is the light on there?", "anything broken that I should report?". Such a
// message is cut into clauses. Where what is left of it is understood whole without them, and each of them only says why, it is read
// without; the place that is named in one of them is that of its "there". Words that nobody knows do no harm in a clause that says why.
// One that denies, compares, excludes, sets a condition, asks or orders says more than why, and the message is read whole or not at all.

// mostClauses bounds the work of cutting a message.
const mostClauses = 7

// clause is a stretch of a message that may say why somebody asks.
type clause struct {
	is     about
	within string // the place that it names, as it was said
}

// about is a set of what a clause says.
type about uint8

const (
	says  about = 1 << iota // why somebody asks, and nothing else
	mine                    // it is about whoever speaks
	asIs                    // where somebody is or what they are about to do, not what is over
	timed                   // it has a time
	thing                   // it may name a thing that is asked about
	many                    // it names several places
)

// set notes whether it does.
func (c *clause) set(a about, so bool) {
	if c.is &^= a; so {
		c.is |= a
	}
}

// clauses is a message while it is cut.
type clauses struct {
	names Names
	now   time.Time
	text  string
	t     []token
	lex   *lexicon
}

// withoutWhy is a message without the clauses that say why it is sent, and these clauses; empty: it has none, or is not understood
// without them either.
func withoutWhy(message string, names Names, now time.Time) (asked, why string) {
	c := &clauses{names: names, now: now, text: plainly(message)}
	c.t = cut(c.text)
	if len(c.t) == 0 {
		return "", ""
	}
	c.lex = lexicons[language(names.rename(names.uncompound(slices.Clone(c.t))), names.known)]
	starts := c.starts()
	n := len(starts)
	if n > mostClauses {
		return "", ""
	}
	for k := range c.t { // "I need for the report the meter readings"
		if end := c.occasion(k); end > 0 && k > 0 && end < len(c.t) && !c.t[end].apart {
			rest := c.text[:c.t[k].from] + c.text[c.t[end].from:]
			if f := Read(rest, names, now); f.Topic != Order && f.Topic != Nothing && f.Topic != Report && f.Unclear == nil {
				return rest, message[writtenTo(message, c.t[k].from):writtenTo(message, c.t[end-1].to)]
			}
		}
	}
	if n < 2 {
		return "", ""
	}
	at := func(i int) int {
		if i == n {
			return len(c.text)
		}
		return c.t[starts[i]].from
	}
	for width := n - 1; width >= 1; width-- {
		for i := 0; i+width <= n; i++ {
			before, main, after := c.text[:at(i)], c.text[at(i):at(i+width)], c.text[at(i+width):]
			if main = c.main(main, before, after); main != "" {
				before, after = message[:writtenTo(message, at(i))], message[writtenTo(message, at(i+width)):]
				return main, strings.Trim(strings.TrimSpace(before)+" … "+strings.TrimSpace(after), " …,;:.!?\n–—")
			}
		}
	}
	return "", ""
}

// writtenTo is where the text that [plainly] writes as its first n bytes ends in a message.
func writtenTo(message string, n int) int {
	for i := range message {
		if len(plainly(message[:i])) >= n {
			return i
		}
	}
	return len(message)
}

// starts are the words that clauses begin with.
func (c *clauses) starts() []int {
	starts := []int{0}
	for k := 1; k < len(c.t); k++ {
		if c.t[k].apart || c.phrase(c.t, k, "~because") > 0 || c.lastly(c.occasion(k)) || embedding[c.t[k].stem] && telling[c.t[k-1].stem] {
			starts = append(starts, k)
		}
	}
	return starts
}

// lastly reports whether a clause ends at a word.
func (c *clauses) lastly(end int) bool { return end > 0 && (end == len(c.t) || c.t[end].apart) }

// telling are verbs before a question that is told: "my boss wants to know how …".
var telling = wordSet("know ask asks asked asking wonder wondering check see tell wissen fragt fragen gefragt schauen sehen prüfen sagen")

// embedding are words that such a question begins with.
var embedding = wordSet("how what which who whether if where when why wie was welche welcher welches wer ob wo wann warum wieviel wieso weshalb weswegen woran wodurch womit wozu woher welchem welchen wem wen wessen whom whose")

// phrase is the length of the longest phrase with a tag at k, 0 without one.
func (c *clauses) phrase(t []token, k int, tag string) int {
	for _, e := range c.lex.byFirst[t[k].stem] {
		if n := phraseAt(t, k, e.words); n > 0 && slices.Contains(e.tags, tag) {
			return max(n, c.lex.patternAt(t, k, tag))
		}
	}
	return c.lex.patternAt(t, k, tag)
}

// occasion is behind "for the audience", "für den Bericht" where that begins at k: up to three words to one for an occasion, somebody who
// comes, or a paper. 0: it does not.
func (c *clauses) occasion(k int) int {
	if !slices.Contains([]string{"for", "fuer", "zum", "zur", "beim", "during", "before", "vor"}, c.t[k].stem) {
		return 0
	}
	for i := k + 1; i < min(k+5, len(c.t)) && !c.t[i].apart; i++ {
		if n := c.phrase(c.t, i, "~occasion"); n > 0 {
			return i + n
		}
	}
	return 0
}

// main is what is asked, if it is understood whole and what stands around it only says why; with the place that it has from there.
// Else it is empty.
func (c *clauses) main(main, before, after string) string {
	if last := strings.TrimSpace(main); last != "" && !strings.ContainsAny(last[len(last)-1:], ".!?;") && strings.HasSuffix(strings.TrimSpace(after), "?") {
		main, after = strings.TrimRight(last, ",")+"?", strings.TrimRight(strings.TrimSpace(after), "?") // it asks, whatever stands last
	}
	var around []clause
	for i, text := range []string{before, after} {
		if len(cut(text)) == 0 {
			continue
		}
		one := c.reason(text, i == 0)
		if one.is&says == 0 {
			return ""
		}
		around = append(around, one)
	}
	if w, rest, _ := strings.Cut(main, " "); w == "if" { // "the boss wants to know if …"
		main = "whether " + rest
	}
	m := &sentence{t: cut(main)}
	m.words(c.names)
	m.chunks = m.tag(meaning)
	within := ""
	for _, one := range around {
		if one.within != "" && within != "" {
			return ""
		}
		within += one.within
	}
	if len(m.t) == 0 || refers(m, within) {
		return ""
	}
	f, ok := c.whole(main)
	placed := main
	if within != "" && !f.placed() && !f.Is(Whole) {
		for _, placed = range placedIn(main, within, m.f.Lang) {
			if f, ok = c.whole(placed); ok && f.placed() {
				break
			}
		}
		ok = ok && f.placed()
	}
	if !ok {
		return ""
	}
	own := placed == main && f.placed()
	explicit := own || slices.ContainsFunc(m.t, func(t token) bool { return brightness[t.stem] }) || slices.ContainsFunc(m.chunks, func(k chunk) bool { return k.is(things...) })
	for _, one := range around {
		late := one.is&timed > 0 && (f.Topic == Order || !f.momentary())
		whose := f.Topic == Order && one.is&mine == 0 && one.within != "" || !explicit && (one.is&thing > 0 || one.is&mine == 0 && thereAt(m) < 0)
		elsewhere := one.within != "" && one.is&asIs == 0 && placed != main && thereAt(m) < 0 // "I have done the annex, what is still on?": it may be all but the annex
		if late || whose || elsewhere || one.is&many > 0 && !own {
			return ""
		}
	}
	return placed
}

// placed reports whether a question or an order names a place.
func (f Frame) placed() bool {
	return len(f.Places) > 0 || slices.ContainsFunc(f.Do, func(d Do) bool { return len(d.Places) > 0 })
}

// whole reads what may be asked, and reports whether it was understood by itself.
func (c *clauses) whole(main string) (Frame, bool) {
	f := Read(main, c.names, c.now)
	if f.Topic == Order && f.Unclear == nil {
		return f, true
	}
	if f.Topic == Nothing || f.Topic == Greeting || f.Topic == Confirm || f.Topic == Decline {
		return f, false
	}
	if f = f.Alone(); f.Unclear == nil {
		return f, f.Is(Asked)
	}
	return f, len(separate(main, f, c.names, c.now)) > 1
}

// momentary reports whether a frame is about this moment alone.
func (f Frame) momentary() bool {
	return (f.When == nil || f.When.Now) && f.Against == nil && !f.Is(Past) && !f.Is(Future) && f.Topic != Energy && f.Topic != Cost && f.Topic != Carbon && !slices.Contains([]Op{Since, Who, Why, Usual, Trend}, f.Op)
}

// things are the nouns that tell what is asked about.
var things = []string{"light", "shade", "meter", "energy", "power", "use", "fault", "device", "level", "controller", "bus", "kelvin", "hue", "temperature", "automation", "offline", "inventory"}

// refers reports whether a sentence has a pronoun that may stand for something said before it, other than the place there. "How bright is
// it" has none.
func refers(m *sentence, within string) bool {
	bright := slices.ContainsFunc(m.t, func(t token) bool { return brightness[t.stem] })
	for i, t := range m.t {
		switch {
		case referring[t.stem], t.stem == "one" && (t.text == "ones" || !m.has0("or", "oder")), (t.stem == "it" || t.stem == "es" && m.wordAt(i-1) != "gibt") && !bright:
			return true
		case t.stem == "its" && within == "":
			return true
		case t.stem == "that" && roomNoun[m.wordAt(i+1)] && within != "":
		case t.stem == "that" && (m.wordAt(i-1) == "is" || m.wordAt(i-1) == "does" || i == len(m.t)-1), t.stem == "sie" && (m.wordAt(i-1) == "sind" || m.wordAt(i-1) == "ist"), (t.stem == "die" || t.stem == "das" || t.stem == "der") && i == len(m.t)-1:
			return true
		}
	}
	return false
}

var (
	referring  = wordSet("they them those these he she him her his their another er ihn ihm diese dieser dieses diesen davon dessen deren letztere")
	brightness = wordSet("bright dark dim light lit brighter darker gloomy murky hell dunkel heller dunkler finster duester schummrig stockdunkel stockfinster zappenduster dimmed illuminated burning beleuchtet erleuchtet gedimmt brennt brennen leuchtet leuchten")
)

var (
	roomNoun = wordSet("room place space area hall zone raum zimmer saal bereich")
	thatRoom = map[string]bool{"that": true, "this": true, "the": true, "der": true, "dieser": true, "diesem": true, "dem": true, "das": true, "dieses": true}
)

// thereAt is where a word stands for the place that was spoken of, -1 without one.
func thereAt(m *sentence) int {
	return slices.IndexFunc(m.t, func(t token) bool {
		return t.stem == "there" || t.stem == "dort" || t.stem == "da" || t.stem == "here" || t.stem == "hier"
	})
}

// placedIn are the ways to write the place of another clause for "there", or into a sentence that has no such word.
func placedIn(main, within string, lang Lang) []string {
	in := map[Lang]string{English: "in the ", German: "in der "}[lang] + within
	t := cut(main)
	for k := len(t) - 1; k >= 0; k-- {
		w := t[k].text
		if k > 0 && roomNoun[t[k].stem] && thatRoom[t[k-1].text] { // "is that room lit", "ist der Raum dunkel"
			return []string{main[:t[k-1].from] + within + main[t[k].to:]}
		}
		if w == "its" { // "are all its blinds up"
			return []string{main[:t[k].from] + "the" + main[t[k].to:t[len(t)-1].to] + " " + in + main[t[len(t)-1].to:]}
		}
		if w != "there" && w != "here" && w != "dort" && w != "hier" && w != "da" || w == "there" && (k == 0 || slices.Contains([]string{"is", "are"}, t[k-1].text)) {
			continue
		}
		from, to := t[k].from, t[k].to
		if k+1 < len(t) && slices.Contains([]string{"oben", "unten", "drin", "drinnen", "drüben"}, t[k+1].text) {
			to = t[k+1].to
		} else if k > 0 && slices.Contains([]string{"up", "down", "in", "over", "out"}, t[k-1].text) && !slices.ContainsFunc(t, func(o token) bool {
			return countable(o.stem) == Shade && slices.Contains([]string{"up", "down"}, t[k-1].text)
		}) {
			from = t[k-1].from
		}
		return []string{main[:from] + in + main[to:]}
	}
	first, last := t[0].to, t[len(t)-1].to
	return []string{main[:last] + " " + in + main[last:], main[:first] + " " + in + main[first:]}
}
