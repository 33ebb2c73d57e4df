package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/ui/uitest"
	"svc.internal/controller/sim"
	"svc.internal/controller/site/recording"
)

const recordedSite = `
site: {name: Recorded}
buses:
  - {name: tcp, driver: modbus, port: "tcp://127.0.0.1:0"}
  - {name: rtu, driver: modbus, port: "@DIR@/rtu"}
  - {name: shades, driver: sdn, port: "@DIR@/sdn"}
  - {name: line, driver: dali, port: "@DIR@/dali", options: {gateway: atx}}
nodes:
  - {id: 1, name: Lamps, bus: tcp, address: 1, profile: wirenboard-wb-mdm3}
  - {id: 2, name: More lamps, bus: rtu, address: 7, profile: wirenboard-wb-mdm3}
  - {id: 3, name: Motor, bus: shades, address: 06.1A.2B, profile: somfy-sdn-30dc}
  - {id: 4, name: Gear, bus: line, address: 5, profile: dali-dt6}
shades:
  - {id: 5001, name: Shade, node: 3, output: 1}
`

// begunCommand is a command that runs until it is told to end.
type begunCommand struct {
	cmd       *exec.Cmd
	out, errs bytes.Buffer
}

// monitor starts 'bus monitor' in a process of its own.
func (d *desk) monitor(args ...string) *begunCommand {
	d.t.Helper()
	return d.begin(append([]string{"bus", "monitor"}, args...)...)
}

// begin starts a command in a process of its own.
func (d *desk) begin(args ...string) *begunCommand {
	d.t.Helper()
	m := &begunCommand{cmd: d.command(context.Background(), args...)}
	m.cmd.Stdout, m.cmd.Stderr = &m.out, &m.errs
	if err := m.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { m.cmd.Process.Kill() })
	return m
}

// interrupt presses Ctrl-C and returns the exit code.
func (m *begunCommand) interrupt(t *testing.T) int {
	t.Helper()
	m.cmd.Process.Signal(syscall.SIGINT)
	done := make(chan struct{})
	go func() { defer close(done); m.cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(uitest.Patience):
		t.Fatal("the command does not end after Ctrl-C")
	}
	return m.cmd.ProcessState.ExitCode()
}

// frames reads a recording.
func frames(t *testing.T, path string) (list []recording.Frame) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := recording.Read(path, f, func(r recording.Frame) error { list = append(list, r); return nil }); err != nil {
		t.Fatal(err)
	}
	return list
}

// answeredOnce is how many frames were sent on a bus and answered by one before the next was sent.
func answeredOnce(all []recording.Frame, bus string) (n int) {
	answers := 2 // what is received before the first was sent answers none of these
	for _, r := range append(slices.Clone(all), recording.Frame{Bus: bus, Direction: "sent"}) {
		switch {
		case r.Bus != bus:
		case r.Direction == "received":
			answers++
		case r.Direction == "sent":
			if answers == 1 {
				n++
			}
			answers = 0
		}
	}
	return n
}

