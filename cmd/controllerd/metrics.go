package main

import (
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"svc.internal/controller/admin/operations"
	"svc.internal/controller/shelf/board"
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

// offsiteMetrics tell how it stands with the copies of backups outside of the box.
func offsiteMetrics(o *operations.Offsite) (list []prometheus.Collector) {
	for _, to := range []string{"stick", "server"} {
		labels := prometheus.Labels{"to": to}
		list = append(list, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "controller_offsite_backup_last_timestamp_seconds", Help: "When the newest copy of a backup outside of the box was made; 0: never, or none is wanted.", ConstLabels: labels,
		}, func() float64 {
			if at := o.LastCopy(to); !at.IsZero() {
				return float64(at.Unix())
			}
			return 0
		}), prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "controller_offsite_backup_overdue", Help: "1 while a copy is wanted and there is none of the last three days.", ConstLabels: labels,
		}, func() float64 {
			for _, late := range o.Overdue(time.Now()) {
				if late.To == to {
					return 1
				}
			}
			return 0
		}))
	}
	return list
}

// boardMetrics tell how the computer below does, as far as its kernel says so.
type boardMetrics struct{ *board.Watch }

var (
	boardTemperature = prometheus.NewDesc("controller_board_temperature_celsius", "Temperature of a place of the board, as its kernel tells it.", []string{"zone"}, nil)
	boardPowerWeak   = prometheus.NewDesc("controller_board_power_weak", "1 if the board's voltage was too low within the last hour.", nil, nil)
)

func (boardMetrics) Describe(to chan<- *prometheus.Desc) {
	to <- boardTemperature
	to <- boardPowerWeak
}

func (m boardMetrics) Collect(to chan<- prometheus.Metric) {
	s := m.State()
	for _, z := range s.Zones {
		to <- prometheus.MustNewConstMetric(boardTemperature, prometheus.GaugeValue, z.Celsius, z.Name)
	}
	if s.Power == "" {
		return
	}
	weak := 0.0
	if s.Power == board.Weak {
		weak = 1
	}
	to <- prometheus.MustNewConstMetric(boardPowerWeak, prometheus.GaugeValue, weak)
}
