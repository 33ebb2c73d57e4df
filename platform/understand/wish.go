package understand

import (
	"slices"
	"strings"
)

// besides takes clauses out of an order that only tell why it is wanted, and name a place or what somebody does there: "it is too bright
// in the lobby, …", "…, I need to clean there". What they name is what the order is for, if it names nothing itself.
func (s *sentence) besides(names Names) (told Do) {
	if end := s.clauseEnd(0); end < len(s.t) {
		if d, ok := s.tells(s.t[:end], names); ok {
			s.t = slices.Clone(s.t[end:])
			s.t[0].apart = false
			return d
		}
	}
	for from := len(s.t) - 1; from > 0; from-- {
		if !s.t[from].apart {
			continue
		}
		if d, ok := s.tells(s.t[from:], names); ok {
			s.t = s.t[:from]
			return d
		}
		break
	}
	if from := s.purposeAt(names); from > 0 {
		s.t = s.t[:from]
	}
	return Do{}
}

// clauseEnd is where the clause ends that begins at a token.
func (s *sentence) clauseEnd(from int) int {
	for i := from + 1; i < len(s.t); i++ {
		if s.t[i].apart {
			return i
		}
	}
	return len(s.t)
}

// tells reads a clause that tells why something is wanted; false if it is none, or wants something itself.
func (s *sentence) tells(clause []token, names Names) (Do, bool) {
	c := &sentence{t: slices.Clone(clause), lex: s.lex, now: s.now, named: s.named, f: Frame{Lang: s.f.Lang}}
	c.places(names)
	if slices.Contains([]string{"because", "since", "as", "weil", "da", "denn", "sorry", "well", "so", "also"}, c.wordAt(0)) {
		c.t[0].used = true
	}
	if d, ok := c.complaint(); ok {
		return Do{Kind: Light, Places: d.Places}, true
	}
	if len(c.f.Places) > 0 && c.dull() {
		d := Do{Places: c.f.Places}
		if c.has0("dark", "gloomy", "dim", "bright", "dunkel", "duester", "finster", "hell", "grell") {
			d.Kind = Light
		}
		return d, true
	}
	first := 0
	for first < len(c.t) && c.t[first].used && !c.t[first].name {
		first++
	}
	person := first < len(c.t) && slices.Contains([]string{"i", "we", "ich", "wir", "everyone", "everybody", "nobody", "they", "people", "alle", "niemand"}, c.t[first].stem)
	weather := slices.Contains([]string{"it", "es", "there"}, c.wordAt(first)) && slices.Contains([]string{"is", "ist"}, c.wordAt(first+1)) && len(c.t) <= 7 || // "it's lovely outside"
		len(c.t) > 2 && len(c.t) <= 6 && articles[c.wordAt(0)] && slices.Contains([]string{"kommt", "kommen", "come", "comes", "coming", "arriving"}, c.wordAt(len(c.t)-1)) // "the cleaners are coming"
	german := s.f.Lang == German && slices.ContainsFunc(c.t, func(t token) bool { return t.stem == "ich" || t.stem == "wir" })
	if !weather && (!person && !german || !slices.ContainsFunc(c.t, func(t token) bool { return doing[t.stem] })) {
		return Do{}, false
	}
	for i, t := range c.t {
		switch {
		case t.name && len(c.placeAt(i)) > 0 && i > 0 && wanting[c.t[c.behindArticles(i)].stem]: // "I want the lobby, …"
			return Do{}, false
		case t.name, t.used:
		case slices.Contains([]string{"not", "no", "never", "nicht", "kein", "keine", "nie", "if", "whether", "wenn", "falls", "ob", "or", "oder", "joking", "kidding"}, t.stem), digit(t.stem[0]):
			return Do{}, false
		case t.stem == "up" && i > 0 && !c.t[i-1].used && !c.orders(i-1), t.stem == "off" && i > 0 && doing[c.t[i-1].stem]: // "locking up", "I am off"
		case t.stem == "on" || t.stem == "up" || t.stem == "an" || t.stem == "auf" || t.stem == "zu" || t.stem == "show" || t.stem == "set":
			if next := c.next(i); next == len(c.t) || !c.t[next].name && t.stem != "zu" {
				return Do{}, false
			}
		case c.orders(i) && !slices.Contains([]string{"have", "need", "want", "get", "go", "and", "come", "bring"}, t.stem):
			return Do{}, false
		}
	}
	return Do{Places: c.f.Places}, true
}

