package sim

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"svc.internal/controller/drivers/line/cable"
)

// wireEnd is the devices' end of a line.
type wireEnd interface {
	// wait sleeps until t, or until there is something to read or the line may have to end.
	// A zero t is never. A late wake-up is not passed on to the next one.
	wait(t time.Time) (readable, woken bool, err error)
	// read takes what there is; 0: nothing.
	read(b []byte) (int, error)
	// write says something. What nobody reads is lost, as on a line that nobody listens to.
	write(b []byte) error
	// setup is how the client has set the port; ok is false for a port that nobody has set.
	setup() (s lineSetup, ok bool)
}

// ptyEnd is that of a pseudo-terminal, for a thread of its own.
type ptyEnd struct{ fd, waker int }

func (e *ptyEnd) wait(t time.Time) (readable, woken bool, err error) {
	fds := []unix.PollFd{{Fd: int32(e.fd), Events: unix.POLLIN}, {Fd: int32(e.waker), Events: unix.POLLIN}}
	var limit *unix.Timespec
	if !t.IsZero() {
		ts := unix.NsecToTimespec(max(0, int64(time.Until(t))))
		limit = &ts
	}
	_, err = unix.Ppoll(fds, limit, nil)
	if err == unix.EINTR {
		return false, false, nil
	}
	if err != nil {
		return false, false, fmt.Errorf("wait for the line: %w", err)
	}
	if fds[1].Revents != 0 {
		var count [8]byte
		unix.Read(e.waker, count[:])
	}
	return fds[0].Revents != 0, fds[1].Revents != 0, nil
}

func (e *ptyEnd) read(b []byte) (int, error) {
	n, err := unix.Read(e.fd, b)
	if err == unix.EAGAIN || err == unix.EINTR {
		return 0, nil
	}
	return max(0, n), err
}

func (e *ptyEnd) write(b []byte) error {
	if _, err := unix.Write(e.fd, b); err != unix.EAGAIN {
		return err
	}
	return nil
}

// untouchedBaud is what a pseudo-terminal has until somebody sets it, with one stop
// bit and no parity.
const untouchedBaud = 38400

// setup tells as far as a pseudo-terminal keeps it: of the parity it keeps whether it is
// checked, and whether it is odd.
func (e *ptyEnd) setup() (s lineSetup, ok bool) {
	t, err := unix.IoctlGetTermios(e.fd, unix.TCGETS2)
	if err != nil {
		return lineSetup{}, false
	}
	s = lineSetup{baud: int(t.Ospeed), parity: "none"}
	switch {
	case t.Iflag&unix.INPCK == 0:
	case t.Cflag&unix.PARODD != 0:
		s.parity = "odd"
	default:
		s.parity = "even"
	}
	untouched := s == lineSetup{untouchedBaud, "none"} && t.Cflag&unix.CSTOPB == 0
	return s, !untouched
}

// cableEnd is that of a line in memory.
type cableEnd struct {
	*cable.Serial
	wake <-chan struct{}
	done <-chan struct{}
}

func (e *cableEnd) wait(t time.Time) (readable, woken bool, err error) {
	var due <-chan time.Time
	if !t.IsZero() {
		timer := time.NewTimer(time.Until(t))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-e.Readable():
		return true, false, nil
	case <-due:
		return false, false, nil
	case <-e.wake:
	case <-e.done:
	}
	return false, true, nil
}

func (e *cableEnd) read(b []byte) (int, error) { return e.Take(b) }

func (e *cableEnd) write(b []byte) error {
	_, err := e.Write(b)
	return err
}

func (e *cableEnd) setup() (s lineSetup, ok bool) {
	if to := e.Settings(); to != nil {
		return lineSetup{to.BaudRate, to.Parity}, true
	}
	return lineSetup{}, false
}

// runCable plays a line in memory until ctx ends. ready is called once it is plugged in.
func (b *bus) runCable(ctx context.Context, ready func()) error {
	for ctx.Err() == nil {
		port, err := b.cables.Plug(b.port)
		if err != nil {
			return fmt.Errorf("bus %s: %w", b.name, err)
		}
		b.setUp(b.port)
		ready()
		if b.player != nil {
			err = b.playThrough(ctx, port)
		} else {
			cuts := b.cutCount()
			over := func() bool { return ctx.Err() != nil || b.isPulled() || b.cutCount() != cuts }
			w := &wire{bus: b, end: &cableEnd{port, b.wake, ctx.Done()}, over: over}
			err = w.run()
		}
		port.Close()
		b.setUp("")
		if err != nil {
			return fmt.Errorf("bus %s: %w", b.name, err)
		}
		b.waitPlugged(ctx)
	}
	return nil
}
