package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/sim"
)

// TestCampaignStopBehindMoves queues a move for each of 24 SDN motors, all asked for
// by themselves, and stops one that runs: its frame may have to wait for the one in
// flight and no other, within the bound that the daemon publishes.
func TestCampaignStopBehindMoves(t *testing.T) {
	t.Parallel()
	rounds := 2
	if soak() {
		rounds = 100
	}
	virtually(t, apartSite(), func(t *testing.T, h *house) {
		h.login(account.RoleAPIService)
		dice := rand.New(rand.NewPCG(24, 2))
		var worst, sum time.Duration
		least := motors
		for round := range rounds {
			wait, queued := h.stopBehindMoves(t, dice.IntN(motors), []int{10, 90}[round%2])
			worst, sum, least = max(worst, wait), sum+wait, min(least, queued)
		}
		b := h.bus("shades")
		t.Logf("%d times STOP behind %d moves or more: first bit on the wire %v after the request on average, %v at worst; published bound %v, typical %v",
			rounds, least, ms(sum/time.Duration(rounds)), ms(worst), ms(b.Bound), ms(b.Typical))
	})
}

// apartSite has 24 motors in no group.
func apartSite() string {
	var nodes, shades strings.Builder
	for i := range motors {
		fmt.Fprintf(&nodes, "  - {id: %d, name: Motor %d, bus: shades, address: %q, profile: somfy-sdn-30dc}\n", i+1, i+1, motorAddress(i))
		fmt.Fprintf(&shades, "  - {id: %d, name: Shade %d, node: %d, output: 1, travelUp: 30s, travelDown: 30s}\n", firstShade+i, i+1, i+1)
	}
	return "site: {name: Apart}\nbuses: [{name: shades, driver: sdn, port: \"@DIR@/shades\"}]\nnodes:\n" + nodes.String() + "shades:\n" + shades.String()
}

// sdnStop is how CTRL_STOP begins on the wire: inverted.
const sdnStop = "fd"

// stopBehindMoves returns how long after the request the first bit of STOP was on the
// wire, and how many moves were queued then.
func (h *house) stopBehindMoves(t *testing.T, victim, position int) (wait time.Duration, queued int) {
	t.Helper()
	before := h.lastOrder("shades")
	token := h.login(account.RoleAPIService)
	var wg sync.WaitGroup
	move := func(i int) {
		wg.Go(func() {
			h.send("POST", "/svc/api/shadeControl", token, fmt.Sprintf(`{"targetType":3,"targetId":%d,"command":"POS","posValue":%d}`, firstShade+i, position))
		})
	}
	move(victim)
	waitFor(t, 10*time.Second, "a move on the wire", func() bool { return len(h.orders("shades", before)) > 0 })
	for i := range motors {
		if i != victim {
			move(i)
		}
	}
	waitFor(t, 10*time.Second, "the moves queued", func() bool { return h.bus("shades").Queue >= motors-4 })
	waitFor(t, 10*time.Second, "another move on the wire", func() bool { return len(h.orders("shades", before)) >= 2 })
	queued, asked := h.bus("shades").Queue, time.Now()
	status, message := h.control("shadeControl", fmt.Sprintf(`{"targetType":3,"targetId":%d,"command":"STOP"}`, firstShade+victim))
	if status != 1 {
		t.Errorf("STOP: %s", message)
	}
	between := 0
	for _, w := range h.orders("shades", before) {
		if strings.HasPrefix(w.PDU, sdnStop) {
			// Its frame has 12 characters of 11 bits at 4800 baud, after 25 ms of silence.
			wait = w.At.Sub(asked) - 12*11*time.Second/4800
			break
		}
		if w.At.After(asked) {
			between++
		}
	}
	b := h.bus("shades")
	switch {
	case wait == 0:
		t.Fatal("STOP was never on the wire")
	case wait > b.Bound+25*time.Millisecond, between > 1:
		t.Errorf("STOP waited %v and for %d moves, the published bound is %v and one frame", wait, between, b.Bound)
	}
	if s := h.device(appliance.ID(victim + 1)).Shades[0]; s.Moving {
		t.Errorf("the shade after STOP: %+v", s)
	}
	wg.Wait()
	return wait, queued
}

