package web

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
)

// far is a connection from anywhere.
type far struct {
	net.Conn
	from   string
	closed atomic.Bool
}

func (f *far) Close() error { f.closed.Store(true); return nil }

func (f *far) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(f.from), 4711))
}

func comes(c *Crowd, from string) (*visitor, *far) {
	f := &far{from: from}
	return c.enter(f, hostOf(f)), f
}

func newCrowd() *Crowd { return NewCrowd(slog.New(slog.DiscardHandler)) }

func TestStrangersOfOneNetworkMakeRoomForEachOtherOnly(t *testing.T) {
	c := newCrowd()
	_, other := comes(c, "192.0.2.1")
	var all []*far
	for i := range 3 * strangersPerNetwork {
		_, f := comes(c, fmt.Sprintf("2001:db8::%x", i+1)) // one /64
		all = append(all, f)
	}
	for i, f := range all {
		if want := i < 2*strangersPerNetwork; f.closed.Load() != want {
			t.Fatalf("connection %d of %d: closed: %v, want %v", i+1, len(all), !want, want)
		}
	}
	if s := c.State(); other.closed.Load() || s.Strangers != strangersPerNetwork+1 || s.Evicted != 2*strangersPerNetwork {
		t.Errorf("%+v; the other network's was closed: %v", s, other.closed.Load())
	}
}

func TestNewcomersGetInWhateverStrangersHold(t *testing.T) {
	c := newCrowd()
	known, mine := comes(c, "10.200.0.1")
	if !c.recognise(known) {
		t.Fatal("the first one has no place")
	}
	for i := range 4 * strangersMost {
		comes(c, fmt.Sprintf("10.%d.%d.1", i/200, i%200))
	}
	_, late := comes(c, "10.100.0.1")
	if s := c.State(); mine.closed.Load() || late.closed.Load() || s.Strangers != strangersMost || s.Known != 1 {
		t.Errorf("%+v; the known one is closed: %v, the newcomer: %v", s, mine.closed.Load(), late.closed.Load())
	}
}

func TestKnownOnesBeyondTheirPlacesAreRefusedAndCounted(t *testing.T) {
	c := newCrowd()
	let := 0
	for i := range knownMost + 50 {
		v, f := comes(c, fmt.Sprintf("10.0.%d.1", i%4)) // four networks
		if c.recognise(v) {
			let++
		}
		if f.closed.Load() {
			t.Fatal("closed instead of refused")
		}
	}
	if s := c.State(); let != knownMost || s.Refused != 50 {
		t.Errorf("%d were let in, want %d; %+v", let, knownMost, s)
	}
	c = newCrowd()
	for let = 0; ; let++ {
		if v, _ := comes(c, "10.0.0.1"); !c.recognise(v) {
			break
		}
	}
	if let != knownPerNetwork {
		t.Errorf("one network has %d places, want %d", let, knownPerNetwork)
	}
}

func TestPlacesAreGivenBackOnce(t *testing.T) {
	c := newCrowd()
	for i := range 3 {
		v, _ := comes(c, "192.0.2.1")
		if i > 0 && !c.recognise(v) {
			t.Fatal("no place")
		}
		v.Close()
		v.Close()
	}
	if s := c.State(); s.Known != 0 || s.Strangers != 0 || len(c.networks) != 0 {
		t.Errorf("after closing: %+v, %d networks", s, len(c.networks))
	}
}

// openDoor serves an open endpoint that waits for its body, and one that needs a token.
func openDoor(t *testing.T) (url string, crowd *Crowd) {
	t.Helper()
	crowd = newCrowd()
	e := New(Config{Log: slog.New(slog.DiscardHandler)})
	e.POST("/open", func(c echo.Context) error {
		data, err := ReadBody(c, 8<<10)
		if err != nil {
			return Refuse(http.StatusBadRequest, "body: could not be read")
		}
		return c.String(http.StatusOK, fmt.Sprint(len(data)))
	})
	e.GET("/closed", Require(keyring{}, Read, func(c echo.Context) error { return c.NoContent(http.StatusNoContent) }))
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); Serve(ctx, ln, e, nil, crowd) }()
	t.Cleanup(func() { cancel(); <-done })
	return ln.Addr().String(), crowd
}

type keyring struct{}

func (keyring) Caller(token string) (*Caller, bool) {
	return &Caller{Name: "anna", Read: true}, token == "good"
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !is(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still not: %s", what)
		}
	}
}

