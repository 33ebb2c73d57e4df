package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/sim"
)

// soak reports whether the long form of a campaign is wanted.
func soak() bool { return os.Getenv("SOAK") != "" }

// span is the time of one command, from before the request to after the answer.
type span struct {
	from, to time.Time
	kept     int // the level that was confirmed, where the interface shows it again when it comes back; 0: none
}

// TestCampaignStatusOneIsNeverALie commands every light of the mixed site at random
// while one exchange in five is dropped, delayed, damaged or refused. Whoever is
// told 1 must find the device so, and no device may be written to when no command
// for it is under way: nothing fires late.
func TestCampaignStatusOneIsNeverALie(t *testing.T) {
	t.Parallel()
	commands := 10
	if soak() {
		commands = 280
	}
	site, lights := campaignSite()
	virtually(t, site, func(t *testing.T, h *house) {
		h.login(account.RoleAPIService)
		for _, f := range []sim.Fault{
			{Kind: sim.FaultDrop, Rate: 0.05},
			{Kind: sim.FaultDelay, Rate: 0.05, DelayMs: 350},
			{Kind: sim.FaultCorrupt, Rate: 0.05},
			{Kind: sim.FaultRefuse, Rate: 0.05, Exception: 4},
		} {
			if _, err := h.building.AddFault(f); err != nil {
				t.Fatal(err)
			}
		}
		spans := make(map[appliance.ID][]span, len(lights))
		collected := h.collectWrites()
		var mu sync.Mutex
		done, confirmed, reasons := 0, 0, map[string]int{}
		began := time.Now()
		var wg sync.WaitGroup
		for id, relay := range lights {
			wg.Go(func() {
				dice := rand.New(rand.NewPCG(uint64(id), 7))
				for range commands {
					level := dice.IntN(101)
					from := time.Now()
					status, message := h.control("channelControl", fmt.Sprintf(`{"targetType":3,"targetId":%d,"command":"DIM","dimLevel":%d}`, id, level))
					to := time.Now()
					if status == 1 {
						if got := targets(h.device(id)); !allNear(got, level, relay) {
							t.Errorf("node %d: told 1 for %d %%, the device has %v", id, level, got)
						}
					}
					mu.Lock()
					spans[id] = append(spans[id], span{from: from, to: to})
					done++
					confirmed += status
					if status == 0 {
						reasons[reason(message)]++
					}
					mu.Unlock()
					// A pause in which nothing may happen.
					time.Sleep(time.Duration(dice.IntN(30)) * time.Millisecond)
				}
			})
		}
		wg.Wait()
		t.Logf("%d commands in %v, %d confirmed (%.1f %%), %d reported as not confirmed", done, time.Since(began).Round(time.Second), confirmed, 100*float64(confirmed)/float64(done), done-confirmed)
		t.Logf("why not: %v", reasons)
		if confirmed < done/2 {
			t.Errorf("only %d of %d commands were confirmed: a fifth of all exchanges failing is no reason for that", confirmed, done)
		}
		time.Sleep(11 * time.Second) // longer than any command lives
		checkNothingLate(t, collected(), spans)
	})
}

// reason is the class of a failure message.
func reason(message string) string {
	for _, class := range []error{appliance.ErrSilent, appliance.ErrDamaged, appliance.ErrRefused, appliance.ErrBusy, appliance.ErrBusDown,
		appliance.ErrExpired, appliance.ErrMismatch, appliance.ErrUnreachable, appliance.ErrSuperseded} {
		if strings.Contains(message, class.Error()) {
			return class.Error()
		}
	}
	return message
}

