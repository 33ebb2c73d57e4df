package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Limits of a door. A control call may take 10 s, so writing has more.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = 60 * time.Second
	idleTimeout   = 2 * time.Minute
	headerBytes   = 16 << 10

	// HTTP/2: a page asks for a few files at once, and sends little.
	streams       = 16
	frameBytes    = 16 << 10
	receiveBuffer = 64 << 10 // of a connection, and of a stream: a client may fill it before it knows of a smaller one
	pingAfter     = 30 * time.Second
	pingTimeout   = 15 * time.Second
	untakenFrames = 15 * time.Second

	// stopTimeout is how long answers under way may take when the daemon ends.
	stopTimeout = 12 * time.Second
)

// Serve answers on ln until ctx ends, then lets answers under way finish. With
// conf it speaks TLS, without it plain HTTP, which is for loopback only. All doors
// of a program share one crowd. It returns nil after an orderly end and owns ln.
func Serve(ctx context.Context, ln net.Listener, h http.Handler, conf *tls.Config, crowd *Crowd) error {
	if conf != nil {
		conf = crowd.paced(conf)
	}
	srv := &http.Server{
		Handler:           h,
		TLSConfig:         conf,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    headerBytes,
		ConnContext:       withVisitor,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: streams, MaxReadFrameSize: frameBytes,
			MaxReceiveBufferPerConnection: receiveBuffer, MaxReceiveBufferPerStream: receiveBuffer,
			SendPingTimeout: pingAfter, PingTimeout: pingTimeout, WriteByteTimeout: untakenFrames,
		},
		// Failed handshakes of port scanners are no event worth flash.
		ErrorLog: slog.NewLogLogger(crowd.log.Handler(), slog.LevelDebug),
	}
	ln = admitting{ln, crowd}
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
