package question

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sentence is one question while it is being read.
type sentence struct {
	t    []token
	tags []tagged
	when []part
	q    Question
	// denies is the negation in it, if there is one.
	denies string
}

// tagged is a tag and the words that gave it.
type tagged struct {
	tag   tag
	at, n int
}

// Parse reads text at a moment; now is in the building's time zone.
func Parse(text string, names Names, now time.Time) Question {
	s := &sentence{t: cut(text)}
	if answer := reaction(s.t); answer != Nothing {
		return Question{Topic: answer, Sure: 1}
	}
	s.forgive(names)
	s.dismiss(names)
	s.denies = s.denied(true)
	s.q.Places = append(names.find(s.t), names.byNumber(s.t)...)
	for i := range s.t {
		s.t[i].name = s.t[i].used
	}
	if s.denies == "" {
		s.denies = s.denied(false)
	}
	numbered := s.unknownNumbers()
	turned := s.turnChange()
	s.when = whens(s.t, now)
	order := s.order()
	s.bound()
	s.top()
	s.watts()
	s.tariff()
	s.tag()
	s.q.Unknown = append(numbered, s.unknown()...)
	if order != nil {
		s.finishOrder(order)
	} else {
		s.decide(now)
	}
	if turned && s.q.Against != nil {
		s.q.When, s.q.Against = s.q.Against, s.q.When
	}
	s.q.Sure = s.sure()
	return s.q
}

// reaction recognises a bare yes or no.
func reaction(t []token) Topic {
	var words []string
	for _, w := range t {
		if w.stem != "please" && w.stem != "thank" && w.stem != "you" {
			words = append(words, w.stem)
		}
	}
	switch strings.Join(words, " ") {
	case "yes", "y", "yep", "yeah", "confirm", "confirmed", "i confirm", "go ahead", "do it", "ok", "okay", "sure", "yes do it",
		"yes go ahead", "proceed", "ok do it", "do that", "yes i confirm", "go", "yes confirm", "confirm it", "please do", "sure do it", "correct":
		return Confirm
	case "no", "n", "nope", "cancel", "stop that", "do not", "never mind", "nevermind", "no do not", "abort", "forget it", "no never mind", "cancel that", "cancel it", "no cancel", "better not":
		return Decline
	}
	return Nothing
}

// timeWords are known to the reader of times only.
var timeWords = wordSet("yesterday today tomorrow tonight overnight currently since between until till ago fortnight midday nighttime " +
	"monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october " +
	"november december minute hour day week month quarter year weekend night morning afternoon evening noon midnight previous")

// notSlips are things of buildings that a word of the lexicon must not be read into.
var notSlips = wordSet("tower garage kitchen basement roof cellar sauna garden bathroom toilet restroom lab office hall store shop " +
	"shower washer dishwasher server bedroom foyer reception stairs stair staircase gym pool library attic balcony terrace fridge freezer oven")

// forgive replaces words that nobody knows by the only one they can be a slip for.
func (s *sentence) forgive(names Names) {
	for i := range s.t {
		w := s.t[i].stem
		if len(w) < 4 || names.known[w] || lexiconWords[w] || filler[w] || timeWords[w] || notSlips[w] || orderVerbs[w] || phraseWords[w] || isDigits(w) {
			continue
		}
		meant := ""
		for k, set := range []map[string]bool{names.known, timeWords, lexiconWords} {
			least := 5
			if k == 0 {
				least = 4 // names are few, and those of the building are meant
			}
			for known := range set {
				if len(known) >= 5 && near(w, known, least) && (meant == "" || known < meant) {
					meant = known
				}
			}
			if meant != "" {
				s.t[i].stem = meant
				break
			}
		}
	}
}

// dismissals are put before what a question is not about.
var dismissals = phrases("not care about", "not interested in", "not ask about", "not asking about", "not talking about", "forget about", "forget", "ignore", "never mind", "leave aside", "not about", "not mean", "not")

