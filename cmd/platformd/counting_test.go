package main

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/peertest"
)

// left reads the three headers that every answer has.
func left(t testing.TB, a answer, about string) (limit, remaining int, reset time.Time) {
	t.Helper()
	limit, err1 := strconv.Atoi(a.Header.Get("X-RateLimit-Limit"))
	remaining, err2 := strconv.Atoi(a.Header.Get("X-RateLimit-Remaining"))
	reset, err3 := time.Parse(time.RFC3339, a.Header.Get("X-RateLimit-Reset"))
	if err1 != nil || err2 != nil || err3 != nil {
		t.Errorf("%s: headers %v", about, a.Header)
	}
	if wait := time.Until(reset); remaining < 0 || remaining > limit || wait > platform.Window || wait < -time.Second {
		t.Errorf("%s: %d of %d left until %v", about, remaining, limit, reset)
	}
	return limit, remaining, reset
}

// The contract's table "Limits": every response carries the headers.
func TestContractHeadersOnEveryAnswerOfEveryRoute(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		h := newHouse(t, db, "")
		ada := h.newPerson("ada", platform.RoleUser)
		id, key := ada.newKey(`{"name":"k"}`)
		for _, c := range []struct {
			method, path, body, header string
			status, limit              int
		}{
			{"GET", "/healthz", "", "", 200, 20},
			{"GET", "/readyz", "", "", 200, 20},
			{"GET", "/metrics", "", "", 401, 20},
			{"GET", "/.well-known/jwks.json", "", "", 200, 20},
			{"GET", "/nowhere", "", "", 404, 20},
			{"GET", "/api/nowhere", "", "", 404, 20},
			{"GET", "/api/nowhere", "", ada.bearer, 404, 200},
			{"GET", "/api/nowhere", "", "X-API-Key: " + key, 404, 100},
			{"PATCH", "/api/api-keys", "", ada.bearer, 405, 200},
			{"OPTIONS", "/api/api-keys", "", "", 0, 20},
			{"HEAD", "/healthz", "", "", 0, 20},
			{"GET", "/api/api-keys", "", ada.bearer, 200, 200},
			{"POST", "/api/api-keys", "{", ada.bearer, 400, 200},
			{"POST", "/api/api-keys", `{"name":"` + strings.Repeat("x", 1<<20) + `"}`, ada.bearer, 413, 200},
			{"GET", "/api/api-keys/x", "", ada.bearer, 404, 200},
			{"PUT", "/api/api-keys/" + id, `{}`, ada.bearer, 200, 200},
			{"GET", "/api/api-keys", "", "", 401, 20},
			{"GET", "/api/api-keys", "", "Authorization: Bearer x", 401, 20},
			{"POST", "/api/auth/login", `{"username":"ada","password":"wrong"}`, "", 401, 20},
			{"POST", "/api/auth/login", `{"username":"ada","password":"wrong"}`, ada.bearer, 401, 20},
			{"POST", "/api/auth/refresh", `{"refreshToken":"x"}`, "", 401, 20},
			{"POST", "/api/auth/refresh", `{"refreshToken":"` + ada.refresh + `"}`, "", 200, 200},
			{"GET", "/api/auth/me", "", ada.bearer, 200, 200},
			{"POST", chatPath, `{}`, "", 401, 20},
			{"POST", mcpPath, `{}`, "X-API-Key: wrong", 401, 20},
			{"POST", mcpPath, `{}`, "X-API-Key: " + key, 0, 100},
		} {
			var headers []string
			if c.header != "" {
				headers = []string{c.header}
			}
			about := c.method + " " + c.path + " " + c.header
			a := h.ask(c.method, c.path, c.body, append(headers, "Origin: https://elsewhere.example")...)
			if c.status != 0 {
				a.want(t, c.status, about)
			}
			for name := range a.Header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("%s: a page of elsewhere may read it: %s", about, name)
				}
			}
			if limit, _, _ := left(t, a, about); limit != c.limit {
				t.Errorf("%s: limit %d, want %d", about, limit, c.limit)
			}
		}
	})
}