// dull reports whether a clause says that it is dark or bright at a place: "it's gloomy in the canteen".
func (s *sentence) dull() bool {
	how := false
	for i, t := range s.t {
		how = how || !t.name && s.means(i, "reason")
		if !t.name && !t.used && !prepositions[t.stem] && !slices.Contains([]string{"im", "am", "auf", "in", "der", "dem"}, t.stem) && !s.means(i, "reason", "reasoning", "reason-first") {
			return false
		}
	}
	return how && slices.ContainsFunc(s.t, func(t token) bool { return finite[t.stem] }) && !s.has0("not", "nicht")
}

// next is the first token behind one that is no article.
func (s *sentence) next(i int) int {
	for i++; i < len(s.t) && articles[s.t[i].stem]; i++ {
	}
	return i
}

// behindArticles is the token before one, or before its articles.
func (s *sentence) behindArticles(i int) int {
	for i--; i > 0 && (articles[s.t[i].stem] || s.t[i].stem == "to"); i-- {
	}
	return max(0, i)
}

// doing are verbs of people who tell what they do, or are about to.
var doing = wordSet("am are is gone left have need must want will going about bin sind habe haben muss muessen will wollen brauche brauchen")

// wanting are verbs of those who want a thing itself: "I want the lobby …".
var wanting = wordSet("want need like have prefer will brauche moechte moechten haette haben")

// purposeAt is where a phrase begins, at the end of an order that names its place, that only tells what for: "… for the sound check";
// 0: there is none. What has a length of time or a state in it is none.
func (s *sentence) purposeAt(names Names) int {
	for i := len(s.t) - 2; i > 1 && i >= len(s.t)-5; i-- {
		if s.t[i].stem != "for" && s.t[i].stem != "fuer" {
			continue
		}
		rest := &sentence{t: slices.Clone(s.t[i:]), lex: s.lex, now: s.now}
		rest.places(names)
		n, _ := rest.whileOrLater(0)
		timely := n > 0 || len(whens(rest.t, s.now)) > 0
		if timely || !articles[s.wordAt(i+1)] || slices.ContainsFunc(rest.t[1:], func(t token) bool { return t.used || t.apart || digit(t.stem[0]) || lasting[t.stem] }) {
			return 0
		}
		for k := range rest.t[1:] {
			if rest.orders(k+1) || rest.means(k+1, "purpose", "scene") {
				return 0
			}
		}
		head := &sentence{t: slices.Clone(s.t[:i]), lex: s.lex, now: s.now}
		if head.places(names); len(head.f.Places) == 0 {
			return 0
		}
		return i
	}
	return 0
}

// lasting are things that are over some time, until which something may be wanted.
var lasting = wordSet("rest duration time night evening morning afternoon weekend week day while moment hour nacht abend zeit dauer wochenende woche rest weile")

