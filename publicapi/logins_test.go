package publicapi

import (
	"fmt"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/account/bearer"
)

// The tests of this file are named after the decisions about logins, tokens and roles;
// docs/public-api.md gives their reasons.

func TestDecisionRefreshTokenFailure(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	const failure = `{"status":false,"message":"Token invalid or expired"}`
	u, _ := h.accounts.User("operator")
	refresh, _ := h.accounts.NewRefreshToken(t.Context(), u)
	body := `{"refresh_token":"` + refresh + `"}`
	for range 3 { // using one does not end it
		if got := h.send("POST", "/svc/api/refreshToken", body); got.status != 200 {
			t.Fatalf("got %d %s", got.status, got.body)
		}
	}
	if got := h.send("POST", "/svc/api/refreshToken", body, "Authorization: Bearer expired"); got.status != 200 {
		t.Errorf("with an expired access token beside it: got %d %s", got.status, got.body)
	}
	h.send("POST", "/svc/api/refreshToken", `{"refresh_token":"never"}`).want(t, 401, failure)
	h.send("POST", "/svc/api/refreshToken", `{"refresh_token":""}`).want(t, 401, failure)
	h.post("/svc/api/refreshToken", `{}`).want(t, 400, `{"status":0,"message":"refresh_token: missing; want a string"}`)
	h.accounts.edit("operator", func(*account.User) {}) // password change
	h.send("POST", "/svc/api/refreshToken", body).want(t, 401, failure)
	v, _ := h.accounts.User("viewer")
	refresh, _ = h.accounts.NewRefreshToken(t.Context(), v)
	h.accounts.remove("viewer")
	h.send("POST", "/svc/api/refreshToken", `{"refresh_token":"`+refresh+`"}`).want(t, 401, failure)
}

func TestDecisionTenFailuresInFiveMinutesAre429(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	const right = `{"username":"admin","password":"correct horse admin"}`
	for range 10 {
		h.send("POST", "/svc/api/authenticate", `{"username":"admin","password":"guess"}`).want(t, 200, authFailure)
		h.clock.advance(time.Second)
	}
	checks := h.accounts.checks
	got := h.send("POST", "/svc/api/authenticate", right)
	got.want(t, 429, authFailure)
	if retry, err := strconv.Atoi(got.header.Get("Retry-After")); err != nil || retry != 290 {
		t.Errorf("Retry-After is %q, want 290", got.header.Get("Retry-After"))
	}
	if h.accounts.checks != checks {
		t.Error("a refused attempt cost a password check")
	}
	h.clock.advance(289 * time.Second)
	h.send("POST", "/svc/api/authenticate", right).want(t, 429, authFailure)
	h.clock.advance(time.Second)
	if got := h.send("POST", "/svc/api/authenticate", right); got.status != 200 || !strings.Contains(got.body, `"responseCode":1`) {
		t.Errorf("after five minutes: got %d %s", got.status, got.body)
	}
}

func TestDecisionAUserRemovedDuringItsLoginIsAuthFailed(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	h.accounts.after = func() { delete(h.accounts.users, "admin") }
	h.send("POST", "/svc/api/authenticate", `{"username":"admin","password":"correct horse admin"}`).want(t, 200, authFailure)
}

func TestDecisionSuccessfulLoginsAreNotBraked(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	for i := range 50 {
		got := h.send("POST", "/svc/api/authenticate", `{"username":"admin","password":"correct horse admin"}`)
		if got.status != 200 || !strings.Contains(got.body, `"responseCode":1`) {
			t.Fatalf("login %d: got %d %s", i+1, got.status, got.body)
		}
	}
}

