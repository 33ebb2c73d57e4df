package publicapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/account/bearer"
	"svc.internal/controller/shelf/web"
)

// siteBuilder makes snapshots as the core publishes them.
type siteBuilder struct {
	s appliance.Snapshot
}

func newSite() *siteBuilder {
	b := &siteBuilder{}
	b.s.Site = &appliance.Site{Name: "Test"}
	b.s.Values = 1
	b.s.At = time.Now()
	return b
}

func known[T any](v T, age time.Duration) appliance.Known[T] {
	return appliance.Known[T]{Value: v, At: time.Now().Add(-age), Source: appliance.Measured}
}

// node adds a node; ids must come ascending.
func (b *siteBuilder) node(id appliance.ID, name string, can appliance.Ability, edit func(*appliance.NodeState)) *siteBuilder {
	n := &appliance.NodeState{
		Node: &appliance.Node{ID: id, Name: name, UUID: appliance.NewUUID()}, Tag: appliance.TagNode,
		Online: true, LastSeen: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), Abilities: can,
		Channels: []appliance.ChannelState{{Channel: appliance.Channel{Abilities: can}}},
	}
	if edit != nil {
		edit(n)
	}
	b.s.Nodes = append(b.s.Nodes, n)
	return b
}

func (b *siteBuilder) shade(id, node appliance.ID, name string, edit func(*appliance.ShadeState)) *siteBuilder {
	sh := &appliance.ShadeState{
		Shade: &appliance.Shade{ID: id, Name: name, Node: node, UUID: appliance.NewUUID()}, Online: true,
		LastSeen: time.Date(2026, 3, 4, 5, 6, 8, 0, time.UTC), Motion: appliance.Stopped,
	}
	if edit != nil {
		edit(sh)
	}
	b.s.Shades = append(b.s.Shades, sh)
	return b
}

func (b *siteBuilder) cluster(id appliance.ID, name string, nodes, shades []appliance.ID, edit func(*appliance.ClusterState)) *siteBuilder {
	c := &appliance.ClusterState{Cluster: &appliance.Cluster{
		ID: id, Name: name, Nodes: nodes, Shades: shades, CreatedBy: "anna",
		CreatedOn: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), UUID: appliance.NewUUID(),
	}}
	for _, n := range nodes {
		if st := findNode(&b.s, n); st != nil {
			st.Clusters = append(st.Clusters, id)
			if st.Tag == appliance.TagNode {
				c.Lights++
			}
		}
	}
	for _, n := range shades {
		if st := findShade(&b.s, n); st != nil {
			st.Clusters = append(st.Clusters, id)
		}
	}
	if edit != nil {
		edit(c)
	}
	b.s.Clusters = append(b.s.Clusters, c)
	return b
}

func (b *siteBuilder) snapshot() *appliance.Snapshot { s := b.s; return &s }

const (
	dimmable  = appliance.CanDim
	tunable   = appliance.CanDim | appliance.CanTune
	colourful = appliance.CanDim | appliance.CanColour
	metered   = appliance.CanMeasure
)

// lobby is the site most tests look at.
func lobby() *siteBuilder {
	return newSite().
		node(1, "Downlights", tunable|metered, func(n *appliance.NodeState) {
			n.Level, n.Kelvin = known(appliance.Level(40), 2*time.Second), known(appliance.Kelvin(3500), 3*time.Second)
			n.Power = known(12.34, 20*time.Second)
		}).
		node(2, `Cove "blue" \ ü`, colourful, func(n *appliance.NodeState) {
			n.Level, n.RGBW = known(appliance.Level(80), 0), known(appliance.RGBW{R: 1, G: 20, B: 255}, 0)
		}).
		node(3, "Meter", metered, func(n *appliance.NodeState) {
			n.Tag, n.Power = appliance.TagPeripheral, known(-250.0, 0)
		}).
		node(4, "Dead", dimmable, func(n *appliance.NodeState) {
			n.Online, n.LastSeen = false, time.Time{}
		}).
		shade(5001, 3, "South", func(s *appliance.ShadeState) { s.Position = known(appliance.Position(30), 0) }).
		shade(5002, 3, "West", func(s *appliance.ShadeState) { s.Online, s.Motion = false, appliance.MotionUnknown }).
		cluster(1, "Lobby", []appliance.ID{1, 2, 3, 4}, []appliance.ID{5001, 5002}, func(c *appliance.ClusterState) {
			c.Level, c.Kelvin, c.RGBW, c.Position, c.Motion = 60, 3500, appliance.RGBW{R: 1, G: 20, B: 255}, 30, appliance.Stopped
		}).
		cluster(2, "Only lights", []appliance.ID{1}, nil, func(c *appliance.ClusterState) { c.Level, c.Kelvin = 40, 3500 })
}

