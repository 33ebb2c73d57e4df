package broker

import (
	"fmt"
	"net"
	"net/netip"
	"testing"
)

// far is a connection from anywhere.
type far struct {
	net.Conn
	from   string
	closed bool
}

func (f *far) Close() error { f.closed = true; return nil }

func (f *far) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(f.from), 4711))
}

func TestAFloodAtTheDoorOfTheBrokerKeepsOutItselfOnly(t *testing.T) {
	k := &knocking{networks: map[netip.Prefix]int{}}
	var flood []*far
	for i := range waitingMost {
		f := &far{from: fmt.Sprintf("2001:db8::%x", i+1)} // one /64
		flood = append(flood, f)
		if _, ok := k.enter(f); !ok {
			t.Fatalf("connection %d is refused while there are places", i+1)
		}
	}
	if _, ok := k.enter(&far{from: "2001:db8::ffff"}); ok {
		t.Error("one more of the flood was let in")
	}
	own := &far{from: "192.0.2.1"}
	n, ok := k.enter(own)
	if !ok || own.closed || !flood[0].closed || flood[1].closed {
		t.Errorf("another network: let in %v, closed %v; the oldest of the flood is closed: %v, the next: %v", ok, own.closed, flood[0].closed, flood[1].closed)
	}
	k.leave(n)
	k.leave(n)
	if len(k.networks) != 1 || k.all.Len() != waitingMost-1 {
		t.Errorf("after leaving: %d networks, %d connections", len(k.networks), k.all.Len())
	}
}
