package api_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/shelf/account"
)

func TestRefreshTokensRotateAndATheftEndsThemAll(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.client()
	var first, second api.Session
	c.must(200, "POST", "/auth/login", api.Login{Username: "operator", Password: password}, &first)
	if first.TokenType != "Bearer" || first.AccessToken == "" || first.RefreshToken == "" || first.ExpiresIn < 3500 {
		t.Fatalf("got %+v", first)
	}
	c.must(200, "POST", "/auth/refresh", api.Refresh{RefreshToken: first.RefreshToken}, &second)
	if second.RefreshToken == first.RefreshToken {
		t.Fatal("the refresh token was not replaced")
	}
	// Its answer may have been lost: once more, soon, is no theft.
	c.must(200, "POST", "/auth/refresh", api.Refresh{RefreshToken: first.RefreshToken}, nil)
	c.must(200, "POST", "/auth/refresh", api.Refresh{RefreshToken: second.RefreshToken}, &second)
	c.token = second.AccessToken
	c.must(200, "GET", "/session", nil, nil)
	c.must(204, "POST", "/auth/logout", api.Logout{RefreshToken: second.RefreshToken}, nil)
	c.must(401, "POST", "/auth/refresh", api.Refresh{RefreshToken: second.RefreshToken}, nil)
}

func TestABrowserKeepsACookieAndNoOtherPageCanUseIt(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.client()
	var s api.Session
	header := c.must(200, "POST", "/auth/login", api.Login{Username: "operator", Password: password, Browser: true}, &s)
	cookie := header.Get("Set-Cookie")
	for _, want := range []string{"__Host-ctl=", "Path=/", "HttpOnly", "Secure", "SameSite=Strict"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("cookie %q lacks %s", cookie, want)
		}
	}
	if s.AccessToken != "" || s.RefreshToken != "" {
		t.Error("a browser's script was given tokens")
	}
	off := api.Command{Kind: "light-off", Target: api.Target{Scope: "node", ID: 1}}
	c.must(200, "GET", "/session", nil, nil)
	c.must(200, "POST", "/commands", off, nil, "Origin", h.server.URL, "Sec-Fetch-Site", "same-origin")
	c.must(403, "POST", "/commands", off, nil, "Sec-Fetch-Site", "same-site")  // another port of this host
	c.must(403, "POST", "/commands", off, nil, "Sec-Fetch-Site", "cross-site") //
	c.must(403, "POST", "/commands", off, nil, "Origin", "https://evil.example")
	// Browsers that do not say Sec-Fetch-Site: the page came over TLS, or may be anybody's.
	c.must(200, "POST", "/commands", off, nil, "Origin", h.server.URL)
	c.must(403, "POST", "/commands", off, nil, "Origin", "http://"+strings.TrimPrefix(h.server.URL, "https://"))
	c.must(403, "POST", "/commands", off, nil, "Origin", "http://"+strings.TrimPrefix(h.server.URL, "https://"), "X-Forwarded-Proto", "http")
	c.must(204, "POST", "/auth/logout", nil, nil)
	c.must(401, "GET", "/session", nil, nil)
}

func TestRolesAndTokensOfOthersAreRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.client().must(403, "POST", "/auth/login", api.Login{Username: "api_service", Password: password}, nil)
	h.client().must(401, "POST", "/auth/login", api.Login{Username: "nobody", Password: password}, nil)
	secret, _, err := h.db.AddKey(t.Context(), "k", true)
	must(t, err)
	c := h.client()
	c.token = secret
	c.must(401, "GET", "/site", nil, nil)
	viewer := h.as(account.RoleViewer)
	viewer.must(200, "GET", "/nodes", nil, nil)
	// 403 comes before the body is looked at.
	viewer.must(403, "POST", "/commands", "{", nil)
	h.client().must(401, "POST", "/commands", "{", nil)

	// A removed user is out at once.
	must(t, h.db.RemoveUser(t.Context(), "viewer"))
	viewer.must(401, "GET", "/nodes", nil, nil)
}

