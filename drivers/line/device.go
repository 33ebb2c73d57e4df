package line

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"go.bug.st/serial"
	"golang.org/x/sys/unix"

	"svc.internal/controller/appliance"
)

// Device is an open serial port. go.bug.st/serial opens it, sets it up, makes breaks and
// keeps other programs out; bytes pass through a descriptor of our own, because
// the library's Read selects on descriptors below 1024 only and may read a
// stranger's descriptor when it is closed meanwhile, its Write has no deadline,
// and it cannot be locked against a second program run by root.
type Device struct {
	set  serial.Port
	file *os.File // unknown to the runtime's poller, which would wake a thread for each byte
	bell *bell

	raw  syscall.RawConn
	held sync.RWMutex // by each call that is under way, so that a port that is closed is free
}

// Opener opens serial ports. It remembers who holds one: finding out looks at every open
// file of the machine, too much for every attempt. The zero value is ready.
type Opener struct {
	Ports *Ports // other ones than this machine's; nil: none

	who string
	at  time.Time
}

// Open opens a serial port with complete settings, for nobody else.
func (o *Opener) Open(path string, settings appliance.LineSettings) (SerialPort, error) {
	if o.Ports != nil {
		return o.Ports.Serial(path, settings)
	}
	at, err := deviceAt(path)
	fd := -1
	if err == nil { // at the device itself: what a link leads to may have changed meanwhile
		fd, err = unix.Open(at, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENXIO), errors.Is(err, unix.ENODEV), errors.Is(err, unix.EIO):
		return nil, fmt.Errorf("%s is not there: is the adapter plugged in?", path)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("no permission to open %s: the user needs to be in the group that owns it (dialout)", path)
	case errors.Is(err, unix.EBUSY):
		return nil, o.busy(path)
	case err != nil:
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	file, err := unpolled(fd, path)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, o.busy(path)
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	set, err := serial.Open(at, modeOf(settings))
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
	d := &Device{set: set, file: file, raw: raw}
	if d.bell, err = newBell(d.control); err != nil {
		set.Close()
		file.Close()
		return nil, fmt.Errorf("open %s: wait for bytes: %w", path, err)
	}
	return d, nil
}

// control calls fn, which must not wait for anything, with the descriptor.
func (d *Device) control(fn func(fd uintptr)) error {
	d.held.RLock()
	defer d.held.RUnlock()
	return d.raw.Control(fn)
}

// unpolled makes a file of a descriptor that does not block, but keeps it from the runtime's
// poller, which os.NewFile gives every such descriptor to.
func unpolled(fd int, path string) (*os.File, error) {
	if err := unix.SetNonblock(fd, false); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	file := os.NewFile(uintptr(fd), path)
	if err := unix.SetNonblock(fd, true); err != nil {
		file.Close()
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return file, nil
}

// Take reads what has come; nothing is no error.
func (d *Device) Take(b []byte) (n int, err error) {
	for {
		outer := d.control(func(fd uintptr) { n, err = syscall.Read(int(fd), b) })
		switch {
		case outer != nil:
			return 0, outer
		case n > 0:
			return n, nil
		case err == syscall.EAGAIN:
			return 0, nil
		case err == nil, err == unix.EIO:
			return 0, errUnplugged
		case err != unix.EINTR:
			return 0, err
		}
	}
}

// Wait returns when there is something to take, or the adapter was unplugged; its error says
// that the port was closed.
func (d *Device) Wait() error { return d.bell.wait() }

var errUnplugged = errors.New("the adapter was unplugged")

// Write hands bytes to the adapter, which has to take them before the deadline.
func (d *Device) Write(b []byte, deadline time.Time) (written int, err error) {
	for {
		var n int
		outer := d.control(func(fd uintptr) { n, err = syscall.Write(int(fd), b[written:]) })
		written += max(0, n)
		switch {
		case outer != nil:
			return written, outer
		case err == unix.EIO:
			return written, errUnplugged
		case err != nil && err != syscall.EAGAIN && err != syscall.EINTR:
			return written, err
		case written == len(b):
			return written, nil
		case !time.Now().Before(deadline):
			return written, errors.New("the adapter takes no more bytes")
		}
		time.Sleep(writeLook)
	}
}

// writeLook is how often it is tried again whether an adapter takes bytes: its buffer holds
// several frames, so that it hardly ever is.
const writeLook = time.Millisecond

// Break holds the line in its break condition.
func (d *Device) Break(t time.Duration) error { return d.set.Break(t) }

// Unsent counts the bytes in the adapter's driver; one that cannot tell counts as empty.
func (d *Device) Unsent() int {
	n, err := d.ioctl(unix.TIOCOUTQ)
	if err != nil {
		return 0
	}
	return n
}

// Waiting counts the bytes that have come; where the adapter cannot tell, they count as none.
func (d *Device) Waiting() int {
	n, err := d.ioctl(unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return n
}

// Tune sets bit rate, parity, data and stop bits.
func (d *Device) Tune(to appliance.LineSettings) error {
	if err := d.set.SetMode(modeOf(to)); err != nil {
		return fmt.Errorf("set %s to %d baud, parity %s: %w", d.file.Name(), to.BaudRate, to.Parity, err)
	}
	return nil
}

func (d *Device) ioctl(request uint) (n int, err error) {
	outer := d.control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), request) })
	return n, errors.Join(outer, err)
}

// Abort closes the port and throws away what is unsent.
func (d *Device) Abort() {
	d.control(func(fd uintptr) { unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCOFLUSH) })
	d.Close()
}

// Close closes the port.
func (d *Device) Close() {
	d.bell.close()
	d.held.Lock()
	defer d.held.Unlock()
	d.file.Close()
	d.set.Close()
}
