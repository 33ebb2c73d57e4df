package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.internal/controller/admin/console"
	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line/cable"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/ui/uitest"
	"svc.internal/controller/shelf/web"
	"svc.internal/controller/sim"
	"svc.internal/controller/site/sitefile"
	"svc.internal/controller/store"
)

// house is the real daemon, database and all, on a simulated building.
type house struct {
	t        *testing.T
	dataDir  string
	site     appliance.Site
	building *sim.Building
	daemon   *daemon
	url      string
	client   *http.Client
	tokens   map[string]string // by user name
	stop     func()            // ends the daemon, not the building

	tokenLife time.Duration // an hour if zero
	options   sim.Options   // of the building, but for the seed
	tunnel    bool
	devices   string       // where adapters are looked for; empty: /dev
	system    string       // where the appliance's system tells of itself; empty: there is none
	sys       string       // where the kernel tells of the board; empty: /sys
	log       *slog.Logger // of the daemon; nil: to the test's output
	net       *cable.Net   // that everything is on, in a bubble; nil: this machine's
	clock     *web.Clock   // of the daemon; nil: this machine's
	consoleAt string       // where the daemon answers the command line, in a bubble
	lives     *process     // the daemon's, there
	// dialBroker connects to the platform's; nil: over this machine's network.
	dialBroker func(ctx context.Context, address string) (net.Conn, error)
}

const housePassword = "a password for tests"

// houseUsers have the same name as their role.
var houseUsers = []account.Role{account.RoleAdmin, account.RoleOperator, account.RoleAPIService, account.RoleViewer}

// newHouse plays the site's buses and starts a daemon on them. Ports of the site
// may be tcp://127.0.0.1:0 and @DIR@/name for a pseudo-terminal.
func newHouse(t *testing.T, site string) *house {
	t.Helper()
	h := newBuilding(t, site)
	h.serve()
	h.awaitOnline()
	return h
}

// newBuilding is a house whose daemon has not been started yet.
func newBuilding(t *testing.T, site string) *house {
	t.Helper()
	return (&house{t: t}).build(site)
}

// build plays the buses of a site and fills the store.
func (h *house) build(site string) *house {
	t := h.t
	t.Helper()
	h.dataDir, h.tokens = filepath.Join(t.TempDir(), "data"), map[string]string{}
	h.readSite(site)
	h.play()
	h.fillStore()
	return h
}

// readSite takes in a site; its ports are below @DIR@.
func (h *house) readSite(site string) {
	h.t.Helper()
	ports := "/building"
	if h.net == nil {
		ports = h.t.TempDir()
	}
	var err error
	if h.site, err = sitefile.Parse("test site", []byte(strings.ReplaceAll(site, "@DIR@", ports))); err != nil {
		h.t.Fatal(err)
	}
}

// restart ends the daemon and starts it again on the same data.
func (h *house) restart() {
	h.t.Helper()
	h.stop()
	h.serve()
}

// fault puts a fault in force; the function it returns ends it.
func (h *house) fault(f sim.Fault) (end func()) {
	h.t.Helper()
	id, err := h.building.AddFault(f)
	if err != nil {
		h.t.Fatal(err)
	}
	return func() { h.building.RemoveFault(id) }
}

// writes counts what devices carried out since the building was built.
func (h *house) writes() (n uint64) {
	h.t.Helper()
	for _, b := range h.building.Buses() {
		last, err := h.building.Writes(b.Name, 0, 1)
		if err != nil {
			h.t.Fatal(err)
		}
		for _, w := range last {
			n += w.Seq
		}
	}
	return n
}

// play starts the simulated building and puts its ports into the site.
func (h *house) play() {
	h.t.Helper()
	h.options.Seed, h.options.Cables = cmp.Or(h.options.Seed, 1), h.net
	var err error
	if h.building, err = sim.New(h.site, h.options); err != nil {
		h.t.Fatal(err)
	}
	runFor(h.t, h.building.Run)
	select {
	case <-h.building.Ready():
	case <-time.After(uitest.Patience):
		h.t.Fatal("the simulated building is not ready")
	}
	for i := range h.site.Buses {
		b := &h.site.Buses[i]
		if strings.HasSuffix(b.Port, ":0") {
			scheme := b.Port[:strings.Index(b.Port, "://")]
			real := h.building.Port(b.Name)
			b.Port = scheme + real[strings.Index(real, "://"):]
		}
	}
}

// runFor starts something that ends with the test, and waits for its end.
func runFor(t *testing.T, serve func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := serve(ctx); err != nil && ctx.Err() == nil {
			t.Errorf("ended by itself: %v", err)
		}
	}()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

// populated is a data directory with the users of a house and nothing else. To hash their passwords for each house again
// would take the processors longer than most tests do. In a bubble it is another time, in which the users were made.
var populated = map[bool]func() (string, error){
	false: sync.OnceValues(func() (string, error) { return populate("users") }),
	true:  sync.OnceValues(func() (string, error) { return populate("virtual-users") }),
}

