package main

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"svc.internal/controller/shelf/account"
	"svc.internal/controller/sim"
)

// TestSilentDevicesCampaign commands two lines with the same 20 devices each, of
// which 6 (30 %) are dead on one of them. The healthy ones there must be reached as
// fast as those on the whole line, and the dead ones may cost at most 5 % of the
// line's time.
//
// Before and after are measured side by side in one process: each line has a client
// of its own, the two run at the same time and go through the same devices and
// levels, so that whatever else the machine does strikes both alike. What is
// compared is the 99th percentile of the time from acceptance to the last bit on
// the wire. Its uncertainty is estimated by drawing both samples again 2000 times
// with replacement; the test fails if even the lower end of the 95 % interval of
// the ratio is above 1.10, in the long form if the ratio itself is.
func TestSilentDevicesCampaign(t *testing.T) {
	t.Parallel()
	length := 32 * time.Second
	if soak() {
		length = 10 * time.Minute
	}
	virtually(t, silentSite, func(t *testing.T, h *house) {
		h.login(account.RoleAPIService)
		known := func(gone int) func() bool {
			return func() bool {
				n := 0
				for _, d := range h.bus("partly").Devices {
					if !d.Online {
						n++
					}
				}
				return n == gone
			}
		}
		h.await(20*time.Second, "all devices to answer", known(0))
		for unit := healthy + 1; unit <= 20; unit++ {
			h.fault(sim.Fault{Kind: sim.FaultSilent, Bus: "partly", Address: fmt.Sprint(unit)})
		}
		died := time.Now()
		// Finding out who is gone is not throttled, and takes what it takes.
		h.await(20*time.Second, "the dead devices to be known", known(20-healthy))
		t.Logf("known after %v", time.Since(died).Round(time.Millisecond))
		waits := map[string][]time.Duration{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		began := time.Now()
		dead := h.deadTime(&wg, length)
		for _, bus := range []string{"whole", "partly"} {
			wg.Go(func() {
				dice := rand.New(rand.NewPCG(8, 8)) // the same for both
				for time.Since(began) < length {
					<-time.After(time.Duration(dice.Int64N(int64(30 * time.Millisecond))))
					id := 1 + dice.IntN(healthy)
					if bus == "partly" {
						id += 100
					}
					body := fmt.Sprintf(`{"targetType":3,"targetId":%d,"command":"DIM","dimLevel":%d}`, id, dice.IntN(101))
					entry, status, message := h.order("channelControl", body)
					if status != 1 {
						t.Errorf("bus %s: %s: %s", bus, body, message)
						continue
					}
					mu.Lock()
					waits[bus] = append(waits[bus], entry.Members[0].SentAt.Sub(entry.AcceptedAt))
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		whole, partly := waits["whole"], waits["partly"]
		slices.Sort(whole)
		slices.Sort(partly)
		ratio := float64(quantile(partly, 0.99)) / float64(quantile(whole, 0.99))
		low, high := ratioInterval(partly, whole, 0.99)
		cost := float64(dead().cost) / float64(length)
		t.Logf("all healthy: %d commands, p50 %v, p99 %v; 30 %% dead: %d commands, p50 %v, p99 %v",
			len(whole), quantile(whole, 0.5), quantile(whole, 0.99), len(partly), quantile(partly, 0.5), quantile(partly, 0.99))
		t.Logf("p99 ratio %.3f, 95 %% interval %.3f to %.3f; dead devices were asked %d times and cost at most %.2f %% of the time; the daemon publishes use %.1f %%, dead %.1f %% of the last minute, which includes finding out",
			ratio, low, high, dead().asked, 100*cost, 100*h.bus("partly").Use, 100*h.bus("partly").DeadUse)
		if low > 1.10 || soak() && ratio > 1.10 {
			t.Errorf("p99 is %.3f times that of the whole line, want at most 1.10", ratio)
		}
		if cost > 0.05 {
			t.Errorf("dead devices cost %.2f %% of the line's time, want at most 5 %%", 100*cost)
		}
		offline := 0
		for _, n := range h.daemon.core.Snapshot().Nodes {
			if !n.Online {
				offline++
			}
		}
		t.Logf("%d of %d dead devices are told to be offline %v after they died", offline, 20-healthy, time.Since(died).Round(time.Second))
		if dead().asked == 0 {
			t.Error("dead devices were never asked: they could not come back")
		}
	})
}

// healthy units of 20 on the line with dead ones; the dead ones follow.
const healthy = 14

var silentSite = func() string {
	site := `
site: {name: Silent, freshness: {light: 2s}}
buses:
  - {name: whole, driver: modbus, port: "@DIR@/whole", line: {baudRate: 19200, parity: even, stopBits: 1}}
  - {name: partly, driver: modbus, port: "@DIR@/partly", line: {baudRate: 19200, parity: even, stopBits: 1}}
nodes:
`
	for i, bus := range []string{"whole", "partly"} {
		for unit := 1; unit <= 20; unit++ {
			site += fmt.Sprintf("  - {id: %d, name: %s %d, bus: %s, address: %d, profile: wirenboard-wb-mao4}\n", 100*i+unit, bus, unit, bus, unit)
		}
	}
	return site
}()

// deadTimes is what dead devices cost.
type deadTimes struct {
	asked int
	cost  time.Duration
}

// deadTime watches the line with the dead devices for a while, in wg. A question to
// one of them costs from its first bit until the next question, but no longer than
// the daemon's bound for an exchange that is not answered.
func (h *house) deadTime(wg *sync.WaitGroup, length time.Duration) func() deadTimes {
	var sum deadTimes
	log := h.tail("partly")
	pace := paceOf(19200, 2)
	most := h.bus("partly").Bound
	began := time.Now()
	wg.Go(func() {
		var asked time.Time // of a dead device, not followed by another question yet
		look := func() {
			for _, f := range log.more() {
				at := pace.begin(f)
				if !asked.IsZero() {
					sum.cost += min(at.Sub(asked), most)
					asked = time.Time{}
				}
				if unit, err := hex.DecodeString(f.Hex[:2]); err == nil && unit[0] > healthy {
					sum.asked++
					asked = at
				}
			}
		}
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for time.Since(began) < length {
			<-tick.C
			look()
		}
		if !asked.IsZero() {
			sum.cost += most
		}
	})
	return func() deadTimes { return sum }
}

// ratioInterval is the 95 % bootstrap interval of the ratio of a quantile in two
// samples.
func ratioInterval(a, b []time.Duration, q float64) (low, high float64) {
	dice := rand.New(rand.NewPCG(1, 2))
	again := func(from []time.Duration) time.Duration {
		s := make([]time.Duration, len(from))
		for i := range s {
			s[i] = from[dice.IntN(len(from))]
		}
		slices.Sort(s)
		return quantile(s, q)
	}
	ratios := make([]float64, 2000)
	for i := range ratios {
		ratios[i] = float64(again(a)) / float64(again(b))
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/40], ratios[len(ratios)*39/40]
}
