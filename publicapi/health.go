package publicapi

import (
	"net/http"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"svc.internal/controller/web"
)

var wellBody = []byte(`{"status":1}`)

// healthz says that the process is alive and answers. It needs no token: a
// watchdog has none.
func (a *API) healthz(c echo.Context) error { return sendFresh(c, http.StatusOK, wellBody) }

// readyz says whether the configuration is loaded and the buses are started.
func (a *API) readyz(c echo.Context) error {
	if err := a.ready(); err != nil {
		return &web.Error{Status: http.StatusServiceUnavailable, Message: err.Error()}
	}
	return sendFresh(c, http.StatusOK, wellBody)
}

// showMetrics serves the registry. It needs a token, since metrics name buses and
// devices; an API key that may read is meant for that.
func (a *API) showMetrics() echo.HandlerFunc {
	h := promhttp.HandlerFor(a.registry, promhttp.HandlerOpts{
		ErrorLog:            metricsLog{a.log},
		MaxRequestsInFlight: 4,
	})
	return func(c echo.Context) error {
		h.ServeHTTP(c.Response(), c.Request())
		return nil
	}
}
