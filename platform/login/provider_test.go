package login

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/peertest"
	"svc.internal/controller/platform/store"
)

const redirect = "http://127.0.0.1:1/callback"

// identity is a real OpenID provider, and counts how often its keys are fetched.
type identity struct {
	issuer  string
	op      *storage.Storage
	fetched atomic.Int32
	down    atomic.Bool
}

func newIdentity(t *testing.T, clients ...string) *identity {
	t.Helper()
	srv := httptest.NewUnstartedServer(nil)
	p := &identity{issuer: "http://" + srv.Listener.Addr().String()}
	for _, id := range clients {
		storage.RegisterClients(storage.WebClient(id, "client secret", redirect))
	}
	p.op = storage.NewStorage(storage.NewUserStore(p.issuer))
	old := slog.Default() // which the provider replaces
	router := exampleop.SetupServer(p.issuer, p.op, slog.New(slog.DiscardHandler), false)
	slog.SetDefault(old)
	srv.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.down.Load() {
			http.Error(w, "down", http.StatusBadGateway)
			return
		}
		if r.URL.Path == "/keys" {
			p.fetched.Add(1)
		}
		router.ServeHTTP(w, r)
	})
	srv.Start()
	t.Cleanup(srv.Close)
	return p
}

// login goes through the provider's own pages as a browser does, and returns the
// token for client.
func (p *identity) login(t *testing.T, client, user string) string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), redirect) {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	page, err := browser.Get(p.issuer + "/auth?" + url.Values{"client_id": {client}, "response_type": {"code"},
		"scope": {"openid profile"}, "redirect_uri": {redirect}, "state": {"s"}}.Encode())
	if err != nil {
		t.Fatal(err)
	}
	defer page.Body.Close()
	form, err := io.ReadAll(page.Body)
	if err != nil {
		t.Fatal(err)
	}
	id := regexp.MustCompile(`name="id" value="([^"]+)"`).FindSubmatch(form)
	if id == nil {
		t.Fatalf("the provider's page is %s", form)
	}
	sent, err := browser.PostForm(p.issuer+"/login/username", url.Values{"id": {string(id[1])}, "username": {user}, "password": {"verysecure"}})
	if err != nil {
		t.Fatal(err)
	}
	sent.Body.Close()
	back, err := sent.Location()
	if err != nil {
		t.Fatalf("no way back: %v", err)
	}
	r, err := http.NewRequestWithContext(t.Context(), "POST", p.issuer+"/oauth/token", strings.NewReader(url.Values{
		"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")}, "redirect_uri": {redirect}}.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(client, url.QueryEscape("client secret"))
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var tokens struct {
		ID string `json:"id_token"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&tokens); err != nil || tokens.ID == "" {
		t.Fatalf("no token: %s %v", answer.Status, err)
	}
	return tokens.ID
}

// sign makes a token as the provider would, with other claims.
func (p *identity) sign(t *testing.T, token string, change func(header map[string]any, claims jwt.MapClaims)) string {
	t.Helper()
	key, err := p.op.SigningKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	claims := jwt.MapClaims{}
	if _, _, err := jwt.NewParser().ParseUnverified(token, claims); err != nil {
		t.Fatal(err)
	}
	unsigned := jwt.NewWithClaims(jwt.SigningMethodRS256, claims)
	unsigned.Header["kid"] = key.ID()
	change(unsigned.Header, claims)
	text, err := unsigned.SignedString(key.Key())
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// door judges tokens with the provider configured.
func (p *identity) door(t *testing.T, db *store.Store, cfg ProviderConfig, now func() time.Time) *Tokens {
	t.Helper()
	cfg.Issuer, cfg.Audience = p.issuer, "platform-client"
	provider, err := newProvider(cfg, db, slog.New(slog.DiscardHandler), now)
	if err != nil {
		t.Fatal(err)
	}
	return newTokens(db, db, provider, now)
}

func TestTokensOfARealProvider(t *testing.T) {
	p := newIdentity(t, "platform-client", "another-client")
	peertest.Each(t, func(t *testing.T, d peertest.Database) {
		db := d.Open(t)
		door := p.door(t, db, ProviderConfig{CreateUsers: true}, time.Now)
		good := p.login(t, "platform-client", "test-user2")
		user, err := door.User(t.Context(), good)
		if err != nil || user.ID == "" || user.Role != platform.RoleUser || user.Issuer != p.issuer {
			t.Fatalf("got %+v %v", user, err)
		}
		if again, err := door.User(t.Context(), good); err != nil || again != user {
			t.Errorf("the second time: %+v %v, want %+v", again, err, user)
		}
		if err := db.SetDisabled(t.Context(), user.Name, true); err != nil {
			t.Fatal(err)
		}
		if _, err := door.User(t.Context(), good); !errors.Is(err, platform.ErrUnauthorized) {
			t.Errorf("a disabled user: %v", err)
		}
		if err := db.SetDisabled(t.Context(), user.Name, false); err != nil {
			t.Fatal(err)
		}

		segments := strings.Split(good, ".")
		none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + segments[1] + "."
		for name, token := range map[string]string{
			"for another program":   p.login(t, "another-client", "test-user2"),
			"none":                  none,
			"none with a signature": none + segments[2],
			"expired": p.sign(t, good, func(_ map[string]any, c jwt.MapClaims) {
				c["exp"] = time.Now().Add(-time.Minute).Unix()
			}),
			"without an end":     p.sign(t, good, func(_ map[string]any, c jwt.MapClaims) { delete(c, "exp") }),
			"no subject":         p.sign(t, good, func(_ map[string]any, c jwt.MapClaims) { c["sub"] = "" }),
			"unknown kid":        p.sign(t, good, func(h map[string]any, _ jwt.MapClaims) { h["kid"] = "unknown" }),
			"another's issuer":   p.sign(t, good, func(_ map[string]any, c jwt.MapClaims) { c["iss"] = "https://other.example" }),
			"as if it were ours": p.sign(t, good, func(_ map[string]any, c jwt.MapClaims) { c["iss"], c["aud"] = issuer, audience }),
			"other claims":       segments[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"iss":"`+p.issuer+`"}`)) + "." + segments[2],
		} {
			if user, err := door.User(t.Context(), token); !errors.Is(err, platform.ErrUnauthorized) {
				t.Errorf("%s: got %+v %v", name, user, err)
			}
		}
		if same := p.sign(t, good, func(map[string]any, jwt.MapClaims) {}); same == none {
			t.Error("the bad tokens do not differ from good ones in one thing only")
		} else if _, err := door.User(t.Context(), same); err != nil {
			t.Errorf("signed again without a change: %v", err)
		}
	})
}

