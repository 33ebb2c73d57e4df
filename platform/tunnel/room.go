package tunnel

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
	"svc.internal/controller/shelf/web"
)

const (
	// perToken is how many requests a token may send in [platform.Window]: one every third of a second.
	perToken = 3000
	// carryMost is how long a controller may take: a command's deadline is 10 s at most.
	carryMost = 15 * time.Second
)

// Config of the room. All fields are needed.
type Config struct {
	// Domain is what host names of controllers end with, after their ID and a dot.
	Domain string
	// Carry brings a request to a controller and its answer back.
	Carry func(ctx context.Context, controller string, in wire.TunnelRequest) (platform.Carried, error)
	// Charge counts a request or refuses it, and Stranger is where those of strangers count.
	Charge   func(c echo.Context, b platform.Bucket) error
	Stranger func(r *http.Request) platform.Bucket
	Log      *slog.Logger
}

// Room carries requests.
type Room struct {
	cfg    Config
	places *places
	known  *known
}

// New makes the room.
func New(cfg Config) *Room {
	cfg.Domain = strings.ToLower(strings.Trim(cfg.Domain, "."))
	return &Room{cfg: cfg, places: newPlaces(), known: newKnown(time.Now)}
}

// Pass is the middleware that takes what is for a controller, before routes are looked for.
func (r *Room) Pass(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		cid, ok := r.controller(c.Request().Host)
		if !ok {
			return next(c)
		}
		return r.carry(c, cid)
	}
}

// controller is whose host name this is; ok is false if it is none below the domain.
func (r *Room) controller(host string) (cid string, ok bool) {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.CutSuffix(strings.ToLower(strings.TrimSuffix(host, ".")), "."+r.cfg.Domain)
}

// refuse is an answer of our own, in the shape of the controller's.
func refuse(status int, message string) *web.Error {
	body, err := json.Marshal(struct {
		Status  int    `json:"status"`
		Message string `json:"message"`
	}{0, message})
	if err != nil { // a string always can be
		panic(err)
	}
	return &web.Error{Status: status, Message: message, Body: body}
}

// What strangers are told is the same whether there is no such controller, it is offline, or it lets nobody in this way.
var (
	errNobody   = refuse(http.StatusBadGateway, "No controller is reached by this name at present")
	errNoAnswer = refuse(http.StatusGatewayTimeout, "The controller did not answer in time; nothing of this is done from now on")
	errTooLarge = refuse(http.StatusBadGateway, "The controller's answer cannot be carried by the tunnel")
	errPath     = refuse(http.StatusNotFound, "The tunnel carries "+wire.TunnelPrefix+" only")
	errMethod   = refuse(http.StatusMethodNotAllowed, "method not allowed here")
	errBody     = refuse(http.StatusRequestEntityTooLarge, "body larger than "+strconv.Itoa(wire.TunnelBodyMost)+" bytes")
	errBusy     = refuse(http.StatusServiceUnavailable, "Too many requests to this controller are under way")
)

var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodOptions}

// Headers that pass. What else a controller says is not for browsers to hear in the platform's name.
var (
	inward  = []string{"Accept", "Authorization", "Content-Type", "If-None-Match", "Origin", "Sec-Fetch-Site", "User-Agent"}
	outward = []string{"Allow", "Cache-Control", "Content-Length", "Content-Type", "Etag", "Retry-After", "Vary", "Www-Authenticate", "X-Command-Id", "X-State-Age"}
)

// carry brings a request to the controller and its answer back, and notes both.
func (r *Room) carry(c echo.Context, cid string) error {
	q := r.visit(c, cid)
	if err := q.count(); err != nil {
		return err
	}
	in, err := q.request()
	if err != nil {
		return err
	}
	leave, ok := r.places.enter(cid, q.stranger)
	if !ok {
		busy := *errBusy
		busy.RetryAfter = time.Second
		return &busy
	}
	defer leave()
	ctx, cancel := context.WithTimeout(c.Request().Context(), carryMost)
	defer cancel()
	began := time.Now()
	out, err := r.cfg.Carry(ctx, cid, in)
	q.note(out, err, time.Since(began))
	if err != nil {
		return refusal(err)
	}
	if q.learn(out.Status) && !web.SetCaller(c, &web.Caller{Name: "tunnel " + cid + " " + q.fingerprint, Key: true}) {
		return web.ErrCrowded
	}
	return send(c, out)
}

