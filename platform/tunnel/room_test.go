package tunnel

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
	"svc.internal/controller/shelf/web"
)

// desk is the room before controllers that answer as they are told.
type desk struct {
	t       *testing.T
	echo    *echo.Echo
	log     bytes.Buffer
	got     []wire.TunnelRequest
	charged []string
	answer  func(controller string, in wire.TunnelRequest) (platform.Carried, error)
	full    bool // nobody's bucket has room
}

func newDesk(t *testing.T) *desk {
	d := &desk{t: t, answer: func(string, wire.TunnelRequest) (platform.Carried, error) {
		return platform.Carried{ID: "r", Status: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(`[]`)}, nil
	}}
	log := slog.New(slog.NewTextHandler(&d.log, nil))
	d.echo = web.New(web.Config{Log: log})
	d.echo.Pre(New(Config{
		Domain: "tunnel.example", Log: log,
		Carry: func(_ context.Context, controller string, in wire.TunnelRequest) (platform.Carried, error) {
			d.got = append(d.got, in)
			return d.answer(controller, in)
		},
		Charge: func(_ echo.Context, b platform.Bucket) error {
			d.charged = append(d.charged, b.ID)
			if d.full {
				return web.Refuse(http.StatusTooManyRequests, "full")
			}
			return nil
		},
		Stranger: func(*http.Request) platform.Bucket { return platform.Bucket{ID: "stranger"} },
	}).Pass)
	d.echo.GET("/svc/api/getClusters", func(c echo.Context) error { return c.String(http.StatusTeapot, "the platform's own") })
	return d
}

func (d *desk) ask(method, url, body, token string) *httptest.ResponseRecorder {
	d.t.Helper()
	r := httptest.NewRequest(method, url, strings.NewReader(body))
	r.Header.Set("Cookie", "session=secret")
	r.Header.Set("X-Forwarded-For", "203.0.113.9")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	d.echo.ServeHTTP(w, r)
	return w
}

const clusters = "https://house.tunnel.example/svc/api/getClusters?x=%2f1"

func TestARequestGoesToTheControllerOfItsHostName(t *testing.T) {
	d := newDesk(t)
	for _, host := range []string{"house.tunnel.example", "HOUSE.tunnel.example:8443", "house.tunnel.example."} {
		d.got = nil
		if w := d.ask("GET", "https://"+host+"/svc/api/getClusters", "", "t"); w.Code != 200 || len(d.got) != 1 {
			t.Errorf("%s: %d, %d carried", host, w.Code, len(d.got))
		}
	}
	for _, host := range []string{"platform.example", "tunnel.example", "housetunnel.example", "house.tunnel.example.evil"} {
		d.got = nil
		if w := d.ask("GET", "https://"+host+"/svc/api/getClusters", "", "t"); w.Code != http.StatusTeapot || d.got != nil {
			t.Errorf("%s: %d, %d carried", host, w.Code, len(d.got))
		}
	}
}

func TestNothingButThePublicAPIIsCarried(t *testing.T) {
	d := newDesk(t)
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", "/api/v1/buses", "", 404}, {"GET", "/", "", 404}, {"GET", "/docs", "", 404}, {"GET", "/metrics", "", 404},
		{"GET", "/svc/api/../../api/v1/users", "", 404}, {"GET", "/svc/api/%2e%2e/%2e%2e/metrics", "", 404},
		{"DELETE", "/svc/api/getClusters", "", 405}, {"PUT", "/svc/api/getClusters", "", 405},
		{"POST", "/svc/api/channelControl", strings.Repeat(" ", wire.TunnelBodyMost+1), 413},
	} {
		w := d.ask(c.method, "https://house.tunnel.example"+c.path, c.body, "t")
		if w.Code != c.want || !strings.HasPrefix(w.Body.String(), `{"status":0,"message":"`) {
			t.Errorf("%s %s: %d %s, want %d", c.method, c.path, w.Code, w.Body, c.want)
		}
	}
	if len(d.got) != 0 {
		t.Errorf("carried: %+v", d.got)
	}
}

