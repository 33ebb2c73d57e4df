package main

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"

	"svc.internal/controller/web"
)

// crowdMetrics tell who has connections to the doors, and who had to make room.
func crowdMetrics(crowd *web.Crowd) []prometheus.Collector {
	gauge := func(name, help string, value func(web.CrowdState) int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(value(crowd.State())) })
	}
	counter := func(name, help string, value func(web.CrowdState) uint64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(value(crowd.State())) })
	}
	return []prometheus.Collector{
		gauge("controller_connections_known", "Connections on which a token or key was shown.", func(s web.CrowdState) int { return s.Known }),
		gauge("controller_connections_strangers", "Connections on which none was shown yet.", func(s web.CrowdState) int { return s.Strangers }),
		counter("controller_connections_evicted_total", "Connections of strangers that were closed to make room.", func(s web.CrowdState) uint64 { return s.Evicted }),
		counter("controller_requests_cut_total", "Requests of strangers that were given up to make room.", func(s web.CrowdState) uint64 { return s.Cut }),
		counter("controller_connections_refused_total", "Requests with a good token that were refused since too many connections have one.", func(s web.CrowdState) uint64 { return s.Refused }),
		counter("controller_handshakes_refused_total", "TLS handshakes that were refused since too many came at once.", func(s web.CrowdState) uint64 { return s.Handshakes }),
	}
}

// keptMetric tells whether the disk takes what is written.
func keptMetric(kept func() error) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "controller_storage_kept", Help: "1 while changes are kept; 0 while the disk is full or cannot be written.",
	}, func() float64 {
		if kept() != nil {
			return 0
		}
		return 1
	})
}

// buildInfo tells by its labels which program this is.
func buildInfo() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "controller_build_info", Help: "Always 1; the labels tell which program this is.",
		ConstLabels: prometheus.Labels{"version": version, "go": runtime.Version(), "arch": runtime.GOARCH},
	}, func() float64 { return 1 })
}
