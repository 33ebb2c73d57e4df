package web

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
)

// Config of what all doors of a program share. Log is needed.
type Config struct {
	Log *slog.Logger
	// Errors of the program that are no fault of its own.
	Errors Table
	// Refusal words the answers that are none; nil makes {"status":0,"message":…}.
	Refusal Refusal
	// SecretQuery are the parameters whose values the access log must not show. Nil
	// shows nothing of the query.
	SecretQuery []string
	// Proxies are whom X-Forwarded-For is believed from: nobody, if empty.
	Proxies []netip.Prefix
	// Certificate is what TLS is served with. Browsers are told to come by TLS only if
	// somebody vouches for it; nil tells them nothing.
	Certificate *Certificate
}

// New returns the echo instance that the doors register their routes on. Every
// answer carries X-Request-Id and the security headers; every error goes
// through [Config.Errors]; a panic costs one answer, not the program.
func New(cfg Config) *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	// Echo writes its own messages with another logger; it has none to write, as
	// serving is done by Serve.
	e.Logger.SetOutput(io.Discard)
	e.IPExtractor = func(r *http.Request) string { return Peer(r).String() }
	if cfg.Refusal == nil {
		cfg.Refusal = plainRefusal
	}
	d := &door{Config: cfg, log: cfg.Log}
	e.HTTPErrorHandler = d.refuse
	e.Pre(d.pass)
	return e
}

// door is what every request passes on its way in and out.
type door struct {
	Config
	log *slog.Logger
	// What strangers were refused, and those whom the door knows.
	refusals, refusalsKnown Sparse
}

// Shared header values, see JSONType.
var (
	nosniff    = []string{"nosniff"}
	denyFrame  = []string{"DENY"}
	noReferrer = []string{"no-referrer"}
	// After chunks, since net/http does not tell whether a Content-Length came beside them: who
	// stands between may have believed that, and take the next request for another one's (RFC 9112, 6.1).
	closed = []string{"close"}
	// A month, since whoever goes back to a self-made certificate is not let in by browsers
	// that remember this; without names below this one, which may be other people's.
	tlsOnly       = []string{"max-age=2592000"}
	nothingLoaded = []string{"default-src 'none'; frame-ancestors 'none'"}
)

func (d *door) pass(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		plainPath(c.Request().URL)
		d.seeThrough(c.Request())
		start := time.Now()
		id := requestID(c.Request())
		if q := begin(c); q != nil {
			c.Set(requestKey, q)
			defer q.end()
		}
		// Not before the answer begins: a command need not wait for it.
		c.Response().Before(func() { d.mark(c.Response().Header(), c.Request(), id) })
		err := d.guarded(c, next)
		if err != nil {
			c.Error(err)
		}
		if !c.Response().Committed { // a handler may leave it to the server to answer a HEAD
			c.Response().WriteHeader(http.StatusOK)
		}
		takeRest(c.Request())
		d.record(c, id, start, err)
		return nil
	}
}

// restMost is the largest body that is taken although nobody wanted it.
const restMost = 64 << 10

// takeRest reads what of a small body was not wanted. HTTP/2 resets a stream that ends before all of its body came,
// and some clients (curl 7.88) then lose the answer.
func takeRest(r *http.Request) {
	if r.ProtoMajor == 2 && r.ContentLength > 0 && r.ContentLength <= restMost {
		_, _ = io.Copy(io.Discard, r.Body) // whoever breaks off wants no answer either
	}
}

// plainPath spells out what a path has as %XX without need. Letters, digits and
// -._~ are the same either way (RFC 3986, 6.2.2.2), but the router compares what was
// sent. All else stays as it is: %2F is no slash. Dots lead nowhere, as nothing here
// takes .. for the folder above.
func plainPath(u *url.URL) {
	raw := u.RawPath // empty if the path has nothing of the kind
	if raw == "" {
		return
	}
	plain := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c == '%' && i+2 < len(raw) {
			if v, err := strconv.ParseUint(raw[i+1:i+3], 16, 8); err == nil && unreserved(byte(v)) {
				c, i = byte(v), i+2
			}
		}
		plain = append(plain, c)
	}
	u.RawPath = string(plain)
}

func unreserved(c byte) bool {
	switch {
	case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		return true
	}
	return c == '-' || c == '.' || c == '_' || c == '~'
}

// ReadBody takes a request's body, up to limit bytes; beyond it fails with
// [http.MaxBytesError].
func ReadBody(c echo.Context, limit int64) ([]byte, error) {
	r := c.Request()
	if r.ContentLength > limit {
		return nil, &http.MaxBytesError{Limit: limit}
	}
	// The server's own writer, not echo's wrapper: only that one tells the server to
	// let the client read the refusal before the connection is closed under it.
	return io.ReadAll(http.MaxBytesReader(c.Response().Writer, r.Body, limit))
}

