package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
	"svc.internal/controller/automation"
	cloudlink "svc.internal/controller/cloud/link"
	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/drivers"
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/link"
	"svc.internal/controller/platform/store"
	"svc.internal/controller/shelf/trust"
	"svc.internal/controller/sim"
	"svc.internal/controller/site/sitefile"
)

// patience is how long anything may take before a test gives up; nothing is measured with it.
const patience = 3 * time.Minute

// roomsSite has two rooms on a TCP bus, each with lights and a shade.
const roomsSite = `
site:
  name: Rooms
  floors: [{name: Ground, clusters: [1, 2]}]
buses:
  - {name: tcp, driver: modbus, port: "tcp://127.0.0.1:0"}
nodes:
  - {id: 1, name: Lobby 1, bus: tcp, address: 1, profile: wirenboard-wb-mdm3, outputs: [1]}
  - {id: 2, name: Lobby 2, bus: tcp, address: 1, profile: wirenboard-wb-mdm3, outputs: [2]}
  - {id: 3, name: Canteen 1, bus: tcp, address: 2, profile: wirenboard-wb-mdm3, outputs: [1]}
  - {id: 4, name: Lobby actuator, bus: tcp, address: 3, profile: wirenboard-wb-mr6c}
shades:
  - {id: 5001, name: Lobby south, node: 4, output: 1, travelUp: 3s, travelDown: 3s}
  - {id: 5002, name: Canteen west, node: 4, output: 2, travelUp: 3s, travelDown: 3s}
clusters:
  - {id: 1, name: Lobby, nodes: [1, 2], shades: [5001]}
  - {id: 2, name: Canteen, nodes: [3], shades: [5002]}
`

// estate is the whole platform as it runs, and a controller with a simulated building that reports to it.
type estate struct {
	*house
	app      *app
	set      settings
	daemon   *daemon
	halt     func() // ends the platform
	building *sim.Building
	core     *control.Controller
	voice    string // the voice action token
	plan     plan
	hops     *hops       // nil: nobody asks
	frozen   atomic.Bool // the controller that joined takes no taps, as one that hangs
	leave    func()      // takes the controller of the building off the link
	dark     func()      // ends that controller, on the link or not
	site     appliance.Site
	joined   wire.Credentials // of the controller that joined last
	admin    person
}

// plan of an estate; the zero plan is the platform with everything inside it, and the two rooms.
type plan struct {
	settings map[string]string
	tunnel   http.Handler               // of the controllers that join; nil: closed
	site     string                     // of the building, one file; empty: [roomsSite]
	hops     bool                       // note when commands pass the controller
	detour   func(broker string) string // where controllers find the broker instead; nil: where they are told
}

// newEstate starts both; settings are the environment of the platform.
func newEstate(t testing.TB, settings map[string]string) *estate {
	t.Helper()
	return newEstateOf(t, plan{settings: settings})
}

func newEstateOf(t testing.TB, p plan) *estate {
	t.Helper()
	e := &estate{house: &house{t: t}, app: &app{dataDir: t.TempDir()}, voice: "a voice token of tests", plan: p}
	if p.hops {
		e.hops = &hops{}
	}
	var err error
	e.set, err = readSettings(func(name string) string {
		return cmp.Or(p.settings[name], map[string]string{"VOICE_ACTION_ENABLED": "true", "VOICE_ACTION_TOKEN": e.voice}[name])
	})
	if err == nil {
		err = e.begin()
	}
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(e.daemon.cert.PEM())
	e.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, MaxIdleConnsPerHost: 128}}
	t.Cleanup(e.client.CloseIdleConnections)
	e.admin = e.newPerson("ada", platform.RoleAdmin)
	e.furnish()
	return e
}

