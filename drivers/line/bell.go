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
	file *os.File
	raw  syscall.RawConn
}

func newBell(port syscall.RawConn) (*bell, error) {
	poller, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(poller, true); err != nil { // or the runtime's poller does not take it
		unix.Close(poller)
		return nil, err
	}
	b := &bell{file: os.NewFile(uintptr(poller), "bell")}
	if b.raw, err = b.file.SyscallConn(); err == nil {
		err = b.set(port, unix.EPOLL_CTL_ADD, 0)
	}
	if err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

// wait returns when the port has bytes, or is gone.
func (b *bell) wait(port syscall.RawConn) (err error) {
	set := false
	outer := b.raw.Read(func(poller uintptr) bool {
		if !set {
			set = true
			err = b.set(port, unix.EPOLL_CTL_MOD, unix.EPOLLIN|unix.EPOLLONESHOT)
			return err != nil
		}
		var rung [1]unix.EpollEvent
		n, _ := unix.EpollWait(int(poller), rung[:], 0)
		return n > 0
	})
	return errors.Join(outer, err)
}

func (b *bell) set(port syscall.RawConn, how int, events uint32) (err error) {
	outer := b.raw.Control(func(poller uintptr) {
		gone := port.Control(func(fd uintptr) {
			err = unix.EpollCtl(int(poller), how, int(fd), &unix.EpollEvent{Events: events})
		})
		if gone != nil {
			err = gone
		}
	})
	if outer != nil {
		return outer
	}
	return err
}

func (b *bell) close() { b.file.Close() }
