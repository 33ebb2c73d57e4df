package assistant

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/sitetest"
)

// How an order ends is seen when it does: what somebody else moves afterwards is another story. It is told to whoever asks for it,
// once in the conversation, and stands among the orders of its owner.
func TestTheEndOfAnOrderIsSeenWhenItComes(t *testing.T) {
	for _, test := range []struct {
		name    string
		arrives bool
		told    string
		status  string
	}{
		{"arrives", true, "Of what you told me at 14:32: Done: shades closed: Lobby.", "Done: shades closed: Lobby."},
		{"never", false, "Of what you told me at 14:32 I have not seen the end: On its way: shades closed: Lobby.", "On its way: shades closed: Lobby. After 5 minutes its end had not been seen."},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				house := &moving{answering: &answering{sitetest.New(), platform.Outcome{Done: true, Things: 2}}}
				history := sitetest.NewHistory()
				e := New(Config{
					Sites: house, Act: house, History: history, Settle: 2 * time.Second, Log: slog.New(slog.DiscardHandler),
					Now: func() time.Time { return sitetest.Now.Add(time.Since(began)) },
				})
				ctx, stop := context.WithCancel(t.Context())
				over := make(chan struct{})
				go func() { defer close(over); _ = e.Run(ctx) }()
				defer func() { stop(); <-over }()

				house.at.Store(&pose{"closing", 50})
				ask(t, e, platform.Inquiry{Owner: "ada", Session: "s", Message: "close the lobby shades", Control: true})
				first := ask(t, e, platform.Inquiry{Owner: "ada", Session: "s", Message: "yes", Control: true})
				if first.Text != "On its way: shades closed: Lobby." {
					t.Fatalf("first: %s", first.Text)
				}
				if got := status(t, e, "ada"); len(got) != 1 || !got[0].OnItsWay || got[0].Text != first.Text {
					t.Errorf("while it moves: %+v", got)
				}
				if got := ask(t, e, platform.Inquiry{Owner: "ada", Session: "s", Message: "hello"}); strings.Contains(got.Text, "told me") {
					t.Errorf("while it moves: %s", got.Text)
				}
				if test.arrives {
					house.at.Store(&pose{"stopped", 0})
				}
				time.Sleep(10 * time.Second)
				house.at.Store(&pose{"stopped", 70}) // by somebody else
				time.Sleep(followMost)
				if got := ask(t, e, platform.Inquiry{Owner: "eve", Session: "s", Message: "hello"}); strings.Contains(got.Text, "told me") {
					t.Errorf("somebody else is told: %s", got.Text)
				}
				if got := ask(t, e, platform.Inquiry{Owner: "ada", Session: "s", Message: "hello"}); !strings.HasSuffix(got.Text, "\n\n"+test.told) {
					t.Errorf("afterwards: %s, want %q", got.Text, test.told)
				}
				if got := ask(t, e, platform.Inquiry{Owner: "ada", Session: "s", Message: "hello"}); strings.Contains(got.Text, "told me") {
					t.Errorf("once more: %s", got.Text)
				}
				got := status(t, e, "ada")
				if len(got) != 1 || got[0].OnItsWay || got[0].Text != test.status || got[0].EndedAt.IsZero() {
					t.Errorf("status: %+v, want %q", got, test.status)
				}
				if took := got[0].EndedAt.Sub(got[0].At); test.arrives && took > 10*time.Second {
					t.Errorf("seen after %v", took)
				}
				if got := status(t, e, "eve"); len(got) != 0 {
					t.Errorf("somebody else sees %+v", got)
				}
				for range 2 * ordersKept {
					ask(t, e, platform.Inquiry{Owner: "ada", Session: "t", Message: "stop the lobby shades", Control: true})
					ask(t, e, platform.Inquiry{Owner: "ada", Session: "t", Message: "yes", Control: true})
				}
				if got := status(t, e, "ada"); len(got) != ordersKept {
					t.Errorf("%d orders are kept", len(got))
				}
			})
		})
	}
}

func TestNobodysConversationIsThatOfTheOrders(t *testing.T) {
	e := New(Config{Sites: sitetest.New(), History: sitetest.NewHistory(), Now: func() time.Time { return sitetest.Now }, Log: slog.New(slog.DiscardHandler)})
	if got := ask(t, e, platform.Inquiry{Owner: "ada", Session: ordersSession, Message: "hello"}); got.Session == ordersSession {
		t.Error("it can be talked in")
	}
}

func status(t *testing.T, e *Assistant, owner string) []Gave {
	t.Helper()
	r, err := e.Health(t.Context(), platform.Inquiry{Owner: owner})
	if err != nil {
		t.Fatal(err)
	}
	var s state
	if err := json.Unmarshal(r.Data, &s); err != nil {
		t.Fatal(err)
	}
	if n := len(s.Orders); n > 0 && !strings.Contains(r.Text, s.Orders[n-1].Text) {
		t.Errorf("the text does not tell it: %s", r.Text)
	}
	return s.Orders
}

// moving is a building whose lobby shades are where at says.
type moving struct {
	*answering
	at atomic.Pointer[pose]
}

type pose struct {
	motion   string
	position float64
}

func (m *moving) Devices(ctx context.Context, controller string) ([]platform.Device, error) {
	all, err := m.answering.Devices(ctx, controller)
	out := append([]platform.Device(nil), all...)
	for i := range out {
		if out[i].Kind == platform.KindShade && len(out[i].Zones) > 0 && out[i].Zones[0] == sitetest.Lobby {
			p := *out[i].Position
			out[i].Motion, p.Value = m.at.Load().motion, m.at.Load().position
			out[i].Position = &p
		}
	}
	return out, err
}

// A typed order stands as it ended, whatever is done afterwards.
func TestATypedOrderStandsAsItEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		house := &moving{answering: &answering{sitetest.New(), platform.Outcome{Done: true, Things: 2}}}
		e := New(Config{
			Sites: house, Act: house, History: sitetest.NewHistory(), Settle: 2 * time.Second, Log: slog.New(slog.DiscardHandler),
			Now: func() time.Time { return sitetest.Now.Add(time.Since(began)) },
		})
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() { defer close(over); _ = e.Run(ctx) }()
		defer func() { stop(); <-over }()
		house.at.Store(&pose{"closing", 50})
		order := func(in platform.OrderWish) platform.OrderFound {
			t.Helper()
			in.Owner, in.Control = "ada", true
			found, err := e.Order(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			return found.Data.(platform.OrderFound)
		}
		id := order(platform.OrderWish{Things: "shades", Do: "close", Places: []string{"Lobby"}}).ID
		yes := true
		if got := order(platform.OrderWish{ID: id, Confirm: &yes}); got.State != "on its way" {
			t.Errorf("confirmed: %+v", got)
		}
		time.Sleep(3 * time.Second)
		if got := order(platform.OrderWish{ID: id}); got.State != "on its way" {
			t.Errorf("while it moves: %+v", got)
		}
		house.at.Store(&pose{"stopped", 0})
		time.Sleep(3 * time.Second)
		house.at.Store(&pose{"stopped", 70}) // by somebody else
		time.Sleep(time.Minute)
		if got := order(platform.OrderWish{ID: id}); got.State != "done" || len(got.Zones) != 1 || got.Zones[0].State != "done" {
			t.Errorf("afterwards: %+v", got)
		}
	})
}
