//go:build peers

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.internal/controller/drivers/line/pty"
	"svc.internal/controller/shelf/freeport"
	"svc.internal/controller/shelf/ui/uitest"
	"svc.internal/controller/site/sitefile"
)

// TestIndependentServersObeyTheOneZeroClient walks through the public API with
// Modbus servers that other people wrote in place of the simulated building. After
// each status 1 mbpoll, again somebody else's, reads what the server holds.
func TestIndependentServersObeyTheOneZeroClient(t *testing.T) {
	t.Parallel()
	python := func(t *testing.T, kind, where, window string) {
		startPeer(t, "/usr/bin/python3", "testdata/server.py", kind, where, window)
	}
	for _, tc := range []struct {
		name string
		rig  func(t *testing.T) (port, window string)
	}{
		{"pymodbus TCP", func(t *testing.T) (string, string) {
			port, window := freePort(t), freePort(t)
			python(t, "tcp", port, window)
			return "tcp://127.0.0.1:" + port, window
		}},
		{"pymodbus RTU over TCP", func(t *testing.T) (string, string) {
			port, window := freePort(t), freePort(t)
			python(t, "rtutcp", port, window)
			return "rtu+tcp://127.0.0.1:" + port, window
		}},
		{"pymodbus RTU", func(t *testing.T) (string, string) {
			ours, theirs := serialPair(t)
			window := freePort(t)
			python(t, "rtu", theirs, window)
			return ours, window
		}},
		{"libmodbus TCP", func(t *testing.T) (string, string) {
			port := freePort(t)
			startPeer(t, buildServer(t), port)
			return "tcp://127.0.0.1:" + port, port
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			port, look := tc.rig(t)
			w := &window{t: t, port: look}
			w.await()
			line := ""
			if !strings.Contains(port, "://") {
				line = ", line: {baudRate: 19200, parity: none, stopBits: 2}"
			}
			h := newHouseWithout(t, fmt.Sprintf(independentSite, port, line))
			walked := h.walkIndependent(w)
			t.Logf("%d commands confirmed and found so, %d values read back", walked, w.count)
		})
	}
}

const independentSite = `
site: {name: Independent}
buses: [{name: bus, driver: modbus, port: %q%s, options: {responseTimeout: 1s}}]
nodes:
  - {id: 1, name: Dimmer, bus: bus, address: 1, profile: wirenboard-wb-mdm3}
  - {id: 2, name: Relays, bus: bus, address: 2, profile: waveshare-relay-8ch}
  - {id: 3, name: Strip, bus: bus, address: 3, profile: wirenboard-wb-led-rgbw}
  - {id: 4, name: Whites, bus: bus, address: 4, profile: wirenboard-wb-led-cct}
  - {id: 5, name: Analogue, bus: bus, address: 5, profile: wirenboard-wb-mao4}
  - {id: 6, name: Motors, bus: bus, address: 6, profile: wirenboard-wb-mr6c}
shades:
  - {id: 5001, name: South, node: 6, output: 1, travelUp: 60s, travelDown: 60s}
  - {id: 5002, name: West, node: 6, output: 2, travelUp: 60s, travelDown: 60s}
clusters:
  - {id: 1, name: Some, nodes: [1, 3, 4], shades: [5002]}
`

// walkIndependent returns how many commands it checked.
func (h *house) walkIndependent(w *window) (commands int) {
	lights := []int{1, 2, 3, 4, 5}
	order := func(path, target, fields string) {
		h.t.Helper()
		commands++
		h.insist(path, fmt.Sprintf("{%s,%s}", target, fields))
	}
	for _, scope := range []struct {
		target        string
		nodes, shades []int
	}{
		{`"targetType":1`, lights, []int{1, 2}},
		{`"targetType":2,"targetId":1`, []int{1, 3, 4}, []int{2}},
		{`"targetType":3,"targetId":1`, []int{1}, nil},
		{`"targetType":3,"targetId":2`, []int{2}, nil},
		{`"targetType":3,"targetId":3`, []int{3}, nil},
		{`"targetType":3,"targetId":4`, []int{4}, nil},
		{`"targetType":3,"targetId":5`, []int{5}, nil},
	} {
		for _, level := range []int{40, 7, 0, 100} {
			order("channelControl", scope.target, fmt.Sprintf(`"command":"DIM","dimLevel":%d`, level))
			w.lights(scope.nodes, level)
		}
		order("channelControl", scope.target, `"command":"OFF"`)
		w.lights(scope.nodes, 0)
		order("channelControl", scope.target, `"command":"ON"`)
		w.lights(scope.nodes, 100)
		if slices.Contains(scope.nodes, 4) {
			order("setColorTemp", scope.target, `"colorTemp":4220`)
			w.want(4, holding, 2007, 40) // 2700 to 6500 K as 0 to 100 %
			w.want(4, holding, 2009, 40)
		}
		if slices.Contains(scope.nodes, 3) {
			order("setRGBW", scope.target, `"R":200,"G":100,"B":0,"W":255,"DL":50`)
			w.want(3, holding, 2011, 100, 50, 0)
			w.want(3, holding, 2003, 50) // percent
		}
		target := scope.target
		for _, shades := range [][]int{scope.shades, {1}} {
			if len(shades) == 0 {
				continue
			}
			if slices.Equal(shades, []int{1}) {
				target = `"targetType":3,"targetId":5001`
			}
			for _, c := range []struct {
				command     string
				open, close int
			}{{"UP", 1, 0}, {"STOP", 0, 0}, {"DOWN", 0, 1}, {"STOP", 0, 0}} {
				order("shadeControl", target, fmt.Sprintf(`"command":%q`, c.command))
				for _, s := range shades {
					w.want(6, coil, 14+2*s, c.open, c.close)
				}
			}
		}
	}
	return commands
}

