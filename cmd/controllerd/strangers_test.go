package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"svc.internal/controller/account"
	"svc.internal/controller/drivers/drivertest"
)

const strangersSite = `
site: {name: Besieged}
buses:
  - {name: tcp, driver: modbus, port: "tcp://127.0.0.1:0"}
nodes:
  - {id: 1, name: Dimmer, bus: tcp, address: 1, profile: wirenboard-wb-mdm3}
  - {id: 2, name: Motors, bus: tcp, address: 2, profile: wirenboard-wb-mr6c}
shades:
  - {id: 5001, name: Shade, node: 2, output: 1, travelUp: 20s, travelDown: 20s}
`

const (
	// strangersMemory is what the daemon may have in memory, whatever strangers do.
	strangersMemory = 100_000_000
	// strangersLog is what it may write to its log in an hour of attack.
	strangersLog = 1_000_000
)

// TestCampaignStrangers has strangers without a login do to a daemon, over HTTP/1.1 and
// HTTP/2 and all at once, what has brought it down before, while somebody known dims a
// lamp and stops a shade.
func TestCampaignStrangers(t *testing.T) {
	length := 10 * time.Second
	if soak() {
		length = 5 * time.Minute
	}
	h := newBuilding(t, strangersSite)
	d := h.desk()
	s := d.serve()
	if soak() {
		confine(t, s.cmd.Process.Pid, 200_000_000)
	}
	honest := newHonest(t, s)
	waitFor(t, 30*time.Second, "lamp and shade to be there", func() bool {
		return honest.dim() && honest.call("shadeControl", `{"targetType":3,"targetId":5001,"command":"UP"}`)
	})
	late := drivertest.Watch(t)
	quiet := honest.work(t, length/2)
	spare := late.Steps(5)

	ctx, cancel := context.WithCancel(t.Context())
	addr := strings.TrimPrefix(s.url, "https://")
	var wg sync.WaitGroup
	for _, attack := range attacks {
		for range 2 {
			wg.Go(func() {
				for ctx.Err() == nil {
					attack(ctx, addr)
					pause(ctx, 20*time.Millisecond)
				}
			})
		}
	}
	most := atomic.Int64{}
	wg.Go(func() {
		for ctx.Err() == nil {
			most.Store(max(most.Load(), residentOf(t, s.cmd.Process.Pid)))
			pause(ctx, 50*time.Millisecond)
		}
	})
	logged, began := toldOf(s.log.String()), time.Now()
	besieged := honest.work(t, length)
	told := float64(toldOf(s.log.String()) - logged)
	hour := told * time.Hour.Seconds() / time.Since(began).Seconds()
	if length < time.Minute {
		hour = told // a burst, and what follows it is too little to reckon with
	}
	cancel()
	wg.Wait()
	before, now := quantile(quiet, 0.99), quantile(besieged, 0.99)
	t.Logf("DIM and STOP: p50 %v, p99 %v in quiet, p50 %v, p99 %v under attack (%d and %d calls, the machine late by %v); memory %d MB at most; %.0f kB of log in an hour",
		quantile(quiet, 0.5), before, quantile(besieged, 0.5), now, len(quiet), len(besieged), late.Steps(1), most.Load()/1e6, hour/1e3)
	if most.Load() > strangersMemory {
		t.Errorf("the daemon had %d MB in memory, want at most %d", most.Load()/1e6, strangersMemory/1_000_000)
	}
	if now > 2*before+max(spare, late.Steps(5)) {
		t.Errorf("p99 of somebody known is %v under attack, %v in quiet, want at most twice that", now, before)
	}
	if hour > strangersLog {
		t.Errorf("%.0f kB of log in an hour, want at most %d", hour/1e3, strangersLog/1000)
	}
	select {
	case <-s.ended:
		t.Error("the daemon has ended")
	default:
	}
}

