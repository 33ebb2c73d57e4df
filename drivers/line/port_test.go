package line

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/drivers/line/pty"
)

func TestNewRefusesWhatCannotWork(t *testing.T) {
	good := Config{Name: "a", Port: "/dev/ttyUSB0", Serial: settings}
	tests := []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"no name", func(c *Config) { c.Name = "" }, "name"},
		{"relative path", func(c *Config) { c.Port = "ttyUSB0" }, "ttyUSB0"},
		{"a file", func(c *Config) { c.Port = "/proc/self/status" }, "no serial port"},
		{"a folder", func(c *Config) { c.Port = "/dev" }, "no serial port"},
		{"unknown scheme", func(c *Config) { c.Port = "udp://a:1" }, "udp://"},
		{"no port number", func(c *Config) { c.Port = "tcp://gateway" }, "gateway"},
		{"port number out of range", func(c *Config) { c.Port = "tcp://gateway:70000" }, "70000"},
		{"path behind the address", func(c *Config) { c.Port = "tcp://gateway:502/x" }, "502/x"},
		{"no host", func(c *Config) { c.Port = "tcp://:502" }, "host"},
		{"baud rate missing", func(c *Config) { c.Serial.BaudRate = 0 }, "baud rate 0"},
		{"data bits", func(c *Config) { c.Serial.DataBits = 9 }, "data bits 9"},
		{"stop bits", func(c *Config) { c.Serial.StopBits = 0 }, "stop bits 0"},
		{"parity", func(c *Config) { c.Serial.Parity = "E" }, `"E"`},
		{"silence", func(c *Config) { c.Silence = -1 }, "silence"},
	}
	if _, err := New(good); err != nil {
		t.Fatalf("a good configuration was refused: %v", err)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cfg := good
			test.change(&cfg)
			if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want one that mentions %q", err, test.want)
			}
		})
	}
}

func TestAirtime(t *testing.T) {
	tests := []struct {
		port     string
		settings appliance.LineSettings
		n        int
		want     time.Duration
	}{
		{"/dev/x", appliance.LineSettings{BaudRate: 19200, Parity: "even", DataBits: 8, StopBits: 1}, 33, 18906250},
		{"/dev/x", appliance.LineSettings{BaudRate: 9600, Parity: "none", DataBits: 8, StopBits: 2}, 8, 9166666},
		{"/dev/x", appliance.LineSettings{BaudRate: 9600, Parity: "none", DataBits: 8, StopBits: 1}, 96, 100 * time.Millisecond},
		{"/dev/x", appliance.LineSettings{BaudRate: 4800, Parity: "odd", DataBits: 8, StopBits: 1}, 48, 110 * time.Millisecond},
		{"tcp://a:1", appliance.LineSettings{}, 256, 0},
	}
	for _, test := range tests {
		l, err := New(Config{Name: "a", Port: test.port, Serial: test.settings})
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Airtime(test.n); got != test.want {
			t.Errorf("%d characters at %+v: got %v, want %v", test.n, test.settings, got, test.want)
		}
	}
}

// echoDevice answers every request with itself until the pty is closed.
func echoDevice(p *pty.Pty) {
	go func() {
		buf := make([]byte, 256)
		for {
			n, err := p.Master().Read(buf)
			if err != nil {
				return
			}
			p.Master().Write(buf[:n])
		}
	}()
}

