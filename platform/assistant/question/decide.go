package question

import (
	"slices"
	"strings"
	"time"
)

// decide puts the parts together.
func (s *sentence) decide(now time.Time) {
	s.q.Set(Whole, s.has("whole") && len(s.q.Places) == 0)
	s.q.Set(Estimate, s.q.Is(Estimate) || s.has("estimate"))
	s.times(now)
	s.q.Set(Follows, s.follows())
	s.q.Set(Both, s.has("both"))
	s.q.State = s.state()
	s.q.Set(All, s.q.Is(All) || s.has("all", "whole"))
	s.objects()
	if s.q.Is(Estimate) && s.q.By != "hour" && s.q.By != "day" {
		s.q.By = "" // "20 W per light"
	}
	s.q.Topic = s.topic()
	s.q.Op = s.op()
	if s.has("outside") && s.q.Topic != Outside {
		s.outsideIsPlace()
	}
	if s.has("except") && s.q.Topic != Nothing {
		s.q.Unknown = append(s.q.Unknown, "except …")
	}
	if s.has("share") && s.q.Aspect == "" {
		s.q.Aspect = "share"
	}
	if s.q.Topic == Inventory {
		s.q.Make = s.maker()
		if s.q.Make == "" && s.q.Aspect == "" && s.has("protocol") {
			s.q.Aspect = "type"
		}
	}
	s.settlePower()
	s.settleRank()
	if slices.Contains([]Topic{Energy, Power, Cost, Carbon, Faults, Offline}, s.q.Topic) {
		s.q.Missed = s.missed()
	}
}

// maker is the word that types of devices are named after.
func (s *sentence) maker() string {
	for _, t := range s.tags {
		if t.tag == "protocol" && slices.Contains([]string{"dali", "modbus", "dmx", "sdn", "somfy"}, s.t[t.at].stem) {
			return s.t[t.at].stem
		}
	}
	return ""
}

// times takes the first span as the one that is asked about, and a second one as what it is compared with.
func (s *sentence) times(now time.Time) {
	var spans []Span
	var at []int
	for _, p := range s.when {
		if p.future {
			s.q.Set(Future, true)
			continue
		}
		spans = append(spans, p.span)
		at = append(at, p.at)
	}
	if s.has("future") && len(spans) == 0 {
		s.q.Set(Future, true)
	}
	switch {
	case len(spans) == 0:
	case len(spans) >= 2 && !spans[0].Now && !spans[1].Now:
		s.q.When, s.q.Against = &spans[0], &spans[1]
	case len(spans) >= 2 && s.has("compare") && spans[0].Now != spans[1].Now:
		other := spans[1]
		if spans[1].Now {
			other = spans[0]
		}
		c := clock{now: now}
		if when, against, ok := c.nowAgainst(other); ok { // "more now than yesterday"
			s.q.When, s.q.Against = &when, &against
		} else {
			s.q.When = &other
		}
	case len(spans) >= 2 && spans[0].Now:
		s.q.When = &spans[1]
	case s.has("compare") && s.comparedBefore(at[0]) && !spans[0].Now:
		s.q.Against = &spans[0]
		when := sameKindNow(spans[0], now)
		s.q.When = &when
	default:
		s.q.When = &spans[0]
	}
	if s.q.When != nil && !s.q.When.Now && s.q.When.From.After(now) {
		s.q.Set(Future, true)
	}
}

// comparedBefore reports whether "than", "with", "against" leads to the word at i.
func (s *sentence) comparedBefore(i int) bool {
	for k := i - 1; k >= 0 && k >= i-3; k-- {
		if slices.Contains([]string{"usual", "usually", "normal", "normally", "average", "typical"}, s.t[k].stem) {
			return false // "higher than usual today"
		}
		if s.t[k].name {
			return false // "ground floor vs canteen, yesterday": places are compared
		}
		if slices.Contains([]string{"than", "vs", "against", "compared", "compare", "with", "to"}, s.t[k].stem) {
			return true
		}
	}
	return false
}

// sameKindNow is the current period of the kind that s is.
func sameKindNow(s Span, now time.Time) Span {
	c := clock{now: now}
	span := func(unit, label string) Span {
		from, to := c.period(unit, 0)
		return Span{From: from, To: to, Label: label}
	}
	switch d := s.To.Sub(s.From); {
	case d <= 25*time.Hour:
		return span("day", "today")
	case d <= 8*24*time.Hour:
		return span("week", "this week")
	case d <= 32*24*time.Hour:
		return span("month", "this month")
	}
	return span("year", "this year")
}

