package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"
)

func ask(e *echo.Echo, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, nil)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	return w
}

var errLost = errors.New("not found")

func TestErrorsBecomeStatuses(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		body   string
	}{
		{ErrUnauthorized, 401, `{"status":0,"message":"Authentication required"}`},
		{ErrForbidden, 403, ``},
		{fmt.Errorf("outer: %w", Refuse(418, "short")), 418, `{"status":0,"message":"short"}`},
		{&Error{Status: 500, Message: "told", Cause: errors.New("hidden")}, 500, `{"status":0,"message":"told"}`},
		{fmt.Errorf("node 7: %w", errLost), 404, `{"status":0,"message":"node 7: not found"}`},
		{fmt.Errorf("call: %w", context.DeadlineExceeded), 504, `{"status":0,"message":"call: context deadline exceeded"}`},
		{&http.MaxBytesError{Limit: 5}, 413, `{"status":0,"message":"body larger than 5 bytes"}`},
		{errors.New("secret"), 500, `{"status":0,"message":"internal error"}`},
	} {
		e := New(Config{Log: slog.New(slog.DiscardHandler), Errors: Table{{errLost, 404}}})
		e.GET("/x", func(echo.Context) error { return c.err })
		w := ask(e, "/x")
		if w.Code != c.status || strings.TrimSpace(w.Body.String()) != c.body {
			t.Errorf("%v: got %d %s, want %d %s", c.err, w.Code, w.Body, c.status, c.body)
		}
		if strings.Contains(w.Body.String(), "hidden") || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%v: the cause is shown", c.err)
		}
	}
}

func TestNeedlessEscapesOfAPathAreSpeltOut(t *testing.T) {
	for sent, want := range map[string]string{
		"/x":                              "",
		"/a%20b":                          "", // as Go would write it
		"/%78":                            "/x",
		"/%41%5a%61%7A%30%39%2d%2E%5F%7e": "/AZaz09-._~",
		"/%2Fx%2f":                        "/%2Fx%2f",
		"/%5Cx%78%3a":                     "/%5Cxx%3a",
		"/%2578":                          "", // %25 is a percent sign, and 78 what follows it
		"/%2578%78":                       "/%2578x",
		"/%C3%A9%78":                      "/%C3%A9x",
		"/%2e%2e%2Fx":                     "/..%2Fx",
	} {
		u, err := url.ParseRequestURI(sent)
		if err != nil {
			t.Fatal(err)
		}
		path := u.Path
		plainPath(u)
		if u.RawPath != want || u.Path != path {
			t.Errorf("%s: got %q, want %q; the path itself %q was %q", sent, u.RawPath, want, u.Path, path)
		}
		if read, err := url.PathUnescape(u.EscapedPath()); err != nil || read != path {
			t.Errorf("%s: %q reads %q, want %q", sent, u.EscapedPath(), read, path)
		}
	}
}

func TestRetryAfterIsRoundedUp(t *testing.T) {
	e := New(Config{Log: slog.New(slog.DiscardHandler)})
	e.GET("/x", func(echo.Context) error { return &Error{Status: 503, RetryAfter: 1100 * time.Millisecond} })
	if got := ask(e, "/x").Header().Get("Retry-After"); got != "2" {
		t.Errorf("got %q, want 2", got)
	}
}

func TestEveryAnswerHasIDAndSecurityHeaders(t *testing.T) {
	e := New(Config{Log: slog.New(slog.DiscardHandler)})
	e.GET("/ok", func(c echo.Context) error { return c.String(200, "ok") })
	e.GET("/panic", func(echo.Context) error { panic("x") })
	ids := map[string]bool{}
	for _, path := range []string{"/ok", "/panic", "/nowhere", "/ok"} {
		h := ask(e, path).Header()
		id := h.Get("X-Request-Id")
		if ids[id] || !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(id) {
			t.Errorf("%s: request ID %q", path, id)
		}
		ids[id] = true
		for _, name := range []string{"X-Content-Type-Options", "X-Frame-Options", "Referrer-Policy", "Content-Security-Policy"} {
			if h.Get(name) == "" {
				t.Errorf("%s: no %s", path, name)
			}
		}
	}
	for sent, kept := range map[string]bool{"abc-1.2_3": true, "a b": false, "a\"b": false, strings.Repeat("a", 65): false} {
		if got := ask(e, "/ok", "X-Request-Id: "+sent).Header().Get("X-Request-Id"); (got == sent) != kept {
			t.Errorf("sent ID %q became %q", sent, got)
		}
	}
}

func TestBodiesThatNobodyWantsAreTakenWithHTTP2(t *testing.T) {
	e := New(Config{Log: slog.New(slog.DiscardHandler)})
	e.POST("/ok", func(c echo.Context) error { return c.String(200, "ok") })
	for _, c := range []struct {
		path         string
		major, size  int
		left, status int
	}{
		{"/ok", 2, 2, 0, 200}, {"/nowhere", 2, 900, 0, 404}, {"/ok", 2, restMost + 1, restMost + 1, 200},
		{"/ok", 1, 900, 900, 200}, // the server itself takes it there
	} {
		body := strings.NewReader(strings.Repeat("x", c.size))
		r := httptest.NewRequest("POST", c.path, body)
		r.ProtoMajor = c.major
		w := httptest.NewRecorder()
		e.ServeHTTP(w, r)
		if body.Len() != c.left || w.Code != c.status {
			t.Errorf("HTTP/%d %s: %d of %d bytes are left, want %d; status %d", c.major, c.path, body.Len(), c.size, c.left, w.Code)
		}
	}
}