func TestUnpluggedAndBackUnderAnotherName(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	noLeaks(t)
	b := newBench(t, nil)
	log := b.Follow(within(t, patience))
	for i := range 20 {
		echoDevice(b.wire)
		reply, err := b.Exchange(within(t, patience), ask("one"))
		wantAnswer(t, reply, err, "one")
		old := b.wire
		if i%2 == 0 { // while idle
			old.Close()
		} else { // while an answer is waited for
			silent := ask("one")
			silent.Scan = func([]byte) (int, Verdict) { return 0, More }
			silent.Timeout = time.Minute
			silent.Frame = fmt.Appendf(nil, "round %d\n", i)
			b.device(func() {
				for limit := time.Now().Add(time.Minute); !b.sent(silent.Frame) && time.Now().Before(limit); {
					time.Sleep(time.Millisecond)
				}
				old.Close()
			})
			begun := time.Now()
			reply, err := b.Exchange(within(t, patience), silent)
			wantErr(t, err, appliance.ErrBusDown)
			if reply.Sent.IsZero() || time.Since(begun) > 10*time.Second {
				t.Fatalf("round %d: sent %v, noticed after %v", i, reply.Sent, time.Since(begun))
			}
		}
		b.until("the loss is noticed", func() bool { return b.Link() != nil })
		begun := time.Now()
		_, err = b.Exchange(within(t, patience), ask("one"))
		wantErr(t, err, appliance.ErrBusDown)
		if took := time.Since(begun); took > 20*time.Second {
			t.Fatalf("round %d: ErrBusDown took %v, want at once", i, took)
		}
		spare, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		if spare.SlavePath() != old.SlavePath() {
			spare.Close()
		} // else it keeps the old name taken
		b.plug()
		plugged := time.Now()
		b.until("the port is open again", func() bool { return b.Link() == nil })
		if took := time.Since(plugged); took > 20*time.Second { // ten times: other programs may have the processors
			t.Errorf("round %d: back after %v, want 2s at most", i, took)
		}
		spare.Close()
	}
	notes := map[string]int{}
	for len(log) > 0 {
		notes[(<-log).Note]++
	}
	if notes[notePortLost] != 20 || notes[notePortFound] != 20 {
		t.Errorf("recorder notes: %v; want the port lost and found 20 times", notes)
	}
}

func TestUnplugGapNeedsNoProcessor(t *testing.T) {
	b := newBench(t, nil)
	b.wire.Close()
	b.until("the loss is noticed", func() bool { return b.Link() != nil })
	before := cpuTime(t)
	time.Sleep(time.Second) // the second that is measured
	if used := cpuTime(t) - before; used > 100*time.Millisecond {
		t.Errorf("used %v of processor time in 1 s without an adapter", used)
	}
}

// usb is a /dev with two adapters' worth of stable names.
type usb struct {
	t    *testing.T
	root string
}

