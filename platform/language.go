package platform

import "strings"

// Languages that people are answered in, by the first part of their tags.
const (
	English = "en"
	German  = "de"
)

// PreferredLanguage is the first of our languages in an Accept-Language header, in which programs and browsers put first what they like
// best; empty if none is there.
func PreferredLanguage(header string) string {
	for tag := range strings.SplitSeq(header, ",") {
		tag, _, _ = strings.Cut(tag, ";")
		primary, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(tag)), "-")
		if primary == English || primary == German {
			return primary
		}
	}
	return ""
}
