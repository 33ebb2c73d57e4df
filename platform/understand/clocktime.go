package understand

import (
	"fmt"
	"slices"
	"strconv"
)

// clockTimes writes times of day that are said without "o'clock" as the reader of times knows them: "half past eight", "Viertel vor
// neun", and in what is asked about the past "at nine". In an order they may be amounts, which this does not touch.
func (s *sentence) clockTimes() {
	past := s.has0("was", "were", "war", "waren", "wurde", "wurden") || s.f.Lang == German && s.has0("night")
	hour := func(k int) int {
		if k >= len(s.t) || s.t[k].used || s.t[k].apart || s.t[k].odd != "" {
			return 0
		}
		n, err := strconv.Atoi(s.t[k].stem)
		if err != nil || n > 23 {
			return 0
		}
		return n
	}
	var out []token
	put := func(i, n, hours, minutes int) {
		one := s.t[i]
		one.text, one.stem = said(s.t, i, n), fmt.Sprintf("%d:%02d", hours, minutes)
		out = append(out, one)
	}
	for i := 0; i < len(s.t); i++ {
		w, next := s.t[i].stem, s.wordAt(i+1)
		part := map[string]int{"half": 30, "quarter": 15, "viertel": 15}[w]
		lead := slices.Contains([]string{"at", "um", "gegen", "since", "from", "until", "before", "seit", "bis", "ab", "by", "vor", "nach"}, s.wordAt(i-1))
		ends := i+1 >= len(s.t) || s.t[i+1].apart || slices.Contains([]string{"today", "yesterday", "this", "in", "and", "already", "on", "off"}, next) || s.f.Lang == German && !percentWord(next) && next != "uhr" && next != "oclock"
		switch {
		case part > 0 && (next == "past" || next == "nach") && hour(i+2) > 0:
			put(i, 3, hour(i+2), part)
			i += 2
		case part > 0 && (next == "to" || next == "vor") && hour(i+2) > 0:
			put(i, 3, hour(i+2)-1, 60-part)
			i += 2
		case w == "halb" && lead && hour(i+1) > 0:
			put(i, 2, hour(i+1)-1, 30)
			i++
		case past && lead && slices.Contains([]string{"at", "um", "gegen"}, s.wordAt(i-1)) && hour(i) > 0 && ends:
			put(i, 1, hour(i), 0)
		default:
			out = append(out, s.t[i])
		}
	}
	s.t = out
}