func newUSB(t *testing.T) usb {
	u := usb{t, t.TempDir()}
	for _, dir := range []string{"serial/by-id", "serial/by-path"} {
		if err := os.MkdirAll(filepath.Join(u.root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return u
}

func (u usb) plug(id, socket string) *pty.Pty {
	u.t.Helper()
	p, err := pty.Open()
	if err != nil {
		u.t.Fatal(err)
	}
	u.t.Cleanup(func() { p.Close() })
	for dir, name := range map[string]string{"by-id": id, "by-path": socket} {
		if name == "" {
			continue
		}
		if err := p.Link(filepath.Join(u.root, "serial", dir, name)); err != nil {
			u.t.Fatal(err)
		}
	}
	return p
}

// unplug removes the names first: another program may have taken the device's number by the time that they are looked at.
func (u usb) unplug(p *pty.Pty, id, socket string) {
	if id != "" {
		os.Remove(filepath.Join(u.root, "serial/by-id", id))
	}
	if socket != "" {
		os.Remove(filepath.Join(u.root, "serial/by-path", socket))
	}
	p.Close()
}

func TestAdapterIsFoundAgainByItsOwnName(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	tests := []struct{ name, id, socket, idThen, socketThen string }{
		{"same socket", "adapter-1", "socket-1", "adapter-1", "socket-1"},
		{"other socket", "adapter-1", "socket-1", "adapter-1", "socket-2"},
		{"known by name only", "adapter-1", "", "adapter-1", ""},
		{"known by socket only", "", "socket-1", "", "socket-1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			u := newUSB(t)
			first := u.plug(test.id, test.socket)
			l := run(t, Config{Name: "test", Port: first.SlavePath(), Serial: settings, DevRoot: u.root})
			waitFor(t, "the port is open", func() bool { return l.Link() == nil })
			u.unplug(first, test.id, test.socket)
			waitFor(t, "the loss is noticed", func() bool { return l.Link() != nil })
			u.plug("adapter-9", "socket-9") // takes the old device name, unless another program did
			second := u.plug(test.idThen, test.socketThen)
			echoDevice(second)
			plugged := time.Now()
			waitFor(t, "the port is open again", func() bool { return l.Link() == nil })
			if took := time.Since(plugged); took > 20*time.Second { // ten times: other programs may have the processors
				t.Errorf("back after %v, want 2s at most", took)
			}
			reply, err := l.Exchange(within(t, patience), ask("one"))
			wantAnswer(t, reply, err, "one")
		})
	}
}

func TestStrangerAtTheOldNameIsNotOpened(t *testing.T) {
	u := newUSB(t)
	stranger := u.plug("adapter-9", "socket-9")
	i := identity{byID: filepath.Join(u.root, "serial/by-id/adapter-1"), byPath: filepath.Join(u.root, "serial/by-path/socket-1")}
	_, err := i.find(stranger.SlavePath(), u.root, time.Now())
	if err == nil || !strings.Contains(err.Error(), "not the adapter") || !strings.Contains(err.Error(), "adapter-1") {
		t.Errorf("got error %v, want one that names the adapter that is missing", err)
	}
}

func TestWhichAdapterIsOurs(t *testing.T) {
	now := time.Now()
	tests := []struct {
		name    string
		present map[string]string // id → socket
		after   time.Duration
		want    string // id whose device is opened; empty: none yet
	}{
		{"ours, same socket", map[string]string{"ours": "socket-1"}, 0, "ours"},
		{"ours, other socket, at once", map[string]string{"ours": "socket-2"}, 0, ""},
		{"ours, other socket, after a while", map[string]string{"ours": "socket-2"}, movedGrace, "ours"},
		{"two adapters changed places", map[string]string{"ours": "socket-2", "other": "socket-1"}, 0, "ours"},
		{"another in our socket, at once", map[string]string{"other": "socket-1"}, 0, ""},
		{"another in our socket, for long: replaced", map[string]string{"other": "socket-1"}, replacedGrace + time.Second, "other"},
		{"nothing", map[string]string{}, time.Hour, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			u := newUSB(t)
			devices := map[string]string{}
			for id, socket := range test.present {
				devices[id] = u.plug(id, socket).SlavePath()
			}
			i := identity{
				byID:   filepath.Join(u.root, "serial/by-id/ours"),
				byPath: filepath.Join(u.root, "serial/by-path/socket-1"),
				since:  now.Add(-test.after),
			}
			got, err := i.find("/dev/nothing", u.root, now)
			if (err == nil) != (test.want != "") || got != devices[test.want] {
				t.Errorf("got %q, %v; want device of %q (%q)", got, err, test.want, devices[test.want])
			}
		})
	}
}

func TestSecondOpenerIsRefused(t *testing.T) {
	b := newBench(t, nil)
	second := run(t, Config{Name: "second", Port: b.link, Serial: settings})
	waitFor(t, "the refusal", func() bool {
		err := second.Link()
		return err != nil && strings.Contains(err.Error(), fmt.Sprintf("process %d", os.Getpid()))
	})
	_, err := second.Exchange(within(t, patience), ask("one"))
	wantErr(t, err, appliance.ErrBusDown)
	b.device(func() { b.write(string(b.read(4))) })
	reply, err := b.Exchange(within(t, patience), ask("one"))
	wantAnswer(t, reply, err, "one")
}

func TestPortHeldByAnotherProgram(t *testing.T) {
	p, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	other := exec.Command("flock", "--no-fork", p.SlavePath(), "sh", "-c", "echo locked; exec sleep 60") // one process, that is ended with the test
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatalf("flock (package util-linux) is needed: %v", err)
	}
	defer func() { other.Process.Kill(); other.Wait() }()
	if _, err := out.Read(make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	l := run(t, Config{Name: "test", Port: p.SlavePath(), Serial: settings})
	waitFor(t, "the refusal names the other program", func() bool {
		err := l.Link()
		return err != nil && strings.Contains(err.Error(), fmt.Sprintf("(process %d)", other.Process.Pid))
	})
}

func TestMissingPortIsExplained(t *testing.T) {
	l := run(t, Config{Name: "ground floor", Port: filepath.Join(t.TempDir(), "ttyUSB0"), Serial: settings})
	_, err := l.Exchange(within(t, patience), ask("one"))
	wantErr(t, err, appliance.ErrBusDown)
	for _, part := range []string{"ground floor", "ttyUSB0", "plugged in"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not mention %q", err, part)
		}
	}
}

func TestExchangeWithoutRun(t *testing.T) {
	noLeaks(t)
	synctest.Test(t, func(t *testing.T) {
		l, err := New(Config{Name: "test", Port: "/dev/ttyNone", Serial: settings})
		if err != nil {
			t.Fatal(err)
		}
		_, err = l.Exchange(within(t, 20*time.Millisecond), ask("one"))
		wantErr(t, err, appliance.ErrBusDown)
	})
}

