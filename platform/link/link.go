package link

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
	"github.com/google/uuid"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
)

// Store is what the link must remember across instances and restarts.
type Store interface {
	Enrolment(ctx context.Context, id string) (platform.Enrolment, error)
	NextNumber(ctx context.Context, id string) (platform.Number, error)
	SetPanels(ctx context.Context, id string, panels json.RawMessage) (rev int64, err error)
	Panels(ctx context.Context, id string) (rev int64, panels json.RawMessage, err error)
}

// Broker is where to connect.
type Broker struct {
	// URL such as mqtts://host:8883; user name and password may be in it.
	URL string
	// Login, if not nil, gives user name and password.
	Login func() (username, password string)
	// Dial, if not nil, opens the connection.
	Dial func() (net.Conn, error)
	TLS  *tls.Config
}

// Message came from a controller.
type Message struct {
	Controller string
	Below      string // topic below the controller's subtree
	Payload    []byte
	Retained   bool // the broker had kept it
	At         time.Time
}

// Config of a link.
type Config struct {
	Broker Broker
	Store  Store
	// Take gets every message of a controller but acknowledgements, in the order of the broker. It may block: then the
	// broker waits.
	Take func(Message)
	// Late gets the outcome of an action that nobody waits for any more; nil: nobody wants it. It must not block.
	Late func(controller string, action wire.WidgetAction, ack wire.Ack)
	Log  *slog.Logger
}

// Link is the session with the broker, and through it with every controller.
type Link struct {
	cfg    Config
	client string // MQTT client ID

	mu      sync.Mutex
	session mqtt.Client // nil while there is none
	pending map[string]*pending
	carried map[string]*carried
	over    chan struct{}  // closed when Run ends
	resends sync.WaitGroup // none begins after that
}

// New makes a link that is not connected yet.
func New(cfg Config) *Link {
	var b [8]byte
	rand.Read(b[:]) // never fails, see crypto/rand
	return &Link{cfg: cfg, client: "platform-" + hex.EncodeToString(b[:]), pending: map[string]*pending{}, carried: map[string]*carried{},
		over: make(chan struct{})}
}

const (
	keepAlive = 10 * time.Second
	// pingMost is how long the broker's answer to a ping may take: it waits behind messages that wait to be saved.
	pingMost    = time.Minute
	answerMost  = 10 * time.Second // of the broker
	retryFirst  = 200 * time.Millisecond
	retryLast   = 5 * time.Second
	statusTopic = wire.PlatformStatus
)

// Run holds the session until ctx ends, and begins another when one is lost. A link runs once.
func (l *Link) Run(ctx context.Context) error {
	defer l.end()
	pause, told := retryFirst, false
	for ctx.Err() == nil {
		began := time.Now()
		err := l.hold(ctx)
		if ctx.Err() != nil {
			break
		}
		if time.Since(began) > time.Minute {
			pause, told = retryFirst, false
		}
		if !told { // once an outage
			l.cfg.Log.Warn("no session with the broker; trying again", "why", err)
			told = true
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
		pause = min(2*pause, retryLast)
	}
	return nil
}

// end ends what repeats commands.
func (l *Link) end() {
	l.mu.Lock()
	close(l.over)
	l.mu.Unlock()
	l.resends.Wait()
}

// hold is one session, from connecting to its loss.
func (l *Link) hold(ctx context.Context) error {
	lost := make(chan error, 1)
	session, err := l.connect(lost)
	if err != nil {
		return err
	}
	defer session.Disconnect(250)
	// Acknowledgements and reports are taken in the order of the broker; a handler that blocks makes it wait.
	filters := map[string]byte{wire.Root + "/ctl/+/up/#": 1, statusTopic: 1}
	if err := within(session.SubscribeMultiple(filters, l.take(ctx))); err != nil {
		return fmt.Errorf("subscribe to controllers: %w", err)
	}
	l.set(session)
	defer l.set(nil)
	if err := l.announce(session, wire.Online); err != nil {
		return err
	}
	l.cfg.Log.Info("session with the broker", "broker", safeURL(l.cfg.Broker.URL))
	select {
	case err := <-lost:
		return err
	case <-ctx.Done():
		return l.announce(session, wire.Offline)
	}
}

func (l *Link) set(session mqtt.Client) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session = session
}

// mqtt311 is the protocol level of MQTT 3.1.1 (§3.1.2.2).
const mqtt311 = 4

func (l *Link) connect(lost chan<- error) (mqtt.Client, error) {
	opts := mqtt.NewClientOptions().
		AddBroker(l.cfg.Broker.URL).
		SetProtocolVersion(mqtt311). // else a refusal is tried again as 3.1, and the answer to that is told
		SetClientID(l.client).
		SetCleanSession(true).
		SetAutoReconnect(false).
		SetKeepAlive(keepAlive).
		SetPingTimeout(pingMost).
		SetConnectTimeout(answerMost).
		SetWriteTimeout(answerMost).
		SetConnectionLostHandler(func(_ mqtt.Client, err error) { lost <- err })
	if l.cfg.Broker.TLS != nil {
		opts.SetTLSConfig(l.cfg.Broker.TLS)
	}
	if login := l.cfg.Broker.Login; login != nil {
		user, password := login()
		opts.SetUsername(user).SetPassword(password)
	}
	if dial := l.cfg.Broker.Dial; dial != nil {
		opts.SetCustomOpenConnectionFn(func(*url.URL, mqtt.ClientOptions) (net.Conn, error) { return dial() })
	}
	will, err := status(wire.Offline)
	if err != nil {
		return nil, err
	}
	opts.SetBinaryWill(statusTopic, will, 1, true)
	session := mqtt.NewClient(opts)
	if err := within(session.Connect()); err != nil {
		return nil, fmt.Errorf("connect to the broker %s: %w", safeURL(l.cfg.Broker.URL), err)
	}
	return session, nil
}

