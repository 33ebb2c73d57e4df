package understand

import (
	"slices"
	"strings"
)

// reasonAt is the number of words from i on that only tell why somebody wants it: "it is so dark in here", "so we can see the
// screen". All of them are words of reasons, one at least is what the reason is, and nothing in them could be done. What somebody
// sees or reads may be anything.
func (s *sentence) reasonAt(i int) int {
	is := func(k int, tag string) bool {
		return k < len(s.t) && (!s.t[k].used || slices.Contains([]string{"heute", "jetzt", "today", "now"}, s.t[k].text)) && s.means(k, tag)
	}
	if n := s.because(i); n > 0 {
		return n
	}
	if !is(i, "reason-first") || i > 0 && !s.t[i].apart && !s.reasonBegins(i) {
		return 0
	}
	k, told, seeing, verb := i, false, false, 0 // verb is behind the last one
	for k < len(s.t) {
		w := s.t[k].stem
		switch {
		case k > i && s.t[k].apart:
			return length(k-i, told)
		case told && verb > 0 && (i == 0 || s.t[i].apart) && s.opens(k, verb): // an order follows without a comma
			return k - i
		case is(k, "reason"):
			told, seeing = true, seeing || reading[w] || glaring[w]
		case w == "an" && strings.HasPrefix(s.wordAt(k-1), "fa"): // "wir fangen an"
		case glaring[w]:
			seeing = true
		case is(k, "reason-first"), is(k, "reasoning"):
		case w == "not" && (reading[s.wordAt(k+1)] || s.wordAt(k+1) == "need"), w == "nicht" && reading[s.wordAt(k+1)]:
		case is(k, "light") && s.complains(k), is(k, "shade") && s.complains(k):
		case seeing && !s.t[k].used && !digit(w[0]) && !s.orders(k):
		default:
			return 0
		}
		if k++; finite[w] {
			verb = k
		}
	}
	return length(k-i, told)
}

// because is the number of words from i on that say why, whatever is said in them: "because …" up to a comma or the end, "so that we …"
// to the end, "…, I have to …", and what a "so" or "therefore" with an order follows at the beginning. No word of them is of an order, a time or an "if".
func (s *sentence) because(i int) int {
	w, next := s.wordAt(i), s.wordAt(i+1)
	leads := slices.Contains([]string{"because", "weil", "damit"}, w) || w == "since" && subjects[next] || w == "da" && i == 0 || w == "so" && i > 0 && (subjects[next] || next == "that" || next == "the")
	tells := i > 0 && s.t[i].apart && slices.Contains([]string{"i", "we", "ich", "wir"}, w) && slices.Contains([]string{"must", "need", "have", "want", "muss", "muessen", "will", "wollen", "moechte", "moechten"}, next)
	tells = tells || i > 0 && s.t[i].apart && s.tale(i)
	leads = leads || tells
	if !leads && (!s.fillerTo(i) || !s.means(i, "reason-first")) {
		return 0
	}
	for k, verb := i+1, false; k < len(s.t); k++ {
		w := s.t[k]
		follows := therefore[w.stem] && k+1 < len(s.t) && (w.apart || s.orders(k+1))
		switch {
		case follows && (leads || verb), w.apart && leads, w.apart && verb && s.fillerTo(i) && s.ordersAfterFiller(k): // "the talk is over, lights on"
			return k - i
		case tells && takesBack[w.stem], w.used && !slices.Contains([]string{"now", "today", "jetzt", "heute"}, w.text), digit(w.stem[0]) && w.text != "one", s.orders(k) && !verbal[w.stem] && !s.particle(k), s.means(k, "if"), w.apart:
			return 0
		}
		verb = verb || finite[w.stem] || verbal[w.stem]
	}
	if leads && i > 0 && len(s.t) > i+2 {
		return len(s.t) - i
	}
	return 0
}

// tale reports whether somebody begins to tell of themselves: "I dropped my keys", "we are the last ones", "meine Tasche liegt noch da".
func (s *sentence) tale(i int) bool {
	next := s.wordAt(i + 1)
	switch s.wordAt(i) {
	case "i", "we", "ich", "wir":
		past := i+1 < len(s.t) && strings.HasSuffix(s.t[i+1].text, "ed") && len(s.t[i+1].text) > 4
		return past || ofOneself[next]
	case "my", "our", "mein", "meine", "unser", "unsere":
		return len(s.t) > i+3
	}
	return false
}

// ofOneself are verbs of what somebody tells of themselves.
var ofOneself = wordSet("am are was were had lost forgot left came got found broke spilt spilled fell heard see saw think bin sind war waren habe haben hatte hatten suche suchen finde finden komme kommen gehe gehen")

// particle reports whether a word is the end of a German verb that begins something, "wir fangen mit der Sitzung an".
func (s *sentence) particle(k int) bool {
	return s.wordAt(k) == "an" && (k+1 == len(s.t) || s.t[k+1].apart) && slices.ContainsFunc(s.t[:k], func(w token) bool { return slices.Contains([]string{"fange", "fangen", "faengt"}, w.stem) })
}

// takesBack are words by which a clause behind an order may say that it is none.
var takesBack = wordSet("kidding joking joke mistaken wrong mean meant mind wait scherz scherze irre geirrt meine meinte not never no say nicht nie kein keine keinen sagen")

// therefore are words between a reason and what follows of it.
var therefore = wordSet("so therefore hence also deshalb deswegen darum drum daher")

// verbal are verbs of things that are no orders.
var verbal = wordSet("machen brennt leuchtet laeuft kommt kommen geht like likes love loves mag moegen should needs must starts begins comes soll sollte muss muessen braucht brauchen")

