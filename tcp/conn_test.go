package tcp

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// pair returns the two ends of a connection, the first as a Conn.
func pair(t testing.TB) (*Conn, *net.TCPConn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	near, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close() })
	far, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { far.Close() })
	c, err := New(near.(*net.TCPConn))
	if err != nil {
		t.Fatal(err)
	}
	return c, far.(*net.TCPConn)
}

func TestAllBytesArriveThroughAFullBuffer(t *testing.T) {
	c, far := pair(t)
	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<20) // far more than the kernel takes at once
	echoed := make(chan error, 1)
	go func() {
		_, err := io.Copy(far, far)
		echoed <- errors.Join(err, far.CloseWrite())
	}()
	wrote := make(chan error, 1)
	go func() {
		n, err := c.Write(sent)
		if err == nil && n != len(sent) {
			err = io.ErrShortWrite
		}
		wrote <- errors.Join(err, c.CloseWrite())
	}()
	got, err := io.ReadAll(c)
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("got %d bytes back, %v; want the %d that were sent", len(got), err, len(sent))
	}
	if err := errors.Join(<-wrote, <-echoed); err != nil {
		t.Error(err)
	}
}

func TestTryDoesNotWait(t *testing.T) {
	c, far := pair(t)
	// A deadline that has passed is none of its business.
	set(t, c.SetDeadline, time.Unix(1, 0))
	buf := make([]byte, 64)
	if n, err := c.TryRead(buf); n != 0 || err != ErrNothing {
		t.Errorf("reading nothing: %d, %v", n, err)
	}
	if _, err := far.Write([]byte("word")); err != nil {
		t.Fatal(err)
	}
	if err := far.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	set(t, c.SetDeadline, time.Time{})
	if n, err := c.Read(buf[:2]); string(buf[:n]) != "wo" || err != nil {
		t.Errorf("got %q, %v", buf[:n], err)
	}
	if n, err := c.TryRead(buf); string(buf[:n]) != "rd" || err != nil {
		t.Errorf("got %q, %v", buf[:n], err)
	}
	if _, err := c.Read(buf); err != io.EOF {
		t.Errorf("read at the end: %v", err)
	}
	if _, err := c.TryRead(buf); err != io.EOF {
		t.Errorf("tried at the end: %v", err)
	}
}

func set(t *testing.T, deadline func(time.Time) error, at time.Time) {
	t.Helper()
	if err := deadline(at); err != nil {
		t.Fatal(err)
	}
}

// reading starts a read and returns when it waits.
func reading(t *testing.T, c *Conn) <-chan error {
	t.Helper()
	result := make(chan error, 1)
	go func() {
		_, err := c.Read(make([]byte, 1))
		result <- err
	}()
	for {
		c.in.mu.Lock()
		waits := c.in.waiting
		c.in.mu.Unlock()
		if waits {
			return result
		}
		runtime.Gosched()
	}
}

const soon, never = 30 * time.Millisecond, time.Hour

func TestDeadlines(t *testing.T) {
	tests := []struct {
		name   string
		before func(time.Time) []time.Time // set one after the other before the read
		while  func(time.Time) []time.Time // while it waits
		early  bool                        // it ends before soon has passed
		data   bool                        // it ends because a byte comes after soon has passed
	}{
		{name: "one", before: func(now time.Time) []time.Time { return []time.Time{now.Add(soon)} }},
		{name: "put forward", before: func(now time.Time) []time.Time { return []time.Time{now.Add(never), now.Add(soon)} }},
		{name: "put forward while waiting", before: func(now time.Time) []time.Time { return []time.Time{now.Add(never)} },
			while: func(now time.Time) []time.Time { return []time.Time{now.Add(soon)} }},
		{name: "given while waiting", while: func(now time.Time) []time.Time { return []time.Time{now.Add(soon)} }},
		{name: "over at once", while: func(time.Time) []time.Time { return []time.Time{time.Unix(1, 0)} }, early: true},
		{name: "over before", before: func(time.Time) []time.Time { return []time.Time{time.Unix(1, 0)} }, early: true},
		{name: "put off while waiting", before: func(now time.Time) []time.Time { return []time.Time{now.Add(soon)} },
			while: func(now time.Time) []time.Time { return []time.Time{now.Add(never)} }, data: true},
		{name: "taken back while waiting", before: func(now time.Time) []time.Time { return []time.Time{now.Add(soon)} },
			while: func(time.Time) []time.Time { return []time.Time{{}} }, data: true},
		{name: "put off twice", before: func(now time.Time) []time.Time { return []time.Time{now.Add(soon)} },
			while: func(now time.Time) []time.Time {
				return []time.Time{now.Add(soon / 3), now.Add(never), now.Add(soon)}
			}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, far := pair(t)
			start := time.Now()
			apply := func(deadlines func(time.Time) []time.Time) {
				if deadlines != nil {
					for _, at := range deadlines(start) {
						set(t, c.SetReadDeadline, at)
					}
				}
			}
			apply(test.before)
			var read <-chan error
			if test.while == nil {
				result := make(chan error, 1)
				read = result
				_, err := c.Read(make([]byte, 1))
				result <- err
			} else {
				read = reading(t, c)
				apply(test.while)
			}
			if test.data {
				select {
				case err := <-read:
					t.Fatalf("ended after %v: %v", time.Since(start), err)
				case <-time.After(2 * soon):
				}
				if _, err := far.Write([]byte("x")); err != nil {
					t.Fatal(err)
				}
			}
			err := <-read
			took := time.Since(start)
			if test.data != (err == nil) || !test.data && !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("ended with %v", err)
			}
			if !test.early && took < soon {
				t.Errorf("ended after %v, %v before the deadline", took, soon-took)
			}
			// What is left of it does no harm to the next one.
			set(t, c.SetReadDeadline, time.Time{})
			next := reading(t, c)
			if _, err := far.Write([]byte("y")); err != nil {
				t.Fatal(err)
			}
			if err := <-next; err != nil {
				t.Errorf("the read after it: %v", err)
			}
		})
	}
}