func TestOnlyHeadersOfTheAPIPass(t *testing.T) {
	d := newDesk(t)
	d.answer = func(string, wire.TunnelRequest) (platform.Carried, error) {
		return platform.Carried{Status: 200, Header: http.Header{
			"Content-Type": {"application/json"}, "Etag": {`"1"`}, "X-State-Age": {"2"}, "X-Command-Id": {"c"},
			"Set-Cookie": {"session=mine; Domain=platform.example"}, "Strict-Transport-Security": {"max-age=0"}, "Location": {"https://evil.example"},
			"Content-Security-Policy": {"default-src *"},
		}, Body: []byte("[1]")}, nil
	}
	w := d.ask("GET", clusters, "", "t")
	in := d.got[0]
	if in.Header.Get("Cookie") != "" || in.Header.Get("X-Forwarded-For") != "" || in.Header.Get("Authorization") != "Bearer t" ||
		in.Peer != "192.0.2.1" || in.URI != "/svc/api/getClusters?x=%2f1" || in.Host != "house.tunnel.example" {
		t.Errorf("the controller got %+v", in)
	}
	h := w.Header()
	for _, name := range []string{"Set-Cookie", "Strict-Transport-Security", "Location"} {
		if h.Get(name) != "" {
			t.Errorf("%s came through: %s", name, h.Get(name))
		}
	}
	if h.Get("Etag") != `"1"` || h.Get("X-State-Age") != "2" || h.Get("X-Command-Id") != "c" || strings.Contains(h.Get("Content-Security-Policy"), "*") || w.Body.String() != "[1]" {
		t.Errorf("got %v %s", h, w.Body)
	}
}

func TestATokenCountsAsAStrangersUntilTheControllerAcceptsIt(t *testing.T) {
	d := newDesk(t)
	answers := func(status int) {
		d.answer = func(string, wire.TunnelRequest) (platform.Carried, error) {
			return platform.Carried{Status: status}, nil
		}
	}
	ask := func(what, method, path, token, want string) {
		t.Helper()
		d.charged = nil
		d.ask(method, "https://house.tunnel.example/svc/api/"+path, "", token)
		if got := strings.Join(d.charged, " "); !strings.HasPrefix(got, want) || len(d.charged) != 1 {
			t.Errorf("%s counts on %q, want %s", what, got, want)
		}
	}
	answers(200)
	ask("a login", "POST", "authenticate", "", "stranger")
	ask("a login with a token of somebody's own making", "POST", "authenticate", "junk", "stranger")
	ask("and that token afterwards", "OPTIONS", "getClusters", "junk", "stranger")
	answers(404)
	ask("a path that there is not", "GET", "nonsense", "junk", "stranger")
	answers(401)
	ask("a wrong token", "GET", "getClusters", "junk", "stranger")
	ask("a wrong token again", "GET", "getClusters", "junk", "stranger")
	answers(200)
	ask("a good token, first", "GET", "getClusters", "good", "stranger")
	ask("a good token", "GET", "getClusters", "good", "tunnel:")
	ask("a good token, for what there is not", "GET", "nonsense", "good", "tunnel:")
	answers(401)
	ask("a token that has ended", "GET", "getClusters", "good", "tunnel:")
	ask("a token that has ended, again", "GET", "getClusters", "good", "stranger")

	answers(200)
	d.ask("GET", clusters, "", "good")
	d.charged = nil
	d.ask("GET", "https://other.tunnel.example/svc/api/getClusters", "", "good")
	if d.charged[0] != "stranger" {
		t.Error("a token of one controller is known at another")
	}
	d.full, d.got = true, nil
	if w := d.ask("GET", clusters, "", "good"); w.Code != 429 || d.got != nil {
		t.Errorf("beyond the limit: %d, %d carried", w.Code, len(d.got))
	}
}