// toldOf is how many bytes of a log are not about what somebody known did.
func toldOf(log string) (n int) {
	for line := range strings.Lines(log) {
		if !strings.Contains(line, " user=") {
			n += len(line)
		}
	}
	return n
}

// honest is somebody with a login.
type honest struct {
	s     *served
	token string
	level int
}

func newHonest(t *testing.T, s *served) *honest {
	t.Helper()
	res, err := s.client.Post(s.url+"/svc/api/authenticate", "", strings.NewReader(fmt.Sprintf(`{"username":%q,"password":%q}`, account.RoleOperator, housePassword)))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var answer struct {
		Token string `json:"auth_token"`
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || answer.Token == "" {
		t.Fatalf("login: %d %v", res.StatusCode, err)
	}
	return &honest{s: s, token: answer.Token}
}

func (h *honest) dim() bool {
	h.level = (h.level + 7) % 100
	return h.call("channelControl", fmt.Sprintf(`{"targetType":3,"targetId":1,"command":"DIM","dimLevel":%d}`, h.level))
}

// call reports whether a control call was answered with status 1.
func (h *honest) call(path, body string) bool {
	req, err := http.NewRequest("POST", h.s.url+"/svc/api/"+path, strings.NewReader(body))
	if err != nil {
		return false
	}
	req.Header.Set("Authorization", "Bearer "+h.token)
	res, err := h.s.client.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	data, _ := io.ReadAll(res.Body)
	return bytes.HasPrefix(data, []byte(`{"status":1`))
}

// work dims and stops for a while, and returns how long each call took, sorted.
func (h *honest) work(t *testing.T, length time.Duration) (took []time.Duration) {
	t.Helper()
	for until := time.Now().Add(length); time.Now().Before(until); {
		began := time.Now()
		ok := h.dim()
		took = append(took, time.Since(began))
		if !ok {
			t.Error("a DIM was not confirmed")
		}
		began = time.Now()
		if ok = h.call("shadeControl", `{"targetType":3,"targetId":5001,"command":"STOP"}`); !ok {
			t.Error("a STOP was not confirmed")
		}
		took = append(took, time.Since(began))
		pause(t.Context(), 5*time.Millisecond)
	}
	slices.Sort(took)
	return took
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// residentOf is VmRSS of a process, in bytes.
func residentOf(t *testing.T, pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Error(err)
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n << 10
		}
	}
	return 0
}

// confine puts a process into a control group that has no more memory than this: the
// kernel ends it if it takes more.
func confine(t *testing.T, pid int, bytes int64) {
	t.Helper()
	var errs []error
	for _, c := range []struct{ group, limit string }{
		{"/sys/fs/cgroup/controllerd-test-", "memory.max"}, {"/sys/fs/cgroup/memory/controllerd-test-", "memory.limit_in_bytes"},
	} {
		group := c.group + strconv.Itoa(pid)
		err := os.Mkdir(group, 0o700)
		if err == nil {
			t.Cleanup(func() { os.Remove(group) })
			err = errors.Join(os.WriteFile(filepath.Join(group, c.limit), []byte(strconv.FormatInt(bytes, 10)), 0),
				os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0))
		}
		if err == nil {
			t.Logf("the daemon has a control group of %d MB", bytes/1e6)
			return
		}
		errs = append(errs, err)
	}
	t.Fatalf("no control group for the daemon (root can make one): %v", errors.Join(errs...))
}

