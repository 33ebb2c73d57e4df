package main

import (
	"context"
	"crypto/tls"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/platform/peertest"
	"svc.internal/controller/shelf/web/siege"
)

const (
	// besiegedMemory is what the daemon may have in memory, the broker inside, whatever strangers do.
	besiegedMemory = 200_000_000
	// besiegedLog is what it may write to its log in an hour of attack.
	besiegedLog = 1_000_000
)

// TestCampaignStrangers has strangers do to the daemon what has brought the controller down
// before, over HTTP/1.1 and HTTP/2 and all at once, while a program with a key asks.
func TestCampaignStrangers(t *testing.T) {
	drivertest.Long(t)
	length := 4 * time.Second
	if os.Getenv("SOAK") != "" {
		length = 5 * time.Minute
	}
	dir := t.TempDir()
	platformd(t, dir, password+"\n", "user", "add", "ada", "--password-stdin")
	program := filepath.Join(t.TempDir(), "platformd") // as it is delivered: the race detector takes a multiple of the memory
	build := exec.Command("go", "build", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v: %s", err, out)
	}
	s := serveIn(t, nil, program, dir, "--listen", "127.0.0.1:0")
	address := s.addressOf("https")
	s.url = "https://" + address
	s.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, Timeout: patience}
	ada := s.login("ada")
	_, key := ada.newKey(`{"name":"k","rateLimit":100000}`)
	ask := func(length time.Duration) (took []time.Duration) {
		for until := time.Now().Add(length); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
			began := time.Now()
			s.ask("POST", mcpPath, `{"method":"tools/list"}`, "X-API-Key: "+key).want(t, 200, "somebody with a key")
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		return took
	}
	late := drivertest.Watch(t)
	quiet := ask(length / 2)
	spare := late.Steps(5)

	shell := s.ask("GET", "/", "").text
	_, rest, _ := strings.Cut(shell, `"/a/`)
	folder, _, _ := strings.Cut(rest, "/")
	door := siege.Door{Addr: address, File: "/a/" + folder + "/ui/style.css", Posts: []string{"/api/auth/login", "/api/auth/refresh", chatPath, mcpPath, "/api/controllers/enrol"}}
	s.ask("GET", door.File, "").want(t, 200, "a file")
	idle, err := siege.Resident(s.run.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() { door.Attack(ctx) })
	var most atomic.Int64
	wg.Go(func() {
		for ctx.Err() == nil {
			if n, err := siege.Resident(s.run.Process.Pid); err != nil {
				t.Error(err)
				return
			} else if n > most.Load() {
				most.Store(n)
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
	logged, began := len(s.printed()), time.Now()
	besieged := ask(length)
	told := float64(len(s.printed()) - logged)
	if length > time.Minute { // a burst, and what follows it, is too little to reckon with
		told *= time.Hour.Seconds() / time.Since(began).Seconds()
	}
	cancel()
	at := func(sorted []time.Duration, q float64) time.Duration { return sorted[int(q*float64(len(sorted)-1))] }
	t.Logf("key check and tools/list: p50 %v, p99 %v in quiet, p50 %v, p99 %v under attack (%d and %d calls, the machine late by %v); memory %d MB at rest, %d MB at most; %.0f kB of log",
		at(quiet, 0.5), at(quiet, 0.99), at(besieged, 0.5), at(besieged, 0.99), len(quiet), len(besieged), late.Steps(1), idle/1e6, most.Load()/1e6, told/1e3)
	if most.Load() > besiegedMemory {
		t.Errorf("the daemon had %d MB in memory, want at most %d", most.Load()/1e6, besiegedMemory/1_000_000)
	}
	if before, now := at(quiet, 0.99), at(besieged, 0.99); now > 2*before+max(spare, late.Steps(5)) {
		t.Errorf("p99 of somebody with a key is %v under attack, %v in quiet, want at most twice that", now, before)
	}
	if told > besiegedLog {
		t.Errorf("%.0f kB of log in an hour, want at most %d", told/1e3, besiegedLog/1000)
	}
}

// What comes before a login is small.
func TestBodiesOfStrangersAreSmall(t *testing.T) {
	h := newHouse(t, peertest.Database{DataDir: t.TempDir()}, "")
	for _, path := range []string{"/api/auth/login", "/api/auth/refresh", "/api/auth/logout"} {
		h.ask("POST", path, `{"refreshToken":"`+strings.Repeat("x", 8<<10)+`"}`).want(t, 413, path)
	}
}
