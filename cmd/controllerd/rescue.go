package main

import (
	"context"
	_ "embed"
	"errors"
	"html"
	"log/slog"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/errgroup"

	"svc.internal/controller/shelf/ui"
	"svc.internal/controller/shelf/web"
	"svc.internal/controller/store"
	"svc.internal/controller/systemd"
)

// rescuable reports whether a start failed for a reason that people have to be told of
// at the controller's own address: nobody looks into the log of a board in a cabinet.
func rescuable(err error) bool { return store.Broken(err) && !errors.Is(err, store.ErrLocked) }

// rescue serves one page that says what is wrong and what to do, in place of everything
// else. Nothing is written, so that what is damaged stays as it was found.
func (a *app) rescue(ctx context.Context, cfg serveConfig, cause error, log *slog.Logger) error {
	log.Error("the controller cannot start; its address shows a rescue page, and nothing is commanded", "why", cause,
		"do", "see docs/operating.md, Rescue: restore a backup, or mend the disk, then restart")
	cert, err := rescueCertificate(cfg, log)
	if err != nil {
		return errors.Join(cause, err)
	}
	https, plain, err := cfg.bind()
	if err != nil {
		return errors.Join(cause, err)
	}
	e := web.New(web.Config{Log: log})
	rescueRoutes(e, a.DataDir, cause)
	crowd := web.NewCrowd(log)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return web.Serve(ctx, https, e, cert.TLS(), crowd) })
	if plain != nil {
		g.Go(func() error { return web.Serve(ctx, plain, web.OnLoopback(e), nil, crowd) })
	}
	g.Go(func() error {
		return systemd.FeedWatchdog(ctx, func(context.Context) error { return nil }, log)
	})
	systemd.Ready(log)
	systemd.Status(log, "failed, and shows a rescue page: "+cause.Error())
	log.Info("serving a rescue page", "https", https.Addr().String(), "fingerprint", cert.Fingerprint())
	return g.Wait()
}

// rescueCertificate is the installer's own, or one for as long as this lasts: that of the
// controller is in the database.
func rescueCertificate(cfg serveConfig, log *slog.Logger) (*web.Certificate, error) {
	if cfg.certFile != "" {
		if c, err := web.CertificateFiles(cfg.certFile, cfg.keyFile, log); err == nil {
			return c, nil
		}
	}
	hosts, ips := web.OwnNames(cfg.hosts)
	cert, key, err := web.SelfSigned(hosts, ips)
	if err != nil {
		return nil, err
	}
	return web.FixedCertificate(cert, key)
}

//go:embed rescue.html
var rescuePage string

func rescueRoutes(e *echo.Echo, dataDir string, cause error) {
	page := strings.NewReplacer("{{Cause}}", html.EscapeString(cause.Error()), "{{DataDir}}", html.EscapeString(dataDir)).Replace(rescuePage)
	say := "the controller cannot start: " + cause.Error()
	e.GET("/healthz", func(c echo.Context) error { return c.JSON(http.StatusOK, map[string]int{"status": 1}) })
	show := func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
		return c.HTML(http.StatusServiceUnavailable, page)
	}
	e.GET("/", show)
	e.Any("/*", func(c echo.Context) error {
		if c.Request().Method == http.MethodGet && ui.WantsPage(c.Request()) {
			return show(c)
		}
		return c.JSON(http.StatusServiceUnavailable, map[string]any{"status": 0, "message": say})
	})
}
