package link_test

import (
	"errors"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
	"github.com/eclipse/paho.mqtt.golang/packets"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/platform/store"
)

// quiet is how long nothing is waited for where nothing may come. The broker has acknowledged before, so that what was
// delivered at all is on its way.
const quiet = 150 * time.Millisecond

func TestAControllerTouchesItsOwnSubtreeOnly(t *testing.T) {
	t.Parallel()
	drivertest.Long(t)
	eachBroker(t, func(t *testing.T, db *store.Store, at place) {
		a, b := addController(t, db, at, "house-a"), addController(t, db, at, "house-b")
		user, password := at.platform.Login()
		platform := mustDial(t, at.url, "platform-test", user, password, func(o *mqtt.ClientOptions) {
			if at.platform.Dial != nil {
				o.SetCustomOpenConnectionFn(dialInside(at))
			}
		})
		platform.subscribe("bms/v1/ctl/+/up/#")
		other := mustDial(t, at.url, "ctl-house-b", "house-b", b, nil)
		other.subscribe("bms/v1/ctl/house-b/down/#")

		foreign := func() *client { return mustDial(t, at.url, "ctl-house-a", "house-a", a, nil) }
		for _, filter := range []string{"bms/v1/ctl/house-b/down/#", "bms/v1/ctl/+/down/#", "bms/v1/ctl/house-b/up/#", "#", "bms/#", "+/#", "$SYS/#", "$MQTT/#", "bms/v1/ctl/+/up/state/#"} {
			c := foreign()
			c.subscribe(filter) // refused, or granted and never served
			platform.say("bms/v1/ctl/house-b/down/cmd", "secret", false)
			other.say("bms/v1/ctl/house-b/up/event", "secret", false)
			if m := c.heard(quiet); m != nil {
				t.Errorf("subscribed to %s, a controller heard %q on %s", filter, m.Payload(), m.Topic())
			}
			c.Disconnect(0)
		}
		drain(platform)
		drain(other)
		for _, topic := range []string{"bms/v1/ctl/house-b/up/status", "bms/v1/ctl/house-b/down/widget", "bms/v1/ctl/house-a/down/widget", "bms/v1/platform/status", "bms/v1/ctl/house-b/up/state/node/1"} {
			c := foreign()
			c.say(topic, "forged", true)
			c.Disconnect(0)
			if m := platform.heard(quiet); m != nil {
				t.Errorf("a controller wrote %q to %s", m.Payload(), topic)
			}
			if m := other.heard(quiet); m != nil {
				t.Errorf("a controller told another one %q on %s", m.Payload(), topic)
			}
		}
		// Its own things work.
		c := foreign()
		if got := c.subscribe("bms/v1/ctl/house-a/down/#"); got != 1 {
			t.Errorf("its own down/#: granted %#x", got)
		}
		if got := c.subscribe(wire.PlatformStatus); got != 1 {
			t.Errorf("%s: granted %#x", wire.PlatformStatus, got)
		}
		c.say("bms/v1/ctl/house-a/up/event", "mine", false)
		if m := platform.heard(time.Minute); m == nil || string(m.Payload()) != "mine" {
			t.Errorf("the platform did not hear a controller's own event")
		}
		platform.say("bms/v1/ctl/house-a/down/cmd", "yours", false)
		if m := c.heard(time.Minute); m == nil || string(m.Payload()) != "yours" {
			t.Errorf("a controller did not hear its own order")
		}
	})
}