// phrases cuts each of them into the words that a sentence is cut into.
func phrases(list ...string) (cut [][]string) {
	for _, p := range list {
		cut = append(cut, stems(p))
	}
	return cut
}

// dismiss takes out what the asker does not want to hear about: "I don't care about the lobby, just tell me …".
func (s *sentence) dismiss(names Names) {
	for i := range s.t {
		for _, d := range dismissals {
			n := phraseAt(s.t, i, d)
			if n == 0 || len(d) == 1 && d[0] == "not" && i > 0 { // "not the lobby, I meant …"
				continue
			}
			end := i + n
			for end < len(s.t) && (filler[s.t[end].stem] && !boundary[s.t[end].stem] || names.known[s.t[end].stem]) {
				end++
			}
			if named := slices.ContainsFunc(s.t[i+n:end], func(t token) bool { return names.known[t.stem] }); named && end < len(s.t) {
				s.mark(i, end-i)
				return
			}
		}
	}
}

// boundary words begin what is asked after all.
var boundary = wordSet("i just only tell show give how what which when is are but instead list")

// phraseWords are the words of longer phrases, which are no slips.
var phraseWords = wordsOfPhrases()

func wordsOfPhrases() map[string]bool {
	m := map[string]bool{}
	for _, line := range lexicon {
		for _, w := range stems(line.phrases) {
			m[w] = true
		}
	}
	return m
}

// unknownNumbers finds "floor 7", "room 12", "the third floor" that no name matched.
func (s *sentence) unknownNumbers() []string {
	var unknown []string
	kinds := wordSet("room floor zone area meter light lamp luminaire device node shade blind controller building cluster")
	for i := 0; i+1 < len(s.t); i++ {
		a, b := s.t[i], s.t[i+1]
		if a.used || b.used {
			continue
		}
		numberFollows := kinds[a.stem] && isDigits(b.stem) && (i+2 >= len(s.t) || !percentWord(s.t[i+2].stem) && s.t[i+2].stem != "minute")
		ordinal := slices.Index(ordinals, a.stem) > 0 && (b.stem == "floor" || b.stem == "level" || b.stem == "room" || b.stem == "zone")
		if numberFollows || ordinal {
			unknown = append(unknown, a.text+" "+b.text)
			s.t[i].used, s.t[i+1].used = true, true
		}
	}
	return unknown
}

// bound reads "above 50 %", "at least 80 percent", "at 100 %", "below 1 kW".
func (s *sentence) bound() {
	forms := []struct {
		words string
		bound Bound
	}{
		{"at least", Bound{Above: true, Equal: true}}, {"not less than", Bound{Above: true, Equal: true}}, {"or more", Bound{Above: true, Equal: true}},
		{"at most", Bound{Equal: true}}, {"not more than", Bound{Equal: true}}, {"up to", Bound{Equal: true}},
		{"more than", Bound{Above: true}}, {"greater than", Bound{Above: true}}, {"brighter than", Bound{Above: true}},
		{"higher than", Bound{Above: true}}, {"above", Bound{Above: true}}, {"over", Bound{Above: true}}, {"exceed", Bound{Above: true}},
		{"exceeding", Bound{Above: true}}, {"beyond", Bound{Above: true}}, {"wider than", Bound{Above: true}}, {"further than", Bound{Above: true}},
		{"less than", Bound{}}, {"lower than", Bound{}}, {"dimmer than", Bound{}}, {"darker than", Bound{}}, {"fewer than", Bound{}},
		{"below", Bound{}}, {"under", Bound{}}, {"exactly", Bound{Only: true}}, {"dimmed to", Bound{Only: true}}, {"set to", Bound{Only: true}},
		{"open to", Bound{Only: true}}, {"at", Bound{Only: true}}, {"to", Bound{Only: true}},
	}
	for i := range s.t {
		for _, f := range forms {
			words := strings.Fields(f.words)
			n := phraseAt(s.t, i, words)
			if n == 0 || i+n >= len(s.t) || s.t[i+n].used {
				continue
			}
			value, err := strconv.ParseFloat(s.t[i+n].stem, 64)
			if err != nil {
				if f.bound.Only || s.t[i+n].stem != "half" {
					continue
				}
				value = 50
			}
			unit := ""
			if i+n+1 < len(s.t) {
				unit = s.t[i+n+1].stem
			}
			switch unit {
			case "percent", "w", "watt", "kw", "kwh", "wh", "k", "kelvin":
				n++
			default:
				unit = ""
				if len(words) == 1 && f.bound.Only {
					continue // "at 5", "to 3" are too many things
				}
			}
			if unit == "kw" {
				value *= 1000
			}
			b := f.bound
			b.Value = value
			s.q.Bound = &b
			s.mark(i, n+1)
			return
		}
	}
}