func TestHalfBodiesOfStrangersMakeRoomAndKnownOnesStay(t *testing.T) {
	addr, crowd := openDoor(t)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	ask := func() int {
		r, _ := http.NewRequest("GET", "http://"+addr+"/closed", nil)
		r.Header.Set("Authorization", "Bearer good")
		res, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	if got := ask(); got != http.StatusNoContent {
		t.Fatalf("status %d", got)
	}
	const half = "POST /open HTTP/1.1\r\nHost: x\r\nContent-Length: 8000\r\n\r\n{"
	for range strangerRequestsMost + 40 {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write([]byte(half)); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "the oldest requests to have been given up", func() bool { return crowd.State().Cut >= 40 })
	if got := ask(); got != http.StatusNoContent {
		t.Errorf("the known one: status %d", got)
	}
	// A newcomer is answered, too.
	res, err := http.Post("http://"+addr+"/open", "", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 200 {
		t.Errorf("a newcomer: status %d", res.StatusCode)
	}
	crowd.mu.Lock()
	n := crowd.asking.Len()
	crowd.mu.Unlock()
	if s := crowd.State(); s.Known != 1 || n > strangerRequestsMost {
		t.Errorf("%+v, %d requests of strangers under way", s, n)
	}
}

func TestRefusalsOfStrangersAreLoggedAFewTimesAMinute(t *testing.T) {
	var buf bytes.Buffer
	e := New(Config{Log: slog.New(slog.NewTextHandler(&buf, nil))})
	for range 5000 {
		e.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/nowhere", nil))
	}
	if lines := strings.Count(buf.String(), "\n"); lines < sparseBurst || lines > sparseBurst+10 {
		t.Errorf("%d lines for 5000 refusals, want some %d", lines, sparseBurst)
	}
}

// A program with a key that tries what it may not, without end, fills no disk; what went well, and what is our fault, is told each time.
func TestRefusalsOfSomebodyKnownAreLoggedAFewTimesAMinute(t *testing.T) {
	for _, c := range []struct{ status, least, most int }{{http.StatusForbidden, sparseBurst, sparseBurst + 10}, {http.StatusOK, 500, 500}, {http.StatusInternalServerError, 500, 500}} {
		var buf bytes.Buffer
		e := New(Config{Log: slog.New(slog.NewTextHandler(&buf, nil))})
		e.POST("/here", func(e echo.Context) error {
			SetCaller(e, &Caller{Name: "mallory"})
			return e.NoContent(c.status)
		})
		for range 500 {
			e.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/here", nil))
		}
		if lines := strings.Count(buf.String(), "user=mallory"); lines < c.least || lines > c.most {
			t.Errorf("%d lines for 500 answers %d, want %d to %d", lines, c.status, c.least, c.most)
		}
	}
}

func TestSparseTellsHowManyWereLeftOut(t *testing.T) {
	var s Sparse
	for range sparseBurst + 7 {
		s.Allow()
	}
	s.last = s.last.Add(-sparseEvery) // that much later
	if ok, left := s.Allow(); !ok || left != 7 {
		t.Errorf("got %v, %d left out; want true, 7", ok, left)
	}
	if ok, _ := s.Allow(); ok {
		t.Error("more than one regained")
	}
	s.last = s.last.Add(-time.Hour)
	for i := range sparseBurst {
		if ok, _ := s.Allow(); !ok {
			t.Fatalf("line %d after an hour is left out", i+1)
		}
	}
	if ok, _ := s.Allow(); ok {
		t.Error("an hour of silence lets through more than a burst")
	}
}

func TestLoopbackDoorIsForItsOwnMachine(t *testing.T) {
	h := OnLoopback(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	for _, c := range []struct {
		host, origin string
		want         int
	}{
		{"127.0.0.1:8080", "", 204}, {"localhost:8080", "", 204}, {"[::1]:8080", "", 204}, {"[::1]", "", 204}, {"127.0.0.1", "", 204},
		{"127.0.0.1:8080", "http://127.0.0.1:8080", 204},
		{"rebound.example:8080", "", 421}, {"192.0.2.1", "", 421}, {"", "", 421}, {"localhost.example", "", 421},
		{"127.0.0.1:8080", "http://evil.example", 403}, {"127.0.0.1:8080", "null", 403}, {"127.0.0.1:8080", "https://127.0.0.1:8080", 403}, {"127.0.0.1:8080", "http://127.0.0.1:9090", 403},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("host %q, origin %q: %d, want %d", c.host, c.origin, w.Code, c.want)
		}
	}
}

func TestAServerHasMorePlacesAndItsProxiesBringEverybody(t *testing.T) {
	c := NewServerCrowd(slog.New(slog.DiscardHandler), []netip.Prefix{netip.MustParsePrefix("10.9.0.0/16"), netip.MustParsePrefix("2001:db8:1::5/128")})
	for from, want := range map[string]int{"192.0.2.1": serverTimes * strangersPerNetwork, "10.9.0.1": 2 * serverTimes * strangersPerNetwork, "2001:db8:1::5": 2 * serverTimes * strangersPerNetwork} {
		left := 0
		for range 2 * serverTimes * strangersPerNetwork {
			v, _ := comes(c, from)
			defer v.Close()
		}
		for e := c.strangers.Front(); e != nil; e = e.Next() {
			if e.Value.(*visitor).from.Contains(netip.MustParseAddr(from)) {
				left++
			}
		}
		if left != want {
			t.Errorf("%d of %s have places, want %d", left, from, want)
		}
		for c.strangers.Len() > 0 {
			c.strangers.Front().Value.(*visitor).Close()
		}
	}
}
