package assistant

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// maxLabel bounds what a name can take of an answer.
const maxLabel = 80

// label makes a name fit for an answer: one line, no control or direction characters, of bounded length.
func label(name string) string {
	name = clean(name)
	if runes := []rune(name); len(runes) > maxLabel {
		name = string(runes[:maxLabel-1]) + "…"
	}
	return name
}

// maxReason bounds what a reason can take of an answer.
const maxReason = 300

// reason makes a controller's sentence fit for an answer. It may be longer than a name, and if it is cut, then where a clause
// ends, or else a word: what it says comes last.
func reason(text string) string {
	text = clean(text)
	if runes := []rune(text); len(runes) > maxReason {
		text = string(runes[:maxReason-len(", and more")])
		if end := max(strings.LastIndex(text, ", "), strings.LastIndex(text, "; ")); end > 0 {
			text = text[:end]
		} else if end := strings.LastIndexByte(text, ' '); end > 0 {
			text = text[:end]
		}
		text += ", and more"
	}
	return strings.TrimSuffix(text, ".") // it ends where the answer's own sentence does
}

// clean drops control and direction characters.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, text)
}

// quoted is a name in an answer that could be read as something else.
func quoted(name string) string { return "“" + label(name) + "”" }

// wattHours are energy in words, in the unit that was asked for, or else a handy one.
func (a *asked) wattHours(wh float64) string {
	switch kwh := wh / 1000; {
	case a.q.Is(understand.InKilo) && math.Abs(kwh) < 1:
		return a.f("%.3f kWh", kwh)
	case a.q.Is(understand.InOnes), math.Abs(wh) < 1000:
		return a.f("%.0f Wh", wh)
	case math.Abs(kwh) < 100:
		return a.f("%.2f kWh", kwh)
	default:
		return a.f("%.1f kWh", kwh)
	}
}

// perOne is the energy that one of many used.
func (a *asked) perOne(wh float64) string {
	if math.Abs(wh) < 1 { // it would be 0.000 kWh
		return a.f("%.2g Wh", wh)
	}
	return a.f("%.3f kWh", wh/1000)
}

// watts are power in words, in the unit that was asked for, or else a handy one.
func (a *asked) watts(w float64) string {
	switch {
	case a.q.Is(understand.InKilo) && math.Abs(w) < 1000:
		return a.f("%.3f kW", w/1000)
	case math.Abs(w) < 10:
		return a.f("%.1f W", w)
	case a.q.Is(understand.InOnes), math.Abs(w) < 1000:
		return a.f("%.0f W", w)
	default:
		return a.f("%.2f kW", w/1000)
	}
}

func percent(v float64) string { return fmt.Sprintf("%.0f %%", v) }

// length of time for people, to two units.
func length(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		h, m := int(d.Hours()), int(d.Minutes())%60
		if m == 0 {
			return fmt.Sprintf("%d h", h)
		}
		return fmt.Sprintf("%d h %d min", h, m)
	}
	days, h := int(d.Hours())/24, int(d.Hours())%24
	if h == 0 || days > 6 {
		return fmt.Sprintf("%d days", days)
	}
	return fmt.Sprintf("%d days %d h", days, h)
}

// moment for people, in the time zone of now.
func moment(at, now time.Time) string {
	at = at.In(now.Location())
	switch y, m, d := at.Date(); {
	case at.IsZero():
		return "an unknown time"
	case y == now.Year() && m == now.Month() && d == now.Day():
		return at.Format("15:04")
	case y == now.Year():
		return at.Format("Mon 2 Jan 15:04")
	}
	return at.Format("2 Jan 2006 15:04")
}

// period words a span with its exact bounds.
func period(span understand.Span, now time.Time) string {
	from, to := span.From.In(now.Location()), span.To.In(now.Location())
	so := ""
	if to.After(now) {
		to, so = now, " so far"
	}
	exact := from.Format("Mon 2 Jan 15:04") + " to " + to.Format("Mon 2 Jan 15:04")
	if from.Year() != now.Year() {
		exact = from.Format("2 Jan 2006 15:04") + " to " + to.Format("2 Jan 2006 15:04")
	}
	if span.Label == "" {
		return "from " + exact
	}
	return span.Label + so + " (" + exact + ")"
}

// period words a span in the language of the question.
func (a *asked) period(span understand.Span) string {
	if a.q.Lang != understand.German {
		return period(span, a.site.Now)
	}
	from, to, so := span.From.In(a.site.Now.Location()), span.To.In(a.site.Now.Location()), ""
	if to.After(a.site.Now) {
		to, so = a.site.Now, " bisher"
	}
	exact := from.Format("2.1.2006 15:04") + " bis " + to.Format("2.1.2006 15:04")
	if span.Label == "" {
		return "von " + exact
	}
	return germanLabel(span.Label) + so + " (" + exact + ")"
}