// turnChange reads "change from Sunday to Monday" as two times, not as all between them.
func (s *sentence) turnChange() bool {
	changes := wordSet("change changed rise rose risen fall fell fallen grow grew grown differ increase increased decrease decreased")
	change := slices.IndexFunc(s.t, func(t token) bool { return changes[t.stem] })
	if change < 0 {
		return false
	}
	for i := change + 1; i+3 < len(s.t); i++ {
		if s.t[i].stem != "from" {
			continue
		}
		for k := i + 2; k+1 < len(s.t) && k <= i+6; k++ {
			if s.t[k].stem == "to" && (timeWords[s.t[k-1].stem] || s.t[k-2].stem == "before") {
				s.t[i].stem, s.t[k].stem = "for", "vs"
				return true
			}
		}
	}
	return false
}

// top reads "top 3", "3 highest", "5 biggest consumers".
func (s *sentence) top() {
	for i := 0; i+1 < len(s.t); i++ {
		number, err := strconv.Atoi(s.t[i+1].stem)
		if s.t[i].stem == "top" && err == nil && number > 0 && number <= 100 {
			s.q.Top, s.q.Op = number, Most
			s.mark(i, 2)
			return
		}
		number, err = strconv.Atoi(s.t[i].stem)
		if err != nil || number <= 0 || number > 100 || s.t[i].used {
			continue
		}
		switch s.t[i+1].stem {
		case "highest", "biggest", "largest", "most", "top", "brightest", "heaviest", "worst", "greatest":
			s.q.Top, s.q.Op = number, Most
			s.t[i].used = true
			return
		case "lowest", "smallest", "least", "dimmest", "darkest", "best":
			s.q.Top, s.q.Op = number, Least
			s.t[i].used = true
			return
		}
	}
}

// watts reads what the asker assumes for each light: "assuming 20 W per lamp".
func (s *sentence) watts() {
	for i := 0; i+1 < len(s.t); i++ {
		v, err := strconv.ParseFloat(s.t[i].stem, 64)
		if unit := s.t[i+1].stem; err == nil && !s.t[i].used && v > 0 && v <= 5000 && (unit == "w" || unit == "watt") {
			s.q.Watts = v
			s.q.Set(Estimate, true)
			s.mark(i, 2)
			return
		}
	}
}

// coins are worth so much of a currency.
var coins = map[string]Tariff{"cent": {0.01, ""}, "ct": {0.01, ""}, "euro": {1, "EUR"}, "eur": {1, "EUR"}, "€": {1, "EUR"}, "dollar": {1, "USD"}, "usd": {1, "USD"},
	"$": {1, "USD"}, "pound": {1, "GBP"}, "gbp": {1, "GBP"}, "penny": {0.01, "GBP"}, "pence": {0.01, "GBP"}, "p": {0.01, "GBP"}, "franc": {1, "CHF"}, "chf": {1, "CHF"}}

