package main

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/sim"
)

// TestCampaignAdapterPulled pulls the serial adapter, or cuts it for a moment, while
// every light of the line is commanded all the time. It comes back under another
// name each time. The line must work again within 5 s of being back, in the same
// process, and nothing that was asked during the outage may happen afterwards.
func TestCampaignAdapterPulled(t *testing.T) {
	t.Parallel()
	rounds := 5
	if soak() {
		rounds = 100
	}
	virtually(t, pulledSite, func(t *testing.T, h *house) {
		h.login(account.RoleAPIService)
		collected := h.collectWrites()
		stop := make(chan struct{})
		commands := h.hammer(stop, 1, 2, 3, 4)
		dice := rand.New(rand.NewPCG(3, 3))
		pullable := []sim.Fault{{Kind: sim.FaultUnplug, Bus: "rtu"}, {Kind: sim.FaultClose, Bus: "rtu"}}
		var worst, sum time.Duration
		for round := range rounds {
			commands.awaitConfirmed(t, 20)
			pulled := time.Now()
			if f := pullable[round%2]; f.Kind == sim.FaultUnplug {
				end := h.fault(f)
				h.pass(time.Duration(500+dice.IntN(2500))*time.Millisecond, time.Now())
				end()
			} else {
				h.fault(f)
			}
			back := time.Now()
			commands.awaitConfirmedSince(t, pulled, back, 5*time.Second)
			took := time.Since(back)
			worst, sum = max(worst, took), sum+took
		}
		close(stop)
		commands.wg.Wait()
		t.Logf("%d times pulled: works again %v after it is back on average, %v at worst; %d commands, %d confirmed",
			rounds, (sum / time.Duration(rounds)).Round(time.Millisecond), worst.Round(time.Millisecond), commands.sent, commands.confirmed)
		h.pass(11*time.Second, time.Now()) // longer than any command lives
		checkNothingLate(t, collected(), commands.spans)
		if commands.confirmed == commands.sent {
			t.Error("every command was confirmed: nothing was pulled")
		}
	})
}

const pulledSite = `
site: {name: Pulled}
buses:
  - {name: rtu, driver: modbus, port: "@DIR@/rtu", line: {baudRate: 19200, parity: even, stopBits: 1}}
nodes:
  - {id: 1, name: One, bus: rtu, address: 1, profile: wirenboard-wb-mao4}
  - {id: 2, name: Two, bus: rtu, address: 2, profile: wirenboard-wb-mdm3}
  - {id: 3, name: Three, bus: rtu, address: 3, profile: wirenboard-wb-led-cct}
  - {id: 4, name: Four, bus: rtu, address: 4, profile: wirenboard-wb-mdm3}
`

// hammered is what came of commands that are sent all the time.
type hammered struct {
	wg sync.WaitGroup

	mu              sync.Mutex
	sent, confirmed int
	last            map[appliance.ID]span // last confirmed command of each node
	spans           map[appliance.ID][]span
}

// hammer commands each node again and again until stop is closed. What is confirmed
// must be so.
func (h *house) hammer(stop <-chan struct{}, nodes ...appliance.ID) *hammered {
	c := &hammered{last: map[appliance.ID]span{}, spans: map[appliance.ID][]span{}}
	for _, id := range nodes {
		c.wg.Go(func() {
			dice := rand.New(rand.NewPCG(uint64(id), 11))
			for {
				level := dice.IntN(101)
				s := span{from: time.Now()}
				status, _ := h.control("channelControl", fmt.Sprintf(`{"targetType":3,"targetId":%d,"command":"DIM","dimLevel":%d}`, id, level))
				s.to = time.Now()
				if got := targets(h.device(id)); status == 1 && !allNear(got, level, false) {
					h.t.Errorf("node %d: told 1 for %d %%, the device has %v", id, level, got)
				}
				c.mu.Lock()
				c.sent++
				c.confirmed += status
				c.spans[id] = append(c.spans[id], s)
				if status == 1 {
					c.last[id] = s
				}
				c.mu.Unlock()
				select {
				case <-stop:
					return
				case <-time.After(time.Duration(dice.IntN(40)) * time.Millisecond):
				}
			}
		})
	}
	return c
}

// awaitConfirmed waits until so many more commands were confirmed.
func (c *hammered) awaitConfirmed(t *testing.T, more int) {
	t.Helper()
	count := func() int { c.mu.Lock(); defer c.mu.Unlock(); return c.confirmed }
	want := count() + more
	for deadline := time.Now().Add(atMost(20 * time.Second)); count() < want; <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no command was confirmed for 20 s")
		}
	}
}

// awaitConfirmedSince waits until every node confirmed a command that was sent after
// the adapter was pulled.
func (c *hammered) awaitConfirmedSince(t *testing.T, pulled, back time.Time, most time.Duration) {
	t.Helper()
	for {
		silent := 0
		c.mu.Lock()
		for id := range c.spans {
			if !c.last[id].from.After(pulled) || c.last[id].to.Before(back) {
				silent++
			}
		}
		c.mu.Unlock()
		if silent == 0 {
			return
		}
		if time.Since(back) > most {
			t.Errorf("%d nodes do not obey %v after the adapter is back", silent, most)
			return
		}
		<-time.After(5 * time.Millisecond)
	}
}
