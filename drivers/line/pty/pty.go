// Package pty makes pseudo-terminals: a pair of serial ports without copper, one
// end for a program under test, the other for whoever plays the devices.
//
// A pseudo-terminal carries bytes, and nothing else of a serial line: baud rate,
// parity and stop bits are accepted and ignored, bytes arrive at once, there is
// no collision, no break, no direction to switch and no echo. Who needs the speed
// of a line paces the master side himself. Closing the master hangs the slave up,
// which to the program looks like an adapter that was unplugged.
package pty

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Pty is one pair. The slave side is opened by path, as often as one likes; it
// exists until Close.
type Pty struct {
	master *os.File
	keep   *os.File // an open slave: without one the master reads EIO
	path   string

	mu    sync.Mutex
	links []string
}

var linkCount atomic.Uint64

// Open makes a pair in raw mode: no line editing, no echo, all eight bits.
func Open() (*Pty, error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open a pseudo-terminal at /dev/ptmx: %w", err)
	}
	p := &Pty{master: os.NewFile(uintptr(fd), "/dev/ptmx")}
	if err := p.prepare(fd); err != nil {
		p.master.Close()
		return nil, err
	}
	return p, nil
}

func (p *Pty) prepare(fd int) error {
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return fmt.Errorf("unlock the pseudo-terminal: %w", err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return fmt.Errorf("number of the pseudo-terminal: %w", err)
	}
	p.path = "/dev/pts/" + strconv.Itoa(n)
	slave, err := unix.Open(p.path, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open slave side %s: %w", p.path, err)
	}
	p.keep = os.NewFile(uintptr(slave), p.path)
	mode, err := unix.IoctlGetTermios(slave, unix.TCGETS)
	if err == nil {
		mode.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
		mode.Oflag &^= unix.OPOST
		mode.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
		mode.Cflag = mode.Cflag&^(unix.CSIZE|unix.PARENB) | unix.CS8
		mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 1, 0
		err = unix.IoctlSetTermios(slave, unix.TCSETS, mode)
	}
	if err != nil {
		p.keep.Close()
		return fmt.Errorf("raw mode on %s: %w", p.path, err)
	}
	return nil
}

// Master is the devices' end. It takes read and write deadlines, and closing it
// ends a pending read; use [Pty.Close] for that.
func (p *Pty) Master() *os.File { return p.master }

// SlavePath is the device path of the program's end, such as /dev/pts/3. The
// kernel gives the number to the next pair after Close.
func (p *Pty) SlavePath() string { return p.path }

// Link points the symbolic link at path to the slave side until Close, replacing
// in one step a link that is there. Anything but a link is left alone and an error
// returned.
func (p *Pty) Link(path string) error {
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink == 0 {
		return fmt.Errorf("link %s to %s: something that is not a link is there", path, p.path)
	}
	fresh := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d.%d", filepath.Base(path), os.Getpid(), linkCount.Add(1)))
	if err := os.Symlink(p.path, fresh); err != nil {
		return err
	}
	if err := os.Rename(fresh, path); err != nil {
		os.Remove(fresh)
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.links = append(p.links, path)
	return nil
}

// Close ends the pair. Programs that have the slave side open see it hung up.
// Links that still lead to it are removed first, as udev would: the kernel gives
// the device's number to whoever opens the next pair, on the whole machine.
func (p *Pty) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, link := range p.links {
		if target, err := os.Readlink(link); err == nil && target == p.path {
			os.Remove(link)
		}
	}
	p.links = nil
	p.keep.Close()
	return p.master.Close()
}