// tariff reads what the asker says energy costs: "at 31 cents a kWh", "€0.31 per kWh".
func (s *sentence) tariff() {
	for i := range s.t {
		v, err := strconv.ParseFloat(s.t[i].stem, 64)
		coin, ok := coins[s.wordAt(i+1)]
		from, k := i, i+2
		if !ok && i > 0 {
			coin, ok = coins[s.t[i-1].stem]
			from, k = i-1, i+1
		}
		if err != nil || v <= 0 || !ok || s.t[i].used {
			continue
		}
		if w := s.wordAt(k); w == "a" || w == "per" || w == "each" || w == "the" || w == "for" {
			k++
		}
		if s.wordAt(k) != "kwh" {
			continue
		}
		s.q.Tariff = &Tariff{v * coin.PerKWh, coin.Currency}
		s.tags = append(s.tags, tagged{"cost", from, 1})
		s.mark(from, k+1-from)
		return
	}
}

// tag explains the words that are left by the lexicon, longest phrase first.
func (s *sentence) tag() {
	for i := 0; i < len(s.t); {
		if s.t[i].used {
			i++
			continue
		}
		n := 0
		for _, e := range lexical.byFirst[s.t[i].stem] {
			if n = phraseAt(s.t, i, e.words); n > 0 {
				for _, tg := range e.tags {
					if s.meant(tg, i, n) {
						s.tags = append(s.tags, tagged{tg, i, n})
					}
				}
				break
			}
		}
		if n == 0 {
			n = 1
		} else {
			s.mark(i, n)
		}
		i += n
	}
}

// meant sorts out words that are prepositions as often as states.
func (s *sentence) meant(tg tag, i, n int) bool {
	if n != 1 {
		return true
	}
	next := token{}
	if i+1 < len(s.t) {
		next = s.t[i+1]
	}
	switch s.t[i].stem {
	case "on":
		if s.asksWhereOn(i) {
			return false
		}
		if next.used && s.isTime(i+1) { // "on Monday" against "on yesterday", "on now"
			_, weekday := weekdays[next.stem]
			_, month := months[next.stem]
			return !weekday && !month && next.stem != "the" && (next.text == "" || next.text[0] > '9')
		}
		if next.used { // a name
			return false
		}
		if i+1 < len(s.t) && s.meters() { // "used on New Year's Eve"
			return false
		}
		return !slices.Contains([]string{"the", "a", "this", "that", "which", "what", "our", "my", "each", "every", "all", "average", "floor", "any"}, next.stem)
	case "dark": // "why is it so dark" says of no light that it is off
		return i == 0 || s.t[i-1].stem != "so" && s.t[i-1].stem != "too"
	case "up", "down":
		return next.stem != "to"
	case "level":
		return i == 0 || slices.Index(ordinals, s.t[i-1].stem) < 0
	}
	return true
}

// meters reports whether energy is spoken of, and no light.
func (s *sentence) meters() bool {
	energy := wordSet("use used using consume consumed consumption kwh energy electricity need needed usage burn")
	lights := wordSet("light lamp luminaire bulb fixture left")
	return slices.ContainsFunc(s.t, func(t token) bool { return energy[t.stem] }) && !slices.ContainsFunc(s.t, func(t token) bool { return lights[t.stem] })
}

// asksWhereOn recognises "which floor is the canteen on".
func (s *sentence) asksWhereOn(i int) bool {
	first, second := s.wordAt(0), s.wordAt(1)
	if slices.ContainsFunc(s.t, func(t token) bool { return t.stem == "light" || t.stem == "lamp" || t.stem == "luminaire" }) {
		return false
	}
	return i == len(s.t)-1 && (first == "which" || first == "what") && (second == "floor" || second == "bus" || second == "line" || second == "level")
}

func (s *sentence) isTime(i int) bool {
	return slices.ContainsFunc(s.when, func(p part) bool { return i >= p.at && i < p.at+p.n })
}

