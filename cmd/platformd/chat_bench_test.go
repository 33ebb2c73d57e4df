package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
)

// callers ask together, each on a connection of its own.
const callers = 16

// BenchmarkChat has sixteen callers ask the chat about a building of 172 lights and 40 shades that reports meanwhile, each in a
// conversation of its own, over TLS. Beside it stands, in turn in the same run, a bare echo handler that answers the same.
func BenchmarkChat(b *testing.B) {
	e := newEstate(b, nil)
	e.hall()
	versus(b, e, chatPath, func(lane int) []byte {
		return fmt.Appendf(nil, `{"message":"which lights are on in room %d?","sessionId":"lane-%d","context":{"siteId":"hall"}}`, lane, lane)
	})
}

// BenchmarkProtocol does the same with a call of a tool as clients of MCP send it: JSON-RPC over TLS, by the official SDK. The
// benchmarks "alone" are that SDK with a tool that does nothing and answers likewise: what it costs whoever takes it.
func BenchmarkProtocol(b *testing.B) {
	e := newEstate(b, nil)
	e.hall()
	for _, c := range []struct{ name, method, params string }{
		{"list", "tools/list", `{}`},
		{"lights", "tools/call", `{"name":"lights","arguments":{"site":"hall","place":"Room 3"}}`},
		{"places", "tools/call", `{"name":"places","arguments":{"site":"hall","sort":"brightest","limit":5}}`},
	} {
		body := func(int) []byte {
			return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, c.method, c.params)
		}
		var answer []byte
		b.Run(c.name, func(b *testing.B) { answer = versus(b, e, mcpPath, body) })
		if c.method != "tools/call" || answer == nil {
			continue
		}
		b.Run(c.name+" alone", func(b *testing.B) {
			srv := httptest.NewTLSServer(sdkAlone(b, c.name, answer))
			b.Cleanup(srv.Close)
			alone := &estate{house: &house{t: b, url: srv.URL, client: srv.Client()}}
			alone.client.Transport.(*http.Transport).MaxIdleConnsPerHost = callers
			versus(b, alone, mcpPath, body)
		})
	}
}

