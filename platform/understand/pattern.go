package understand

import (
	"maps"
	"slices"
	"strings"
)

// What is said around a question comes in endless wordings of few constructions: who wants to know, may you tell, thanks. So it is read
// by patterns over classes of words, which talk_en.txt and talk_de.txt hold, and not by a list of sentences. A pattern is as
//
//	lead: <asker> <adverb>* <wish> (to) <learn>
//
// with "<name>" one phrase of a class, "a|b" one of some words, "(x)" one or none, "x*" any number up to [mostRepeated]; "," stands where a
// mark, the beginning or the end has to be, and "~" where a word follows that a told question begins with.

// mostRepeated is how often "x*" may stand.
const mostRepeated = 4

// slot is one place of a pattern.
type slot struct {
	words   []string // one of these
	classes []class  // or a phrase of one of these
	kind    slotKind
	most    int // how often at most
	least   int
}

// class is a list of phrases, by the words that each may begin with.
type class map[string][][]slot

// slotKind is what a place of a pattern is.
type slotKind int

const (
	spoken   slotKind = iota
	marked            // "," takes no word
	embedded          // "~" takes no word
)

// pattern is a phrase with classes in it, and what it is.
type pattern struct {
	tag   string
	slots []slot
}

// readPatterns adds the classes and patterns of a text to a lexicon. A class stands before what it is used in.
func (l *lexicon) readPatterns(text string) {
	classes := map[string]class{}
	for line := range strings.Lines(text) {
		tag, list, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		if strings.HasPrefix(tag, "<") {
			c := class{}
			for phrase := range strings.SplitSeq(list, ",") {
				slots := l.slots(phrase, classes)
				for _, first := range firsts(slots) {
					c[first] = append(c[first], slots)
				}
			}
			classes[tag] = c
			continue
		}
		for phrase := range strings.SplitSeq(list, ";") {
			p := &pattern{tag, l.slots(phrase, classes)}
			for _, first := range firsts(p.slots) {
				l.patterns[first] = append(l.patterns[first], p)
			}
		}
	}
}

// slots reads the places of a phrase.
func (l *lexicon) slots(phrase string, classes map[string]class) []slot {
	var all []slot
	for field := range strings.FieldsSeq(phrase) {
		all = append(all, l.slot(field, classes))
	}
	return all
}

// slot reads one place of a pattern.
func (l *lexicon) slot(field string, classes map[string]class) slot {
	p := slot{most: 1, least: 1}
	switch field {
	case ",":
		p.kind = marked
		return p
	case "~":
		p.kind = embedded
		return p
	}
	if rest, ok := strings.CutSuffix(field, "*"); ok {
		field, p.most, p.least = rest, mostRepeated, 0
	}
	if strings.HasPrefix(field, "(") {
		field, p.least = strings.Trim(field, "()"), 0
	}
	for w := range strings.SplitSeq(field, "|") {
		switch c := classes[w]; {
		case c != nil:
			p.classes = append(p.classes, c)
		case w == "" || strings.ContainsAny(w, "<>()*,~"):
			panic("no class " + w)
		default:
			p.words = append(p.words, l.word(w))
		}
	}
	return p
}

// word is how a sentence has a word when patterns are looked for.
func (l *lexicon) word(w string) string {
	words := []string{stem(w)}
	if strings.ContainsAny(w, "'-0123456789") || numeral(w) { // what is left needs no cutting, which takes most of the start
		words = stems(w)
	}
	if len(words) != 1 {
		panic("not one word in a pattern: " + w)
	}
	l.words[words[0]] = true
	if time, ok := l.times[words[0]]; ok {
		l.words[time] = true
		return time
	}
	return words[0]
}

// firsts are the words that a phrase may begin with.
func firsts(slots []slot) []string {
	var all []string
	for _, one := range slots {
		all = append(all, one.words...)
		for _, c := range one.classes {
			all = slices.AppendSeq(all, maps.Keys(c))
		}
		if one.least > 0 && one.kind == spoken {
			break
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// fit tells every place behind words from i on that some slots fit.
func fit(t []token, i int, slots []slot, end func(int)) {
	if len(slots) == 0 {
		end(i)
		return
	}
	p, rest := slots[0], slots[1:]
	switch {
	case p.kind == marked:
		if i == 0 || i >= len(t) || t[i].apart {
			fit(t, i, rest, end)
		}
		return
	case p.kind == embedded:
		if i < len(t) && embedding[t[i].stem] {
			fit(t, i, rest, end)
		}
		return
	}
	p.repeat(t, i, p.most, func(i, times int) {
		if times >= p.least {
			fit(t, i, rest, end)
		}
	})
}

// repeat tells every place behind words from i on that a slot fits, up to most times, and how often it did.
func (p slot) repeat(t []token, i, most int, end func(i, times int)) {
	end(i, 0)
	if most == 0 || i >= len(t) || t[i].used {
		return
	}
	next := func(k int) {
		if k > i {
			p.repeat(t, k, most-1, func(e, times int) { end(e, times+1) })
		}
	}
	if slices.Contains(p.words, t[i].stem) {
		next(i + 1)
	}
	for _, c := range p.classes {
		for _, phrase := range c[t[i].stem] {
			fit(t, i, phrase, next)
		}
	}
}

// at is behind the longest stretch of words from i on that the slots fit; i where they do not.
func at(t []token, i int, slots []slot) int {
	best := i
	fit(t, i, slots, func(end int) { best = max(best, end) })
	return best
}

// patternAt is the number of words of the longest pattern at i with a tag, 0 without one.
func (l *lexicon) patternAt(t []token, i int, tag string) int {
	end := i
	for _, p := range l.patterns[t[i].stem] {
		if p.tag == tag {
			end = max(end, at(t, i, p.slots))
		}
	}
	return end - i
}