func TestUsersOfAProviderAreMadeOnlyIfAllowedAndRolesComeFromTheClaim(t *testing.T) {
	p := newIdentity(t, "platform-client")
	db := peertest.Database{DataDir: t.TempDir()}.Open(t)
	if _, err := db.AddUser(t.Context(), "ada", platform.RoleAdmin, "stored"); err != nil {
		t.Fatal(err)
	}
	good := p.login(t, "platform-client", "test-user2")
	if _, err := p.door(t, db, ProviderConfig{}, time.Now).User(t.Context(), good); !errors.Is(err, platform.ErrUnauthorized) {
		t.Errorf("somebody who is not known: %v", err)
	}
	door := p.door(t, db, ProviderConfig{CreateUsers: true, NameClaim: "nick", RoleClaim: "groups", AdminRole: "building-admins"}, time.Now)
	for i, c := range []struct {
		groups any
		role   platform.Role
	}{
		{nil, platform.RoleUser}, {"building-admins", platform.RoleAdmin}, {"building-admins-not", platform.RoleUser},
		{[]string{"staff", "building-admins"}, platform.RoleAdmin}, {[]string{"staff"}, platform.RoleUser}, {7, platform.RoleUser},
	} {
		token := p.sign(t, good, func(_ map[string]any, claims jwt.MapClaims) { claims["groups"], claims["nick"] = c.groups, "ada" })
		user, err := door.User(t.Context(), token)
		if err != nil || user.Role != c.role {
			t.Errorf("%d: groups %v: got %+v %v, want %s", i, c.groups, user, err, c.role)
		}
		if user.Name == "ada" || user.Issuer != p.issuer {
			t.Errorf("somebody else's name was taken over: %+v", user)
		}
	}
}

func TestAFloodOfBadTokensFetchesTheKeysOnceIn30Seconds(t *testing.T) {
	p := newIdentity(t, "platform-client")
	db := peertest.Database{DataDir: t.TempDir()}.Open(t)
	var clock atomic.Int64
	clock.Store(time.Now().UnixNano())
	now := func() time.Time { return time.Unix(0, clock.Load()) }
	door := p.door(t, db, ProviderConfig{CreateUsers: true}, now)
	good := p.login(t, "platform-client", "test-user2")
	flood := func() {
		var wg sync.WaitGroup
		for i := range 100 {
			bad := p.sign(t, good, func(h map[string]any, _ jwt.MapClaims) { h["kid"] = "unknown" + string(rune('a'+i%26)) })
			wg.Go(func() {
				if _, err := door.User(t.Context(), bad); !errors.Is(err, platform.ErrUnauthorized) {
					t.Errorf("a bad token: %v", err)
				}
			})
		}
		wg.Wait()
	}
	for want := range int32(3) {
		flood()
		if got := p.fetched.Load(); got != want+1 {
			t.Errorf("after flood %d the keys were fetched %d times, want %d", want+1, got, want+1)
		}
		if _, err := door.User(t.Context(), good); err != nil {
			t.Errorf("a good token after the flood: %v", err)
		}
		clock.Add(int64(fetchPause))
	}
	// A provider that is down now does no harm to those whose keys are known.
	p.down.Store(true)
	flood()
	if _, err := door.User(t.Context(), good); err != nil {
		t.Errorf("a good token while the provider is down: %v", err)
	}
}

func TestAProviderThatIsDownAtFirstIsAskedAgain(t *testing.T) {
	p := newIdentity(t, "platform-client")
	db := peertest.Database{DataDir: t.TempDir()}.Open(t)
	good := p.login(t, "platform-client", "test-user2")
	var clock atomic.Int64
	clock.Store(time.Now().UnixNano())
	door := p.door(t, db, ProviderConfig{CreateUsers: true}, func() time.Time { return time.Unix(0, clock.Load()) })
	p.down.Store(true)
	if _, err := door.User(t.Context(), good); !errors.Is(err, platform.ErrUnauthorized) {
		t.Errorf("without keys: %v", err)
	}
	p.down.Store(false)
	clock.Add(int64(fetchPause))
	if _, err := door.User(context.Background(), good); err != nil {
		t.Errorf("when it is back: %v", err)
	}
}

func TestProvidersThatCannotBe(t *testing.T) {
	for name, cfg := range map[string]ProviderConfig{
		"no issuer":    {Audience: "a"},
		"no audience":  {Issuer: "https://id.example"},
		"no URL":       {Issuer: "id.example", Audience: "a"},
		"keys nowhere": {Issuer: "https://id.example", Audience: "a", KeysURL: "keys"},
		"half a role":  {Issuer: "https://id.example", Audience: "a", RoleClaim: "groups"},
	} {
		if _, err := NewProvider(cfg, nil, slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
