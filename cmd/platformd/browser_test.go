package main

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/peertest"
)

// logInByBrowser logs in as a page does and returns the cookie.
func (h *house) logInByBrowser(name string) string {
	h.t.Helper()
	a := h.ask("POST", "/api/auth/login", `{"username":"`+name+`","password":"`+password+`","browser":true}`, "Sec-Fetch-Site: same-origin").want(h.t, 200, "log in by browser")
	if a.member("token") != nil || a.member("refreshToken") != nil || a.str("data.username") != name {
		h.t.Errorf("a browser got %s", a.text)
	}
	for _, c := range a.Cookies() {
		if c.Name == platform.SessionCookie && c.Secure && c.HttpOnly && c.SameSite == http.SameSiteStrictMode && c.Path == "/" {
			return "Cookie: " + c.Name + "=" + c.Value
		}
	}
	h.t.Fatalf("there is no such cookie: %v", a.Cookies())
	return ""
}

func TestABrowserLogsInWithACookieThatOnlyOurPagesCanUse(t *testing.T) {
	t.Parallel()
	e := newEstate(t, nil)
	cookie := e.logInByBrowser("ada")
	own, foreign := "Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: same-site"
	me := e.ask("GET", "/api/auth/me", "", cookie).want(t, 200, "who is logged in")
	if me.str("data.role") != "admin" || me.Header.Get("X-RateLimit-Limit") != "200" {
		t.Errorf("got %s, limit %s", me.text, me.Header.Get("X-RateLimit-Limit"))
	}
	e.ask("POST", "/api/api-keys", `{"name":"k"}`, cookie, own).want(t, 201, "a change by our own page")
	e.ask("POST", "/api/api-keys", `{"name":"k"}`, cookie, foreign).want(t, 403, "a change by a page on another port")
	e.ask("POST", "/api/api-keys", `{"name":"k"}`, cookie, "Origin: https://elsewhere.example").want(t, 403, "a change by a page of elsewhere")
	e.ask("POST", "/api/auth/login", `{"username":"ada","password":"`+password+`","browser":true}`, foreign).want(t, 403, "a log-in by another page")
	e.ask("GET", "/api/auth/me", "").want(t, 401, "without a cookie")
	e.ask("GET", "/api/auth/me", "", "Cookie: "+platform.SessionCookie+"=made-up").want(t, 401, "a cookie that was made up")
	e.ask("POST", "/api/auth/logout", "", cookie, foreign).want(t, 403, "a log-out by another page")
	out := e.ask("POST", "/api/auth/logout", "", cookie, own).want(t, 204, "log out")
	if c := out.Cookies(); len(c) != 1 || c[0].MaxAge >= 0 {
		t.Errorf("logging out leaves the cookie: %v", c)
	}
	e.ask("GET", "/api/auth/me", "", cookie).want(t, 401, "after logging out")
	// What ends people's sessions ends those of browsers.
	cookie = e.logInByBrowser("ada")
	if err := e.db.SetDisabled(t.Context(), "ada", true); err != nil {
		t.Fatal(err)
	}
	e.ask("GET", "/api/auth/me", "", cookie).want(t, 401, "after the user was disabled")
}