func TestARecordingIsReplayedIntoASimulatedCopy(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	h := newHouse(t, recordedSite)
	d := h.desk()
	path := filepath.Join(t.TempDir(), "recording.jsonl")
	m := d.monitor("--all", "--export", path)
	h.await(time.Minute, "the recording has begun", func() bool { return len(readText(path)) > 0 })
	motor := h.device(3).Frames
	for _, level := range []int{40, 70, 0} {
		for id := range 4 {
			if id+1 == 3 {
				continue // a motor
			}
			h.insist("channelControl", fmt.Sprintf(`{"targetType":3,"targetId":%d,"command":"DIM","dimLevel":%d}`, id+1, level))
		}
	}
	// Nobody commands the motor. One frame that came too late is less than a third of what was recorded of it.
	h.await(5*time.Minute, "the motor to be asked", func() bool { return h.device(3).Frames >= motor+5 })
	if code := m.interrupt(t); code != 0 || !strings.Contains(m.errs.String(), "of 4 buses written to") {
		t.Errorf("exit code %d after Ctrl-C, %q", code, m.errs.String())
	}
	all := frames(t, path)
	site := filepath.Join(t.TempDir(), "exported.yaml")
	d.must("site", "export", site)
	for _, bus := range []string{"tcp", "rtu", "shades", "line"} {
		sent := slices.ContainsFunc(all, func(r recording.Frame) bool { return r.Bus == bus && r.Direction == "sent" && r.OK && r.Fields != nil })
		received := slices.ContainsFunc(all, func(r recording.Frame) bool {
			return r.Bus == bus && r.Direction == "received" && r.OK && r.Fields != nil
		})
		if !sent || !received {
			t.Errorf("bus %s: sent recorded %v, received recorded %v", bus, sent, received)
		}
	}
	if lines := strings.Count(m.out.String(), "\n"); lines != len(all) {
		t.Errorf("%d lines shown, %d frames recorded", lines, len(all))
	}

	t.Run("alike, at any speed", func(t *testing.T) {
		t.Parallel()
		for _, speed := range []string{"max", "1"} {
			s := d.replay(path, site, "--speed", speed, "--json")
			reports := replayReports(t, s)
			differ := 0
			for _, r := range reports {
				t.Logf("--speed %s: bus %s: %d frames sent, %v", speed, r.Bus, r.Sent, r.Verdicts)
				differ += r.Sent - r.Verdicts[verdictAlike]
				// On a busy machine a device of the recording may have been too late for
				// its master; its copy is not.
				once := answeredOnce(all, r.Bus)
				if r.Sent == 0 || r.Verdicts[verdictMissing]+r.Verdicts[verdictValue] > 0 || r.Verdicts[verdictAlike] < max(1, min(once, 7*r.Sent/10)) {
					t.Errorf("--speed %s: bus %s: %v of %d; %+v", speed, r.Bus, r.Verdicts, r.Sent, r.Diffs)
				}
			}
			if (s.code == 0) != (differ == 0) || s.code != 0 && s.code != 3 || len(reports) != 4 {
				t.Errorf("--speed %s: exit code %d with %d differences on %d buses: %s", speed, s.code, differ, len(reports), s.err)
			}
		}
	})
	t.Run("never where the site says", func(t *testing.T) {
		t.Parallel()
		before := h.writes()
		replayReports(t, d.replay(path, site, "--json"))
		if now := h.writes(); now != before {
			t.Errorf("%d writes reached the buses of the daemon", now-before)
		}
	})
	t.Run("tells what differs", func(t *testing.T) {
		t.Parallel()
		other := d.write("other.yaml", strings.NewReplacer("@DIR@", t.TempDir(), "address: 7", "address: 8").Replace(recordedSite))
		s := d.replay(path, other, "--bus", "rtu,tcp", "--json")
		reports := replayReports(t, s)
		if s.code != 3 || len(reports) != 2 || reports[0].Bus != "rtu" || reports[0].Verdicts[verdictMissing] < max(1, answeredOnce(all, "rtu")) || len(reports[1].Diffs) != 0 {
			t.Errorf("exit code %d: %+v", s.code, reports)
		}
	})
	t.Run("tells values from answers", func(t *testing.T) {
		t.Parallel()
		// The level that was read last is another in this recording, with its checksum.
		lines := strings.SplitAfter(readText(path), "\n")
		changed := 0
		for i, line := range lines {
			var r recording.Frame
			if json.Unmarshal([]byte(line), &r) != nil || r.Bus != "tcp" || r.Direction != "received" || !strings.Contains(line, "read_holding") {
				continue
			}
			r.Hex = r.Hex[:len(r.Hex)-1] + string("0123456789abcdef"[(strings.IndexByte("0123456789abcdef", r.Hex[len(r.Hex)-1])+1)%16])
			b, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			lines[i] = string(b) + "\n"
			changed++
		}
		tampered := d.write("tampered.jsonl", strings.Join(lines, ""))
		s := d.replay(tampered, site, "--bus", "tcp")
		if changed == 0 || s.code != 3 || !strings.Contains(s.out, fmt.Sprintf("%d other value", changed)) {
			t.Errorf("%d changed; exit code %d: %s%s", changed, s.code, s.out, s.err)
		}
		if s := d.replay(tampered, site, "--bus", "tcp", "--ignore-values"); s.code != 0 {
			t.Errorf("values ignored: exit code %d: %s%s", s.code, s.out, s.err)
		}
	})
	t.Run("is decoded anew", func(t *testing.T) {
		out := d.must("bus", "decode", "--file", path)
		if got := strings.Count(out, "\n"); got != len(all) {
			t.Errorf("%d lines of %d frames", got, len(all))
		}
		for i, line := range slices.Collect(strings.Lines(out)) {
			var r recording.Frame
			if err := json.Unmarshal([]byte(line), &r); err != nil || !reflect.DeepEqual(r, all[i]) {
				t.Fatalf("%v: %+v, want %+v", err, r, all[i])
			}
		}
	})
	t.Run("is refused if it is none", func(t *testing.T) {
		for _, c := range []struct{ text, want string }{
			{"{}\n", "this is no recording"},
			{`{"recording":9,"by":"tomorrow"}` + "\n", "version 9, written by tomorrow"},
			{`{"recording":1}` + "\nfoo\n", ":2: no frame"},
			{`{"recording":1}` + "\n", "no frames that were sent"},
		} {
			if s := d.replay(d.write("bad.jsonl", c.text), site); s.code != 1 || !strings.Contains(s.err, c.want) {
				t.Errorf("%q: exit code %d, %q, want %q", c.text, s.code, s.err, c.want)
			}
		}
		if s := d.run("bus", "monitor", "--all", "--last", "1", "--export", path); s.code != 1 || frames(t, path)[0].Hex != all[0].Hex {
			t.Errorf("a recording was written over: exit code %d %s", s.code, s.err)
		}
	})
	t.Run("ends at its largest size", func(t *testing.T) {
		r, err := recording.Create(filepath.Join(t.TempDir(), "small"), "a test", 500)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for ; err == nil; n++ {
			err = r.Write(all[0])
		}
		if cerr := r.Close(); err != recording.ErrFull || cerr != nil || n > 5 {
			t.Errorf("%v after %d frames, close %v", err, n, cerr)
		}
	})
}

