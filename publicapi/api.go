package publicapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/account/bearer"
	"svc.internal/controller/shelf/web"
)

// Core is what this door needs of the controller.
type Core interface {
	// Snapshot is the newest state. It never blocks.
	Snapshot() *appliance.Snapshot
	// Do performs cmd and returns when its outcome is known. The entry's ID is set
	// whenever the ledger has the command, with an error or without. The error
	// wraps one of the core's sentinels when the command could not begin.
	Do(ctx context.Context, cmd appliance.Command) (appliance.Entry, error)
}

// Accounts is what this door needs of users and keys.
type Accounts interface {
	bearer.Accounts
	// CheckPassword takes the same time whether or not the user exists. It fails
	// with account.ErrAuthFailed if the two do not belong together.
	CheckPassword(ctx context.Context, name, password string) (account.User, error)
	// NewRefreshToken makes a token that outlives restarts. It fails with
	// account.ErrAuthFailed if the user was removed or changed meanwhile.
	NewRefreshToken(ctx context.Context, user account.User) (string, error)
	// UseRefreshToken tells whose token it is; the token stays good. It fails with
	// account.ErrAuthFailed if it is nobody's (any more).
	UseRefreshToken(ctx context.Context, token string) (account.User, error)
}

// Config of the door. All fields are needed.
type Config struct {
	Core     Core
	Accounts Accounts
	Tokens   *bearer.Tokens
	Brake    *web.Brake
	// Ready returns nil when the configuration is loaded and the buses are started,
	// else why not, in words that anybody may read: /readyz shows them.
	Ready func() error
	// Kept returns nil while changes are kept, else why not: /readyz shows that too.
	Kept func() error
	// Metrics is where this door registers its own, and what /metrics shows.
	Metrics *prometheus.Registry
	Log     *slog.Logger
}

// API is the door.
type API struct {
	core     Core
	accounts Accounts
	tokens   *bearer.Tokens
	brake    *web.Brake
	ready    func() error
	kept     func() error
	registry *prometheus.Registry
	log      *slog.Logger

	metrics *metrics
	pages   pages
	logins  *web.Turns
	// readers bounds the large answers under way: each holds the values of a moment until it is taken.
	readers *web.Readers
	// failures bounds what is logged of logins that failed.
	failures web.Sparse
	waiting  atomic.Int64 // control calls under way
}

// New makes the door. It fails when a metric of that name is registered already.
func New(cfg Config) (*API, error) {
	a := &API{
		core: cfg.Core, accounts: cfg.Accounts, tokens: cfg.Tokens, brake: cfg.Brake,
		ready: cfg.Ready, kept: cfg.Kept, registry: cfg.Metrics, log: cfg.Log,
		logins: web.NewTurns(hashing, loginsWaiting), readers: web.NewReaders(readersUser, readersMost, readersWaiting),
	}
	a.metrics = newMetrics(cfg.Core.Snapshot)
	if err := cfg.Metrics.Register(a.metrics); err != nil {
		return nil, err
	}
	return a, nil
}

// Register adds all routes of the door to e.
func (a *API) Register(e *echo.Echo) {
	a.open(e, http.MethodPost, "/svc/api/authenticate", a.authenticate)
	a.open(e, http.MethodPost, "/svc/api/refreshToken", a.refreshToken)

	a.get(e, "/svc/api/getClusters", a.getClusters)
	a.get(e, "/svc/api/getActiveNodes", a.getActiveNodes)
	a.get(e, "/svc/api/getNodesForCluster", a.getNodesForCluster)
	a.get(e, "/svc/api/getLightLevels", a.getLightLevels)
	a.get(e, "/svc/api/getShades", a.getShades)
	a.get(e, "/svc/api/getShadesForCluster", a.getShadesForCluster)

	a.post(e, "/svc/api/channelControl", a.channelControl)
	a.post(e, "/svc/api/setColorTemp", a.setColorTemp)
	a.post(e, "/svc/api/setRGBW", a.setRGBW)
	a.post(e, "/svc/api/shadeControl", a.shadeControl)

	a.openGet(e, "/healthz", a.healthz)
	a.openGet(e, "/readyz", a.readyz)
	a.get(e, "/metrics", a.showMetrics())
	docs.Register(func(path string, h echo.HandlerFunc) { a.openGet(e, path, h) })
}

// get registers a read that needs a token. HEAD is the same without the body.
func (a *API) get(e *echo.Echo, path string, h echo.HandlerFunc) {
	a.openGet(e, path, web.Require(a.tokens, web.Read, h))
}

func (a *API) openGet(e *echo.Echo, path string, h echo.HandlerFunc) {
	a.open(e, http.MethodGet, path, h)
	e.HEAD(path, h)
}

// post registers a control call.
func (a *API) post(e *echo.Echo, path string, h echo.HandlerFunc) {
	a.open(e, http.MethodPost, path, web.Require(a.tokens, web.Write, h))
}

// open registers a route that needs no token, and the answer to OPTIONS. There
// are no CORS headers: pages of other origins have no business here.
func (a *API) open(e *echo.Echo, method, path string, h echo.HandlerFunc) {
	allow := []string{method + ", OPTIONS"}
	if method == http.MethodGet {
		allow = []string{"GET, HEAD, OPTIONS"}
	}
	e.Add(method, path, h)
	e.OPTIONS(path, func(c echo.Context) error {
		c.Response().Header()["Allow"] = allow
		return c.NoContent(http.StatusNoContent)
	})
}

// bad is the answer to a request that makes no sense: 400, naming the field.
func bad(field, problem string) error {
	return web.Refuse(http.StatusBadRequest, field+": "+problem)
}

// fails reports whether err is one that the core documents as an outcome of a
// command, as opposed to a fault of ours.
func fails(err error) bool {
	for _, known := range []error{
		appliance.ErrNotFound, appliance.ErrUnable, appliance.ErrExpired, appliance.ErrSuperseded,
		appliance.ErrUnreachable, appliance.ErrMismatch, appliance.ErrSilent, appliance.ErrDamaged,
		appliance.ErrRefused, appliance.ErrBusy, appliance.ErrBusDown, appliance.ErrPreempted,
		context.DeadlineExceeded,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}
