package main

import (
	"fmt"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/sim"
)

// mixedSite has one of nearly everything, on all four kinds of port.
const mixedSite = `
site: {name: Mixed}
buses:
  - {name: tcp, driver: modbus, port: "tcp://127.0.0.1:0"}
  - {name: rtu, driver: modbus, port: "@DIR@/rtu", line: {baudRate: 19200, parity: even, stopBits: 1}}
  - {name: slow, driver: modbus, port: "@DIR@/slow", line: {baudRate: 9600, parity: none, stopBits: 2}}
  - {name: gateway, driver: modbus, port: "rtu+tcp://127.0.0.1:0"}
nodes:
  - {id: 1, name: Dimmer, bus: tcp, address: 1, profile: wirenboard-wb-mdm3}
  - {id: 2, name: Gear one, bus: tcp, address: 2/0, profile: arlight-dali-logic-lite, groups: [0]}
  - {id: 3, name: Gear two, bus: tcp, address: 2/1, profile: arlight-dali-logic-lite, groups: [0]}
  - {id: 4, name: Relays, bus: rtu, address: 1, profile: waveshare-relay-8ch}
  - {id: 5, name: Strip, bus: rtu, address: 2, profile: wirenboard-wb-led-rgbw}
  - {id: 6, name: White, bus: rtu, address: 3, profile: wirenboard-wb-led-cct}
  - {id: 7, name: Analogue, bus: slow, address: 1, profile: wirenboard-wb-mao4}
  - {id: 8, name: Actuator, bus: slow, address: 2, profile: wirenboard-wb-mr6c}
  - {id: 9, name: Meter, bus: slow, address: 3, profile: eastron-sdm120}
  - {id: 10, name: Gear three, bus: gateway, address: 1/0, profile: ecodim-dali-gw2, groups: [0]}
  - {id: 11, name: Gear four, bus: gateway, address: 1/1, profile: ecodim-dali-gw2, groups: [0]}
shades:
  - {id: 5001, name: South, node: 8, output: 1, travelUp: 3s, travelDown: 3s}
  - {id: 5002, name: West, node: 8, output: 2, travelUp: 3s, travelDown: 3s}
clusters:
  - {id: 1, name: First, nodes: [1, 2, 3, 5, 6], shades: [5001]}
  - {id: 2, name: Second, nodes: [4, 7, 8, 10, 11], shades: [5002]}
`

// levels of all channels of a simulated device, as they are aimed at.
func targets(d sim.Device) []int {
	var out []int
	for _, c := range d.Channels {
		out = append(out, c.TargetLevel)
	}
	return out
}