// The row "What counts" of our decisions.
func TestWhatCounts(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		h := newHouse(t, db, "")
		ada := h.newPerson("ada", platform.RoleUser)
		_, key := ada.newKey(`{"name":"k"}`)
		user, address, keys := ada.bearer, "", "X-API-Key: "+key
		h.early(user, "X-None: ", keys)
		remaining := func(header string) int {
			var headers []string
			if header != "" {
				headers = []string{header}
			}
			_, n, _ := left(t, h.ask("GET", "/healthz", "", headers...), "healthz")
			return n
		}
		for _, c := range []struct{ name, method, path, body, header, counts string }{
			{"what is not below /api/", "GET", "/readyz", "", keys, "none"},
			{"what is not below /api/, unknown", "GET", "/nowhere", "", user, "none"},
			{"a key, on the key", "POST", mcpPath, `{}`, keys, keys},
			{"a key where a login is needed, on the key", "GET", "/api/api-keys", "", keys, keys},
			{"a token, on the user", "GET", "/api/api-keys", "", user, user},
			{"a token where a key is needed, on the user", "POST", mcpPath, "{}", user, user},
			{"a 400, too", "POST", "/api/api-keys", "{", user, user},
			{"a 404, too", "GET", "/api/nowhere", "", user, user},
			{"nothing, on the address", "GET", "/api/api-keys", "", "", address},
			{"a wrong key, on the address", "POST", mcpPath, "{}", "X-API-Key: wrong", address},
			{"a wrong token, on the address", "GET", "/api/api-keys", "", "Authorization: Bearer wrong", address},
			{"a login, on the address", "POST", "/api/auth/login", `{"username":"ada","password":"` + password + `"}`, "", address},
			{"a login of somebody logged in, on the address", "POST", "/api/auth/login", `{"username":"ada","password":"no"}`, user, address},
			{"a refresh, on the user", "POST", "/api/auth/refresh", `{"refreshToken":"` + ada.refresh + `"}`, "", user},
			{"a wrong refresh, on the address", "POST", "/api/auth/refresh", `{"refreshToken":"x"}`, "", address},
		} {
			buckets := []string{user, address, keys}
			var before []int
			for _, b := range buckets {
				before = append(before, remaining(b))
			}
			var headers []string
			if c.header != "" {
				headers = []string{c.header}
			}
			h.ask(c.method, c.path, c.body, headers...)
			for i, b := range buckets {
				want := before[i]
				if b == c.counts {
					want--
				}
				if got := remaining(b); got != want {
					t.Errorf("%s: %q has %d left, want %d", c.name, b, got, want)
				}
			}
		}
	})
}

// The contract's rate-limit body, and the rows "What counts" (429s do not) and "429 has
// the rate-limit body on every route".
func TestContract429(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		h := newHouse(t, db, "")
		ada := h.newPerson("ada", platform.RoleUser)
		id, key := ada.newKey(`{"name":"k","rateLimit":2}`)
		h.early("X-API-Key: " + key)
		for _, want := range []int{1, 0} {
			a := h.ask("POST", mcpPath, `{}`, "X-API-Key: "+key)
			if _, remaining, _ := left(t, a, "within the limit"); remaining != want || a.StatusCode == 429 {
				t.Errorf("%d with %d left, want %d", a.StatusCode, remaining, want)
			}
		}
		for _, path := range []string{mcpPath, chatPath, "/api/api-keys", "/api/nowhere"} {
			a := h.ask("POST", path, `{}`, "X-API-Key: "+key).want(t, 429, path)
			limit, remaining, reset := left(t, a, path)
			seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
			if err != nil || limit != 2 || remaining != 0 {
				t.Errorf("%s: headers %v", path, a.Header)
			}
			if until := time.Until(reset).Seconds(); float64(seconds) < until || float64(seconds) > until+5 {
				t.Errorf("%s: Retry-After is %d, the window ends in %v s", path, seconds, until)
			}
			want := fmt.Sprintf(`{"success":false,"error":"Rate limit exceeded","message":"%s","retryAfter":%d,"limit":2,"windowMs":900000}`, a.str("message"), seconds)
			if a.text != want || !strings.Contains(a.str("message"), fmt.Sprintf(" %d s", seconds)) {
				t.Errorf("%s: got %s, want %s", path, a.text, want)
			}
		}
		// They were not counted, and another limit holds from the next request.
		ada.api("PUT", "/api/api-keys/"+id, `{"rateLimit":3}`).want(t, 200, "raise")
		if a := h.ask("POST", mcpPath, `{}`, "X-API-Key: "+key); a.StatusCode == 429 {
			t.Errorf("with a higher limit: %s", a.text)
		}
		if a := h.ask("POST", mcpPath, `{}`, "X-API-Key: "+key).want(t, 429, "and once more"); a.member("limit") != 3.0 {
			t.Errorf("got %s", a.text)
		}
		// Nobody else is short of anything.
		ada.api("GET", "/api/api-keys", "").want(t, 200, "the owner")
		if a := h.ask("GET", "/healthz", "", "X-API-Key: "+key).want(t, 200, "what does not count"); a.Header.Get("X-RateLimit-Remaining") != "0" {
			t.Errorf("headers %v", a.Header)
		}
	})
}

