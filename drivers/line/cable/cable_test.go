package cable

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

func TestAConnectionIsOneOverLoopback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n Net
		if _, err := n.Dial(t.Context(), "127.0.0.1:502"); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("where nobody listens: %v", err)
		}
		ln, err := n.Listen("127.0.0.1:502")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Listen("127.0.0.1:502"); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("a second listener: %v", err)
		}
		mine, err := n.Dial(t.Context(), "127.0.0.1:502")
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 8)
		begun := time.Now()
		mine.SetReadDeadline(begun.Add(time.Hour))
		if _, err := mine.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begun) != time.Hour {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		mine.SetReadDeadline(time.Time{})
		go func() {
			time.Sleep(time.Minute)
			theirs.Write([]byte("late"))
			theirs.Close()
		}()
		if got, err := io.ReadAll(mine); string(got) != "late" || err != nil || time.Since(begun) != time.Hour+time.Minute {
			t.Errorf("after %v %q, %v", time.Since(begun), got, err)
		}
		if _, err := mine.Write(b); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("to whoever has closed: %v", err)
		}
		anywhere, err := n.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		anywhere.Close()
		if another, err := n.Listen("127.0.0.1:0"); err != nil || another.Addr().String() == anywhere.Addr().String() {
			t.Errorf("whoever asks for any port gets %v, which somebody had: %v", another.Addr(), err)
		}
		ln.Close()
		if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a closed listener: %v", err)
		}
	})
}

func TestAResetLosesWhatWasNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mine, theirs := Pipe(&net.TCPAddr{}, &net.TCPAddr{})
		mine.Write([]byte("gone"))
		mine.Abort()
		if n, err := theirs.Read(make([]byte, 8)); n != 0 || !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%d, %v", n, err)
		}
	})
}

func TestAWriterWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mine, theirs := Pipe(&net.TCPAddr{}, &net.TCPAddr{})
		mine.SetWriteDeadline(time.Now().Add(time.Second))
		if n, err := mine.Write(make([]byte, connRoom+1)); n != connRoom || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%d, %v", n, err)
		}
		mine.SetWriteDeadline(time.Time{})
		go func() { time.Sleep(time.Second); io.ReadFull(theirs, make([]byte, 100)) }()
		if n, err := mine.Write(make([]byte, 100)); n != 100 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	})
}

func TestASerialPortIsPulledAndPutBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n Net
		ports := n.Ports()
		set := appliance.LineSettings{BaudRate: 9600, DataBits: 8, StopBits: 1, Parity: "none"}
		if _, err := ports.Serial("/bus", set); err == nil {
			t.Error("a port that is not there was opened")
		}
		for range 2 {
			s, err := n.Plug("/bus")
			if err != nil {
				t.Fatal(err)
			}
			s.Write([]byte("to nobody"))
			p, err := ports.Serial("/bus", set)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ports.Serial("/bus", set); err == nil {
				t.Error("a port was opened twice")
			}
			if s.Settings().BaudRate != 9600 {
				t.Errorf("%+v", s.Settings())
			}
			go func() { time.Sleep(time.Second); s.Write([]byte("hello")) }()
			b := make([]byte, 16)
			begun := time.Now()
			if err := p.Wait(); err != nil || time.Since(begun) != time.Second {
				t.Errorf("after %v: %v", time.Since(begun), err)
			}
			if got := p.Waiting(); got != 5 {
				t.Errorf("%d bytes wait", got)
			}
			if got, err := p.Take(b); string(b[:got]) != "hello" || err != nil {
				t.Errorf("%q, %v", b[:got], err)
			}
			if got, err := p.Take(b); got != 0 || err != nil {
				t.Errorf("nothing has come: %d, %v", got, err)
			}
			go func() { time.Sleep(time.Second); s.Close() }()
			p.Wait()
			if _, err := p.Take(b); !errors.Is(err, errUnplugged) {
				t.Errorf("a pulled adapter: %v", err)
			}
			p.Close()
		}
	})
}
