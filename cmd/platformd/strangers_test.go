package main

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/platform/peertest"
	"svc.internal/controller/shelf/memory/confine"
	"svc.internal/controller/shelf/web/siege"
)

const (
	// besiegedMemory is what the daemon may have, the broker inside: the MemoryMax that its unit is run with.
	besiegedMemory = 512 << 20
	// besiegedDisk is by how much its data may grow at most.
	besiegedDisk = 128_000_000
	// besiegedLog is what it may write to its log in an hour of attack.
	besiegedLog = 1_000_000
)

// TestCampaignStrangers has everybody do to the daemon, in a control group of 512 MB, what has brought daemons down before, over
// HTTP/1.1 and HTTP/2 and all at once: strangers, a customer with a login and keys, and a controller gone mad, while a program with a
// key asks and a person logs in.
func TestCampaignStrangers(t *testing.T) {
	drivertest.Long(t)
	length, login := 10*time.Second, 4*time.Second
	if os.Getenv("SOAK") != "" {
		length, login = 5*time.Minute, time.Minute // an address has 20 logins in 15 minutes
	}
	dir := t.TempDir()
	for _, name := range []string{"ada", "mallory"} {
		platformd(t, dir, password+"\n", "user", "add", name, "--password-stdin")
	}
	group := confine.New(t, besiegedMemory)
	s := serveIn(t, group, delivered(t), dir, "--listen", "127.0.0.1:0")
	s.url = "https://" + s.addressOf("https")
	s.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, Timeout: patience}
	_, key := s.login("ada").newKey(`{"name":"k","rateLimit":100000}`)
	honest := &honest{served: s, key: key, every: login}
	party := s.hostile(t, dir)
	late := drivertest.Watch(t)
	quiet := honest.work(t, length/2)
	spare := late.Steps(5)

	end := siege.Begin(t, party)
	watched := siege.Watch(t, s.run.Process.Pid, dir)
	logged, began := toldOf(s.printed()), time.Now()
	besieged := honest.work(t, length)
	told := float64(toldOf(s.printed()) - logged)
	if length > time.Minute { // a burst, and what follows it, is too little to reckon with
		told *= time.Hour.Seconds() / time.Since(began).Seconds()
	}
	most, grown := watched()
	end().Check(t)
	at := func(sorted []time.Duration, q float64) time.Duration { return sorted[int(q*float64(len(sorted)-1))] }
	before, now := at(quiet, 0.99), at(besieged, 0.99)
	t.Logf("key check and tools/list: p50 %v, p99 %v in quiet, p50 %v, p99 %v under attack (%d and %d calls, the machine late by %v); memory %d MB at most; disk %d kB more at most; %.0f kB of log",
		at(quiet, 0.5), before, at(besieged, 0.5), now, len(quiet), len(besieged), late.Steps(1), most/1e6, grown/1e3, told/1e3)
	if kills := group.Kills(t); kills > 0 {
		t.Errorf("the kernel ended the daemon %d times", kills)
	}
	if now > 2*before+max(spare, late.Steps(5)) {
		t.Errorf("p99 of somebody with a key is %v under attack, %v in quiet, want at most twice that", now, before)
	}
	if grown > besiegedDisk {
		t.Errorf("the data grew by %d MB, want at most %d", grown/1e6, besiegedDisk/1_000_000)
	}
	if told > besiegedLog {
		t.Errorf("%.0f kB of log in an hour, want at most %d", told/1e3, besiegedLog/1000)
	}
}

// toldOf is how many bytes of a log are not about what the one who is honest did.
func toldOf(log string) (n int) {
	for line := range strings.Lines(log) {
		if !strings.Contains(line, " user=ada") {
			n += len(line)
		}
	}
	return n
}

// honest is somebody with a key and a login.
type honest struct {
	*served
	key   string
	every time.Duration // from one login to the next
}

// work asks for a while, and returns how long each call took, sorted.
func (h *honest) work(t *testing.T, length time.Duration) (took []time.Duration) {
	t.Helper()
	login, refused := time.Now(), 0
	for until := time.Now().Add(length); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		if time.Since(login) > h.every {
			login = time.Now()
			if status, err := h.post("/api/auth/login", `{"username":"ada","password":"`+password+`"}`); err != nil || status != http.StatusOK {
				t.Errorf("log in with the right password: %d %v", status, err)
			}
		}
		began := time.Now()
		status, err := h.post(mcpPath, `{"method":"tools/list"}`)
		if took = append(took, time.Since(began)); err == nil && status == http.StatusOK {
			continue
		}
		if refused++; errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("the daemon has ended: %v", err)
			break
		}
	}
	if refused > 0 {
		t.Errorf("%d of %d calls were not answered", refused, len(took))
	}
	slices.Sort(took)
	return took
}

