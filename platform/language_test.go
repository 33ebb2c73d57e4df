package platform

import "testing"

func TestPreferredLanguage(t *testing.T) {
	for header, want := range map[string]string{
		"": "", "de": "de", "de-CH,de;q=0.9,en;q=0.8": "de", "fr-CH, en-GB;q=0.7, de;q=0.5": "en", "DE": "de", "deu": "", "*": "", ";,": "",
	} {
		if got := PreferredLanguage(header); got != want {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
	}
}