// needed is who may do what at this door, as docs/admin-api.md tells it; "" is anybody.
func needed(method, path string) account.Role {
	within := func(paths ...string) bool {
		return slices.ContainsFunc(paths, func(p string) bool { return path == p || strings.HasPrefix(path, p+"/") })
	}
	switch {
	case within("/claim", "/auth/login", "/auth/refresh", "/auth/logout", "/openapi.json"):
		return ""
	case within("/auth/password"):
		return account.RoleViewer
	case within("/auth/users", "/auth/keys", "/auth/takeover", "/backup", "/migrations", "/logs", "/diagnostics", "/network"),
		method != "get" && within("/site", "/certificate", "/update"):
		return account.RoleAdmin
	case method == "get":
		return account.RoleViewer
	}
	return account.RoleOperator
}

func TestEveryRouteKnowsItsRoles(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var doc struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	h.client().must(200, "GET", "/openapi.json", nil, &doc)
	ranks := []account.Role{"", account.RoleViewer, account.RoleOperator, account.RoleAdmin}
	who := map[account.Role]*client{"": h.client(), account.RoleViewer: h.as(account.RoleViewer), account.RoleOperator: h.as(account.RoleOperator)}
	asked := 0
	for path, ops := range doc.Paths {
		path = strings.TrimPrefix(path, "/api/v1")
		concrete := strings.NewReplacer("{id}", "77", "{bus}", "ground", "{user}", "nobody", "{key}", "none").Replace(path)
		for method := range ops {
			for role, c := range who {
				need := needed(method, path)
				allowed := slices.Index(ranks, role) >= slices.Index(ranks, need)
				if path == "/events" && allowed {
					continue // it does not end
				}
				var body any
				if method != "get" {
					body = "{" // which is not looked at before the role
				}
				status, _, said := c.do(strings.ToUpper(method), concrete, body)
				refused := status == http.StatusForbidden || status == http.StatusUnauthorized
				if asked++; allowed && need != "" && refused || !allowed && status != map[bool]int{true: http.StatusUnauthorized, false: http.StatusForbidden}[role == ""] {
					t.Errorf("%s %s as %q: %d %s; it is for %q", method, path, role, status, said, need)
				}
			}
		}
	}
	if asked < 200 {
		t.Errorf("only %d calls were made", asked)
	}
}

func TestClaimMakesOneUserAndIsGone(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, u := range h.db.Users() {
		must(t, h.db.RemoveUser(t.Context(), u.Name))
	}
	code, err := h.claim.Open()
	must(t, err)
	file := filepath.Join(h.dir, api.ClaimFile)
	info, err := os.Stat(file)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v", info.Mode())
	}
	if again, err := api.NewClaim(h.dir).Open(); again != code || err != nil {
		t.Errorf("after a restart the code is %q (%v), want %q", again, err, code)
	}
	c := h.client()
	var state api.ClaimState
	c.must(200, "GET", "/claim", nil, &state)
	if state.Claimed || state.Fingerprint != h.tls.Fingerprint() {
		t.Errorf("got %+v", state)
	}
	c.must(403, "POST", "/claim", api.ClaimRequest{Code: "AAAA-AAAA-AAAA", Username: "ana", Password: password}, nil)
	if status, _, data := c.do("POST", "/claim", api.ClaimRequest{Code: code, Username: "ana", Password: "short"}); status != 422 || !strings.Contains(string(data), `"errors":[{`) {
		t.Errorf("a short password: %d %s", status, data)
	}
	var s api.Session
	said := strings.ToLower(strings.ReplaceAll(code, "-", ""))
	c.must(200, "POST", "/claim", api.ClaimRequest{Code: said, Username: "ana", Password: password}, &s)
	if s.Role != "admin" || s.AccessToken == "" {
		t.Errorf("got %+v", s)
	}
	c.must(409, "POST", "/claim", api.ClaimRequest{Code: code, Username: "eve", Password: password}, nil)
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
}