func TestOneZeroClientReachesTheDevices(t *testing.T) {
	t.Parallel()
	virtually(t, mixedSite, func(t *testing.T, h *house) {
		all, clusterOne, one := `"targetType":1`, `"targetType":2,"targetId":1`, `"targetType":3,"targetId":1`

		h.part("channelControl", func() {
			for _, tc := range []struct {
				target, command string
				nodes           []appliance.ID
				level           int
			}{
				{all, `"command":"DIM","dimLevel":40`, []appliance.ID{1, 2, 3, 5, 6, 7, 10, 11}, 40},
				{all, `"command":"DIM","dimLevel":40`, []appliance.ID{4}, 100},
				{clusterOne, `"command":"DIM","dimLevel":73`, []appliance.ID{1, 2, 3, 5, 6}, 73},
				{one, `"command":"DIM","dimLevel":5`, []appliance.ID{1}, 5},
				{one, `"command":"OFF"`, []appliance.ID{1}, 0},
				{one, `"command":"ON"`, []appliance.ID{1}, 5},
				{all, `"command":"OFF"`, []appliance.ID{1, 2, 3, 4, 5, 6, 7, 10, 11}, 0},
				{all, `"command":"ON"`, []appliance.ID{2, 3, 5, 6}, 73},
			} {
				if status, message := h.control("channelControl", "{"+tc.target+","+tc.command+"}"); status != 1 {
					t.Errorf("%s %s: status %d: %s", tc.target, tc.command, status, message)
					continue
				}
				for _, id := range tc.nodes {
					for ch, got := range targets(h.device(id)) {
						if d := got - tc.level; d < -1 || d > 1 || (got == 0) != (tc.level == 0) { // DALI arc power has coarse steps
							t.Errorf("%s %s: node %d channel %d is at %d, want %d", tc.target, tc.command, id, ch+1, got, tc.level)
						}
					}
				}
			}
		})

		h.part("one channel of a node", func() {
			h.control("channelControl", `{"targetType":3,"targetId":1,"command":"DIM","dimLevel":20}`)
			if status, message := h.control("channelControl", `{"targetType":"3","targetId":"1","channelId":"2","command":"DIM","dimLevel":"60"}`); status != 1 {
				t.Fatal(message)
			}
			if got := fmt.Sprint(targets(h.device(1))); got != "[20 60 20]" {
				t.Errorf("channels at %s, want [20 60 20]", got)
			}
			if status, _ := h.control("channelControl", `{"targetType":3,"targetId":1,"channelId":4,"command":"OFF"}`); status != 0 {
				t.Error("a channel that the node does not have was accepted")
			}
		})

		h.part("setColorTemp", func() {
			for _, target := range []string{all, clusterOne, `"targetType":3,"targetId":6`} {
				if status, message := h.control("setColorTemp", "{"+target+`,"colorTemp":9000}`); status != 1 {
					t.Errorf("%s: %s", target, message)
				}
				for _, c := range h.device(6).Channels {
					if c.ColorTemp < 4900 || c.ColorTemp > 5050 {
						t.Errorf("%s: channel %d at %d K, want 5000 within the device's step", target, c.Channel, c.ColorTemp)
					}
				}
				h.control("setColorTemp", "{"+target+`,"colorTemp":3000}`)
			}
		})

		h.part("setRGBW", func() {
			for i, target := range []string{all, clusterOne, `"targetType":3,"targetId":5`} {
				r := 200 + i
				if status, message := h.control("setRGBW", fmt.Sprintf(`{%s,"R":%d,"G":100,"B":50,"W":25,"DL":100}`, target, r)); status != 1 {
					t.Fatalf("%s: %s", target, message)
				}
				// W is an output of 0 to 100 %: 25 of 255 is 10 %, which is 26.
				if got, want := h.device(5).Channels[0].RGBW, fmt.Sprintf("%d:100:50:26", r); got != want {
					t.Errorf("%s: outputs at %s, want %s", target, got, want)
				}
			}
			h.control("channelControl", `{"targetType":3,"targetId":5,"command":"DIM","dimLevel":50}`)
			if status, message := h.control("setRGBW", `{"targetType":3,"targetId":5,"R":100,"G":200,"B":0,"W":0,"DL":101}`); status != 1 {
				t.Fatal(message)
			}
			if got := h.device(5).Channels[0].RGBW; got != "50:100:0:0" {
				t.Errorf("colour at an unchanged 50 %%: outputs at %s, want 50:100:0:0", got)
			}
		})

		h.part("shadeControl", func() {
			for _, tc := range []struct {
				body   string
				shades []appliance.ID
				motion string
			}{
				{`{"targetType":1,"command":"UP"}`, []appliance.ID{5001, 5002}, "opening"},
				{`{"targetType":1,"command":"STOP"}`, []appliance.ID{5001, 5002}, "stopped"},
				{`{"targetType":2,"targetId":2,"command":"DOWN"}`, []appliance.ID{5002}, "closing"},
				{`{"targetType":3,"targetId":5002,"command":"STOP"}`, []appliance.ID{5002}, "stopped"},
			} {
				if status, message := h.control("shadeControl", tc.body); status != 1 {
					t.Fatalf("%s: %s", tc.body, message)
				}
				for _, id := range tc.shades {
					// The actuator itself pauses half a second before it reverses.
					h.await(time.Second, fmt.Sprintf("shade %d %s after %s", id, tc.motion, tc.body), func() bool {
						return h.shade(id).Motion == tc.motion
					})
				}
			}
			if status, message := h.control("shadeControl", `{"targetType":3,"targetId":5001,"command":"POS","posValue":30}`); status != 1 {
				t.Fatal(message)
			}
			h.await(20*time.Second, "shade 5001 stopped near 30 %", func() bool {
				s := h.shade(5001)
				return !s.Moving && s.ExactPosition > 24 && s.ExactPosition < 36
			})
			var shades []struct {
				ID         int    `json:"id"`
				ShadeLevel int    `json:"shadeLevel"`
				ShadeState string `json:"shadeState"`
			}
			h.await(5*time.Second, "getShades to tell STOPPED near the true position", func() bool {
				h.get("/svc/api/getShades", &shades)
				d := shades[0].ShadeLevel - h.shade(5001).Position
				return shades[0].ShadeState == "STOPPED" && d >= -5 && d <= 5
			})
		})

		h.part("reads", func() {
			h.control("channelControl", `{"targetType":1,"command":"DIM","dimLevel":66}`)
			var rows []struct {
				ID, NodeID, ClusterID int
				Value, ValueType      string
			}
			h.get("/svc/api/getLightLevels?targetType=2&targetId=1", &rows)
			dims := 0
			for _, r := range rows {
				if r.ValueType == "DIM_LEVEL" {
					dims++
					if r.Value != "66" {
						t.Errorf("row %+v, want 66", r)
					}
				}
			}
			if dims != 5 {
				t.Errorf("%d DIM_LEVEL rows in cluster 1, want 5", dims)
			}
			h.await(40*time.Second, "the meter's PPOWER row", func() bool {
				h.get("/svc/api/getLightLevels?targetType=1", &rows)
				for _, r := range rows {
					if r.ValueType == "PPOWER" && r.NodeID == 9 && r.Value != "" {
						return true
					}
				}
				return false
			})
		})

		h.part("wall switch", func() {
			level := 12
			if err := h.building.PressChannel("tcp", "1", 1, sim.Press{Level: &level}); err != nil {
				t.Fatal(err)
			}
			h.await(7*time.Second, "the new level within its freshness target", func() bool {
				return h.daemon.core.Snapshot().Node(1).Channels[0].Level.Value == 12
			})
		})

		for _, b := range h.building.Buses() {
			t.Logf("bus %s: %d requests, %d broke t3.5, %d collisions, %d bytes were no frame", b.Name, b.Frames, b.SilenceViolations, b.Collisions, b.Garbled)
			if b.SilenceViolations > 0 {
				t.Errorf("bus %s: %d requests broke t3.5", b.Name, b.SilenceViolations)
			}
		}
	})
}

// shade is the true state of a simulated shade.
func (h *house) shade(id appliance.ID) sim.DeviceShade {
	h.t.Helper()
	for _, d := range h.building.Devices() {
		for _, s := range d.Shades {
			if s.ShadeID == id {
				return s
			}
		}
	}
	h.t.Fatalf("no simulated shade %d", id)
	return sim.DeviceShade{}
}

// await waits until a condition holds.
func (h *house) await(most time.Duration, what string, holds func() bool) {
	h.t.Helper()
	most = atMost(most)
	deadline := time.Now().Add(most)
	for !holds() {
		if time.Now().After(deadline) {
			h.t.Fatalf("waited %v for %s", most, what)
		}
		select {
		case <-h.daemon.core.Snapshot().Superseded():
		case <-time.After(50 * time.Millisecond):
		}
	}
}
