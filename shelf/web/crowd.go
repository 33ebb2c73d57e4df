package web

import (
	"container/list"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
)

// Places of a program, all its doors together. A stranger is who has not shown a token
// or key that is good: on a connection, or with a request. All that strangers can hold
// is some 256 × 60 KB of connections and 128 requests with what these may send.
const (
	strangersMost              = 256
	strangersPerNetwork        = 64
	strangerRequestsMost       = 128
	strangerRequestsPerNetwork = 32
	knownMost                  = 1024
	knownPerNetwork            = 512
)

// Crowd is who has a connection to any door of a program.
//
// Strangers cannot keep others out: when their places are taken, or those of one
// network, the oldest of them goes and the newcomer stays. Whoever shows that he is
// known keeps his connection. A network is an address, of IPv6 a /64, since one host has
// as many addresses in it as it likes. Loopback is not counted as a network: a tunnel
// brings everybody from there.
type Crowd struct {
	log *slog.Logger
	say Sparse

	times   int            // places there are, as a multiple of those of a board
	proxies []netip.Prefix // that bring everybody, too

	mu        sync.Mutex
	known     int
	strangers list.List // of *visitor, oldest first
	asking    list.List // of *request by strangers, oldest first
	networks  map[netip.Prefix]*network

	shakes *handshakes

	evicted, cut, refused, refusedHandshakes atomic.Uint64
}

// network is what one network holds.
type network struct{ known, strangers, asking int }

// NewCrowd returns an empty one. log is told who had to go, a few times a minute.
func NewCrowd(log *slog.Logger) *Crowd {
	return &Crowd{log: log, times: 1, networks: map[netip.Prefix]*network{}, shakes: newHandshakes()}
}

// serverTimes is how many more places a server has than a board: strangers hold some 60 MB at most.
const serverTimes = 4

// NewServerCrowd returns an empty one that has the places of a server. Proxies bring everybody
// and are not counted as networks.
func NewServerCrowd(log *slog.Logger, proxies []netip.Prefix) *Crowd {
	c := NewCrowd(log)
	c.times, c.proxies = serverTimes, proxies
	return c
}

// alone reports whether a network is counted: behind loopback and proxies is everybody.
func (c *Crowd) alone(from netip.Prefix) bool {
	return !from.Addr().IsLoopback() && !slices.ContainsFunc(c.proxies, from.Overlaps)
}

// CrowdState is a crowd at one moment, and what happened in it so far.
type CrowdState struct {
	Known, Strangers int    // connections
	Evicted          uint64 // connections of strangers that made room
	Cut              uint64 // requests of strangers that made room
	Refused          uint64 // requests of known ones that had no place
	Handshakes       uint64 // that were refused, since too many came at once
}

// State of the crowd now.
func (c *Crowd) State() CrowdState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return CrowdState{Known: c.known, Strangers: c.strangers.Len(), Evicted: c.evicted.Load(), Cut: c.cut.Load(), Refused: c.refused.Load(), Handshakes: c.refusedHandshakes.Load()}
}

// visitor is a connection of the crowd.
type visitor struct {
	net.Conn
	crowd   *Crowd
	from    netip.Prefix
	isKnown atomic.Bool

	// Under the crowd's lock.
	place *list.Element // among the strangers; nil: known, or gone
	gone  bool
}

// Close gives the place back.
func (v *visitor) Close() error {
	v.crowd.leave(v)
	return v.Conn.Close()
}

// admitting is a listener whose connections are visitors.
type admitting struct {
	net.Listener
	crowd *Crowd
}

// Accept admits everybody: it is others who make room.
func (a admitting) Accept() (net.Conn, error) {
	c, err := a.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return a.crowd.enter(c, hostOf(c)), nil
}

func (c *Crowd) enter(conn net.Conn, host netip.Addr) *visitor {
	v := &visitor{Conn: conn, crowd: c, from: networkOf(host)}
	c.mu.Lock()
	n := c.network(v.from)
	var victim *visitor
	switch {
	case n.strangers >= c.times*strangersPerNetwork && c.alone(v.from):
		victim = oldest(&c.strangers, func(o *visitor) bool { return o.from == v.from })
	case c.strangers.Len() >= c.times*strangersMost:
		victim = oldest(&c.strangers, func(*visitor) bool { return true })
	}
	n.strangers++
	v.place = c.strangers.PushBack(v)
	c.mu.Unlock()
	if victim != nil {
		c.evicted.Add(1)
		c.tell("connection without a login closed to make room for another", victim.from)
		victim.Close()
	}
	return v
}