// finite are words that make a clause of a reason: "the meeting is over", but not "the meeting lights".
var finite = wordSet("is are am was were war waren can cannot have has need want get too so ist sind bin kann koennen haben hat zu so blendet scheint wollen will fangen fange faengt beginnt wird startet sehe seh sieht schauen moechte moechten")

// reading are verbs of what people do with light.
var reading = wordSet("see read watch lesen erkennen erkenne erkennt sehen sehe seh sieht lese anschauen schauen schaue")

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

// fillerTo reports whether nothing but filler stands before a word: "right, that was all, …".
func (s *sentence) fillerTo(i int) bool {
	for k := range s.t[:i] {
		if !s.means(k, "filler") && s.t[k].stem != "right" {
			return false
		}
	}
	return true
}

// ordersAfterFiller reports whether a word may be of an order, or only filler and who may carry it out stand before one that may: "you can".
func (s *sentence) ordersAfterFiller(k int) bool {
	for k < len(s.t) && !s.orders(k) && (s.means(k, "filler") || slices.Contains([]string{"you", "we", "can", "could", "may", "du", "sie", "wir", "kannst", "koennen"}, s.t[k].stem)) {
		k++
	}
	return k < len(s.t) && s.orders(k)
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
func (s *sentence) opens(k, verb int) bool {
	w, before := s.t[k], s.wordAt(k-1)
	switch {
	case s.means(k, "light", "shade"): // but not "we are leaving the lights on", "we want the meeting lights on"
		return !slices.ContainsFunc(s.t[verb:k], func(w token) bool { return articles[w.stem] })
	case verb == k, w.stem == "out", s.means(k, "reason", "reasoning") && !s.means(k, "dim", "set"):
		return slices.Contains([]string{"can", "could", "koennen"}, w.stem) && verb < k && !subjects[before]
	case subjects[before], before == "to", before == "and", before == "zu", before == "und", strings.HasSuffix(w.text, "ing"), strings.HasSuffix(w.text, "ed"): // "too tired to turn off the lights"
		return false
	}
	return s.means(k, "set", "flip", "give", "dim", "brighten", "open", "close", "shut", "raise", "lower", "increase", "reduce", "pull", "draw", "stop", "on", "off", "dimmer", "brighter") ||
		slices.Contains([]string{"please", "could", "would", "let", "bitte", "koennten", "kannst", "koenntest"}, w.stem)
}

// subjects are those who do what follows.
var subjects = wordSet("i you we they he she it who that ich du wir sie er es man wer")

var articles = wordSet("the a an my our your this that all das die den der ein eine einen unser unsere alle")

// howBright is what words of complaints say of light.
var howBright = map[string]string{
	"bright": Bright, "glare": Bright, "blinding": Bright, "dazzling": Bright, "hell": Bright, "grell": Bright, "blendet": Bright, "taghell": Bright,
	"dark": Dark, "dim": Dark, "gloomy": Dark, "dunkel": Dark, "finster": Dark, "duester": Dark, "schummrig": Dark, "stockdunkel": Dark, "stockfinster": Dark, "daemmrig": Dark,
}

// grumble is what somebody says of the room around, and of nothing else: that it is [Dark], [Bright] or [Sunny] there, "it is far too dark in
// here"; empty: something else.
func (s *sentence) grumble() string {
	how, said, strange, sun := "", false, false, false
	why := slices.Contains([]string{"why", "warum", "wieso", "weshalb"}, s.wordAt(0))
	for i, w := range s.t {
		if !w.used && !s.means(i, "reason", "reasoning", "reason-first", "filler", "own", "light") && !(why && i == 0) && !((w.stem == "an" || w.stem == "auf") && slices.Contains([]string{"der", "dem", "den"}, s.wordAt(i+1))) {
			strange = true
		}
		if w.used || strange && (s.orders(i) && !s.means(i, "light", "level", "reason", "reasoning")) || w.stem == "not" && !reading[s.wordAt(i+1)] || w.stem == "dim" && articles[s.wordAt(i+1)] {
			return ""
		}
		if s.means(i, "sun") && s.has0("eye", "face", "auge", "gesicht") {
			how, said = Bright, true
		}
		sun = sun || s.means(i, "sun")
		if is := howBright[w.stem]; is != "" {
			if how != "" && how != is {
				return ""
			}
			how = is
		}
		said = said || slices.Contains([]string{"is", "are", "re", "ist", "sind", "too", "zu", "so", "very", "sehr", "blendet"}, w.stem)
	}
	if strange && !s.has0("here", "hier", "i", "me", "my", "we", "us", "our", "ich", "mir", "mich", "wir", "uns", "man") { // of something else
		return ""
	}
	if how == "" && !strange && !s.named && !s.asks { // "ich kann an der Leinwand nichts erkennen"
		if unseen := s.unseen(); unseen != "" {
			return unseen
		}
	}
	if s.named || s.asks && !why || !said || s.has0("nicht", "never", "nie", "kein", "no") {
		return ""
	}
	if sun && how == Bright {
		return Sunny
	}
	return how
}

// unseen is why somebody sees nothing: [Bright] where it is on a screen, else [Dark]; empty: nobody says so.
func (s *sentence) unseen() string {
	if !slices.ContainsFunc(s.t, func(w token) bool { return reading[w.stem] }) || !slices.ContainsFunc(s.t, func(w token) bool {
		return slices.Contains([]string{"nothing", "anything", "hardly", "nichts", "kaum"}, w.text)
	}) || !s.has0("i", "we", "you", "ich", "wir", "man") {
		return ""
	}
	if s.has0("screen", "slide", "projector", "leinwand", "folien", "beamer", "bildschirm", "tafel", "whiteboard") {
		return Bright
	}
	return Dark
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