// unknown collects words that stand where a name would: after "the", "in the", "of", or ahead of "lights".
func (s *sentence) unknown() []string {
	var found []string
	things := wordSet("light lamp shade blind room floor zone area meter lighting energy consumption power controller sensor luminaire device building wing")
	before := wordSet("in at of for the our my by near from inside a an to on does did is are was")
	for i := 0; i < len(s.t); i++ {
		if !s.leftover(i) {
			continue
		}
		k := i
		text := ""
		for ; k < len(s.t) && s.leftover(k); k++ {
			text = strings.TrimSpace(text + " " + s.t[k].text)
		}
		first := i // "the second basement" begins with its number
		for first > 0 && !s.t[first-1].used && slices.Contains(ordinals, s.t[first-1].stem) {
			first--
			text = s.t[first].text + " " + text
		}
		lead := ""
		if first > 0 {
			lead = s.t[first-1].stem
		}
		ahead := k < len(s.t) && things[s.t[k].stem]
		if ahead && (s.t[k].stem == "room" || s.t[k].stem == "floor" || s.t[k].stem == "wing" || s.t[k].stem == "building") {
			text += " " + s.t[k].text
		}
		if before[lead] || ahead || slices.Contains([]string{"zone", "room", "area", "floor", "meter", "controller"}, lead) {
			found = append(found, text)
		}
		i = k
	}
	return found
}

func (s *sentence) leftover(i int) bool {
	if i >= len(s.t) {
		return false
	}
	w := s.t[i]
	return !w.used && !filler[w.stem] && !isDigits(w.stem) && !timeWords[w.stem] && len(w.stem) > 1
}

func (s *sentence) mark(i, n int) {
	for k := i; k < i+n && k < len(s.t); k++ {
		s.t[k].used = true
	}
}

// has reports whether any of the tags was given.
func (s *sentence) has(tags ...tag) bool { return s.first(tags...) >= 0 }

// first is the position of the first of the tags, -1 without one.
func (s *sentence) first(tags ...tag) int {
	for _, t := range s.tags {
		if slices.Contains(tags, t.tag) {
			return t.at
		}
	}
	return -1
}

// sure is the part of the meaningful words that was explained.
func (s *sentence) sure() float64 {
	known, all := 0, 0
	for i := range s.t {
		if s.leftover(i) {
			all++
		} else if s.t[i].used {
			known++
			all++
		}
	}
	if all == 0 {
		return 0
	}
	return float64(known) / float64(all)
}

// maxParts bounds how many questions one message may have.
const maxParts = 3

var (
	sentenceEnd = regexp.MustCompile(`[?;!]+\s+|\.\s+|\n+`)
	further     = regexp.MustCompile(`(?i),?\s+and\s+(also\s+)?(how|which|what|when|where|who|is|are|was|were|did|does|do|show|list|tell|give)\b`)
)

// Separate cuts a message into its questions where each of them stands on its own: "Which lights are on, and how much power
// does the building draw?". Otherwise the message comes back whole.
func Separate(message string) []string {
	var parts []string
	for _, sentence := range sentenceEnd.Split(message, -1) {
		rest := sentence
		for {
			at := further.FindStringSubmatchIndex(rest)
			if at == nil || at[0] == 0 {
				break
			}
			parts = append(parts, rest[:at[0]])
			rest = rest[at[4]:]
		}
		parts = append(parts, rest)
	}
	parts = slices.DeleteFunc(parts, func(p string) bool { return strings.TrimSpace(p) == "" })
	if len(parts) < 2 || len(parts) > maxParts {
		return []string{message}
	}
	topics := map[Topic]bool{}
	for _, p := range parts {
		q := Parse(p, Names{}, time.Now())
		if q.Topic == Nothing || q.Topic == Order || q.Topic == Greeting || topics[q.Topic] {
			return []string{message}
		}
		topics[q.Topic] = true
	}
	return parts
}
