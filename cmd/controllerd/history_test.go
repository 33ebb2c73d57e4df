package main

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line/cable"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/web"
	"svc.internal/controller/store"
)

// history is what happens in a building from one seed: commands through every door, faults on every bus, hands at wall
// switches, clients that repeat themselves, restarts, daemons that are killed, a site that changes and clocks that jump.
type history struct {
	*house
	seed     int64
	dice     *rand.Rand // of the one goroutine that makes things happen
	things   []*thing
	clusters map[appliance.ID][]*thing
	client   *http.Client
	tokens   map[string]string
	broker   *memoryBroker
	boss     atomic.Pointer[daemon]
	skew     atomic.Int64 // of the daemon's wall clock, ns

	underway sync.WaitGroup
	calm     bool // few enough commands that who is well has no reason to fail
	number   int  // of the next order
	last     *thing
	sequence map[string]int64
	guests   []appliance.ID
	places   []int           // their addresses
	pushed   map[*thing]bool // at the wall, and not seen at an end since
	given    map[appliance.ID]bool
	since    map[string]uint64 // writes looked at, by bus

	mu       sync.Mutex
	orders   map[*thing][]*order
	ill      map[string]time.Time // until when a bus, or a device of it, is ill
	broken   map[string]breakage  // what last stopped motors, by device
	hangs    []*hang              // of this round
	again    time.Time            // the last restart
	kills    []time.Time          // of this round
	rested   map[*thing]int       // levels of fixtures at the end of the round before
	waiting  map[string]chan answer
	lines    []string          // what happened in this round
	plot     [sha256.Size]byte // of what was made to happen
	outcomes map[string]int
	wrongs   int
}

// histories are the seeds that are played, and how many commands each gets: COMMANDS, or 150.
func histories() (seeds []int64, commands int) {
	number := func(name string, otherwise int64) int64 {
		text := os.Getenv(name)
		if text == "" {
			return otherwise
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			panic(fmt.Sprintf("%s=%s: want a number from 1", name, text))
		}
		return n
	}
	many, commands := int64(10), int(number("COMMANDS", 150))
	if soak() {
		many, commands = 1000, 10_000
	}
	if seed := number("SEED", 0); seed > 0 {
		return []int64{seed}, commands
	}
	for seed := range many {
		seeds = append(seeds, seed+1)
	}
	return seeds, commands
}

// TestHistoryCampaign plays ten histories on virtual time. Whoever is told that something was done must find
// it done; nothing acts when nobody waits for it any more; a device that is well is not harmed by those that are not; a
// motor is at rest when its time is over; what is shown at the end is what is; and no ID is given twice.
//
// SEED=n plays one of them, COMMANDS=n so many commands of each (make test plays 10,000), SOAK=1 a thousand histories of 10,000.
func TestHistoryCampaign(t *testing.T) {
	seeds, commands := histories()
	for _, seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			play(t, seed, commands)
		})
	}
}

// play plays one history, and returns the sum of what was made to happen.
func play(t *testing.T, seed int64, commands int) (plot [sha256.Size]byte) {
	t.Helper()
	began := time.Now()
	synctest.Test(t, func(t *testing.T) {
		h := newHistory(t, seed)
		for h.number < commands && h.wrongs == 0 {
			h.round(commands)
		}
		h.stop()
		plot = h.plot
		t.Logf("seed %d: %d commands in %v of virtual time: %v", seed, h.number, h.age(), h.outcomes)
	})
	t.Logf("seed %d took %v", seed, time.Since(began).Round(time.Millisecond))
	return plot
}

// bubbleBegins is when virtual time does.
var bubbleBegins = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func (h *history) age() time.Duration { return time.Since(bubbleBegins).Round(time.Millisecond) }

