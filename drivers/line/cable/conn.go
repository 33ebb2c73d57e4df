package cable

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// Conn is one end of a connection, or the devices' end of a serial line.
type Conn struct {
	in, out       *flow
	here, there   net.Addr
	once          sync.Once
	closed        chan struct{}
	readBy, sayBy deadline
}

// connRoom is how much is on its way at most, as between two kernels.
const connRoom = 256 << 10

// Pipe makes a connection between two addresses.
func Pipe(a, b net.Addr) (*Conn, *Conn) {
	there, back := newFlow(connRoom), newFlow(connRoom)
	return &Conn{in: back, out: there, here: a, there: b, closed: make(chan struct{})},
		&Conn{in: there, out: back, here: b, there: a, closed: make(chan struct{})}
}

// Read waits for bytes, the other side's end, or the deadline.
func (c *Conn) Read(b []byte) (int, error) {
	for {
		by := c.readBy.passing()
		switch {
		case passed(c.closed):
			return 0, c.fail("read", net.ErrClosed)
		case passed(by):
			return 0, c.fail("read", errDeadline)
		case len(b) == 0:
			return 0, nil
		}
		n, more, err := c.in.take(b)
		if n > 0 {
			return n, nil
		}
		if err != nil {
			return 0, c.fail("read", err)
		}
		select {
		case <-more:
		case <-by:
		case <-c.closed:
		}
	}
}

// Take reads what has come already, whatever the deadline; nothing is no error.
func (c *Conn) Take(b []byte) (int, error) {
	if passed(c.closed) {
		return 0, c.fail("read", net.ErrClosed)
	}
	n, _, err := c.in.take(b)
	if err != nil {
		err = c.fail("read", err)
	}
	return n, err
}

// Write waits until the other side has room for everything, or the deadline.
func (c *Conn) Write(b []byte) (written int, err error) {
	for {
		by := c.sayBy.passing()
		switch {
		case passed(c.closed):
			return written, c.fail("write", net.ErrClosed)
		case passed(by):
			return written, c.fail("write", errDeadline)
		}
		n, room, err := c.out.put(b[written:])
		written += n
		if err == io.EOF { // the other side reads no more
			err = syscall.EPIPE
		}
		if err != nil {
			return written, c.fail("write", err)
		}
		if written == len(b) {
			return written, nil
		}
		select {
		case <-room:
		case <-by:
		case <-c.closed:
		}
	}
}

// fail words an error as package net does. The end of a stream stays io.EOF.
func (c *Conn) fail(what string, err error) error {
	if err == io.EOF {
		return err
	}
	return &net.OpError{Op: what, Net: "cable", Source: c.here, Addr: c.there, Err: err}
}

// Unsent is 0: what was written has arrived.
func (c *Conn) Unsent() int { return 0 }

// Close ends the connection; the other side may read what has arrived.
func (c *Conn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.out.end(io.EOF, false)
		c.in.end(io.EOF, true)
	})
	return nil
}

// Abort ends it as a reset does: the other side loses what it has not read.
func (c *Conn) Abort() {
	c.out.end(syscall.ECONNRESET, true)
	c.Close()
}

// LocalAddr is the address of this end.
func (c *Conn) LocalAddr() net.Addr { return c.here }

// RemoteAddr is the address of the other end.
func (c *Conn) RemoteAddr() net.Addr { return c.there }

// SetDeadline sets both.
func (c *Conn) SetDeadline(t time.Time) error {
	c.readBy.set(t)
	c.sayBy.set(t)
	return c.alive()
}

// SetReadDeadline ends reads at t; zero: never.
func (c *Conn) SetReadDeadline(t time.Time) error { c.readBy.set(t); return c.alive() }

// SetWriteDeadline ends writes at t; zero: never.
func (c *Conn) SetWriteDeadline(t time.Time) error { c.sayBy.set(t); return c.alive() }

func (c *Conn) alive() error {
	if passed(c.closed) {
		return os.ErrClosed
	}
	return nil
}
