package line

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"go.bug.st/serial"
	"golang.org/x/sys/unix"

	"svc.internal/controller/appliance"
)

// serialPort is the port of a line on a serial device, which a pump reads.
type serialPort struct {
	*Device
	line *Line
	once sync.Once
	lost chan struct{}
	mu   sync.Mutex
	err  error // why it was lost
}

var parities = map[string]serial.Parity{"none": serial.NoParity, "even": serial.EvenParity, "odd": serial.OddParity}

func (l *Line) openSerial() (port, error) {
	path, err := l.known.find(l.cfg.Port, l.cfg.DevRoot, time.Now())
	if err != nil {
		return nil, err
	}
	d, err := l.opener.Open(path, l.cfg.Serial)
	if err != nil {
		return nil, err
	}
	l.known.remember(l.cfg.Port, path, l.cfg.DevRoot)
	if err := lowLatency("/sys", path); err != nil {
		l.log.Info("the adapter may hold answers back for up to 16 ms", "reason", err)
	}
	return &serialPort{Device: d, line: l, lost: make(chan struct{})}, nil
}

func (s *serialPort) start() { s.line.in.pumps.Go(s.pump) }

// pump hands on what arrives, with its time, until the port is closed or lost.
func (s *serialPort) pump() {
	var buf [1024]byte
	for {
		n, err := s.file.Read(buf[:])
		if n > 0 {
			s.pass(s.line.received(buf[:n], time.Now()))
		}
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, unix.EIO) {
				err = fmt.Errorf("the adapter was unplugged (%w)", err)
			}
			s.mu.Lock()
			s.err = err
			s.mu.Unlock()
			s.line.lose(s, err)
			return
		}
	}
}

// pass waits for the rest of an answer. If nothing of it comes, what there is was all.
func (s *serialPort) pass(rest time.Time) {
	if rest.IsZero() {
		return
	}
	sharpUntil(rest)
	if n, err := s.ioctl(unix.TIOCINQ); n == 0 || err != nil {
		s.line.in.look()
	}
}

func (s *serialPort) why() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		return errors.New("port closed")
	}
	return s.err
}

// fresh makes sure that the pump has seen all that arrived: what it has not
// taken yet counts as heard just now.
func (s *serialPort) fresh() error {
	select {
	case <-s.lost:
		return s.why()
	default:
	}
	n, err := s.ioctl(unix.TIOCINQ)
	if err != nil {
		return err
	}
	if n > 0 {
		s.line.in.mu.Lock()
		s.line.in.at = time.Now()
		s.line.in.mu.Unlock()
	}
	return nil
}

func (s *serialPort) write(frame []byte, deadline time.Time) (int, error) {
	return s.Write(frame, deadline)
}

func (s *serialPort) await(ctx context.Context, until time.Time, preempt <-chan struct{}) error {
	select {
	case <-s.line.in.more:
		return nil
	default:
	}
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-s.line.in.more:
		return nil
	case <-timer.C:
		return errTimeUp
	case <-preempt:
		return appliance.ErrPreempted
	case <-ctx.Done():
		return ctx.Err()
	case <-s.lost:
		return s.why()
	}
}

func (s *serialPort) unsent() int { return s.Unsent() }

func (s *serialPort) abort() { s.end(s.Abort) }
func (s *serialPort) close() { s.end(s.Close) }

func (s *serialPort) end(how func()) {
	s.once.Do(func() {
		how()
		close(s.lost)
	})
}

func (s *serialPort) gone() <-chan struct{} { return s.lost }
