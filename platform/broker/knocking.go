package broker

import (
	"container/list"
	"net"
	"net/netip"
	"sync"

	"svc.internal/controller/shelf/web"
)

// knocking are the connections that have not said yet who they are. When all places are taken, one of the network that
// has the most goes: a flood keeps out nobody but itself.
type knocking struct {
	mu       sync.Mutex
	all      list.List // of *knock, oldest first
	networks map[netip.Prefix]int
}

// knock is one of them.
type knock struct {
	conn  net.Conn
	from  netip.Prefix
	place *list.Element // nil: it is over
}

// enter takes a place; ok is false if the network of conn has the most of them already.
func (k *knocking) enter(conn net.Conn) (n *knock, ok bool) {
	n = &knock{conn: conn, from: web.NetworkOf(conn)}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all.Len() >= waitingMost {
		var most netip.Prefix
		for network, count := range k.networks {
			if count > k.networks[most] {
				most = network
			}
		}
		if k.networks[n.from] >= k.networks[most] {
			return nil, false
		}
		for e := k.all.Front(); e != nil; e = e.Next() {
			if victim := e.Value.(*knock); victim.from == most {
				k.remove(victim)
				victim.conn.Close()
				break
			}
		}
	}
	n.place = k.all.PushBack(n)
	k.networks[n.from]++
	return n, true
}

// leave gives the place back.
func (k *knocking) leave(n *knock) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.remove(n)
}

func (k *knocking) remove(n *knock) {
	if n.place == nil {
		return
	}
	k.all.Remove(n.place)
	n.place = nil
	if k.networks[n.from]--; k.networks[n.from] == 0 {
		delete(k.networks, n.from)
	}
}
