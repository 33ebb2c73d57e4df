package web

import (
	"net/http"
	"strings"
)

// SameTag reports whether one of the entity tags in If-None-Match is tag, by the
// weak comparison that RFC 9110 §13.1.2 asks for.
func SameTag(r *http.Request, tag string) bool {
	tag = strings.TrimPrefix(tag, "W/")
	for _, line := range r.Header["If-None-Match"] {
		for one := range strings.SplitSeq(line, ",") {
			one = strings.TrimSpace(one)
			if one == "*" || strings.TrimPrefix(one, "W/") == tag {
				return true
			}
		}
	}
	return false
}
