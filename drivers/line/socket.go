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

	look    func(fd uintptr) // made once: a read that does not wait
	looked  int
	lookErr error

	offer    func(fd uintptr) (done bool) // made once: a write that does not wait
	out      []byte
	taken    int
	offerErr error
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
	s := &socket{line: l, conn: conn, raw: raw, lost: make(chan struct{})}
	s.look = func(fd uintptr) {
		for {
			s.looked, s.lookErr = unix.Read(int(fd), s.buf[:]) // sockets of package net never block
			if s.lookErr != unix.EINTR {
				return
			}
		}
	}
	s.offer = func(fd uintptr) bool {
		for {
			s.taken, s.offerErr = unix.Write(int(fd), s.out)
			if s.offerErr != unix.EINTR {
				return true
			}
		}
	}
	return s, nil
}

// start does nothing: whoever holds the turn reads.
func (s *socket) start() {}

func (s *socket) fresh() error {
	for {
		if err := s.raw.Control(s.look); err != nil {
			return err
		}
		switch {
		case s.lookErr == unix.EAGAIN:
			return nil
		case s.lookErr != nil:
			return s.lookErr
		case s.looked == 0:
			return errPeerClosed
		}
		s.line.received(s.buf[:s.looked], time.Now())
		if s.looked < len(s.buf) {
			return nil
		}
	}
}

// write hands a frame to the kernel, which nearly always takes it at once: only
// when it does not is there anything to wait for, and a deadline to be set.
func (s *socket) write(frame []byte, deadline time.Time) (int, error) {
	s.out, s.taken = frame, 0
	err := s.raw.Write(s.offer)
	n := s.taken
	s.out = nil
	switch {
	case err != nil:
		return 0, err
	case s.offerErr == unix.EAGAIN:
		n = 0
	case s.offerErr != nil:
		return 0, os.NewSyscallError("write", s.offerErr)
	case n == len(frame):
		return n, nil
	}
	if err := s.conn.SetWriteDeadline(deadline); err != nil {
		return n, err
	}
	m, err := s.conn.Write(frame[n:])
	// Or the next frame would not even be offered.
	return n + m, errors.Join(err, s.conn.SetWriteDeadline(time.Time{}))
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
