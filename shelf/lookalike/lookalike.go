// Package lookalike tells which names of users people take for one another.
package lookalike

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold is the same for names that differ by case, by the way their characters are composed
// or how wide they are (NFKC), or by spaces.
func Fold(name string) string {
	fold := cases.Fold()
	name = norm.NFKC.String(fold.String(norm.NFKC.String(name)))
	return strings.Join(strings.Fields(name), " ")
}

// Invisible reports whether r shows nothing, or only changes how others are shown: two
// names that differ by it alone look the same.
func Invisible(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
		r == blankBraille
}

const blankBraille = '\u2800' // a sign by its category, and yet nothing to see