// announce tells controllers whether the platform is there.
func (l *Link) announce(session mqtt.Client, state string) error {
	b, err := status(state)
	if err != nil {
		return err
	}
	if err := within(session.Publish(statusTopic, 1, true, b)); err != nil {
		return fmt.Errorf("announce the platform %s: %w", state, err)
	}
	return nil
}

func status(state string) ([]byte, error) {
	return wire.Envelope{ID: newID(), Type: wire.TypeStatus, TS: time.Now()}.Seal(wire.Status{State: state})
}

// take handles what comes from the broker.
func (l *Link) take(ctx context.Context) mqtt.MessageHandler {
	return func(session mqtt.Client, m mqtt.Message) {
		if m.Topic() == statusTopic {
			// Another instance ended; controllers must not take that for the end of all.
			var s wire.Status
			if env, err := wire.Open(m.Payload()); err == nil && env.Read(&s) == nil && s.State == wire.Offline && ctx.Err() == nil {
				go func() { _ = l.announce(session, wire.Online) }() // a handler must not wait for the broker
			}
			return
		}
		cid, below, ok := wire.SplitTopic(m.Topic())
		if !ok {
			return
		}
		switch below {
		case "up/" + wire.Left:
			return // the broker left a message out, and told the site's page
		case wire.UpAck:
			l.acknowledged(cid, m.Payload())
			return
		case wire.UpTunnel:
			l.part(cid, m.Payload())
			return
		}
		if below == wire.UpStatus && !m.Retained() {
			go l.welcome(ctx, cid, m.Payload())
		}
		l.cfg.Take(Message{cid, below, m.Payload(), m.Retained(), time.Now()})
	}
}

// welcome sends a controller that announces itself its panels, which also tells it the time.
func (l *Link) welcome(ctx context.Context, cid string, payload []byte) {
	env, err := wire.Open(payload)
	var s wire.Status
	if err != nil || env.Read(&s) != nil || s.State != wire.Online {
		return
	}
	if err := l.sendPanels(ctx, cid); err != nil && ctx.Err() == nil {
		l.cfg.Log.Warn("a controller did not get its panels", "controller", cid, "why", err)
	}
}

// SetPanels replaces the panels of a controller.
func (l *Link) SetPanels(ctx context.Context, cid string, panels []wire.Panel) error {
	if panels == nil {
		panels = []wire.Panel{}
	}
	raw, err := json.Marshal(panels)
	if err != nil {
		return fmt.Errorf("set the panels of controller %q: %w", cid, err)
	}
	if _, err := l.cfg.Store.SetPanels(ctx, cid, raw); err != nil {
		return err
	}
	if err := l.sendPanels(ctx, cid); err != nil {
		l.cfg.Log.Info("changed panels are sent when the controller comes back", "controller", cid, "why", err)
	}
	return nil
}

// Panels of a controller.
func (l *Link) Panels(ctx context.Context, cid string) ([]wire.Panel, error) {
	_, raw, err := l.cfg.Store.Panels(ctx, cid)
	if err != nil {
		return nil, err
	}
	var panels []wire.Panel
	if err := json.Unmarshal(raw, &panels); err != nil {
		return nil, fmt.Errorf("panels of controller %q: %w", cid, err)
	}
	return panels, nil
}

func (l *Link) sendPanels(ctx context.Context, cid string) error {
	rev, raw, err := l.cfg.Store.Panels(ctx, cid)
	if err != nil {
		return err
	}
	cfg := wire.Config{Rev: rev}
	if err := json.Unmarshal(raw, &cfg.Panels); err != nil {
		return fmt.Errorf("panels of controller %q: %w", cid, err)
	}
	b, err := wire.Envelope{ID: newID(), Type: wire.TypeConfig, TS: time.Now()}.Seal(cfg)
	if err != nil {
		return err
	}
	return l.publish(wire.Topic(cid, wire.DownConfig), b, true)
}

// errNoBroker says that nothing can be sent now.
var errNoBroker = errors.New("there is no session with the broker")

// publish sends one message and waits until the broker has it.
func (l *Link) publish(topic string, b []byte, retained bool) error {
	l.mu.Lock()
	session := l.session
	l.mu.Unlock()
	if session == nil {
		return errNoBroker
	}
	if err := within(session.Publish(topic, 1, retained, b)); err != nil {
		return fmt.Errorf("send to %s: %w", topic, err)
	}
	return nil
}

// Connected reports whether there is a session with the broker.
func (l *Link) Connected() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session != nil
}

// within waits for the broker's answer, for a bounded time.
func within(t mqtt.Token) error {
	if !t.WaitTimeout(answerMost) {
		return fmt.Errorf("no answer within %v", answerMost)
	}
	return t.Error()
}

// newID makes the ID of a message; those made later sort later.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// safeURL is a URL for logs: without user name and password.
func safeURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "(malformed)"
	}
	u.User = nil
	return u.String()
}