func newHistory(t *testing.T, seed int64) *history {
	t.Helper()
	text, things := historySite()
	h := &history{
		house: &house{t: t, net: &cable.Net{}, tokenLife: 1000 * time.Hour}, seed: seed, dice: rand.New(rand.NewPCG(uint64(seed), 0)),
		things: things, tokens: map[string]string{}, clusters: map[appliance.ID][]*thing{}, sequence: map[string]int64{}, given: map[appliance.ID]bool{}, pushed: map[*thing]bool{}, since: map[string]uint64{},
		orders: map[*thing][]*order{}, ill: map[string]time.Time{}, broken: map[string]breakage{}, rested: map[*thing]int{}, waiting: map[string]chan answer{}, outcomes: map[string]int{},
	}
	h.options.Seed = seed
	mono := web.SystemClock().Mono
	h.clock = &web.Clock{Mono: mono, Wall: func() time.Time { return time.Now().Add(time.Duration(h.skew.Load())) }}
	h.build(text)
	for _, c := range h.house.site.Clusters {
		for _, x := range things {
			if !x.shade && slices.Contains(c.Nodes, x.id) || x.shade && slices.Contains(c.Shades, x.id) {
				h.clusters[c.ID] = append(h.clusters[c.ID], x)
			}
		}
	}
	h.openBroker()
	h.start()
	h.client = h.trusting(filepath.Join(h.dataDir, certificateFile))
	h.client.Transport.(*http.Transport).MaxIdleConnsPerHost = 256
	h.enterAll()
	err := h.daemon.db.SetCloud(t.Context(), store.Cloud{Platform: "https://platform", Controller: houseID, Broker: "tcp://" + historyBroker, Username: houseID, Password: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	h.awaitOnline()
	h.newWrites()
	return h
}

// start starts the daemon, or starts it again.
func (h *history) start() {
	h.serveAt(historyDoor)
	h.boss.Store(h.daemon)
}

// enterAll logs in where the token is not taken any more, as that of a future of a clock that was set back.
func (h *history) enterAll() {
	if h.read(h.tokens["svc"]) != http.StatusOK {
		delete(h.house.tokens, string(account.RoleAPIService))
		h.tokens["svc"] = h.login(account.RoleAPIService)
	}
	for _, as := range []struct{ door, name string }{{"v1", "operator"}, {"admin", "admin"}} {
		if status, _, _ := h.send(http.MethodGet, "/api/v1/site", h.tokens[as.door], ""); status != http.StatusOK {
			h.tokens[as.door] = h.enter(as.name)
		}
	}
}

// round is a time in which much happens, and one of rest in which everything has to come right.
func (h *history) round(most int) {
	gap := time.Duration(float64(5*time.Millisecond) * math.Pow(100, h.dice.Float64())) // 5 ms to 0.5 s
	h.calm = gap > 200*time.Millisecond
	last := min(h.number+300+h.dice.IntN(1200), most)
	for h.number < last {
		time.Sleep(time.Duration(h.dice.ExpFloat64() * float64(gap)))
		h.glance(h.things[h.dice.IntN(len(h.things))])
		h.happen()
	}
	for _, f := range h.building.Faults() {
		h.building.RemoveFault(f.ID)
	}
	h.recovered()
	h.underway.Wait()
	h.findBack()
	h.underway.Wait()
	time.Sleep(75 * time.Second)
	h.rest()
}

// happen lets the next thing happen.
func (h *history) happen() {
	switch n := h.dice.IntN(1000); {
	case n < 955:
		h.command()
	case n < 970:
		h.fault()
	case n < 980:
		h.press()
	case n < 985:
		h.twoWhoStop()
	case n < 992:
		h.changeSite()
	case n < 994:
		h.startAgain("restart", h.stop)
	case n < 995:
		h.mu.Lock()
		h.kills = append(h.kills, time.Now())
		h.mu.Unlock()
		h.startAgain("kill", h.killDaemon)
	case n < 997:
		h.cue("the broker is lost")
		h.broker.cut()
	default:
		d := time.Duration(h.dice.NormFloat64() * float64(time.Hour))
		h.cue("the clock is off by %v", d)
		h.skew.Store(int64(d))
	}
}

// startAgain ends the daemon in one way or another, and starts the next.
func (h *history) startAgain(how string, end func()) {
	h.cue("%s", how)
	h.mu.Lock()
	h.again = time.Now().Add(time.Hour)
	h.mu.Unlock()
	end()
	h.start()
	h.enterAll()
	h.mu.Lock()
	h.again = time.Now()
	for _, g := range slices.Clone(h.hangs) { // of which the next daemon knows nothing
		h.hangs = append(h.hangs, &hang{bus: g.bus, from: h.again, slow: g.slow})
	}
	h.mu.Unlock()
}

// cue notes what is made to happen, which is the same whenever a seed is played.
func (h *history) cue(form string, args ...any) {
	h.plot = sha256.Sum256(append(h.plot[:], fmt.Sprintf(form, args...)...))
	h.note(form, args...)
}

// note adds to what happened. What several do at one moment has no order, so that it may be another the next time, by milliseconds.
func (h *history) note(form string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, fmt.Sprintf("%015d ", time.Since(bubbleBegins))+fmt.Sprintf(form, args...))
}

// wrong is what must not happen.
func (h *history) wrong(form string, args ...any) {
	h.t.Helper()
	h.mu.Lock()
	h.wrongs++
	many := h.wrongs > 5
	h.mu.Unlock()
	if !many {
		h.t.Errorf("SEED=%d, at %v: %s", h.seed, h.age(), fmt.Sprintf(form, args...))
	}
}

// closeRecord ends a round's record, which HISTORY=file keeps.
func (h *history) closeRecord() {
	h.mu.Lock()
	defer h.mu.Unlock()
	slices.Sort(h.lines)
	if path := os.Getenv("HISTORY"); path != "" {
		if f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			f.WriteString(strings.Join(h.lines, "\n") + "\n")
			f.Close()
		}
	}
	h.lines = nil
}

// TestASeedIsOneHistory: played twice, the same is made to happen.
func TestASeedIsOneHistory(t *testing.T) {
	t.Parallel()
	if first, second := play(t, 1, 200), play(t, 1, 200); first != second {
		t.Errorf("the same seed made two histories happen, %x and %x", first[:4], second[:4])
	}
}
