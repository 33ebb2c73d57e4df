package web

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// OnLoopback guards a door on loopback that has no TLS: a page of the web could have a
// name point there and have the browser ask it. Only requests that name a loopback
// address or localhost get through, and none that a page of another origin sent.
func OnLoopback(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		switch {
		case !isLoopback(r.Host):
			http.Error(w, "this door is for its own machine: ask for 127.0.0.1 or localhost", http.StatusMisdirectedRequest)
		case origin != "" && !sameOrigin(origin, "http", r.Host):
			http.Error(w, "pages of other origins have no business here", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "localhost" || err == nil && addr.IsLoopback()
}
