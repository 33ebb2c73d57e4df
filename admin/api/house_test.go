package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
	"svc.internal/controller/automation"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/account/bearer"
	"svc.internal/controller/shelf/network"
	"svc.internal/controller/shelf/web"
	"svc.internal/controller/site/backup"
	"svc.internal/controller/store"
)

// house is a controller with a real database, a real core and a real HTTPS server;
// only its devices are made up.
type house struct {
	t      *testing.T
	dir    string
	db     *store.Store
	core   *control.Controller
	lamps  *lamps
	server *httptest.Server
	claim  *api.Claim
	tls    *fixedTLS
	lines  *api.Lines
	ports  ports
	past   *madeUp
}

// password of all users of the tests.
const password = "correct horse battery"

// furnished are the files of a store with the building and its users. To hash their passwords for each house again would take the
// processors longer than most tests do.
var furnished = sync.OnceValues(func() (files fstest.MapFS, err error) {
	dir, err := os.MkdirTemp("", "furnished")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ctx := context.Background()
	db, err := store.Open(ctx, dir, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	_, err = db.Import(ctx, building(), store.ImportOptions{By: "test"})
	for _, role := range []account.Role{account.RoleAdmin, account.RoleOperator, account.RoleViewer, account.RoleAPIService} {
		_, failed := db.AddUser(ctx, string(role), password, role)
		err = errors.Join(err, failed)
	}
	if err := errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	list, err := os.ReadDir(dir)
	files = fstest.MapFS{}
	for _, f := range list {
		text, failed := os.ReadFile(filepath.Join(dir, f.Name()))
		files[f.Name()], err = &fstest.MapFile{Data: text, Mode: 0o600}, errors.Join(err, failed)
	}
	return files, err
})

func newHouse(t *testing.T) *house {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	dir := t.TempDir()
	h := &house{t: t, dir: dir, lamps: newLamps(), claim: api.NewClaim(dir), tls: newFixedTLS(t), lines: api.NewLines()}
	log := h.lines.Log(slog.New(slog.NewTextHandler(testLog{t}, &slog.HandlerOptions{Level: slog.LevelWarn})))
	kept, err := furnished()
	must(t, err)
	must(t, os.CopyFS(dir, kept))
	db, err := store.Open(ctx, dir, log)
	must(t, err)
	h.db, h.past = db, &madeUp{Store: db}
	h.core = control.New(control.Options{Drivers: map[string]appliance.OpenFunc{"lamps": h.lamps.open}, Journal: db, GroupBook: db, SaveShade: db.SetShade, Log: log})
	site, faults, err := db.Site(ctx)
	must(t, err)
	h.core.Apply(site, faults)
	clock := web.SystemClock()
	tokens, err := bearer.New(make([]byte, 32), "internal", time.Hour, db, clock)
	must(t, err)
	rules := automation.NewRules(h.core, time.Now(), log)
	door := api.New(api.Config{
		Core: h.core, Jobs: h.core, Accounts: db, Keeper: db, Editor: db, Auditor: db, History: h.past, Rules: rules, Tokens: tokens, Brake: web.NewBrake(clock, nil), Claim: h.claim,
		Version: "test", TLS: h.tls, Within: h.within(), Backups: backups{db: db}, Log: log,
		System: api.System{Inbox: filepath.Join(dir, "update", "upload.raucb"), StatusFile: filepath.Join(dir, "told"), FetchLocal: true,
			Network: network.Box{Inbox: filepath.Join(dir, "network"), Told: filepath.Join(dir, "told-network")}},
	})
	e := web.New(web.Config{Log: log, Errors: api.Errors})
	door.Register(e)
	h.server = httptest.NewUnstartedServer(e)
	h.server.EnableHTTP2 = true
	h.server.StartTLS()
	var wg sync.WaitGroup
	wg.Go(func() { _ = h.core.Run(ctx) })
	wg.Go(func() { _ = door.Run(ctx) })
	wg.Go(func() { _ = rules.Run(ctx) })
	wg.Go(func() {
		db.Watch(ctx, func(c store.Change) {
			if site, faults, err := db.Site(ctx); err == nil && c.Site {
				h.core.Apply(site, faults)
			}
		})
	})
	t.Cleanup(func() {
		cancel()
		h.server.Close()
		wg.Wait()
		must(t, db.Close())
	})
	return h
}

// backups are written only; the program is tried with the others.
type backups struct {
	db *store.Store
	offsite
}

func (b backups) Write(ctx context.Context, to io.Writer) error {
	return b.db.BackupTo(ctx, to, backup.Seal{})
}

func (b backups) Drill(context.Context, []byte, *string) (api.Drilled, error) {
	return api.Drilled{}, errors.New("not in this house")
}

func (b backups) Restore(context.Context, []byte, *string, account.Audit) (api.Drilled, func(), error) {
	return api.Drilled{}, nil, errors.New("not in this house")
}

func (b backups) Nightly() api.NightlyBackups { return api.NightlyBackups{} }

// offsite is nowhere.
type offsite struct{}

func (offsite) OffsiteNow() api.OffsiteBackups { return api.OffsiteBackups{} }

func (offsite) SetOffsite(context.Context, api.OffsiteEdit) error {
	return errors.New("not in this house")
}

func (offsite) TryOffsite() error { return errors.New("not in this house") }

func (offsite) Overdue(time.Time) []api.OffsiteOverdue { return nil }

type testLog struct{ t *testing.T }

func (l testLog) Write(p []byte) (int, error) {
	l.t.Log(string(bytes.TrimSpace(p)))
	return len(p), nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// building has one bus, three lamps, a shade and a cluster.
func building() appliance.Site {
	bus := appliance.NewUUID()
	return appliance.Site{
		Name:  "Test house",
		Buses: []appliance.Bus{{UUID: bus, Name: "ground", Driver: "lamps", Port: "x"}},
		Nodes: []appliance.Node{
			{ID: 1, Name: "Lobby 1", Bus: bus, Address: "1", Profile: "dimmer"},
			{ID: 2, Name: "Lobby 2", Bus: bus, Address: "2", Profile: "dimmer"},
			{ID: 3, Name: "Motor", Bus: bus, Address: "3", Profile: "motor"},
		},
		Shades:   []appliance.Shade{{ID: 5001, Name: "South", Node: 3, Output: 1}},
		Clusters: []appliance.Cluster{{ID: 1, Name: "Lobby", Nodes: []appliance.ID{1, 2}, Shades: []appliance.ID{5001}}},
	}
}

// client talks to the door as one person or program.
type client struct {
	t     *testing.T
	base  string
	http  *http.Client
	token string
}

func (h *house) client() *client {
	c := h.server.Client()
	jar, err := cookiejar.New(nil)
	must(h.t, err)
	return &client{h.t, h.server.URL, &http.Client{Transport: c.Transport, Jar: jar}, ""}
}

// as logs in as a program with that role.
func (h *house) as(role account.Role) *client {
	c := h.client()
	var s api.Session
	c.must(200, "POST", "/auth/login", api.Login{Username: string(role), Password: password}, &s)
	c.token = s.AccessToken
	return c
}

func (c *client) do(method, path string, in any, headers ...string) (int, http.Header, []byte) {
	c.t.Helper()
	var body io.Reader
	switch in := in.(type) {
	case nil:
	case string:
		body = bytes.NewBufferString(in)
	default:
		data, err := json.Marshal(in)
		must(c.t, err)
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.base+"/api/v1"+path, body)
	must(c.t, err)
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := c.http.Do(req)
	must(c.t, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	must(c.t, err)
	return res.StatusCode, res.Header, data
}

// must wants that status, and decodes the answer into out unless it is nil.
func (c *client) must(status int, method, path string, in, out any, headers ...string) http.Header {
	c.t.Helper()
	got, h, data := c.do(method, path, in, headers...)
	if got != status {
		c.t.Fatalf("%s %s: got %d, want %d: %s", method, path, got, status, data)
	}
	if out != nil {
		if err := json.Unmarshal(data, out); err != nil {
			c.t.Fatalf("%s %s: %v: %s", method, path, err, data)
		}
	}
	return h
}

// lamps is a bus whose devices take what they are told, at once, unless they are
// silent. Reads tell what they have.
type lamps struct {
	mu     sync.Mutex
	level  map[appliance.ID]appliance.Level
	motion map[appliance.ID]appliance.Motion
	silent map[appliance.ID]bool
}

// lampBus is a bus of such devices as one site has it.
type lampBus struct {
	*lamps
	cfg appliance.BusConfig
}

func newLamps() *lamps {
	return &lamps{level: map[appliance.ID]appliance.Level{}, motion: map[appliance.ID]appliance.Motion{}, silent: map[appliance.ID]bool{}}
}

func (l *lamps) open(cfg appliance.BusConfig) (appliance.Opened, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kinds := map[string]string{} // by address
	o := appliance.Opened{Driver: &lampBus{l, cfg}, Device: map[appliance.ID]string{}, Channels: map[appliance.ID][]appliance.Channel{},
		Shades: map[appliance.ID]appliance.Channel{}, BrokenNodes: map[appliance.ID]error{}, BrokenShades: map[appliance.ID]error{}}
	for _, n := range cfg.Nodes {
		o.Device[n.ID] = n.Address
		if kind := kinds[n.Address]; kind != "" && kind != n.Profile {
			o.BrokenNodes[n.ID] = fmt.Errorf("device %s is a %s", n.Address, kind)
			continue
		}
		kinds[n.Address] = n.Profile
		switch n.Profile {
		case "dimmer":
			o.Channels[n.ID] = []appliance.Channel{{Abilities: appliance.CanDim | appliance.CanSwitch}}
		case "motor":
		default:
			o.BrokenNodes[n.ID] = errors.New("there is no such profile")
		}
	}
	for _, s := range cfg.Shades {
		o.Shades[s.ID] = appliance.Channel{Abilities: appliance.CanMove}
		if i := slices.IndexFunc(cfg.Nodes, func(n appliance.Node) bool { return n.ID == s.Node }); cfg.Nodes[i].Profile != "motor" {
			o.BrokenShades[s.ID] = errors.New("its node moves nothing")
		}
	}
	return o, nil
}

func (l *lampBus) Run(ctx context.Context) error { <-ctx.Done(); return nil }

func (l *lampBus) Plan(wants []appliance.Want) (chains []appliance.Chain) {
	for _, w := range wants {
		chains = append(chains, appliance.Chain{Wants: []appliance.Want{w}, Steps: []appliance.Exchange{l.write(w)}, Verify: []appliance.Exchange{l.look(w.Ref)}})
	}
	return chains
}

func (l *lampBus) Repair(wants []appliance.Want) []appliance.Chain { return l.Plan(wants) }

func (l *lampBus) Polls() (polls []appliance.Poll) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range l.cfg.Nodes {
		if n.Profile == "dimmer" {
			polls = append(polls, appliance.Poll{Exchange: l.look(appliance.Ref{Node: n.ID, Channel: 1})})
		}
	}
	for _, s := range l.cfg.Shades {
		polls = append(polls, appliance.Poll{Exchange: l.look(appliance.Ref{Shade: s.ID}), Class: appliance.ClassShade})
	}
	return polls
}

func (l *lampBus) exchange(r appliance.Ref, do func(at time.Time) []appliance.Reading) appliance.Exchange {
	node := r.Node
	for _, s := range l.cfg.Shades {
		if s.ID == r.Shade {
			node = s.Node
		}
	}
	var device string
	for _, n := range l.cfg.Nodes {
		if n.ID == node {
			device = n.Address
		}
	}
	return appliance.Exchange{Device: device, Airtime: time.Millisecond, Worst: 2 * time.Millisecond, Refs: []appliance.Ref{r},
		Do: func(context.Context, appliance.Yield) (appliance.Result, error) {
			time.Sleep(time.Millisecond) // what a frame takes
			l.mu.Lock()
			defer l.mu.Unlock()
			now := time.Now()
			if l.silent[node] {
				return appliance.Result{Sent: now}, appliance.ErrSilent
			}
			return appliance.Result{Sent: now, Readings: do(now)}, nil
		}}
}

func (l *lampBus) write(w appliance.Want) appliance.Exchange {
	return l.exchange(w.Ref, func(time.Time) []appliance.Reading {
		if w.Shade != 0 {
			l.motion[w.Shade] = map[appliance.Motion]appliance.Motion{appliance.Open: appliance.Opening, appliance.Close: appliance.Closing, appliance.Stop: appliance.Stopped}[w.Motion]
			return nil
		}
		l.level[w.Node] = w.Level
		return nil
	})
}

func (l *lampBus) look(r appliance.Ref) appliance.Exchange {
	return l.exchange(r, func(at time.Time) []appliance.Reading {
		if r.Shade != 0 {
			m := l.motion[r.Shade]
			if m == appliance.MotionUnknown {
				m = appliance.Stopped
			}
			return []appliance.Reading{{Ref: r, At: at, Values: appliance.Values{Has: appliance.CanMove, Motion: m}}}
		}
		return []appliance.Reading{{Ref: r, At: at, Values: appliance.Values{Has: appliance.CanDim | appliance.CanSwitch, Level: l.level[r.Node]}}}
	})
}

// Scan asks addresses 1 to 9, or those asked for; three of them answer.
func (l *lampBus) Scan(opts appliance.ScanOptions) iter.Seq[appliance.ScanStep] {
	first, last := max(opts.First, 1), opts.Last
	if last == 0 {
		last = 9
	}
	return func(yield func(appliance.ScanStep) bool) {
		for id := first; id <= last; id++ {
			address := fmt.Sprint(id)
			e := appliance.Exchange{Airtime: time.Millisecond, Worst: 50 * time.Millisecond, Do: func(context.Context, appliance.Yield) (appliance.Result, error) {
				time.Sleep(50 * time.Millisecond) // a time-out
				if id > 3 {
					return appliance.Result{Sent: time.Now()}, appliance.ErrSilent
				}
				return appliance.Result{Sent: time.Now()}, nil
			}}
			ok := yield(appliance.ScanStep{Exchange: e, Address: address, Judge: func(_ appliance.Result, err error) (appliance.Found, bool) {
				return appliance.Found{Address: address, Kind: "dimmer"}, err == nil
			}})
			if !ok {
				return
			}
		}
	}
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain until " + what)
		}
	}
}
