package main

import (
	_ "embed"
	"html/template"
	"net"
	"net/http"
	"strings"

	"svc.internal/controller/shelf/web"
)

//go:embed claimpage.html
var claimPageText string

var claimPageTemplate = template.Must(template.New("claimpage").Parse(claimPageText))

// claimPage is what a phone opens by itself in the Wi-Fi of an appliance's first start, where every name is this box: what phones
// ask to find out whether they reach the Internet leads to a page, and that to the claim. It is plain HTTP, so that it takes
// nothing and tells no secret; once the controller has a user it is there no more.
func claimPage(cert *web.Certificate, open func() bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		here, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		address, _, err := net.SplitHostPort(here.String())
		switch {
		case !open() || err != nil:
			http.Error(w, "this controller has been claimed: open its own address, https://", http.StatusNotFound)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			http.Error(w, "there is only a page here", http.StatusMethodNotAllowed)
		case r.Host != address || r.URL.Path != "/":
			http.Redirect(w, r, "http://"+address+"/", http.StatusFound)
		default:
			h.Set("Content-Type", "text/html; charset=utf-8")
			h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
			h.Set("X-Content-Type-Options", "nosniff")
			_ = claimPageTemplate.Execute(w, map[string]any{ // a phone that is gone
				"German":  strings.HasPrefix(strings.ToLower(r.Header.Get("Accept-Language")), "de"),
				"Address": "https://" + address, "Fingerprint": cert.Fingerprint(),
			})
		}
	})
}
