package panel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/platform"
)

// told is a store of devices whose macros told a version.
type told struct {
	Store
	version atomic.Int64
}

func (s *told) RoomDevice(_ context.Context, id string) (platform.RoomDevice, error) {
	return platform.RoomDevice{ID: id, Controller: "c", Clusters: []int64{1}, Deployed: true, Code: "SECRET", Address: id + ".example", Macro: int(s.version.Load())}, nil
}

// slow is an installer that takes until it is let go on.
type slow struct {
	begun atomic.Int64
	on    chan struct{}
}

func (s *slow) Install(context.Context, Visit, Kit, bool) error {
	s.begun.Add(1)
	<-s.on
	return errors.New("no such device")
}

func (s *slow) Remove(context.Context, Visit) error { return nil }
func (s *slow) Networks() []netip.Prefix            { return nil }

// Whoever leaves ends a roll-out after the devices that were begun, and until then there is no other.
func TestARollOutEndsWithItsReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const devices = rollOutAtOnce + 1
		var ids []string
		for i := range devices {
			ids = append(ids, fmt.Sprint("room-", i))
		}
		s := &slow{on: make(chan struct{})}
		r := New(Config{Store: &told{}, Installer: s, Ending: make(chan struct{}), Certificate: func() []byte { return nil }, Log: slog.New(slog.DiscardHandler)})
		ask := func(ctx context.Context) error {
			body, err := json.Marshal(rollOut{Action: "install", Devices: ids, Username: "integrator", Password: "x", Platform: "https://platform.example"})
			if err != nil {
				t.Fatal(err)
			}
			req := httptest.NewRequestWithContext(ctx, http.MethodPost, RollOutPath, bytes.NewReader(body))
			return r.rollOut(echo.New().NewContext(req, httptest.NewRecorder()))
		}
		ctx, leave := context.WithCancel(t.Context())
		over := make(chan error, 1)
		go func() { over <- ask(ctx) }()
		synctest.Wait()
		if n := s.begun.Load(); n != rollOutAtOnce {
			t.Errorf("%d devices were begun at once, want %d", n, rollOutAtOnce)
		}
		if err := ask(t.Context()); !errors.Is(err, platform.ErrConflict) {
			t.Errorf("another one meanwhile: %v", err)
		}
		leave()
		synctest.Wait()
		close(s.on)
		if err := <-over; err != nil || s.begun.Load() != rollOutAtOnce {
			t.Errorf("%d devices were begun, and it ended with %v", s.begun.Load(), err)
		}
		if err := ask(t.Context()); err != nil || s.begun.Load() != rollOutAtOnce+devices {
			t.Errorf("the next one began %d devices: %v", s.begun.Load()-rollOutAtOnce, err)
		}
	})
}

func TestAMacroThatWasPutOnHasToAsk(t *testing.T) {
	for name, c := range map[string]struct {
		asks, leaves time.Duration // 0: never
		want         stage
		took         time.Duration // at most
	}{
		"at once":         {time.Nanosecond, 0, stage{Device: "lobby", Is: "asks", Macro: 3}, time.Second},
		"later":           {30 * time.Second, 0, stage{Device: "lobby", Is: "asks", Macro: 3}, 31 * time.Second},
		"never":           {0, 0, stage{Device: "lobby", Is: "quiet"}, askWithin},
		"nobody wants it": {0, time.Second, stage{Device: "lobby", Is: "quiet"}, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &told{}
				r := New(Config{Store: s, Ending: make(chan struct{})})
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				if c.asks > 0 {
					time.AfterFunc(c.asks, func() { s.version.Store(3) })
				}
				if c.leaves > 0 {
					time.AfterFunc(c.leaves, leave)
				}
				began := time.Now()
				if got := r.asked(ctx, "lobby"); got != c.want || time.Since(began) > c.took {
					t.Errorf("after %v: %+v, want %+v", time.Since(began), got, c.want)
				}
			})
		})
	}
}