var _ Core = (*control.Controller)(nil)

// core answers commands as a test wants and remembers them.
type core struct {
	snap atomic.Pointer[appliance.Snapshot]
	do   func(ctx context.Context, cmd appliance.Command) (appliance.Entry, error)

	mu   sync.Mutex
	done []appliance.Command
}

func (c *core) Snapshot() *appliance.Snapshot { return c.snap.Load() }

func (c *core) Do(ctx context.Context, cmd appliance.Command) (appliance.Entry, error) {
	c.mu.Lock()
	c.done = append(c.done, cmd)
	do := c.do
	c.mu.Unlock()
	if do != nil {
		return do(ctx, cmd)
	}
	return succeeded(cmd), nil
}

func (c *core) answer(do func(context.Context, appliance.Command) (appliance.Entry, error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.do = do
}

// commands returns what was asked since the last call.
func (c *core) commands() []appliance.Command {
	c.mu.Lock()
	defer c.mu.Unlock()
	done := c.done
	c.done = nil
	return done
}

func succeeded(cmd appliance.Command) appliance.Entry {
	return appliance.Entry{ID: "01TEST", Command: cmd, AcceptedAt: time.Now(), DoneAt: time.Now()}
}

// accounts keeps users, keys and refresh tokens in memory, with the rules of the
// real ones.
type accounts struct {
	mu        sync.Mutex
	users     map[string]account.User
	passwords map[string]string
	keys      map[[32]byte]account.Key
	refresh   map[string]refreshed
	checks    int    // passwords looked at
	slow      func() // called while a password is looked at; may be nil
	after     func() // called when it was found right; may be nil
	last      int
}

type refreshed struct {
	uuid     appliance.UUID
	revision int64
	name     string
}

func newAccounts() *accounts {
	a := &accounts{
		users: map[string]account.User{}, passwords: map[string]string{},
		keys: map[[32]byte]account.Key{}, refresh: map[string]refreshed{},
	}
	for _, role := range account.Roles() {
		a.add(string(role), "correct horse "+string(role), role)
	}
	return a
}

func (a *accounts) add(name, password string, role account.Role) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.users[name] = account.User{UUID: appliance.NewUUID(), Name: name, Role: role, Revision: 1}
	a.passwords[name] = password
}

func (a *accounts) remove(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.users, name)
	delete(a.passwords, name)
}

func (a *accounts) edit(name string, edit func(*account.User)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	u := a.users[name]
	edit(&u)
	u.Revision++
	a.users[name] = u
}

func (a *accounts) key(name string, write bool) (secret string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	sum := sha256.Sum256([]byte(name))
	secret = bearer.KeyPrefix + hex.EncodeToString(sum[:])
	a.keys[sha256.Sum256([]byte(secret))] = account.Key{Name: name, Write: write}
	return secret
}

func (a *accounts) User(name string) (account.User, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	u, ok := a.users[name]
	return u, ok
}

func (a *accounts) KeyOf(secret string) (account.Key, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	k, ok := a.keys[sha256.Sum256([]byte(secret))]
	return k, ok
}

