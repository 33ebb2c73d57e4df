//go:build peers

package modbus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line/pty"
	"svc.internal/controller/shelf/freeport"
)

// start runs an independent server until the test ends.
func start(t testing.TB, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatalf("%s: %v; install it: apt-get install python3-pymodbus python3-serial-asyncio libmodbus-dev gcc pkg-config", name, err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Logf("%s said: %s", name, said.String())
		}
	})
}

func freePort(t testing.TB) string {
	t.Helper()
	port, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// pair joins two pseudo-terminals like a null-modem cable and returns both paths.
func pair(t testing.TB) (ours, theirs string) {
	a, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	b, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, way := range [][2]*os.File{{a.Master(), b.Master()}, {b.Master(), a.Master()}} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			io.Copy(way[0], way[1])
		}()
	}
	t.Cleanup(func() {
		a.Close()
		b.Close()
		wg.Wait()
	})
	return a.SlavePath(), b.SlavePath()
}

// buildPeer compiles the libmodbus slave.
func buildPeer(t testing.TB) string {
	t.Helper()
	flags, err := exec.Command("pkg-config", "--cflags", "--libs", "libmodbus").Output()
	if err != nil {
		t.Fatalf("pkg-config libmodbus: %v; install it: apt-get install libmodbus-dev gcc pkg-config", err)
	}
	program := filepath.Join(t.TempDir(), "peer")
	args := append([]string{"testdata/peer.c", "-o", program}, strings.Fields(string(flags))...)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return program
}

// TestIndependentServers drives servers that other people wrote.
func TestIndependentServers(t *testing.T) {
	t.Parallel()
	python := func(kind, where string) []string {
		return []string{"/usr/bin/python3", "testdata/peer.py", kind, where}
	}
	for _, tc := range []struct {
		name string
		rig  func(t *testing.T) (port string, command []string)
	}{
		{"pymodbus tcp", func(t *testing.T) (string, []string) {
			p := freePort(t)
			return "tcp://127.0.0.1:" + p, python("tcp", p)
		}},
		{"pymodbus rtu over tcp", func(t *testing.T) (string, []string) {
			p := freePort(t)
			return "rtu+tcp://127.0.0.1:" + p, python("rtutcp", p)
		}},
		{"pymodbus rtu", func(t *testing.T) (string, []string) {
			ours, theirs := pair(t)
			return ours, python("rtu", theirs)
		}},
		{"libmodbus tcp", func(t *testing.T) (string, []string) {
			p := freePort(t)
			return "tcp://127.0.0.1:" + p, []string{buildPeer(t), "tcp", p}
		}},
		{"libmodbus rtu", func(t *testing.T) (string, []string) {
			ours, theirs := pair(t)
			return ours, []string{buildPeer(t), "rtu", theirs}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			port, command := tc.rig(t)
			start(t, command[0], command[1:]...)
			cfg := appliance.BusConfig{Bus: appliance.Bus{Name: "peer", Port: port, Options: map[string]string{"responseTimeout": "500ms", "lateAnswer": "0s"}}}
			if !strings.Contains(port, "://") {
				cfg.Bus.Line = appliance.LineSettings{BaudRate: 19200, StopBits: 1}
			}
			cfg.Nodes = []appliance.Node{node(1, "1", "waveshare-relay-8ch")}
			d, _ := open(t, cfg)
			var err error
			defer func() { t.Logf("the first answer: %v", err) }()
			until(t, "the server answers", func() bool {
				ctx, cancel := context.WithTimeout(context.Background(), time.Second)
				defer cancel()
				_, _, err = d.ask(ctx, appliance.Yield{}, request{unit: 1, fn: readHolding, qty: 1}, timing{timeout: 500 * time.Millisecond})
				return err == nil
			})
			converse(t, d)
		})
	}
}

func converse(t *testing.T, d *Driver) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	ask := func(r request) answer {
		t.Helper()
		r.unit = 1
		a, _, err := d.ask(ctx, appliance.Yield{}, r, timing{timeout: 20 * time.Second})
		if err != nil {
			t.Fatalf("%v: %v", r, err)
		}
		return a
	}
	run(t, d.Plan([]appliance.Want{level(channel(1, 1), 100), level(channel(1, 2), 100), level(channel(1, 3), 0), level(channel(1, 8), 100)}))
	if got := fmt.Sprint(ask(request{fn: readCoils, qty: 8}).bits); got != "[true true false false false false false true]" {
		t.Errorf("coils are %v", got)
	}
	ask(request{fn: writeRegister, addr: 10, values: []uint16{4711}})
	ask(request{fn: writeRegisters, addr: 11, values: []uint16{1, 2, 3}})
	ask(request{fn: maskWrite, addr: 11, values: []uint16{0xFF00, 0x0042}})
	if got := fmt.Sprint(ask(request{fn: readHolding, addr: 10, qty: 4}).words); got != "[4711 66 2 3]" {
		t.Errorf("registers are %v", got)
	}
	if got := fmt.Sprint(ask(request{fn: readWrite, addr: 12, qty: 2, waddr: 13, values: []uint16{9}}).words); got != "[2 9]" {
		t.Errorf("read and write gave %v", got)
	}
	ask(request{fn: readInput, addr: 0, qty: 125})
	ask(request{fn: readDiscretes, addr: 0, qty: 300})
	_, _, err := d.ask(ctx, appliance.Yield{}, request{unit: 1, fn: readHolding, addr: 5000, qty: 1}, timing{timeout: 20 * time.Second})
	if !errors.Is(err, appliance.ErrRefused) || !strings.Contains(err.Error(), "illegal data address") {
		t.Errorf("beyond the end: got %v", err)
	}
}