func populate(name string) (dir string, err error) {
	dir = filepath.Join(programDir, name)
	db, err := store.Open(context.Background(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, role := range houseUsers {
		if _, err := db.AddUser(context.Background(), string(role), housePassword, role); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// copyData makes a copy of a data directory.
func (h *house) copyData(from, to string) {
	h.t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Chmod(to, 0o700); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) fillStore() {
	h.t.Helper()
	ctx := h.t.Context()
	users, err := populated[h.net != nil]()
	if err != nil {
		h.t.Fatal(err)
	}
	h.copyData(users, h.dataDir)
	db, err := store.Open(ctx, h.dataDir, slog.New(slog.DiscardHandler))
	if err != nil {
		h.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Import(ctx, h.site, store.ImportOptions{By: "tests"}); err != nil {
		h.t.Fatal(err)
	}
	if h.site, _, err = db.Site(ctx); err != nil {
		h.t.Fatal(err)
	}
}

// serve starts the daemon.
func (h *house) serve() {
	h.t.Helper()
	h.serveAt("127.0.0.1:0")
}

// serveAt starts the daemon at an address.
func (h *house) serveAt(address string) {
	h.t.Helper()
	ctx := h.t.Context()
	a := &app{console.App{DataDir: h.dataDir}}
	log := cmp.Or(h.log, slog.New(slog.NewTextHandler(h.t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})))
	d, end, err := a.prepare(ctx, serveConfig{listen: address, tokenLife: cmp.Or(h.tokenLife, time.Hour), tunnel: h.tunnel, devices: h.devices, system: h.system, ground: h.ground()}, log)
	if err != nil {
		end()
		h.t.Fatal(err)
	}
	h.daemon = d
	process := h.lives
	stop := runFor(h.t, func(ctx context.Context) error {
		if err := d.run(ctx); process == nil || !process.isKilled() {
			return err
		}
		return nil
	})
	h.stop = sync.OnceFunc(func() { stop(); end() })
	h.t.Cleanup(h.stop)
	h.url = "https://" + h.daemon.doors.https.Addr().String()
	h.client = h.trusting(filepath.Join(h.dataDir, certificateFile))
}

// trusting is a client that believes the given certificate only.
func trusting(t *testing.T, certificate string) *http.Client {
	t.Helper()
	pem, err := os.ReadFile(certificate)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		t.Fatal("certificate.pem holds no certificate")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, MaxIdleConnsPerHost: 64}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: uitest.Patience}
}

// awaitOnline waits until every node of the site has answered.
func (h *house) awaitOnline() {
	h.t.Helper()
	deadline := time.After(uitest.Patience)
	for {
		s := h.daemon.core.Snapshot()
		var missing []string
		for _, n := range s.Nodes {
			if !n.Online {
				missing = append(missing, n.Node.Name+" "+n.Fault)
			}
		}
		if len(missing) == 0 {
			return
		}
		select {
		case <-s.Superseded():
		case <-deadline:
			h.t.Fatalf("not online: %q; faults %+v", missing, s.Faults)
		}
	}
}

// login returns the access token of a user.
func (h *house) login(user account.Role) string {
	h.t.Helper()
	if token := h.tokens[string(user)]; token != "" {
		return token
	}
	var answer struct {
		ResponseCode int    `json:"responseCode"`
		Token        string `json:"auth_token"`
	}
	status, body, _ := h.send(http.MethodPost, "/svc/api/authenticate", "", `{"username":"`+string(user)+`","password":"`+housePassword+`"}`)
	if err := json.Unmarshal(body, &answer); err != nil || status != http.StatusOK || answer.ResponseCode != 1 {
		h.t.Fatalf("login of %s: %d %s", user, status, body)
	}
	h.tokens[string(user)] = answer.Token
	return answer.Token
}

// send makes one request; a token may be empty.
func (h *house) send(method, path, token, body string) (int, []byte, http.Header) {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), method, h.url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		h.t.Fatal(err)
	}
	return h.answer(h.client, req, token)
}

// answer of a server to a request; a token may be empty.
func (h *house) answer(client *http.Client, req *http.Request, token string) (int, []byte, http.Header) {
	h.t.Helper()
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := client.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return res.StatusCode, data, res.Header
}

// get reads a resource into v.
func (h *house) get(path string, v any) {
	h.t.Helper()
	status, body, _ := h.send(http.MethodGet, path, h.login(account.RoleAPIService), "")
	if status != http.StatusOK {
		h.t.Fatalf("GET %s: %d %s", path, status, body)
	}
	if err := json.Unmarshal(body, v); err != nil {
		h.t.Fatalf("GET %s: %v in %s", path, err, body)
	}
}

// control makes a control call and returns its status and message.
func (h *house) control(path, body string) (status int, message string) {
	h.t.Helper()
	code, data, _ := h.send(http.MethodPost, "/svc/api/"+path, h.login(account.RoleAPIService), body)
	var answer struct {
		Status  *int   `json:"status"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(data, &answer); err != nil || code != http.StatusOK || answer.Status == nil {
		h.t.Fatalf("%s %s: %d %s", path, body, code, data)
	}
	return *answer.Status, answer.Message
}

// insist makes a control call until it is confirmed. A machine that is busy may not come to its simulated devices within the time of a
// command, which is no fault of the command's: a person gives it again.
func (h *house) insist(path, body string) {
	h.t.Helper()
	h.await(time.Minute, path+" "+body, func() bool {
		status, message := h.control(path, body)
		if status != 1 {
			h.t.Logf("%s: %s", body, message)
		}
		return status == 1
	})
}

// device is the true state of the simulated device behind a node.
func (h *house) device(id appliance.ID) sim.Device {
	h.t.Helper()
	for _, d := range h.building.Devices() {
		if d.NodeID == id {
			return d
		}
	}
	h.t.Fatalf("no simulated device behind node %d", id)
	return sim.Device{}
}
