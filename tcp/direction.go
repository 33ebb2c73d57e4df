package tcp

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// direction is one of the two of a connection.
type direction struct {
	name    string // of the system call
	number  uintptr
	wait    func(func(fd uintptr) (done bool)) error // of the connection, as are these
	control func(func(fd uintptr)) error
	arm     func(time.Time) error

	// Made once, not for every call.
	once  func(fd uintptr)
	often func(fd uintptr) (done bool)

	turn  sync.Mutex // one transfer at a time
	buf   []byte
	n     int
	errno syscall.Errno // of the last call; 0: none

	mu      sync.Mutex
	limit   time.Time // the deadline; zero: none
	armed   time.Time // the one that the connection knows; zero: none
	waiting bool
}

func (d *direction) init() {
	d.once = func(fd uintptr) {
		for {
			// What cannot be done at once is refused with EAGAIN: this does not block.
			n, _, errno := syscall.RawSyscall(d.number, fd, uintptr(unsafe.Pointer(unsafe.SliceData(d.buf))), uintptr(len(d.buf)))
			if errno != syscall.EINTR {
				d.n, d.errno = int(n), errno
				return
			}
		}
	}
	d.often = func(fd uintptr) bool {
		if d.once(fd); d.errno != syscall.EAGAIN {
			return true
		}
		d.beginWait()
		return false
	}
}

// try moves some of b, if that can be done at once.
func (d *direction) try(b []byte) (int, error) {
	d.turn.Lock()
	defer d.turn.Unlock()
	d.buf = b
	err := d.control(d.once)
	return d.moved(err)
}

// move moves some of b, or waits until it can, but not beyond the deadline.
func (d *direction) move(b []byte) (int, error) {
	d.turn.Lock()
	defer d.turn.Unlock()
	for {
		if err := d.refresh(); err != nil {
			return 0, err
		}
		d.buf = b
		err := d.wait(d.often)
		if d.endWait(err); !errors.Is(err, os.ErrDeadlineExceeded) {
			return d.moved(err)
		}
		// It may have been an earlier deadline: refresh knows.
	}
}

func (d *direction) moved(err error) (int, error) {
	d.buf = nil
	switch {
	case err != nil:
		return 0, err
	case d.errno == syscall.EAGAIN:
		return 0, ErrNothing
	case d.errno != 0:
		return 0, os.NewSyscallError(d.name, d.errno)
	}
	return d.n, nil
}

// setLimit changes the deadline. Whoever waits already learns of one that comes
// earlier than the one he waits with; a later one shows when that has passed.
func (d *direction) setLimit(t time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.limit = t
	if d.waiting {
		return d.tighten()
	}
	return nil
}

// tighten makes the connection's deadline as early as ours.
func (d *direction) tighten() error {
	if d.limit.IsZero() || !d.armed.IsZero() && !d.limit.Before(d.armed) {
		return nil
	}
	return d.rearm()
}

func (d *direction) rearm() error {
	d.armed = d.limit
	return d.arm(d.limit)
}

// refresh refuses what is too late, and replaces a deadline of the connection that
// has passed before ours: nothing can be done with it.
func (d *direction) refresh() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	if !d.limit.IsZero() && !now.Before(d.limit) {
		return os.ErrDeadlineExceeded
	}
	if !d.armed.IsZero() && !now.Before(d.armed) {
		return d.rearm()
	}
	return nil
}

func (d *direction) beginWait() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = true
	_ = d.tighten() // it fails when the connection is closed, as the wait does then
}

func (d *direction) endWait(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = false
	if errors.Is(err, os.ErrDeadlineExceeded) {
		d.armed = passed
	}
}

// passed is a deadline that has, by any clock: that of a board without a battery begins
// in 1970.
var passed = time.Time{}.Add(1)
