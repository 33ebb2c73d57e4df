package publicapi

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"svc.internal/controller/appliance"
)

// metrics reads the newest snapshot when it is scraped, so that nothing is
// counted twice and an unwatched controller does no work for it. Only the time
// of commands is measured here.
type metrics struct {
	snapshot func() *appliance.Snapshot
	commands *prometheus.HistogramVec
}

func newMetrics(snapshot func() *appliance.Snapshot) *metrics {
	return &metrics{
		snapshot: snapshot,
		commands: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "controller_command_seconds",
			Help:    "Time from a control call of the public API to its known outcome, by kind and outcome (1 success, 0 failure).",
			Buckets: []float64{.005, .01, .02, .03, .05, .075, .1, .15, .25, .5, 1, 2, 5, 10},
		}, []string{"kind", "status"}),
	}
}

func (m *metrics) observe(kind appliance.Kind, ok bool, took time.Duration) {
	status := "0"
	if ok {
		status = "1"
	}
	m.commands.WithLabelValues(strings.ReplaceAll(kind.Word(), "-", "_"), status).Observe(took.Seconds())
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("controller_"+name, help, labels, nil)
}

var (
	busUp      = describe("bus_up", "Whether the bus's port or connection is there (1) or not (0).", "bus")
	busUse     = describe("bus_use_ratio", "Share of the last minute in which the bus was busy.", "bus")
	busDead    = describe("bus_dead_use_ratio", "Share of the last minute spent on devices that do not answer.", "bus")
	busDemand  = describe("bus_demand_ratio", "Bus time that the freshness targets ask for; above 1 ages stretch by that factor.", "bus")
	busQueue   = describe("bus_queue", "Commands and their frames that wait for the bus.", "bus")
	busBound   = describe("bus_wait_bound_seconds", "Longest time a command can wait for a frame in flight.", "bus")
	busLooked  = describe("bus_looked_age_seconds", "Time since the program last looked after the bus; one that makes progress stays below a few seconds.", "bus")
	busTypical = describe("bus_wait_typical_seconds", "The same when the device asked answers.", "bus")
	busTotal   = describe("bus_exchanges_total", "Exchanges begun since the bus was opened.", "bus")
	busErrors  = describe("bus_errors_total", "Exchanges that failed, by class.", "bus", "class")
	devOnline  = describe("device_online", "Whether the device answers (1) or not (0).", "bus", "device")
	devTrouble = describe("device_trouble", "Whether the device says that something is wrong with it (1) or not (0); 'controllerd bus list --devices' tells what.", "bus", "device")
	devTotal   = describe("device_exchanges_total", "Exchanges with the device since the bus was opened.", "bus", "device")
	devErrors  = describe("device_errors_total", "Exchanges with the device that failed, by class.", "bus", "device", "class")
	things     = describe("things", "Configured nodes and shades by family and whether they are online.", "family", "status")
	faults     = describe("faults", "Broken entries that were set aside.")
	oldest     = describe("oldest_value_age_seconds", "Age of the oldest value of online devices, by class.", "class")
)

// Describe implements prometheus.Collector.
func (m *metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{busUp, busUse, busDead, busDemand, busQueue, busBound, busTypical, busLooked,
		busTotal, busErrors, devOnline, devTrouble, devTotal, devErrors, things, faults, oldest} {
		ch <- d
	}
	m.commands.Describe(ch)
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	m.commands.Collect(ch)
	s := m.snapshot()
	for _, b := range s.Buses {
		collectBus(ch, b)
	}
	collectThings(ch, s)
	collectAges(ch, s, time.Now())
	gauge(ch, faults, float64(len(s.Faults)))
}

func gauge(ch chan<- prometheus.Metric, d *prometheus.Desc, v float64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func counter(ch chan<- prometheus.Metric, d *prometheus.Desc, v uint64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func collectBus(ch chan<- prometheus.Metric, b *appliance.BusState) {
	name := b.Bus.Name
	gauge(ch, busUp, flag(b.Up), name)
	gauge(ch, busUse, b.Use, name)
	gauge(ch, busDead, b.DeadUse, name)
	gauge(ch, busDemand, b.Demand, name)
	gauge(ch, busQueue, float64(b.Queue), name)
	gauge(ch, busBound, b.Bound.Seconds(), name)
	gauge(ch, busTypical, b.Typical.Seconds(), name)
	if !b.LookedAt.IsZero() {
		gauge(ch, busLooked, time.Since(b.LookedAt).Seconds(), name)
	}
	counter(ch, busTotal, b.Stats.Exchanges, name)
	for _, c := range classes(b.Stats) {
		counter(ch, busErrors, c.n, name, c.name)
	}
	for i := range b.Devices {
		d := &b.Devices[i]
		gauge(ch, devOnline, flag(d.Online), name, d.Device)
		gauge(ch, devTrouble, flag(d.Trouble != ""), name, d.Device)
		counter(ch, devTotal, d.Stats.Exchanges, name, d.Device)
		for _, c := range classes(d.Stats) {
			if c.n > 0 { // thousands of zeros would drown the rest
				counter(ch, devErrors, c.n, name, d.Device, c.name)
			}
		}
	}
}

type class struct {
	name string
	n    uint64
}

// classes are the ways in which exchanges fail.
func classes(s appliance.BusStats) [7]class {
	return [...]class{
		{"silent", s.Silent}, {"damaged", s.Damaged}, {"refused", s.Refused}, {"busy", s.Busy},
		{"down", s.Down}, {"expired", s.Expired}, {"preempted", s.Preempted},
	}
}

func collectThings(ch chan<- prometheus.Metric, s *appliance.Snapshot) {
	var online, all [3]int
	for _, n := range s.Nodes {
		family := 0
		if n.Tag == appliance.TagPeripheral {
			family = 1
		}
		all[family]++
		if n.Online {
			online[family]++
		}
	}
	for _, sh := range s.Shades {
		all[2]++
		if sh.Online {
			online[2]++
		}
	}
	for i, family := range [...]string{"node", "peripheral", "shade"} {
		gauge(ch, things, float64(online[i]), family, "online")
		gauge(ch, things, float64(all[i]-online[i]), family, "offline")
	}
}

// collectAges reports the freshness that readers really get. A class without any
// value has no age.
func collectAges(ch chan<- prometheus.Metric, s *appliance.Snapshot, now time.Time) {
	var light, power, shade renderer
	for _, n := range s.Nodes {
		if n.Online {
			saw(&light, n.Level)
			saw(&light, n.Kelvin)
			saw(&light, n.RGBW)
			saw(&power, n.Power)
		}
	}
	for _, sh := range s.Shades {
		if sh.Online {
			saw(&shade, sh.Position)
		}
	}
	for _, c := range []struct {
		name string
		at   time.Time
	}{{"light", light.oldest}, {"power", power.oldest}, {"shade", shade.oldest}} {
		if !c.at.IsZero() {
			gauge(ch, oldest, max(now.Sub(c.at), 0).Seconds(), c.name)
		}
	}
}

// metricsLog takes what promhttp has to complain about.
type metricsLog struct{ log *slog.Logger }

func (l metricsLog) Println(v ...any) { l.log.Error("metrics", "error", fmt.Sprint(v...)) }
