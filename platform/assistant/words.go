package assistant

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"svc.internal/controller/platform/understand"
)

// in words a fact in a language: the English sentence is the key, its German is in the catalogue. Figures and names are the same
// in both. What the catalogue does not have stays English.
func in(lang understand.Lang, format string, values ...any) string {
	if lang == understand.German {
		if de, ok := german[format]; ok {
			format = de
		}
	}
	return fmt.Sprintf(format, values...)
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

// speaksGerman reports whether the answer to a question can be said in German: all of it or nothing is, so that no answer is half of each.
func speaksGerman(q understand.Frame) bool {
	op := slices.Contains([]understand.Op{understand.Tell, understand.Average, understand.Most, understand.Least, understand.Share}, q.Op)
	period := q.When != nil && !q.When.Now
	switch q.Topic {
	case understand.Lights, understand.Shades:
		if q.Op == understand.Since || q.Op == understand.Who || q.Op == understand.Why {
			return true
		}
		return op && q.By == "" && q.State != understand.Unread
	case understand.Energy:
		return (q.Op == understand.Tell || q.Op == understand.Average) && q.By == "" && q.Against == nil && len(q.Conds) == 0 && q.Assumed == understand.Assumed{} && q.Aspect == ""
	case understand.Power:
		return q.Op == understand.Tell && q.By == "" && !period && len(q.Conds) == 0 && q.Assumed == understand.Assumed{} && q.Aspect == ""
	case understand.Offline:
		return op && !period && len(q.Conds) == 0 && q.Aspect != "availability" && slices.Contains([]understand.Kind{"", understand.Light, understand.Shade, understand.Meter}, q.Kind)
	}
	return false
}

// noun is one of something, without an article.
func (a *asked) noun(one string) string { return in(a.q.Lang, one) }

// count words a number of things. The German nouns are such that nominative and
// dative are the same.
func (a *asked) count(n int, one string) string {
	if a.q.Lang == understand.German && germanMany[one] != "" {
		if n == 1 {
			return "1 " + in(a.q.Lang, one)
		}
		return fmt.Sprintf("%d %s", n, germanMany[one])
	}
	return count(n, one)
}

// germanMany are plurals.
var germanMany = map[string]string{"light": "Leuchten", "shade": "Rollos", "zone": "Zonen", "floor": "Etagen", "device": "Komponenten", "meter": "Messstellen", "fault": "Störungen"}
