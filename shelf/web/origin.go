package web

import "net/http"

// CrossSite reports whether a page of another site had a browser send a request. Other
// programs than browsers do not say; nobody can have a browser not say it.
func CrossSite(r *http.Request) bool { return r.Header.Get("Sec-Fetch-Site") == "cross-site" }

// protection refuses what another page makes a browser send: cookies go along from other ports of the same host, too.
var protection = http.NewCrossOriginProtection()

// FromOwnPage reports whether a page of this very origin sent a request that changes something, or no browser at all.
func FromOwnPage(r *http.Request) bool { return protection.Check(r) == nil }

// ErrForeign is what a request of another page gets.
var ErrForeign = Refuse(http.StatusForbidden, "This request comes from a page of another origin")
