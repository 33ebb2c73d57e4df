package mcp

import "testing"

// The row "CORS": a foreign Origin on MCP is 403, that of a name which somebody made to point here, too.
func TestAnOriginIsOurOwnOrForeign(t *testing.T) {
	for _, c := range []struct {
		origin, host string
		own          bool
	}{
		{"https://platform.example", "platform.example", true},
		{"https://platform.example:8443", "platform.example:8443", true},
		{"http://127.0.0.1:8080", "127.0.0.1:8080", true},
		{"http://localhost:8080", "localhost:8080", true},
		{"http://[::1]:8080", "[::1]:8080", true},
		{"https://evil.example", "platform.example", false},
		{"http://evil.example", "evil.example", false}, // a page whose name points here
		{"http://evil.example:8080", "evil.example:8080", false},
		{"null", "platform.example", false},
		{"", "", false},
	} {
		if got := isOwn(c.origin, c.host); got != c.own {
			t.Errorf("%q at %q: own is %v", c.origin, c.host, got)
		}
	}
}
