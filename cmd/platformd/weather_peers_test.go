//go:build peers

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/drivers/drivertest"
)

// leg is a line of TCP between two programs, with weather on it.
type leg struct {
	net.Listener

	mu    sync.Mutex
	to    string
	held  time.Time     // nothing comes through before
	slow  time.Duration // each piece takes so long
	deaf  bool          // what is sent is swallowed
	shut  bool          // who connects is turned away
	lines map[net.Conn]bool
}

// newLeg makes a line to an address.
func newLeg(t *testing.T, to string) *leg {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &leg{Listener: ln, to: to, lines: map[net.Conn]bool{}}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			all.Go(func() { l.carry(c) })
		}
	})
	t.Cleanup(func() { ln.Close(); l.cut(); all.Wait() })
	return l
}

// carry is one connection.
func (l *leg) carry(c net.Conn) {
	defer c.Close()
	l.mu.Lock()
	shut, to := l.shut, l.to
	l.mu.Unlock()
	if shut {
		return
	}
	far, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer far.Close()
	l.mu.Lock()
	l.lines[c], l.lines[far] = true, true
	l.mu.Unlock()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{c, far}, {far, c}} {
		both.Go(func() {
			defer c.Close()
			defer far.Close()
			for b := make([]byte, 32<<10); ; {
				n, err := way[0].Read(b)
				if err != nil {
					return
				}
				for {
					l.mu.Lock()
					wait, deaf := time.Until(l.held), l.deaf
					l.mu.Unlock()
					if wait > 0 {
						time.Sleep(min(wait, 20*time.Millisecond))
						continue
					}
					if deaf {
						n = 0
					}
					break
				}
				l.mu.Lock()
				slow := l.slow
				l.mu.Unlock()
				time.Sleep(slow)
				if _, err := way[1].Write(b[:n]); err != nil {
					return
				}
			}
		})
	}
	both.Wait()
	l.mu.Lock()
	delete(l.lines, c)
	delete(l.lines, far)
	l.mu.Unlock()
}

// cut ends every connection that there is.
func (l *leg) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.lines {
		_ = c.(*net.TCPConn).SetLinger(0)
		c.Close()
	}
}

// close turns everybody away, or no longer.
func (l *leg) close(shut bool) {
	l.mu.Lock()
	l.shut = shut
	l.mu.Unlock()
	if shut {
		l.cut()
	}
}

// lead has who connects from now on reach another address.
func (l *leg) lead(to string) {
	l.mu.Lock()
	l.to = to
	l.mu.Unlock()
	l.cut()
}

// storm brings weather to the line for a while.
func (l *leg) storm(kind string, lasts, slow time.Duration) {
	set := func(change func()) { l.mu.Lock(); change(); l.mu.Unlock() }
	switch kind {
	case "stalled":
		set(func() { l.held = time.Now().Add(lasts) })
		time.Sleep(lasts)
	case "slow":
		set(func() { l.slow = slow })
		time.Sleep(lasts)
		set(func() { l.slow = 0 })
	case "dropped":
		l.close(true)
		time.Sleep(lasts)
		l.close(false)
	case "swallowed":
		set(func() { l.deaf = true })
		time.Sleep(lasts)
		set(func() { l.deaf = false })
		l.cut()
	}
}

// finger is one tap in the campaign.
type finger struct {
	room, level int
	at          time.Time
	status      string // applied, expired, …; sent; or late, where the panel itself gave it up
	message     string
}

// weatherSite has a dimmer in each of so many rooms.
func weatherSite(rooms int) string {
	var b strings.Builder
	b.WriteString("site: {name: Rooms}\nbuses:\n  - {name: tcp, driver: modbus, port: \"tcp://127.0.0.1:0\"}\nnodes:\n")
	for r := 1; r <= rooms; r++ {
		fmt.Fprintf(&b, "  - {id: %d, name: Lamp %d, bus: tcp, address: %d, profile: wirenboard-wb-mdm3, outputs: [1]}\n", r, r, r)
	}
	b.WriteString("clusters:\n")
	for r := 1; r <= rooms; r++ {
		fmt.Fprintf(&b, "  - {id: %d, name: Room %d, nodes: [%d]}\n", r, r, r)
	}
	return b.String()
}

// Whatever the network does between panel and platform, platform and broker, broker and controller, whichever of the two programs ends
// and begins anew, and at whatever moment of a tap: nothing is done later than [wire.TapLife] after the finger, and who tapped is told
// nothing that is not so.
func TestCampaignTapsInAllWeathers(t *testing.T) {
	t.Run("inside", func(t *testing.T) {
		t.Parallel()
		w := &weather{}
		e := newEstateOf(t, plan{site: weatherSite(w.size()), detour: func(broker string) string {
			if w.outer == nil {
				w.outer = newLeg(t, strings.TrimPrefix(broker, "mqtts://"))
			}
			return "mqtts://" + w.outer.Addr().String()
		}})
		w.brew(t, e)
	})
	w := &weather{}
	p := plan{site: weatherSite(w.size()), detour: func(string) string { return "mqtts://" + w.outer.Addr().String() }}
	eachPeerBroker(t, p, func(broker string) string {
		w.inner, w.outer = newLeg(t, broker), newLeg(t, broker)
		return w.inner.Addr().String()
	}, func(t *testing.T, e *estate, _ outage) { w.brew(t, e) })
}