func TestTwentyOfAStrangerPassWhateverTheyTry(t *testing.T) {
	h := newHouse(t, peertest.Database{DataDir: t.TempDir()}, "")
	h.early("X-None: ")
	for i := range 20 {
		a := h.ask("POST", mcpPath, `{}`, "X-API-Key: "+strconv.Itoa(i)).want(t, 401, "guess")
		if _, remaining, _ := left(t, a, "guess"); remaining != 19-i {
			t.Errorf("guess %d: %d left", i+1, remaining)
		}
	}
	for _, path := range []string{"/api/auth/login", mcpPath, "/api/auth/refresh", "/api/nowhere"} {
		h.ask("POST", path, `{"refreshToken":"x"}`).want(t, 429, path)
	}
	// X-Forwarded-For is believed from nobody by default.
	h.ask("POST", mcpPath, `{}`, "X-Forwarded-For: 203.0.113.5").want(t, 429, "with another address claimed")
}

func TestAThousandAtOnceOnAKeyOfLimit100(t *testing.T) {
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		h := newHouse(t, db, "")
		key := h.newPerson("ada", platform.RoleUser).lastingKey(`{"name":"k"}`)
		if passed, refused := storm(t, []*house{h}, key, 1000); passed != 100 || refused != 900 {
			t.Errorf("%d passed and %d were refused, want 100 and 900", passed, refused)
		}
	})
}

// lastingKey makes a key whose window does not end during the test.
func (p person) lastingKey(body string) string {
	p.t.Helper()
	for {
		_, key := p.newKey(body)
		if _, _, reset := left(p.t, p.ask("GET", "/healthz", "", "X-API-Key: "+key), "healthz"); time.Until(reset) > 2*time.Minute {
			return key
		}
	}
}

// early waits until no window of a limit ends soon, of those that headers show the one to ask with.
func (h *house) early(headers ...string) {
	h.t.Helper()
	eventually(h.t, "a window of each limit that is not about to end", func() bool {
		for _, header := range headers {
			if _, _, reset := left(h.t, h.ask("GET", "/healthz", "", header), "healthz"); time.Until(reset) < 20*time.Second {
				return false
			}
		}
		return true
	})
}

// storm asks n times at once, over all instances in turn.
func storm(t *testing.T, houses []*house, key string, n int) (passed, refused int32) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n / 10, MaxConnsPerHost: n / 10}}
	defer client.CloseIdleConnections()
	var ok, no atomic.Int32
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			r, err := http.NewRequestWithContext(t.Context(), "POST", houses[i%len(houses)].url+mcpPath, strings.NewReader(`{"method":"tools/list"}`))
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("X-API-Key", key)
			r.Header.Set("Content-Type", "application/json")
			a, err := client.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			a.Body.Close()
			switch a.StatusCode {
			case 429:
				no.Add(1)
			case 401, 503:
				t.Errorf("status %d", a.StatusCode)
			default:
				ok.Add(1)
			}
		})
	}
	wg.Wait()
	return ok.Load(), no.Load()
}