// like reads "as bright as the tower office": what an order brings lights to is how bright they are there. The words become a level,
// which stands for it until the action is understood.
func (s *sentence) like(names Names) []Place {
	for i := range s.t {
		n := 0
		for _, phrase := range likePhrases {
			if n = phraseAt(s.t, i, phrase); n > 0 {
				break
			}
		}
		if n == 0 {
			continue
		}
		tail := &sentence{t: slices.Clone(s.t[i+n:]), lex: s.lex, now: s.now, f: Frame{Lang: s.f.Lang}}
		tail.places(names)
		if len(tail.f.Places) == 0 || slices.ContainsFunc(tail.t, func(t token) bool {
			return !t.name && !articles[t.stem] && !slices.Contains([]string{"in", "on", "im", "please", "bitte", "dem", "light", "is", "ist", "one"}, t.stem)
		}) {
			return nil
		}
		to := i
		for to > 0 && slices.Contains([]string{"to", "at", "the", "auf", "die", "das", "so", "just", "exactly", "genau"}, s.t[to-1].stem) {
			to--
		}
		lead := map[Lang]string{English: "to", German: "auf"}[s.f.Lang]
		s.t = append(slices.Clone(s.t[:to]), token{text: lead, stem: lead}, token{text: "50", stem: "50"}, token{text: "percent", stem: "percent"})
		return tail.f.Places
	}
	return nil
}

// likePhrases say that something is to be as bright as something else.
var likePhrases = func() (all [][]string) {
	for _, p := range []string{"as bright as", "as light as", "as dark as", "as dim as", "same level as", "same brightness as", "same as", "same light level as", "so hell wie", "so dunkel wie", "gleich hell wie", "genauso hell wie",
		"ebenso hell wie", "gleich dunkel wie", "genauso dunkel wie", "gleichen wert wie", "selben wert wie", "so ein wie", "so wie", "gleich wie",
		"to the brightness of", "to the level of", "dieselbe helligkeit wie", "gleiche helligkeit wie", "die helligkeit von"} {
		all = append(all, stems(p))
	}
	return all
}()

// sized notes how large the steps of an order are, and where it leads that only goes a part of the way.
func (s *sentence) sized(do []Do) {
	little := slices.ContainsFunc(s.t, func(t token) bool { return small[t.stem] })
	for i := range do {
		switch d := &do[i]; {
		case d.By != nil:
		case d.Switch == "brighten" && s.has0("back", "again", "wieder"):
			d.Size = Back
		case little && (d.Switch == "dim" || d.Switch == "brighten" || d.Way):
			d.Size = "little"
		}
	}
}

// small are words of a little.
var small = wordSet("little bit touch tad notch smidge slightly somewhat gently etwas bisschen bissl bissel wenig leicht minimal tick stueck stueckchen spur hauch crack inch spalt spaltbreit")

// toward is the way that a verb moves shades which are brought to a part of it: "closed" or "open". "Half close" leaves what is further
// there, "close to 70 %" names where to, so that it cannot be meant of what is beyond. Empty: no way is said.
func (s *sentence) toward(closing bool) string {
	way, tags := "open", []string{"open", "raise", "up", "increase", "bringup"}
	if closing {
		way, tags = "closed", []string{"close", "shut", "lower", "down", "reduce"}
	}
	for i, t := range s.t {
		switch next := s.wordAt(i + 1); {
		case !s.means(i, tags...), standing[t.stem]:
		case t.stem == "open" && i > 0 && !articles[next] && !s.means(i+1, "shade"): // "a quarter open" is where they are
		case t.stem == "auf" && i+1 < len(s.t) && !s.t[i+1].apart: // "auf ein Viertel"
		default:
			return way
		}
	}
	return ""
}

// standing are words of how shades stand.
var standing = wordSet("opened closed covered drawn offen geschlossen aufgezogen zugezogen")

// likeThere sets what one action brings lights to to how bright it is at other places; false if it is another one.
func likeThere(do []Do, like []Place) ([]Do, bool) {
	if len(do) != 1 || do[0].Kind != Light || do[0].Switch != "set" || do[0].Percent == nil || *do[0].Percent != 50 {
		return nil, false
	}
	do[0].Like, do[0].Percent = like, nil
	return do, true
}