// TestFieldPollingUsesTheLine has a saturated SDN bus and DALI line polled, and looks
// at how much of the time the rules of the line leave no room for more. Between the
// answer to one question and the next question SDN demands 25 ms of silence; how long
// a motor takes to answer is its own choice. A DALI query takes 48.5 ms on average:
// the gap before the frame, the frame, the gap before the answer, the answer.
func TestFieldPollingUsesTheLine(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	var nodes, shades strings.Builder
	for i := range 12 {
		fmt.Fprintf(&nodes, "  - {id: %d, name: Motor %d, bus: shades, address: %q, profile: somfy-sdn-30dc}\n", i+1, i+1, motorAddress(i))
		fmt.Fprintf(&shades, "  - {id: %d, name: Shade %d, node: %d, output: 1}\n", firstShade+i, i+1, i+1)
	}
	for i := range gears {
		fmt.Fprintf(&nodes, "  - {id: %d, name: Gear %d, bus: line, address: %d, profile: dali-dt6}\n", 101+i, i, i)
	}
	virtually(t, `
site: {name: Busy, freshness: {light: 200ms, idleShade: 200ms}}
buses:
  - {name: shades, driver: sdn, port: "@DIR@/shades"}
  - {name: line, driver: dali, port: "@DIR@/line", options: {gateway: atx}}
nodes:
`+nodes.String()+"shades:\n"+shades.String(), func(t *testing.T, h *house) {
		const daliQuery = 15500*time.Microsecond + 15830*time.Microsecond + 8*time.Millisecond + 9170*time.Microsecond
		sdn := h.used(t, "shades", 25*time.Millisecond, 15*time.Second)
		before, began := h.busState("line").Frames, time.Now()
		h.pass(5*time.Second, began)
		dali := float64(h.busState("line").Frames-before) * daliQuery.Seconds() / time.Since(began).Seconds()
		t.Logf("SDN: %.1f %% of the time in use or silent by rule; DALI: %.1f %% of the queries that the line allows", 100*sdn, 100*dali)
		if sdn < 0.9 || dali < 0.9 {
			t.Error("want 90 % of both")
		}
	})
}

// used follows a bus for a while and returns the part of the time from the first
// question on that passed between questions and their answers, and in the silence due
// before each question.
func (h *house) used(t *testing.T, bus string, quiet, length time.Duration) float64 {
	t.Helper()
	rec, err := h.daemon.core.Recorder(bus)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	var first, last, asked time.Time
	var used time.Duration
	before, answers := h.busState(bus).Frames, uint64(0)
	for f := range rec.Follow(ctx) {
		switch {
		case f.Direction == appliance.FrameSent:
			asked = f.At
		case f.Direction == appliance.FrameReceived && !asked.IsZero():
			if first.IsZero() { // the silence before the first question is not looked at
				first = asked.Add(-quiet)
			}
			used += f.At.Sub(asked) + quiet
			last, asked = f.At, time.Time{}
			answers++
		}
	}
	if heard := h.busState(bus).Frames - before; answers < 20 || heard > answers+2 {
		t.Errorf("%d answers to %d questions that the motors heard", answers, heard)
	}
	return used.Seconds() / max(last.Sub(first).Seconds(), 1e-9)
}

