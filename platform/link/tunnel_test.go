package link_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"svc.internal/controller/appliance/control"
	cloudlink "svc.internal/controller/cloud/link"
	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/store"
)

// shop is a controller whose public API answers what a request asks for, and counts.
type shop struct {
	asked, open atomic.Int64
	wait        chan struct{} // of /svc/api/wait; nil: it does not
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked.Add(1)
	s.open.Add(1)
	defer s.open.Add(-1)
	body, _ := io.ReadAll(r.Body)
	switch r.URL.Path {
	case "/svc/api/size":
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(pattern(n))
	case "/svc/api/echo":
		w.Header().Set("X-Command-Id", r.RemoteAddr+" "+r.Host+" "+r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write(append([]byte(r.Method+" "+r.RequestURI+" "), body...))
	case "/svc/api/nothing":
		w.WriteHeader(http.StatusNoContent)
	case "/svc/api/wait":
		select {
		case <-s.wait:
		case <-r.Context().Done():
		}
	}
}

// pattern is a body of which every byte tells where it belongs.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i ^ i>>8 ^ i>>16)
	}
	return b
}

// openShop puts a controller with a tunnel on the link; door nil leaves it closed.
func openShop(t testing.TB, at place, cid, password string, door http.Handler) *cloudlink.Link {
	t.Helper()
	l, err := cloudlink.New(cloudlink.Config{
		Core: control.New(control.Options{}), Log: testLog(t), Tunnel: door,
		Credentials: wire.Credentials{Controller: cid, Broker: at.url, Username: cid, Password: password},
		Boot:        func(context.Context) (int64, error) { return shopBoots.Add(1), nil },
		Widget:      func(cloudlink.Message) {}, Panels: func(cloudlink.Message) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

var shopBoots atomic.Int64

func (o *office) carry(t testing.TB, cid, method, uri, body string) (platform.Carried, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	return o.Carry(ctx, cid, wire.TunnelRequest{
		Method: method, URI: uri, Host: cid + ".tunnel.example", Peer: "203.0.113.7", Header: http.Header{"Authorization": {"Bearer t"}}, Body: []byte(body),
	})
}

func TestWhatComesThroughTheTunnelIsWhatTheControllerSaid(t *testing.T) {
	t.Parallel()
	eachBroker(t, func(t *testing.T, db *store.Store, at place) {
		s := &shop{}
		run(t, openShop(t, at, "house", addController(t, db, at, "house"), s).Run)
		one, two := openOffice(t, db, at), openOffice(t, db, at) // everybody hears the answers
		one.there(t, db, "house")
		two.there(t, db, "house")
		const part = wire.TunnelPartMost
		for i, n := range []int{0, 1, part - 1, part, part + 1, 10*part + 7, wire.TunnelAnswerMost} {
			o := []*office{one, two}[i%2]
			out, err := o.carry(t, "house", "GET", fmt.Sprint("/svc/api/size?n=", n), "")
			if err != nil || out.Status != 200 || !bytes.Equal(out.Body, pattern(n)) || out.Header.Get("Content-Type") != "application/octet-stream" {
				t.Errorf("%d bytes: %d of them, status %d, %v", n, len(out.Body), out.Status, err)
			}
		}
		if _, err := one.carry(t, "house", "GET", fmt.Sprint("/svc/api/size?n=", wire.TunnelAnswerMost+1), ""); !errors.Is(err, platform.ErrOverloaded) {
			t.Errorf("an answer that is too large: %v", err)
		}
		out, err := one.carry(t, "house", "POST", "/svc/api/echo?a=%2f", `{"level":40}`)
		if want := `POST /svc/api/echo?a=%2f {"level":40}`; err != nil || out.Status != http.StatusTeapot || string(out.Body) != want ||
			out.Header.Get("X-Command-Id") != "203.0.113.7:0 house.tunnel.example Bearer t" {
			t.Errorf("got %+v %s %v", out, out.Body, err)
		}
		if out, err := one.carry(t, "house", "HEAD", "/svc/api/size?n=100", ""); err != nil || out.Status != 200 || len(out.Body) != 0 {
			t.Errorf("HEAD: %+v %v", out, err)
		}
		if out, err := one.carry(t, "house", "GET", "/svc/api/nothing", ""); err != nil || out.Status != 204 {
			t.Errorf("no content: %+v %v", out, err)
		}
		asked := s.asked.Load()
		for _, uri := range []string{"/api/v1/users", "/svc/api/../../metrics", "//svc/api/size", "https://elsewhere/svc/api/size"} {
			if out, err := one.carry(t, "house", "GET", uri, ""); err != nil || out.Status != http.StatusBadRequest {
				t.Errorf("%s: %+v %v", uri, out, err)
			}
		}
		if s.asked.Load() != asked {
			t.Error("the controller let something in that is not below /svc/api/")
		}
	})
}

func TestAClosedTunnelLetsNobodyIn(t *testing.T) {
	t.Parallel()
	eachBroker(t, func(t *testing.T, db *store.Store, at place) {
		o := openOffice(t, db, at)
		run(t, openShop(t, at, "house", addController(t, db, at, "house"), nil).Run)
		addController(t, db, at, "asleep")
		o.there(t, db, "house")
		for cid, want := range map[string]error{"house": platform.ErrOffline, "asleep": platform.ErrOffline, "nowhere": platform.ErrNotFound} {
			if _, err := o.carry(t, cid, "GET", "/svc/api/getClusters", ""); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", cid, err, want)
			}
		}
	})
}

// Requests that come late, twice, retained or from somebody who may not send any are not done, and nobody else hears what
// people send.
func TestTheTunnelIsThePlatformsAlone(t *testing.T) {
	t.Parallel()
	eachBroker(t, func(t *testing.T, db *store.Store, at place) {
		s := &shop{}
		run(t, openShop(t, at, "house", addController(t, db, at, "house"), s).Run)
		o := openOffice(t, db, at)
		o.there(t, db, "house")
		user, password := integration(t, db, at, "house")
		peer := mustDial(t, at.url, "some-tool", user, password, nil)
		peer.subscribe("bms/v1/ctl/house/up/#")
		peer.subscribe("bms/v1/ctl/house/#")
		peer.subscribe(wire.Topic("house", wire.DownTunnel))
		peer.subscribe(wire.Topic("house", wire.UpTunnel))
		request := func(id string, ts, exp time.Time) string {
			b, err := wire.Envelope{ID: id, Type: wire.TypeTunnel, TS: ts, Exp: &exp}.
				Seal(wire.TunnelRequest{Method: "GET", URI: "/svc/api/size", Peer: "203.0.113.7"})
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		now := time.Now()
		topic := wire.Topic("house", wire.DownTunnel)
		peer.say(topic, request("a peer's", now, now.Add(time.Minute)), false)

		platformUser, platformPassword := at.platform.Login()
		own := mustDial(t, at.url, "platform-test", platformUser, platformPassword, insideOf(at))
		own.say(topic, request("late", now.Add(-time.Minute), now.Add(-time.Second)), false)
		for range 3 {
			own.say(topic, request("once", now, now.Add(time.Minute)), false)
		}
		eventually(t, "the one request that is good is done", func() bool { return s.asked.Load() == 1 })
		if out, err := o.carry(t, "house", "GET", "/svc/api/size?n=5", ""); err != nil || len(out.Body) != 5 {
			t.Fatalf("%+v %v", out, err)
		}
		if n := s.asked.Load(); n != 2 {
			t.Errorf("%d requests were done, want 2", n)
		}
		for m := peer.heard(quiet); m != nil; m = peer.heard(quiet) {
			if strings.HasSuffix(m.Topic(), "/tunnel") {
				t.Errorf("an integration heard what went through the tunnel: %s", m.Topic())
			}
		}
	})
}

// insideOf opens the platform's own connections, where the broker has a door of its own for them.
func insideOf(at place) func(*mqtt.ClientOptions) {
	return func(o *mqtt.ClientOptions) {
		if at.platform.Dial != nil {
			o.SetCustomOpenConnectionFn(dialInside(at))
		}
	}
}

// The connection of a controller is cut again and again while requests are under way, and its session begun anew. Each
// request ends with an answer that is whole, or none; nothing is left of it.
func TestCampaignATunnelThatIsCutLeavesNothing(t *testing.T) {
	drivertest.Long(t)
	db := openStore(t)
	at := embedded(t, db)
	s := &shop{}
	line := newLine(t, strings.TrimPrefix(at.url, "tcp://"))
	password := addController(t, db, at, "house")
	o := openOffice(t, db, at)
	cut := place{url: "tcp://" + line.Addr().String()}
	round := func(n int) (answered int64) {
		l := openShop(t, cut, "house", password, s)
		ctx, kill := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); _ = l.Run(ctx) }()
		eventually(t, fmt.Sprint("there is a session in round ", n), func() bool { return l.Status().Connected })
		o.there(t, db, "house")
		var load sync.WaitGroup
		var good atomic.Int64
		for i := range 4 {
			load.Go(func() {
				for {
					few, cancel := context.WithTimeout(ctx, 2*time.Second)
					out, err := o.Carry(few, "house", wire.TunnelRequest{Method: "GET", URI: fmt.Sprint("/svc/api/size?n=", 100000*i), Peer: "203.0.113.7"})
					cancel()
					if err == nil && bytes.Equal(out.Body, pattern(100000*i)) {
						good.Add(1)
					} else if err == nil {
						t.Errorf("an answer of %d bytes is not whole: %d", 100000*i, len(out.Body))
					}
					if ctx.Err() != nil {
						return
					}
				}
			})
		}
		eventually(t, fmt.Sprint("answers come in round ", n), func() bool { return good.Load() >= 4 })
		line.cut()
		kill()
		load.Wait()
		<-ended
		return good.Load()
	}
	round(0)
	before := settled(t, runtime.NumGoroutine())
	var answers int64
	rounds := 8
	if os.Getenv("SOAK") != "" {
		rounds = 100
	}
	for n := 1; n <= rounds; n++ {
		answers += round(n)
	}
	after := settled(t, before+3)
	t.Logf("%d cuts, %d answers; %d goroutines before, %d after", rounds, answers, before, after)
	if after > before+3 || s.open.Load() != 0 {
		t.Errorf("%d goroutines before, %d after; %d requests are under way", before, after, s.open.Load())
	}
}

// settled waits until there are no more goroutines than want, for a while, and returns how many there are.
func settled(t testing.TB, want int) (n int) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if n = runtime.NumGoroutine(); n <= want || time.Now().After(deadline) {
			return n
		}
	}
}

// line is a connection to the broker that can be cut.
type line struct {
	net.Listener
	mu    sync.Mutex
	conns []net.Conn
}

func newLine(t *testing.T, to string) *line {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{Listener: listener}
	t.Cleanup(func() { l.Close(); l.cut() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				continue
			}
			l.mu.Lock()
			l.conns = append(l.conns, in, out)
			l.mu.Unlock()
			for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
				go func() { _, _ = io.Copy(pair[0], pair[1]); pair[0].Close() }()
			}
		}
	}()
	return l
}

// cut ends all connections without a word.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		c.Close()
	}
	l.conns = nil
}
