package login

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/zitadel/oidc/v3/example/server/storage"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/peertest"
	"svc.internal/controller/platform/store"
)

// front is the platform's log-in with a provider behind it, and a browser before it.
type front struct {
	t        *testing.T
	provider *identity
	db       *store.Store
	srv      *httptest.Server
	browser  *http.Client
	// change is what somebody does to a request on its way back from the provider; nil: nothing.
	change func(*http.Request)
	back   *http.Request // the last that came back
}

func newFront(t *testing.T, cfg ProviderConfig) *front {
	t.Helper()
	f := &front{t: t, provider: newIdentity(t), db: peertest.Database{DataDir: t.TempDir()}.Open(t)}
	e := echo.New()
	e.GET("/login", func(c echo.Context) error { return c.String(http.StatusOK, "the page") })
	f.srv = httptest.NewUnstartedServer(e)
	f.srv.StartTLS()
	t.Cleanup(f.srv.Close)
	storage.RegisterClients(storage.WebClient("pages", "client secret", f.srv.URL+CallbackPath))
	cfg.Issuer, cfg.Audience = f.provider.issuer, "platform-client"
	cfg.SignOn = SignOnConfig{ClientID: "pages", Secret: "client secret", RedirectURL: f.srv.URL + CallbackPath}
	p, err := NewProvider(cfg, f.db, slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	pass := func(next echo.HandlerFunc) echo.HandlerFunc { return next }
	New(f.db, NewTokens(f.db, f.db, p), Hall{Person: pass}).Register(e)
	f.newBrowser()
	return f
}

func (f *front) newBrowser() {
	jar, err := cookiejar.New(nil)
	if err != nil {
		f.t.Fatal(err)
	}
	f.browser = &http.Client{Jar: jar, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: f.srv.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}}}
	f.t.Cleanup(f.browser.CloseIdleConnections)
	f.browser.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if r.URL.Path == CallbackPath {
			if f.change != nil {
				f.change(r)
			}
			f.back = r
		}
		return nil
	}
}

