package link

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
	"github.com/google/uuid"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
	"svc.internal/controller/cloud/wire"
)

// Message came from the platform.
type Message struct {
	Payload  []byte
	Retained bool
	At       time.Time
}

// Config of a link.
type Config struct {
	Core        *control.Controller
	Credentials wire.Credentials
	// Dial connects to the broker's host:port, below TLS; nil: over the network of this machine.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Boot numbers the next session with the broker: higher than all before, across restarts.
	Boot     func(context.Context) (int64, error)
	Firmware string
	// Widget and Panels take what comes on the topics of those names. They must not block.
	Widget, Panels func(Message)
	// Clock, if not nil, takes the time of an order that the platform sent just now.
	Clock func(ts, at time.Time)
	// Values is what every panel should show now; nil: there are none.
	Values func() []wire.PanelValue
	// Tunnel, if not nil, answers requests to the public API that the platform carries here. It asks for the controller's
	// own tokens: the platform vouches for nobody.
	Tunnel http.Handler
	// Past, if not nil, gives the newest finished commands from before this start, at most limit, the newest first.
	Past func(ctx context.Context, limit int) ([]appliance.Entry, error)
	// Deadline tells when by this clock it is exp by the platform's; nil: the clocks agree.
	Deadline func(exp time.Time) time.Time
	Log      *slog.Logger
}

// Link is the controller's session with the platform's broker.
type Link struct {
	cfg    Config
	tls    *tls.Config
	box    *outbox
	follow *follower
	tunnel *tunnel
	retell chan struct{} // the platform may have missed something of the ledger

	mu       sync.Mutex
	online   bool // there is a session
	platform bool // as far as is known
}

// New makes a link that is not connected yet.
func New(cfg Config) (*Link, error) {
	if err := wire.CheckControllerID(cfg.Credentials.Controller); err != nil {
		return nil, fmt.Errorf("link to the platform: %w", err)
	}
	l := &Link{cfg: cfg, box: newOutbox(), tunnel: newTunnel(cfg), retell: make(chan struct{}, 1), tls: &tls.Config{MinVersion: tls.VersionTLS12}}
	if ca := cfg.Credentials.CA; ca != "" {
		l.tls.RootCAs = x509.NewCertPool()
		if !l.tls.RootCAs.AppendCertsFromPEM([]byte(ca)) {
			return nil, errors.New("link to the platform: the certificate to trust it by cannot be read; enrol again")
		}
	}
	l.follow = newFollower(cfg.Core, l.box, l.emit)
	return l, nil
}

// Answer tells whoever sent the message corr what became of it.
func (l *Link) Answer(corr string, ack wire.Ack) {
	b, err := envelope(wire.TypeAck, corr, ack)
	if err != nil {
		l.cfg.Log.Error("an answer to the platform cannot be packed", "corr", corr, "why", err)
		return
	}
	l.box.answer(parcel{below: wire.UpAck, qos: 1, bytes: b, urgent: true})
}

// ShowPanels tells what panels should show.
func (l *Link) ShowPanels(values []wire.PanelValue) { l.box.panel(values) }

func (l *Link) emit(e wire.Event) {
	b, err := envelope(wire.TypeEvent, "", e)
	if err != nil {
		l.cfg.Log.Error("an event cannot be packed", "code", e.Code, "why", err)
		return
	}
	l.box.event(parcel{below: wire.UpEvent, qos: 1, bytes: b, event: true})
}

// Status of the link, for people.
type Status struct {
	Connected bool
	Waiting   int // messages and samples
	Lost      int // those that gave way since the start
}

// Status tells how the link is.
func (l *Link) Status() Status {
	waiting, lost := l.box.size()
	l.mu.Lock()
	defer l.mu.Unlock()
	return Status{l.online, waiting, lost}
}

const (
	keepAlive  = 10 * time.Second
	brokerMost = 10 * time.Second // for an answer of the broker
	retryFirst = 500 * time.Millisecond
	retryLast  = 30 * time.Second
)

// Run follows the core and holds the session until ctx ends; a session that is lost is followed by another.
func (l *Link) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { l.follow.run(ctx) })
	wg.Go(func() { l.tellLedger(ctx) })
	defer l.tunnel.done.Wait()
	pause, told := retryFirst, false
	for ctx.Err() == nil {
		began := time.Now()
		err := l.hold(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if time.Since(began) > time.Minute {
			pause, told = retryFirst, false
		}
		if !told { // once an outage
			l.cfg.Log.Warn("no session with the platform; the controller works on and tries again", "broker", l.cfg.Credentials.Broker, "why", err)
			told = true
		}
		l.note(false)
		timer := time.NewTimer(pause/2 + rand.N(pause/2+1)) // a thousand controllers do not come back at once
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
		pause = min(2*pause, retryLast)
	}
	return nil
}

func (l *Link) note(online bool) {
	l.mu.Lock()
	l.online = online
	l.mu.Unlock()
}

func (l *Link) setPlatform(there bool) {
	l.mu.Lock()
	l.platform = there
	l.mu.Unlock()
	l.box.poke()
}

// heard reports whether what is sent now reaches the platform, as far as is known.
func (l *Link) heard() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.online && l.platform
}

func (l *Link) hasPlatform() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.platform
}

// envelope packs a message of ours.
func envelope(t wire.Type, corr string, data any) ([]byte, error) {
	return wire.Envelope{ID: uuid.Must(uuid.NewV7()).String(), Type: t, TS: time.Now(), Corr: corr}.Seal(data)
}

// within waits for the broker's answer, for a bounded time.
func within(t mqtt.Token) error {
	if !t.WaitTimeout(brokerMost) {
		return fmt.Errorf("no answer within %v", brokerMost)
	}
	return t.Error()
}
