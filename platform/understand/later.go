package understand

import (
	"slices"
	"strings"
)

// whileOrLater reads when an order is to be done, or for how long, where no time was read: "for an hour", "in ten minutes".
func (s *sentence) whileOrLater(i int) (n int, tag string) {
	w := s.wordAt(i)
	unit := func(k int) bool {
		u := s.wordAt(k)
		return slices.Contains([]string{"second", "minute", "hour", "day", "week", "month", "moment", "while", "night", "sekunde", "sekunden", "weile", "moment"}, u)
	}
	some := func(k int) int { // "an", "10", "a few", "the next 3"
		from := k
		for slices.Contains([]string{"a", "an", "the", "few", "couple", "of", "next", "another", "eine", "einen", "paar", "half", "quarter", "naechsten", "about"}, s.wordAt(k)) || k < len(s.t) && digit(s.t[k].stem[0]) && k-from < 4 {
			k++
		}
		if k > from && unit(k) {
			return k + 1 - i
		}
		return 0
	}
	if on := s.wordAt(i + 2); (w == "from" || w == "von") && (on == "on" || on == "an" || on == "onwards") && slices.Contains([]string{"now", "today", "tonight", "tomorrow", "jetzt", "heute", "morgen"}, s.wordAt(i+1)) {
		return 3, "later"
	}
	if n := s.germanClock(i); n > 0 {
		return n, "later"
	}
	switch w {
	case "for", "fuer":
		if n := some(i + 1); n > 0 {
			return n, "for"
		}
	case "in", "within", "nach":
		if n := some(i + 1); n > 0 {
			return n, "later"
		}
	case "every", "each", "jeden", "jede":
		if u := s.wordAt(i + 1); timeWords[u] || dayParts[u] != [2]int{} || weekdays[u] > 0 || u == "hour" || u == "time" {
			n := 2
			for k := i + 2; k < len(s.t) && (s.t[k].stem == "at" || digit(s.t[k].stem[0]) || slices.Contains([]string{"am", "pm", "oclock"}, s.t[k].stem)); k++ {
				n++
			}
			return n, "later"
		}
	case "until", "till", "by", "at", "around", "before", "after", "bis", "gegen", "um", "from", "past":
		if n := some(i + 1); n > 0 && w == "after" {
			return n, "later"
		}
		k := i + 1
		if (w == "um" || w == "at") && i > 0 && s.isTime(i-1) && k < len(s.t) && digit(s.t[k].stem[0]) { // "tomorrow at 7"
			return 2, "later"
		}
		if s.wordAt(k) == "about" {
			k++
		}
		if k < len(s.t) && digit(s.t[k].stem[0]) {
			next := s.wordAt(k + 1)
			clock := strings.Contains(s.t[k].stem, ":") || slices.Contains([]string{"am", "pm", "oclock", "a", "p", "sharp"}, next)
			if clock || slices.Contains([]string{"until", "till", "bis", "before", "after", "past"}, w) && next != "percent" || next == "past" && w == "at" {
				n := k + 1 - i
				for slices.Contains([]string{"am", "pm", "oclock", "a", "p", "m", "sharp", "past"}, s.wordAt(i+n)) || i+n < len(s.t) && digit(s.t[i+n].stem[0]) && (s.wordAt(i+n-1) == "past" || s.wordAt(i+n-1) == "oclock") {
					n++
				}
				return n, "later"
			}
		}
		if w == "at" && (s.wordAt(k) == "half" || s.wordAt(k) == "quarter" || s.wordAt(k) == "a") {
			for e := k; e < k+3; e++ {
				if s.wordAt(e) == "past" || s.wordAt(e) == "to" && s.wordAt(e-1) == "quarter" {
					return e + 2 - i, "later"
				}
			}
		}
		if u := s.wordAt(k); slices.Contains([]string{"night", "noon", "midnight", "dusk", "dawn", "sunset", "sunrise", "lunch", "lunchtime", "nightfall", "mittag", "sonnenuntergang", "sonnenaufgang"}, u) {
			return k + 1 - i, "later"
		}
	case "on":
		if _, ok := weekdays[s.wordAt(i+1)]; ok || slices.Contains([]string{"weekday", "weekend"}, s.wordAt(i+1)) {
			return 2, "later"
		}
	case "daily", "nightly", "always", "weekly", "hourly", "later", "soon", "overnight", "spaeter", "nachher", "bald", "taeglich":
		return 1, "later"
	case "during", "over":
		if u := s.wordAt(i + 2); s.wordAt(i+1) == "the" && timeWords[u] {
			return 3, "later"
		}
	}
	return 0, ""
}

// germanClock is how many words from i on tell a time of day as Germans say it: "um halb sechs", "um Viertel vor neun".
func (s *sentence) germanClock(i int) int {
	hour := func(k int) bool { return k < len(s.t) && isDigits(s.t[k].stem) && !percentWord(s.wordAt(k+1)) }
	if s.f.Lang != German || !slices.Contains([]string{"um", "gegen", "at", "ab", "since"}, s.wordAt(i)) {
		return 0
	}
	switch w, next := s.wordAt(i+1), s.wordAt(i+2); {
	case (w == "halb" || w == "dreiviertel") && hour(i+2):
		return 3
	case (w == "viertel" || hour(i+1)) && (next == "vor" || next == "nach") && hour(i+3):
		return 4
	}
	return 0
}
