package link_test

import (
	"context"
	"errors"
	"runtime"
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
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/link"
	"svc.internal/controller/platform/store"
)

// fanOut is how long commands have.
const fanOut = 4 * time.Second

// house is a controller on the link, whose commands are written down.
type house struct {
	*control.Controller
	cloud *cloudlink.Link

	mu   sync.Mutex
	done []appliance.Command
	when []time.Time
	held chan struct{} // if there is one, what is commanded is done when it is closed
}

func (h *house) Do(ctx context.Context, cmd appliance.Command) (appliance.Entry, error) {
	return h.DoTelling(ctx, cmd, func(time.Time) {})
}

func (h *house) DoTelling(_ context.Context, cmd appliance.Command, told func(time.Time)) (appliance.Entry, error) {
	told(time.Now().Add(fanOut))
	h.mu.Lock()
	h.done, h.when = append(h.done, cmd), append(h.when, time.Now())
	h.mu.Unlock()
	if h.held != nil {
		<-h.held
	}
	return appliance.Entry{ID: "entry", Command: cmd, AcceptedAt: time.Now(), DoneAt: time.Now()}, nil
}

func (h *house) commands() []appliance.Command {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]appliance.Command(nil), h.done...)
}

// move puts a controller with two clusters on the link.
func move(t testing.TB, db *store.Store, at place, cid string) *house {
	t.Helper()
	h := &house{Controller: control.New(control.Options{})}
	h.Apply(appliance.Site{Name: "House", Clusters: []appliance.Cluster{{ID: 1, Name: "Room"}, {ID: 2, Name: "Hall"}}}, nil)
	password := addController(t, db, at, cid)
	var boot atomic.Int64
	rules := automation.New(automation.Config{
		Core: h, Start: time.Now(), Log: testLog(t),
		Answer: func(corr string, ack wire.Ack) { h.cloud.Answer(corr, ack) },
	})
	var err error
	h.cloud, err = cloudlink.New(cloudlink.Config{
		Core:        h.Controller,
		Credentials: wire.Credentials{Controller: cid, Broker: at.url, Username: cid, Password: password},
		Boot:        func(context.Context) (int64, error) { return boot.Add(1), nil },
		Widget:      func(m cloudlink.Message) { rules.Widget(automation.Message(m)) },
		Panels:      func(m cloudlink.Message) { rules.Panels(automation.Message(m)) },
		Clock:       rules.Clock, Values: rules.Values, Log: testLog(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	run(t, rules.Run)
	run(t, h.cloud.Run)
	return h
}

func run(t testing.TB, f func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = f(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
}

// office is the platform's side, which writes down what it is told.
type office struct {
	*link.Link
	mu  sync.Mutex
	got []link.Message
}

func openOffice(t testing.TB, db *store.Store, at place) *office {
	t.Helper()
	o := &office{}
	o.Link = link.New(link.Config{Broker: at.platform, Store: db, Log: testLog(t), Take: func(m link.Message) {
		o.mu.Lock()
		o.got = append(o.got, m)
		o.mu.Unlock()
		if m.Below != wire.UpStatus || m.Retained {
			return
		}
		var s wire.Status
		if env, err := wire.Open(m.Payload); err == nil && env.Read(&s) == nil {
			_, _ = db.SetSession(context.Background(), platform.Session{Controller: m.Controller, Online: s.State == wire.Online, Boot: s.Boot, At: m.At})
		}
	}})
	run(t, o.Link.Run)
	return o
}

// there waits until a controller has announced itself to the platform.
func (o *office) there(t testing.TB, db *store.Store, cid string) {
	t.Helper()
	eventually(t, cid+" is online", func() bool {
		e, err := db.Enrolment(t.Context(), cid)
		return err == nil && e.Online && o.Connected()
	})
}

func (o *office) act(t *testing.T, cid string, level int) (platform.Outcome, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // the link itself waits for less
	defer cancel()
	return o.Act(ctx, cid, 1, platform.Action{Level: &level})
}

func TestACommandReachesTheControllerAndItsOutcomeComesBack(t *testing.T) {
	eachBroker(t, func(t *testing.T, db *store.Store, at place) {
		h := move(t, db, at, "house")
		o := openOffice(t, db, at)
		o.there(t, db, "house")
		for level := 1; level <= 20; level++ {
			if out, err := o.act(t, "house", level); err != nil || !out.Done || out.Command != "entry" {
				t.Fatalf("level %d: %+v %v", level, out, err)
			}
		}
		done := h.commands()
		for i, c := range done {
			if c.Kind != appliance.LightLevel || int(c.Level) != i+1 || c.Target.ID != 1 {
				t.Errorf("command %d: %+v", i, c)
			}
		}
		if len(done) != 20 {
			t.Errorf("%d commands", len(done))
		}
		if _, err := o.act(t, "nowhere", 1); !errors.Is(err, platform.ErrNotFound) {
			t.Errorf("unknown controller: %v", err)
		}
	})
}

// Every instance of the platform hears everything; that must do no harm.
func TestNothingIsRepeatedAfterTheEndOfTheLink(t *testing.T) {
	db := openStore(t)
	at := embedded(t, db)
	h := move(t, db, at, "house")
	h.held = make(chan struct{})
	release := sync.OnceFunc(func() { close(h.held) })
	defer release()
	o := &office{}
	o.Link = link.New(link.Config{Broker: at.platform, Store: db, Log: testLog(t), Take: func(m link.Message) {
		_, _ = db.SetSession(context.Background(), platform.Session{Controller: m.Controller, Online: true, Boot: 1, At: m.At})
	}})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = o.Run(ctx) }()
	o.there(t, db, "house")
	brief, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	level := 5
	if _, err := o.Act(brief, "house", 1, platform.Action{Level: &level}); !errors.Is(err, platform.ErrUnanswered) {
		t.Fatalf("a command that takes longer than its caller waits: %v", err)
	}
	repeats := func() bool {
		all := make([]byte, 16<<20) // of whatever else runs beside it, too
		return strings.Contains(string(all[:runtime.Stack(all, true)]), "(*Link).resend(")
	}
	for deadline := time.Now().Add(3 * time.Minute); !repeats(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nobody would repeat it")
		}
	}
	stop()
	<-ended
	if repeats() {
		t.Error("it is repeated after the end")
	}
	if _, err := o.act(t, "house", level); !errors.Is(err, platform.ErrOffline) {
		t.Errorf("a command after the end: %v", err)
	}
}

func TestTwoInstancesOfThePlatformDoNoHarm(t *testing.T) {
	eachBroker(t, func(t *testing.T, db *store.Store, at place) {
		h := move(t, db, at, "house")
		one, two := openOffice(t, db, at), openOffice(t, db, at)
		one.there(t, db, "house")
		two.there(t, db, "house")
		for level := 1; level <= 10; level++ {
			o := one
			if level%2 == 0 {
				o = two
			}
			if out, err := o.act(t, "house", level); err != nil || !out.Done {
				t.Fatalf("level %d: %+v %v", level, out, err)
			}
		}
		if n := len(h.commands()); n != 10 {
			t.Errorf("%d commands", n)
		}
	})
}

func TestAControllerThatIsGoneIsOfflineAtOnce(t *testing.T) {
	eachBroker(t, func(t *testing.T, db *store.Store, at place) {
		o := openOffice(t, db, at)
		password := addController(t, db, at, "house")
		eventually(t, "the platform is connected", o.Connected)
		// Somebody with the controller's name takes over; then its connection is cut.
		will := func(boot string) string {
			return `{"v":1,"id":"w` + boot + `","type":"status","ts":"2026-01-01T00:00:00Z","data":{"state":"offline","boot":` + boot + `}}`
		}
		birth := func(boot string) string {
			return `{"v":1,"id":"b` + boot + `","type":"status","ts":"2026-01-01T00:00:00Z","data":{"state":"online","boot":` + boot + `}}`
		}
		first := mustDial(t, at.url, "ctl-house", "house", password, withWill(will("1")))
		first.say("bms/v1/ctl/house/up/status", birth("1"), true)
		o.there(t, db, "house")
		second := mustDial(t, at.url, "ctl-house", "house", password, withWill(will("2")))
		second.say("bms/v1/ctl/house/up/status", birth("2"), true)
		select {
		case <-first.lost:
		case <-time.After(3 * time.Minute):
			t.Error("the first session goes on after the take-over")
		}
		// A will of the first session that comes late changes nothing.
		second.say("bms/v1/ctl/house/up/status", will("1"), true)
		o.there(t, db, "house")
		second.cut()
		eventually(t, "the house is offline", func() bool {
			e, err := db.Enrolment(t.Context(), "house")
			return err == nil && !e.Online
		})
		// The will of the first session may have said so before the birth of the second was taken in.
		eventually(t, "a command to it is refused", func() bool {
			_, err := o.act(t, "house", 1)
			return errors.Is(err, platform.ErrOffline)
		})
	})
}
