package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/admin/console"
)

// listenLocal makes the socket in the data directory, in place of one that a killed
// daemon left. The caller holds the directory's lock, so no other daemon serves it.
func listenLocal(dataDir string, on ground) (net.Listener, error) {
	path := filepath.Join(dataDir, console.SocketName)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("remove old socket of the command line: %w", err)
	}
	ln, err := on.open("unix", path)
	if err != nil {
		return nil, fmt.Errorf("open socket of the command line: %w", err)
	}
	if on.listen != nil {
		return ln, nil
	}
	if err := os.Chmod(path, 0o600); err != nil {
		ln.Close()
		return nil, fmt.Errorf("protect socket of the command line: %w", err)
	}
	return ln, nil
}

// answerHere serves the command line: at once, or when the disk takes the socket.
func (d *daemon) answerHere(ctx context.Context, h http.Handler) error {
	for d.doors.local == nil {
		select {
		case <-time.After(localAgain):
		case <-ctx.Done():
			return nil
		}
		if ln, err := listenLocal(d.dataDir, d.ground); err == nil {
			d.doors.local = ln
		}
	}
	return serveLocal(ctx, d.doors.local, h, d.log)
}

// localAgain is how often it is tried to make the socket.
const localAgain = 3 * time.Second

// serveLocal answers on the socket until ctx ends. It owns ln.
func serveLocal(ctx context.Context, ln net.Listener, h http.Handler, log *slog.Logger) error {
	srv := &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return api.Local(ctx, whoOpened(c)) },
		ErrorLog:    slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	defer context.AfterFunc(ctx, func() { srv.Close() })()
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the command line: %w", err)
	}
	return nil
}

// whoOpened names the account of the system that opened a connection: that is who
// began a job, changed the site or moved a shade.
func whoOpened(c net.Conn) string {
	nobody := "controllerd"
	s, ok := c.(*net.UnixConn)
	if !ok {
		return nobody
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return nobody
	}
	var peer *syscall.Ucred
	if raw.Control(func(fd uintptr) {
		peer, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}) != nil || err != nil {
		return nobody
	}
	id := strconv.FormatUint(uint64(peer.Uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return "uid " + id
}
