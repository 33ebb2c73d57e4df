package main

import (
	"context"
	"log/slog"
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
	"svc.internal/controller/store"
	"svc.internal/controller/systemd"
)

// stubborn is a driver that hangs in an exchange when it is told to, and heeds nothing.
type stubborn struct{ hang atomic.Pointer[chan struct{}] }

func (*stubborn) Run(ctx context.Context) error             { <-ctx.Done(); return nil }
func (*stubborn) Plan([]appliance.Want) []appliance.Chain   { return nil }
func (*stubborn) Repair([]appliance.Want) []appliance.Chain { return nil }
func (s *stubborn) open(appliance.BusConfig) (appliance.Opened, error) {
	return appliance.Opened{Driver: s}, nil
}

func (s *stubborn) Polls() []appliance.Poll {
	return []appliance.Poll{{Class: appliance.ClassLight, Exchange: appliance.Exchange{Device: "1", Do: s.do}}}
}

func (s *stubborn) do(context.Context, appliance.Yield) (appliance.Result, error) {
	if hang := s.hang.Load(); hang != nil {
		<-*hang
	}
	return appliance.Result{}, nil
}

func TestTheWatchdogIsNotFedWhileABusIsStuck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for b := make([]byte, 64); ; {
			if _, err := conn.Read(b); err != nil {
				return
			}
		}
	}()
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", "30000000") // as in controllerd.service
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		db, err := store.Open(t.Context(), dir, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		driver := &stubborn{}
		d := &daemon{db: db, log: slog.New(slog.DiscardHandler), core: control.New(control.Options{
			Drivers: map[string]appliance.OpenFunc{"stubborn": driver.open}, Log: slog.New(slog.DiscardHandler),
		})}
		bus := appliance.Bus{UUID: appliance.NewUUID(), Name: "offices", Driver: "stubborn", Port: "tcp://127.0.0.1:1"}
		d.core.Apply(appliance.Site{Buses: []appliance.Bus{bus}}, nil)
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		go func() { ended <- d.core.Run(ctx) }()
		synctest.Wait()
		var fed atomic.Int32 // FeedWatchdog feeds it whenever it hears that all is well
		go func() {
			ended <- systemd.FeedWatchdog(ctx, func(ctx context.Context) error {
				err := d.alive(ctx)
				if err == nil {
					fed.Add(1)
				}
				return err
			}, d.log)
		}()

		time.Sleep(5*time.Minute + time.Second)
		synctest.Wait()
		if fed.Load() < 30 {
			t.Errorf("with all well it was fed %d times in 5 minutes, want one every 10 s", fed.Load())
		}
		hang := make(chan struct{})
		driver.hang.Store(&hang)
		time.Sleep(time.Minute)
		synctest.Wait()
		before := fed.Load()
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if n := fed.Load() - before; n != 0 {
			t.Errorf("with a bus that is stuck for a minute it was fed %d times more", n)
		}
		driver.hang.Store(nil)
		close(hang)
		end()
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
	conn.Close()
	<-read
}