// weather is what befalls the lines between panel and platform, platform and broker, broker and controller, and the programs.
type weather struct {
	at, inner, outer *leg // inner is nil where the broker is in the platform
	seen             map[string]int
}

// size is how many rooms are tapped in.
func (w *weather) size() int {
	if os.Getenv("SOAK") != "" {
		return 40
	}
	return 10
}

// legs are the lines by name, in order.
func (w *weather) legs() (names []string, legs map[string]*leg) {
	legs = map[string]*leg{"panel to platform": w.at, "platform to broker": w.inner, "broker to controller": w.outer}
	maps.DeleteFunc(legs, func(_ string, l *leg) bool { return l == nil })
	return slices.Sorted(maps.Keys(legs)), legs
}

// restart ends the platform or the controller and begins it anew, after it was gone for a while. Suddenly, it tells nobody.
func (w *weather) restart(e *estate, program string, sudden bool, gone time.Duration) error {
	lines := map[string][]*leg{"platform": {w.at, w.inner, w.outer}, "controller": {w.outer}}[program]
	if w.inner != nil && program == "platform" {
		lines = lines[:2] // its broker stays
	}
	for _, l := range lines {
		if l != nil && sudden {
			l.close(true)
		}
	}
	defer func() {
		for _, l := range lines {
			if l != nil {
				l.close(false)
			}
		}
	}()
	if program == "controller" {
		if sudden {
			e.dark()
		}
		e.leave()
		e.dark()
		time.Sleep(gone)
		e.power()
		e.leave = e.connect(e.joined, e.core, time.Now())
		return nil
	}
	e.halt()
	time.Sleep(gone)
	if err := e.begin(); err != nil {
		return err
	}
	w.at.lead(e.daemon.https.Addr().String())
	if w.inner == nil {
		w.outer.lead(e.daemon.cloud.listen.Addr().String())
	}
	return nil
}

// brew has people tap in all rooms while it storms.
func (w *weather) brew(t *testing.T, e *estate) {
	rooms, each := w.size(), 4
	if os.Getenv("SOAK") != "" {
		each = 25
	}
	number := int(numberOf("SEED", 1))
	dice := rand.New(rand.NewPCG(uint64(number), 0))
	url := e.url
	late := drivertest.Watch(t)
	w.at, w.seen = newLeg(t, strings.TrimPrefix(url, "https://")), map[string]int{}
	codes := make([]string, rooms+1)
	for r := 1; r <= rooms; r++ {
		codes[r] = e.room(fmt.Sprint("room", r), fmt.Sprint("Room ", r), fmt.Sprintf("[%d]", r))
	}
	since := e.lastWrite()
	client := *e.client
	transport := client.Transport.(*http.Transport).Clone()
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, w.at.Addr().String())
	}
	client.Transport = transport
	t.Cleanup(client.CloseIdleConnections)
	over := make(chan struct{})
	var storm sync.WaitGroup
	kinds := []string{"stalled", "stalled", "slow", "dropped", "swallowed"}
	storm.Go(func() {
		names, legs := w.legs()
		for {
			lasts := time.Duration(300+dice.IntN(4500)) * time.Millisecond
			calm := time.Duration(dice.IntN(2500)) * time.Millisecond
			select {
			case <-over:
				return
			case <-time.After(calm):
			}
			if dice.IntN(3) == 0 {
				program, sudden := []string{"platform", "controller"}[dice.IntN(2)], dice.IntN(2) == 0
				w.seen[fmt.Sprintf("%s restarted, suddenly: %v", program, sudden)]++
				if err := w.restart(e, program, sudden, lasts/3); err != nil {
					t.Errorf("the %s did not begin again: %v", program, err)
					return
				}
				continue
			}
			name, kind := names[dice.IntN(len(names))], kinds[dice.IntN(len(kinds))]
			w.seen[name+" "+kind]++
			legs[name].storm(kind, lasts, time.Duration(20+dice.IntN(700))*time.Millisecond)
		}
	})
	fingers := make([][]*finger, rooms+1)
	var people sync.WaitGroup
	for r := 1; r <= rooms; r++ {
		own := rand.New(rand.NewPCG(uint64(number), uint64(r)))
		people.Go(func() {
			time.Sleep(time.Duration(own.IntN(5000)) * time.Millisecond)
			for n := range each {
				f := &finger{room: r, level: 5 + (n*7+r)%90, at: time.Now()}
				fingers[r] = append(fingers[r], f)
				twice := 1
				if own.IntN(4) == 0 {
					twice = 2 // a proxy that asks again
				}
				f.tap(t, &client, url, codes[r], n, twice)
				time.Sleep(time.Until(f.at.Add(wire.TapLife + 2*time.Second)))
			}
		})
	}
	people.Wait()
	close(over)
	storm.Wait()
	time.Sleep(wire.TapLife)
	e.judge(t, fingers, since, grace+late.Steps(5))
	t.Logf("weather: %v", w.seen)
	// When it is over every panel shows what is.
	for r := 1; r <= rooms; r++ {
		eventually(t, fmt.Sprint("the panel of room ", r, " shows what is"), func() bool {
			n, err := strconv.Atoi(e.panel(fmt.Sprint("room", r), codes[r]).str("widgets.light_brightness"))
			return err == nil && wire.PercentOf(n) == e.level(appliance.ID(r))
		})
	}
}

