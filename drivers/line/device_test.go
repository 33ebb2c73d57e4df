package line

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.bug.st/serial"
	"golang.org/x/sys/unix"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line/pty"
)

// What settings are for the library.
func TestSettingsAsTheLibraryWantsThem(t *testing.T) {
	for _, row := range []struct {
		settings appliance.LineSettings
		want     serial.Mode
	}{
		{appliance.LineSettings{BaudRate: 9600, DataBits: 8, Parity: "none", StopBits: 2}, serial.Mode{BaudRate: 9600, DataBits: 8, Parity: serial.NoParity, StopBits: serial.TwoStopBits}},
		{appliance.LineSettings{BaudRate: 4800, DataBits: 8, Parity: "odd", StopBits: 1}, serial.Mode{BaudRate: 4800, DataBits: 8, Parity: serial.OddParity, StopBits: serial.OneStopBit}},
		{appliance.LineSettings{BaudRate: 115200, DataBits: 7, Parity: "even"}, serial.Mode{BaudRate: 115200, DataBits: 7, Parity: serial.EvenParity, StopBits: serial.OneStopBit}},
	} {
		if got := *modeOf(row.settings); got != row.want {
			t.Errorf("%+v: %+v", row.settings, got)
		}
	}
}

// What cannot be read is told as what it is: an adapter that was unplugged gives nothing, or an I/O error.
func TestWhyNothingCanBeTaken(t *testing.T) {
	for path, want := range map[string]error{os.DevNull: errUnplugged, t.TempDir(): unix.EISDIR} {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		d := &Device{file: file}
		if d.raw, err = file.SyscallConn(); err != nil {
			t.Fatal(err)
		}
		if n, err := d.Take(make([]byte, 4)); n != 0 || !errors.Is(err, want) {
			t.Errorf("%s: %d bytes, %v; want %v", path, n, err, want)
		}
		if _, err := d.Write([]byte("one"), time.Now()); err == nil || errors.Is(err, errUnplugged) {
			t.Errorf("%s, which is only open for reading: %v", path, err)
		}
		file.Close()
		if _, err := d.Take(make([]byte, 4)); err == nil || errors.Is(err, errUnplugged) {
			t.Errorf("%s, closed: %v", path, err)
		}
	}
}

// A port that is closed is held by nobody any more, and says its name where it is used all the same.
func TestAClosedPortIsLetGo(t *testing.T) {
	p, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var o Opener
	port, err := o.Open(p.SlavePath(), settings)
	if err != nil {
		t.Fatal(err)
	}
	d := port.(*Device)
	if err := d.Tune(appliance.LineSettings{BaudRate: 9600, DataBits: 8, Parity: "none", StopBits: 1}); err != nil {
		t.Error(err)
	}
	d.Close()
	if err := d.Tune(settings); err == nil || !strings.Contains(err.Error(), "set "+p.SlavePath()+" to 115200 baud, parity even: ") {
		t.Errorf("set when it is closed: %v", err)
	}
	again, err := o.Open(p.SlavePath(), settings)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

// A wait that is seen through ends at its time and not before, on this machine's ports and on others.
func TestAWaitThatIsSeenThrough(t *testing.T) {
	for range 3 {
		until := time.Now().Add(2 * time.Millisecond)
		if (*Ports)(nil).linger(until); time.Now().Before(until) {
			t.Errorf("ended %v before its time", time.Until(until))
		}
	}
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		new(Ports).linger(begun.Add(time.Second))
		if took := time.Since(begun); took != time.Second {
			t.Errorf("took %v of virtual time, want 1s", took)
		}
		new(Ports).linger(begun)
		if took := time.Since(begun); took != time.Second {
			t.Errorf("one for a moment that has passed took %v", took-time.Second)
		}
	})
}