func TestDecisionLoginsWaitForEachOtherAndTooManyAre503(t *testing.T) {
	drivertest.Long(t)
	h := newHouse(t, lobby().snapshot())
	release := make(chan struct{})
	var begun sync.WaitGroup
	begun.Add(hashing)
	var now, most, held atomic.Int64
	h.accounts.slow = func() {
		n := now.Add(1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		if held.Add(1) <= hashing {
			begun.Done()
		}
		<-release
		now.Add(-1)
	}
	// Each from its own address, as the brake would otherwise answer.
	login := func(i int) answer {
		r := httptest.NewRequest("POST", "/svc/api/authenticate", strings.NewReader(`{"username":"admin","password":"correct horse admin"}`))
		r.RemoteAddr = fmt.Sprintf("10.0.%d.%d:1", i/250, i%250)
		w := httptest.NewRecorder()
		h.echo.ServeHTTP(w, r)
		return answer{status: w.Code, header: w.Result().Header, body: strings.TrimSpace(w.Body.String())}
	}
	var calls sync.WaitGroup
	for i := range hashing + loginsWaiting {
		calls.Go(func() {
			if got := login(i); got.status != 200 {
				t.Errorf("a login that waited: got %d %s", got.status, got.body)
			}
		})
	}
	begun.Wait()
	for deadline := time.Now().Add(3 * time.Minute); h.api.logins.Waiting() < loginsWaiting; {
		if time.Now().After(deadline) {
			t.Fatalf("only %d logins wait", h.api.logins.Waiting())
		}
		runtime.Gosched()
	}
	if got := login(999); got.status != 503 || got.header.Get("Retry-After") == "" {
		t.Errorf("one too many: got %d %s", got.status, got.body)
	}
	close(release)
	calls.Wait()
	if most.Load() > hashing {
		t.Errorf("%d passwords were checked at once, want at most %d", most.Load(), hashing)
	}
}

func TestDecisionRoles(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	for _, c := range []struct {
		who         string
		token       string
		read, write int
	}{
		{"admin", h.token(account.RoleAdmin), 200, 200},
		{"operator", h.token(account.RoleOperator), 200, 200},
		{"api_service", h.token(account.RoleAPIService), 200, 200},
		{"viewer", h.token(account.RoleViewer), 200, 403},
		{"no role", h.token(account.RoleNone), 403, 403},
		{"key read", h.accounts.key("r", false), 200, 403},
		{"key read+write", h.accounts.key("w", true), 200, 200},
	} {
		t.Run(c.who, func(t *testing.T) {
			for _, path := range append(strings.Fields(readPaths), "/metrics") {
				if got := h.send("GET", path, "", "Authorization: bearer "+c.token); got.status != c.read {
					t.Errorf("%s: got %d, want %d", path, got.status, c.read)
				}
			}
			for path, body := range controls {
				if got := h.send("POST", path, body, "Authorization: Bearer "+c.token); got.status != c.write {
					t.Errorf("%s: got %d, want %d", path, got.status, c.write)
				}
			}
		})
	}
	h.core.commands()
	h.send("POST", "/svc/api/shadeControl", controls["/svc/api/shadeControl"], "Authorization: Bearer "+h.accounts.key("w", true))
	if got := h.core.commands()[0].Origin.Who; got != "key w" {
		t.Errorf("the ledger names %q, want the key", got)
	}
}

func TestDecisionRevocationIsImmediate(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	token := h.token(account.RoleAdmin)
	poll := func() int {
		return h.send("GET", "/svc/api/getClusters", "", "Authorization: Bearer "+token).status
	}
	if got := poll(); got != 200 {
		t.Fatalf("got %d", got)
	}
	h.accounts.edit("admin", func(*account.User) {})
	if got := poll(); got != 401 {
		t.Errorf("after a password change: got %d, want 401", got)
	}
	token = h.token(account.RoleAdmin)
	poll()
	h.accounts.remove("admin")
	if got := poll(); got != 401 {
		t.Errorf("after removal: got %d, want 401", got)
	}
	h.accounts.add("admin", "another password", account.RoleAdmin)
	h.accounts.edit("admin", func(u *account.User) { u.Revision = 1 }) // the revision the token knows
	if got := poll(); got != 401 {
		t.Errorf("with a new user of the old name: got %d, want 401", got)
	}
}

func TestDecisionTokensAreBoundedByTheMonotonicClock(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	token := h.token(account.RoleViewer)
	poll := func() int {
		return h.send("GET", "/svc/api/getClusters", "", "Authorization: Bearer "+token).status
	}
	h.clock.wall.Add(int64(20 * 365 * 24 * time.Hour))
	if got := poll(); got != 200 {
		t.Errorf("after the wall clock jumped forward: got %d", got)
	}
	h.clock.wall.Store(0)
	h.clock.mono.Store(int64(time.Hour - 1))
	if got := poll(); got != 200 {
		t.Errorf("in 1970, before the hour is over: got %d", got)
	}
	h.clock.mono.Store(int64(time.Hour))
	if got := poll(); got != 401 {
		t.Errorf("after an hour, with the wall clock back in 1970: got %d, want 401", got)
	}
}

func TestDecisionSecretsAreNotLogged(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	h.send("POST", "/svc/api/authenticate", `{"username":"admin","password":"hunter2hunter2"}`)
	h.send("POST", "/svc/api/refreshToken", `{"refresh_token":"refresh-secret"}`)
	h.send("GET", "/svc/api/getClusters?token=query-secret", "", "Authorization: Bearer header-secret")
	h.post("/svc/api/channelControl", `{"targetType":1,"command":"ON","note":"body-secret"}`)
	h.send("POST", "/svc/api/authenticate", `{"username":"a password typed as name","password":"x"}`)
	log := h.log.String()
	if !strings.Contains(log, "login failed") || !strings.Contains(log, "account=admin") {
		t.Errorf("the failed login is not in the log:\n%s", log)
	}
	for _, secret := range []string{"hunter2", "refresh-secret", "query-secret", "header-secret", "body-secret", "typed as name", h.token(account.RoleAdmin)[:20]} {
		if strings.Contains(log, secret) {
			t.Errorf("%q is in the log:\n%s", secret, log)
		}
	}
	if !strings.Contains(log, "/svc/api/channelControl") || !strings.Contains(log, "user=api_service") {
		t.Errorf("the access log lacks the change or who made it:\n%s", log)
	}
	if strings.Contains(log, bearer.KeyPrefix) {
		t.Error("a key is in the log")
	}
}
