package main

import (
	"net/http"
	"strings"
	"testing"
)

// tunnelled asks a controller's public API by its host name.
func (e *estate) tunnelled(host, path, token string) answer {
	e.t.Helper()
	headers := []string{"Host: " + host}
	if token != "" {
		headers = append(headers, "Authorization: Bearer "+token)
	}
	return e.ask("GET", path, "", headers...)
}

// A host name below TUNNEL_DOMAIN is a controller; strangers have their twenty requests, and those whose token the controller
// accepts a bucket of their own.
func TestTheTunnelStandsBehindTheLimits(t *testing.T) {
	const path = "/svc/api/getClusters"
	e := newEstateOf(t, plan{settings: map[string]string{"TUNNEL_DOMAIN": "tunnel.example"}, tunnel: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer good" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte("[" + r.URL.Path + "]"))
	})})
	e.tunnelled("rooms.tunnel.example", path, "good").want(t, 200, "a good token, for the first time")
	a := e.tunnelled("rooms.tunnel.example", path, "good").want(t, 200, "a good token")
	if a.text != "["+path+"]" || a.Header.Get("X-RateLimit-Limit") != "3000" {
		t.Errorf("got %s with limit %s", a.text, a.Header.Get("X-RateLimit-Limit"))
	}
	if a := e.tunnelled("127.0.0.1", path, "good"); a.StatusCode != 404 {
		t.Errorf("the platform itself: %d %s", a.StatusCode, a.text)
	}
	e.early("X-None: ")
	statuses := map[int]int{}
	for i := range 30 {
		host := []string{"rooms.tunnel.example", "nobody.tunnel.example"}[i%2]
		a := e.tunnelled(host, path, strings.Repeat("x", i))
		statuses[a.StatusCode]++
		if a.StatusCode == 429 && (a.str("error") != "Rate limit exceeded" || a.Header.Get("Retry-After") == "") {
			t.Errorf("429 with %s", a.text)
		}
	}
	if statuses[401]+statuses[502]+statuses[429] != 30 || statuses[401]+statuses[502] > 20 || statuses[429] < 10 {
		t.Errorf("thirty strangers: %v", statuses)
	}
	e.tunnelled("rooms.tunnel.example", path, "good").want(t, 200, "a good token while strangers are refused")
}

func TestATunnelDomainIsOne(t *testing.T) {
	for domain, good := range map[string]bool{
		"": true, "tunnel.platform.example": true, "localhost": false, "*.example.com": false, "https://x.example": false, "x.example:443": false, ".example.com": false,
	} {
		_, err := readSettings(func(name string) string { return map[string]string{"TUNNEL_DOMAIN": domain}[name] })
		if (err == nil) != good {
			t.Errorf("TUNNEL_DOMAIN %q: %v", domain, err)
		}
	}
}