// begin starts the platform, with the data of the one before if there was one, at other addresses.
func (e *estate) begin() error {
	ctx := e.t.Context()
	log := slog.New(slog.NewTextHandler(e.t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	db, err := store.Open(ctx, e.app.dataDir, "", log)
	if err != nil {
		return err
	}
	d := &daemon{log: log, db: db}
	if err = d.share(e.set); err == nil {
		err = e.app.open(ctx, d, serveConfig{listen: "127.0.0.1:0", mqttListen: "127.0.0.1:0"}, e.set.mqtt)
	}
	if err != nil {
		return errors.Join(err, db.Close())
	}
	stop := runFor(e.t, d.run)
	e.halt = sync.OnceFunc(func() { stop(); db.Close() })
	e.t.Cleanup(e.halt)
	e.daemon, e.db, e.url = d, db, "https://"+d.https.Addr().String()
	return nil
}

// runFor starts something that ends with the test, and waits for its end.
func runFor(t testing.TB, serve func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := serve(ctx); err != nil && ctx.Err() == nil {
			t.Errorf("ended by itself: %v", err)
		}
	}()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(stop)
	return stop
}

// furnish plays the building, and puts its controller on the link.
func (e *estate) furnish() {
	e.t.Helper()
	site, err := sitefile.Parse("rooms", []byte(cmp.Or(e.plan.site, roomsSite)))
	if err != nil {
		e.t.Fatal(err)
	}
	if e.building, err = sim.New(site, sim.Options{Seed: 1}); err != nil {
		e.t.Fatal(err)
	}
	runFor(e.t, e.building.Run)
	select {
	case <-e.building.Ready():
	case <-time.After(patience):
		e.t.Fatal("the simulated building is not ready")
	}
	for i, b := range site.Buses {
		_, port, _ := strings.Cut(e.building.Port(b.Name), "://")
		site.Buses[i].Port = "tcp://" + port
	}
	e.site = site
	e.power()
	eventually(e.t, "all devices answer", func() bool {
		s := e.core.Snapshot()
		return !slices.ContainsFunc(site.Nodes, func(n appliance.Node) bool { at := s.Node(n.ID); return at == nil || !at.Online })
	})
	e.leave = e.enrol("rooms", e.core, time.Now())
}

// power starts the building's controller, which knows nothing of one before.
func (e *estate) power() {
	log := slog.New(slog.NewTextHandler(e.t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	e.core = control.New(control.Options{Drivers: drivers.All, DataDir: e.t.TempDir(), Log: log})
	e.core.Apply(e.site, nil)
	e.dark = runFor(e.t, e.core.Run)
}

// enrol puts a controller on the link; the function that it returns takes it off.
func (e *estate) enrol(cid string, core *control.Controller, since time.Time) (leave func()) {
	e.t.Helper()
	ctx := e.t.Context()
	code := link.NewCode()
	var err error
	if _, err = e.db.Enrolment(ctx, cid); err == nil {
		err = e.db.RenewCode(ctx, cid, link.HashCode(code), time.Now().Add(time.Hour))
	} else {
		err = e.db.AddController(ctx, cid, cid, link.HashCode(code), time.Now().Add(time.Hour))
	}
	if err != nil {
		e.t.Fatal(err)
	}
	return e.join(e.credentials(code), core, since)
}

// credentials of a controller, for its one-time code.
func (e *estate) credentials(code string) wire.Credentials {
	e.t.Helper()
	got, err := cloudlink.Enrol(e.t.Context(), e.url, code, trust.Trust{CA: e.daemon.cert.PEM()})
	if err != nil {
		e.t.Fatal(err)
	}
	return got
}

// join holds the session of a controller that has its credentials, and waits until it is there.
func (e *estate) join(got wire.Credentials, core *control.Controller, since time.Time) (leave func()) {
	e.t.Helper()
	leave = e.connect(got, core, since)
	eventually(e.t, got.Controller+" is online", func() bool {
		enrolled, err := e.db.Enrolment(e.t.Context(), got.Controller)
		return err == nil && platform.Reachable(enrolled.Controller, time.Now()) && e.daemon.cloud.link.Connected()
	})
	return leave
}

// connect holds the session of a controller that has its credentials.
func (e *estate) connect(got wire.Credentials, core *control.Controller, since time.Time) (leave func()) {
	e.t.Helper()
	e.joined = got
	log := slog.New(slog.NewTextHandler(e.t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	if e.plan.detour != nil {
		got.Broker = e.plan.detour(got.Broker)
	}
	var l *cloudlink.Link
	rules := automation.New(automation.Config{Core: e.hops.over(core), Start: since, Log: log, Answer: func(corr string, ack wire.Ack) { l.Answer(corr, ack) }})
	l, err := cloudlink.New(cloudlink.Config{
		Core: core, Credentials: got, Firmware: "test", Log: log,
		Boot: func(context.Context) (int64, error) { return boots.Add(1), nil },
		Widget: func(m cloudlink.Message) {
			if e.hops.arrived(m); !e.frozen.Load() {
				rules.Widget(automation.Message(m))
			}
		},
		Panels: func(m cloudlink.Message) { rules.Panels(automation.Message(m)) },
		Clock:  rules.Clock, Values: rules.Values, Deadline: rules.Deadline, Tunnel: e.plan.tunnel,
	})
	if err != nil {
		e.t.Fatal(err)
	}
	stopRules := runFor(e.t, rules.Run)
	stopWatch := runFor(e.t, func(ctx context.Context) error { rules.Watch(ctx, l.ShowPanels); return nil })
	stopLink := runFor(e.t, l.Run)
	return func() { stopLink(); stopWatch(); stopRules() }
}

// boots numbers sessions, across controllers of one process.
var boots atomic.Int64

// room enters a device for clusters of the controller, with its panel deployed, and returns the panel's code.
func (e *estate) room(id, workspace, clusters string) (code string) {
	e.t.Helper()
	e.admin.api("POST", "/api/conferencing/devices", `{"deviceId":"`+id+`","workspaceName":"`+workspace+`","controllerId":"rooms","clusterIds":`+clusters+`}`).want(e.t, 201, "enter a device")
	code = e.admin.api("POST", "/api/conferencing/devices/"+id+"/deploy", "").want(e.t, 200, "deploy its panel").str("data.panelCode")
	eventually(e.t, "the controller told what "+id+" shows", func() bool {
		widgets, ok := e.panel(id, code).member("widgets").(map[string]any)
		return ok && widgets["light_brightness"] != nil
	})
	return code
}

// panel is what the panel of a device should show.
func (e *estate) panel(id, code string) answer {
	e.t.Helper()
	return e.ask("GET", "/api/conferencing/panels/"+id+"?code="+code, "")
}

// tap does something to a widget of a panel, again while all that is told of it is that it was sent, or that hardware did not confirm it
// in time: a busy machine comes to neither.
func (e *estate) tap(id, code, body string) answer {
	e.t.Helper()
	for began := time.Now(); ; {
		a := e.ask("POST", "/api/conferencing/panels/"+id+"/widget", body, "Authorization: Bearer "+code)
		if !strings.Contains(a.text, `"Sent."`) && a.str("status") != string(wire.Failed) || time.Since(began) > patience {
			return a
		}
	}
}

// do gives a command to the building's controller until it is done: a busy machine may not come to it within a command's time.
func (e *estate) do(c appliance.Command) {
	e.t.Helper()
	eventually(e.t, "it is done", func() bool {
		entry, err := e.core.Do(e.t.Context(), c)
		if err != nil {
			e.t.Fatal(err)
		}
		return entry.OK()
	})
}

func eventually(t testing.TB, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// level of a simulated light, in truth.
func (e *estate) level(node appliance.ID) int {
	e.t.Helper()
	for _, d := range e.building.Devices() {
		if d.NodeID == node && len(d.Channels) > 0 {
			return d.Channels[0].TargetLevel
		}
	}
	e.t.Fatalf("there is no light %d", node)
	return 0
}
