package main

import (
	_ "embed"
	"net"
	"net/http"
	"strings"

	"svc.internal/controller/shelf/web"
)

//go:embed claimpage.html
var claimPageText string

// claimPageIn is the page in one language, of the two that are in the file one after the other.
func claimPageIn(language, title string) string {
	head, rest, _ := strings.Cut(claimPageText, "<!-- de -->\n")
	german, rest, _ := strings.Cut(rest, "<!-- en -->\n")
	english, foot, _ := strings.Cut(rest, "<!-- end -->\n")
	body := map[string]string{"de": german, "en": english}[language]
	return strings.NewReplacer("{{Language}}", language, "{{Title}}", title).Replace(head) + body + foot
}

// claimPage is what a phone opens by itself in the Wi-Fi of an appliance's first start, where every name is this box: what phones
// ask to find out whether they reach the Internet leads to a page, and that to the claim. It is plain HTTP, so that it takes
// nothing and tells no secret; once the controller has a user it is there no more.
func claimPage(cert *web.Certificate, open func() bool) http.Handler {
	english, german := claimPageIn("en", "Claim this controller"), claimPageIn("de", "Steuerung übernehmen")
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
			page := english
			if strings.HasPrefix(strings.ToLower(r.Header.Get("Accept-Language")), "de") {
				page = german
			}
			// Nothing of these two is anybody's text. A phone that is gone needs no page.
			_, _ = strings.NewReplacer("{{Address}}", "https://"+address, "{{Fingerprint}}", cert.Fingerprint()).WriteString(w, page)
		}
	})
}
