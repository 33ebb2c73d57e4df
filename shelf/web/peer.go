package web

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Peer is the address of whoever opened the connection. Headers that claim
// another one are not believed: anybody can write them. The zero Addr means
// that it is not known.
func Peer(r *http.Request) netip.Addr {
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap()
}

// NetworkOf is what counts as one network of a connection: an address, of IPv6 a /64.
func NetworkOf(c net.Conn) netip.Prefix { return networkOf(hostOf(c)) }

// seeThrough puts whom a proxy of ours speaks for in the proxy's place: the last one
// in X-Forwarded-For who is no proxy of ours. What stands before him in it he may have
// written himself.
func (d *door) seeThrough(r *http.Request) {
	if !d.trusted(Peer(r)) {
		r.Header.Del(forwardedScheme)
		return
	}
	chain := strings.Split(strings.Join(r.Header["X-Forwarded-For"], ","), ",")
	for _, text := range slices.Backward(chain) {
		addr, err := netip.ParseAddr(strings.TrimSpace(text))
		if err != nil {
			return
		}
		addr = addr.Unmap()
		r.RemoteAddr = netip.AddrPortFrom(addr, 0).String()
		if !d.trusted(addr) {
			return
		}
	}
}

func (d *door) trusted(addr netip.Addr) bool {
	return slices.ContainsFunc(d.Proxies, func(p netip.Prefix) bool { return p.Contains(addr) })
}