func TestWhatCannotBeCarriedIsToldInTheControllersShape(t *testing.T) {
	d := newDesk(t)
	var nobody string
	for _, c := range []struct {
		err  error
		want int
	}{{platform.ErrNotFound, 502}, {platform.ErrOffline, 502}, {platform.ErrUnanswered, 504}, {platform.ErrOverloaded, 502}, {platform.Invalid("large"), 400}} {
		d.answer = func(string, wire.TunnelRequest) (platform.Carried, error) {
			return platform.Carried{}, fmt.Errorf("secret cause: %w", c.err)
		}
		w := d.ask("GET", clusters, "", "t")
		body := w.Body.String()
		if w.Code != c.want || !strings.HasPrefix(body, `{"status":0,"message":"`) || strings.Contains(body, "secret") {
			t.Errorf("%v: %d %s", c.err, w.Code, body)
		}
		if c.err == platform.ErrNotFound {
			nobody = body
		}
		if c.err == platform.ErrOffline && body != nobody {
			t.Errorf("strangers can tell a controller that is offline (%s) from one that there is not (%s)", body, nobody)
		}
	}
}

func TestEveryRequestIsNotedWithoutItsToken(t *testing.T) {
	d := newDesk(t)
	d.ask("GET", clusters, "", "a-secret-token")
	d.answer = func(string, wire.TunnelRequest) (platform.Carried, error) {
		return platform.Carried{}, platform.ErrOffline
	}
	d.ask("POST", "https://house.tunnel.example/svc/api/authenticate", `{"password":"a-secret-token"}`, "")
	text := d.log.String()
	for _, want := range []string{
		`msg=tunnel controller=house method=GET path=/svc/api/getClusters status=200 bytes=2`, `peer=192.0.2.1 token=`,
		`msg=tunnel controller=house method=POST path=/svc/api/authenticate status=0`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the log lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "secret") {
		t.Errorf("the log tells a secret:\n%s", text)
	}
}

func TestStrangersCannotTakeAllPlaces(t *testing.T) {
	p := newPlaces()
	var leave []func()
	for i := range strangersOfController {
		out, ok := p.enter("house", true)
		if !ok {
			t.Fatalf("stranger %d has no place", i)
		}
		leave = append(leave, out)
	}
	if _, ok := p.enter("house", true); ok {
		t.Error("strangers take the places of others")
	}
	for i := strangersOfController; i < perController; i++ {
		out, ok := p.enter("house", false)
		if !ok {
			t.Fatalf("request %d has no place", i)
		}
		leave = append(leave, out)
	}
	if _, ok := p.enter("house", false); ok {
		t.Error("there is no end of places at one controller")
	}
	for i := strangersOfController; i < strangersInAll; i++ {
		out, ok := p.enter(fmt.Sprint("house", i), true)
		if !ok {
			t.Fatalf("stranger %d has no place", i)
		}
		leave = append(leave, out)
	}
	if _, ok := p.enter("another", true); ok {
		t.Error("strangers take all places of an instance")
	}
	for _, out := range leave {
		out()
	}
	if p.all != (taken{}) || len(p.of) != 0 {
		t.Errorf("places are left taken: %+v", p)
	}
}

func TestKnownTokensAreBoundedAndForgotten(t *testing.T) {
	now := time.Unix(0, 0)
	k := newKnown(func() time.Time { return now })
	name := func(i int) (t token) { copy(t[:], fmt.Sprint("token ", i)); return t }
	for i := range knownMost + 10 {
		now = now.Add(time.Millisecond)
		k.add(name(i))
	}
	if len(k.used) != knownMost || k.has(name(0)) || !k.has(name(knownMost+9)) {
		t.Errorf("%d are known, the oldest: %v, the newest: %v", len(k.used), k.has(name(0)), k.has(name(knownMost+9)))
	}
	now = now.Add(knownLast)
	if k.has(name(knownMost + 9)) {
		t.Error("a token is known for ever")
	}
}
