package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/drivers/drivertest"
)

// holding is a network that keeps the first bytes of a connection back for a while, both ways.
type holding struct {
	net.Conn
	out, back time.Duration
	sent, got sync.Once
}

func (h *holding) Write(b []byte) (int, error) {
	h.sent.Do(func() { time.Sleep(h.out) })
	return h.Conn.Write(b)
}

func (h *holding) Read(b []byte) (int, error) {
	n, err := h.Conn.Read(b)
	h.got.Do(func() { time.Sleep(h.back) })
	return n, err
}

// A hundred taps of two rooms through a network that holds them up before they are sent, or their answers, and tells some of them
// twice: what was held up for longer than a tap counts is never done, and told as too late; what is told as done was.
func TestTapsThroughABadNetwork(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	e := newEstate(t, nil)
	rooms := []struct {
		id, code string
		light    appliance.ID
	}{{"lobby", e.room("lobby", "Lobby", "[1]"), 1}, {"canteen", e.room("canteen", "Canteen", "[2]"), 3}}
	since := e.lastWrite()
	type held struct {
		light     appliance.ID
		percent   int
		out, back time.Duration
		told      []string // statuses
	}
	var all []*held
	var wg sync.WaitGroup
	dice := rand.New(rand.NewPCG(1, 2))
	times := []time.Duration{0, 0, time.Second, wire.TapLife, wire.TapLife + 2*time.Second}
	for i := range 100 {
		room := rooms[i%2]
		h := &held{light: room.light, percent: 1 + i/2, out: times[dice.IntN(len(times))], back: times[dice.IntN(3)], told: make([]string, 1+dice.IntN(2))}
		all = append(all, h)
		body := fmt.Sprintf(`{"widgetId":"light_brightness","type":"released","value":"%d","source":"s","seq":%d,"at":%q}`,
			wire.SliderOf(h.percent), i+1, time.Now().UTC().Format(time.RFC3339Nano))
		for n := range h.told {
			wg.Go(func() {
				client := &http.Client{Transport: &http.Transport{
					DisableKeepAlives: true, TLSClientConfig: e.client.Transport.(*http.Transport).TLSClientConfig,
					DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
						c, err := new(net.Dialer).DialContext(ctx, network, address)
						return &holding{Conn: c, out: h.out, back: h.back}, err
					},
				}}
				r, err := http.NewRequest("POST", e.url+"/api/conferencing/panels/"+room.id+"/widget", strings.NewReader(body))
				if err != nil {
					t.Error(err)
					return
				}
				r.Header.Set("Authorization", "Bearer "+room.code)
				res, err := client.Do(r)
				if err != nil {
					t.Error(err)
					return
				}
				defer res.Body.Close()
				text, err := io.ReadAll(res.Body)
				if err != nil || res.StatusCode != http.StatusOK {
					t.Errorf("%d %s %v", res.StatusCode, text, err)
				}
				h.told[n] = answer{res, string(text)}.str("status")
			})
		}
		time.Sleep(time.Duration(dice.IntN(20)) * time.Millisecond) // as fingers come, one after the other
	}
	wg.Wait()
	done := map[appliance.ID][]int{}
	for _, room := range rooms {
		done[room.light] = e.levels(room.light, since)
	}
	words := map[string]int{}
	for _, h := range all {
		for _, status := range h.told {
			words[status]++
			switch {
			case h.out >= wire.TapLife && status != string(wire.Expired):
				t.Errorf("%d %% was held up for %v, and told %q", h.percent, h.out, status)
			case status == string(wire.Applied) && !slices.Contains(done[h.light], h.percent):
				t.Errorf("%d %% was told as done, and light %d had %v", h.percent, h.light, done[h.light])
			}
		}
		if h.out >= wire.TapLife && slices.Contains(done[h.light], h.percent) {
			t.Errorf("%d %% was held up for %v, and done", h.percent, h.out)
		}
	}
	if t.Logf("100 taps were told %v; lights were set %d times", words, len(done[1])+len(done[3])); words[string(wire.Applied)] == 0 || words[string(wire.Expired)] < 20 {
		t.Errorf("of 100 taps were told %v", words)
	}
}
