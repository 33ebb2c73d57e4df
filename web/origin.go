package web

import "net/http"

// CrossSite reports whether a page of another site had a browser send a request. Other
// programs than browsers do not say; nobody can have a browser not say it.
func CrossSite(r *http.Request) bool { return r.Header.Get("Sec-Fetch-Site") == "cross-site" }
