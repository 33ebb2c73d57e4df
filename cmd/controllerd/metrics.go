package main

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
)

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
