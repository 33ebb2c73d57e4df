// Package tcp reads and writes TCP connections with as little ado as possible: a
// command pays for all of it on its way from a socket to a wire.
//
// An ordinary system call tells the Go runtime that a thread may be gone for long. If
// the program was idle until then, that wakes a thread which watches over such calls:
// a system call more, two switches between threads, and a timer that interrupts the
// processor some 70 µs later. Sockets of package net never block, so there is nothing
// to be watched, and the calls are made without.
//
// A deadline is a timer, whose start may wake a thread too, and net/http sets eight of
// them for a request. Nearly all pass unneeded, so they are only written down until
// somebody has to wait, and one that comes too early is put off then.
package tcp

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"
)

// Conn is a connection that behaves as its [net.TCPConn] does.
type Conn struct {
	*net.TCPConn
	in, out direction
}

// New returns c as a Conn. Nobody may read or write c itself any more, or set its
// deadlines.
func New(c *net.TCPConn) (*Conn, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("take over a connection: %w", err)
	}
	conn := &Conn{TCPConn: c}
	conn.in = direction{name: "read", number: syscall.SYS_READ, wait: raw.Read, control: raw.Control, arm: c.SetReadDeadline}
	conn.out = direction{name: "write", number: syscall.SYS_WRITE, wait: raw.Write, control: raw.Control, arm: c.SetWriteDeadline}
	conn.in.init()
	conn.out.init()
	return conn, nil
}

// Read waits for bytes until the read deadline.
func (c *Conn) Read(b []byte) (int, error) {
	n, err := c.in.move(b)
	return c.got(n, len(b), err)
}

// TryRead reads what has come already, whatever the deadline. ErrNothing means that
// nothing has.
func (c *Conn) TryRead(b []byte) (int, error) {
	n, err := c.in.try(b)
	return c.got(n, len(b), err)
}

// ErrNothing: there is nothing to be read yet.
var ErrNothing = errors.New("nothing has come")

func (c *Conn) got(n, most int, err error) (int, error) {
	switch {
	case err == ErrNothing:
		return 0, err
	case err != nil:
		return 0, c.failed("read", err)
	case n == 0 && most > 0:
		return 0, io.EOF
	}
	return n, nil
}

// Write waits until the kernel has taken all of b, or for the write deadline; the
// number is that of the bytes it took. One writer at a time, or their bytes mix.
func (c *Conn) Write(b []byte) (int, error) {
	for n := 0; ; {
		m, err := c.out.move(b[n:])
		if n += m; err != nil {
			return n, c.failed("write", err)
		}
		if n == len(b) {
			return n, nil
		}
	}
}

// failed words an error as package net does, whose users look for that.
func (c *Conn) failed(op string, err error) error {
	if inner := new(net.OpError); errors.As(err, &inner) {
		err = inner.Err
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}

// SetReadDeadline is that of [net.Conn]; zero means none. That the connection is
// closed is only told by what follows.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.in.setLimit(t) }

// SetWriteDeadline is the same for writes.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.out.setLimit(t) }

// SetDeadline is both.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.in.setLimit(t), c.out.setLimit(t))
}