func (h *honest) post(path, body string) (status int, err error) {
	req, err := http.NewRequest(http.MethodPost, h.url+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("X-API-Key", h.key)
	res, err := h.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, err
}

// hostile is everybody who attacks.
func (s *served) hostile(t *testing.T, dir string) siege.Party {
	t.Helper()
	_, rest, _ := strings.Cut(s.ask("GET", "/", "").text, `"/a/`)
	folder, _, _ := strings.Cut(rest, "/")
	door := siege.Door{Addr: strings.TrimPrefix(s.url, "https://"), File: "/a/" + folder + "/ui/style.css",
		Posts: []string{"/api/auth/login", "/api/auth/refresh", chatPath, mcpPath, wire.EnrolPath}}
	s.ask("GET", door.File, "").want(t, 200, "a file")
	mallory := s.login("mallory")
	key := func(limit int) []string {
		_, value := mallory.newKey(fmt.Sprintf(`{"name":"of %d","rateLimit":%d}`, limit, limit))
		return []string{"X-API-Key: " + value, "Content-Type: application/json", "Accept: application/json, text/event-stream", "MCP-Protocol-Version: 2025-03-26"}
	}
	batch := func(n int, method string) string {
		call := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"name":"get_status","arguments":{}}},`
		return "[" + strings.TrimSuffix(strings.Repeat(call, n), ",") + "]"
	}
	few, many := key(3), key(3000)
	asks := []siege.Request{
		{Name: "batches of 300 calls", Path: mcpPath, Header: few, Body: batch(300, "tools/call"), Pause: 10 * time.Millisecond},
		{Name: "batches of 9,000 calls", Path: mcpPath, Header: many, Body: batch(9000, "tools/call"), Places: 4, Pause: 10 * time.Millisecond},
		{Name: "batches of 20 calls", Path: mcpPath, Header: many, Body: batch(20, "tools/call"), Pause: 10 * time.Millisecond},
		{Name: "batches of 6,000 lists, unread", Path: mcpPath, Header: many, Body: batch(6000, "tools/list"), Unread: 5 * time.Second, Places: 30},
		{Name: "a conversation, unread", Path: chatPath, Header: many, Body: `{"message":"report %","useSSE":true}`, Unread: 5 * time.Second, Places: 10},
		{Name: "arrays in arrays", Path: mcpPath, Header: many, Body: strings.Repeat("[", 900_000), Pause: 50 * time.Millisecond},
		{Name: "guesses at a password", Path: "/api/auth/login", Body: `{"username":"ada","password":"guess %"}`, Pause: 50 * time.Millisecond},
		{Name: "guesses at a code", Path: wire.EnrolPath, Body: `{"code":"AAAA-BBBB-%"}`, Pause: 50 * time.Millisecond},
	}
	for i := range asks {
		asks[i].Method = http.MethodPost
	}
	return siege.Party{
		Door: door, Flood: s.mad(t, dir), Handshakes: 8,
		Requests: append(asks, siege.Request{Name: "event streams", Method: http.MethodGet, Path: "/api/events", Header: []string{mallory.bearer}, Unread: 5 * time.Second, Places: 80}),
	}
}

// mad enrols a controller that floods.
func (s *served) mad(t *testing.T, dir string) *siege.Flood {
	t.Helper()
	var made struct {
		Code string `json:"code"`
	}
	if err := json.Unmarshal([]byte(platformd(t, dir, "", "controller", "add", "Gone mad", "--id", "mad", "--json")), &made); err != nil {
		t.Fatal(err)
	}
	got := s.ask("POST", wire.EnrolPath, `{"code":"`+made.Code+`"}`).want(t, 201, "enrol")
	return &siege.Flood{
		Broker: "mqtts://" + s.addressOf("mqtts"), Client: wire.ClientID("mad"), User: got.str("username"), Password: got.str("password"),
		Topic: wire.Topic("mad", wire.UpState) + "/node/",
		Bodies: []string{
			`{"v":1,"id":"#","type":"state","ts":"@","data":{"kind":"node","id":%,"name":"~"}}`,
			`{"v":1,"id":"#","type":"state","ts":"@","data":{"kind":"node","id":%,"name":"Lamp %"}}`,
			`~`,
		},
	}
}

// What comes before a login is small.
func TestBodiesOfStrangersAreSmall(t *testing.T) {
	h := newHouse(t, peertest.Database{DataDir: t.TempDir()}, "")
	for _, path := range []string{"/api/auth/login", "/api/auth/refresh", "/api/auth/logout"} {
		h.ask("POST", path, `{"refreshToken":"`+strings.Repeat("x", 8<<10)+`"}`).want(t, 413, path)
	}
}
