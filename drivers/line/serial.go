package line

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"go.bug.st/serial"

	"svc.internal/controller/appliance"
)

// serialPort is the port of a line on a serial device, which a pump reads.
type serialPort struct {
	SerialPort
	line *Line
	once sync.Once
	lost chan struct{}
	mu   sync.Mutex
	err  error // why it was lost

	taking sync.Mutex // so that bytes stay in order
	buf    [1024]byte
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
	return &serialPort{SerialPort: d, line: l, lost: make(chan struct{})}, nil
}

func (s *serialPort) start() { s.line.in.pumps.Go(s.pump) }

// pump hands on what arrives until the port is closed or lost.
func (s *serialPort) pump() {
	for {
		n, rest, err := s.take()
		switch {
		case err == nil && n > 0:
			s.pass(rest)
		case err == nil:
			err = s.Wait()
		}
		if err != nil {
			s.mu.Lock()
			s.err = err
			s.mu.Unlock()
			s.line.lose(s, err)
			return
		}
	}
}

// take hands on what has come, with its time, and returns how much it was and until when the
// rest of the answer that it begins is on the line.
func (s *serialPort) take() (n int, rest time.Time, err error) {
	s.taking.Lock()
	defer s.taking.Unlock()
	if n, err = s.SerialPort.Take(s.buf[:]); n > 0 {
		rest = s.line.received(s.buf[:n], time.Now())
	}
	return n, rest, err
}

// pass lets most of the rest of an answer come, so that nobody is woken for each byte. It sleeps for
// whole milliseconds, which costs the processor least: the last bytes tell by themselves when they
// are there. If nothing comes, what there is was all.
func (s *serialPort) pass(rest time.Time) {
	if rest.IsZero() {
		return
	}
	d := min(time.Until(rest).Truncate(time.Millisecond), passMost)
	if d <= 0 {
		s.line.in.look()
		return
	}
	time.Sleep(d)
	if s.Waiting() == 0 {
		s.line.in.look()
	}
}

// passMost is how long nobody looks at an answer, which may turn out to be shorter, or an exception.
const passMost = 20 * time.Millisecond

func (s *serialPort) why() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		return errors.New("port closed")
	}
	return s.err
}

// fresh makes sure that all that arrived was seen.
func (s *serialPort) fresh() error {
	select {
	case <-s.lost:
		return s.why()
	default:
	}
	for {
		if n, _, err := s.take(); n < len(s.buf) {
			return err
		}
	}
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
		return cmp.Or(s.fresh(), errTimeUp)
	case <-preempt:
		return cmp.Or(s.fresh(), appliance.ErrPreempted)
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
