package systemd

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// manager is systemd's end of the conversation.
func manager(t *testing.T) *net.UnixConn {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	return c
}

func heard(t *testing.T, c *net.UnixConn, patience time.Duration) string {
	t.Helper()
	b := make([]byte, 256)
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	n, err := c.Read(b)
	if err != nil {
		return ""
	}
	return string(b[:n])
}

func TestReadyIsTold(t *testing.T) {
	c := manager(t)
	Ready(slog.New(slog.DiscardHandler))
	if got := heard(t, c, time.Minute); got != "READY=1" {
		t.Errorf("got %q", got)
	}
}

func TestStatusIsOneLine(t *testing.T) {
	c := manager(t)
	Status(slog.New(slog.DiscardHandler), "a bus is silent: offices\nREADY=1")
	if got := heard(t, c, time.Minute); got != "STATUS=a bus is silent: offices READY=1" {
		t.Errorf("got %q", got)
	}
}

func TestWatchdogIsFedOnlyWhileAlive(t *testing.T) {
	c := manager(t)
	t.Setenv("WATCHDOG_USEC", "60000")
	var stuck atomic.Bool
	var said bytes.Buffer
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		ended <- FeedWatchdog(ctx, func(context.Context) error {
			if stuck.Load() {
				return errors.New("bus offices: no progress for 12 s")
			}
			return nil
		}, slog.New(slog.NewTextHandler(&said, nil)))
	}()
	for range 3 {
		if got := heard(t, c, time.Minute); got != "WATCHDOG=1" {
			t.Fatalf("got %q", got)
		}
	}
	stuck.Store(true)
	for deadline := time.Now().Add(3 * time.Minute); heard(t, c, 200*time.Millisecond) != ""; {
		if time.Now().After(deadline) {
			t.Fatal("the watchdog is fed although nothing makes progress")
		}
	}
	end()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if n := strings.Count(said.String(), "bus offices"); n != 1 {
		t.Errorf("the reason was logged %d times: %s", n, said.String())
	}
}

func TestNothingIsAskedWithoutSystemd(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	t.Setenv("WATCHDOG_USEC", "")
	if err := FeedWatchdog(t.Context(), func(context.Context) error { t.Error("asked"); return nil }, slog.Default()); err != nil {
		t.Error(err)
	}
	if _, err := Listen(ListenName); err == nil || !strings.Contains(err.Error(), "unit") {
		t.Errorf("got %v", err)
	}
}
