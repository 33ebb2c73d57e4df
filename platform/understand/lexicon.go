package understand

import (
	_ "embed" // the lexicons
	"slices"
	"strings"
)

//go:embed en.txt
var english string

//go:embed de.txt
var german string

//go:embed talk_en.txt
var talkEnglish string

//go:embed talk_de.txt
var talkGerman string

// entry is one phrase with all its tags.
type entry struct {
	words []string
	tags  []string
}

// lexicon is what the words of a language mean.
type lexicon struct {
	byFirst map[string][]entry // longest first
	words   map[string]bool    // every word of every phrase
	single  map[string]bool    // phrases of one word
	asking  map[string]bool    // those of them that a question is made of
	times   map[string]string  // words of times, in those that the reader of times knows
	// patterns are what is said around a question, by the words that each may begin with.
	patterns map[string][]*pattern
	apart    map[string][]string // what may stand apart from a verb: "an" of "machte"
}

var lexicons = map[Lang]*lexicon{English: readLexicon(English, english+absentIn(English), talkEnglish), German: readLexicon(German, german+absentIn(German), talkGerman)}

// kindTags are the nouns for kinds of things.
var kindTags = []string{"light", "shade", "zone", "floor", "device", "meter", "peripheral", "bus", "controller"}

func readLexicon(lang Lang, text, talk string) *lexicon {
	l := &lexicon{map[string][]entry{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]string{}, map[string][]*pattern{}, map[string][]string{}}
	tags := map[string][]string{}
	var phrases [][]string
	for line := range strings.Lines(text) {
		if tag, list, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && strings.HasPrefix(tag, "zeit ") {
			for phrase := range strings.SplitSeq(list, ",") {
				for _, form := range forms(strings.TrimSpace(phrase)) {
					w := stems(form)[0]
					l.times[w], l.words[w] = strings.TrimPrefix(tag, "zeit "), true
				}
			}
		}
	}
	for line := range strings.Lines(text) {
		tag, list, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || strings.HasPrefix(line, "#") || strings.HasPrefix(tag, "zeit ") {
			continue
		}
		if strings.HasPrefix(tag, comesApart) {
			tag, list, _ = strings.Cut(l.readApart(tag, list, lang), ": ")
		}
		for phrase := range strings.SplitSeq(list, ",") {
			for _, form := range forms(strings.TrimSpace(phrase)) {
				words := stems(form)
				if len(words) == 0 {
					continue
				}
				for i, w := range words {
					if time, ok := l.times[w]; ok && len(words) > 1 { // as the sentence is when it is looked up
						l.words[w], words[i] = true, time
					}
				}
				key := strings.Join(words, " ")
				if slices.Contains(kindTags, tag) {
					said := words
					if slices.Contains([]string{"light", "shade", "zone"}, tag) {
						said = words[len(words)-1:] // "wall light" is a kind, and a wall is somewhere
					}
					for _, w := range said {
						l.asking[w] = true
					}
				}
				if tags[key] == nil {
					phrases = append(phrases, words)
				}
				if !slices.Contains(tags[key], tag) {
					tags[key] = append(tags[key], tag)
				}
			}
		}
	}
	slices.SortStableFunc(phrases, func(a, b []string) int { return len(b) - len(a) })
	for _, words := range phrases {
		l.byFirst[words[0]] = append(l.byFirst[words[0]], entry{words, tags[strings.Join(words, " ")]})
		for _, w := range words {
			l.words[w] = true
		}
		if len(words) == 1 && slices.ContainsFunc(tags[words[0]], func(t string) bool { return t[0] == '!' || meaning(t) && absentKind(t) == "" }) {
			l.single[words[0]] = true
			if slices.ContainsFunc(tags[words[0]], func(t string) bool { return t[0] != '!' && t[0] != '~' && absentKind(t) == "" }) {
				l.asking[words[0]] = true
			}
		}
	}
	l.readPatterns(talk)
	return l
}

// forms are what "licht/er/ern" stands for.
func forms(phrase string) []string {
	base, endings, ok := strings.Cut(phrase, "/")
	if !ok || base == "" {
		return []string{phrase}
	}
	all := []string{base}
	for ending := range strings.SplitSeq(endings, "/") {
		all = append(all, base+ending)
	}
	return all
}

// language is the one that more words of a sentence belong to; English if neither.
func language(t []token, names map[string]bool) Lang {
	en, de := tell(t, names)
	if de > en || de == en && de > 0 && german1[firstStem(t)] {
		return German
	}
	return English
}

// LanguageOf is the language that words are in, whatever they name; preferred where they do not tell.
func LanguageOf(text string, preferred Lang) Lang {
	t := cut(text)
	if en, de := tell(t, nil); en == 0 && de == 0 && preferred != "" {
		return preferred
	}
	return language(t, nil)
}

// tell counts the words that only one of the languages has.
func tell(t []token, names map[string]bool) (en, de int) {
	for _, w := range t {
		if names[w.stem] || digit(w.stem[0]) {
			continue
		}
		inEnglish := lexicons[English].words[w.stem] || timeWords[w.stem]
		inGerman := lexicons[German].words[w.stem] || germanRooms[w.stem] || !inEnglish && germanCompound(w)
		switch {
		case inEnglish && !inGerman:
			en++
		case inGerman && !inEnglish:
			de++
		}
	}
	return en, de
}

