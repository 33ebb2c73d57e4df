package line

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Where this machine was late, what a device said in time counts: nobody is called silent
// whose answer has come and was not looked at.
func TestWhatCameInTimeIsNoSilence(t *testing.T) {
	over := time.Now().Add(-time.Second)
	check := func(t *testing.T, l *Line, p port, waiting func() bool) {
		defer p.close()
		waitFor(t, "the answer is there", waiting)
		if err := p.await(context.Background(), over, nil); err != nil {
			t.Errorf("an answer that had come in time: %v", err)
		}
		if got := string(l.in.buf); got != "late\n" {
			t.Errorf("received %q", got)
		}
		select {
		case <-l.in.more:
		default:
		}
		if err := p.await(context.Background(), over, nil); !errors.Is(err, errTimeUp) {
			t.Errorf("nothing more: %v, want %v", err, errTimeUp)
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
			n, err := p.(*serialPort).ioctl(unix.TIOCINQ)
			return err == nil && n == 5
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
			p.(*socket).raw.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), unix.SIOCINQ) })
			return err == nil && n == 5
		})
	})
}
