package api_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/web"
)

// from is a client with another address of this machine: 127.0.0.n.
func (h *house) from(n byte) *client {
	c := h.client()
	tls := h.server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	tls.NextProtos = nil
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, n)}}
	transport := &http.Transport{TLSClientConfig: tls, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, addr)
	}}
	h.t.Cleanup(transport.CloseIdleConnections)
	c.http.Transport = transport
	return c
}

// strangers send the same from three times as many addresses as an address may fail, a few at once: a slow machine tells more of
// them that too many log in.
func (h *house) strangers(status int, path string, in any) {
	var all sync.WaitGroup
	few := make(chan struct{}, 3)
	for n := range byte(3 * web.BrakeLimit) {
		c := h.from(10 + n)
		few <- struct{}{}
		all.Go(func() {
			defer func() { <-few }()
			if got, _, data := c.do("POST", path, in); got != status {
				h.t.Errorf("%s from stranger %d: got %d, want %d: %s", path, n, got, status, data)
			}
		})
	}
	all.Wait()
}

func TestStrangersGuessesDoNotStopTheClaim(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	h := newHouse(t)
	for _, u := range h.db.Users() {
		must(t, h.db.RemoveUser(t.Context(), u.Name))
	}
	code, err := h.claim.Open()
	must(t, err)
	h.strangers(403, "/claim", api.ClaimRequest{Code: "AAAA-AAAA-AAAA", Username: "eve", Password: password})
	h.from(200).must(200, "POST", "/claim", api.ClaimRequest{Code: code, Username: "ana", Password: password}, nil)
}

func TestStrangersGuessesDoNotLockAnAccount(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	h := newHouse(t)
	h.strangers(401, "/auth/login", api.Login{Username: "admin", Password: "a wrong password"})
	h.from(200).must(200, "POST", "/auth/login", api.Login{Username: string(account.RoleAdmin), Password: password}, nil)
	guesser := h.from(10)
	for i := range web.BrakeLimit {
		status, header, _ := guesser.do("POST", "/auth/login", api.Login{Username: "admin", Password: fmt.Sprint("wrong password ", i)})
		if status == http.StatusTooManyRequests {
			if header.Get("Retry-After") == "" {
				t.Error("a refusal without Retry-After")
			}
			return
		}
	}
	t.Error("one address goes on guessing")
}
