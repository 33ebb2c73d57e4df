package web

import (
	"net/http"
	"net/url"
	"strings"
)

// CrossSite reports whether a page of another site had a browser send a request. Other
// programs than browsers do not say; nobody can have a browser not say it.
func CrossSite(r *http.Request) bool { return r.Header.Get("Sec-Fetch-Site") == "cross-site" }

// protection refuses what another page makes a browser send: cookies go along from other ports of the same host, too.
var protection = http.NewCrossOriginProtection()

// FromOwnPage reports whether a page of this very origin sent a request that changes something, or no browser at all.
// Browsers that do not say Sec-Fetch-Site send Origin; of that the library compares host and port only, and a page
// that came over plain HTTP may be anybody's.
func FromOwnPage(r *http.Request) bool {
	if protection.Check(r) != nil {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" || r.Header.Get("Sec-Fetch-Site") != "" || r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions {
		return true
	}
	return sameOrigin(origin, schemeOf(r), r.Host)
}

// sameOrigin reports whether an Origin header names this scheme, host and port.
func sameOrigin(origin, scheme, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Scheme == scheme && u.Host == host
}

// schemeOf is the scheme that stands in the address bar. Plain HTTP is for this machine's own browsers, and for
// proxies that speak TLS to everybody else; one of [Config.Proxies] may say otherwise.
func schemeOf(r *http.Request) string {
	if said, _, _ := strings.Cut(r.Header.Get(forwardedScheme), ","); said != "" {
		return strings.ToLower(strings.TrimSpace(said))
	}
	if r.TLS == nil && isLoopback(r.Host) {
		return "http"
	}
	return "https"
}

// forwardedScheme is the header in which a proxy says what scheme it was asked by. The door takes it off requests of all others.
const forwardedScheme = "X-Forwarded-Proto"

// ErrForeign is what a request of another page gets.
var ErrForeign = Refuse(http.StatusForbidden, "This request comes from a page of another origin")
