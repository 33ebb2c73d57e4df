package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/sim"
)

// paced is how long things take on a simulated line, from its settings alone.
type paced struct{ char, silence time.Duration }

// paceOf counts a start bit, 8 data bits, and parity and stop bits as told; t3.5 is
// 38.5 bits whatever the format (up to 19200 bit/s).
func paceOf(baud, parityAndStop int) paced {
	bit := func(n float64) time.Duration { return time.Duration(n * float64(time.Second) / float64(baud)) }
	return paced{bit(float64(9 + parityAndStop)), bit(38.5)}
}

// airtime of a frame.
func (p paced) airtime(f sim.Frame) time.Duration { return time.Duration(len(f.Hex)/2) * p.char }

// begin is when the first bit of a request was on the wire: the log tells when the
// silence after it was over.
func (p paced) begin(f sim.Frame) time.Time { return f.At.Add(-p.silence - p.airtime(f)) }

// tail follows the requests of one simulated bus.
type tail struct {
	h    *house
	bus  string
	seen uint64
}

func (h *house) tail(bus string) *tail {
	l := &tail{h: h, bus: bus}
	l.more()
	return l
}

// more returns the requests since it was last called. It fails the test if some
// were forgotten meanwhile.
func (l *tail) more() (requests []sim.Frame) {
	l.h.t.Helper()
	frames, err := l.h.building.Log(l.bus, l.seen, 0)
	if err != nil {
		l.h.t.Error(err)
		return nil
	}
	for _, f := range frames {
		if l.seen != 0 && f.Seq != l.seen+1 {
			l.h.t.Errorf("bus %s: frames %d to %d were not looked at in time", l.bus, l.seen+1, f.Seq-1)
		}
		l.seen = f.Seq
		if f.Direction == sim.Request {
			requests = append(requests, f)
		}
	}
	return requests
}

// ofCommand tells frames of commands from polls: writes, and the question for the
// mode of a pair of relays (holding 1280 to 1282) that precedes the move of a shade.
func ofCommand(f sim.Frame) bool {
	raw, err := hex.DecodeString(f.Hex)
	if err != nil || len(raw) < 4 {
		return false
	}
	return slices.Contains([]byte{0x05, 0x06, 0x0f, 0x10}, raw[1]) || raw[1] == 0x03 && raw[2] == 0x05
}

// order sends a command and returns its ledger entry.
func (h *house) order(path, body string) (entry appliance.Entry, status int, message string) {
	h.t.Helper()
	code, data, header := h.send(http.MethodPost, "/svc/api/"+path, h.login(account.RoleAPIService), body)
	var answer struct {
		Status  int
		Message string
	}
	if err := json.Unmarshal(data, &answer); err != nil || code != http.StatusOK {
		h.t.Errorf("%s %s: %d %s", path, body, code, data)
		return entry, 0, ""
	}
	entry, ok := h.daemon.core.Entry(header.Get("X-Command-Id"))
	if !ok {
		h.t.Errorf("%s %s: no ledger entry %q", path, body, header.Get("X-Command-Id"))
	}
	return entry, answer.Status, answer.Message
}

// bus is what the daemon publishes about one.
func (h *house) bus(name string) appliance.BusState {
	h.t.Helper()
	for _, b := range h.daemon.core.Snapshot().Buses {
		if b.Bus.Name == name {
			return *b
		}
	}
	h.t.Fatalf("no bus %s", name)
	return appliance.BusState{}
}

