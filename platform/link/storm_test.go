package link_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/store"
)

// toggle makes the event with a number; even ones switch on.
func toggle(t *testing.T, n int, ts time.Time) []byte {
	t.Helper()
	value := "on"
	if n%2 == 1 {
		value = "off"
	}
	exp := ts.Add(wire.Lifetime)
	b, err := wire.Envelope{ID: fmt.Sprint("event-", n, "-", ts.UnixNano()), Type: wire.TypeWidget, TS: ts, Exp: &exp, Seq: int64(n), Epoch: "test"}.
		Seal(wire.WidgetAction{DeviceID: "room", PanelID: wire.ControlsPanel, WidgetID: wire.LightPower, Action: wire.Changed, Value: value, Origin: wire.OriginPanel})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Events that come three times, out of order, late, and over an outage of the broker act once each, in order, or never.
func TestEventsActOnceOrNever(t *testing.T) {
	eachBroker(t, func(t *testing.T, db *store.Store, at place) {
		user, password := "", ""
		h := move(t, db, at, "house")
		user, password = integration(t, db, at, "house")
		o := openOffice(t, db, at)
		o.there(t, db, "house")
		if err := o.SetPanels(t.Context(), "house", []wire.Panel{{DeviceID: "room", PanelID: wire.ControlsPanel, Clusters: []int64{1}}}); err != nil {
			t.Fatal(err)
		}
		peer := mustDial(t, at.url, "test-peer", user, password, nil)
		const events = 20
		topic := wire.Topic("house", wire.DownWidget)
		var first []byte
		for n := 1; n <= events; n++ {
			b := toggle(t, n, time.Now())
			if n == 1 {
				first = b
			}
			for range 3 {
				peer.say(topic, string(b), false)
			}
			if n > 5 { // an older one that was held up on its way
				peer.say(topic, string(toggle(t, n-5, time.Now())), false)
			}
			peer.say(topic, string(toggle(t, 1000+n, time.Now().Add(-time.Minute))), false)
			// Of taps that wait the newest alone would act, so each waits for the one before.
			eventually(t, fmt.Sprint("event ", n, " acted"), func() bool { return len(h.commands()) >= n })
		}
		peer.say(topic, string(first), false)
		// One that is retained acts as it comes, like any other, and never again.
		peer.say(topic, string(toggle(t, 500, time.Now())), true)
		eventually(t, "all events acted", func() bool { return len(h.commands()) > events })

		at.away()
		eventually(t, "the platform has noticed", func() bool { return !o.Connected() })
		level := 42
		short, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		if out, err := o.Act(short, "house", 1, platform.Action{Level: &level}); err == nil {
			t.Errorf("while the broker is away: %+v", out)
		}
		cancel()
		h.cloud.Answer("nobody", wire.Ack{Status: wire.Failed}) // the controller goes on saying things
		at.back()
		eventually(t, "the link is back", func() bool { return o.Connected() && h.cloud.Status().Connected })
		eventually(t, "a new command acts", func() bool {
			out, err := o.act(t, "house", 77)
			return err == nil && out.Done
		})
		done := h.commands()
		for i := range events {
			want := appliance.LightOff
			if i%2 == 1 {
				want = appliance.LightOn
			}
			if i < len(done) && done[i].Kind != want {
				t.Errorf("event %d did %+v", i+1, done[i])
			}
		}
		late := 0
		for _, c := range done[events+1:] {
			if c.Level != 77 {
				late++
			}
		}
		if late != 0 {
			t.Errorf("%d commands acted that were none of the events, or late: %+v", late, done[events+1:])
		}
	})
}

// The test of the reference: 21 messages of quality of service 1 keep their order, and none of them is lost or doubled
// while the session lives.
func TestOrderWithinASession(t *testing.T) {
	t.Parallel()
	eachBroker(t, func(t *testing.T, db *store.Store, at place) {
		password := addController(t, db, at, "house")
		user, secret := integration(t, db, at, "house")
		c := mustDial(t, at.url, "ctl-house", "house", password, nil)
		c.subscribe("bms/v1/ctl/house/down/#")
		peer := mustDial(t, at.url, "test-peer", user, secret, nil)
		for n := range 21 {
			peer.say("bms/v1/ctl/house/down/cmd", fmt.Sprint(n), false)
		}
		for n := range 21 {
			m := c.heard(time.Minute)
			if m == nil || string(m.Payload()) != fmt.Sprint(n) || m.Duplicate() {
				t.Fatalf("message %d: %v", n, m)
			}
		}
		// A session that ended leaves nothing behind: what is sent meanwhile does not come later.
		c.Disconnect(0)
		peer.say("bms/v1/ctl/house/down/cmd", "late", false)
		again := mustDial(t, at.url, "ctl-house", "house", password, nil)
		again.subscribe("bms/v1/ctl/house/down/#")
		if m := again.heard(quiet); m != nil {
			t.Errorf("a message of before the session came: %q", m.Payload())
		}
	})
}

func TestNothingIsSentToAControllerThatIsNotThere(t *testing.T) {
	db := openStore(t)
	at := embedded(t, db)
	addController(t, db, at, "house")
	o := openOffice(t, db, at)
	eventually(t, "the platform is connected", o.Connected)
	if _, err := o.act(t, "house", 1); !errors.Is(err, platform.ErrOffline) {
		t.Errorf("got %v", err)
	}
}
