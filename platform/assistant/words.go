package assistant

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"svc.internal/controller/platform/understand"
)

// in words a fact in a language: the English sentence is the key, its German is in the catalogue. Figures and names are the same
// in both. What the catalogue does not have stays English.
func in(lang understand.Lang, format string, values ...any) (text string) {
	if lang == understand.German {
		if de, ok := inGerman(format); ok {
			format = de
		}
		defer func() { text = lowQuotes.ReplaceAllString(text, "„$1“") }()
		values = slices.Clone(values)
		for i, v := range values {
			if number, ok := v.(float64); ok {
				values[i] = commaed(number)
			}
		}
	}
	return fmt.Sprintf(format, values...)
}

// lowQuotes are names in quotes as English has them, which German writes otherwise.
var lowQuotes = regexp.MustCompile(`“([^“”]*)”`)

// commaed is a number that is written with a decimal comma.
type commaed float64

// Format implements [fmt.Formatter].
func (c commaed) Format(s fmt.State, verb rune) {
	text := fmt.Sprintf(fmt.FormatString(s, verb), float64(c))
	_, _ = io.WriteString(s, strings.Replace(text, ".", ",", 1)) // nothing can fail in a string
}

// inGerman looks a sentence up.
func inGerman(en string) (de string, ok bool) {
	if de, ok = german[en]; !ok {
		de, ok = germanAnswers[en]
	}
	return de, ok
}

// f words a fact in the language of the question.
func (a *asked) f(format string, values ...any) string { return in(a.q.Lang, format, values...) }

// list joins names in the language of the question.
func (a *asked) list(names []string) string { return listIn(a.q.Lang, names) }

func (a *asked) some(names []string, n int) string { return someIn(a.q.Lang, names, n) }

func listIn(lang understand.Lang, names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + in(lang, " and ") + names[n-1]
	}
	if len(names) == 0 {
		return in(lang, "none")
	}
	return names[0]
}

// someIn lists at most n names and counts the others.
func someIn(lang understand.Lang, names []string, n int) string {
	if len(names) <= n {
		return listIn(lang, names)
	}
	return strings.Join(names[:n], ", ") + in(lang, " and %d more", len(names)-n)
}

// are is the verb for n things.
func (a *asked) are(n int) string { return in(a.q.Lang, are(n)) }

// yesNo begins an answer.
func (a *asked) yesNo(yes bool) string { return in(a.q.Lang, yesNo(yes)) }

func lengthIn(lang understand.Lang, d time.Duration) string {
	if lang == understand.German {
		return strings.Replace(length(d), " days", " Tage", 1)
	}
	return length(d)
}

func momentIn(lang understand.Lang, at, now time.Time) string {
	at = at.In(now.Location())
	if lang != understand.German || at.IsZero() || at.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return in(lang, moment(at, now))
	}
	return at.Format("2.1.2006 15:04")
}

// noun is one of something, without an article.
func (a *asked) noun(one string) string { return in(a.q.Lang, one) }

// count words a number of things. The German nouns are such that nominative and
// dative are the same.
func (a *asked) count(n int, one string) string { return countIn(a.q.Lang, n, one) }

func countIn(lang understand.Lang, n int, one string) string {
	if lang == understand.German && germanMany[one] != "" {
		if n == 1 {
			return "1 " + in(lang, one)
		}
		return fmt.Sprintf("%d %s", n, germanMany[one])
	}
	return count(n, one)
}

// germanMany are plurals.
var germanMany = map[string]string{"light": "Leuchten", "shade": "Rollos", "zone": "Zonen", "floor": "Etagen", "device": "Komponenten", "meter": "Messstellen", "fault": "Störungen", "peripheral": "Sensoren und Taster",
	"hour": "Stunden", "day": "Tage", "week": "Wochen", "month": "Monate", "bus": "Busse", "controller": "Controller", "outage": "Ausfälle", "proposal": "Vorschläge", "command": "Befehle", "further proposal": "weitere Vorschläge", "agent": "Agenten"}

// many is the plural of something.
func (a *asked) many(one string) string {
	if one == "m²" {
		return one
	}
	_, words, _ := strings.Cut(a.count(2, one), " ")
	return words
}

// have is the verb for n things that have something.
func (a *asked) have(n int) string { return in(a.q.Lang, haveVerb(n)) }

// date is a moment as an English layout shows it; in German, the date and what of the time the layout has.
func (a *asked) date(at time.Time, layout string) string { return dateIn(a.q.Lang, at, layout) }

func dateIn(lang understand.Lang, at time.Time, layout string) string {
	if lang == understand.German {
		layout = map[string]string{
			"2 January": "2.1.", "January 2006": "1/2006", "Mon 2 Jan": "2.1.", "Mon 15:04": "2.1. 15:04", "week of 2 Jan": "Woche ab 2.1.", "15:04 on Mon 2 Jan 2006": "15:04 am 2.1.2006",
		}[layout]
	}
	return at.Format(layout)
}

// slot names an hour, a day, a week or a month.
func (a *asked) slot(start time.Time, by string) string {
	return a.date(start, map[string]string{"hour": "Mon 15:04", "day": "Mon 2 Jan", "week": "week of 2 Jan", "month": "January 2006"}[by])
}
