package main

import (
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"svc.internal/controller/sim"
)

// TestSystemdIsToldHowItIs has a bus fall silent and answer again, and takes away who could log in: each is told once.
func TestSystemdIsToldHowItIs(t *testing.T) {
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Close()
	t.Setenv("NOTIFY_SOCKET", manager.LocalAddr().String())
	site := `
site: {name: Told, freshness: {light: 2s}}
buses: [{name: offices, driver: modbus, port: "@DIR@/offices", line: {baudRate: 19200, parity: even, stopBits: 1}}]
nodes: [{id: 1, name: Office, bus: offices, address: 1, profile: wirenboard-wb-mao4}]
`
	virtually(t, site, func(t *testing.T, h *house) {
		said := func(want ...string) {
			t.Helper()
			if got := statuses(t, manager); !slices.Equal(got, want) {
				t.Errorf("systemd was told %q, want %q", got, want)
			}
		}
		time.Sleep(time.Minute)
		said("in order")
		end := h.fault(sim.Fault{Kind: sim.FaultSilent, Bus: "offices", Address: "1"})
		time.Sleep(time.Minute)
		said("a bus is silent: offices")
		end()
		time.Sleep(5 * time.Minute)
		said("in order")
		for _, u := range h.daemon.db.Users() {
			if err := h.daemon.db.RemoveUser(t.Context(), u.Name); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		said("waits to be claimed")
	})
}

// statuses are those that were told since it was last asked.
func statuses(t *testing.T, manager *net.UnixConn) (all []string) {
	t.Helper()
	raw, err := manager.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 1024)
	for more := true; more; {
		err := raw.Control(func(fd uintptr) {
			n, _, err := unix.Recvfrom(int(fd), b, unix.MSG_DONTWAIT)
			if more = err == nil; !more {
				return
			}
			if status, ok := strings.CutPrefix(string(b[:n]), "STATUS="); ok {
				all = append(all, status)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}