// TestFieldPortsOfOtherKinds has one device behind each kind of port and gateway that
// the other tests do not use, commands it and looks at it. What an LUBA or SCI gateway
// does is simulated as far as its protocol is known.
func TestFieldPortsOfOtherKinds(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	h := newHouse(t, `
site: {name: Ports}
buses:
  - {name: luba, driver: dali, port: "@DIR@/luba", options: {gateway: luba}}
  - {name: sci, driver: dali, port: "@DIR@/sci", options: {gateway: sci}}
  - {name: far line, driver: dali, port: "tcp://127.0.0.1:0", options: {gateway: atx}}
  - {name: far luba, driver: dali, port: "tcp://127.0.0.1:0", options: {gateway: luba}}
  - {name: far shades, driver: sdn, port: "rtu+tcp://127.0.0.1:0"}
  - {name: far stage, driver: dmx, port: "tcp://127.0.0.1:0", options: {interface: enttec-pro}}
  - {name: open stage, driver: dmx, port: "@DIR@/open", options: {interface: open-dmx}}
nodes:
  - {id: 1, name: Luba gear, bus: luba, address: 3, profile: dali-dt6}
  - {id: 2, name: Luba white, bus: luba, address: 4, profile: dali-dt8-tc}
  - {id: 3, name: Sci gear, bus: sci, address: 3, profile: dali-dt6}
  - {id: 4, name: Sci colour, bus: sci, address: 4, profile: dali-dt8-rgbw}
  - {id: 5, name: Far gear, bus: far line, address: 3, profile: dali-dt6}
  - {id: 6, name: Far luba, bus: far luba, address: 3, profile: dali-dt6}
  - {id: 7, name: Far motor, bus: far shades, address: 06.00.01, profile: somfy-sdn-30dc}
  - {id: 8, name: Far fixture, bus: far stage, address: 10, profile: dmx-rgbw}
  - {id: 9, name: Open fixture, bus: open stage, address: 20, profile: dmx-dimmer-16bit}
shades:
  - {id: 501, name: Far shade, node: 7, output: 1, travelUp: 4s, travelDown: 4s}
`)
	for _, id := range []appliance.ID{1, 2, 3, 4, 5, 6, 8, 9} {
		for _, level := range []int{60, 0, 25} {
			h.insist("channelControl", fmt.Sprintf(`{"targetType":3,"targetId":%d,"command":"DIM","dimLevel":%d}`, id, level))
			if !h.awaitLight(id, level) {
				t.Errorf("node %d was told 1 for %d %% and has %v", id, level, targets(h.device(id)))
			}
			h.await(time.Minute, fmt.Sprintf("node %d shown at %d", id, level), func() bool { return int(h.daemon.core.Snapshot().Node(id).Level.Value) == level })
		}
	}
	// Eleven and thirteen frames take most of the time that a command has.
	waitFor(t, time.Minute, "a colour temperature over LUBA", func() bool {
		status, _ := h.control("setColorTemp", `{"targetType":3,"targetId":2,"colorTemp":4000}`)
		return status == 1
	})
	if kelvin := h.device(2).Channels[0].ColorTemp; kelvin != 4000 {
		t.Errorf("colour temperature over LUBA: %d K", kelvin)
	}
	waitFor(t, time.Minute, "a colour over SCI", func() bool {
		status, _ := h.control("setRGBW", `{"targetType":3,"targetId":4,"R":255,"G":0,"B":128,"W":0,"DL":100}`)
		return status == 1 && strings.HasPrefix(h.device(4).Channels[0].RGBW, "255:0:128:")
	})
	h.insist("shadeControl", `{"targetType":3,"targetId":501,"command":"POS","posValue":80}`)
	waitFor(t, time.Minute, "the far shade at 80, and shown so", func() bool {
		s, shown := h.device(7).Shades[0], h.daemon.core.Snapshot().Shade(501)
		return s.Position == 80 && !s.Moving && int(shown.Position.Value) == 80 && shown.Motion == appliance.Stopped
	})
	// Serial servers that are switched off, and an adapter that is pulled, for a moment.
	for _, bus := range []string{"far line", "far shades", "far stage", "open stage"} {
		h.fault(sim.Fault{Kind: sim.FaultClose, Bus: bus})
	}
	for id, call := range map[appliance.ID]string{5: "channelControl", 7: "shadeControl", 8: "channelControl", 9: "channelControl"} {
		body := cmp.Or(map[string]string{"shadeControl": `{"targetType":3,"targetId":501,"command":"POS","posValue":30}`}[call],
			fmt.Sprintf(`{"targetType":3,"targetId":%d,"command":"DIM","dimLevel":90}`, id))
		waitFor(t, 50*time.Second, "a command after the connection was lost", func() bool { status, _ := h.control(call, body); return status == 1 })
	}
}
