package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/site/recording"
)

const busySite = `
site: {name: Busy, freshness: {light: 100ms}}
buses:
  - {name: tcp, driver: modbus, port: "tcp://127.0.0.1:0"}
nodes:
  - {id: 1, name: Lamps, bus: tcp, address: 1, profile: wirenboard-wb-mdm3}
  - {id: 2, name: More lamps, bus: tcp, address: 2, profile: wirenboard-wb-mdm3}
  - {id: 3, name: And more, bus: tcp, address: 3, profile: wirenboard-wb-mao4}
`

// TestARecordingTellsWhereFramesAreMissing stops the command that records until more
// has passed than anybody keeps for it. What it writes then has to name the gap, and
// whoever reads it must not take the gap for silence.
func TestARecordingTellsWhereFramesAreMissing(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	path := filepath.Join(t.TempDir(), "night.jsonl")
	virtually(t, busySite, func(t *testing.T, h *house) { h.recordWithGaps(t, path) })
	d := &desk{t: t}
	reports := replayReports(t, d.replay(aroundGap(t, path), d.write("busy.yaml", busySite), "--json", "--ignore-values"))
	if len(reports) != 1 || reports[0].Gaps != 1 || reports[0].Verdicts[verdictMissing]+reports[0].Verdicts[verdictExtra]+reports[0].Verdicts[verdictOther] > 0 {
		t.Errorf("replay over gaps: %+v, want one frame not judged", reports)
	}
}

func (h *house) recordWithGaps(t *testing.T, path string) {
	t.Helper()
	exchanges := func() uint64 { return h.bus("tcp").Stats.Exchanges }
	h.await(30*time.Second, "the bus is polled", func() bool { return exchanges() > 10 })
	ctx, interrupt := context.WithCancel(t.Context())
	out, errs, ended := &stoppable{}, &strings.Builder{}, make(chan int)
	go func() {
		ended <- h.inProcess(ctx, h.dataDir, strings.NewReader(""), out, errs, []string{"bus", "monitor", "tcp", "--export", path})
	}()
	waitFor(t, 10*time.Second, "the recording has begun", func() bool { return len(readText(path)) > 1000 })
	goOn := out.stop()
	before := exchanges()
	h.await(2*time.Minute, "more to have passed than anybody keeps", func() bool { return exchanges() > before+1200 })
	goOn()
	before = exchanges()
	h.await(30*time.Second, "some more to have passed", func() bool { return exchanges() > before+50 })
	interrupt()
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d: %s", code, errs)
	}

	lost, gaps := 0, 0
	for _, f := range frames(t, path) {
		if lost += f.Lost; f.Lost > 0 {
			gaps++
		}
	}
	t.Logf("%d frames missing in %d gaps", lost, gaps)
	if gaps == 0 || lost < 100 { // 2400 frames passed at least
		t.Fatalf("%d frames missing in %d gaps", lost, gaps)
	}
	if !strings.Contains(errs.String(), "frames are missing in it") || !strings.Contains(out.text.String(), "missing here: more passed than could be shown") {
		t.Errorf("the installer reads %q, and no gap in\n%.2000s", errs, out.text.String())
	}
	decoded := 0
	for _, line := range strings.Split(strings.TrimSpace(h.desk().must("bus", "decode", "--file", path)), "\n") {
		var r recording.Frame
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		decoded += r.Lost
	}
	if decoded != lost {
		t.Errorf("decode tells of %d missing frames, want %d", decoded, lost)
	}
}

// stoppable is a terminal that can be stopped: whoever writes to it waits, as a process that gets SIGSTOP does.
type stoppable struct {
	mu   sync.Mutex
	goes chan struct{} // closed when it goes on; nil: it was not stopped
	text strings.Builder
}

func (s *stoppable) Write(b []byte) (int, error) {
	s.mu.Lock()
	goes := s.goes
	s.mu.Unlock()
	if goes != nil {
		<-goes
	}
	return s.text.Write(b)
}

func (s *stoppable) stop() (goOn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	goes := make(chan struct{})
	s.goes = goes
	return func() { close(goes) }
}

// aroundGap writes a part of a recording with its first gap in the middle, since a
// replay takes its time for every frame.
func aroundGap(t *testing.T, path string) string {
	t.Helper()
	lines := strings.SplitAfter(readText(path), "\n")
	for i, line := range lines {
		if strings.Contains(line, `"lost":`) {
			part := lines[0] + strings.Join(lines[max(1, i-40):min(len(lines), i+40)], "")
			out := filepath.Join(t.TempDir(), "part.jsonl")
			if err := os.WriteFile(out, []byte(part), 0o600); err != nil {
				t.Fatal(err)
			}
			return out
		}
	}
	t.Fatal("no gap")
	return ""
}
