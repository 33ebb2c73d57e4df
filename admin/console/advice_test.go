package console

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
)

// A directory that cannot be entered cannot be had in a test that runs as root, so
// this one begins with the error of the operating system.
func TestForeignDataDirectoryIsExplained(t *testing.T) {
	t.Parallel()
	there := t.TempDir()
	for dir, want := range map[string]string{
		there: "permission denied; use the account that the daemon runs as: sudo -u controllerd controllerd …; if that is this one, " +
			"files belong to somebody else: sudo chown -R controllerd: " + there,
		there + "/none": "permission denied; make it as root: install -d -o controllerd -g controllerd -m 0700 " + there + "/none, or choose another with --data-dir",
	} {
		err := (&App{DataDir: dir}).accessAdvice(&os.PathError{Op: "open", Path: dir, Err: os.ErrPermission})
		if got := strings.TrimPrefix(err.Error(), "open "+dir+": "); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

// The wrong account cannot be had either, so the error is that of its system call.
func TestWrongAccountIsExplainedByAllThatAskTheDaemon(t *testing.T) {
	t.Parallel()
	a := &App{DataDir: t.TempDir()}
	l := a.local()
	refused := &net.OpError{Op: "dial", Net: "unix", Addr: &net.UnixAddr{Name: "console.sock", Net: "unix"}, Err: os.NewSyscallError("connect", syscall.EACCES)}
	l.http.Transport = &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, refused }}
	const want = "ask the daemon: dial unix console.sock: connect: permission denied; use the account that the daemon runs as: sudo -u controllerd controllerd …;"
	if _, err := l.buses(t.Context()); err == nil || !strings.HasPrefix(err.Error(), want) || errors.Is(err, errHungUp) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
