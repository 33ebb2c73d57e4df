package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// writeSite writes a site file with a TCP gateway, a serial server and a line.
func writeSite(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "site.yaml")
	text := fmt.Sprintf(`
site: {name: Rehearsal}
buses:
  - {name: gateway, driver: modbus, port: "tcp://127.0.0.1:0"}
  - {name: server, driver: modbus, port: "rtu+tcp://127.0.0.1:0"}
  - {name: line, driver: modbus, port: %q, line: {baudRate: 9600, parity: none, dataBits: 8, stopBits: 2}}
nodes:
  - {id: 1, name: Lobby, bus: gateway, address: 5, profile: wirenboard-wb-mdm3}
  - {id: 2, name: Desk, bus: server, address: "7/12", profile: ecodim-dali-gw2, groups: [3]}
  - {id: 3, name: Window, bus: line, address: 6, profile: wirenboard-wb-mr6c}
shades:
  - {id: 5001, name: South, node: 3, output: 1, travelUp: 20s, travelDown: 18s}
`, filepath.Join(dir, "line"))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPlaysASiteFileUntilInterrupted(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := command()
	out, in := io.Pipe()
	c.SetOut(in)
	c.SetArgs([]string{"--site", writeSite(t, dir), "--listen", "127.0.0.1:0"})
	done := make(chan error, 1)
	go func() {
		done <- c.ExecuteContext(ctx)
		in.Close()
	}()
	var url string
	ready := 0
	for lines := bufio.NewScanner(out); url == "" && lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "bus ") {
			ready++
		}
		if _, after, ok := strings.Cut(lines.Text(), "control interface at "); ok {
			url = after
		}
	}
	if url == "" {
		t.Fatalf("did not start: %v", <-done)
	}
	if ready != 3 {
		t.Errorf("%d buses announced, want 3", ready)
	}
	resp, err := http.Get(url + "/devices")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	refusesForeignPages(t, url)
	var got struct {
		Devices []struct {
			NodeID int
			Name   string
			Online bool
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if len(got.Devices) != 3 {
		t.Errorf("devices: %+v", got)
	}
	for _, d := range got.Devices {
		if !d.Online {
			t.Errorf("%s is offline", d.Name)
		}
	}
	cancel()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(3 * time.Minute):
		t.Fatal("still running after the interrupt")
	}
	if _, err := os.Lstat(filepath.Join(dir, "line")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the line's link stayed: %v", err)
	}
}

// refusesForeignPages asks the running program what a page of the web could have a browser
// ask it: from another origin, or under a name of its own that points here.
func refusesForeignPages(t *testing.T, url string) {
	t.Helper()
	ask := func(method, host, origin string) (int, string) {
		r, err := http.NewRequest(method, url+"/faults", strings.NewReader(`{"kind":"drop"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body)
	}
	own := strings.TrimPrefix(url, "http://")
	_, port, _ := net.SplitHostPort(own)
	_, none := ask("GET", own, "")
	for _, c := range []struct {
		host, origin string
		want         int
	}{
		{own, "http://elsewhere.example", http.StatusForbidden},
		{own, "null", http.StatusForbidden},
		{"rebound.example:" + port, "http://rebound.example:" + port, http.StatusMisdirectedRequest},
		{"rebound.example:" + port, "", http.StatusMisdirectedRequest},
	} {
		for _, method := range []string{"GET", "POST", "DELETE"} {
			if status, _ := ask(method, c.host, c.origin); status != c.want {
				t.Errorf("%s with host %s and origin %q: %d, want %d", method, c.host, c.origin, status, c.want)
			}
		}
	}
	if _, now := ask("GET", own, ""); now != none {
		t.Errorf("faults were %s, and are %s: a foreign page was obeyed", none, now)
	}
	if status, _ := ask("POST", own, url); status >= 300 {
		t.Errorf("a page of its own origin: %d", status)
	}
	if _, now := ask("GET", own, ""); now == none {
		t.Error("its own page changed nothing: this test shows nothing")
	}
	if status, _ := ask("DELETE", own, ""); status >= 300 {
		t.Errorf("the faults are ended: %d", status)
	}
}

func TestRefusesWhatItMustNotDo(t *testing.T) {
	site := writeSite(t, t.TempDir())
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, call := range map[string]struct {
		code int
		says string
		args []string
	}{
		"no site":             {2, "--site is missing", nil},
		"missing file":        {1, "none.yaml", []string{"--site", filepath.Join(t.TempDir(), "none.yaml")}},
		"open to the network": {2, "loopback only", []string{"--site", site, "--listen", "0.0.0.0:0"}},
		"unknown log level":   {2, "want debug, info, warn or error", []string{"--site", site, "--log-level", "loud"}},
		"negative load":       {2, "must not be negative", []string{"--site", site, "--base-load", "-1"}},
		"stray argument":      {2, `"more" is not understood`, []string{"--site", site, "more"}},
		"unknown flag":        {2, "--lisen", []string{"--site", site, "--lisen", "127.0.0.1:0"}},
		"replay of nothing":   {2, "accepts 1 arg", []string{"replay", "--site", site}},
		"replay, no site":     {2, "--site is missing", []string{"replay", "night.jsonl"}},
		"replay, odd speed":   {2, "want 1 or max", []string{"replay", "night.jsonl", "--site", site, "--speed", "2"}},
		"replay, no file":     {1, "none.jsonl", []string{"replay", filepath.Join(t.TempDir(), "none.jsonl"), "--site", site}},
		"port in use":         {1, "choose another with --listen", []string{"--site", site, "--listen", taken.Addr().String()}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			c := command()
			c.SetOut(io.Discard)
			c.SetErr(io.Discard)
			c.SetArgs(call.args)
			err := c.ExecuteContext(ctx)
			if err == nil {
				t.Fatal("accepted")
			}
			if got := exitCode(err); got != call.code || !strings.Contains(err.Error(), call.says) {
				t.Errorf("exit code %d and %q, want %d and a text with %q", got, err, call.code, call.says)
			}
		})
	}
}