// The tables of Modbus as mbpoll numbers them.
const (
	coil    = 0
	holding = 4
)

// window looks into a server past the daemon.
type window struct {
	t     *testing.T
	port  string
	count int // values compared
}

var mbpollValue = regexp.MustCompile(`(?m)^\[\d+\]:\s+(\d+)`)

// read asks mbpoll for some neighbouring values.
func (w *window) read(unit, table, address, count int) (values []int, err error) {
	out, err := exec.Command("mbpoll", "-m", "tcp", "-p", w.port, "-a", strconv.Itoa(unit), "-t", strconv.Itoa(table), "-0",
		"-r", strconv.Itoa(address), "-c", strconv.Itoa(count), "-1", "-o", "10", "127.0.0.1").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("mbpoll: %w; install it: apt-get install mbpoll\n%s", err, out)
	}
	for _, m := range mbpollValue.FindAllSubmatch(out, -1) {
		v, err := strconv.Atoi(string(m[1]))
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	if len(values) != count {
		return nil, fmt.Errorf("mbpoll said %s", out)
	}
	return values, nil
}

// await waits until the server serves.
func (w *window) await() {
	w.t.Helper()
	for deadline := time.Now().Add(uitest.Patience); ; <-time.After(50 * time.Millisecond) {
		_, err := w.read(1, holding, 0, 1)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatal(err)
		}
	}
}

// want compares neighbouring values.
func (w *window) want(unit, table, address int, want ...int) {
	w.t.Helper()
	got, err := w.read(unit, table, address, len(want))
	if err != nil {
		w.t.Fatal(err)
	}
	w.count += len(want)
	if !slices.Equal(got, want) {
		w.t.Errorf("unit %d, table %d, from address %d holds %v, want %v", unit, table, address, got, want)
	}
}

// lights compares what the units of some nodes hold for a level of all channels.
// The level register of an output that is off keeps what it had.
func (w *window) lights(nodes []int, level int) {
	w.t.Helper()
	on := min(level, 1)
	for _, n := range nodes {
		switch n {
		case 1:
			w.want(1, coil, 0, on, on, on)
			if on == 1 {
				w.want(1, holding, 0, level, level, level)
			}
		case 2:
			w.want(2, coil, 0, on, on, on, on, on, on, on, on)
		case 3:
			w.want(3, coil, 3, on)
			w.want(3, coil, 9, on)
		case 4:
			w.want(4, coil, 7, on, on)
			if on == 1 {
				w.want(4, holding, 2008, level)
				w.want(4, holding, 2010, level)
			}
		case 5:
			w.want(5, coil, 16, on, on, on, on)
			if on == 1 {
				w.want(5, holding, 16, level, level, level, level)
			}
		}
	}
}

// newHouseWithout starts a daemon on buses that somebody else plays.
func newHouseWithout(t *testing.T, site string) *house {
	t.Helper()
	h := &house{t: t, dataDir: filepath.Join(t.TempDir(), "data"), tokens: map[string]string{}}
	var err error
	if h.site, err = sitefile.Parse("test site", []byte(site)); err != nil {
		t.Fatal(err)
	}
	h.fillStore()
	h.serve()
	h.awaitOnline()
	return h
}

// startPeer runs somebody else's program until the test ends.
func startPeer(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	log := &heard{pattern: regexp.MustCompile(`(never)said`), found: make(chan string, 1)}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatalf("%s: %v; install it: apt-get install python3-pymodbus python3-serial-asyncio libmodbus-dev gcc pkg-config mbpoll", name, err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Logf("%s said: %s", name, log)
		}
	})
}

// buildServer compiles the libmodbus server.
func buildServer(t *testing.T) string {
	t.Helper()
	flags, err := exec.Command("pkg-config", "--cflags", "--libs", "libmodbus").Output()
	if err != nil {
		t.Fatalf("pkg-config libmodbus: %v; install it: apt-get install libmodbus-dev gcc pkg-config", err)
	}
	path := filepath.Join(t.TempDir(), "server")
	args := append([]string{"testdata/server.c", "-o", path}, strings.Fields(string(flags))...)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return path
}

func freePort(t *testing.T) string {
	t.Helper()
	port, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// serialPair joins two pseudo-terminals like a null-modem cable.
func serialPair(t *testing.T) (ours, theirs string) {
	t.Helper()
	var ends [2]*pty.Pty
	for i := range ends {
		p, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		ends[i] = p
	}
	var wg sync.WaitGroup
	for _, way := range [][2]*os.File{{ends[0].Master(), ends[1].Master()}, {ends[1].Master(), ends[0].Master()}} {
		wg.Go(func() { io.Copy(way[0], way[1]) })
	}
	t.Cleanup(func() { ends[0].Close(); ends[1].Close(); wg.Wait() })
	return ends[0].SlavePath(), ends[1].SlavePath()
}