// campaignSite has 36 lights of eight families on all four kinds of port, and tells
// which of them only switch.
func campaignSite() (string, map[appliance.ID]bool) {
	site := `
site: {name: Campaign}
buses:
  - {name: tcp, driver: modbus, port: "tcp://127.0.0.1:0"}
  - {name: rtu, driver: modbus, port: "@DIR@/rtu", line: {baudRate: 19200, parity: even, stopBits: 1}}
  - {name: slow, driver: modbus, port: "@DIR@/slow", line: {baudRate: 9600, parity: none, stopBits: 2}}
  - {name: gateway, driver: modbus, port: "rtu+tcp://127.0.0.1:0"}
nodes:
`
	lights := map[appliance.ID]bool{}
	add := func(count int, bus, address, profile string) {
		for i := range count {
			id := appliance.ID(len(lights) + 1)
			lights[id] = profile == "waveshare-relay-8ch"
			site += fmt.Sprintf("  - {id: %d, name: Light %d, bus: %s, address: %q, profile: %s}\n", id, id, bus, fmt.Sprintf(address, i), profile)
		}
	}
	add(6, "tcp", "1%d", "wirenboard-wb-mdm3")
	add(4, "tcp", "2/%d", "arlight-dali-logic-lite")
	add(6, "rtu", "1%d", "wirenboard-wb-led-rgbw")
	add(4, "rtu", "2%d", "waveshare-relay-8ch")
	add(3, "rtu", "3%d", "wirenboard-wb-led-cct")
	add(6, "slow", "1%d", "wirenboard-wb-mao4")
	add(4, "gateway", "1%d", "wirenboard-wb-led-white")
	add(3, "gateway", "2/%d", "ecodim-dali-gw2")
	return site, lights
}

// allNear reports whether every channel is at the level, or at 100 for any level
// above 0 if it is a relay. DALI arc power has coarse steps.
func allNear(got []int, level int, relay bool) bool {
	if relay && level > 0 {
		level = 100
	}
	return !slices.ContainsFunc(got, func(g int) bool {
		return g < level-1 || g > level+1 || (g == 0) != (level == 0)
	})
}

// collectWrites keeps every write that the simulated devices carry out from now on;
// the function it returns ends that and hands them over.
func (h *house) collectWrites() func() []sim.Write {
	var all []sim.Write
	since := map[string]uint64{}
	look := func() {
		for _, b := range h.building.Buses() {
			writes, err := h.building.Writes(b.Name, since[b.Name], 0)
			if err != nil {
				h.t.Error(err)
				return
			}
			if n := len(writes); n > 0 {
				if since[b.Name] != 0 && writes[0].Seq != since[b.Name]+1 {
					h.t.Errorf("bus %s: writes %d to %d were not looked at in time", b.Name, since[b.Name]+1, writes[0].Seq-1)
				}
				since[b.Name] = writes[n-1].Seq
			}
			all = append(all, writes...)
		}
	}
	look()
	all = nil
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				look()
				return
			case <-tick.C:
				look()
			}
		}
	}()
	return func() []sim.Write { close(stop); <-stopped; return all }
}

// checkNothingLate looks for writes outside the spans of all commands of a node, but
// for those that only show again what was confirmed last.
func checkNothingLate(t *testing.T, writes []sim.Write, spans map[appliance.ID][]span) {
	t.Helper()
	checked := 0
	for _, w := range writes {
		for _, c := range w.Changes {
			checked++
			in := slices.ContainsFunc(spans[c.NodeID], func(s span) bool {
				return !w.At.Before(s.from) && !w.At.After(s.to)
			})
			if !in && !restored(spans[c.NodeID], w.At, c.Level) {
				t.Errorf("bus %s: node %d changed at %v, when no command for it was under way (%s)", w.Bus, c.NodeID, w.At.Format("15:04:05.000"), w.PDU)
			}
		}
	}
	t.Logf("%d changes of devices checked", checked)
	if checked == 0 {
		t.Error("no change was recorded: the check checks nothing")
	}
}

// restored reports whether a level at a moment is the last one that was confirmed
// before it, and one that the interface keeps.
func restored(spans []span, at time.Time, level *int) bool {
	for _, s := range slices.Backward(spans) {
		if s.kept > 0 && s.to.Before(at) {
			return level != nil && *level >= s.kept-1 && *level <= s.kept+1
		}
	}
	return false
}