func TestExchangeAfterRun(t *testing.T) {
	noLeaks(t)
	for _, port := range []string{"/dev/ttyNone", "tcp://127.0.0.1:1"} {
		l, err := New(Config{Name: "test", Port: port, Serial: settings})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := l.Run(ctx); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		_, err = l.Exchange(within(t, patience), ask("one"))
		wantErr(t, err, appliance.ErrBusDown)
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("%s: took %v, want at once", port, took)
		}
		if err := l.Run(context.Background()); err == nil {
			t.Errorf("%s: ran twice", port)
		}
	}
}

func TestExchangeUnderWayWhenRunEnds(t *testing.T) {
	noLeaks(t)
	p, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	l, err := New(Config{Name: "test", Port: p.SlavePath(), Serial: settings})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); l.Run(ctx) }()
	go func() { readFrom(t, p.Master(), 4); cancel() }()
	r := ask("one")
	r.Timeout = 20 * time.Second
	_, err = l.Exchange(within(t, patience), r)
	wantErr(t, err, appliance.ErrBusDown)
	<-ended
}

func TestAdapterThatTakesNoMoreBytes(t *testing.T) {
	b := newBench(t, nil)
	s := b.current().(*serialPort)
	// Fill the buffers of the pty, which nobody reads, until they stay full: the
	// kernel moves bytes on to the other side in the background.
	for refused := 0; refused < 5; {
		if n, _ := s.Write([]byte(strings.Repeat("x", 4096)), time.Now().Add(20*time.Millisecond)); n == 0 {
			refused++
		} else {
			refused = 0
		}
	}
	r := ask("MOVE THE SHADE")
	r.Actuates = true
	begun := time.Now()
	_, err := b.Exchange(within(t, patience), r)
	wantErr(t, err, appliance.ErrBusDown)
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("gave up after %v", took)
	}
	if !strings.Contains(err.Error(), "takes no more bytes") {
		t.Errorf("error %q does not tell that the adapter is stuck", err)
	}
	var got []byte
	buf := make([]byte, 64<<10)
	for {
		b.wire.Master().SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		n, err := b.wire.Master().Read(buf)
		got = append(got, buf[:n]...)
		if err != nil {
			break
		}
	}
	if strings.Contains(string(got), "SHADE") {
		t.Error("the command was delivered late")
	}
}

// stuck is an adapter that keeps what it was given: a pseudo-terminal cannot.
type stuck struct {
	port
	aborted atomic.Bool
}

func (s *stuck) unsent() int { return 14 }

func (s *stuck) abort() { s.aborted.Store(true); s.port.abort() }

// Nobody answers a broadcast: it was taken for sent when its adapter still had it.
func TestBroadcastStuckInTheAdapterIsWithdrawn(t *testing.T) {
	b := newBench(t, nil)
	b.mu.Lock()
	s := &stuck{port: b.Line.link.port}
	b.Line.link.port = s
	b.mu.Unlock()
	_, err := b.Exchange(within(t, patience), Request{Frame: []byte("MOVE THE SHADE"), Actuates: true, Turnaround: 20 * time.Millisecond})
	wantErr(t, err, appliance.ErrSilent)
	if !s.aborted.Load() {
		t.Error("it may still be delivered")
	}
	b.until("the port is open again", func() bool { return b.Link() == nil && b.current() != port(s) })
}

// An adapter that has one of the two names only, and is pulled.
func TestAdapterWithOneNameIsMissedWhenPulled(t *testing.T) {
	for _, dir := range []string{"by-id", "by-path"} {
		root := t.TempDir()
		device := filepath.Join(root, "ttyUSB0")
		link := filepath.Join(root, "serial", dir, "usb-adapter")
		if err := errors.Join(os.WriteFile(device, nil, 0o600), os.MkdirAll(filepath.Dir(link), 0o755), os.Symlink(device, link)); err != nil {
			t.Fatal(err)
		}
		var i identity
		i.remember(device, device, root)
		if err := errors.Join(os.Remove(link), os.Remove(device)); err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		for _, after := range []time.Duration{0, 2 * time.Second} {
			if path, err := i.find(device, root, now.Add(after)); err == nil {
				t.Errorf("%s, %v after it was pulled: the path to open is %q; want an error that says it is not there", dir, after, path)
			}
		}
	}
}
