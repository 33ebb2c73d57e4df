package line

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// bell tells that a port has bytes, once each time that somebody waits: bytes that come
// while nobody does wake no thread. It is a poller of its own with nothing but the port,
// below the runtime's.
type bell struct {
	port func(func(fd uintptr)) error
	file *os.File
	raw  syscall.RawConn
}

func newBell(port func(func(fd uintptr)) error) (*bell, error) {
	poller, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(poller, true); err != nil { // or the runtime's poller does not take it
		unix.Close(poller)
		return nil, err
	}
	b := &bell{port: port, file: os.NewFile(uintptr(poller), "bell")}
	if b.raw, err = b.file.SyscallConn(); err == nil {
		err = b.set(poller, unix.EPOLL_CTL_ADD, 0)
	}
	if err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

// wait returns when the port has bytes or lost its device, or with an error when it was closed.
func (b *bell) wait() (err error) {
	armed := false
	outer := b.raw.Read(func(poller uintptr) bool {
		if !armed {
			armed = true
			if err = b.set(int(poller), unix.EPOLL_CTL_MOD, unix.EPOLLIN|unix.EPOLLONESHOT); err != nil {
				return true
			}
		}
		// Looked at once, too: of a port that is gone already the runtime may have been told before.
		var rung [1]unix.EpollEvent
		n, err := unix.EpollWait(int(poller), rung[:], 0)
		return n > 0 || err != nil && err != unix.EINTR
	})
	return errors.Join(outer, err)
}

// set tells a poller which events of the port it reports.
func (b *bell) set(poller, how int, events uint32) (err error) {
	outer := b.port(func(fd uintptr) {
		err = unix.EpollCtl(poller, how, int(fd), &unix.EpollEvent{Events: events})
	})
	return errors.Join(outer, err)
}

func (b *bell) close() { b.file.Close() }
