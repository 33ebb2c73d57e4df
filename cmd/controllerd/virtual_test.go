package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/admin/console"
	"svc.internal/controller/drivers/line/cable"
	"svc.internal/controller/shelf/cli"
	"svc.internal/controller/shelf/ui/uitest"
)

// virtually runs the daemon and a simulated building in memory, on virtual time: an hour that nobody works in takes none.
// What is not in memory is the database. That this machine's terminals, sockets and processes do as those in memory is shown
// by those that stay on them: TestFieldPortsOfOtherKinds, TestFieldBusesBehindSerialServers, TestScanWritesNothingIfNothingIsNew,
// TestARecordingIsReplayedIntoASimulatedCopy, and what needs a browser, a signal or another program.
func virtually(t *testing.T, site string, do func(t *testing.T, h *house)) {
	t.Helper()
	virtualBuilding(t, site, func(t *testing.T, h *house) {
		h.serve()
		h.awaitOnline()
		do(t, h)
	})
}

// virtualBuilding does so with a daemon that was not started yet.
func virtualBuilding(t *testing.T, site string, do func(t *testing.T, h *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &house{t: t, net: &cable.Net{}}
		do(t, h.build(site))
	})
}

// atMost is how long a test waits before it gives up: what is said on virtual time; otherwise three minutes at least, since what
// passes on the machine's time is measured by no test, and a machine that is busy is nobody's fault.
func atMost(most time.Duration) time.Duration {
	if time.Since(bubbleBegins) < 10*365*24*time.Hour {
		return most
	}
	return max(most, uitest.Patience)
}

// part is a subtest in a bubble, where there are none: the log says where a failure was.
func (h *house) part(name string, do func()) {
	h.t.Helper()
	h.t.Logf("%s:", name)
	do()
}

// ground is what the daemon stands on.
func (h *house) ground() ground {
	if h.net == nil {
		return ground{sys: h.sys}
	}
	p := &process{}
	h.lives = p
	return ground{
		listen: func(network, address string) (net.Listener, error) {
			if network != "unix" {
				return p.listen(h.net.Listen(address))
			}
			ln, err := h.net.Listen("127.0.0.1:0")
			if err == nil {
				h.consoleAt = ln.Addr().String()
			}
			return p.listen(ln, err)
		},
		ports: p.ports(h.net.Ports()), clock: h.clock, broker: p.dial(h.dialBroker), sys: "/none",
	}
}

// typed runs a command of the program, however long it takes: in a bubble in this process, on the ports in memory.
func (h *house) typed(args ...string) said {
	h.t.Helper()
	if h.net == nil {
		d := h.desk()
		return d.answerOf(d.command(h.t.Context(), args...), "")
	}
	return h.desk().run(args...)
}

// inProcess runs a command of the program as one does at this house's machine, and returns its exit code.
func (h *house) inProcess(ctx context.Context, dataDir string, in io.Reader, out, errs io.Writer, args []string) int {
	daemon := func(ctx context.Context) (net.Conn, error) {
		if dataDir != h.dataDir {
			return nil, syscall.ECONNREFUSED // nobody serves another directory
		}
		return h.net.Dial(ctx, h.consoleAt)
	}
	root := newRoot(&app{console.App{Ports: h.net.Ports(), Daemon: daemon}})
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	root.SetArgs(append([]string{"--data-dir", dataDir}, args...))
	return cli.Run(ctx, root)
}

// typist is whom the daemon takes for the one who types at the house's desk: a connection in memory belongs to no account.
func (h *house) typist() string {
	h.t.Helper()
	if h.net != nil {
		return "controllerd"
	}
	return me(h.t)
}

// trusting is a client that believes the given certificate only, on the network of the house.
func (h *house) trusting(certificate string) *http.Client {
	h.t.Helper()
	c := trusting(h.t, certificate)
	if h.net != nil {
		c.Transport.(*http.Transport).DialContext = func(ctx context.Context, _, address string) (net.Conn, error) {
			return h.net.Dial(ctx, address)
		}
	}
	return c
}

// A whole building works on virtual time: a command by the public API moves the device, hours pass at once, and a daemon
// that is started again finds what is there.
func TestABuildingOnVirtualTime(t *testing.T) {
	t.Parallel()
	virtually(t, mixedSite, func(t *testing.T, h *house) {
		if status, message := h.control("channelControl", `{"targetType":3,"targetId":1,"command":"DIM","dimLevel":40}`); status != 1 {
			t.Errorf("%d %s", status, message)
		}
		if got := targets(h.device(1)); !slices.Equal(got, []int{40, 40, 40}) {
			t.Errorf("the device is at %v", got)
		}
		began := time.Now()
		frames := h.device(1).Frames
		time.Sleep(10 * time.Minute)
		if polls := h.device(1).Frames - frames; polls < 600/5 {
			t.Errorf("%d polls in ten minutes", polls)
		}
		h.restart()
		h.awaitOnline()
		if got, took := h.daemon.core.Snapshot().Node(1).Channels[0].Level.Value, time.Since(began); got != 40 || took > 11*time.Minute {
			t.Errorf("after %v the daemon shows %v", took, got)
		}
	})
}