// oldest is the first of a list that fits, and nil if there is none.
func oldest[T any](of *list.List, fits func(T) bool) (found T) {
	for e := of.Front(); e != nil; e = e.Next() {
		if v := e.Value.(T); fits(v) {
			return v
		}
	}
	return found
}

func (c *Crowd) leave(v *visitor) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v.gone {
		return
	}
	v.gone = true
	n := c.network(v.from)
	if v.place != nil {
		c.strangers.Remove(v.place)
		v.place = nil
		n.strangers--
	} else {
		c.known--
		n.known--
	}
	c.tidy(v.from)
}

// recognise moves a connection to the known ones; false if these have no place left.
func (c *Crowd) recognise(v *visitor) bool {
	if v.isKnown.Load() {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if v.gone || v.place == nil {
		return true // it is over, or another of its requests was quicker
	}
	n := c.network(v.from)
	if c.known >= c.times*knownMost || n.known >= c.times*knownPerNetwork && c.alone(v.from) {
		c.refused.Add(1)
		return false
	}
	c.strangers.Remove(v.place)
	v.place = nil
	n.strangers--
	n.known++
	c.known++
	v.isKnown.Store(true)
	return true
}

// network of a prefix, made if it is not there.
func (c *Crowd) network(p netip.Prefix) *network {
	n := c.networks[p]
	if n == nil {
		n = &network{}
		c.networks[p] = n
	}
	return n
}

func (c *Crowd) tidy(p netip.Prefix) {
	if n := c.networks[p]; n != nil && *n == (network{}) {
		delete(c.networks, p)
	}
}

// tell writes a log line, unless there were many of late.
func (c *Crowd) tell(what string, who netip.Prefix) {
	if ok, left := c.say.Allow(); ok {
		c.log.Warn(what, "network", who.String(), "not_logged", left)
	}
}

// request is one that a stranger has under way.
type request struct {
	visitor *visitor
	control *http.ResponseController
	place   *list.Element // nil: over, or known
}

// begin counts a request; nil if there is nothing to be counted.
func begin(c echo.Context) *request {
	v, _ := c.Request().Context().Value(visitorKey{}).(*visitor)
	if v == nil || v.isKnown.Load() {
		return nil
	}
	q := &request{visitor: v, control: http.NewResponseController(c.Response().Writer)}
	v.crowd.ask(q)
	return q
}

func (c *Crowd) ask(q *request) {
	from := q.visitor.from
	c.mu.Lock()
	n := c.network(from)
	var victim *request
	switch {
	case n.asking >= c.times*strangerRequestsPerNetwork && c.alone(from):
		victim = oldest(&c.asking, func(o *request) bool { return o.visitor.from == from })
	case c.asking.Len() >= c.times*strangerRequestsMost:
		victim = oldest(&c.asking, func(*request) bool { return true })
	}
	if victim != nil {
		c.unask(victim)
	}
	n = c.network(from) // it may have been tidied away
	n.asking++
	q.place = c.asking.PushBack(q)
	c.mu.Unlock()
	if victim != nil {
		c.cut.Add(1)
		c.tell("request without a login given up to make room for another", victim.visitor.from)
		past := time.Unix(1, 0)
		// Whichever way it hangs. If it cannot be told so, it ends by its time-outs.
		_ = victim.control.SetReadDeadline(past)
		_ = victim.control.SetWriteDeadline(past)
	}
}

// unask takes a request off the strangers', under the lock.
func (c *Crowd) unask(q *request) {
	if q.place == nil {
		return
	}
	c.asking.Remove(q.place)
	q.place = nil
	c.network(q.visitor.from).asking--
	c.tidy(q.visitor.from)
}

// end of a request, or of its being a stranger's.
func (q *request) end() {
	if q == nil {
		return
	}
	c := q.visitor.crowd
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unask(q)
}

// visitorKey is where a request's context has its connection.
type visitorKey struct{}

// withVisitor puts the connection below TLS into the context of its requests.
func withVisitor(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = t.NetConn()
	}
	if v, ok := c.(*visitor); ok {
		return context.WithValue(ctx, visitorKey{}, v)
	}
	return ctx
}

// networkOf is what counts as one network.
func networkOf(host netip.Addr) netip.Prefix {
	bits := host.BitLen()
	if host.Is6() && !host.IsLoopback() {
		bits = 64
	}
	p, err := host.WithZone("").Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}

func hostOf(c net.Conn) netip.Addr {
	ap, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap()
}
