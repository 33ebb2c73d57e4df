package line

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"svc.internal/controller/appliance"
)

// socket is a connection. Whoever holds the turn reads and writes it.
type socket struct {
	line *Line
	conn *net.TCPConn
	raw  syscall.RawConn
	once sync.Once
	lost chan struct{}
	buf  [1024]byte
}

// unackedLimit is how long the kernel keeps sending what a peer does not
// acknowledge before it gives the connection up.
const unackedLimit = 5 * time.Second

var errPeerClosed = errors.New("the other side closed the connection")

func (l *Line) connect(ctx context.Context, limit time.Duration) (port, error) {
	dialer := net.Dialer{
		Timeout:         limit,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3},
	}
	c, err := dialer.DialContext(ctx, "tcp", l.address)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	conn := c.(*net.TCPConn)
	raw, err := conn.SyscallConn()
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("connect: %w", err)
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
	return &socket{line: l, conn: conn, raw: raw, lost: make(chan struct{})}, nil
}

// start does nothing: whoever holds the turn reads.
func (s *socket) start() {}

func (s *socket) fresh() error {
	if reader := s.line.in.reader; reader != nil {
		select {
		case reader <- struct{}{}:
			defer func() { <-reader }()
		default:
			return nil // somebody reads
		}
	}
	for {
		if n, err := s.take(); n < len(s.buf) {
			return err
		}
	}
}

// take hands on what has come already, whatever the deadline; nothing is no error.
func (s *socket) take() (int, error) {
	n, err := s.arrived()
	switch {
	case errors.Is(err, unix.EAGAIN):
		return 0, nil
	case err != nil:
		return 0, err
	case n == 0:
		return 0, errPeerClosed
	}
	s.line.received(s.buf[:n], time.Now())
	return n, nil
}

// arrived reads what has come already, whatever the deadline: 0 at the end of the
// stream, EAGAIN if nothing has come.
func (s *socket) arrived() (n int, err error) {
	closed := s.raw.Control(func(fd uintptr) {
		for {
			n, _, err = unix.Recvfrom(int(fd), s.buf[:], unix.MSG_DONTWAIT)
			if !errors.Is(err, unix.EINTR) {
				return
			}
		}
	})
	if closed != nil {
		return 0, closed
	}
	if err != nil {
		return 0, os.NewSyscallError("recvfrom", err)
	}
	return n, nil
}

// write hands a frame to the kernel, which nearly always takes it at once: only
// when it does not is there anything to wait for.
func (s *socket) write(frame []byte, deadline time.Time) (int, error) {
	if err := s.conn.SetWriteDeadline(deadline); err != nil {
		return 0, err
	}
	return s.conn.Write(frame)
}

func (s *socket) await(ctx context.Context, until time.Time, preempt <-chan struct{}) error {
	if ctx.Done() != nil {
		defer context.AfterFunc(ctx, s.interrupt)()
	}
	if preempt != nil {
		over := make(chan struct{})
		defer close(over)
		go func() {
			select {
			case <-preempt:
				s.interrupt()
			case <-over:
			}
		}()
	}
	for {
		// The deadline is set before the reasons to give up are looked at: an
		// interrupt that comes between is seen here, a later one ends the read.
		if err := s.conn.SetReadDeadline(until); err != nil {
			return err
		}
		if closed(preempt) {
			return appliance.ErrPreempted
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := s.conn.Read(s.buf[:])
		if n > 0 {
			s.line.received(s.buf[:n], time.Now())
			return nil
		}
		if errors.Is(err, io.EOF) {
			return errPeerClosed
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		if !closed(preempt) && ctx.Err() == nil && !time.Now().Before(until) {
			if _, err := s.take(); err != nil {
				return err
			}
			return errTimeUp
		}
	}
}

// interrupt ends a read that is under way. One that comes late only makes the
// next read look at its reasons again.
func (s *socket) interrupt() { s.conn.SetReadDeadline(time.Unix(1, 0)) }

func (s *socket) unsent() int {
	n := 0
	s.raw.Control(func(fd uintptr) {
		if queued, err := unix.IoctlGetInt(int(fd), unix.SIOCOUTQ); err == nil {
			n = queued
		}
	})
	return n
}

// abort closes with a reset: the kernel forgets what it has not delivered.
func (s *socket) abort() {
	s.conn.SetLinger(0)
	s.close()
}

func (s *socket) close() {
	s.once.Do(func() {
		s.conn.Close()
		close(s.lost)
	})
}

func (s *socket) gone() <-chan struct{} { return s.lost }
