package main

import (
	"context"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/login"
	"svc.internal/controller/platform/ratelimit"
	"svc.internal/controller/platform/sitetest"
	"svc.internal/controller/platform/store"
	"svc.internal/controller/shelf/web"
)

// BenchmarkToolsList compares what tools/list of MCP costs, key check and count included,
// with a bare echo handler that sends the same: over real connections, in turn, in one
// run. It prints the median ratio of requests per second, and the 99th percentile.
func BenchmarkToolsList(b *testing.B) {
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	db, err := store.Open(b.Context(), b.TempDir(), "", log)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	user, err := db.AddUser(b.Context(), "ada", platform.RoleUser, "none")
	if err != nil {
		b.Fatal(err)
	}
	value, prefix := platform.NewKeyValue()
	k := platform.Key{Owner: user.ID, Name: "k", Prefix: prefix, RateLimit: platform.MaxRateLimit}
	if _, err := db.AddKey(b.Context(), k, platform.HashKeyValue(value)); err != nil {
		b.Fatal(err)
	}
	d := &daemon{log: log, db: db, tokens: login.NewTokens(db, db, nil), limit: endless{ratelimit.NewLocal()}, crowd: web.NewServerCrowd(log, nil), sites: sitetest.New()}
	behind, g := d.hall()
	d.assist(behind, g)
	list := httptest.NewRecorder()
	r := httptest.NewRequest("POST", mcpPath, strings.NewReader(toolsList))
	r.Header.Set("X-API-Key", value)
	if behind.ServeHTTP(list, r); list.Code != http.StatusOK || !strings.Contains(list.Body.String(), "get_status") {
		b.Fatalf("tools/list: %d %s", list.Code, list.Body)
	}
	bare := echo.New()
	bare.POST(mcpPath, func(c echo.Context) error { return c.JSONBlob(http.StatusOK, list.Body.Bytes()) })

	var floor, through []time.Duration
	var throughTime time.Duration
	var ratios []float64 // of each turn: the machine has other things to do in some
	floorServer, throughServer := httptest.NewServer(bare), httptest.NewServer(behind)
	b.Cleanup(floorServer.Close)
	b.Cleanup(throughServer.Close)
	for b.Loop() {
		bareTook, each := press(b, floorServer.URL, value)
		floor = append(floor, each...)
		took, each := press(b, throughServer.URL, value)
		throughTime, through = throughTime+took, append(through, each...)
		ratios = append(ratios, float64(bareTook)/float64(took))
	}
	slices.Sort(floor)
	slices.Sort(through)
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2]*100, "%of-bare-echo")
	b.ReportMetric(float64(len(through))/throughTime.Seconds(), "requests/s")
	b.ReportMetric(float64(through[len(through)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(floor[len(floor)*99/100].Microseconds()), "bare-p99-µs")
	b.ReportMetric(0, "ns/op")
}

const toolsList = `{"method":"tools/list"}`

// endless counts like the counter in it, in buckets without an end.
type endless struct{ *ratelimit.Local }

// Take counts n requests.
func (e endless) Take(ctx context.Context, b platform.Bucket, n int) platform.Allowance {
	b.Limit = math.MaxInt32
	return e.Local.Take(ctx, b, n)
}

// press sends 2,000 requests over 16 connections and tells how long all took, and each.
func press(b *testing.B, url, value string) (time.Duration, []time.Duration) {
	b.Helper()
	const lanes, each = 16, 125
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: lanes}}
	defer client.CloseIdleConnections()
	took := make([][]time.Duration, lanes)
	var wg sync.WaitGroup
	start := time.Now()
	for lane := range lanes {
		wg.Go(func() {
			for range each {
				began := time.Now()
				r, err := http.NewRequest("POST", url+mcpPath, strings.NewReader(toolsList))
				if err != nil {
					b.Error(err)
					return
				}
				r.Header.Set("X-API-Key", value)
				a, err := client.Do(r)
				if err != nil {
					b.Error(err)
					return
				}
				if _, err := io.Copy(io.Discard, a.Body); err != nil || a.StatusCode != http.StatusOK {
					b.Errorf("status %d %v", a.StatusCode, err)
				}
				a.Body.Close()
				took[lane] = append(took[lane], time.Since(began))
			}
		})
	}
	wg.Wait()
	return time.Since(start), slices.Concat(took...)
}