func (s *sentence) follows() bool {
	if len(s.t) == 0 {
		return false
	}
	start := strings.Join([]string{s.t[0].stem, s.wordAt(1)}, " ")
	return s.t[0].stem == "and" || s.t[0].stem == "then" || s.t[0].stem == "or" || start == "what about" || start == "how about" || start == "now what" ||
		s.has("them") || s.has("it") && len(s.q.Places) == 0
}

func (s *sentence) wordAt(i int) string {
	if i < len(s.t) {
		return s.t[i].stem
	}
	return ""
}

// state reads the filter; "not" ahead of it turns it round.
func (s *sentence) state() State {
	opposite := map[State]State{On: Off, Off: On, Open: Closed, Closed: Open, Online: Away, Away: Online}
	if s.has("fullopen") && s.has("shade") && s.q.Bound == nil {
		s.q.Bound = &Bound{Only: true, Value: 100}
		s.q.Set(All, s.q.Is(All) || s.t[0].stem == "are")
	}
	for _, t := range s.tags {
		var st State
		switch t.tag {
		case "on":
			st = On
		case "off":
			st = Off
		case "open":
			st = Open
		case "closed":
			st = Closed
		case "moving":
			st = Moving
		case "online":
			st = Online
		case "offline":
			st = Away
		default:
			continue
		}
		for k := t.at - 1; k >= 0 && k >= t.at-2; k-- {
			if s.t[k].stem == "not" && opposite[st] != "" {
				st = opposite[st]
			}
		}
		if st == Off && slices.ContainsFunc(s.t[:t.at], func(w token) bool { return strings.HasPrefix(w.stem, "forg") }) {
			st = On // "forgot to turn the lights off"
		}
		return st
	}
	if s.has("unknown") {
		return Unread
	}
	if s.has("full") && s.q.Bound == nil {
		s.q.Bound = &Bound{Only: true, Value: 100}
	}
	return ""
}

// nouns that can be counted, listed or grouped by.
var nouns = []tag{"light", "shade", "zone", "floor", "device", "meter", "peripheral", "bus", "controller", "site"}

// objects finds what is counted and what it is grouped by.
func (s *sentence) objects() {
	grouped := -1
	for _, t := range s.tags {
		switch t.tag {
		case "hourly", "byhour":
			s.q.By = "hour"
		case "daily", "byday":
			s.q.By = "day"
		case "weekly":
			s.q.By = "week"
		case "monthly":
			s.q.By = "month"
		case "bydevice":
			s.q.By = "device"
		case "most", "least":
			if next := s.wordAt(t.at + t.n); next == "day" || next == "hour" {
				s.q.By = next // "the heaviest day"
			}
		case "zone", "floor": // "how many blinds are there, and in which rooms"
			if s.has("count") && t.at > 1 && s.said(t.at-1, "list") && slices.Contains([]string{"in", "on"}, s.t[t.at-2].stem) && s.otherNoun() != "device" {
				s.q.By, grouped = string(t.tag), slices.Index(s.tags, t)
			}
		case "each":
			if t.at > 0 && s.has("list") && s.said(t.at-1, "list") {
				continue // "list every lamp"
			}
			for k, o := range s.tags {
				if slices.Contains(nouns, o.tag) && o.at > t.at && o.at <= t.at+t.n+1 {
					s.q.By, grouped = string(o.tag), k
				}
			}
		}
	}
	ask := s.first("count", "list")
	for k, t := range s.tags {
		if !slices.Contains(nouns, t.tag) || k == grouped {
			continue
		}
		if s.q.Object == "" || ask >= 0 && t.at > ask && s.objectAt() < ask {
			s.q.Object = string(t.tag)
		}
	}
}

// said reports whether the word at i has a tag.
func (s *sentence) said(i int, tg tag) bool {
	return slices.ContainsFunc(s.tags, func(t tagged) bool { return t.tag == tg && i >= t.at && i < t.at+t.n })
}

// objectAt is where the present object was said.
func (s *sentence) objectAt() int { return s.first(tag(s.q.Object)) }