// germanCompound reports whether a word nobody knows is a German one by its letters or its last part: "Kinomodus", "Stimmungslicht".
func germanCompound(w token) bool {
	if strings.ContainsAny(w.text, "äöüß") {
		return true
	}
	return slices.ContainsFunc([]string{"licht", "lampe", "modus", "szene", "stimmung", "leuchte", "bleiben"}, func(part string) bool { return len(w.stem) > len(part) && strings.HasSuffix(w.stem, part) })
}

func firstStem(t []token) string {
	if len(t) == 0 {
		return ""
	}
	return t[0].stem
}

// german1 begin German sentences where nothing else tells.
var german1 = wordSet("ist sind welche wie wo wann wer was")

// timeWords are known to the reader of times only.
var timeWords = wordSet("yesterday today tomorrow tonight overnight currently since between until till ago fortnight midday nighttime " +
	"monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october " +
	"november december minute hour day week month quarter year weekend night morning afternoon evening noon midnight previous lunchtime recently lately")

// translate writes German words for times as the reader of times knows them.
func translate(t []token) []token {
	times := lexicons[German].times
	out := make([]token, 0, len(t))
	for i := 0; i < len(t); i++ {
		w := t[i]
		put := func(stem string) {
			w.stem = stem
			if _, same := weekdays[stem]; same || stem == "weekend" {
				w.text = stem
			}
			out = append(out, w)
		}
		switch {
		case w.used:
			out = append(out, w)
		case w.stem == "heute" && i+1 < len(t) && t[i+1].stem == "nacht":
			if slices.ContainsFunc(t, func(o token) bool { return been[o.stem] }) { // of what has been it is the night that is over
				out = append(out, token{text: w.text, stem: "last", apart: w.apart}, token{text: t[i+1].text, stem: "night"})
			} else {
				out = append(out, token{text: w.text + " " + t[i+1].text, stem: "tonight", apart: w.apart})
			}
			i++
		case w.stem == "heute" && i+1 < len(t) && (t[i+1].stem == "morgen" || slices.Contains([]string{"morning", "noon", "afternoon", "evening"}, times[t[i+1].stem])):
			put("this")
		case w.stem == "viertelstunde" || w.stem == "halbstunde":
			put(map[string]string{"viertelstunde": "quarter", "halbstunde": "half"}[w.stem])
			out = append(out, token{stem: "hour"})
		case w.stem == "vorgestern":
			for _, s := range []string{"day", "before", "yesterday"} {
				out = append(out, token{text: w.text, stem: s})
				w.text = "" // it was said once
			}
		case w.stem == "morgen" && i > 0 && (t[i-1].stem == "heute" || t[i-1].stem == "gestern" || weekdays[times[t[i-1].stem]] > 0):
			put("morning")
		case w.stem == "vor" && i+2 < len(t) && (digit(t[i+1].stem[0]) || t[i+1].stem == "einem" || t[i+1].stem == "einer") && times[t[i+2].stem] != "":
			n := t[i+1]
			if !digit(n.stem[0]) {
				n.stem = "1"
			}
			unit := t[i+2]
			unit.stem = times[unit.stem]
			out = append(out, n, unit, token{text: w.text, stem: "ago"})
			i += 2
		case (w.stem == "im" || w.stem == "in" || w.stem == "am") && i+1 < len(t) && times[t[i+1].stem] != "" && !slices.Contains(units, times[t[i+1].stem]):
			out = append(out, token{text: w.text, stem: "in"})
		case w.stem == "von" && i+2 < len(t) && (digit(t[i+1].stem[0]) || times[t[i+1].stem] != ""):
			put("from")
		case w.stem == "und" && slices.ContainsFunc(out, func(o token) bool { return o.stem == "between" }):
			put("and")
		case (w.stem == "nach" || w.stem == "ab") && i+2 < len(t) && times[t[i+2].stem] == "oclock" && digit(t[i+1].stem[0]):
			if w.stem == "nach" && slices.ContainsFunc(t, func(o token) bool {
				_, weekday := weekdays[times[o.stem]]
				return weekday || o.stem == "gestern" || o.stem == "vorgestern" || months[times[o.stem]] > 0
			}) {
				put("after") // on that day, and not up to now
			} else {
				put("since")
			}
		case w.stem == "ab" && i+1 < len(t) && (times[t[i+1].stem] == "yesterday" || weekdays[times[t[i+1].stem]] > 0):
			put("since")
		case w.stem == "um" && i+2 < len(t) && times[t[i+2].stem] == "oclock":
			put("at")
		case times[w.stem] != "":
			put(times[w.stem])
		default:
			out = append(out, w)
		}
	}
	return out
}

// been are German verbs of what has been.
var been = wordSet("hat haben hatte hatten war waren wurde wurden brannte brannten")

func wordSet(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[stem(w)] = true
	}
	return m
}