// visit is one request, and what is known of it before it is carried.
type visit struct {
	*Room
	c           echo.Context
	controller  string
	token       token
	fingerprint string // of the token, for the log; empty without one
	stranger    bool   // the controller has not accepted this token yet
}

func (r *Room) visit(c echo.Context, cid string) *visit {
	v := &visit{Room: r, c: c, controller: cid, stranger: true}
	if v.token = tokenOf(c.Request(), cid); v.token != (token{}) {
		v.fingerprint = v.token.String()
		v.stranger = !r.known.has(v.token)
	}
	return v
}

// count refuses who asks too often: a token that the controller accepted counts by itself, all else where it came from.
func (v *visit) count() error {
	if v.stranger {
		return v.cfg.Charge(v.c, v.cfg.Stranger(v.c.Request()))
	}
	return v.cfg.Charge(v.c, platform.Bucket{ID: "tunnel:" + v.token.hex(), Limit: perToken, Window: platform.Window})
}

// request is what goes to the controller.
func (v *visit) request() (in wire.TunnelRequest, err error) {
	r := v.c.Request()
	switch {
	case !strings.HasPrefix(r.URL.Path, wire.TunnelPrefix) || strings.Contains(r.URL.Path, ".."):
		return in, errPath
	case !slices.Contains(methods, r.Method):
		return in, errMethod
	}
	body, err := web.ReadBody(v.c, wire.TunnelBodyMost)
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return in, errBody
	}
	if err != nil {
		return in, refuse(http.StatusBadRequest, "body: could not be read")
	}
	return wire.TunnelRequest{
		Method: r.Method, URI: r.URL.RequestURI(), Host: r.Host, Peer: web.Peer(r).String(), Header: only(r.Header, inward), Body: body,
	}, nil
}

// note writes the audit: who asked which controller for what, and what became of it.
func (v *visit) note(out platform.Carried, err error, took time.Duration) {
	r := v.c.Request()
	attrs := []any{
		"controller", v.controller, "method", r.Method, "path", clip(web.Veiled(r.URL.Path)), "status", out.Status, "bytes", len(out.Body),
		"took", took.Round(time.Millisecond), "peer", web.Peer(r).String(), "token", v.fingerprint, "request", out.ID,
	}
	if err != nil {
		attrs = append(attrs, "why", err)
	}
	v.cfg.Log.Info("tunnel", attrs...)
}

// tokenless are the endpoints that ask for no token, so that their answers tell nothing about one.
var tokenless = []string{wire.TunnelPrefix + "authenticate", wire.TunnelPrefix + "refreshToken"}

// learn takes from the controller's answer whether it accepts the token, and reports whether it does.
func (v *visit) learn(status int) bool {
	r := v.c.Request()
	switch {
	case v.token == (token{}):
		return false
	case status == http.StatusUnauthorized:
		v.known.forget(v.token)
		return false
	case status != http.StatusOK && status != http.StatusNotModified, r.Method == http.MethodOptions, slices.Contains(tokenless, r.URL.Path):
		return !v.stranger
	}
	v.known.add(v.token)
	return true
}

// refusal words what could not be carried.
func refusal(err error) error {
	answer := *errNobody
	switch {
	case errors.Is(err, platform.ErrUnanswered):
		answer = *errNoAnswer
	case errors.Is(err, platform.ErrOverloaded):
		answer = *errTooLarge
	case errors.Is(err, platform.ErrInvalid):
		answer = *refuse(http.StatusBadRequest, "The request's headers are too large for the tunnel")
	}
	answer.Cause = err
	return &answer
}

// send answers with what the controller said, byte for byte.
func send(c echo.Context, out platform.Carried) error {
	h := c.Response().Header()
	for name, values := range only(out.Header, outward) {
		h[name] = values
	}
	c.Response().WriteHeader(out.Status)
	_, err := c.Response().Write(out.Body)
	return err
}

// only is those headers that have these names.
func only(h http.Header, names []string) http.Header {
	out := http.Header{}
	for _, name := range names {
		if v := h[name]; len(v) > 0 {
			out[name] = v
		}
	}
	return out
}

func clip(s string) string {
	if len(s) > 200 {
		return s[:200] + "…"
	}
	return s
}
