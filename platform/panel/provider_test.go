package panel

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
)

// screen is the one device of a provider.
type screen struct {
	Provider
	mu    sync.Mutex
	said  []string
	shows map[string]string
	fail  int // so many calls fail yet
}

func (s *screen) SetWidget(_ context.Context, _, widget, value string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shows[widget] = value
	return nil
}

func (s *screen) Say(_ context.Context, device, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail > 0 {
		s.fail--
		return context.DeadlineExceeded
	}
	s.said = append(s.said, device+": "+text)
	return nil
}

// heard is what the screen said since it was asked last.
func (s *screen) heard() []string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	said := s.said
	s.said = nil
	return said
}

// lobbyOnly is a store with one device that is deployed.
type lobbyOnly struct{ Store }

func (lobbyOnly) RoomDevice(_ context.Context, id string) (platform.RoomDevice, error) {
	if id != "lobby" {
		return platform.RoomDevice{}, platform.ErrNotFound
	}
	return platform.RoomDevice{ID: id, Controller: "house", Clusters: []int64{1}, Deployed: true, Code: "c"}, nil
}

// answering is a controller, and what it answers.
type answering struct {
	ack  wire.Ack
	err  error
	life time.Duration // of what it was sent last
}

func (a *answering) SendAs(_ context.Context, _, _ string, made, exp time.Time, _ wire.WidgetAction) (wire.Ack, error) {
	a.life = exp.Sub(made)
	return a.ack, a.err
}

// A tap of which it is known when the finger was there is worth nothing to the controller, either, three seconds later.
func TestATapIsWorthSomethingForSoLong(t *testing.T) {
	house := &answering{ack: wire.Ack{Status: wire.Expired, Detail: "it came 120ms too late"}}
	r := New(Config{Board: NewBoard(), Send: house})
	lobby, err := lobbyOnly{}.RoomDevice(t.Context(), "lobby")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tap  Tap
		want time.Duration
	}{{Tap{Widget: wire.ShadeStop, Made: time.Now(), Finger: true}, 3 * time.Second}, {Tap{Widget: wire.ShadeStop}, 10 * time.Second}} {
		if out := r.put(t.Context(), lobby, c.tap); house.life != c.want || out.Success || out.Message != tooLate {
			t.Errorf("%+v: worth %v, told %+v", c.tap, house.life, out)
		}
	}
}

// Whether a controller is at a tap whose end is not known yet, or nothing was heard of it, is told apart.
func TestATapThatIsUnderWayIsToldAsSuch(t *testing.T) {
	house := &answering{err: platform.ErrUnanswered}
	r := New(Config{Board: NewBoard(), Send: house})
	lobby, err := lobbyOnly{}.RoomDevice(t.Context(), "lobby")
	if err != nil {
		t.Fatal(err)
	}
	for _, status := range []wire.AckStatus{"", wire.Accepted} {
		house.ack.Status = status
		if out := r.put(t.Context(), lobby, Tap{Widget: wire.ShadeStop}); !out.Success || out.Message != "Sent." || out.Status != status {
			t.Errorf("%q: told %+v", status, out)
		}
	}
}

// A device without a macro says what a panel in a browser says: how something ended of which nobody heard at once, and what was not
// done, once each.
func TestADeviceOfTheIntegrationSaysWhatWasNotDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at, house := &screen{shows: map[string]string{}}, &answering{}
		r := New(Config{Board: NewBoard(), Store: lobbyOnly{}, Send: house, Provider: at, Log: slog.New(slog.DiscardHandler)})
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() { defer close(over); _ = r.Run(ctx) }()
		defer func() { stop(); <-over }()
		hears := func(what string, want ...string) {
			t.Helper()
			time.Sleep(2 * writeFirst)
			if got := at.heard(); !slices.Equal(got, want) {
				t.Errorf("%s: it says %q, want %q", what, got, want)
			}
		}
		on := map[string]string{wire.LightPower: "on"}
		light := wire.WidgetAction{DeviceID: "lobby", WidgetID: wire.LightPower}
		silent := wire.Ack{Status: wire.Failed, Widgets: on, Things: 2, Not: []wire.Exception{{Name: "Lobby 1", Why: wire.WhySilent}}}
		r.cfg.Board.set("house", "lobby", on)
		hears("at first")
		r.cfg.Board.Late("house", light, silent)
		hears("ended badly", "lobby: Lights: 1 of 2 done; Lobby 1 does not answer.")
		r.cfg.Board.Late("house", light, silent)
		hears("the same again", "lobby: Lights: 1 of 2 done; Lobby 1 does not answer.")
		r.cfg.Board.Late("house", wire.WidgetAction{DeviceID: "lobby", WidgetID: wire.ShadeStop}, wire.Ack{Status: wire.Applied, Widgets: on})
		hears("the shades besides", "lobby: Shades: Done.")
		r.cfg.Board.set("house", "lobby", map[string]string{wire.LightPower: "off"})
		hears("another value")

		tap := Tap{Widget: wire.LightPower, Type: wire.Changed, Value: "on", Made: time.Now()}
		for _, c := range []struct {
			name  string
			house answering
			want  []string
		}{
			{"done", answering{ack: wire.Ack{Status: wire.Applied, Widgets: on}}, nil},
			{"overtaken", answering{ack: wire.Ack{Status: wire.Stale, Widgets: on}}, nil},
			{"sent", answering{err: platform.ErrUnanswered}, nil},
			{"not done", answering{ack: silent}, []string{"lobby: Lights: 1 of 2 done; Lobby 1 does not answer."}},
			{"away", answering{err: platform.ErrOffline}, []string{"lobby: Lights: " + platform.ControllerOffline}},
		} {
			*house = c.house
			tap.Made = time.Now()
			at.mu.Lock()
			at.shows[wire.LightPower] = "what was tapped"
			at.mu.Unlock()
			r.deliver("lobby", tap)
			hears(c.name, c.want...)
			if at.mu.Lock(); len(c.want) > 0 && at.shows[wire.LightPower] == "what was tapped" {
				t.Errorf("%s: the panel shows what was tapped", c.name)
			}
			at.mu.Unlock()
		}
		at.fail = 1
		r.cfg.Board.Late("house", light, silent)
		hears("said late", "lobby: Lights: 1 of 2 done; Lobby 1 does not answer.")
	})
}
