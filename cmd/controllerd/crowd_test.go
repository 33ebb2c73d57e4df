package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/account"
)

const (
	livePages  = 10
	dashboards = 4
)

// TestCampaignPagesAndDashboardsLeaveCommandsAlone commands lights on a serial line, with nobody there and with ten live
// pages and four dashboards, in turn. A command takes as long as the line takes: whoever looks on adds less than a tenth
// to the median. What they cost in memory is given back.
func TestCampaignPagesAndDashboardsLeaveCommandsAlone(t *testing.T) {
	drivertest.Long(t)
	h := newHouse(t, patient(crowdedSite()))
	token := h.apiToken(account.RoleViewer)
	h.login(account.RoleAPIService)
	h.commandTimes(6) // connections are open, caches warm
	before := heap()
	turns, most, bound := 2, 8, 2.0 // a busy machine has more to do than to look on
	if soak() {
		turns, most, bound = 20, 40, 1.1
	}
	var idle, crowded []time.Duration
	var events, polls atomic.Int64
	ratio := 0.0
	for turn := range most {
		idle = append(idle, h.commandTimes(12)...)
		leave := h.crowd(token, &events, &polls)
		crowded = append(crowded, h.commandTimes(12)...)
		leave()
		ratio = float64(median(crowded)) / float64(median(idle))
		if turn+1 >= turns && ratio <= 1.1 { // other programs on the machine even out in more turns
			break
		}
	}
	t.Logf("%d commands each: %v with nobody there, %v with %d pages (%d bytes of events) and %d dashboards (%d polls): ratio %.3f",
		len(idle), ms(median(idle)), ms(median(crowded)), livePages, events.Load(), dashboards, polls.Load(), ratio)
	if ratio > bound {
		t.Errorf("commands take %.2f times as long while people look on, want %.1f at most", ratio, bound)
	}
	if events.Load() == 0 || polls.Load() == 0 {
		t.Error("nobody was looking")
	}
	h.await(time.Minute, "memory given back", func() bool { return heap() < before+16<<20 })
}

// crowdedSite has twelve dimmers on a line of 9600 baud.
func crowdedSite() string {
	var b strings.Builder
	b.WriteString("site: {name: Crowded}\nbuses: [{name: line, driver: modbus, port: \"@DIR@/line\", line: {baudRate: 9600, parity: none, stopBits: 2}}]\nnodes:\n")
	for i := range 12 {
		fmt.Fprintf(&b, "  - {id: %d, name: Lamp %d, bus: line, address: %d, profile: wirenboard-wb-mdm3, outputs: [%d]}\n", i+1, i+1, i/3+1, i%3+1)
	}
	return b.String()
}

// commandTimes dims lamps one after the other and returns how long each command took.
func (h *house) commandTimes(n int) []time.Duration {
	h.t.Helper()
	var out []time.Duration
	for i := range n {
		body := fmt.Sprintf(`{"targetType":3,"targetId":%d,"command":"DIM","dimLevel":%d}`, i%12+1, 20+i%2*40+len(h.tokens))
		began := time.Now()
		if status, message := h.control("channelControl", body); status != 1 {
			h.t.Fatalf("%s: %s", body, message)
		}
		out = append(out, time.Since(began))
	}
	return out
}

// crowd lets people look on until leave is called. It returns when every page has its picture.
func (h *house) crowd(token string, events, polls *atomic.Int64) (leave func()) {
	h.t.Helper()
	ctx, stop := context.WithCancel(h.t.Context())
	client := &http.Client{Transport: h.client.Transport} // streams last
	var wg sync.WaitGroup
	pictures := make(chan error, livePages)
	for range livePages {
		wg.Go(func() {
			body, err := h.open(ctx, client, "/api/v1/events", token)
			if err != nil {
				pictures <- err
				return
			}
			defer body.Close()
			buffer, first := make([]byte, 32<<10), true
			for {
				n, err := body.Read(buffer)
				events.Add(int64(n))
				if first {
					pictures <- err
					first = false
				}
				if err != nil {
					return
				}
			}
		})
	}
	public := h.login(account.RoleAPIService)
	for i := range dashboards {
		wg.Go(func() {
			tick := time.NewTicker(250 * time.Millisecond)
			defer tick.Stop()
			for ctx.Err() == nil {
				path := []string{"/svc/api/getLightLevels?targetType=1", "/svc/api/getClusters"}[i%2]
				if body, err := h.open(ctx, client, path, public); err == nil {
					_, _ = io.Copy(io.Discard, body)
					body.Close()
					polls.Add(1)
				}
				select {
				case <-tick.C:
				case <-ctx.Done():
				}
			}
		})
	}
	for range livePages {
		if err := <-pictures; err != nil {
			h.t.Fatalf("open a page: %v", err)
		}
	}
	return func() { stop(); wg.Wait() }
}

func (h *house) open(ctx context.Context, client *http.Client, path, token string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.url+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		res.Body.Close()
		return nil, fmt.Errorf("GET %s: %s", path, res.Status)
	}
	return res.Body, nil
}

// apiToken logs in at /api/v1.
func (h *house) apiToken(user account.Role) string {
	h.t.Helper()
	var answer struct {
		Token string `json:"access_token"`
	}
	status, body, _ := h.send(http.MethodPost, "/api/v1/auth/login", "", `{"username":"`+string(user)+`","password":"`+housePassword+`"}`)
	if err := json.Unmarshal(body, &answer); err != nil || status != http.StatusOK {
		h.t.Fatalf("log in at /api/v1: %d %s", status, body)
	}
	return answer.Token
}

func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}

// heap is the memory in use after everything that can be given back was.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