// Most deadlines of a server pass unneeded: no timer is started for them.
func TestDeadlinesAreOnlyNotedDown(t *testing.T) {
	c, far := pair(t)
	armed := 0
	arm := c.in.arm
	c.in.arm = func(at time.Time) error { armed++; return arm(at) }
	buf := make([]byte, 4)
	for i := range 50 {
		for _, limit := range []time.Duration{0, never, 2 * never, never / 2} {
			if limit == 0 {
				set(t, c.SetReadDeadline, time.Time{})
				continue
			}
			set(t, c.SetReadDeadline, time.Now().Add(limit))
		}
		if i%10 != 0 {
			continue
		}
		next := reading(t, c)
		if _, err := far.Write(buf[:1]); err != nil {
			t.Fatal(err)
		}
		if err := <-next; err != nil {
			t.Fatal(err)
		}
	}
	if armed != 1 {
		t.Errorf("%d timers started for 50 requests, five of them waited for; want one", armed)
	}
}

// Whoever reads and writes looks for these errors.
func TestErrorsAreThoseOfPackageNet(t *testing.T) {
	wants := func(what string, err error, op string, is error, timeout bool) {
		t.Helper()
		var oe *net.OpError
		if !errors.As(err, &oe) || oe.Op != op || oe.Source == nil || oe.Addr == nil || !errors.Is(err, is) || oe.Timeout() != timeout {
			t.Errorf("%s: %v", what, err)
		}
	}
	buf := make([]byte, 1<<20)

	c, _ := pair(t)
	set(t, c.SetDeadline, time.Now().Add(10*time.Millisecond))
	_, err := c.Read(buf)
	wants("read past the deadline", err, "read", os.ErrDeadlineExceeded, true)
	for err = nil; err == nil; {
		_, err = c.Write(buf)
	}
	wants("write past the deadline", err, "write", os.ErrDeadlineExceeded, true)

	c, far := pair(t)
	if err := errors.Join(far.SetLinger(0), far.Close()); err != nil {
		t.Fatal(err)
	}
	_, err = c.Read(buf)
	wants("read after a reset", err, "read", syscall.ECONNRESET, false)
	_, err = c.Write(buf)
	wants("write after a reset", err, "write", syscall.EPIPE, false)

	c, _ = pair(t)
	read := make(chan error, 1)
	go func() {
		_, err := c.Read(make([]byte, 1))
		read <- err
	}()
	c.Close()
	wants("read of what is closed meanwhile", <-read, "read", net.ErrClosed, false)
	_, err = c.TryRead(buf)
	wants("tried when closed", err, "read", net.ErrClosed, false)
	_, err = c.Write(buf)
	wants("write when closed", err, "write", net.ErrClosed, false)
}

func TestNothingIsAllocated(t *testing.T) {
	c, far := pair(t)
	go io.Copy(far, far)
	buf := make([]byte, 16)
	if n := testing.AllocsPerRun(100, func() {
		if err := c.SetDeadline(time.Now().Add(never)); err != nil {
			t.Error(err)
		}
		if _, err := c.Write(buf); err != nil {
			t.Error(err)
		}
		for got := 0; got < len(buf); {
			n, err := c.Read(buf[got:])
			if err != nil {
				t.Fatal(err)
			}
			got += n
		}
	}); n > 0 {
		t.Errorf("%v allocations for a write and a read", n)
	}
}
