package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/broker"
	"svc.internal/controller/platform/link"
	"svc.internal/controller/platform/quota"
	"svc.internal/controller/platform/site"
	platformstore "svc.internal/controller/platform/store"
	"svc.internal/controller/shelf/web"
	"svc.internal/controller/sim"
	"svc.internal/controller/store"
)

// platformFor is a platform with its broker inside, at which a controller is enrolled.
type platformFor struct {
	link   *link.Link
	reader *site.Reader
}

const houseID = "house"

func (h *house) enrol() *platformFor {
	h.t.Helper()
	t, ctx := h.t, h.t.Context()
	db, err := platformstore.Open(ctx, t.TempDir(), "", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	certPEM, keyPEM, err := web.SelfSigned([]string{"localhost"}, []net.IP{net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	cert, err := web.FixedCertificate(certPEM, keyPEM)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	conf := cert.TLS()
	conf.NextProtos = nil
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	b, err := broker.Start(broker.Config{Dir: t.TempDir(), Listener: listener, TLS: conf, Credentials: db, Shares: quota.NewBook(log), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	t.Cleanup(runFor(t, b.Run))
	recorder := site.NewRecorder(db, quota.NewBook(log), log)
	t.Cleanup(runFor(t, recorder.Run))
	l := link.New(link.Config{
		Broker: link.Broker{URL: "mqtt://inside", Dial: b.Dial, Login: b.Login}, Store: db, Log: log,
		Take: func(m link.Message) { recorder.Take(ctx, site.Message(m)) },
	})
	t.Cleanup(runFor(t, l.Run))

	code := link.NewCode()
	if err := db.AddController(ctx, houseID, "House", link.HashCode(code), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	c, err := link.Enrol(ctx, db, code)
	if err != nil {
		t.Fatal(err)
	}
	err = h.daemon.db.SetCloud(ctx, store.Cloud{
		Platform: "https://platform", Controller: c.Controller, Broker: "mqtts://" + listener.Addr().String(),
		Username: c.Username, Password: c.Password, CA: string(certPEM),
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &platformFor{l, site.NewReader(db)}
	h.await(time.Minute, "the controller to be online on the platform", func() bool {
		all, err := p.reader.Controllers(ctx)
		return err == nil && len(all) == 1 && all[0].Online
	})
	return p
}

// TestEnrollingTellsWhatToDo: with a platform that nobody knows, one that has enough of it, and after another enrolment.
func TestEnrollingTellsWhatToDo(t *testing.T) {
	t.Parallel()
	answers := map[string]string{}
	for i, id := range []string{"one", "one", "two"} {
		answers[fmt.Sprintf(`{"code":"code-%d"}`, i)] = fmt.Sprintf(`{"controllerId":"%s","broker":"mqtts://broker","username":"u","password":"p%d"}`, id, i)
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if answer := answers[string(body)]; err == nil && answer != "" {
			w.WriteHeader(http.StatusCreated)
			io.WriteString(w, answer)
			return
		}
		w.WriteHeader(http.StatusTooManyRequests)
		io.WriteString(w, `{"message":"Too many requests; try again in 7 s"}`)
	}))
	t.Cleanup(server.Close)
	sum := sha256.Sum256(server.Certificate().Raw)
	d := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	enroll := []string{"cloud", "enroll", "--platform", server.URL, "--fingerprint", hex.EncodeToString(sum[:]), "--code"}
	for _, step := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"cloud", "enroll", "--platform", server.URL, "--code", "code-0"}, 1, "give it with --fingerprint, or its certificate with --ca-file"},
		{append(enroll, "another"), 1, "it answered 429 Too many requests; try again in 7 s"},
		{append(enroll, "code-0"), 0, "enrolled at " + server.URL + " as one"},
		{append(enroll, "code-1"), 0, "enrolled at " + server.URL + " as one"},
		{append(enroll, "code-2"), 0, "before it was one at " + server.URL + "; end that there with: platformd controller revoke one"},
		{[]string{"cloud", "leave"}, 0, "end it there, too: platformd controller revoke two"},
		{[]string{"cloud", "leave"}, 1, "this controller is not enrolled at any platform; enrol with: controllerd cloud enroll"},
	} {
		s := d.run(step.args...)
		if s.code != step.code || !strings.HasSuffix(strings.TrimSpace(s.out+s.err), step.says) {
			t.Errorf("%v: exit code %d and %q\nwant %d and an end of %q", step.args, s.code, s.out+s.err, step.code, step.says)
		}
	}
}

// level is what the platform says of a light.
func (p *platformFor) level(t *testing.T, node appliance.ID) *platform.Reading {
	t.Helper()
	devices, err := p.reader.Devices(t.Context(), houseID)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range devices {
		if d.Kind == platform.KindLight && d.ID == int64(node) {
			return d.Level
		}
	}
	return nil
}

func TestALightThatIsChangedShowsOnThePlatformWithin10s(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	h := newHouse(t, mixedSite)
	p := h.enrol()
	late := drivertest.Watch(t)
	within := func(what string, holds func() bool) { // 10 s, and what this machine was late by
		t.Helper()
		began := time.Now()
		h.await(2*time.Minute, what, holds)
		if took := time.Since(began); took > 10*time.Second+late.Steps(5) {
			t.Errorf("%v for %s", took.Round(time.Millisecond), what)
		}
	}
	for _, level := range []string{"35", "0"} {
		before := time.Now()
		h.insist("channelControl", `{"targetType":3,"targetId":1,"command":"DIM","dimLevel":`+level+`}`)
		want := map[string]float64{"35": 35, "0": 0}[level]
		within("the platform to know level "+level, func() bool {
			r := p.level(t, 1)
			return r != nil && r.Value == want && !r.At.Before(before.Truncate(time.Millisecond)) && r.Source == "measured"
		})
	}
	// At the wall.
	level := 12
	if err := h.building.PressChannel("tcp", "1", 1, sim.Press{Level: &level}); err != nil {
		t.Fatal(err)
	}
	within("the platform to know what was done at the wall", func() bool {
		r := p.level(t, 1)
		channels := len(h.daemon.core.Snapshot().Node(1).Channels)
		return r != nil && r.Value == float64((level+channels/2)/channels) // the node's mean over its channels
	})
}

func TestThePlatformCommandsACluster(t *testing.T) {
	t.Parallel()
	h := newHouse(t, mixedSite)
	p := h.enrol()
	level, position := 60, 100
	ctx := t.Context()
	act := func(what string, a platform.Action) (out platform.Outcome) {
		t.Helper()
		h.await(2*time.Minute, what+" done", func() bool { // a busy machine may not come to it within a command's time
			var err error
			if out, err = p.link.Act(ctx, houseID, 1, a); err != nil || !out.Done {
				t.Logf("%s: %+v %v", what, out, err)
			}
			return err == nil && out.Done
		})
		return out
	}
	out := act("lights", platform.Action{Level: &level})
	for _, id := range []appliance.ID{1, 2, 5} {
		for _, got := range targets(h.device(id)) {
			if got < 59 || got > 61 {
				t.Errorf("node %d is at %d", id, got)
			}
		}
	}
	if _, ok := h.daemon.core.Entry(out.Command); !ok {
		t.Errorf("command %q is not in the ledger", out.Command)
	}
	act("shades", platform.Action{Position: &position})
	act("stop", platform.Action{StopShade: true})
	if out, err := p.link.Act(ctx, houseID, 77, platform.Action{Level: &level}); err != nil || out.Done || out.Detail == "" {
		t.Errorf("a cluster that is none: %+v %v", out, err)
	}
}
