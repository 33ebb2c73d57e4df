package assistant

import (
	"fmt"
	"strings"

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

// noun is one of something, without an article.
func (a *asked) noun(one string) string { return in(a.q.Lang, one) }

// count words a number of things. German nouns here are the same in nominative and dative, but for the "n" of Lichter, which
// their sentences avoid.
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
var germanMany = map[string]string{"light": "Leuchten", "shade": "Rollos", "zone": "Zonen", "floor": "Etagen", "device": "Geräte", "meter": "Zähler", "fault": "Störungen"}
