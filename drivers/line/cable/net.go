package cable

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"syscall"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
)

// Net is a network and the serial ports of a machine, in memory. The zero value is ready.
type Net struct {
	mu        sync.Mutex
	listeners map[string]*listener
	serial    map[string]*Serial
	dialled   uint16
	given     uint16 // ports that were free for whoever asked for any
}

// Ports are this network's and its serial ports, for lines.
func (n *Net) Ports() *line.Ports {
	return &line.Ports{
		Serial: func(path string, to appliance.LineSettings) (line.SerialPort, error) { return n.open(path, to) },
		Dial: func(ctx context.Context, address string) (line.Connection, error) {
			c, err := n.Dial(ctx, address)
			if err != nil {
				return nil, err
			}
			return c.(*Conn), nil
		},
	}
}

// backlog is how many connections wait to be accepted at most.
const backlog = 128

type listener struct {
	net    *Net
	at     string
	addr   net.Addr
	comers chan *Conn
	once   sync.Once
	closed chan struct{}
}

// Listen takes an address of loopback; with port 0 the next that is free, and was given to nobody yet.
func (n *Net) Listen(address string) (net.Listener, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for at.Port() == 0 {
		n.given++
		if next := netip.AddrPortFrom(at.Addr(), 40000+n.given%20000); n.listeners[next.String()] == nil {
			at = next
		}
	}
	l := &listener{net: n, at: at.String(), addr: net.TCPAddrFromAddrPort(at), comers: make(chan *Conn, backlog), closed: make(chan struct{})}
	if n.listeners[l.at] != nil {
		return nil, &net.OpError{Op: "listen", Net: "cable", Addr: l.addr, Err: syscall.EADDRINUSE}
	}
	if n.listeners == nil {
		n.listeners = map[string]*listener{}
	}
	n.listeners[l.at] = l
	return l, nil
}

// Dial connects to an address that somebody listens on.
func (n *Net) Dial(_ context.Context, address string) (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.listeners[address]
	if l == nil {
		return nil, &net.OpError{Op: "dial", Net: "cable", Err: syscall.ECONNREFUSED}
	}
	n.dialled++
	here := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(n.dialled | 1<<15)}
	mine, theirs := Pipe(here, l.addr)
	select {
	case l.comers <- theirs:
		return mine, nil
	default:
		return nil, &net.OpError{Op: "dial", Net: "cable", Addr: l.addr, Err: syscall.ECONNREFUSED}
	}
}

// Accept waits for somebody to connect.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case <-l.closed:
	case c := <-l.comers:
		return c, nil
	}
	return nil, &net.OpError{Op: "accept", Net: "cable", Addr: l.addr, Err: net.ErrClosed}
}

// Close ends Accept, and the connections that nobody has accepted.
func (l *listener) Close() error {
	l.once.Do(func() {
		l.net.mu.Lock()
		delete(l.net.listeners, l.at)
		l.net.mu.Unlock()
		close(l.closed)
		for {
			select {
			case c := <-l.comers:
				c.Abort()
			default:
				return
			}
		}
	})
	return nil
}

// Addr is where it listens.
func (l *listener) Addr() net.Addr { return l.addr }
