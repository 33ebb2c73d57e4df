package main

import (
	"context"
	"net"

	"svc.internal/controller/drivers/line"
	"svc.internal/controller/shelf/web"
	"svc.internal/controller/systemd"
)

// ground is what the daemon stands on. The zero value is this machine: its network, serial ports and clock.
type ground struct {
	listen func(network, address string) (net.Listener, error)
	ports  *line.Ports
	broker func(ctx context.Context, address string) (net.Conn, error) // connects to that of the platform
	clock  *web.Clock
	sys    string // where the kernel tells of the board; empty: /sys
}

// https is the door on the network, which systemd may have opened.
func (g ground) https(address string) (net.Listener, error) {
	if g.listen != nil {
		return g.listen("tcp", address)
	}
	return systemd.Listen(address)
}

func (g ground) open(network, address string) (net.Listener, error) {
	if g.listen != nil {
		return g.listen(network, address)
	}
	return net.Listen(network, address)
}

func (g ground) time() web.Clock {
	if g.clock != nil {
		return *g.clock
	}
	return web.SystemClock()
}