// mark sets what every answer carries, unless its handler wants something else.
func (d *door) mark(h http.Header, r *http.Request, id string) {
	h["X-Request-Id"] = []string{id}
	h["X-Content-Type-Options"] = nosniff
	h["X-Frame-Options"] = denyFrame
	h["Referrer-Policy"] = noReferrer
	if r.ProtoMajor == 1 && len(r.TransferEncoding) > 0 {
		h["Connection"] = closed
	}
	if r.TLS != nil && d.Certificate != nil && d.Certificate.Vouched() {
		h["Strict-Transport-Security"] = tlsOnly
	}
	if h["Content-Security-Policy"] == nil {
		h["Content-Security-Policy"] = nothingLoaded
	}
}

// guarded turns a panic of a handler into an error.
func (d *door) guarded(c echo.Context, next echo.HandlerFunc) (err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if p == http.ErrAbortHandler {
			panic(p) // net/http's own way to drop a connection
		}
		err = &Error{Status: http.StatusInternalServerError, Message: "internal error",
			Cause: fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
	}()
	return next(c)
}

// refuse answers with an error, unless the answer has begun already.
func (d *door) refuse(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	// Whoever asked may be gone; then there is nobody to tell, and record has it.
	_ = d.Errors.Of(err).answer(c, d.Refusal)
}

// record writes the access log. Reads that went well are Debug, so that
// dashboards polling all day do not wear the flash; changes and refusals are
// Info, our own faults Error. What strangers are refused is told a few times a minute, and
// so, counted apart, is what the others are. Neither headers nor bodies are logged, nor
// queries unless the program says what is secret in them.
func (d *door) record(c echo.Context, id string, start time.Time, err error) {
	r, status := c.Request(), c.Response().Status
	level := slog.LevelInfo
	switch {
	case status >= 500 && status != http.StatusServiceUnavailable:
		level = slog.LevelError
	case status < 400 && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		level = slog.LevelDebug
	}
	if !d.log.Enabled(r.Context(), level) {
		return
	}
	who, known := CallerOf(c)
	left := 0
	if status >= 400 && !(known && level == slog.LevelError) {
		few := &d.refusals
		if known {
			few = &d.refusalsKnown
		}
		var ok bool
		if ok, left = few.Allow(); !ok {
			return
		}
	}
	attrs := []slog.Attr{
		slog.String("request", id),
		slog.String("method", clip(r.Method, 16)),
		slog.String("path", clip(Veiled(r.URL.Path), 200)),
		slog.Int("status", status),
		slog.Int64("bytes", c.Response().Size),
		slog.Duration("took", time.Since(start)),
		slog.String("peer", peerName(r)),
	}
	if d.SecretQuery != nil && r.URL.RawQuery != "" {
		attrs = append(attrs, slog.String("query", clip(veiledQuery(r.URL.RawQuery, d.SecretQuery), 200)))
	}
	if known {
		attrs = append(attrs, slog.String("user", who.Name))
	}
	if left > 0 {
		attrs = append(attrs, slog.Int("not_logged", left))
	}
	if cause := d.privateCause(err); cause != nil {
		attrs = append(attrs, slog.String("cause", cause.Error()))
	}
	// Without the place in the source, which the logger would look up.
	line := slog.NewRecord(time.Now(), level, "request", 0)
	line.AddAttrs(attrs...)
	_ = d.log.Handler().Handle(r.Context(), line) // the log has nobody to complain to
}

// peerName is for the log; a Unix socket has no address.
func peerName(r *http.Request) string {
	if peer := Peer(r); peer.IsValid() {
		return peer.String()
	}
	return "socket"
}

// privateCause is what the answer did not tell.
func (d *door) privateCause(err error) error {
	if err == nil {
		return nil
	}
	var he *echo.HTTPError
	if errors.As(err, &he) {
		return nil
	}
	return d.Errors.Of(err).Cause
}

func clip(s string, n int) string {
	if len(s) > n {
		return s[:n] + "…"
	}
	return s
}

// requestID is taken over from the caller if harmless, else random: a number that is
// counted up would tell everybody how many others there are.
func requestID(r *http.Request) string {
	if v := r.Header["X-Request-Id"]; len(v) == 1 && harmless(v[0]) {
		return v[0]
	}
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// harmless reports whether s can stand in a header and a log line.
func harmless(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '-', c == '_', c == '.':
		default:
			return false
		}
	}
	return true
}