// That an adapter returns what is sent is told once, and not where the site says so.
func TestAnAdapterThatEchoesIsToldOnce(t *testing.T) {
	for _, known := range []bool{false, true} {
		var log strings.Builder
		l, err := New(Config{Name: "test", Port: "tcp://127.0.0.1:1", Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		l.link.echo = known
		l.Echoes()
		l.Echoes()
		if told := strings.Count(log.String(), "returns what is sent"); told != map[bool]int{false: 1}[known] || !l.returns() {
			t.Errorf("known %v: told %d times, returns %v", known, told, l.returns())
		}
	}
}

// apart is a line on which two questions may be out, and the far end of it.
func apart(t *testing.T) (l *Line, c io.ReadWriter, exchange func(ctx context.Context, text string, y appliance.Yield) <-chan error) {
	g := newGateway(t, "127.0.0.1:0")
	l = g.line(func(c *Config) { c.InFlight = 2 })
	conn := g.accept()
	return l, conn, func(ctx context.Context, text string, y appliance.Yield) <-chan error {
		r := ask(text)
		r.Yield, r.Own = y, func(b []byte) bool { return b[0] == text[0] }
		done := make(chan error, 1)
		go func() {
			_, err := l.Exchange(ctx, r)
			done <- err
		}()
		readFrom(t, conn, len(text)+1)
		return done
	}
}

// Of several questions that are out, one is given up by itself, whoever reads for all.
func TestGivenUpAmongSeveral(t *testing.T) {
	for _, first := range []bool{true, false} {
		for _, want := range []error{context.Canceled, appliance.ErrPreempted} {
			_, c, exchange := apart(t)
			ctx, cancel := context.WithCancel(within(t, patience))
			now := make(chan struct{})
			kept, given := "one", "two"
			var keep, give <-chan error
			if first {
				give = exchange(ctx, given, appliance.Yield{Answer: now})
			}
			keep = exchange(within(t, patience), kept, appliance.Yield{})
			if !first {
				give = exchange(ctx, given, appliance.Yield{Answer: now})
			}
			if want == context.Canceled {
				cancel()
			} else {
				close(now)
			}
			if err := <-give; !errors.Is(err, want) || errors.Is(err, appliance.ErrSilent) {
				t.Errorf("the first %v: %v, want %v", first, err, want)
			}
			io.WriteString(c, "one\n")
			if err := <-keep; err != nil {
				t.Errorf("the other: %v", err)
			}
			cancel()
		}
	}
}

// What is not an answer to any of several is kept in the recorder as that; a look at its reasons ends no wait.
func TestWhatIsSkippedAmongSeveral(t *testing.T) {
	l, c, exchange := apart(t)
	one := exchange(within(t, patience), "one", appliance.Yield{})
	s := l.current().(*socket)
	for range 5 {
		s.interrupt()
		time.Sleep(time.Millisecond)
	}
	io.WriteString(c, "other\none\n")
	if err := <-one; err != nil {
		t.Error(err)
	}
	var noted string
	for _, f := range l.Recent() {
		if f.Direction == appliance.FrameDiscarded {
			noted += string(f.Bytes) + f.Note
		}
	}
	if noted != "other\n"+NoteNotForUs {
		t.Errorf("discarded: %q", noted)
	}
}

// Who lends the lead while an answer is awaited is told when the frame was out; what is not begun takes no turn.
func TestTheLeadIsLentWhileAnAnswerIsAwaited(t *testing.T) {
	l, c, exchange := apart(t)
	var lent time.Time
	one := exchange(within(t, patience), "one", appliance.Yield{Apart: func(sent time.Time, wait func()) { lent = sent; wait() }})
	io.WriteString(c, "one\n")
	if err := <-one; err != nil || lent.IsZero() {
		t.Errorf("lent since %v: %v", lent, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := ask("two")
	r.Own = func([]byte) bool { return true }
	if reply, err := l.Exchange(ctx, r); !errors.Is(err, context.Canceled) || !reply.Sent.IsZero() {
		t.Errorf("given up before: sent %v, %v", reply.Sent, err)
	}
	r.At = &settings
	if _, err := l.Exchange(within(t, patience), r); !errors.Is(err, appliance.ErrRefused) {
		t.Errorf("at other settings: %v", err)
	}
	if len(l.turn) > 0 {
		t.Error("the turn is taken")
	}
	for _, f := range l.Recent() {
		if f.Direction == appliance.FrameSent && string(f.Bytes) != "one\n" {
			t.Errorf("sent %q", f.Bytes)
		}
	}
}

// deadPort is a connection that takes nothing any more.
type deadPort struct{ ending }

func (*deadPort) write([]byte, time.Time) (int, error) { return 0, io.ErrClosedPipe }

// A connection that turns out dead is made again, once; where nobody is there, the bus is down, and whoever has given up waits for nobody who is at it.
func TestADeadConnectionThatCannotBeMadeAgain(t *testing.T) {
	l := newIdle(t)
	p := &deadPort{}
	l.link.port = p
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	again, sent, err := l.send(ctx, p, Request{Frame: []byte("one\n")}, time.Now().Add(time.Second))
	if err == nil || !sent.IsZero() || again != nil || p.how != "aborted" {
		t.Errorf("sent %v over %v, %v; the dead one was %q", sent, again, err, p.how)
	}
	l.entry <- struct{}{} // somebody is at it
	if p, err := l.open(ctx, time.Second); err == nil || p != nil || !strings.Contains(err.Error(), "takes longer than 1s") {
		t.Errorf("opened %v, %v", p, err)
	}
	if why := l.Link(); why == nil || !strings.Contains(why.Error(), "takes longer than 1s") {
		t.Errorf("it is said to be down for %v", why)
	}
}

// An adapter that is unplugged before anybody waits for what it says is missed by nobody.
func TestUnpluggedBeforeAnybodyWaits(t *testing.T) {
	p, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	d, err := new(Opener).Open(p.SlavePath(), settings)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	p.Close()
	time.Sleep(50 * time.Millisecond) // so that the runtime's poller has been told already, and forgets it
	waited := make(chan error, 1)
	go func() { waited <- d.Wait() }()
	select {
	case err := <-waited:
		if n, taken := d.Take(make([]byte, 4)); err != nil || n != 0 || !errors.Is(taken, errUnplugged) {
			t.Errorf("%v, then %d bytes and %v; want %v", err, n, taken, errUnplugged)
		}
	case <-time.After(20 * time.Second):
		t.Error("waited for an adapter that is gone")
	}
}
