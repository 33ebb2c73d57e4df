//go:build image && built

package buildroot

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestWrongClock starts an appliance that thinks it is 1970, and one that thinks it is 2099.
func TestWrongClock(t *testing.T) {
	t.Parallel()
	b, c := installed(t, virt)
	for _, year := range []string{"1970", "2099"} {
		b.cut(t)
		b.extra = []string{"-rtc", "base=" + year + "-06-01T12:00:00"}
		b.power(t)
		c.serves(t) // with the same certificate
		c.login(t)
		walk(t, &machine{port: b.port}, c.pem, c.password)
		var nodes []struct{ ID int }
		c.call(t, "GET", "/api/v1/nodes", nil, &nodes) // with a token from before the walk
		if len(nodes) != 4 {
			t.Errorf("in %s there are %d nodes", year, len(nodes))
		}
	}
}

// TestIdleHour measures what a building that does nothing but answer polls writes to its card. IDLE in the environment is how long,
// such as 1h; the figure is scaled to a day.
func TestIdleHour(t *testing.T) {
	t.Parallel()
	idle := 5 * time.Minute
	if s := os.Getenv("IDLE"); s != "" {
		d, err := time.ParseDuration(s)
		if err != nil {
			t.Fatal(err)
		}
		idle = d
	}
	b, c := installed(t, virt)
	walk(t, &machine{port: b.port}, c.pem, c.password)
	time.Sleep(2 * time.Minute) // what the walk changed is on the card by then
	before, flushes := b.written(t)
	time.Sleep(idle)
	after, flushesAfter := b.written(t)
	day := float64(after-before) * 24 * float64(time.Hour) / float64(idle)
	t.Logf("written in %v: %d bytes in %d flushes, %.1f MB a day", idle, after-before, flushesAfter-flushes, day/1e6)
	if day > 10e6 {
		t.Errorf("%.1f MB a day, and 10 at most were promised", day/1e6)
	}
}

// TestSmallBoard gives 512 MB a building of 1,000 lights and 500 clients that poll it.
func TestSmallBoard(t *testing.T) {
	t.Parallel()
	images(t, virt) // or nothing is started
	const lights, clients, buses = 1000, 500, 4
	var ports [buses]string
	for i := range ports {
		ports[i] = freePort(t)
	}
	var site strings.Builder
	fmt.Fprintf(&site, "site:\n  name: Large\nbuses:\n")
	for i, port := range ports {
		fmt.Fprintf(&site, "  - {name: floor-%d, driver: modbus, port: \"tcp://127.0.0.1:%s\"}\n", i, port)
	}
	fmt.Fprintln(&site, "nodes:")
	for i := range lights {
		fmt.Fprintf(&site, "  - {id: %d, name: Light %d, bus: floor-%d, address: \"%d\", profile: wirenboard-wb-mdm3, outputs: [%d]}\n", i+1, i+1, i%buses, i/buses/3+1, i/buses%3+1)
	}
	startSite(t, t.TempDir(), site.String())
	b := newBoard(t, virt, house{})
	b.power(t)
	c := newClient(t, b, b.said(t, 1, `Certificate: ([0-9A-Fa-f:]{64,})`))
	c.serves(t)
	c.claim(t, b.said(t, 1, `Claim code: (\S+)`))
	c.importSite(t, strings.ReplaceAll(site.String(), "127.0.0.1", "10.0.2.2"))
	var login struct {
		Token string `json:"auth_token"`
	}
	c.call(t, "POST", "/svc/api/authenticate", map[string]any{"username": "building_os", "password": c.password}, &login)
	c.token = login.Token
	c.http.Transport.(*http.Transport).DisableKeepAlives = false
	c.http.Transport.(*http.Transport).MaxConnsPerHost = 0

	var polls, failed atomic.Int64
	stop := make(chan struct{})
	var all sync.WaitGroup
	for range clients {
		one := &client{port: c.port, token: c.token, http: &http.Client{Timeout: time.Minute, Transport: c.http.Transport.(*http.Transport).Clone()}}
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(rand.N(20 * time.Second)):
				}
				path := fmt.Sprintf("/svc/api/getLightLevels?targetType=3&targetId=%d", rand.N(lights)+1)
				if _, err := one.try("GET", path, nil, nil); err != nil && failed.Add(1) == 1 {
					t.Logf("the first poll that failed: %v", err)
				}
				polls.Add(1)
			}
		})
	}
	awaitFor(t, "all clients to have polled", func() bool { return polls.Load() > 2*clients })
	var took []time.Duration
	refused := 0
	for i := range 100 {
		var done struct{ Status int }
		began := time.Now()
		c.call(t, "POST", "/svc/api/channelControl", map[string]any{"targetType": 3, "targetId": rand.N(lights) + 1, "command": "DIM", "dimLevel": i % 100}, &done)
		took = append(took, time.Since(began))
		if done.Status != 1 {
			refused++
		}
	}
	slices.Sort(took)
	close(stop)
	all.Wait()
	report := b.plug(t, nil)
	awaitFor(t, "the report on an empty stick", func() bool { return strings.Contains(report(), "nothing on the stick") })
	daemon, bound := c.metric(t, `process_resident_memory_bytes`), c.metric(t, `controller_bus_wait_bound_seconds\{bus="floor-0"\}`)
	t.Logf("daemon %.1f MB with %d lights, %d clients, %d polls of which %d failed; 100 commands: median %v, worst %v (a command waits for the bus %.0f ms at most); %d not confirmed; of the system %s",
		daemon/1e6, lights, clients, polls.Load(), failed.Load(), took[50], took[99], 1000*bound, refused, memory(t, report()))
	if daemon > 200e6 {
		t.Errorf("%.1f MB are above the unit's MemoryHigh", daemon/1e6)
	}
	if failed.Load() > 0 || refused > 0 {
		t.Errorf("%d polls and %d commands failed", failed.Load(), refused)
	}
}

// importSite takes over a site file as a whole.
func (c *client) importSite(t *testing.T, site string) {
	t.Helper()
	req, err := http.NewRequest("PUT", "https://127.0.0.1:"+c.port+"/api/v1/site/file", strings.NewReader(site))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("If-Match", "*")
	resp, err := c.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if said, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("the site file: %d %s %v", resp.StatusCode, said, err)
	}
}

func (c *client) metric(t *testing.T, name string) float64 {
	t.Helper()
	req, err := http.NewRequest("GET", "https://127.0.0.1:"+c.port+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := c.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var text strings.Builder
	if err := resp.Write(&text); err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^` + name + ` (\S+)`).FindStringSubmatch(text.String())
	if found == nil {
		t.Fatalf("no metric %s", name)
	}
	v, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