// settleRank finds what "which zone uses the most" ranks.
func (s *sentence) settleRank() {
	if s.q.Topic == Lights && s.q.By == "" && (s.q.Op == List || s.q.Op == Count || s.q.Op == Tell) && (s.q.Object == "zone" || s.q.Object == "floor") {
		s.q.By = s.q.Object                                              // "which rooms have lights on"
		s.q.Set(All, s.q.Is(All) || s.q.State == Off && !s.has("light")) // "which rooms are dark"
	}
	if s.q.Topic == Lights && s.q.By == "" && len(s.q.Mentioned()) > 1 && s.has("above", "below", "compare") {
		s.q.By, s.q.Op = "zone", Most // "is the lobby brighter than the canteen"
	}
	if s.q.Op != Most && s.q.Op != Least && s.q.Op != Split || s.q.By != "" {
		return
	}
	for _, t := range s.tags {
		switch t.tag {
		case "zone", "floor", "meter", "device", "bus", "controller", "site":
			if s.q.Topic != Shades && s.q.Topic != Lights || t.tag == "zone" || t.tag == "floor" {
				s.q.By = string(t.tag)
				if s.q.Topic == Inventory && s.q.Object == s.q.By {
					s.q.Object = s.otherNoun() // "which floor has the most shades"
				}
				return
			}
		}
	}
	if s.has("when") && !s.has("peak") && (s.q.Topic == Energy || s.q.Topic == Power) {
		s.q.By = "hour"
		if s.q.When != nil && s.q.When.To.Sub(s.q.When.From) > 49*time.Hour {
			s.q.By = "day"
		}
	}
}

// otherNoun is what else is spoken of than the object; devices if nothing.
func (s *sentence) otherNoun() string {
	for _, t := range s.tags {
		if slices.Contains(nouns, t.tag) && string(t.tag) != s.q.Object {
			return string(t.tag)
		}
	}
	return "device"
}

// settlePower tells energy from power: "consumption right now" is power, "power used yesterday" is energy.
func (s *sentence) settlePower() {
	q := &s.q
	period := q.When != nil && !q.When.Now
	switch {
	case q.Topic == Energy && q.When != nil && q.When.Now, q.Topic == Energy && q.When == nil && s.has("current"):
		q.Topic = Power
	case q.Topic == Power && period && !s.has("peak", "baseload") && q.Op != Average && q.Op != Most && q.Op != Least && (s.has("use", "energy")):
		q.Topic = Energy
	case q.Topic == Power && q.Against != nil && !s.has("peak", "baseload"):
		q.Topic = Energy // what two periods needed is compared
	}
	if q.Topic == Power && s.has("peak") && q.Aspect == "" && (period || !s.has("zone", "floor", "meter")) {
		q.Aspect = "peak"
	}
	if q.Topic == Power && s.has("baseload") {
		q.Aspect = "base"
	}
}

// outsideIsPlace: a word such as "elevator" beside a question about lights names a place that is not known.
func (s *sentence) outsideIsPlace() {
	for _, t := range s.tags {
		if t.tag == "outside" && t.at > 0 && slices.Contains([]string{"the", "in", "at", "of", "for"}, s.t[t.at-1].stem) {
			s.q.Unknown = append(s.q.Unknown, said(s.t, t.at, t.n))
		}
	}
}

// op is what is asked of the topic.
func (s *sentence) op() Op {
	question := ""
	if len(s.t) > 0 {
		question = s.t[0].stem
	}
	two := s.q.Against != nil || len(s.q.Mentioned()) >= 2
	switch {
	case s.q.Op != Tell: // "top 3" was read already
		return s.q.Op
	case s.has("count"):
		return Count
	case s.has("most", "peak", "brightest") && !(two && s.has("compare") && s.q.Against != nil):
		return Most
	case s.has("least", "dimmest"):
		return Least
	case s.has("since"):
		return Since
	case s.q.Against != nil, s.has("compare") && (two || s.q.When != nil || s.q.Topic == Energy || s.q.Topic == Power || s.q.Topic == Cost):
		return Compare
	case s.has("average"):
		return Average
	case s.q.By != "", s.has("each") && s.q.Topic == Energy:
		return Split
	case s.has("list") && !s.has("howmuch"):
		return List
	case slices.Contains([]string{"is", "are", "was", "were", "do", "does", "did", "has", "have", "any", "anything", "can"}, question):
		return Check
	case s.has("check") && s.has("list"):
		return List
	}
	return Tell
}