// attacks are what strangers do, each until the daemon ends it or a second is over.
var attacks = map[string]func(ctx context.Context, addr string){
	"files that nobody takes": func(ctx context.Context, addr string) {
		asks(ctx, addr, 16, func(f *http2.Framer, stream uint32, head func(...string) []byte) error {
			return f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, EndStream: true, EndHeaders: true,
				BlockFragment: head(":method", "GET", ":scheme", "https", ":path", "/docs/swagger-ui-bundle.js", ":authority", "x")})
		})
	},
	"half bodies over HTTP/2": func(ctx context.Context, addr string) {
		asks(ctx, addr, 250, func(f *http2.Framer, stream uint32, head func(...string) []byte) error {
			err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, EndHeaders: true,
				BlockFragment: head(":method", "POST", ":scheme", "https", ":path", "/svc/api/authenticate", ":authority", "x", "content-length", "8000")})
			if err != nil {
				return err
			}
			return f.WriteData(stream, false, bytes.Repeat([]byte(" "), 4000))
		})
	},
	"half bodies over HTTP/1.1": func(ctx context.Context, addr string) {
		hold(ctx, addr, 30, "POST /svc/api/authenticate HTTP/1.1\r\nHost: x\r\nContent-Length: 8000\r\n\r\n{"+strings.Repeat(" ", 7000))
	},
	"half headers over HTTP/1.1": func(ctx context.Context, addr string) {
		hold(ctx, addr, 30, "GET / HTTP/1.1\r\nHost: x\r\nX-Long: "+strings.Repeat("y", 12_000))
	},
	"connections that say nothing": func(ctx context.Context, addr string) { hold(ctx, addr, 60, "") },
	"HEAD again and again": func(ctx context.Context, addr string) {
		c, err := dialTLS(ctx, addr, "http/1.1")
		if err != nil {
			return
		}
		defer c.Close()
		in := bufio.NewReader(c)
		for until := time.Now().Add(time.Second); time.Now().Before(until) && ctx.Err() == nil; {
			if _, err := io.WriteString(c, "HEAD /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
				return
			}
			res, err := http.ReadResponse(in, &http.Request{Method: "HEAD"})
			if err != nil {
				return
			}
			res.Body.Close()
			pause(ctx, 5*time.Millisecond)
		}
	},
	"logins": func(ctx context.Context, addr string) {
		c, err := dialTLS(ctx, addr, "http/1.1")
		if err != nil {
			return
		}
		defer c.Close()
		body := fmt.Sprintf(`{"username":"u%d","password":"not this one"}`, rand.Uint64())
		fmt.Fprintf(c, "POST /svc/api/authenticate HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		if res, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil {
			res.Body.Close()
		}
	},
}

// held is how long an attack holds what it has got.
const held = time.Second

func dialTLS(ctx context.Context, addr string, protocol string) (net.Conn, error) {
	d := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}}}
	c, err := d.DialContext(ctx, "tcp", addr)
	if err == nil {
		c.SetDeadline(time.Now().Add(10 * time.Second))
	}
	return c, err
}

// hold opens connections, says something on each, and leaves it at that.
func hold(ctx context.Context, addr string, n int, text string) {
	for range n {
		c, err := dialTLS(ctx, addr, "http/1.1")
		if err != nil {
			return
		}
		defer c.Close()
		if _, err := io.WriteString(c, text); err != nil {
			return
		}
	}
	pause(ctx, held)
}

// asks opens a connection that takes no answers (its window is 0), and as many streams
// as it is let.
func asks(ctx context.Context, addr string, streams int, ask func(*http2.Framer, uint32, func(...string) []byte) error) {
	c, err := dialTLS(ctx, addr, "h2")
	if err != nil {
		return
	}
	defer c.Close()
	if _, err := io.WriteString(c, http2.ClientPreface); err != nil {
		return
	}
	f := http2.NewFramer(c, c)
	if err := f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}); err != nil {
		return
	}
	go io.Copy(io.Discard, c) // settings and resets
	var block bytes.Buffer
	coder := hpack.NewEncoder(&block)
	head := func(fields ...string) []byte {
		block.Reset()
		for i := 0; i < len(fields); i += 2 {
			coder.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
		}
		return block.Bytes()
	}
	for i := range streams {
		if err := ask(f, uint32(2*i+1), head); err != nil {
			return
		}
	}
	pause(ctx, held)
}