func TestAnIntegrationActsAsThePlatformTowardsItsControllerOnly(t *testing.T) {
	t.Parallel()
	eachBroker(t, func(t *testing.T, db *store.Store, at place) {
		a, b := addController(t, db, at, "house-a"), addController(t, db, at, "house-b")
		user, password := integration(t, db, at, "house-a")
		ctlA := mustDial(t, at.url, "ctl-house-a", "house-a", a, nil)
		ctlA.subscribe("bms/v1/ctl/house-a/down/#")
		ctlB := mustDial(t, at.url, "ctl-house-b", "house-b", b, nil)
		ctlB.subscribe("bms/v1/ctl/house-b/down/#")
		peer := mustDial(t, at.url, "some-tool", user, password, nil)
		if got := peer.subscribe("bms/v1/ctl/house-a/up/#"); got != 1 {
			t.Fatalf("subscribe to its controller: %#x", got)
		}
		peer.say("bms/v1/ctl/house-a/down/widget", "go", false)
		if m := ctlA.heard(time.Minute); m == nil || string(m.Payload()) != "go" {
			t.Error("its controller did not hear it")
		}
		ctlA.say("bms/v1/ctl/house-a/up/ack", "done", false)
		if m := peer.heard(time.Minute); m == nil || string(m.Payload()) != "done" {
			t.Error("it did not hear its controller")
		}
		peer.say("bms/v1/ctl/house-b/down/widget", "go", false)
		if m := ctlB.heard(quiet); m != nil {
			t.Errorf("another controller heard %q", m.Payload())
		}
	})
}

func TestWhoIsNotKnownOrRevokedIsOutside(t *testing.T) {
	t.Parallel()
	eachBroker(t, func(t *testing.T, db *store.Store, at place) {
		password := addController(t, db, at, "house-a")
		for name, c := range map[string][2]string{
			"nobody": {"house-x", password}, "wrong password": {"house-a", "guess"}, "no password": {"house-a", ""}, "anonymous": {"", ""},
		} {
			if _, err := dial(t, at.url, "ctl-house-a", c[0], c[1], nil); err == nil {
				t.Errorf("%s was let in", name)
			} else if !errors.Is(err, packets.ErrorRefusedBadUsernameOrPassword) && !errors.Is(err, packets.ErrorRefusedNotAuthorised) {
				t.Errorf("%s is told %q", name, err)
			}
		}
		c := mustDial(t, at.url, "ctl-house-a", "house-a", password, nil)
		if err := db.RevokeController(t.Context(), "house-a"); err != nil {
			t.Fatal(err)
		}
		at.changed()
		select {
		case <-c.lost:
		case <-time.After(3 * time.Minute):
			t.Error("the connection of a revoked controller goes on")
		}
		if _, err := dial(t, at.url, "ctl-house-a", "house-a", password, nil); err == nil {
			t.Error("a revoked controller was let in")
		}
	})
}

// What only the embedded broker's door can see to; Mosquitto knows no rule for client IDs.
func TestTheDoorOfTheEmbeddedBroker(t *testing.T) {
	db := openStore(t)
	at := embedded(t, db)
	a := addController(t, db, at, "house-a")
	addController(t, db, at, "house-b")
	user, password := integration(t, db, at, "house-a")
	clean := func(o *mqtt.ClientOptions) {}
	for name, c := range map[string]struct {
		id, user, password string
		change             func(*mqtt.ClientOptions)
	}{
		"another controller's client ID":     {"ctl-house-b", "house-a", a, clean},
		"a controller's ID by a peer":        {"ctl-house-a", user, password, clean},
		"the platform's ID by a peer":        {"platform-1", user, password, clean},
		"a will in another subtree":          {"ctl-house-a", "house-a", a, func(o *mqtt.ClientOptions) { o.SetWill("bms/v1/ctl/house-b/up/status", "x", 1, true) }},
		"a will in the platform's name":      {"ctl-house-a", "house-a", a, func(o *mqtt.ClientOptions) { o.SetWill(wire.PlatformStatus, "x", 1, true) }},
		"a session that outlives connection": {"ctl-house-a", "house-a", a, func(o *mqtt.ClientOptions) { o.SetCleanSession(false) }},
		"an older protocol":                  {"ctl-house-a", "house-a", a, func(o *mqtt.ClientOptions) { o.SetProtocolVersion(3) }},
	} {
		if _, err := dial(t, at.url, c.id, c.user, c.password, c.change); err == nil {
			t.Errorf("%s was let in", name)
		}
	}
	mustDial(t, at.url, "ctl-house-a", "house-a", a, func(o *mqtt.ClientOptions) { o.SetWill("bms/v1/ctl/house-a/up/status", "x", 1, true) })
}

func drain(c *client) {
	for c.heard(quiet) != nil {
	}
}
