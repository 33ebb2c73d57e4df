package line

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"go.bug.st/serial"
	"golang.org/x/sys/unix"

	"svc.internal/controller/appliance"
)

// serialPort is an open serial port. go.bug.st/serial opens it, sets it up and
// keeps other programs out; bytes pass through a descriptor of our own, because
// the library's Read selects on descriptors below 1024 only and may read a
// stranger's descriptor when it is closed meanwhile, its Write has no deadline,
// and it cannot be locked against a second program run by root.
type serialPort struct {
	line *Line
	set  serial.Port
	file *os.File
	raw  syscall.RawConn
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
	s, err := l.openDevice(path)
	if err != nil {
		return nil, err
	}
	l.known.remember(l.cfg.Port, path, l.cfg.DevRoot)
	if err := lowLatency("/sys", path); err != nil {
		l.log.Info("the adapter may hold answers back for up to 16 ms", "reason", err)
	}
	return s, nil
}

func (l *Line) openDevice(path string) (*serialPort, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENXIO), errors.Is(err, unix.ENODEV), errors.Is(err, unix.EIO):
		return nil, fmt.Errorf("%s is not there: is the adapter plugged in?", path)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("no permission to open %s: the user needs to be in the group that owns it (dialout)", path)
	case errors.Is(err, unix.EBUSY):
		return nil, l.users.busy(path)
	case err != nil:
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	file := os.NewFile(uintptr(fd), path)
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, l.users.busy(path)
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	set, err := serial.Open(path, modeOf(l.cfg.Serial))
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("set up %s: %w", path, err)
	}
	raw, err := file.SyscallConn()
	if err != nil {
		set.Close()
		file.Close()
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return &serialPort{line: l, set: set, file: file, raw: raw, lost: make(chan struct{})}, nil
}

func (s *serialPort) start() { s.line.in.pumps.Go(s.pump) }

// pump hands on what arrives, with its time, until the port is closed or lost.
func (s *serialPort) pump() {
	var buf [1024]byte
	for {
		n, err := s.file.Read(buf[:])
		if n > 0 {
			s.line.received(buf[:n], time.Now())
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

func (s *serialPort) ioctl(request uint) (n int, err error) {
	outer := s.raw.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), request) })
	return n, errors.Join(outer, err)
}

func (s *serialPort) write(frame []byte, deadline time.Time) (int, error) {
	if err := s.file.SetWriteDeadline(deadline); err != nil {
		return 0, err
	}
	n, err := s.file.Write(frame)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = errors.New("the adapter takes no more bytes")
	}
	return n, err
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

// unsent counts the bytes in the driver's buffer. A driver that cannot tell
// counts as empty.
func (s *serialPort) unsent() int {
	n, err := s.ioctl(unix.TIOCOUTQ)
	if err != nil {
		return 0
	}
	return n
}

func (s *serialPort) abort() {
	s.raw.Control(func(fd uintptr) { unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCOFLUSH) })
	s.close()
}

func (s *serialPort) close() {
	s.once.Do(func() {
		s.file.Close()
		s.set.Close()
		close(s.lost)
	})
}

func (s *serialPort) gone() <-chan struct{} { return s.lost }