// TestCampaignWaitBound commands random things on two 9600-baud lines that are
// polled as fast as they allow, and looks at the wire: from the moment a command is
// accepted until the first bit of its frame may pass no more than the bound that
// the daemon publishes for the bus. The next command of a line comes when the one
// before is done, after a random pause, so that nothing but polls is in the way.
func TestCampaignWaitBound(t *testing.T) {
	t.Parallel()
	commands := 120
	if soak() {
		commands = 4000
	}
	virtually(t, waitSite, func(t *testing.T, h *house) {
		h.login(account.RoleAPIService)
		pace := paceOf(9600, 2)
		waits := map[string][]time.Duration{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		for i, bus := range []string{"east", "west"} {
			wg.Go(func() {
				dice := rand.New(rand.NewPCG(uint64(i), 5))
				log := h.tail(bus)
				for range commands {
					<-time.After(time.Duration(dice.Int64N(int64(60 * time.Millisecond))))
					log.more()
					path, body := randomOrder(dice, i)
					entry, status, message := h.order(path, body)
					if status != 1 {
						t.Errorf("bus %s: %s: %s", bus, body, message)
						continue
					}
					requests := log.more()
					at := slices.IndexFunc(requests, ofCommand)
					if at < 0 {
						t.Errorf("bus %s: %s was confirmed and nothing was written", bus, body)
						continue
					}
					mu.Lock()
					waits[bus] = append(waits[bus], pace.begin(requests[at]).Sub(entry.AcceptedAt))
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		for bus, w := range waits {
			b := h.bus(bus)
			slices.Sort(w)
			worst := w[len(w)-1]
			t.Logf("bus %s: %d commands, polled at %.0f %% use and %.1f times the demand it can meet: wait until the first bit p50 %v, p99 %v, worst %v; published bound %v (ratio %.2f), typical %v (ratio %.2f)",
				bus, len(w), 100*b.Use, b.Demand, quantile(w, 0.5), quantile(w, 0.99), worst.Round(10*time.Microsecond),
				b.Bound, float64(worst)/float64(b.Bound), b.Typical, float64(worst)/float64(b.Typical))
			if worst > b.Bound {
				t.Errorf("bus %s: a command waited %v, the published bound is %v", bus, worst, b.Bound)
			}
			if b.Demand < 1 || b.Use < 0.8 {
				t.Errorf("bus %s: use %.2f, demand %.2f: it was not polled at full rate", bus, b.Use, b.Demand)
			}
		}
		for _, b := range h.building.Buses() {
			if b.SilenceViolations > 0 || b.Collisions > 0 || b.Garbled > 0 {
				t.Errorf("bus %s: %d requests broke t3.5, %d collisions, %d garbled", b.Name, b.SilenceViolations, b.Collisions, b.Garbled)
			}
		}
	})
}

// waitSite has the same devices on both lines; freshness is asked for that no line
// can give.
var waitSite = func() string {
	site := `
site: {name: Wait, freshness: {light: 10ms, movingShade: 10ms, idleShade: 10ms, power: 10ms}}
buses:
  - {name: east, driver: modbus, port: "@DIR@/east", line: {baudRate: 9600, parity: none, stopBits: 2}}
  - {name: west, driver: modbus, port: "@DIR@/west", line: {baudRate: 9600, parity: none, stopBits: 2}}
nodes:
`
	for i, bus := range []string{"east", "west"} {
		for unit, profile := range []string{"wirenboard-wb-mdm3", "wirenboard-wb-mdm3", "wirenboard-wb-mao4", "wirenboard-wb-led-cct", "waveshare-relay-8ch", "wirenboard-wb-mr6c"} {
			site += fmt.Sprintf("  - {id: %d, name: %s %d, bus: %s, address: %d, profile: %s}\n", 100*i+unit+1, bus, unit+1, bus, unit+1, profile)
		}
	}
	site += "shades:\n"
	for i := range 2 {
		for out := 1; out <= 3; out++ {
			site += fmt.Sprintf("  - {id: %d, name: Shade %d %d, node: %d, output: %d, travelUp: 30s, travelDown: 30s}\n", 5000+100*i+out, i, out, 100*i+6, out)
		}
	}
	return site
}()

// randomOrder is a call for something on line i that always has something to write.
func randomOrder(dice *rand.Rand, i int) (path, body string) {
	node := 100*i + 1 + dice.IntN(5)
	switch dice.IntN(6) {
	case 0:
		return "shadeControl", fmt.Sprintf(`{"targetType":3,"targetId":%d,"command":%q}`, 5000+100*i+1+dice.IntN(3), []string{"UP", "DOWN", "STOP"}[dice.IntN(3)])
	case 1:
		return "setColorTemp", fmt.Sprintf(`{"targetType":3,"targetId":%d,"colorTemp":%d}`, 100*i+4, 3000+dice.IntN(2001))
	case 2:
		return "channelControl", fmt.Sprintf(`{"targetType":3,"targetId":%d,"channelId":1,"command":"DIM","dimLevel":%d}`, node, dice.IntN(101))
	}
	return "channelControl", fmt.Sprintf(`{"targetType":3,"targetId":%d,"command":"DIM","dimLevel":%d}`, node, dice.IntN(101))
}

// quantile of sorted durations: the smallest that at least that part is not above.
func quantile(sorted []time.Duration, q float64) time.Duration {
	i := min(int(q*float64(len(sorted))), len(sorted)-1)
	return sorted[i].Round(10 * time.Microsecond)
}

// TestStopOvertakesQueuedMoves queues 50 moves of different shades on a 9600-baud
// line and then stops one that runs: at most the one frame in flight may come
// before the stop.
func TestStopOvertakesQueuedMoves(t *testing.T) {
	t.Parallel()
	rounds := 2
	if soak() {
		rounds = 20
	}
	site := `
site: {name: Stop}
buses: [{name: slow, driver: modbus, port: "@DIR@/slow", line: {baudRate: 9600, parity: none, stopBits: 2}}]
nodes:
`
	for n := 1; n <= 17; n++ {
		site += fmt.Sprintf("  - {id: %d, name: Motors %d, bus: slow, address: %d, profile: wirenboard-wb-mr6c}\n", n, n, n)
	}
	site += "shades:\n"
	for s := range 51 {
		site += fmt.Sprintf("  - {id: %d, name: Shade %d, node: %d, output: %d, travelUp: 60s, travelDown: 60s}\n", 5001+s, s, s/3+1, s%3+1)
	}
	virtually(t, site, func(t *testing.T, h *house) {
		h.login(account.RoleAPIService)
		pace := paceOf(9600, 2)
		for round := range rounds {
			way := []string{"UP", "DOWN"}[round%2]
			if status, message := h.control("shadeControl", fmt.Sprintf(`{"targetType":3,"targetId":5001,"command":%q}`, way)); status != 1 {
				t.Fatal(message)
			}
			log := h.tail("slow")
			moves, since := h.writes(), time.Now()
			var wg sync.WaitGroup
			var expired, obeyed atomic.Int64
			for s := range 50 {
				wg.Go(func() {
					switch status, message := h.control("shadeControl", fmt.Sprintf(`{"targetType":3,"targetId":%d,"command":%q}`, 5002+s, way)); {
					case status == 1:
						obeyed.Add(1)
					case strings.Contains(message, "expired"), strings.Contains(message, "before the deadline"):
						expired.Add(1)
					default:
						t.Errorf("shade %d: %s", 5002+s, message)
					}
				})
			}
			h.await(10*time.Second, "the first moves to be carried out", func() bool { return h.writes() >= moves+4 })
			queued := 50 - h.moving(way, since)
			entry, status, message := h.order("shadeControl", `{"targetType":3,"targetId":5001,"command":"STOP"}`)
			if status != 1 {
				t.Fatal(message)
			}
			between, own := 0, sim.Frame{}
			for _, f := range log.more() {
				if slices.ContainsFunc(f.Changes, func(c sim.Change) bool { return c.ShadeID == 5001 && c.Motion == "stopped" }) {
					own = f
					break
				}
				if f.At.After(entry.AcceptedAt.Add(pace.silence)) { // its last bit came after that moment
					between++
				}
			}
			if own.Hex == "" {
				t.Fatal("no frame stopped the shade")
			}
			wait, b := own.At.Add(-pace.silence).Sub(entry.AcceptedAt), h.bus("slow")
			most := b.Bound + pace.airtime(own) + pace.silence
			t.Logf("STOP behind %d queued moves: on the wire %v after it was accepted, %d frame in flight before it; one exchange and its own frame are %v (typical), %v (bound)",
				queued, wait.Round(10*time.Microsecond), between, b.Typical+pace.airtime(own), most)
			if queued < 30 {
				t.Errorf("only %d moves were queued", queued)
			}
			if wait > most || between > 1 {
				t.Errorf("STOP was on the wire after %v and %d other frames, want at most %v and 1", wait, between, most)
			}
			if s := h.shade(5001); s.Moving {
				t.Errorf("shade after STOP: %+v", s)
			}
			wg.Wait()
			t.Logf("of the 50 moves %d were carried out, %d were too late and dropped", obeyed.Load(), expired.Load())
			if obeyed.Load()+expired.Load() != 50 || obeyed.Load() == 0 {
				t.Errorf("%d obeyed and %d too late, want 50 together", obeyed.Load(), expired.Load())
			}
		}
	})
}

// moving counts the shades but 5001 that were set in motion since.
func (h *house) moving(way string, since time.Time) (n int) {
	h.t.Helper()
	writes, err := h.building.Writes("slow", 0, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, w := range writes {
		for _, c := range w.Changes {
			if w.At.After(since) && c.ShadeID > 5001 && c.Motion == map[string]string{"UP": "opening", "DOWN": "closing"}[way] {
				n++
			}
		}
	}
	return n
}
