package line

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line/pty"
)

// patience is how long anything may take before a test gives up; nothing is measured with it.
const patience = 3 * time.Minute

var settings = appliance.LineSettings{BaudRate: 115200, Parity: "even", DataBits: 8, StopBits: 1}

// bench is a line under test on a pseudo-terminal. The link leads to whatever
// adapter is plugged in.
type bench struct {
	*Line
	t    testing.TB
	link string
	wire *pty.Pty
}

func newBench(t testing.TB, change func(*Config)) *bench {
	t.Helper()
	b := &bench{t: t, link: filepath.Join(t.TempDir(), "bus")}
	b.plug()
	cfg := Config{Name: "test", Port: b.link, Serial: settings, Silence: 2 * time.Millisecond}
	if change != nil {
		change(&cfg)
	}
	b.Line = run(t, cfg)
	b.until("the port is open", func() bool { return b.Link() == nil })
	return b
}

// run runs a line until the test ends, and checks that nothing of it stays.
func run(t testing.TB, cfg Config) *Line {
	t.Helper()
	l, _ := runUntil(t, cfg)
	return l
}

// runUntil runs a line until the function it returns is called, or the test is over.
func runUntil(t testing.TB, cfg Config) (*Line, context.CancelFunc) {
	t.Helper()
	l, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("Run: %v", err)
			}
		case <-time.After(patience):
			t.Error("Run goes on after its context")
		}
	})
	return l, cancel
}

func (b *bench) plug() {
	b.t.Helper()
	p, err := pty.Open()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := p.Link(b.link); err != nil {
		b.t.Fatal(err)
	}
	b.wire = p
	b.t.Cleanup(func() { p.Close() })
}

func (b *bench) until(what string, ok func() bool) { waitFor(b.t, what, ok) }

func waitFor(t testing.TB, what string, ok func() bool) {
	t.Helper()
	limit := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(limit) {
			t.Fatalf("waited in vain until %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// read reads n bytes of what the line sent.
func (b *bench) read(n int) []byte {
	b.t.Helper()
	return readFrom(b.t, b.wire.Master(), n)
}

type deadlineReader interface {
	Read([]byte) (int, error)
	SetReadDeadline(time.Time) error
}

func readFrom(t testing.TB, r deadlineReader, n int) []byte {
	t.Helper()
	r.SetReadDeadline(time.Now().Add(patience))
	buf := make([]byte, n)
	for got := 0; got < n; {
		m, err := r.Read(buf[got:])
		if err != nil {
			t.Errorf("device: read %d of %d bytes: %v", got, n, err)
			return buf[:got]
		}
		got += m
	}
	return buf
}

func (b *bench) write(s string) {
	b.t.Helper()
	if _, err := b.wire.Master().WriteString(s); err != nil {
		b.t.Errorf("device: %v", err)
	}
}

// device plays the other end in the background until the test ends.
func (b *bench) device(play func()) {
	var wg sync.WaitGroup
	wg.Go(play)
	b.t.Cleanup(wg.Wait)
}

// line-shaped frames make tests readable: an answer is "<text>\n"; wantLine
// accepts the one that says what was asked, and skips others.
func wantLine(text string) func([]byte) (int, Verdict) {
	return func(b []byte) (int, Verdict) {
		i := bytes.IndexByte(b, '\n')
		switch {
		case i < 0:
			return 0, More
		case string(b[:i]) == text:
			return i + 1, Accept
		case bytes.HasPrefix(b, []byte("bad")):
			return i + 1, Reject
		case bytes.HasPrefix(b, []byte("broken")):
			return i + 1, Broken
		}
		return i + 1, Skip
	}
}

func ask(text string) Request {
	return Request{Frame: []byte(text + "\n"), Scan: wantLine(text), Timeout: 5 * time.Second}
}

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func wantErr(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want one wrapping %q", err, want)
	}
}

func wantAnswer(t testing.TB, reply Reply, err error, text string) {
	t.Helper()
	if err != nil {
		t.Fatalf("exchange: %v", err)
	}
	if got := strings.TrimSuffix(string(reply.Frame), "\n"); got != text {
		t.Fatalf("got answer %q, want %q", got, text)
	}
	if reply.Sent.IsZero() || reply.Done.Before(reply.Sent) {
		t.Fatalf("sent %v, done %v: want sent before done", reply.Sent, reply.Done)
	}
}

// discarded tells whether the flight recorder holds these bytes as discarded.
func (b *bench) discarded(text string) bool {
	var all []byte
	for _, f := range b.Recent() {
		if f.Direction == appliance.FrameDiscarded {
			all = append(all, f.Bytes...)
		}
	}
	return bytes.Contains(all, []byte(text))
}

// sent tells whether the flight recorder holds this frame as sent.
func (b *bench) sent(frame []byte) bool {
	return slices.ContainsFunc(b.Recent(), func(f appliance.Frame) bool {
		return f.Direction == appliance.FrameSent && bytes.Equal(f.Bytes, frame)
	})
}

func noLeaks(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		waitFor(t, "the goroutines of the line have ended", func() bool { return runtime.NumGoroutine() <= before })
	})
}

func TestMain(m *testing.M) {
	SharpTimers()
	flag.Set("test.parallel", "8") // they wait for wires, not for a processor; -parallel overrules it
	os.Exit(m.Run())
}
