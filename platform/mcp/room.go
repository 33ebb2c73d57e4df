package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/platform"
	"svc.internal/controller/shelf/web"
)

// Path of both forms.
const Path = "/api/assistant/mcp"

const (
	// bodyLimit is the largest body.
	bodyLimit = 1 << 20
	// answerTimeout bounds a whole answer of the protocol's form, which the SDK writes.
	answerTimeout = 2 * time.Minute
)

// Assistant answers in sentences and in rows.
type Assistant interface {
	platform.Asker
	platform.Reader
}

// Room answers at [Path].
type Room struct {
	asker    Assistant
	more     func(c echo.Context, n int) error
	log      *slog.Logger
	protocol http.Handler
}

// New makes the room; more counts n further requests of whoever asks, all or none, and
// version is the program's.
func New(asker Assistant, more func(c echo.Context, n int) error, version string, log *slog.Logger) *Room {
	return &Room{asker, more, log, protocol(asker, version, log)}
}

// Register adds the routes; key lets only those pass who sent an API key.
func (r *Room) Register(e *echo.Echo, key echo.MiddlewareFunc) {
	e.POST(Path, r.post, key, ownOrigin)
	e.GET(Path, r.standard, key, ownOrigin)
	e.DELETE(Path, r.standard, key, ownOrigin)
}

// errForeign refuses pages of other sites: browsers send where a request comes from.
var errForeign = web.Refuse(http.StatusForbidden, "Requests from pages of other sites are refused")

// ownOrigin lets programs pass, which send no Origin, and pages of this host.
func ownOrigin(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		for _, origin := range c.Request().Header.Values("Origin") {
			if !isOwn(origin, c.Request().Host) {
				return errForeign
			}
		}
		return next(c)
	}
}

// isOwn reports whether an origin is this host. One without TLS is so on this machine only: whoever has a name point here
// can have a browser send that name as origin and as host, but has no certificate for it that we would serve.
func isOwn(origin, host string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || u.Host != host {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return u.Scheme == "https" || u.Hostname() == "localhost" || err == nil && addr.IsLoopback()
}

// post looks which form a body has.
func (r *Room) post(c echo.Context) error {
	body, err := web.ReadBody(c, bodyLimit)
	if err != nil {
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			return err
		}
		return &web.Error{Status: http.StatusBadRequest, Message: "body could not be read", Cause: err}
	}
	batch := isBatch(body)
	if batch {
		if err := r.admit(c, body); err != nil {
			return err
		}
	}
	if batch || isProtocol(body) {
		c.SetRequest(c.Request().WithContext(withRoom(c.Request().Context())))
		c.Request().Body = io.NopCloser(bytes.NewReader(body))
		c.Request().ContentLength = int64(len(body))
		return r.standard(c)
	}
	return r.plain(c, body)
}

// isProtocol reports whether an object is JSON-RPC: it has that member.
func isProtocol(body []byte) bool {
	var message struct {
		JSONRPC json.RawMessage `json:"jsonrpc"`
	}
	return json.Unmarshal(body, &message) == nil && message.JSONRPC != nil
}

// standard hands a request to the SDK.
func (r *Room) standard(c echo.Context) error {
	req := c.Request()
	// The SDK wants both forms listed; plain tools such as curl list none.
	if accept := req.Header.Get("Accept"); accept == "" || accept == "*/*" {
		req.Header.Set("Accept", "application/json, text/event-stream")
	}
	h := c.Response().Header()
	h.Set("X-Accel-Buffering", "no")
	h.Set("Cache-Control", "no-store")
	if err := http.NewResponseController(c.Response()).SetWriteDeadline(time.Now().Add(answerTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	r.protocol.ServeHTTP(c.Response(), req)
	return nil
}
