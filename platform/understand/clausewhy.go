package understand

import (
	"slices"
	"strings"
)

// reason judges what stands before or behind what may be asked.
func (c *clauses) reason(text string, ahead bool) clause {
	s := &sentence{t: cut(text), now: c.now}
	s.words(c.names)
	one := clause{}
	if strings.Contains(text, "?") || len(s.t) == 0 {
		return one
	}
	places := c.names.find(s.t)
	for i := range s.t {
		s.t[i].name = s.t[i].used
	}
	s.f.Places = places
	if mentioned := s.f.Mentioned(); len(mentioned) > 0 {
		at := mentioned[0][0].Mention
		one.within = said(s.t, at, s.nameEnd(at)-at)
		one.set(many, len(mentioned) > 1)
	}
	s.chunks = s.tag(meaning)
	began, verb, occasion, over := 0, false, false, false
	leads, told := c.phrase(s.t, 0, "~because"), c.phrase(s.t, 0, "~told") > 0
	one.set(mine, told)                             // "a tenant complains that …"
	seeingNothing := s.has0("see", "sehe", "sehen") // in the dark
	one.set(timed, slices.Contains([]string{"before", "during", "while", "whilst", "beim", "vor", "bevor", "ehe"}, s.t[0].stem))
	for i, t := range s.t {
		w := t.stem
		switch {
		case beyondWhy[w] && i >= leads && !(w == "meine" && s.wordAt(i-1) != "ich") && !(t.text == "nichts" && seeingNothing) && !(w == "not" && slices.Contains([]string{"can", "could"}, s.wordAt(i-1)) && (len(places) == 0 || seeing[s.wordAt(i+1)])):
			return one
		case t.apart && i > began:
			began = i
		}
		if i == began && (opensQuestion[w] && c.phrase(s.t, i, "~because") == 0 || !t.used && s.means(i, "set", "flip", "give", "dim", "brighten", "open", "close", "shut", "raise", "lower", "increase", "reduce", "stop", "toggle", "list", "compare") && !strings.HasSuffix(t.text, "ing")) {
			return one
		}
		one.set(mine, one.is&mine > 0 || speakers[w] || i == len(s.t)-1 && (w == "here" || w == "hier")) // "night guard here"
		verb = verb || verbs3[w]
		over = over || done[w] || strings.HasSuffix(t.text, "ed") && len(t.text) > 4
		occasion = occasion || c.phrase(s.t, i, "~occasion") > 0
		one.set(timed, one.is&timed > 0 || digit(w[0]) && slices.Contains([]string{"at", "um", "gegen", "from", "by", "ab", "in", "until", "bis"}, s.wordAt(i-1)))
		role := i > 1 && slices.Contains([]string{"am", "bin"}, s.wordAt(i-2)) // "I am the night guard"
		one.set(thing, one.is&thing > 0 || slices.ContainsFunc(s.tagsAt(i), func(tag string) bool { return absentKind(tag) != "" }) || !t.used && !role && determining[s.wordAt(i-1)] && len(s.tagsAt(i)) == 0 && c.phrase(s.t, i, "~occasion") == 0)
	}
	if slices.ContainsFunc(s.chunks, func(k chunk) bool {
		return k.is("nothing") && !seeingNothing || k.is("complaint") && leads == 0 && !told || k.is("no", "neither", "without", "except", "than", "compare", "difference", "each", "average", "share", "sum", "most", "least", "else", "only") && !slices.Contains([]string{"just", "merely", "simply"}, s.t[k.at].stem)
	}) {
		return one
	}
	one.set(timed, one.is&timed > 0 || slices.ContainsFunc(whens(s.t, c.now), func(p part) bool { return !p.span.Now }))
	one.set(asIs, !over)
	because := leads > 0
	if because && causing[s.t[0].stem] && slices.ContainsFunc(s.chunks, func(k chunk) bool { return k.is("switch") || stateOf(k) == On || stateOf(k) == Off }) {
		return one // "is it off because somebody switched it off" asks for the cause
	}
	if because && s.wordAt(1) == "of" && !occasion && one.is&mine == 0 {
		return one // "which went down because of wind" leaves out the others
	}
	switch {
	case ahead:
		one.set(says, one.is&mine > 0 && len(s.t) > 2 || because || occasion || s.onlyTalk())
	default:
		does := (leads == 0 || relating[s.t[0].stem]) && slices.ContainsFunc(s.chunks, func(k chunk) bool { return k.n > 1 && stateOf(k) != "" }) // "that I should switch off"
		one.set(says, (one.is&mine > 0 && verb || because || occasion || s.onlyTalk()) && !does)
	}
	return one
}

// onlyTalk reports whether nothing is said but courtesies.
func (s *sentence) onlyTalk() bool {
	return !slices.ContainsFunc(s.chunks, func(c chunk) bool {
		return len(c.tags) == 0 || slices.ContainsFunc(c.tags, func(t string) bool { return t != "talk" && t != "greeting" && t != "fill" })
	})
}

var (
	// beyondWhy are words by which a clause does more than say why.
	beyondWhy = wordSet("not never no if unless when whenever until till while once provided assuming except excluding without only mean meant instead rather other than nor neither " +
		"nicht nie kein keine keinen wenn fall sobald solange ausser bevor nachdem sofern ohne nur statt sondern meine meinte weder als but aber also either or oder")
	seeing        = wordSet("see find read work tell reach hear believe remember")
	opensQuestion = wordSet("what which who whose how why where is are was were do does did has can could will would should may any anything everything something tell show list check give please " +
		"welche welcher welches wie wo wer was warum wieso wann ist sind war hat gibt brennt laeuft zeig zeige sag sage bitte")
	causing     = wordSet("because cause cos coz cuz since as weil da denn")
	relating    = wordSet("that which die den das der was welche welchen welches welcher")
	speakers    = wordSet("i we my our me us mine ours ich wir mir mich uns mein meine meinem meinen meiner unser unsere unserem unseren unserer")
	verbs3      = wordSet("is are was were has have had do did does will would can could should must may might am need want bin ist sind war hat haben hatte will wollen muss muessen soll sollen sollte kann koennen werde werden wird kommt kommen geht gehen moechte moechten beginnt faengt")
	done        = wordSet("did done was were had been finished got went saw habe hatte war waren wurde wurden gewesen fertig")
	determining = wordSet("the a an this these those all every each which der die das den dem des ein eine einen einem einer diese dieser dieses alle jede jeder jedes")
)
