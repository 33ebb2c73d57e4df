package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/sim"
)

const faultySite = `
site: {name: Faulty, freshness: {light: 500ms, idleShade: 2s}}
buses:
  - {name: shades, driver: sdn, port: "@DIR@/shades"}
  - {name: line, driver: dali, port: "@DIR@/line", options: {gateway: atx}}
  - {name: luba, driver: dali, port: "@DIR@/luba", options: {gateway: luba}}
  - {name: stage, driver: dmx, port: "@DIR@/stage", options: {interface: enttec-pro}}
nodes:
  - {id: 1, name: Motor one, bus: shades, address: 06.00.01, profile: somfy-sdn-30dc}
  - {id: 2, name: Motor two, bus: shades, address: 06.00.02, profile: somfy-sdn-30dc}
  - {id: 11, name: Gear one, bus: line, address: 0, profile: dali-dt6}
  - {id: 12, name: Gear two, bus: line, address: 1, profile: dali-dt6}
  - {id: 21, name: Luba gear, bus: luba, address: 0, profile: dali-dt6}
  - {id: 31, name: Fixture, bus: stage, address: 1, profile: dmx-dimmer}
shades:
  - {id: 501, name: Shade one, node: 1, output: 1}
  - {id: 502, name: Shade two, node: 2, output: 1}
`

// unheard is the status of a command whose answers come too late: 0, or 1 if one of
// them happened to come while it was waited for again, and then it has to be true.
const unheard = -1

// TestFieldFaultsAreTold puts one fault after another in force: what a command answers
// has to be true, and to say what is wrong; without the fault it succeeds again.
func TestFieldFaultsAreTold(t *testing.T) {
	t.Parallel()
	virtually(t, faultySite, func(t *testing.T, h *house) {
		move := func(shade, to int) (int, string) {
			return h.control("shadeControl", fmt.Sprintf(`{"targetType":3,"targetId":%d,"command":"POS","posValue":%d}`, shade, to))
		}
		dim := func(node, to int) (int, string) {
			return h.control("channelControl", fmt.Sprintf(`{"targetType":3,"targetId":%d,"command":"DIM","dimLevel":%d}`, node, to))
		}
		for _, c := range []struct {
			name   string
			fault  sim.Fault
			do     func(int, int) (int, string)
			target int
			status int
			words  []string // in the message
			tries  int      // for what chance decides; 0: it is certain
		}{
			{"a motor that is locked", sim.Fault{Kind: sim.FaultRefuse, Bus: "shades", Address: "06.00.01", Exception: 0x20}, move, 501, 0, []string{"refused", "locked"}, 0},
			{"a motor that protects itself", sim.Fault{Kind: sim.FaultRefuse, Bus: "shades", Address: "06.00.01"}, move, 501, 0, []string{"refused", "protects itself"}, 0},
			{"a motor without limits", sim.Fault{Kind: sim.FaultRefuse, Bus: "shades", Address: "06.00.01", Exception: 0x22}, move, 501, 0, []string{"limits"}, 0},
			{"a motor with a reason nobody knows", sim.Fault{Kind: sim.FaultRefuse, Bus: "shades", Address: "06.00.01", Exception: 0x77}, move, 501, 0, []string{"77"}, 0},
			{"a motor that is busy twice", sim.Fault{Kind: sim.FaultBusy, Bus: "shades", Address: "06.00.01", Count: 2}, move, 501, 1, nil, 0},
			{"a deaf motor", sim.Fault{Kind: sim.FaultSilent, Bus: "shades", Address: "06.00.01"}, move, 501, 0, []string{"06.00.01", "no answer"}, 0},
			{"a motor that misses a third", sim.Fault{Kind: sim.FaultDropRequest, Bus: "shades", Address: "06.00.01", Rate: 0.3}, move, 501, 1, nil, 5},
			{"answers that come late", sim.Fault{Kind: sim.FaultDelay, Bus: "shades", Address: "06.00.02", DelayMs: 1000}, move, 502, unheard, []string{"06.00.02"}, 0},
			{"a second master", sim.Fault{Kind: sim.FaultForeign, Bus: "shades"}, move, 501, 1, nil, 0},
			{"a gear that is stuck", sim.Fault{Kind: sim.FaultStuck, Bus: "line", Address: "0"}, dim, 11, 0, []string{"Gear one"}, 0},
			{"a lamp that is broken", sim.Fault{Kind: sim.FaultLamp, Bus: "line", Address: "0"}, dim, 11, 0, []string{"lamp failure"}, 0},
			{"a line that is never free", sim.Fault{Kind: sim.FaultForeign, Bus: "line"}, dim, 11, 0, []string{"collision"}, 0},
			{"two gears of one address", sim.Fault{Kind: sim.FaultDuplicate, Bus: "line", Address: "1"}, dim, 12, 0, []string{"several gears"}, 20}, // equal answers may fall together
			{"a gateway that takes no frame", sim.Fault{Kind: sim.FaultRefuse, Bus: "luba"}, dim, 21, 0, []string{"does not take"}, 0},
			{"a deaf fixture, which nobody can hear", sim.Fault{Kind: sim.FaultSilent, Bus: "stage", Address: "1"}, dim, 31, 1, nil, 0},
		} {
			h.part(c.name, func() {
				end := h.fault(c.fault)
				// Another value than before, so that something has to happen.
				first, second := 20, 80
				status, message := c.do(c.target, first)
				t.Logf("status %d: %s", status, message)
				for n := 1; n < c.tries && status != c.status; n++ {
					status, message = c.do(c.target, first+n)
					t.Logf("again, status %d: %s", status, message)
				}
				want, words := c.status, c.words
				if want == unheard {
					if want = status; status == 1 {
						words = nil
						waitFor(t, 40*time.Second, "the shade where it was confirmed to go", func() bool {
							s := h.device(appliance.ID(c.target - 500)).Shades[0]
							return s.Position == first && !s.Moving
						})
					}
				}
				if status != want {
					t.Errorf("status %d, want %d", status, want)
				}
				for _, w := range words {
					if !strings.Contains(message, w) {
						t.Errorf("%q, want %q in it", message, w)
					}
				}
				end()
				waitFor(t, 30*time.Second, "a command without the fault", func() bool { status, message = c.do(c.target, second); return status == 1 })
				if c.target < 500 {
					h.confirmLight(t, appliance.ID(c.target), second)
				}
			})
		}
		h.part("a motor that turns and does not move", func() {
			waitFor(t, 40*time.Second, "both shades at rest", func() bool { return !h.device(1).Shades[0].Moving && !h.device(2).Shades[0].Moving })
			defer h.fault(sim.Fault{Kind: sim.FaultStuck, Bus: "shades", Address: "06.00.02"})()
			at := h.device(2).Shades[0].Position
			status, message := move(502, 100-at)
			t.Logf("status %d: %s", status, message)
			waitFor(t, 20*time.Second, "the shade shown at rest where it is", func() bool {
				s := h.daemon.core.Snapshot().Shade(502)
				return s.Motion == appliance.Stopped && int(s.Position.Value) == at && time.Since(s.Position.At) < 2*time.Second
			})
		})
	})
}

// confirmLight checks that a lamp is at a level that was confirmed.
func (h *house) confirmLight(t *testing.T, node appliance.ID, level int) {
	t.Helper()
	if !h.awaitLight(node, level) {
		t.Errorf("node %d was told 1 for %d %% and has %v", node, level, targets(h.device(node)))
	}
}
