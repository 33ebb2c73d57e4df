package main

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/sim"
)

// TestCampaignFieldAdaptersPulled pulls the adapters of an SDN, a DALI and a DMX bus,
// all at once, for a while or for a moment, while everything on them is commanded
// all the time. Each bus must work again within 5 s of being back, in the same
// process, and nothing that was asked during the outage may happen afterwards.
func TestCampaignFieldAdaptersPulled(t *testing.T) {
	t.Parallel()
	rounds := 3
	if soak() {
		rounds = 100
	}
	virtually(t, fieldSite, func(t *testing.T, h *house) {
		h.login(account.RoleAPIService)
		collected := h.collectWrites()
		stop := make(chan struct{})
		var lastPull atomic.Int64 // ns
		buses := map[string]*hammered{
			"shades": h.hammerField(stop, &lastPull, "shadeControl", `{"targetType":3,"targetId":%d,"command":"POS","posValue":%d}`, map[appliance.ID]appliance.ID{501: 1, 502: 2}),
			"line":   h.hammerField(stop, &lastPull, "channelControl", `{"targetType":3,"targetId":%d,"command":"DIM","dimLevel":%d}`, map[appliance.ID]appliance.ID{11: 11, 12: 12, 13: 13}),
			"stage":  h.hammerField(stop, &lastPull, "channelControl", `{"targetType":3,"targetId":%d,"command":"DIM","dimLevel":%d}`, map[appliance.ID]appliance.ID{21: 21, 22: 22, 23: 23}),
		}
		dice := rand.New(rand.NewPCG(5, 5))
		worst, sum := map[string]time.Duration{}, map[string]time.Duration{}
		for round := range rounds {
			for _, c := range buses {
				c.awaitConfirmed(t, 5)
			}
			kind := []sim.FaultKind{sim.FaultUnplug, sim.FaultClose}[round%2]
			pulled := time.Now()
			lastPull.Store(pulled.UnixNano())
			var ends []func()
			for bus := range buses {
				ends = append(ends, h.fault(sim.Fault{Kind: kind, Bus: bus}))
			}
			if kind == sim.FaultUnplug {
				h.pass(time.Duration(500+dice.IntN(2000))*time.Millisecond, time.Now())
			}
			for _, end := range ends {
				end()
			}
			back := time.Now()
			for bus, c := range buses {
				c.awaitConfirmedSince(t, pulled, back, 5*time.Second)
				c.mu.Lock()
				var took time.Duration // until the last node of the bus obeyed
				for id := range c.last {
					took = max(took, c.last[id].to.Sub(back))
				}
				c.mu.Unlock()
				worst[bus], sum[bus] = max(worst[bus], took), sum[bus]+took
			}
		}
		close(stop)
		spans := map[appliance.ID][]span{}
		for bus, c := range buses {
			c.wg.Wait()
			t.Logf("%s: %d times pulled, every node confirmed a command again %v after its return on average, %v at worst; %d commands, %d confirmed",
				bus, rounds, ms(sum[bus]/time.Duration(rounds)), ms(worst[bus]), c.sent, c.confirmed)
			if c.sent == c.confirmed {
				t.Errorf("%s: every command was confirmed: nothing was pulled", bus)
			}
			for id, list := range c.spans {
				for i := range list {
					if bus != "stage" { // only a universe is sent again as it was confirmed
						list[i].kept = 0
					}
					list[i].to = list[i].to.Add(adapterHolds)
				}
				spans[id] = list
			}
		}
		h.pass(11*time.Second, time.Now()) // longer than any command lives
		checkNothingLate(t, collected(), spans)
	})
}

// adapterHolds is how long a frame may still be on its way that was handed to the
// adapter right before it was pulled: 35 ms on 4800 baud, and behind a DALI gateway
// the end of the frame on the line, a gap, and its own.
const adapterHolds = 70 * time.Millisecond

const fieldSite = `
site: {name: Field}
buses:
  - {name: shades, driver: sdn, port: "@DIR@/shades"}
  - {name: line, driver: dali, port: "@DIR@/line", options: {gateway: atx}}
  - {name: stage, driver: dmx, port: "@DIR@/stage", options: {interface: enttec-pro}}
nodes:
  - {id: 1, name: Motor one, bus: shades, address: 06.00.01, profile: somfy-sdn-30dc}
  - {id: 2, name: Motor two, bus: shades, address: 06.00.02, profile: somfy-sdn-40ac}
  - {id: 11, name: Gear one, bus: line, address: 0, profile: dali-dt6}
  - {id: 12, name: Gear two, bus: line, address: 1, profile: dali-dt8-tc}
  - {id: 13, name: Gear three, bus: line, address: 2, profile: dali-dt8-rgbw}
  - {id: 21, name: Fixture one, bus: stage, address: 1, profile: dmx-dimmer}
  - {id: 22, name: Fixture two, bus: stage, address: 2, profile: dmx-rgbw}
  - {id: 23, name: Fixture three, bus: stage, address: 6, profile: dmx-tunable}
shades:
  - {id: 501, name: Shade one, node: 1, output: 1}
  - {id: 502, name: Shade two, node: 2, output: 1}
`

// hammerField commands targets again and again until stop is closed; what it notes
// is by the node that carries the target. A light that was told 1 must be so, unless
// its interface lost its power right afterwards, before it had sent what it took.
func (h *house) hammerField(stop <-chan struct{}, lastPull *atomic.Int64, path, body string, targetsByNode map[appliance.ID]appliance.ID) *hammered {
	c := &hammered{last: map[appliance.ID]span{}, spans: map[appliance.ID][]span{}}
	for target, node := range targetsByNode {
		c.wg.Go(func() {
			dice := rand.New(rand.NewPCG(uint64(target), 17))
			for {
				value := 5 + dice.IntN(91)
				s := span{from: time.Now()}
				status, _ := h.control(path, fmt.Sprintf(body, target, value))
				s.to = time.Now()
				if status == 1 && path == "channelControl" {
					s.kept = value
				}
				if s.kept > 0 && !h.awaitLight(node, value) && lastPull.Load() < s.from.UnixNano() {
					h.t.Errorf("node %d: told 1 for %d %%, the device has %v", node, value, targets(h.device(node)))
				}
				c.mu.Lock()
				c.sent++
				c.confirmed += status
				c.spans[node] = append(c.spans[node], s)
				if status == 1 {
					c.last[node] = s
				}
				c.mu.Unlock()
				select {
				case <-stop:
					return
				case <-time.After(time.Duration(dice.IntN(200)) * time.Millisecond):
				}
			}
		})
	}
	return c
}

// awaitLight reports whether a lamp is at a level. A universe that the widget has taken
// is on the line with its next packet, within 48 ms; on a machine that does other things,
// too, the simulated widget may take it later.
func (h *house) awaitLight(node appliance.ID, level int) bool {
	most := 500 * time.Millisecond
	if h.net == nil {
		most *= 10 // on a machine that may be busy
	}
	for deadline := time.Now().Add(most); time.Now().Before(deadline); <-time.After(5 * time.Millisecond) {
		if allNear(targets(h.device(node)), level, false) {
			return true
		}
	}
	return false
}
