package link_test

import (
	"strings"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"svc.internal/controller/platform/quota"
)

// What a controller leaves behind as its will is kept within its share, as what it publishes is: else each of many
// connections that break could add to what is kept.
func TestAWillIsKeptWithinTheShare(t *testing.T) {
	t.Parallel()
	db, shares := openStore(t), quota.NewBook(testLog(t))
	at := embeddedOf(t, db, shares)
	password := addController(t, db, at, "house")
	user, peer := integration(t, db, at, "house")
	const topic = "bms/v1/ctl/house/up/event/"
	leave := func(name string) {
		t.Helper()
		c := mustDial(t, at.url, "ctl-house", "house", password, func(o *mqtt.ClientOptions) { o.SetWill(topic+name, strings.Repeat("x", 4000), 1, true) })
		watch := mustDial(t, at.url, "watch-"+name, user, peer, nil)
		watch.subscribe(topic + name)
		c.cut()
		if watch.heard(time.Minute) == nil {
			t.Fatalf("nobody hears that %s is gone", name)
		}
		watch.Disconnect(0)
	}
	kept := func(name string) bool {
		t.Helper()
		late := mustDial(t, at.url, "late-"+name, user, peer, nil)
		defer late.Disconnect(0)
		late.subscribe(topic + name)
		m := late.heard(2 * time.Second)
		return m != nil && m.Retained()
	}
	leave("first")
	eventually(t, "a will within the share is kept", func() bool { return kept("first") })
	if !shares.Hold("house", "up/state/light/1", quota.TopicBytesMost-6000) {
		t.Fatal("the share is full too early")
	}
	leave("second")
	if kept("second") {
		t.Error("a will is kept beyond the share")
	}
}
