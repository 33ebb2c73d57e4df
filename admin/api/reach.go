package api

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
)

// fetcher fetches updates. Where to is judged by the address that is dialled, after names
// and redirects. It uses no proxy, which would dial in its place.
func fetcher(local bool) *http.Client {
	dialer := &net.Dialer{}
	if !local {
		dialer.Control = noLocal
	}
	return &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, ForceAttemptHTTP2: true, DisableKeepAlives: true}}
}

// noLocal refuses the addresses of this machine and of its cables: what listens there
// believes whoever asks. A mirror stands at any other, those of the building's network included.
func noLocal(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("read the address %s to fetch from: %w", address, err)
	}
	ip := at.Addr().Unmap()
	if ip.IsGlobalUnicast() {
		return nil // the private ones as well
	}
	return fmt.Errorf("updates are not fetched from %s: it is this machine's own or link-local; serve with --update-from-local if it has to be", ip)
}
