package web

import (
	"net/url"
	"regexp"
	"strings"
)

// credential is what looks like a key or a token: a long run of letters and digits, as UUIDs and names of people are
// none, or the three parts of a JSON Web Token.
var credential = regexp.MustCompile(`eyJ[\w-]{8,}[\w.-]*|\w{24,}`)

// shownOfSecret is how much of it the log shows, so that one can tell of what kind it was.
const shownOfSecret = 4

// Veiled is a path or a text with a URL in it as the log may show it: %XX spelt out, and without what looks like a key
// or a token, which people put into addresses.
func Veiled(s string) string {
	return credential.ReplaceAllStringFunc(plainText(s), func(found string) string { return found[:shownOfSecret] + "…" })
}

// unescapedMost is how many times over something may be escaped; a server behind us may undo it as often.
const unescapedMost = 4

// plainText undoes %XX, over and over; what cannot be read is left as it came.
func plainText(s string) string {
	for range unescapedMost {
		plain, err := url.PathUnescape(s)
		if err != nil || plain == s {
			break
		}
		s = plain
	}
	return s
}

// veiledQuery is a query without the values of secret parameters, wherever one begins: servers part parameters at a
// semicolon, too, and a client may have escaped the sign between two. What cannot be read is left out, since nobody
// knows what a program makes of it.
func veiledQuery(query string, secret []string) string {
	var out strings.Builder
	for part := range strings.SplitAfterSeq(query, "&") {
		part, more := strings.CutSuffix(part, "&")
		plain := plainText(part)
		if strings.Contains(plain, "%") {
			plain = "…"
		}
		for i, one := range strings.FieldsFunc(plain, func(r rune) bool { return r == '&' || r == ';' }) {
			if i > 0 {
				out.WriteByte(';')
			}
			out.WriteString(veiledParameter(one, secret))
		}
		if more {
			out.WriteByte('&')
		}
	}
	return out.String()
}

// veiledParameter leaves out all that follows the name of a secret one.
func veiledParameter(one string, secret []string) string {
	for _, name := range secret {
		if at := strings.Index(strings.ToLower(one), strings.ToLower(name)+"="); at >= 0 {
			return Veiled(one[:at]) + name + "=…"
		}
	}
	return Veiled(one)
}