// leaves reports whether an order begins with what is to stay as it is, or only that.
func (s *sentence) leaves() bool {
	for i, t := range s.t {
		if s.means(i, "filler") || slices.Contains([]string{"please", "bitte", "just", "only", "nur"}, t.stem) {
			continue
		}
		return leaving[t.stem] && t.stem != "keep" && slices.ContainsFunc(s.t[i+1:], func(t token) bool {
			return slices.Contains([]string{"on", "an", "only", "nur"}, t.stem)
		}) && !s.has0("off", "aus", "close", "zu")
	}
	return false
}

// darkness are words of a room without any light.
var darkness = wordSet("dark dunkel finster")

// allDark reports whether "everything dark" stands at a word, and is wanted: off the lights, and shut the shades.
func (s *sentence) allDark(i int) bool {
	return darkness[s.wordAt(i+1)] && (s.has0("please", "bitte") || i > 0 && (s.means(i-1, "set") || slices.Contains([]string{"have", "make", "want"}, s.wordAt(i-1))))
}

// medium is half of what there is, before a word for brightness.
var medium = wordSet("medium middling mittlere mittlerer mittleren mittlerem")

// shortly writes out what is said in one word, and leaves out that something is for each of several places.
func (s *sentence) shortly() {
	var out []token
	for i, t := range s.t {
		switch {
		case s.named && t.stem == "blackout" && i+1 < len(s.t) && prepositions[s.t[i+1].stem]:
			out = append(out, token{text: "lights", stem: "light", apart: t.apart}, token{text: "off", stem: "off"})
		case s.named && t.stem == "dunkel" && !s.has0("zu", "nicht") && (i == len(s.t)-1 && strings.HasPrefix(s.wordAt(0), "mach") || i == len(s.t)-2 && strings.HasPrefix(s.t[i+1].stem, "mach") && !s.t[i+1].apart): // "den Turm dunkel machen"
			out = append(out, token{text: "licht", stem: "licht", apart: t.apart}, token{text: "aus", stem: "aus"})
		case !s.named && !s.asks && (t.stem == "everything" || t.stem == "alles") && s.allDark(i):
			lang := map[Lang][5]string{English: {"light", "off", "and", "shade", "close"}, German: {"licht", "aus", "und", "rollo", "zu"}}[s.f.Lang]
			for k, w := range lang {
				out = append(out, token{text: w, stem: stem(w), apart: t.apart && k == 0})
			}
		case i > 0 && !s.named && !s.asks && darkness[t.stem] && (s.wordAt(i-1) == "everything" || s.wordAt(i-1) == "alles") && s.allDark(i-1):
		case medium[t.stem] && s.means(i+1, "level") && (s.f.Lang == English || s.has0("an", "ein", "auf")): // alone "mittlere Helligkeit" asks for the mean
			out = append(out, token{text: t.text, stem: "half", apart: t.apart})
		case (t.stem == "each" || t.stem == "apiece") && i == len(s.t)-1 && i > 0 && (s.wordAt(i-1) == "percent" || digit(s.wordAt(i - 1)[0])),
			(t.stem == "je" || t.stem == "jeweil" || t.text == "jeweils") && (s.wordAt(i+1) == "auf" || digit((s.wordAt(i+1) + " ")[0])):
		case (t.stem == "too" || t.stem == "also") && i > 0 && (i == len(s.t)-1 || s.t[i+1].apart) && !s.means(i-1, "reasoning"): // "and the hall too"
		case t.text == "its" || t.text == "their": // "and close its blinds"
			if i+1 < len(s.t) {
				s.t[i+1].apart = s.t[i+1].apart || t.apart
			}
		case s.named && (t.text == "both" || t.stem == "beide") && (i == len(s.t)-1 || s.t[i+1].stem == "to" || s.t[i+1].stem == "auf" || s.t[i+1].stem == "by"): // "dim both to 30"
			out = append(out, token{text: "them", stem: "them", apart: t.apart})
		case t.stem == "out" && s.wordAt(i-1) == "everything":
			out = append(out, token{text: "off", stem: "off"})
		default:
			out = append(out, t)
		}
	}
	s.t = out
}