// A browser that does not say Sec-Fetch-Site says Origin. What a proxy in front serves is TLS, unless one that is
// believed says otherwise; a browser of this machine asks without.
func TestAPageThatCameOverPlainHTTPIsNoneOfOurs(t *testing.T) {
	t.Parallel()
	h := newHouse(t, peertest.Database{DataDir: t.TempDir()}, "")
	h.newPerson("ada", platform.RoleAdmin)
	for _, c := range []struct {
		host, origin, forwarded string
		want                    int
	}{
		{"platform.example", "https://platform.example", "", 200},
		{"platform.example", "http://platform.example", "", 403},
		{"platform.example", "http://platform.example", "http", 403}, // nobody is believed here
		{"platform.example:8443", "https://platform.example:8443", "", 200},
		{"platform.example:8443", "https://platform.example", "", 403},
		{"127.0.0.1:8080", "http://127.0.0.1:8080", "", 200},
		{"127.0.0.1:8080", "https://127.0.0.1:8080", "", 403},
	} {
		a := h.ask("POST", "/api/auth/login", `{"username":"ada","password":"`+password+`","browser":true}`, "Host: "+c.host, "Origin: "+c.origin, "X-Forwarded-Proto: "+c.forwarded)
		a.want(t, c.want, "log in at "+c.host+" by a page of "+c.origin)
	}
	behind := newHouse(t, peertest.Database{DataDir: t.TempDir()}, "", func(d *daemon) { d.proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	behind.newPerson("ada", platform.RoleAdmin)
	for forwarded, want := range map[string]int{"http": 200, "https": 403, "HTTPS, http": 403, "": 403} {
		a := behind.ask("POST", "/api/auth/login", `{"username":"ada","password":"`+password+`","browser":true}`, "Host: intranet.example", "Origin: http://intranet.example", "X-Forwarded-Proto: "+forwarded)
		a.want(t, want, "log in where the proxy says "+forwarded)
	}
}

func TestPagesAreToldHowSitesAre(t *testing.T) {
	t.Parallel()
	e := newEstate(t, nil)
	e.newPerson("bob", platform.RoleUser)
	bob := e.login("bob")
	eventually(t, "the site has reported all of it", func() bool {
		a := bob.api("GET", "/api/sites/rooms", "").want(t, 200, "one site")
		n, _ := a.member("data.devices").(float64)
		return n == 6 && a.str("data.state") == "online" && strings.Contains(a.text, `"name":"Lobby","floor":"Ground","lights":2,"litNow":0,"shades":1,"silent":0`)
	})
	bob.api("GET", "/api/sites/nowhere", "").want(t, 404, "an unknown site")
	bob.api("POST", "/api/controllers", `{"name":"Main street 5"}`).want(t, 403, "a user enrols")
	made := e.admin.api("POST", "/api/controllers", `{"name":"Main street 5"}`).want(t, 201, "an administrator enrols")
	id := made.str("data.controllerId")
	if len(made.str("data.code")) != 23 || !strings.HasPrefix(id, "main-street-5-") {
		t.Errorf("the invitation is %s", made.text)
	}
	e.admin.api("POST", "/api/controllers", `{"name":" "}`).want(t, 400, "without a name")
	again := e.admin.api("POST", "/api/controllers/"+id+"/code", "").want(t, 201, "another code")
	e.ask("POST", "/api/controllers/enrol", `{"code":"`+made.str("data.code")+`"}`).want(t, 401, "the first code")
	e.ask("POST", "/api/controllers/enrol", `{"code":"`+again.str("data.code")+`"}`).want(t, 201, "the second code")
	e.admin.api("DELETE", "/api/controllers/"+id, "").want(t, 204, "revoke")
	eventually(t, "it is revoked", func() bool {
		return strings.Contains(bob.api("GET", "/api/sites", "").text, `"id":"`+id+`","name":"Main street 5","state":"revoked"`)
	})
	e.admin.api("DELETE", "/api/controllers/nowhere", "").want(t, 404, "revoke an unknown one")
}

func TestPagesAreToldHowMuchOfALimitIsUsed(t *testing.T) {
	t.Parallel()
	e := newEstate(t, nil)
	id, key := e.admin.newKey(`{"name":"k","rateLimit":7}`)
	for range 3 {
		e.ask("POST", mcpPath, `{"method":"tools/list"}`, "X-API-Key: "+key, "Content-Type: application/json").want(t, 200, "a call")
	}
	a := e.admin.api("GET", "/api/usage", "").want(t, 200, "usage")
	if !strings.Contains(a.text, `"id":"`+id+`"`) || !strings.Contains(a.text, `"limit":7,"used":3`) || a.member("data.person.limit") != 200.0 {
		t.Errorf("usage is %s", a.text)
	}
}
