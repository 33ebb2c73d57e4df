package main

import (
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/sim"
)

const brokenOffSite = `buses:
  - {name: line, driver: modbus, port: "@DIR@/line", line: {baudRate: 115200, parity: none, stopBits: 1}}
nodes:
  - {id: 1, name: Two, bus: line, address: 2, profile: wirenboard-wb-mdm3}
  - {id: 2, name: Hundred, bus: line, address: 101, profile: wirenboard-wb-mdm3, outputs: [1]}
  - {id: 3, name: Hundred b, bus: line, address: 101, profile: wirenboard-wb-mdm3, outputs: [2]}
`

// TestScanBrokenOffSaysSo changes the site, and ends the daemon, while a scan runs: it
// does not look as if it had been through.
func TestScanBrokenOffSaysSo(t *testing.T) {
	t.Parallel()
	for name, disturb := range map[string]func(*house){
		"an import": func(h *house) {
			site := h.site
			site.Buses = slices.Clone(site.Buses)
			site.Buses[0].Line.StopBits = 2
			h.daemon.core.Apply(site, nil)
		},
		"the daemon ends": func(h *house) { h.stop() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			virtually(t, brokenOffSite, func(t *testing.T, h *house) {
				looked := func() int {
					for _, j := range h.daemon.core.Jobs().List() {
						return j.Progress.Done
					}
					return 0
				}
				disturbed := make(chan struct{})
				go func() {
					defer close(disturbed)
					waitFor(t, 60*time.Second, "the scan under way", func() bool { return looked() >= 20 })
					disturb(h)
				}()
				s := h.typed("bus", "scan", "line")
				<-disturbed
				if s.code != 1 || !strings.Contains(s.err, "was not looked for") {
					t.Errorf("after %d addresses the scan ended with exit code %d: %s", looked(), s.code, s.err)
				}
			})
		})
	}
}

// TestDevicesInOrder lists devices as people count, and says of one that is offline how
// it was last asked in vain.
func TestDevicesInOrder(t *testing.T) {
	t.Parallel()
	virtually(t, brokenOffSite, func(t *testing.T, h *house) {
		h.fault(sim.Fault{Bus: "line", Address: "101", Kind: sim.FaultSilent})
		var out string
		h.await(60*time.Second, "the silent device with its reason", func() bool {
			if h.daemon.core.Snapshot().Node(2).Online {
				return false // and the list, which costs a command, would say so
			}
			out = h.desk().must("bus", "list", "--devices")
			return strings.Contains(out, "no answer within")
		})
		two, hundred := strings.Index(out, "line  2 "), strings.Index(out, "line  101 ")
		if two < 0 || hundred < two {
			t.Errorf("2 does not stand before 101:\n%s", out)
		}
		if !strings.Contains(out[hundred:], "no answer within") {
			t.Errorf("why 101 is offline is not told:\n%s", out)
		}
	})
}

// serveHeard starts the daemon and collects what it logs.
func (h *house) serveHeard() *heard {
	h.t.Helper()
	log := &heard{pattern: servingLine, found: make(chan string, 1)}
	h.log = slog.New(slog.NewTextHandler(log, nil))
	h.serve()
	return log
}

// TestWrongProfileIsToldOnce gives a device a profile whose registers it does not have:
// the list of devices says so, and the log in one line.
func TestWrongProfileIsToldOnce(t *testing.T) {
	t.Parallel()
	bareInBubble(t, brokenOffSite, func(t *testing.T, h *house) {
		h.site.Nodes[0].Profile = "wirenboard-wb-mrgbw-d-legacy"
		h.fillStore()
		log := h.serveHeard()
		h.await(60*time.Second, "what is wrong with device 2", func() bool {
			return strings.Contains(h.desk().must("bus", "list", "--devices"), "wrong profile?")
		})
		if n := strings.Count(log.String(), "refuses to tell a value"); n != 1 {
			t.Errorf("%d lines of log about one device:\n%s", n, log)
		}
	})
}

// TestWhatNeverAnsweredIsToldAsSuch starts with a device that is silent from the beginning:
// it is not said that it stopped, and once.
func TestWhatNeverAnsweredIsToldAsSuch(t *testing.T) {
	t.Parallel()
	bareInBubble(t, brokenOffSite, func(t *testing.T, h *house) {
		h.fault(sim.Fault{Bus: "line", Address: "101", Kind: sim.FaultSilent})
		h.fillStore()
		log := h.serveHeard()
		h.await(60*time.Second, "what is known of device 101", func() bool {
			return strings.Contains(log.String(), "device does not answer") && strings.Count(h.desk().must("node", "list"), "never answered") == 2
		})
		if log := log.String(); strings.Count(log, "does not answer") != 1 || strings.Contains(log, "device is offline") {
			t.Errorf("the log says\n%s", log)
		}
	})
}

// TestWhoHasAKeyCanLogIn starts without users, once before and once after a key was made.
func TestWhoHasAKeyCanLogIn(t *testing.T) {
	t.Parallel()
	d := &desk{t: t, dataDir: t.TempDir()}
	for _, locked := range []bool{true, false} {
		s := d.serve()
		waitFor(t, 60*time.Second, "the claim code", func() bool { return strings.Contains(s.log.String(), "claim code") })
		s.stop()
		if log := s.log.String(); strings.Contains(log, "nobody can log in") != locked {
			t.Errorf("nobody can log in is %v, and the log says\n%s", locked, log)
		}
		if locked {
			d.must("key", "add", "grafana")
		}
	}
}

// TestWhoTalksUnaskedIsListed has one of two devices talk now and then.
func TestWhoTalksUnaskedIsListed(t *testing.T) {
	t.Parallel()
	virtually(t, brokenOffSite, func(t *testing.T, h *house) {
		h.fault(sim.Fault{Bus: "line", Address: "2", Kind: sim.FaultBabble, Rate: 0.8})
		h.await(60*time.Second, "the talker among the devices", func() bool {
			out := h.desk().must("bus", "list", "--devices")
			if n := strings.Count(out, "talks unasked"); n > 1 {
				t.Fatalf("more than one is accused:\n%s", out)
			}
			return regexp.MustCompile(`(?m)^line +2 .* talks unasked, \d+ times`).MatchString(out)
		})
	})
}
