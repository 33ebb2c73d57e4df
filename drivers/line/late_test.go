package line

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line/pty"
)

// Where this machine was late, what a device said in time counts: nobody is called silent
// whose answer has come and was not looked at.
func TestWhatCameInTimeIsNoSilence(t *testing.T) {
	over := time.Now().Add(-time.Second)
	check := func(t *testing.T, l *Line, p port, waiting func() bool) {
		defer p.close()
		waitFor(t, "the answer is there", waiting)
		if err := p.await(context.Background(), over, nil); !errors.Is(err, errTimeUp) {
			t.Errorf("after the time: %v, want %v", err, errTimeUp)
		}
		if got := string(l.in.buf); got != "late\n" {
			t.Errorf("received %q", got)
		}
	}
	t.Run("serial", func(t *testing.T) {
		b := &bench{t: t, link: filepath.Join(t.TempDir(), "bus")}
		b.plug()
		l, err := New(Config{Name: "test", Port: b.link, Serial: settings})
		if err != nil {
			t.Fatal(err)
		}
		p, err := l.openSerial() // and nobody takes what comes
		if err != nil {
			t.Fatal(err)
		}
		l.begin()
		b.write("late\n")
		check(t, l, p, func() bool {
			return p.(*serialPort).Waiting() == 5
		})
	})
	t.Run("socket", func(t *testing.T) {
		g := newGateway(t, "127.0.0.1:0")
		l, err := New(Config{Name: "test", Port: "tcp://" + g.l.Addr().String()})
		if err != nil {
			t.Fatal(err)
		}
		p, err := l.connect(context.Background(), 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		l.begin()
		if _, err := g.accept().Write([]byte("late\n")); err != nil {
			t.Fatal(err)
		}
		check(t, l, p, func() bool {
			var n int
			p.(*socket).conn.(*tcpConn).raw.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), unix.SIOCINQ) })
			return err == nil && n == 5
		})
	})
}

// A peer that never falls silent does not stretch the time-out: what it says is looked at
// once more, and that was it.
func TestTimeIsUpAlthoughSomebodyGoesOnTalking(t *testing.T) {
	for name, several := range map[string]int{"one at a time": 0, "several at once": 4} {
		t.Run(name, func(t *testing.T) {
			g := newGateway(t, "127.0.0.1:0")
			l := g.line(func(c *Config) { c.InFlight = several })
			c := g.accept()
			go func() {
				for noise := make([]byte, 4096); ; time.Sleep(time.Millisecond) { // faster than any line, and not all that a machine can do
					if _, err := c.Write(noise); err != nil {
						return
					}
				}
			}()
			r := Request{
				Frame: []byte("request\n"), Timeout: 50 * time.Millisecond, Own: func([]byte) bool { return false },
				Scan: func(b []byte) (int, Verdict) { return len(b), Skip },
			}
			begun := time.Now()
			if _, err := l.Exchange(within(t, patience), r); !errors.Is(err, appliance.ErrSilent) {
				t.Errorf("%v, want %v", err, appliance.ErrSilent)
			}
			if took := time.Since(begun); took > 5*time.Second {
				t.Errorf("gave up after %v instead of 50 ms", took)
			}
			c.Close()
		})
	}
}

// Whoever closes a port that takes no more bytes has let go of it.
func TestClosedWhileItIsWrittenTo(t *testing.T) {
	p, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	d, err := new(Opener).Open(p.SlavePath(), settings)
	if err != nil {
		t.Fatal(err)
	}
	for refused := 0; refused < 5; refused++ {
		if n, _ := d.Write(make([]byte, 4096), time.Now().Add(20*time.Millisecond)); n > 0 {
			refused = 0
		}
	}
	ended := make(chan error, 1)
	writing := make(chan struct{})
	go func() {
		close(writing)
		_, err := d.Write([]byte("MOVE"), time.Now().Add(time.Minute))
		ended <- err
	}()
	<-writing
	d.Close()
	again, err := new(Opener).Open(p.SlavePath(), settings)
	if err != nil {
		t.Fatalf("opened again: %v", err)
	}
	again.Close()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("a full port that was closed has taken bytes")
		}
	case <-time.After(20 * time.Second):
		t.Error("the writer goes on with a port that was closed")
	}
}