// signOn goes from the platform to the provider, logs in there, and comes back; it returns
// how the log-in page is told that it ended, and where to go on.
func (f *front) signOn(user string) (how, to string) {
	f.t.Helper()
	page, err := f.browser.Get(f.srv.URL + SignOnPath + "?to=/keys")
	if err != nil {
		f.t.Fatal(err)
	}
	defer page.Body.Close()
	form, err := io.ReadAll(page.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	id := regexp.MustCompile(`name="id" value="([^"]+)"`).FindSubmatch(form)
	if id == nil {
		f.t.Fatalf("the provider's page is %s", form)
	}
	end, err := f.browser.PostForm(f.provider.issuer+"/login/username", url.Values{"id": {string(id[1])}, "username": {user}, "password": {"verysecure"}})
	if err != nil {
		f.t.Fatal(err)
	}
	end.Body.Close()
	if at := end.Request.URL; at.Path != "/login" || !strings.HasPrefix(f.srv.URL, "https://"+at.Host) {
		f.t.Fatalf("it ended at %s", at)
	}
	return end.Request.URL.Query().Get("signon"), end.Request.URL.Query().Get("to")
}

// session is who the browser is logged in as; empty: nobody.
func (f *front) session() string {
	f.t.Helper()
	at, _ := url.Parse(f.srv.URL)
	for _, c := range f.browser.Jar.Cookies(at) {
		if c.Name == platform.SessionCookie {
			user, err := f.db.BrowserUser(f.t.Context(), hash(c.Value))
			if err != nil {
				f.t.Fatal(err)
			}
			return user.Name
		}
	}
	return ""
}

func TestABrowserLogsInAtTheProvider(t *testing.T) {
	f := newFront(t, ProviderConfig{CreateUsers: true})
	if how, to := f.signOn("test-user2"); how != signedOn || to != "/keys" {
		t.Fatalf("it ended as %q, going on at %q", how, to)
	}
	if got := f.session(); got == "" {
		t.Error("nobody is logged in")
	}
	q := f.back.URL.Query()
	if q.Get("code") == "" || q.Get("state") == "" {
		t.Errorf("the provider sent %s", f.back.URL)
	}
	// The code is good once, and only with what the first browser kept.
	first := f.back.URL.String()
	f.newBrowser()
	again, err := f.browser.Get(first)
	if err != nil {
		t.Fatal(err)
	}
	again.Body.Close()
	if how := again.Request.URL.Query().Get("signon"); how != failed || f.session() != "" {
		t.Errorf("another browser with the same address: %q, logged in %q", how, f.session())
	}
}

// What the browser is sent away with: everything that the flow needs, and cookies that no
// script and no other site reads.
func TestWhatABrowserIsSentAwayWith(t *testing.T) {
	f := newFront(t, ProviderConfig{CreateUsers: true})
	f.browser.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	var states []string
	for range 2 {
		away, err := f.browser.Get(f.srv.URL + SignOnPath)
		if err != nil {
			t.Fatal(err)
		}
		away.Body.Close()
		to, err := away.Location()
		if err != nil {
			t.Fatal(err)
		}
		q := to.Query()
		if q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43 ||
			len(q.Get("state")) < 43 || len(q.Get("nonce")) < 43 || !strings.Contains(q.Get("scope"), "openid") || q.Get("redirect_uri") != f.srv.URL+CallbackPath {
			t.Errorf("sent to %s", to)
		}
		c := away.Cookies()[0]
		if c.Name != flowCookie || !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || c.MaxAge != flowLife {
			t.Errorf("cookie %+v", c)
		}
		if strings.Contains(to.String(), strings.Split(c.Value, ".")[2]) || away.Header.Get("Cache-Control") != "no-store" {
			t.Error("the verifier is in the address, or the answer is kept")
		}
		states = append(states, q.Get("state"), q.Get("nonce"), q.Get("code_challenge"))
	}
	for i, s := range states[:3] {
		if s == states[i+3] {
			t.Errorf("%q was used twice", s)
		}
	}
}

// Each thing that the flow rests on is spoilt by itself, and nobody gets in.
func TestASignOnThatIsTamperedWithLogsNobodyIn(t *testing.T) {
	query := func(name, value string) func(*http.Request) {
		return func(r *http.Request) {
			q := r.URL.Query()
			q.Set(name, value)
			r.URL.RawQuery = q.Encode()
		}
	}
	cookie := func(part int) func(*front) {
		return func(f *front) {
			at, _ := url.Parse(f.srv.URL)
			for _, c := range f.browser.Jar.Cookies(at) {
				if c.Name == flowCookie {
					parts := strings.Split(c.Value, ".")
					parts[part] = randomText()
					c.Value, c.Path, c.Secure = strings.Join(parts, "."), "/", true
					f.browser.Jar.SetCookies(at, []*http.Cookie{c})
				}
			}
		}
	}
	for name, c := range map[string]struct {
		change func(*http.Request)
		spoil  func(*front)
		want   string
	}{
		"nothing":                 {want: signedOn},
		"another state":           {change: query("state", "another"), want: failed},
		"another state is kept":   {spoil: cookie(0), want: failed},
		"another nonce is kept":   {spoil: cookie(1), want: failed},
		"another verifier":        {spoil: cookie(2), want: failed},
		"another code":            {change: query("code", "another"), want: failed},
		"another issuer":          {change: query("iss", "https://other.example"), want: failed},
		"refused at the provider": {change: query("error", "access_denied"), want: refused},
		"an error there":          {change: query("error", "server_error"), want: failed},
		"the provider is down":    {spoil: func(f *front) { f.provider.down.Store(true) }, want: failed},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFront(t, ProviderConfig{CreateUsers: true})
			f.change = func(r *http.Request) {
				if c.change != nil {
					c.change(r)
				}
				if c.spoil != nil {
					c.spoil(f)
				}
			}
			how, _ := f.signOn("test-user2")
			if how != c.want || (f.session() != "") != (c.want == signedOn) {
				t.Errorf("it ended as %q, want %q; logged in %q", how, c.want, f.session())
			}
		})
	}
}

