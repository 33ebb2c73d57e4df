package systemd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/coreos/go-systemd/v22/daemon"
)

// ListenName is the address that means the socket that systemd opened.
const ListenName = "systemd"

// Listen binds address, or takes the socket that systemd opened if address is [ListenName].
func Listen(address string) (net.Listener, error) {
	if address != ListenName {
		return net.Listen("tcp", address)
	}
	if l := take(func(name string) bool { return name != claimPage }); l != nil {
		return l, nil
	}
	return nil, errors.New("take the socket of systemd: it opened none; start the daemon by its unit, with its .socket unit enabled, or choose an address")
}

// claimPage is what an appliance's socket unit calls the one for [ClaimPage] (FileDescriptorName=).
const claimPage = "claim-page"

// ClaimPage is the socket that an appliance's system opened for the page that phones are led to in the Wi-Fi of its first start; nil
// everywhere else.
func ClaimPage() net.Listener { return take(func(name string) bool { return name == claimPage }) }

// passed are the sockets that systemd opened. They stay open: each run of the daemon in this process takes its own handles.
var passed = sync.OnceValue(func() []*os.File { return activation.Files(true) })

func take(wanted func(name string) bool) net.Listener {
	for _, f := range passed() {
		if !wanted(f.Name()) {
			continue
		}
		if l, err := net.FileListener(f); err == nil {
			return l
		}
	}
	return nil
}

// Ready tells systemd that the daemon serves. It does nothing where systemd does not ask.
func Ready(log *slog.Logger) { tell(log, daemon.SdNotifyReady) }

// Stopping tells systemd that an orderly end has begun.
func Stopping(log *slog.Logger) { tell(log, daemon.SdNotifyStopping) }

// Status tells systemd in words how the daemon is, one line that "systemctl status" shows. It does nothing where systemd does not ask.
func Status(log *slog.Logger, words string) {
	tell(log, "STATUS="+strings.ReplaceAll(words, "\n", " "))
}

// FeedWatchdog tells systemd that the daemon is alive as long as alive returns nil, until ctx ends. Where it does not, the
// reason is logged once and nothing is told, so that systemd starts the daemon anew when its time is up. It returns at once
// where systemd does not ask.
func FeedWatchdog(ctx context.Context, alive func(context.Context) error, log *slog.Logger) error {
	patience, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		return fmt.Errorf("read the watchdog's time from WATCHDOG_USEC: %w", err)
	}
	if patience == 0 {
		return nil
	}
	every := time.NewTicker(patience / 3)
	defer every.Stop()
	well := true
	for {
		check, done := context.WithTimeout(ctx, patience/3)
		err := alive(check)
		done()
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			tell(log, daemon.SdNotifyWatchdog)
			well = true
		case well:
			log.Error("the daemon makes no progress; the watchdog will start it anew", "why", err)
			well = false
		}
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
		}
	}
}

func tell(log *slog.Logger, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		log.Warn("systemd could not be told", "state", state, "why", err)
	}
}
