package publicapi

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/web"
)

var wellBody = []byte(`{"status":1}`)

// unkeptBody names no path: strangers may read it.
var unkeptBody = []byte(`{"status":1,"message":"nothing is kept: the disk is full or cannot be written"}`)

// healthz says that the process is alive and answers. It needs no token: a
// watchdog has none.
func (a *API) healthz(c echo.Context) error { return sendFresh(c, http.StatusOK, wellBody) }

// readyz says whether the configuration is loaded and the buses are started. A disk that takes
// nothing, buses that are down and entries that were set aside are told of, and no reason to be
// not ready: the rest obeys.
func (a *API) readyz(c echo.Context) error {
	if err := a.ready(); err != nil {
		return &web.Error{Status: http.StatusServiceUnavailable, Message: err.Error()}
	}
	if a.kept() != nil {
		return sendFresh(c, http.StatusOK, unkeptBody)
	}
	if text := amiss(a.core.Snapshot()); text != "" {
		return sendFresh(c, http.StatusOK, []byte(`{"status":1,"message":"`+text+`"}`))
	}
	return sendFresh(c, http.StatusOK, wellBody)
}

// amiss counts what does not run, and names nothing: strangers may read it.
func amiss(s *appliance.Snapshot) string {
	down := 0
	for _, b := range s.Buses {
		if !b.Up && !b.Bus.Disabled {
			down++
		}
	}
	if down+len(s.Faults) == 0 {
		return ""
	}
	return fmt.Sprintf("buses that are down: %d, entries that were set aside: %d; the pages and the log tell which", down, len(s.Faults))
}

// showMetrics serves the registry. It needs a token, since metrics name buses and
// devices; an API key that may read is meant for that. What is shown is gathered, one
// at a time, before any of it is sent: whoever does not take it holds up nobody else.
func (a *API) showMetrics() echo.HandlerFunc {
	h := promhttp.HandlerFor(a.registry, promhttp.HandlerOpts{ErrorLog: metricsLog{a.log}, DisableCompression: true})
	gathering := newQueue(1, metricsWaiting)
	return func(c echo.Context) error {
		leave, err := gathering.enter(c.Request().Context())
		if err != nil {
			return err
		}
		page := &gathered{header: http.Header{}, status: http.StatusOK}
		h.ServeHTTP(page, c.Request())
		leave()
		return c.Blob(page.status, page.header.Get("Content-Type"), page.body.Bytes())
	}
}

// metricsWaiting may wait for the one who gathers.
const metricsWaiting = 8

// gathered is an answer in memory.
type gathered struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (g *gathered) Header() http.Header         { return g.header }
func (g *gathered) WriteHeader(status int)      { g.status = status }
func (g *gathered) Write(b []byte) (int, error) { return g.body.Write(b) }
