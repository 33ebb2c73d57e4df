package link_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
	"github.com/eclipse/paho.mqtt.golang/packets"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/broker"
	"svc.internal/controller/platform/link"
	"svc.internal/controller/platform/quota"
	"svc.internal/controller/platform/store"
)

// place is a broker of one kind, with credentials from a store.
type place struct {
	url      string      // for controllers
	platform link.Broker // for the platform
	// changed makes the broker know credentials that were made or revoked.
	changed func()
	// away cuts the broker off, and lets it come back.
	away, back func()
}

// eachBroker runs a test on every kind of broker there is.
func eachBroker(t *testing.T, test func(t *testing.T, db *store.Store, at place)) {
	t.Run("embedded", func(t *testing.T) {
		db := openStore(t)
		test(t, db, embedded(t, db))
	})
	eachPeerBroker(t, test)
}

func openStore(t testing.TB) *store.Store {
	t.Helper()
	db, err := store.Open(t.Context(), t.TempDir(), "", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// embedded is the broker inside platformd, without TLS.
func embedded(t testing.TB, db *store.Store) place {
	t.Helper()
	return embeddedOf(t, db, quota.NewBook(testLog(t)))
}

func embeddedOf(t testing.TB, db *store.Store, shares *quota.Book) place {
	t.Helper()
	dir, address := t.TempDir(), ""
	var now atomic.Pointer[broker.Broker] // the link dials while it is away
	var stop func()
	start := func() {
		listen := address
		if listen == "" {
			listen = "127.0.0.2:0" // which nobody else asks for, so that the port is free when it comes back
		}
		l, err := net.Listen("tcp", listen)
		if err != nil {
			t.Fatal(err)
		}
		address = l.Addr().String()
		b, err := broker.Start(broker.Config{Dir: dir, Listener: l, Credentials: db, Shares: shares, Log: testLog(t)})
		if err != nil {
			t.Fatal(err)
		}
		now.Store(b)
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() { defer close(ended); _ = b.Run(ctx) }()
		stop = func() { cancel(); <-ended; b.Close() }
	}
	start()
	t.Cleanup(func() { stop() })
	return place{
		url: "tcp://" + address,
		platform: link.Broker{
			URL:   "tcp://inside",
			Dial:  func() (net.Conn, error) { return now.Load().Dial() },
			Login: func() (string, string) { return now.Load().Login() },
		},
		changed: func() {}, away: func() { stop() }, back: start,
	}
}

func testLog(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
}

// addController makes an enrolled controller and returns its password.
func addController(t testing.TB, db *store.Store, at place, id string) string {
	t.Helper()
	if err := db.AddController(t.Context(), id, id, link.HashCode(id), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	c, err := link.Enrol(t.Context(), db, id)
	if err != nil {
		t.Fatal(err)
	}
	at.changed()
	return c.Password
}

// client is a client of the broker that is not of ours.
type client struct {
	mqtt.Client
	t    testing.TB
	got  chan mqtt.Message
	lost chan error
	conn net.Conn
}

func dial(t testing.TB, address, id, user, password string, change func(*mqtt.ClientOptions)) (*client, error) {
	t.Helper()
	c := &client{t: t, got: make(chan mqtt.Message, 10000), lost: make(chan error, 1)}
	opts := mqtt.NewClientOptions().AddBroker(address).SetClientID(id).SetUsername(user).SetPassword(password).
		SetAutoReconnect(false).SetConnectTimeout(time.Minute).SetProtocolVersion(4).
		SetConnectionLostHandler(func(_ mqtt.Client, err error) { c.lost <- err })
	opts.SetCustomOpenConnectionFn(func(u *url.URL, _ mqtt.ClientOptions) (conn net.Conn, err error) {
		c.conn, err = net.Dial("tcp", u.Host)
		return c.conn, err
	})
	if change != nil {
		change(opts)
	}
	c.Client = mqtt.NewClient(opts)
	token := c.Connect()
	if !token.WaitTimeout(time.Minute) {
		return nil, fmt.Errorf("no answer of the broker")
	}
	if token.Error() == nil {
		t.Cleanup(func() { c.Disconnect(0) })
	}
	return c, token.Error()
}

// mustDial tries again after a second or two, as all clients do: a broker turns away who takes the place of its own last
// connection over and over, and that may not have gone yet; and Mosquitto whose credential it has not come to read.
func mustDial(t testing.TB, url, id, user, password string, change func(*mqtt.ClientOptions)) *client {
	t.Helper()
	for try := 0; ; try++ {
		c, err := dial(t, url, id, user, password, change)
		if err == nil {
			return c
		}
		if try == 10 || !errors.Is(err, packets.ErrorNetworkError) && !errors.Is(err, packets.ErrorRefusedNotAuthorised) {
			t.Fatalf("connect %s: %v", id, err)
		}
		<-time.After(time.Duration(try) * time.Second)
	}
}

// cut ends the connection without a word.
func (c *client) cut() { c.conn.Close() }

func withWill(text string) func(*mqtt.ClientOptions) {
	return func(o *mqtt.ClientOptions) { o.SetWill("bms/v1/ctl/house/up/status", text, 1, true) }
}

// subscribe returns what the broker granted: 1, or 0x80 for a refusal.
func (c *client) subscribe(filter string) byte {
	c.t.Helper()
	token := c.Subscribe(filter, 1, func(_ mqtt.Client, m mqtt.Message) { c.got <- m })
	if !token.WaitTimeout(time.Minute) {
		c.t.Fatalf("subscribe %s: no answer", filter)
	}
	return token.(*mqtt.SubscribeToken).Result()[filter]
}

// say publishes and waits for the broker, which may also end the connection.
func (c *client) say(topic, text string, retained bool) {
	c.t.Helper()
	c.Publish(topic, 1, retained, text).WaitTimeout(5 * time.Second)
}

// heard waits for a message, or returns nil if none comes for a time.
func (c *client) heard(within time.Duration) mqtt.Message {
	select {
	case m := <-c.got:
		return m
	case <-time.After(within):
		return nil
	}
}

// integration makes a credential that acts as the platform towards one controller.
func integration(t testing.TB, db *store.Store, at place, controller string) (user, password string) {
	t.Helper()
	var b [4]byte
	rand.Read(b[:])
	user = "peer-" + hex.EncodeToString(b[:])
	var c platform.Credential
	c, password = link.NewCredential(user, controller, true)
	if err := db.PutCredential(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	at.changed()
	return user, password
}

// eventually waits for a condition.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("still not: %s", what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// dialInside opens connections of the platform to the embedded broker.
func dialInside(at place) mqtt.OpenConnectionFunc {
	return func(*url.URL, mqtt.ClientOptions) (net.Conn, error) { return at.platform.Dial() }
}
