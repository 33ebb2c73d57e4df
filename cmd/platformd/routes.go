package main

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform/apikey"
	"svc.internal/controller/platform/docs"
	"svc.internal/controller/platform/gate"
	"svc.internal/controller/platform/login"
	"svc.internal/controller/platform/panel"
	"svc.internal/controller/platform/tunnel"
	"svc.internal/controller/platform/voice"
	"svc.internal/controller/shelf/web"
)

// Paths that the contract fixes.
const (
	chatPath = "/api/assistant/public/chat"
	mcpPath  = "/api/assistant/mcp"
)

// routes puts the gate before all rooms.
func (d *daemon) routes() (*echo.Echo, error) {
	e, g := d.hall()
	d.furnish(e, g)
	return e, d.pages(e, g)
}

// hall is what every request passes, and what needs no room.
func (d *daemon) hall() (*echo.Echo, *gate.Gate) {
	e := web.New(web.Config{Log: d.log, Errors: statuses, Refusal: refusal, SecretQuery: []string{"apiKey", "code"}, Proxies: d.proxies, Certificate: d.cert})
	g := gate.New(gate.Config{
		Keys: d.db, Tokens: d.tokens, Browsers: d.db, Limit: d.limit,
		KeyPaths: []string{chatPath, mcpPath}, QueryPath: chatPath,
		AddressPaths: []string{login.LoginPath}, RoomPaths: []string{login.RefreshPath, voice.Path, panel.PanelsPath, panel.WebhookPath},
	})
	if d.tunnel != "" {
		e.Pre(tunnel.New(tunnel.Config{
			Domain: d.tunnel, Carry: d.cloud.link.Carry, Charge: g.Charge, Stranger: gate.AddressBucket, Log: d.log,
		}).Pass)
	}
	watch := newMetrics(d)
	e.Use(watch.measure, g.Pass)
	e.GET("/healthz", func(c echo.Context) error { return c.JSON(http.StatusOK, status{"ok"}) })
	e.GET("/readyz", d.readyz)
	e.GET("/metrics", echo.WrapHandler(promhttp.HandlerFor(watch.registry, promhttp.HandlerOpts{})), g.Watcher)
	return e, g
}

// furnish registers every room.
func (d *daemon) furnish(e *echo.Echo, g *gate.Gate) {
	e.POST(wire.EnrolPath, d.enrol)
	docs.Register(e)
	d.assist(e, g)
	apikey.New(d.db).Register(e, g.Person)
	login.New(d.db, d.tokens, login.Hall{
		Person: g.Person, Charge: g.Charge, AddressBucket: gate.AddressBucket, TooMany: gate.TooMany,
	}).Register(e)
}

// status is what health checks answer.
type status struct {
	Status string `json:"status"`
}

// readyWithin bounds how long a balancer waits to hear about the database.
const readyWithin = 2 * time.Second

// readyz says whether this instance can answer requests.
func (d *daemon) readyz(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), readyWithin)
	defer cancel()
	if err := d.db.Ping(ctx); err != nil {
		d.log.Warn("not ready: the database does not answer", "error", err)
		return c.JSON(http.StatusServiceUnavailable, status{"the database does not answer"})
	}
	return c.JSON(http.StatusOK, status{"ok"})
}
