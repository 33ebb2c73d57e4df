package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"svc.internal/controller/platform/quota"
)

// metrics is what /metrics shows.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
}

func newMetrics(d *daemon) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "platform_request_seconds",
			Help:    "Time of requests by route, method and status; streams count when they end.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"route", "method", "status"}),
	}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), m.requests)
	m.registry.MustRegister(d.crowd.Metrics("platform")...)
	m.registry.MustRegister(budgets{d.limit})
	if d.cloud != nil {
		m.registry.MustRegister(shares{d.cloud.shares})
	}
	if d.redis != nil {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "platform_redis_up",
			Help: "Whether requests are counted on all instances together (1), or by this one alone because Redis does not answer (0).",
		}, func() float64 {
			if d.redis.Up() {
				return 1
			}
			return 0
		}), prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "platform_counted_alone_total",
			Help: "Requests that this instance counted by itself because Redis did not answer in time.",
		}, func() float64 { return float64(d.redis.Alone()) }))
	}
	return m
}

// budgets are what keys, users and rooms that asked lately may still have.
type budgets struct{ of counter }

var budgetLeft = prometheus.NewDesc("platform_budget_left",
	"What a key or user who asked lately may still have in this window, as this instance counts: requests, bytes of answers, requests to the language model, and its tokens of a day.",
	[]string{"budget", "who"}, nil)

// Describe implements [prometheus.Collector].
func (budgets) Describe(to chan<- *prometheus.Desc) { to <- budgetLeft }

// Collect implements [prometheus.Collector].
func (b budgets) Collect(to chan<- prometheus.Metric) {
	b.of.Each(func(id string, left int) {
		budget, who, ok := strings.Cut(id, ":")
		if ok && budget != "answers" && budget != "model" && budget != "tokens" {
			budget, who = "requests", id
		}
		to <- prometheus.MustNewConstMetric(budgetLeft, prometheus.GaugeValue, float64(left), budget, who)
	})
}

// shares are what controllers have of the platform, and what was left out of what they sent.
type shares struct{ of *quota.Book }

var (
	controllerTopics = prometheus.NewDesc("platform_controller_topics", "Retained messages and states that a controller has.", []string{"controller"}, nil)
	controllerBytes  = prometheus.NewDesc("platform_controller_bytes", "Bytes of them.", []string{"controller"}, nil)
	controllerLeft   = prometheus.NewDesc("platform_controller_left_out_total",
		"Messages of a controller that were left out since it has more than its share: of topics, of bytes under them, or of storage a day.", []string{"controller", "why"}, nil)
)

// Describe implements [prometheus.Collector].
func (shares) Describe(to chan<- *prometheus.Desc) {
	to <- controllerTopics
	to <- controllerBytes
	to <- controllerLeft
}

// Collect implements [prometheus.Collector].
func (s shares) Collect(to chan<- prometheus.Metric) {
	s.of.Each(func(controller string, topics, bytes int, left []quota.Excess) {
		to <- prometheus.MustNewConstMetric(controllerTopics, prometheus.GaugeValue, float64(topics), controller)
		to <- prometheus.MustNewConstMetric(controllerBytes, prometheus.GaugeValue, float64(bytes), controller)
		for _, e := range left {
			to <- prometheus.MustNewConstMetric(controllerLeft, prometheus.CounterValue, float64(e.Dropped), controller, string(e.Why))
		}
	})
}

// measure notes every request by its route: a path may be anything.
func (m *metrics) measure(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := time.Now()
		err := next(c)
		if err != nil {
			c.Error(err) // now, so that the status is known; it is not answered twice
		}
		m.requests.WithLabelValues(routeOf(c), methodOf(c), strconv.Itoa(c.Response().Status)).Observe(time.Since(start).Seconds())
		return err
	}
}

func routeOf(c echo.Context) string {
	if route := c.Path(); route != "" {
		return route
	}
	return "none"
}

// methodOf is one of those that there are routes for.
func methodOf(c echo.Context) string {
	switch m := c.Request().Method; m {
	case "GET", "HEAD", "POST", "PUT", "DELETE":
		return m
	}
	return "other"
}