// replay plays a recording into a simulated copy of a site.
func (d *desk) replay(file, site string, args ...string) said {
	d.t.Helper()
	path, err := simulator()
	if err != nil {
		d.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	return d.answerOf(exec.CommandContext(ctx, path, append([]string{"replay", file, "--site", site}, args...)...), "")
}

// Verdicts of a replay.
const (
	verdictAlike   = "alike"
	verdictValue   = "other value"
	verdictOther   = "other answer"
	verdictMissing = "no answer"
	verdictExtra   = "answer where there was none"
)

// replayReport is what came of one bus.
type replayReport struct {
	Bus        string
	Sent, Gaps int
	Verdicts   map[string]int
	Diffs      []struct{ Verdict, Sent, Recorded, Got string } `json:"differences"`
}

// replayReports is what a replay printed for scripts.
func replayReports(t *testing.T, s said) (reports []replayReport) {
	t.Helper()
	if err := json.Unmarshal([]byte(s.out), &reports); err != nil {
		t.Fatalf("%v; exit code %d: %s", err, s.code, s.err)
	}
	return reports
}

// readText is what is in a file; nothing if there is none.
func readText(path string) string {
	b, _ := os.ReadFile(path)
	return string(b)
}

func TestMonitorShowsOnlyWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	virtually(t, recordedSite, func(t *testing.T, h *house) {
		d := h.desk()
		last := func(args ...string) (list []recording.Frame) {
			t.Helper()
			for line := range strings.Lines(d.must(append([]string{"bus", "monitor", "--json"}, args...)...)) {
				var r recording.Frame
				if err := json.Unmarshal([]byte(line), &r); err != nil {
					t.Fatalf("%v in %q", err, line)
				}
				list = append(list, r)
			}
			return list
		}
		every := func(list []recording.Frame, is func(recording.Frame) bool) {
			t.Helper()
			if len(list) == 0 {
				t.Error("nothing is shown")
			}
			for _, r := range list {
				if !is(r) {
					t.Errorf("%+v is shown", r)
				}
			}
		}
		if list := last("tcp", "rtu", "--last", "3"); len(list) != 6 {
			t.Errorf("%d frames, want three of each bus", len(list))
		}
		every(last("tcp", "--recent", "--direction", "received"), func(r recording.Frame) bool { return r.Direction == "received" })
		every(last("tcp", "--recent", "--text", "Read Holding"), func(r recording.Frame) bool { return strings.Contains(r.Words(), "read holding") })
		every(last("rtu", "--recent", "--address", "7"), func(r recording.Frame) bool { return r.Bus == "rtu" })
		every(last("shades", "--recent", "--address", "06.1a.2b"), func(r recording.Frame) bool { return r.Bus == "shades" })
		// An answer on a DALI line carries no address: it is that of the gear asked.
		every(last("line", "--recent", "--address", "5", "--direction", "received"), func(r recording.Frame) bool { return r.Direction == "received" })
		if list := last("rtu", "--recent", "--address", "8"); len(list) != 0 {
			t.Errorf("%d frames of a device that is not there", len(list))
		}
		if list := last("line", "--count", "4"); len(list) != 4 {
			t.Errorf("%d frames, want it to end after 4", len(list))
		}

		end := h.fault(sim.Fault{Kind: sim.FaultCorrupt, Bus: "rtu"})
		h.await(20*time.Second, "damaged frames in the flight recorder", func() bool {
			return len(last("rtu", "--recent", "--errors", "--direction", "discarded")) > 0
		})
		end()
		for _, c := range [][]string{{"bus", "monitor"}, {"bus", "monitor", "tcp", "--all"}, {"bus", "monitor", "tcp", "--direction", "up"}} {
			if s := d.run(c...); s.code != 2 {
				t.Errorf("%q: exit code %d, want 2", c, s.code)
			}
		}
		if s := d.run("bus", "monitor", "cellar"); s.code != 1 || !strings.Contains(s.err, "bus list") {
			t.Errorf("exit code %d: %s", s.code, s.err)
		}
	})
}