// sdkAlone is the SDK with one tool, which answers what stands in an answer of ours.
func sdkAlone(b *testing.B, name string, answer []byte) http.Handler {
	if _, data, found := bytes.Cut(answer, []byte("data: ")); found { // a stream of one event
		answer = data
	}
	var got struct {
		Result struct {
			Content           []struct{ Text string } `json:"content"`
			StructuredContent json.RawMessage         `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.Unmarshal(bytes.TrimSpace(answer), &got); err != nil || len(got.Result.Content) != 1 {
		b.Fatalf("%s answers %s: %v", name, answer, err)
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "alone", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: got.Result.Content[0].Text}}, StructuredContent: got.Result.StructuredContent}, nil
	})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})
}

// versus measures a path against a bare handler that sends what it answers, which it returns.
func versus(b *testing.B, e *estate, path string, body func(lane int) []byte) []byte {
	const each = 50
	var keys []string
	for i := range callers / 4 { // four of each key: a key has eight at once
		if e.core == nil { // nobody looks at keys there
			keys = append(keys, "")
			continue
		}
		_, value := e.newPerson(fmt.Sprintf("%s-%d", strings.NewReplacer("/", "-").Replace(b.Name()), i), platform.RoleUser).newKey(`{"name":"bench","rateLimit":100000}`)
		keys = append(keys, value)
	}
	ask := func(client *http.Client, url string, lane int) []byte {
		r, err := http.NewRequest("POST", url+path, bytes.NewReader(body(lane)))
		if err != nil {
			b.Error(err)
			return nil
		}
		r.Header.Set("X-API-Key", keys[lane%len(keys)])
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		a, err := client.Do(r)
		if err != nil {
			b.Error(err)
			return nil
		}
		defer a.Body.Close()
		text, err := io.ReadAll(a.Body)
		if err != nil || a.StatusCode != http.StatusOK {
			b.Errorf("status %d %v %s", a.StatusCode, err, text)
		}
		return text
	}
	press := func(client *http.Client, url string) (time.Duration, []time.Duration) {
		took := make([][]time.Duration, callers)
		var wg sync.WaitGroup
		start := time.Now()
		for lane := range callers {
			wg.Go(func() {
				for range each {
					began := time.Now()
					ask(client, url, lane)
					took[lane] = append(took[lane], time.Since(began))
				}
			})
		}
		wg.Wait()
		return time.Since(start), slices.Concat(took...)
	}
	answer := ask(e.client, e.url, 1)
	if !strings.Contains(string(answer), "Room") && !strings.Contains(string(answer), "tools") {
		b.Fatalf("it answers %s", answer)
	}
	bare := echo.New()
	bare.POST(path, func(c echo.Context) error { return c.JSONBlob(http.StatusOK, answer) })
	floor := httptest.NewTLSServer(bare)
	b.Cleanup(floor.Close)
	plain := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, MaxIdleConnsPerHost: callers}}
	b.Cleanup(plain.CloseIdleConnections)
	var ratios []float64
	var all, floorAll []time.Duration
	var sum, floorSum, work, floorWork time.Duration
	for b.Loop() {
		before := worked(b)
		floorTook, times := press(plain, floor.URL)
		floorSum, floorAll = floorSum+floorTook, append(floorAll, times...)
		between := worked(b)
		took, times := press(e.client, e.url)
		sum, all = sum+took, append(all, times...)
		floorWork, work = floorWork+between-before, work+worked(b)-between
		ratios = append(ratios, float64(floorTook)/float64(took))
	}
	slices.Sort(all)
	slices.Sort(floorAll)
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2]*100, "%of-bare-echo")
	b.ReportMetric(float64(len(all))/sum.Seconds(), "requests/s")
	b.ReportMetric(float64(len(floorAll))/floorSum.Seconds(), "bare-requests/s")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(floorAll[len(floorAll)*99/100].Microseconds())/1000, "bare-p99-ms")
	// What callers and handlers work for one request together, however busy the machine is with other things.
	b.ReportMetric(float64(work.Microseconds())/float64(len(all)), "cpu-µs")
	b.ReportMetric(float64(floorWork.Microseconds())/float64(len(floorAll)), "bare-cpu-µs")
	b.ReportMetric(0, "ns/op")
	return answer
}

// worked is the processor time of this program so far.
func worked(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// hall puts a site into the database: 21 rooms with 172 lights and 40 shades.
func (e *estate) hall() {
	e.t.Helper()
	ctx, now := e.t.Context(), time.Now()
	must := func(err error) {
		e.t.Helper()
		if err != nil {
			e.t.Fatal(err)
		}
	}
	e.enrolled("hall", "Hall")
	b := platform.Batch{Alive: map[string]time.Time{"hall": now}}
	report := func(s wire.State) {
		state, err := json.Marshal(s)
		must(err)
		b.Reports = append(b.Reports, platform.Report{Controller: "hall", Kind: string(s.Kind), ID: s.ID, State: state, At: now, ReportedAt: now})
	}
	const rooms, lights, shades = 21, 172, 40
	yes, site := true, wire.Site{TimeZone: "Europe/Zurich"}
	for i := range int64(rooms) {
		report(wire.State{Kind: wire.KindCluster, ID: i + 1, Name: fmt.Sprintf("Room %d", i+1)})
		site.ClusterIDs = append(site.ClusterIDs, i+1)
	}
	for i := range int64(lights) {
		level := float64(i % 4 * 25)
		report(wire.State{Kind: wire.KindNode, ID: i + 1, Name: fmt.Sprintf("Light %d", i+1), Tag: "NODE", Online: &yes, LastSeen: &now, Clusters: []int64{i%rooms + 1},
			Abilities: []string{"switch", "dim"}, Level: &wire.Value{Value: level, At: now, Source: wire.Measured}})
		site.NodeIDs = append(site.NodeIDs, i+1)
	}
	for i := range int64(shades) {
		report(wire.State{Kind: wire.KindShade, ID: 5001 + i, Name: fmt.Sprintf("Shade %d", i+1), Online: &yes, LastSeen: &now, Clusters: []int64{i%rooms + 1},
			Abilities: []string{"move", "position"}, Position: &wire.Value{Value: 50, At: now, Source: wire.Measured}})
		site.ShadeIDs = append(site.ShadeIDs, 5001+i)
	}
	report(wire.State{Kind: wire.KindSite, Name: "Hall", Site: &site})
	_, err := e.db.SetSession(ctx, platform.Session{Controller: "hall", Online: true, Boot: 1, At: now})
	must(err)
	must(e.db.SaveBatch(ctx, b))
}
