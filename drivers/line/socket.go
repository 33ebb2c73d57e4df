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

	"svc.internal/controller/appliance"
)

// socket is a connection. Whoever holds the turn reads and writes it.
type socket struct {
	line *Line
	conn Connection
	once sync.Once
	lost chan struct{}
	buf  [1024]byte
}

var errPeerClosed = errors.New("the other side closed the connection")

func (l *Line) connect(ctx context.Context, limit time.Duration) (port, error) {
	dial := dialTCP
	if l.cfg.Ports != nil {
		dial = l.cfg.Ports.Dial
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	conn, err := dial(ctx, l.address)
	if err != nil {
		return nil, fmt.Errorf("connect: %w%s", err, dialAdvice(err))
	}
	return &socket{line: l, conn: conn, lost: make(chan struct{})}, nil
}

// dialAdvice says what to look at when a connection cannot be made.
func dialAdvice(err error) string {
	var name *net.DNSError
	switch {
	case errors.As(err, &name):
		return ": check how the name is written, or give the address in numbers"
	case errors.Is(err, syscall.ECONNREFUSED):
		return ": somebody is there, and takes no connection on this port: check the port, and whether the gateway has its TCP server switched on"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return ": nobody is there: check the address, the gateway's power and its network cable"
	}
	return ""
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
	n, err := s.conn.Take(s.buf[:])
	if errors.Is(err, io.EOF) {
		return 0, errPeerClosed
	}
	if n > 0 {
		s.line.received(s.buf[:n], time.Now())
	}
	return n, err
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

func (s *socket) unsent() int { return s.conn.Unsent() }

func (s *socket) abort() { s.end(s.conn.Abort) }
func (s *socket) close() { s.end(func() { s.conn.Close() }) }

func (s *socket) end(how func()) {
	s.once.Do(func() {
		how()
		close(s.lost)
	})
}

func (s *socket) gone() <-chan struct{} { return s.lost }
