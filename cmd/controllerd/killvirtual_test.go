package main

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing/synctest"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
)

// process is what the kernel keeps for a daemon in memory, and takes from it when it is killed: ports, connections and
// those who listen. A daemon that was killed lives on in the bubble, and reaches nobody.
type process struct {
	mu     sync.Mutex
	killed bool
	held   []func() // close what it has
}

var errKilled = errors.New("the process was killed")

func (p *process) isKilled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.killed
}

// hold notes what goes when the process goes; where that has happened, it goes now.
func (p *process) hold(gone func()) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed {
		gone()
		return errKilled
	}
	p.held = append(p.held, gone)
	return nil
}

func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killed = true
	for _, gone := range p.held {
		gone()
	}
}

// ports are those of the house, as long as the process lives.
func (p *process) ports(of *line.Ports) *line.Ports {
	return &line.Ports{
		Serial: func(path string, to appliance.LineSettings) (line.SerialPort, error) {
			if p.isKilled() {
				return nil, errKilled
			}
			s, err := of.Serial(path, to)
			if err != nil {
				return nil, err
			}
			return s, p.hold(s.Abort)
		},
		Dial: func(ctx context.Context, address string) (line.Connection, error) {
			c, err := of.Dial(ctx, address)
			if err != nil {
				return nil, err
			}
			return c, p.hold(c.Abort)
		},
	}
}

// dial is a way to connect, as long as the process lives; nil stays nil.
func (p *process) dial(by func(context.Context, string) (net.Conn, error)) func(context.Context, string) (net.Conn, error) {
	if by == nil {
		return nil
	}
	return func(ctx context.Context, address string) (net.Conn, error) {
		c, err := by(ctx, address)
		if err != nil {
			return nil, err
		}
		return c, p.hold(func() { c.Close() })
	}
}

// accepting is a listener of the process.
type accepting struct {
	net.Listener
	of *process
}

func (l accepting) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return c, l.of.hold(func() { c.Close() })
}

func (p *process) listen(ln net.Listener, err error) (net.Listener, error) {
	if err != nil {
		return nil, err
	}
	return accepting{ln, p}, p.hold(func() { ln.Close() })
}

// killDaemon ends the daemon of a house in a bubble as SIGKILL does: whoever is connected is cut off, nothing is sent or
// saved any more, and what is on the disk now is what the next one finds.
func (h *house) killDaemon() {
	h.t.Helper()
	synctest.Wait()
	h.lives.kill()
	left, was := filepath.Join(h.t.TempDir(), "data"), h.dataDir
	h.copyData(was, left)
	h.dataDir = left
	stop, ended := h.stop, make(chan struct{})
	go func() {
		defer close(ended)
		stop()
		os.RemoveAll(was)
	}()
	h.t.Cleanup(func() { <-ended })
}