// germanLabel says the times that the reader of questions words by itself; the others are as they were said.
func germanLabel(label string) string {
	if rest, ok := strings.CutPrefix(label, "at the same time "); ok {
		return "zur gleichen Zeit " + rest
	}
	if de, ok := inGerman(label); ok {
		return de
	}
	words := strings.Fields(label)
	if n := len(words); n > 1 && (words[0] == "letzten" || words[0] == "vergangenen") {
		switch last := words[n-1]; {
		case slices.Contains([]string{"stunde", "woche", "nacht", "minute", "viertelstunde"}, last):
			words = append([]string{"in", "der"}, words...)
		case slices.Contains([]string{"stunden", "tagen", "wochen", "minuten", "monaten"}, last):
			words = append([]string{"in", "den"}, words...)
		}
	}
	for i, w := range words {
		if timeNouns[w] {
			words[i] = upper(w)
		}
	}
	return strings.Join(words, " ")
}

// timeNouns are written large in German; sentences are read without that.
var timeNouns = map[string]bool{
	"stunde": true, "stunden": true, "tag": true, "tage": true, "tagen": true, "woche": true, "wochen": true, "monat": true, "monate": true, "monaten": true, "monats": true,
	"jahr": true, "jahre": true, "jahren": true, "uhr": true, "abend": true, "nacht": true, "mittag": true, "nachmittag": true, "vormittag": true, "mitternacht": true, "minute": true, "minuten": true, "viertelstunde": true, "wochenende": true,
	"montag": true, "dienstag": true, "mittwoch": true, "donnerstag": true, "freitag": true, "samstag": true, "sonntag": true,
	"januar": true, "februar": true, "märz": true, "april": true, "mai": true, "juni": true, "juli": true, "august": true, "september": true, "oktober": true, "november": true, "dezember": true,
}

// list joins names: "a, b and c".
func list(names []string) string {
	switch n := len(names); n {
	case 0:
		return "none"
	case 1:
		return names[0]
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
}

// some lists at most n names and counts the others.
func some(names []string, n int) string {
	if len(names) <= n {
		return list(names)
	}
	return strings.Join(names[:n], ", ") + fmt.Sprintf(" and %d more", len(names)-n)
}

// count words a number of things; many is made with "s" if it is empty.
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	if strings.HasSuffix(one, "s") {
		return fmt.Sprintf("%d %ses", n, one)
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// are is the verb for n things.
func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// sourceWords explain how readings came about.
var sourceWords = map[string]string{
	"measured": "measured", "acknowledged": "acknowledged by the device", "estimated": "estimated from travel time",
	"sent": "sent, the hardware cannot confirm it", "restored": "known from before a restart",
}

// basis tells source and age of what an answer rests on.
func basis(lang understand.Lang, b facts.Basis, now time.Time) string {
	var text string
	if b.Readings > 0 {
		var sources []string
		for _, s := range b.Sources {
			if w := sourceWords[s]; w != "" {
				s = w
			}
			sources = append(sources, in(lang, s))
		}
		slices.Sort(sources)
		text = in(lang, "Source: controller %s, %s; ", quoted(b.Controller), listIn(lang, sources))
		oldest, newest := now.Sub(b.Oldest), now.Sub(b.Newest)
		if b.Readings == 1 || length(oldest) == length(newest) {
			if b.Readings == 1 {
				text += in(lang, "the reading is %s old.", lengthIn(lang, newest))
			} else {
				text += in(lang, "%d readings, %s old.", b.Readings, lengthIn(lang, newest))
			}
		} else {
			text += in(lang, "%d readings, %s to %s old.", b.Readings, lengthIn(lang, newest), lengthIn(lang, oldest))
		}
	} else {
		text = in(lang, "Source: controller %s; it gave no reading that I could use.", quoted(b.Controller))
	}
	return text + awayIn(lang, b, now)
}

// awayIn warns that the controller itself does not report.
func awayIn(lang understand.Lang, b facts.Basis, now time.Time) string {
	switch {
	case b.ControllerOnline:
		return ""
	case b.ControllerSeen.IsZero():
		return in(lang, " The controller has never reported.")
	}
	return in(lang, " The controller is offline, last heard %s ago (%s): nothing newer is known.", lengthIn(lang, now.Sub(b.ControllerSeen)), momentIn(lang, b.ControllerSeen, now))
}

// sentences joins what is not empty.
func sentences(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " ")
}

// upper makes the first letter large.
func upper(s string) string {
	r := []rune(s)
	if len(r) > 0 {
		r[0] = unicode.ToUpper(r[0])
	}
	return string(r)
}