func TestHeadersThatClaimAnotherAddressAreNotBelieved(t *testing.T) {
	var buf bytes.Buffer
	e := New(Config{Log: slog.New(slog.NewTextHandler(&buf, nil))})
	w := ask(e, "/nowhere", "X-Forwarded-For: 203.0.113.66", "X-Real-Ip: 203.0.113.66", "Forwarded: for=203.0.113.66")
	if w.Code != 404 || strings.Contains(buf.String(), "203.0.113.66") || !strings.Contains(buf.String(), "peer=192.0.2.1") {
		t.Errorf("log is %s", &buf)
	}
	r := httptest.NewRequest("GET", "/", nil)
	for remote, want := range map[string]string{"[::ffff:192.0.2.7]:80": "192.0.2.7", "[2001:db8::1]:80": "2001:db8::1", "@": "invalid IP"} {
		r.RemoteAddr = remote
		if got := Peer(r).String(); got != want {
			t.Errorf("%s: got %s, want %s", remote, got, want)
		}
	}
	buf.Reset()
	r.RemoteAddr = "@"
	e.ServeHTTP(httptest.NewRecorder(), r)
	if !strings.Contains(buf.String(), "peer=socket") {
		t.Errorf("log of a socket is %s", &buf)
	}
}

func TestRefusalsAreWordedAsTheProgramWants(t *testing.T) {
	e := New(Config{Log: slog.New(slog.DiscardHandler), Refusal: func(path string, status int, message string) (string, []byte) {
		return "application/problem+json", fmt.Appendf(nil, "%s %d %s", path, status, message)
	}})
	w := ask(e, "/nowhere")
	if got := w.Header().Get("Content-Type"); got != "application/problem+json" || w.Body.String() != "/nowhere 404 no such endpoint" {
		t.Errorf("got %s %q", got, w.Body)
	}
}

func TestOnlyProxiesOfOursSpeakForOthers(t *testing.T) {
	e := New(Config{Log: slog.New(slog.DiscardHandler), Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}})
	var got netip.Addr
	e.GET("/", func(c echo.Context) error { got = Peer(c.Request()); return nil })
	for _, c := range []struct{ remote, claims, want string }{
		{"192.0.2.1:80", "203.0.113.66", "192.0.2.1"},
		{"10.0.0.1:80", "", "10.0.0.1"},
		{"10.0.0.1:80", "203.0.113.66", "203.0.113.66"},
		{"10.0.0.1:80", "198.51.100.1, 203.0.113.66, 10.0.0.2", "203.0.113.66"},
		{"10.0.0.1:80", "nonsense", "10.0.0.1"},
		{"10.0.0.1:80", "203.0.113.66, nonsense", "10.0.0.1"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.remote
		if c.claims != "" {
			r.Header.Set("X-Forwarded-For", c.claims)
		}
		e.ServeHTTP(httptest.NewRecorder(), r)
		if got.String() != c.want {
			t.Errorf("%s, which speaks for %q, is taken for %s, want %s", c.remote, c.claims, got, c.want)
		}
	}
}

func TestAccessLogShowsQueriesWithoutSecrets(t *testing.T) {
	var buf bytes.Buffer
	e := New(Config{Log: slog.New(slog.NewTextHandler(&buf, nil)), SecretQuery: []string{"apiKey"}})
	for _, query := range []string{
		"apiKey=s3cret&a=b", "api%4Bey=s3cret&a=b", "a=b&APIKEY=s3cret", "a=b&%zz=s3cret", "a=b&apiKey=x&apiKey=s3cret", "a=b;apiKey=s3cret",
		"a=b%26apiKey%3Ds3cret", "a=b%3BapiKey=s3cret", "a=b%253BapiKey%253Ds3cret", "a=b&x=svc_s3cret0123456789abcdef0123456789", "a=b;%zz;apiKey=s3cret",
	} {
		buf.Reset()
		ask(e, "/nowhere?"+query)
		if got := buf.String(); strings.Contains(got, "s3cret") || !strings.Contains(got, "a=b") && !strings.HasPrefix(query, "a=b;%zz") {
			t.Errorf("%s: %s", query, got)
		}
	}
}

