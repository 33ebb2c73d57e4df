package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// Limits of a door. A control call may take 10 s, so writing has more.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = 60 * time.Second
	idleTimeout   = 2 * time.Minute
	headerBytes   = 16 << 10

	connections        = 512
	connectionsPerHost = 128

	// stopTimeout is how long answers under way may take when the daemon ends.
	stopTimeout = 12 * time.Second
)

// Serve answers on ln until ctx ends, then lets answers under way finish. With
// conf it speaks TLS, without it plain HTTP, which is for loopback only. It
// returns nil after an orderly end and owns ln.
func Serve(ctx context.Context, ln net.Listener, h http.Handler, conf *tls.Config, log *slog.Logger) error {
	srv := &http.Server{
		Handler:           h,
		TLSConfig:         conf,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    headerBytes,
		// Failed handshakes of port scanners are no event worth flash.
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	ln = limit(ln)
	served := make(chan error, 1)
	go func() {
		if conf == nil {
			served <- srv.Serve(ln)
			return
		}
		served <- srv.ServeTLS(ln, "", "")
	}()
	select {
	case err := <-served:
		return fmt.Errorf("serve %s: %w", ln.Addr(), err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	err := srv.Shutdown(stop)
	if err != nil {
		srv.Close()
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", ln.Addr(), err)
	}
	if err != nil {
		return fmt.Errorf("stop serving %s: answers still under way after %v were cut off: %w", ln.Addr(), stopTimeout, err)
	}
	return nil
}

// limited is a listener that no single host can fill, and all together not
// beyond what the board's memory bears. Connections over the limit are closed at
// once. Loopback is not counted per host: a tunnel brings everybody from there.
type limited struct {
	net.Listener

	mu    sync.Mutex
	total int
	hosts map[netip.Addr]int
}

func limit(ln net.Listener) net.Listener {
	return &limited{Listener: ln, hosts: make(map[netip.Addr]int)}
}

func (l *limited) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		host := hostOf(c)
		if l.take(host) {
			return &counted{Conn: c, give: sync.OnceFunc(func() { l.give(host) })}, nil
		}
		c.Close()
	}
}

func (l *limited) take(host netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.total >= connections || !host.IsLoopback() && l.hosts[host] >= connectionsPerHost {
		return false
	}
	l.total++
	l.hosts[host]++
	return true
}

func (l *limited) give(host netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total--
	if l.hosts[host]--; l.hosts[host] == 0 {
		delete(l.hosts, host)
	}
}

func hostOf(c net.Conn) netip.Addr {
	ap, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap()
}

// counted gives its place back when it is closed.
type counted struct {
	net.Conn
	give func()
}

func (c *counted) Close() error {
	c.give()
	return c.Conn.Close()
}