func TestWhoIsNotLetInIsToldSo(t *testing.T) {
	f := newFront(t, ProviderConfig{})
	if how, _ := f.signOn("test-user2"); how != unknown || f.session() != "" {
		t.Errorf("somebody whom nobody entered: %q", how)
	}
	f = newFront(t, ProviderConfig{CreateUsers: true})
	f.signOn("test-user2")
	if err := f.db.SetDisabled(t.Context(), f.session(), true); err != nil {
		t.Fatal(err)
	}
	f.newBrowser()
	if how, _ := f.signOn("test-user2"); how != unknown || f.session() != "" {
		t.Errorf("somebody who is disabled: %q", how)
	}
}

// The role that the provider gives is that of the session.
func TestASignOnTakesTheRoleOver(t *testing.T) {
	f := newFront(t, ProviderConfig{CreateUsers: true, RoleClaim: "iss", AdminRole: "nobody"})
	f.signOn("test-user2")
	name := f.session()
	if err := f.db.SetRole(t.Context(), name, platform.RoleAdmin); err != nil {
		t.Fatal(err)
	}
	f.newBrowser()
	if how, _ := f.signOn("test-user2"); how != signedOn {
		t.Fatalf("it ended as %q", how)
	}
	user, _, err := f.db.UserByName(t.Context(), name)
	if err != nil || user.Role != platform.RoleUser {
		t.Errorf("the provider says user, it is %+v %v", user, err)
	}
}

func TestWaysToLogIn(t *testing.T) {
	f := newFront(t, ProviderConfig{})
	for url, want := range map[string]bool{f.srv.URL: true, func() string {
		e := echo.New()
		pass := func(next echo.HandlerFunc) echo.HandlerFunc { return next }
		New(f.db, NewTokens(f.db, f.db, nil), Hall{Person: pass}).Register(e)
		srv := httptest.NewTLSServer(e)
		t.Cleanup(srv.Close)
		f.browser = srv.Client()
		return srv.URL
	}(): false} {
		client := f.srv.Client()
		if !want {
			client = f.browser
		}
		got, err := client.Get(url + "/api/auth/ways")
		if err != nil {
			t.Fatal(err)
		}
		defer got.Body.Close()
		var in struct{ Data struct{ SignOn bool } }
		if err := json.NewDecoder(got.Body).Decode(&in); err != nil || in.Data.SignOn != want {
			t.Errorf("got %v %v, want %v", in, err, want)
		}
	}
}

func TestSignOnsThatCannotBe(t *testing.T) {
	for name, cfg := range map[string]SignOnConfig{
		"no client":       {RedirectURL: "https://platform.example" + CallbackPath},
		"no way back":     {ClientID: "pages"},
		"another path":    {ClientID: "pages", RedirectURL: "https://platform.example/"},
		"without TLS":     {ClientID: "pages", RedirectURL: "http://platform.example" + CallbackPath},
		"with parameters": {ClientID: "pages", RedirectURL: "https://platform.example" + CallbackPath + "?a=b"},
	} {
		if _, err := NewProvider(ProviderConfig{Issuer: "https://id.example", Audience: "a", SignOn: cfg}, nil, slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	good := SignOnConfig{ClientID: "pages", RedirectURL: "https://platform.example" + CallbackPath}
	if _, err := NewProvider(ProviderConfig{Issuer: "https://id.example", Audience: "a", SignOn: good}, nil, slog.New(slog.DiscardHandler)); err != nil {
		t.Errorf("a good one: %v", err)
	}
}
