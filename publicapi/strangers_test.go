package publicapi

import (
	"net/http"
	"strings"
	"testing"

	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/web"
)

func TestBodiesOfStrangersAreShort(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	long := `{"username":"a","password":"` + strings.Repeat("x", strangerLimit) + `"}`
	for _, path := range []string{"/svc/api/authenticate"} {
		if got := h.send("POST", path, long).status; got != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: status %d, want 413", path, got)
		}
	}
	if got := h.send("POST", "/svc/api/refreshToken", `{"refresh_token":"`+strings.Repeat("x", strangerLimit)+`"}`).status; got != http.StatusUnauthorized {
		t.Errorf("refreshToken: status %d, want 401", got)
	}
	if got := h.post("/svc/api/channelControl", `{"targetType":1,"command":"OFF","x":"`+strings.Repeat("x", strangerLimit)+`"}`).status; got != http.StatusOK {
		t.Errorf("somebody known: status %d, want 200", got)
	}
}

func TestPagesOfOtherSitesCannotLogIn(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	h.accounts.add("anna", "right password", account.RoleOperator)
	for range 3 * web.BrakeLimit {
		if got := h.send("POST", "/svc/api/authenticate", `{"username":"anna","password":"wrong"}`, "Sec-Fetch-Site: cross-site").status; got != http.StatusForbidden {
			t.Fatalf("status %d, want 403", got)
		}
	}
	for _, site := range []string{"same-origin", "none"} {
		got := h.send("POST", "/svc/api/authenticate", `{"username":"anna","password":"right password"}`, "Sec-Fetch-Site: "+site)
		if !strings.Contains(got.body, `"responseCode":1`) {
			t.Errorf("%s: %d %s: blind posts locked the account", site, got.status, got.body)
		}
	}
}

// What cannot be right must not fill the table that remembers failures.
func TestOverlongPasswordsTouchNoBrake(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	h.accounts.add("anna", "right password", account.RoleOperator)
	for range 3 * web.BrakeLimit {
		h.send("POST", "/svc/api/authenticate", `{"username":"anna","password":"`+strings.Repeat("x", longestPassword+1)+`"}`).
			want(t, 200, `{"responseCode":0,"errorCode":"AuthFailed"}`)
	}
	if got := h.send("POST", "/svc/api/authenticate", `{"username":"anna","password":"right password"}`); !strings.Contains(got.body, `"responseCode":1`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// stuck takes no answer until it is let.
type stuck struct {
	unread
	entered, let chan struct{}
}

func (s stuck) Write(b []byte) (int, error) {
	s.entered <- struct{}{}
	<-s.let
	return len(b), nil
}

func TestViewersWhoTakeNoAnswersDoNotHoldUpMetrics(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	token := h.token(account.RoleViewer)
	let := make(chan struct{})
	defer close(let)
	for range 10 {
		w := stuck{unread{http.Header{}}, make(chan struct{}), let}
		r, _ := http.NewRequest("GET", "/metrics", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		go h.echo.ServeHTTP(w, r)
		<-w.entered
	}
	if got := h.get("/metrics"); got.status != 200 || !strings.Contains(got.body, "controller_") {
		t.Errorf("status %d", got.status)
	}
}

// unread takes answers and keeps nothing.
type unread struct{ header http.Header }

func (n unread) Header() http.Header         { return n.header }
func (n unread) Write(b []byte) (int, error) { return len(b), nil }
func (n unread) WriteHeader(int)             {}
