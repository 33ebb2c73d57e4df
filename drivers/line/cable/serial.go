package cable

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"svc.internal/controller/appliance"
)

// Serial is a serial line: the end that whoever plays the devices has. Closing it is pulling the adapter.
type Serial struct {
	*Conn
	net  *Net
	path string

	mu   sync.Mutex
	port *port                   // that the program has open; nil: none
	set  *appliance.LineSettings // by the program; nil: never
}

// serialRoom is how much waits for a program that does not read, as in a terminal of the kernel.
const serialRoom = 4096

var errUnplugged = errors.New("the adapter was unplugged")

// Plug makes a serial port at a path.
func (n *Net) Plug(path string) (*Serial, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.serial[path] != nil {
		return nil, fmt.Errorf("plug in %s: there is an adapter already", path)
	}
	s := &Serial{net: n, path: path}
	at := &net.UnixAddr{Name: path}
	s.Conn = &Conn{in: newFlow(serialRoom), out: newFlow(serialRoom), here: at, there: at, closed: make(chan struct{})}
	if n.serial == nil {
		n.serial = map[string]*Serial{}
	}
	n.serial[path] = s
	return s, nil
}

// Write says something to the program; what nobody reads is lost, as on a line that nobody listens to.
func (s *Serial) Write(b []byte) (int, error) {
	s.mu.Lock()
	open := s.port != nil
	s.mu.Unlock()
	switch {
	case passed(s.closed):
		return 0, s.fail("write", net.ErrClosed)
	case !open:
		return len(b), nil
	}
	if _, _, err := s.out.put(b); err != nil {
		return 0, s.fail("write", err)
	}
	return len(b), nil
}

// Settings are those that the program gave the port last; nil: none yet.
func (s *Serial) Settings() *appliance.LineSettings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set
}

// Readable is closed when there is something to read, or the line ended.
func (s *Serial) Readable() <-chan struct{} {
	f := s.in
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.buf) > 0 || f.ended != nil {
		now := make(chan struct{})
		close(now)
		return now
	}
	return f.next()
}

// Close pulls the adapter: the program's port hangs up.
func (s *Serial) Close() error {
	s.net.mu.Lock()
	if s.net.serial[s.path] == s {
		delete(s.net.serial, s.path)
	}
	s.net.mu.Unlock()
	s.out.end(errUnplugged, false)
	return s.Conn.Close()
}

// open opens a port for the program.
func (n *Net) open(path string, to appliance.LineSettings) (*port, error) {
	n.mu.Lock()
	s := n.serial[path]
	n.mu.Unlock()
	if s == nil {
		return nil, fmt.Errorf("%s is not there: is the adapter plugged in?", path)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.port != nil {
		return nil, fmt.Errorf("%s is in use by another bus of this program", path)
	}
	s.out.empty()
	s.port = &port{line: s, closed: make(chan struct{})}
	s.set = &to
	return s.port, nil
}

// port is a serial port that a program has open.
type port struct {
	line   *Serial
	once   sync.Once
	closed chan struct{}
}

var errClosed = errors.New("the port was closed")

// Take reads what has come; nothing is no error.
func (p *port) Take(b []byte) (int, error) {
	if passed(p.closed) {
		return 0, errClosed
	}
	n, _, err := p.line.out.take(b)
	return n, err
}

// Wait returns when there is something to take, or the adapter was unplugged.
func (p *port) Wait() error {
	f := p.line.out
	f.mu.Lock()
	if len(f.buf) > 0 || f.ended != nil {
		f.mu.Unlock()
		return nil
	}
	more := f.next()
	f.mu.Unlock()
	select {
	case <-more:
		return nil
	case <-p.closed:
		return errClosed
	}
}

// Waiting counts what can be taken.
func (p *port) Waiting() int { return p.line.out.waiting() }

// Write waits until the line has room for everything, or the deadline.
func (p *port) Write(b []byte, by time.Time) (written int, err error) {
	late := time.NewTimer(time.Until(by))
	defer late.Stop()
	for {
		if passed(p.closed) {
			return written, errClosed
		}
		n, room, err := p.line.in.put(b[written:])
		written += n
		if err != nil {
			return written, errUnplugged
		}
		if written == len(b) {
			return written, nil
		}
		select {
		case <-room:
		case <-p.closed:
		case <-late.C:
			return written, errors.New("the adapter takes no more bytes")
		}
	}
}

// Unsent is 0: what was written has arrived.
func (p *port) Unsent() int { return 0 }

// Tune sets bit rate, parity, data and stop bits.
func (p *port) Tune(to appliance.LineSettings) error {
	p.line.mu.Lock()
	defer p.line.mu.Unlock()
	if passed(p.line.closed) {
		return errUnplugged
	}
	p.line.set = &to
	return nil
}

// Break holds the line in its break condition, which nobody sees here.
func (p *port) Break(t time.Duration) error {
	if passed(p.line.closed) {
		return errUnplugged
	}
	time.Sleep(t)
	return nil
}

// Abort closes the port.
func (p *port) Abort() { p.Close() }

// Close closes the port; another may be opened.
func (p *port) Close() {
	p.once.Do(func() {
		close(p.closed)
		p.line.mu.Lock()
		defer p.line.mu.Unlock()
		if p.line.port == p {
			p.line.port = nil
		}
	})
}
