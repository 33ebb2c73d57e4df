package line

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// tcpConn is a connection over the network of this machine.
type tcpConn struct {
	*net.TCPConn
	raw syscall.RawConn
}

// unackedLimit is how long the kernel keeps sending what a peer does not
// acknowledge before it gives the connection up.
const unackedLimit = 5 * time.Second

func dialTCP(ctx context.Context, address string) (Connection, error) {
	dialer := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3}}
	c, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	conn := c.(*net.TCPConn)
	raw, err := conn.SyscallConn()
	if err != nil {
		conn.Close()
		return nil, err
	}
	raw.Control(func(fd uintptr) {
		err = errors.Join(
			unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NODELAY, 1),
			unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(unackedLimit.Milliseconds())))
	})
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("socket options: %w", err)
	}
	return &tcpConn{conn, raw}, nil
}

// Take reads what has come already: io.EOF is the end of the stream.
func (c *tcpConn) Take(b []byte) (n int, err error) {
	closed := c.raw.Control(func(fd uintptr) {
		for {
			n, _, err = unix.Recvfrom(int(fd), b, unix.MSG_DONTWAIT)
			if !errors.Is(err, unix.EINTR) {
				return
			}
		}
	})
	switch {
	case closed != nil:
		return 0, closed
	case errors.Is(err, unix.EAGAIN):
		return 0, nil
	case err != nil:
		return 0, os.NewSyscallError("recvfrom", err)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// Unsent counts the bytes that the peer's kernel has not acknowledged.
func (c *tcpConn) Unsent() int {
	n := 0
	c.raw.Control(func(fd uintptr) {
		if queued, err := unix.IoctlGetInt(int(fd), unix.SIOCOUTQ); err == nil {
			n = queued
		}
	})
	return n
}

// Abort closes with a reset: the kernel forgets what it has not delivered.
func (c *tcpConn) Abort() {
	c.SetLinger(0)
	c.Close()
}