func TestErrorsAreProblems(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.as(account.RoleOperator)
	for _, row := range []struct {
		status        int
		method, path  string
		body, pointer string
	}{
		{400, "POST", "/commands", `{"kind":`, ""},
		{400, "POST", "/commands", `{"kind":"light-on","colour":1}`, "/colour"},
		{400, "POST", "/commands", `{"kind":"light-on","target":{"id":"x"}}`, "/target/id"},
		{422, "POST", "/commands", `{"kind":"explode"}`, "/kind"},
		{422, "POST", "/commands", `{"kind":"light-level","target":{"scope":"node","id":1},"level":101}`, "/level"},
		{422, "POST", "/commands", `{"kind":"light-on","target":{"scope":"node","id":99}}`, "/target/id"},
		{404, "GET", "/nodes/99", "", ""},
		{404, "GET", "/nothing", "", ""},
		{405, "DELETE", "/session", "", ""},
		{413, "POST", "/commands", `{"why":"` + strings.Repeat("x", web64k) + `"}`, ""},
	} {
		status, header, data := c.do(row.method, row.path, row.body)
		if status != row.status || header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s %.60s: got %d %s: %s", row.method, row.path, row.body, status, header.Get("Content-Type"), data)
		}
		if row.pointer != "" && !strings.Contains(string(data), `"pointer":"`+row.pointer+`"`) {
			t.Errorf("%s: %s does not point to %s", row.body, data, row.pointer)
		}
		if !strings.Contains(string(data), `"request":"`) {
			t.Errorf("%s does not name the request", data)
		}
	}
}

const web64k = 65 << 10

func TestDescriptionListsEveryRoute(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var doc struct {
		Paths      map[string]map[string]any `json:"paths"`
		Components struct {
			Schemas map[string]any `json:"schemas"`
		} `json:"components"`
	}
	h.client().must(200, "GET", "/openapi.json", nil, &doc)
	for _, path := range []string{"/api/v1/nodes/{id}", "/api/v1/events", "/api/v1/commands"} {
		if doc.Paths[path] == nil {
			t.Errorf("%s is missing", path)
		}
	}
	for path, ops := range doc.Paths {
		for method := range ops {
			if method == "get" {
				continue
			}
			concrete := strings.NewReplacer("{id}", "1", "{bus}", "ground", "{user}", "viewer", "{key}", "none").Replace(strings.TrimPrefix(path, "/api/v1"))
			if status, _, _ := h.client().do(strings.ToUpper(method), concrete, nil); status == http.StatusNotFound || status == http.StatusMethodNotAllowed {
				t.Errorf("%s %s is described, but answers %d", method, path, status)
			}
		}
	}
	for name, schema := range doc.Components.Schemas {
		if schema == nil {
			t.Errorf("schema %s is empty", name)
		}
	}
}

// Two users whom people take for one another are one too many.
func TestUsersWhoLookAlikeDoNotStandSideBySide(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	boss := h.as(account.RoleAdmin)
	add := func(want int, name string) {
		t.Helper()
		boss.must(want, "POST", "/auth/users", api.NewUser{Username: name, Password: "long enough for all", Role: "viewer"}, nil)
	}
	add(201, "Jörg Weiß")
	for _, like := range []string{"jörg weiß", "JÖRG WEISS", "Jo\u0308rg Weiß", "Jörg  Weiß", "Ｊörg Weiß", "Jörg\u00a0Weiß"} {
		add(409, like)
	}
	for _, unseen := range []string{"Jörg\u200b Weiß", "Jörg Weiß\u2060", "\ufeffadmin", "ad\u00admin", "admin\ufe0f", "ad\u3164min"} {
		add(422, unseen)
	}
	add(409, "ADMIN")
	add(201, "Jörg Weiss 2")
}