// tap sends it as the page does, which gives it up after [wire.TapLife].
func (f *finger) tap(t *testing.T, client *http.Client, url, code string, seq, times int) {
	body := fmt.Sprintf(`{"widgetId":"light_brightness","type":"released","value":"%d","source":"s","seq":%d,"at":%q}`, wire.SliderOf(f.level), seq+1, f.at.UTC().Format(time.RFC3339Nano))
	ctx, cancel := context.WithDeadline(t.Context(), f.at.Add(wire.TapLife))
	defer cancel()
	answers := make(chan finger, times)
	for range times {
		go func() {
			got := finger{status: "late"}
			defer func() { answers <- got }()
			r, err := http.NewRequestWithContext(ctx, "POST", fmt.Sprintf("%s/api/conferencing/panels/room%d/widget", url, f.room), strings.NewReader(body))
			if err != nil {
				return
			}
			r.Header.Set("Authorization", "Bearer "+code)
			r.Header.Set("Content-Type", "application/json")
			res, err := client.Do(r)
			if err != nil {
				got.message = err.Error()
				return
			}
			defer res.Body.Close()
			text, err := io.ReadAll(res.Body)
			var said struct {
				Success         bool
				Message, Status string
			}
			if err != nil || res.StatusCode != 200 || json.Unmarshal(text, &said) != nil {
				got.message = fmt.Sprint(res.StatusCode, " ", string(text))
				return
			}
			got.status, got.message = cmp.Or(said.Status, map[bool]string{true: "sent", false: "not sent"}[said.Success]), said.Message
		}()
	}
	for range times {
		if got := <-answers; f.status == "" || f.status == "late" {
			f.status, f.message = got.status, got.message
		}
	}
}

// judge compares what was told with what the dimmers did.
func (e *estate) judge(t *testing.T, fingers [][]*finger, since uint64, grace time.Duration) {
	all, err := e.building.Writes("tcp", since, 0)
	if err != nil {
		t.Fatal(err)
	}
	done := map[*finger]time.Duration{} // the last write of each
	for _, w := range all {
		pdu := strings.ReplaceAll(w.PDU, " ", "")
		level, err := strconv.ParseInt(pdu[max(0, len(pdu)-4):], 16, 32)
		if err != nil || int(w.Unit) >= len(fingers) {
			t.Errorf("a strange write: %+v", w)
			continue
		}
		var of *finger
		for _, f := range fingers[w.Unit] {
			if f.level == int(level) && !f.at.After(w.At) {
				of = f
			}
		}
		if of == nil {
			if level > 1 {
				t.Errorf("nobody asked for this: %+v", w)
			}
			continue
		}
		done[of] = w.At.Sub(of.at)
	}
	taps, told, latest := 0, map[string]int{}, time.Duration(0)
	for _, list := range fingers {
		for _, f := range list {
			taps++
			told[f.status]++
			after, was := done[f]
			latest = max(latest, after)
			switch {
			case was && after > wire.TapLife+grace:
				t.Errorf("%+v was done %v after the finger", *f, after)
			case f.status == "applied" && !was:
				t.Errorf("%+v was told as done, and nothing was written", *f)
			case was && (f.status == "expired" || f.status == "not sent" || f.status == "rejected"):
				t.Errorf("%+v was told as not done, and was done after %v", *f, after)
			}
		}
	}
	t.Logf("%d taps: %v; %d were done, the last %v after its finger", taps, told, len(done), latest.Round(time.Millisecond))
}

// grace is what may pass from the last look at a tap's time to the write, on a machine that is not late itself.
const grace = 500 * time.Millisecond

func numberOf(name string, otherwise int64) int64 {
	if n, err := strconv.ParseInt(os.Getenv(name), 10, 64); err == nil {
		return n
	}
	return otherwise
}