func (a *accounts) CheckPassword(_ context.Context, name, password string) (account.User, error) {
	if a.slow != nil {
		a.slow()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.checks++
	u, ok := a.users[name]
	if !ok || a.passwords[name] != password || u.Role == account.RoleNone {
		return account.User{}, fmt.Errorf("log in: %w", account.ErrAuthFailed)
	}
	if a.after != nil {
		a.after()
	}
	return u, nil
}

func (a *accounts) NewRefreshToken(_ context.Context, user account.User) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if u, ok := a.users[user.Name]; !ok || u.UUID != user.UUID || u.Revision != user.Revision {
		return "", fmt.Errorf("make a refresh token: %w", account.ErrAuthFailed)
	}
	a.last++
	token := fmt.Sprintf("refresh-%d", a.last)
	a.refresh[token] = refreshed{user.UUID, user.Revision, user.Name}
	return token, nil
}

func (a *accounts) UseRefreshToken(_ context.Context, token string) (account.User, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t, ok := a.refresh[token]
	u := a.users[t.name]
	if !ok || u.UUID != t.uuid || u.Revision != t.revision {
		return account.User{}, account.ErrAuthFailed
	}
	return u, nil
}

// house is a whole door with everything behind it.
type house struct {
	t        testing.TB
	core     *core
	accounts *accounts
	tokens   *bearer.Tokens
	echo     *echo.Echo
	api      *API
	log      *lockedBuffer
	clock    *testClock
	ready    error
}

// testClock is a clock that a test moves.
type testClock struct {
	wall, mono atomic.Int64
}

func (c *testClock) clock() web.Clock {
	return web.Clock{
		Wall: func() time.Time { return time.Unix(0, c.wall.Load()) },
		Mono: func() time.Duration { return time.Duration(c.mono.Load()) },
	}
}

func (c *testClock) advance(d time.Duration) { c.wall.Add(int64(d)); c.mono.Add(int64(d)) }

type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newHouse(t testing.TB, s *appliance.Snapshot) *house {
	t.Helper()
	h := &house{t: t, core: &core{}, accounts: newAccounts(), log: &lockedBuffer{}, clock: &testClock{}}
	h.clock.wall.Store(time.Now().UnixNano())
	h.core.snap.Store(s)
	var err error
	secret := []byte(strings.Repeat("k", 32))
	h.tokens, err = bearer.New(secret, "", time.Hour, h.accounts, h.clock.clock())
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(h.log, nil))
	h.api, err = New(Config{
		Core: h.core, Accounts: h.accounts, Tokens: h.tokens, Brake: web.NewBrake(h.clock.clock(), func(name string) bool { _, ok := h.accounts.User(name); return ok }),
		Ready: func() error { return h.ready }, Metrics: prometheus.NewRegistry(), Log: log,
		Kept: func() error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	h.echo = web.New(web.Config{Log: log, Errors: Errors})
	h.api.Register(h.echo)
	return h
}

// token of a user of that role.
func (h *house) token(role account.Role) string {
	h.t.Helper()
	u, _ := h.accounts.User(string(role))
	token, _, err := h.tokens.Issue(u)
	if err != nil {
		h.t.Fatal(err)
	}
	return token
}

type answer struct {
	status int
	header http.Header
	body   string
}

// send performs one request; headers are "Name: value".
func (h *house) send(method, path, body string, headers ...string) answer {
	h.t.Helper()
	return h.sendWith(context.Background(), method, path, body, headers...)
}

func (h *house) sendWith(ctx context.Context, method, path, body string, headers ...string) answer {
	h.t.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	r := httptest.NewRequestWithContext(ctx, method, path, content)
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	h.echo.ServeHTTP(w, r)
	res := w.Result()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(data)}
}

// get and post do it as the api_service user.
func (h *house) get(path string, headers ...string) answer {
	h.t.Helper()
	return h.send("GET", path, "", append(headers, "Authorization: Bearer "+h.token(account.RoleAPIService))...)
}

func (h *house) post(path, body string, headers ...string) answer {
	h.t.Helper()
	return h.send("POST", path, body, append(headers, "Authorization: Bearer "+h.token(account.RoleAPIService))...)
}

func (a answer) want(t testing.TB, status int, body string) {
	t.Helper()
	if a.status != status || a.body != body {
		t.Errorf("got %d %s\nwant %d %s", a.status, a.body, status, body)
	}
}
