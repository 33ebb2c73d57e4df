package link

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
)

// desk is a store that knows one controller, which is online.
type desk struct{ Store }

func (desk) Enrolment(context.Context, string) (platform.Enrolment, error) {
	return platform.Enrolment{Controller: platform.Controller{ID: "house", Online: true, LastSeen: time.Now()}}, nil
}

func (desk) NextNumber(context.Context, string) (platform.Number, error) {
	return platform.Number{Seq: 1, Epoch: "e"}, nil
}

// copper is a session with a controller, which answers a command as it is told to.
type copper struct {
	mqtt.Client
	link    *Link
	answers []later
}

// later is an answer of a controller, some time after it got a command.
type later struct {
	after time.Duration
	ack   wire.Ack
	asked bool // only to who asks for it
}

func (c *copper) Publish(_ string, _ byte, _ bool, payload any) mqtt.Token {
	env, err := wire.Open(payload.([]byte))
	var a wire.WidgetAction
	if err != nil || env.Read(&a) != nil {
		panic("a message that nobody can read")
	}
	for _, l := range c.answers {
		if l.asked && !a.Accept {
			continue
		}
		b, err := wire.Envelope{ID: newID(), Type: wire.TypeAck, TS: time.Now(), Corr: env.ID}.Seal(l.ack)
		if err != nil {
			panic(err)
		}
		time.AfterFunc(l.after, func() { c.link.acknowledged("house", b) })
	}
	c.answers = nil // it is sent again with the same ID
	return &mqtt.DummyToken{}
}

// What a controller says of the time that its hardware has decides how long its answer is waited for; who does not hear of that
// waits as long as before, and what nobody waits for any more is handed on.
func TestTheWaitForAnOutcomeIsAsLongAsTheControllerSays(t *testing.T) {
	const patience = 1500 * time.Millisecond
	accepted := later{800 * time.Millisecond, wire.Ack{Status: wire.Accepted, Within: 4000}, true}
	done := func(after time.Duration) later {
		return later{after, wire.Ack{Status: wire.Applied, Within: 4000}, false}
	}
	for name, test := range map[string]struct {
		answers []later
		panel   bool // which does not wait longer
		want    time.Duration
		missed  bool
		late    time.Duration // 0: it was not
	}{
		"known at once":                   {[]later{done(100 * time.Millisecond)}, false, 100 * time.Millisecond, false, 0},
		"known when it was said to be":    {[]later{accepted, done(4 * time.Second)}, false, 4 * time.Second, false, 0},
		"lost":                            {[]later{accepted}, false, 800*time.Millisecond + 4*time.Second + wayBack, true, 0},
		"silent":                          {nil, false, patience, true, 0},
		"an older one that is slow":       {[]later{done(3 * time.Second)}, false, patience, true, 3 * time.Second},
		"a panel":                         {[]later{accepted, done(3 * time.Second)}, true, patience, true, 3 * time.Second},
		"a panel that hears nothing":      {[]later{done(3 * time.Second)}, true, patience, true, 3 * time.Second},
		"said for ever":                   {[]later{{0, wire.Ack{Status: wire.Accepted, Within: 1 << 62}, true}}, false, wire.Lifetime + wayBack, true, 0},
		"said twice":                      {[]later{accepted, accepted, done(2 * time.Second)}, false, 2 * time.Second, false, 0},
		"known just after it expired":     {[]later{{800 * time.Millisecond, wire.Ack{Status: wire.Accepted, Within: 10000}, true}, done(10*time.Second + 500*time.Millisecond)}, false, 10*time.Second + 500*time.Millisecond, false, 0},
		"less time than there is already": {[]later{{0, wire.Ack{Status: wire.Accepted, Within: 1}, true}}, false, wayBack + time.Millisecond, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var late time.Duration
				l := New(Config{Store: desk{}, Log: slog.New(slog.DiscardHandler), Late: func(controller string, a wire.WidgetAction, ack wire.Ack) {
					if controller != "house" || a.WidgetID != wire.LightPower || ack.Status != wire.Applied {
						t.Errorf("late: %s %+v %+v", controller, a, ack)
					}
					late = time.Since(began)
				}})
				defer l.end()
				l.set(&copper{link: l, answers: test.answers})
				var err error
				var ack wire.Ack
				action := wire.WidgetAction{WidgetID: wire.LightPower}
				if test.panel {
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					defer cancel()
					ack, err = l.SendAs(ctx, "house", "one", time.Now(), time.Now().Add(wire.Lifetime), action)
				} else {
					_, err = l.Send(t.Context(), "house", action, patience)
				}
				if took := time.Since(began); took != test.want || errors.Is(err, platform.ErrUnanswered) != test.missed {
					t.Errorf("waited %v, %v; want %v, missed: %v", took, err, test.want, test.missed)
				}
				if under := ack.Status == wire.Accepted; test.panel && under != (len(test.answers) > 1) {
					t.Errorf("a panel is told that it is under way: %v", under)
				}
				time.Sleep(20 * time.Second)
				synctest.Wait()
				if late != test.late {
					t.Errorf("handed on after %v, want %v", late, test.late)
				}
				if len(l.pending) != 0 {
					t.Errorf("%d are still waited for", len(l.pending))
				}
			})
		})
	}
}

// Somebody was told that a command was not sent: asked again while it counts, also by who waited beside, it still is not, though the
// broker is back.
func TestWhatWasNotSentStaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Config{Store: desk{}, Log: slog.New(slog.DiscardHandler)})
		defer l.end()
		exp := time.Now().Add(wire.TapLife)
		ask := func() (wire.Ack, error) {
			return l.SendAs(t.Context(), "house", "one", time.Now(), exp, wire.WidgetAction{WidgetID: wire.LightPower})
		}
		if _, err := ask(); !errors.Is(err, platform.ErrOffline) {
			t.Errorf("without a broker: %v", err)
		}
		l.set(&copper{link: l, answers: []later{{0, wire.Ack{Status: wire.Applied}, false}}})
		if _, err := ask(); !errors.Is(err, platform.ErrOffline) {
			t.Errorf("the same again: %v", err)
		}
		time.Sleep(wire.TapLife)
		synctest.Wait()
		if ack, err := ask(); err != nil || ack.Status != wire.Expired || len(l.pending) != 0 {
			t.Errorf("when it is worth nothing: %+v, %v; %d are waited for", ack, err, len(l.pending))
		}
	})
}

// The member that says it is small, and absent where there is nothing to say.
func TestOlderOnesSayNothingOfTheTime(t *testing.T) {
	b, err := json.Marshal(wire.Ack{Status: wire.Applied})
	if err != nil || string(b) != `{"status":"applied"}` {
		t.Errorf("%s %v", b, err)
	}
}
