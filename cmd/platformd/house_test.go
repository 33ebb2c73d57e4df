package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/login"
	"svc.internal/controller/platform/peertest"
	"svc.internal/controller/platform/ratelimit"
	"svc.internal/controller/platform/store"
	"svc.internal/controller/shelf/web"
)

const password = "correct horse"

// house is one instance as a client sees it.
type house struct {
	t     testing.TB
	url   string
	db    *store.Store
	log   *bytes.Buffer
	redis *ratelimit.Shared

	client *http.Client // nil: that of everybody
}

// newHouse serves the real program on a database, with another Redis URL or none.
func newHouse(t *testing.T, db peertest.Database, redisURL string, furnish ...func(*daemon)) *house {
	t.Helper()
	h := &house{t: t, db: db.Open(t), log: &bytes.Buffer{}}
	d := &daemon{log: slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug})), db: h.db}
	d.crowd = web.NewServerCrowd(d.log, nil)
	set, err := readSettings(func(name string) string { return map[string]string{"REDIS_URL": redisURL}[name] })
	if err != nil {
		t.Fatal(err)
	}
	if err := d.share(set); err != nil {
		t.Fatal(err)
	}
	for _, f := range furnish {
		f(d)
	}
	if h.redis = d.redis; d.redis != nil {
		done := make(chan error, 1)
		go func() { done <- d.redis.Run(t.Context()) }()
		t.Cleanup(func() { <-done })
	}
	e, g := d.hall()
	d.furnish(e, g)
	for _, path := range []string{chatPath, mcpPath} {
		if !has(e, http.MethodPost, path) {
			e.POST(path, func(c echo.Context) error {
				return c.JSON(http.StatusOK, platform.IdentityOf(c.Request().Context()).User.Name)
			}, g.Key)
		}
	}
	srv := httptest.NewServer(e)
	t.Cleanup(srv.Close)
	h.url = srv.URL
	return h
}

func has(e *echo.Echo, method, path string) bool {
	for _, r := range e.Routes() {
		if r.Method == method && r.Path == path {
			return true
		}
	}
	return false
}

// answer is what came back.
type answer struct {
	*http.Response
	text string
}

// member returns a member of the JSON object that came, or of one in it: "data.id".
func (a answer) member(path string) any {
	var v any
	if err := json.Unmarshal([]byte(a.text), &v); err != nil {
		return nil
	}
	for name := range strings.SplitSeq(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}

func (a answer) str(path string) string { s, _ := a.member(path).(string); return s }

// ask sends a request; headers are "Name: value".
func (h *house) ask(method, path, body string, headers ...string) answer {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), method, h.url+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		if name == "Host" {
			r.Host = value
		}
		r.Header.Add(name, value)
	}
	client := h.client
	if client == nil {
		client = http.DefaultClient
	}
	res, err := client.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return answer{res, string(text)}
}

// want complains about another status and returns the answer.
func (a answer) want(t testing.TB, status int, about string) answer {
	t.Helper()
	if a.StatusCode != status {
		t.Errorf("%s: got %d %s, want %d", about, a.StatusCode, a.text, status)
	}
	return a
}

// person is somebody who is logged in.
type person struct {
	*house
	name, bearer, refresh string
}

// storedPassword is how password is kept: to hash it for each person again would take the processors longer than many a test.
var storedPassword = sync.OnceValues(func() (string, error) { return login.HashPassword(password) })

// newPerson adds a user and logs in.
func (h *house) newPerson(name string, role platform.Role) person {
	h.t.Helper()
	stored, err := storedPassword()
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := h.db.AddUser(h.t.Context(), name, role, stored); err != nil {
		h.t.Fatal(err)
	}
	return h.login(name)
}

func (h *house) login(name string) person {
	h.t.Helper()
	a := h.ask("POST", "/api/auth/login", `{"username":"`+name+`","password":"`+password+`"}`).want(h.t, 200, "log in")
	return person{h, name, "Authorization: Bearer " + a.str("token"), a.str("refreshToken")}
}

// at is the same person before another instance.
func (p person) at(h *house) person { p.house = h; return p }

func (p person) api(method, path, body string) answer {
	p.t.Helper()
	return p.ask(method, path, body, p.bearer)
}

// newKey makes a key of what body says and returns its record and value.
func (p person) newKey(body string) (id, value string) {
	p.t.Helper()
	a := p.api("POST", "/api/api-keys", body).want(p.t, 201, "create a key")
	return a.str("data.id"), a.str("data.key")
}

// knock asks the MCP endpoint with a key and returns the status; 200 stands for
// whatever it answers to those whom it lets in.
func (h *house) knock(value string) int {
	h.t.Helper()
	switch a := h.ask("POST", mcpPath, `{"method":"tools/list"}`, "X-API-Key: "+value, "Content-Type: application/json"); a.StatusCode {
	case 401, 429, 503:
		return a.StatusCode
	default:
		return 200
	}
}
