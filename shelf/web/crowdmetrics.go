package web

import "github.com/prometheus/client_golang/prometheus"

// Metrics tell who has connections to the doors, and who had to make room; their names begin with
// what the program is.
func (c *Crowd) Metrics(program string) []prometheus.Collector {
	gauge := func(name, help string, value func(CrowdState) int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: program + name, Help: help}, func() float64 { return float64(value(c.State())) })
	}
	counter := func(name, help string, value func(CrowdState) uint64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: program + name, Help: help}, func() float64 { return float64(value(c.State())) })
	}
	return []prometheus.Collector{
		gauge("_connections_known", "Connections on which a token or key was shown.", func(s CrowdState) int { return s.Known }),
		gauge("_connections_strangers", "Connections on which none was shown yet.", func(s CrowdState) int { return s.Strangers }),
		counter("_connections_evicted_total", "Connections of strangers that were closed to make room.", func(s CrowdState) uint64 { return s.Evicted }),
		counter("_requests_cut_total", "Requests of strangers that were given up to make room.", func(s CrowdState) uint64 { return s.Cut }),
		counter("_connections_refused_total", "Requests with a good token that were refused since too many connections have one.", func(s CrowdState) uint64 { return s.Refused }),
		counter("_handshakes_refused_total", "TLS handshakes that were refused since too many came at once.", func(s CrowdState) uint64 { return s.Handshakes }),
	}
}
