package publicapi

import (
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/web"
)

// bigSite gives exactly rows rows: each node has three.
func bigSite(rows int) *appliance.Snapshot {
	b := newSite()
	for i := range rows / 3 {
		b.node(appliance.ID(i+1), fmt.Sprintf("Node %d", i+1), tunable|metered, func(n *appliance.NodeState) {
			n.Level, n.Kelvin, n.Power = known(appliance.Level(i%101), time.Second), known(appliance.Kelvin(3000+i), time.Second), known(float64(i)/3, time.Second)
		})
	}
	for i := range rows % 3 {
		b.shade(appliance.ID(5001+i), 1, "Shade", func(s *appliance.ShadeState) { s.Position = known(appliance.Position(i), time.Second) })
	}
	return b.snapshot()
}

// tlsServer serves h as the controller does. It returns its base address and its
// certificate.
func tlsServer(tb testing.TB, h http.Handler) (base string, certPEM []byte) {
	tb.Helper()
	certPEM, keyPEM, err := web.SelfSigned([]string{"localhost"}, []net.IP{net.IPv4(127, 0, 0, 1)})
	if err != nil {
		tb.Fatal(err)
	}
	cert, err := web.FixedCertificate(certPEM, keyPEM)
	if err != nil {
		tb.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		done <- web.Serve(tb.Context(), ln, h, cert.TLS(), web.NewCrowd(slog.New(slog.DiscardHandler)))
	}()
	tb.Cleanup(func() {
		if err := <-done; err != nil {
			tb.Error(err)
		}
	})
	return "https://" + ln.Addr().String(), certPEM
}

// client with keep-alive connections, HTTP/1.1 as dashboards and scripts speak.
func keepAlive(certPEM []byte, connections int) *http.Client {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certPEM)
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool}, MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections,
		DisableCompression: true, ForceAttemptHTTP2: false, ReadBufferSize: 32 << 10,
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
	}}
}

// requestsPerSecond polls url from that many connections for about d.
func requestsPerSecond(tb testing.TB, client *http.Client, url, token string, connections int, d time.Duration) float64 {
	var count atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for range connections {
		wg.Go(func() {
			buf := make([]byte, 64<<10)
			for time.Since(start) < d {
				r, err := http.NewRequest("GET", url, nil)
				if err != nil {
					tb.Error(err)
					return
				}
				r.Header.Set("Authorization", "Bearer "+token)
				res, err := client.Do(r)
				if err != nil {
					tb.Error(err)
					return
				}
				_, err = io.CopyBuffer(io.Discard, struct{ io.Reader }{res.Body}, buf)
				res.Body.Close()
				if err != nil || res.StatusCode != http.StatusOK {
					tb.Errorf("got status %d, error %v", res.StatusCode, err)
					return
				}
				count.Add(1)
			}
		})
	}
	wg.Wait()
	return float64(count.Load()) / time.Since(start).Seconds()
}

// BenchmarkLightLevels compares getLightLevels of 1,000 rows over HTTPS keep-alive and 32
// connections with a bare net/http TLS handler that writes the same bytes with the
// same headers. Rounds of both alternate, so that both see the same machine; the
// figure is the median of the rounds' ratios.
func BenchmarkLightLevels(b *testing.B) {
	const connections = 32
	h := newHouse(b, bigSite(1000))
	token := h.token(account.RoleViewer)
	sample := h.send("GET", "/svc/api/getLightLevels", "", "Authorization: Bearer "+token)
	body := []byte(sample.body)
	bare := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, values := range sample.header {
			w.Header()[name] = values
		}
		w.Write(body)
	})
	ours, oursCA := tlsServer(b, h.echo)
	floor, floorCA := tlsServer(b, bare)
	oursClient, floorClient := keepAlive(oursCA, connections), keepAlive(floorCA, connections)
	defer oursClient.CloseIdleConnections()
	defer floorClient.CloseIdleConnections()
	round := time.Second
	if os.Getenv("SOAK") != "" {
		round = 5 * time.Second
	}
	measureOurs := func() float64 {
		return requestsPerSecond(b, oursClient, ours+"/svc/api/getLightLevels", token, connections, round)
	}
	measureFloor := func() float64 {
		return requestsPerSecond(b, floorClient, floor+"/svc/api/getLightLevels", token, connections, round)
	}
	measureOurs() // connections and caches warm
	measureFloor()
	for b.Loop() {
		var ratios, rates, floors []float64
		for i := range 7 {
			var mine, least float64
			if i%2 == 0 { // neither is always first
				mine, least = measureOurs(), measureFloor()
			} else {
				least, mine = measureFloor(), measureOurs()
			}
			ratios, rates, floors = append(ratios, mine/least), append(rates, mine), append(floors, least)
			runtime.GC()
		}
		b.ReportMetric(median(ratios), "ratio")
		b.ReportMetric(median(rates), "req/s")
		b.ReportMetric(median(floors), "floor-req/s")
	}
	b.ReportMetric(0, "ns/op")
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// BenchmarkPoll is one poll without network: what this door adds to net/http.
func BenchmarkPoll(b *testing.B) {
	h := newHouse(b, bigSite(1000))
	r, err := http.NewRequest("GET", "/svc/api/getLightLevels", nil)
	if err != nil {
		b.Fatal(err)
	}
	r.RemoteAddr = "192.0.2.7:1234"
	r.Header.Set("Authorization", "Bearer "+h.token(account.RoleViewer))
	w := &nowhere{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		clear(w.header)
		h.echo.ServeHTTP(w, r)
		if w.status != http.StatusOK {
			b.Fatalf("got status %d", w.status)
		}
	}
}

// BenchmarkRender is what a change of one value costs the first who asks.
func BenchmarkRender(b *testing.B) {
	s := bigSite(1000)
	for name, v := range map[string]view{
		"getLightLevels": {list: lightLevelList, target: appliance.Target{Scope: appliance.All}},
		"getActiveNodes": {list: activeNodeList},
	} {
		b.Run(name, func(b *testing.B) {
			before := render(s, v, nil)
			b.SetBytes(int64(len(before.body)))
			b.ReportAllocs()
			for b.Loop() {
				render(s, v, nil)
			}
		})
	}
}

// BenchmarkAges is what a new snapshot with the same values costs.
func BenchmarkAges(b *testing.B) {
	s := bigSite(1000)
	v := view{list: lightLevelList, target: appliance.Target{Scope: appliance.All}}
	before := render(s, v, nil)
	b.ReportAllocs()
	for b.Loop() {
		render(s, v, before)
	}
}

type nowhere struct {
	header http.Header
	status int
}

func (w *nowhere) Header() http.Header         { return w.header }
func (w *nowhere) WriteHeader(status int)      { w.status = status }
func (w *nowhere) Write(b []byte) (int, error) { return len(b), nil }

// BenchmarkGzip is what compressing that body would cost, each time a value has
// changed. Answers are not compressed: see docs/public-api.md.
func BenchmarkGzip(b *testing.B) {
	v := view{list: lightLevelList, target: appliance.Target{Scope: appliance.All}}
	body := render(bigSite(1000), v, nil).body
	z, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		z.Reset(io.Discard)
		if _, err := z.Write(body); err != nil {
			b.Fatal(err)
		}
		if err := z.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