func TestAccessLogShowsPathsWithoutKeys(t *testing.T) {
	const digits = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	var buf bytes.Buffer
	e := New(Config{Log: slog.New(slog.NewTextHandler(&buf, nil))})
	for path, want := range map[string]string{
		"/x/ctl_" + digits:                              "/x/ctl_…",
		"/svc_" + digits + "/y":                         "/svc_…/y",
		"/x;apiKey=%63%74l_" + digits:                   "/x;apiKey=ctl_…",
		"/x/%2563tl%255F" + digits:                      "/x/ctl_…",
		"/" + digits:                                    "/0123…",
		"/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.abc-def": "/eyJh…",
		"/users/0198f2d4-1c7b-7c3e-9f1a-2b3c4d5e6f70":   "/users/0198f2d4-1c7b-7c3e-9f1a-2b3c4d5e6f70",
		"/svc/api/getClusterList":                       "/svc/api/getClusterList",
	} {
		buf.Reset()
		ask(e, path)
		if got := buf.String(); !strings.Contains(got, "path="+want+" ") && !strings.Contains(got, `path="`+want+`" `) || strings.Contains(got, digits) {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// A handler may leave it to the server to answer a HEAD.
func TestAnAnswerThatNobodyBeganHasIDAndSecurityHeaders(t *testing.T) {
	e := New(Config{Log: slog.New(slog.DiscardHandler)})
	e.HEAD("/x", func(echo.Context) error { return nil })
	server := httptest.NewServer(e)
	defer server.Close()
	res, err := http.Head(server.URL + "/x")
	must(t, err)
	must(t, res.Body.Close())
	if res.StatusCode != 200 || res.Header.Get("X-Request-Id") == "" || res.Header.Get("X-Frame-Options") == "" || res.Header.Get("Content-Security-Policy") == "" {
		t.Errorf("got %d %v", res.StatusCode, res.Header)
	}
}

// Who stands between may have believed the Content-Length; then what it takes for the next request is not.
func TestAConnectionIsClosedAfterARequestOfTwoLengths(t *testing.T) {
	e := New(Config{Log: slog.New(slog.DiscardHandler)})
	e.POST("/x", func(c echo.Context) error { return c.NoContent(204) })
	server := httptest.NewServer(e)
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	must(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\nHost: x\r\n\r\n")
	must(t, err)
	must(t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
	all, err := io.ReadAll(conn)
	must(t, err)
	if got := string(all); strings.Count(got, "HTTP/1.1 ") != 1 || !strings.Contains(got, "Connection: close\r\n") {
		t.Errorf("got %q, want one answer and the end", got)
	}
}

func TestAccessLogLevels(t *testing.T) {
	var buf bytes.Buffer
	e := New(Config{Log: slog.New(slog.NewTextHandler(&buf, nil))})
	e.GET("/poll", func(c echo.Context) error { return c.NoContent(200) })
	e.POST("/change", func(c echo.Context) error { return c.NoContent(200) })
	ask(e, "/poll?secret=1")
	if buf.Len() != 0 {
		t.Errorf("a poll that went well wears the flash: %s", &buf)
	}
	e.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/change?secret=1", nil))
	if got := buf.String(); !strings.Contains(got, "level=INFO") || !strings.Contains(got, "path=/change ") || strings.Contains(got, "secret") {
		t.Errorf("got %s", got)
	}
}

func TestReadBody(t *testing.T) {
	const limit = 1 << 10
	whole := strings.Repeat("a", limit)
	for _, c := range []struct {
		name  string
		body  io.Reader
		told  int64 // -1: in chunks
		first int   // bytes that are read before
		want  string
		fails error
	}{
		{"whole", strings.NewReader(whole), limit, 0, whole, nil},
		{"begun", strings.NewReader(whole), limit, 10, whole[10:], nil},
		{"in chunks", strings.NewReader(whole), -1, 0, whole, nil},
		{"empty", http.NoBody, 0, 0, "", nil},
		{"too long", strings.NewReader(whole + "b"), limit + 1, 0, "", new(http.MaxBytesError)},
		{"too long, in chunks", strings.NewReader(whole + "b"), -1, 0, "", new(http.MaxBytesError)},
	} {
		r := httptest.NewRequest("POST", "/", c.body)
		r.ContentLength = c.told
		var got []byte
		var err error
		e := New(Config{Log: slog.New(slog.DiscardHandler)})
		e.POST("/", func(ctx echo.Context) error {
			if _, err := io.ReadFull(ctx.Request().Body, make([]byte, c.first)); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			got, err = ReadBody(ctx, limit)
			return nil
		})
		e.ServeHTTP(httptest.NewRecorder(), r)
		tooLong := new(http.MaxBytesError)
		switch {
		case c.fails == nil && (err != nil || string(got) != c.want):
			t.Errorf("%s: %d bytes, %v; want %d", c.name, len(got), err, len(c.want))
		case c.fails != nil && !errors.Is(err, c.fails) && !(errors.As(c.fails, &tooLong) && errors.As(err, &tooLong)):
			t.Errorf("%s: %v, want %v", c.name, err, c.fails)
		}
	}
}

func FuzzAppendJSONString(f *testing.F) {
	f.Add("plain")
	f.Add("\"\\\n\x00\x1f\x7f é \u2028 \xff\xc3")
	f.Fuzz(func(t *testing.T, s string) {
		var got string
		if err := json.Unmarshal(AppendJSONString(nil, s), &got); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if want := strings.ToValidUTF8(s, "\ufffd"); utf8.ValidString(s) && got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}
