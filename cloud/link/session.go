package link

import (
	"context"
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"svc.internal/controller/cloud/wire"
)

// session is one connection with the broker, from birth to death.
type session struct {
	*Link
	client mqtt.Client
	boot   int64
	lost   chan error
	reborn chan struct{}   // somebody wants to hear of us again
	resync chan struct{}   // somebody wants the whole state again
	ctx    context.Context // ends with the session
}

// hold is one session, from connecting to its loss.
func (l *Link) hold(ctx context.Context) error {
	boot, err := l.cfg.Boot(ctx)
	if err != nil {
		return fmt.Errorf("number the session: %w", err)
	}
	during, end := context.WithCancel(ctx)
	defer end()
	s := &session{Link: l, ctx: during, boot: boot, lost: make(chan error, 1), reborn: make(chan struct{}, 1), resync: make(chan struct{}, 1)}
	if err := s.connect(); err != nil {
		return err
	}
	defer s.client.Disconnect(250)
	l.setPlatform(true) // until it is known to be away
	cid := l.cfg.Credentials.Controller
	filters := map[string]byte{wire.Topic(cid, "down/#"): 1, wire.PlatformStatus: 1}
	if err := within(s.client.SubscribeMultiple(filters, s.take)); err != nil {
		return fmt.Errorf("subscribe: %w", err)
	}
	if err := s.announce(wire.Online); err != nil {
		return err
	}
	l.note(true)
	l.cfg.Log.Info("session with the platform", "broker", l.cfg.Credentials.Broker, "boot", boot)
	l.whole()
	return s.serve(ctx)
}

// whole puts everything that is known into the outbox.
func (l *Link) whole() {
	l.follow.all()
	poke(l.retell)
	if l.cfg.Values != nil {
		l.box.panel(l.cfg.Values())
	}
}

// mqtt311 is the protocol level of MQTT 3.1.1 (§3.1.2.2).
const mqtt311 = 4

func (s *session) connect() error {
	c := s.cfg.Credentials
	will, err := envelope(wire.TypeStatus, "", wire.Status{State: wire.Offline, Boot: s.boot})
	if err != nil {
		return err
	}
	opts := mqtt.NewClientOptions().
		AddBroker(c.Broker).
		SetProtocolVersion(mqtt311). // else a refusal is tried again as 3.1, and the answer to that is told
		SetClientID(wire.ClientID(c.Controller)).
		SetUsername(c.Username).SetPassword(c.Password).
		SetTLSConfig(s.tls).
		SetCleanSession(true). // nothing that was queued acts later
		SetAutoReconnect(false).
		SetKeepAlive(keepAlive).
		SetPingTimeout(keepAlive/2).
		SetConnectTimeout(brokerMost).
		SetWriteTimeout(brokerMost).
		SetBinaryWill(wire.Topic(c.Controller, wire.UpStatus), will, 1, true).
		SetConnectionLostHandler(func(_ mqtt.Client, err error) { s.lost <- err })
	if s.cfg.Dial != nil {
		opts.SetCustomOpenConnectionFn(s.dial)
	}
	s.client = mqtt.NewClient(opts)
	if err := within(s.client.Connect()); err != nil {
		return fmt.Errorf("connect to %s: %w", c.Broker, err)
	}
	return nil
}

// dial connects in the way that the configuration has.
func (s *session) dial(broker *url.URL, opts mqtt.ClientOptions) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(s.ctx, opts.ConnectTimeout)
	defer cancel()
	conn, err := s.cfg.Dial(ctx, broker.Host)
	if err != nil || broker.Scheme == "mqtt" || broker.Scheme == "tcp" {
		return conn, err
	}
	conf := opts.TLSConfig.Clone()
	conf.ServerName = broker.Hostname()
	secure := tls.Client(conn, conf)
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return secure, nil
}

// announce is birth and death.
func (s *session) announce(state string) error {
	snap := s.cfg.Core.Snapshot()
	b, err := envelope(wire.TypeStatus, "", wire.Status{
		State: state, Boot: s.boot, Firmware: s.cfg.Firmware, Name: snap.Site.Name, Caps: []string{"widget"},
	})
	if err != nil {
		return err
	}
	if err := within(s.client.Publish(wire.Topic(s.cfg.Credentials.Controller, wire.UpStatus), 1, true, b)); err != nil {
		return fmt.Errorf("announce %s: %w", state, err)
	}
	return nil
}

// take handles what comes from the broker. It must not wait for it.
func (s *session) take(_ mqtt.Client, m mqtt.Message) {
	msg := Message{m.Payload(), m.Retained(), time.Now()}
	if m.Topic() == wire.PlatformStatus {
		s.platformSays(msg)
		return
	}
	cid, below, ok := wire.SplitTopic(m.Topic())
	if !ok || cid != s.cfg.Credentials.Controller {
		return
	}
	switch below {
	case wire.DownWidget:
		s.cfg.Widget(msg)
	case wire.DownConfig:
		s.cfg.Panels(msg)
		if s.cfg.Values != nil {
			s.box.panel(s.cfg.Values())
		}
	case wire.DownOrder:
		s.obey(msg)
	case wire.DownTunnel:
		s.tunnelled(msg)
	}
}

func (s *session) platformSays(m Message) {
	var st wire.Status
	env, err := wire.Open(m.Payload)
	if err != nil || env.Read(&st) != nil {
		return
	}
	s.setPlatform(st.State != wire.Offline)
	if st.State == wire.Online && !m.Retained {
		poke(s.reborn)
	}
}

func (s *session) obey(m Message) {
	var o wire.Order
	env, err := wire.Open(m.Payload)
	if err != nil || env.Read(&o) != nil || m.Retained {
		return
	}
	if s.cfg.Clock != nil {
		s.cfg.Clock(env.TS, m.At)
	}
	switch o.Do {
	case wire.Rebirth:
		poke(s.reborn)
	case wire.Resync:
		poke(s.resync)
	}
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

const (
	// windowMost is how many messages may be on their way to the broker at once.
	windowMost = 64
	// wholeEvery is how often the whole state may be asked for.
	wholeEvery = 2 * time.Second
	// stuckAfter is how long the broker may not acknowledge anything before the session counts as lost.
	stuckAfter = 30 * time.Second
)

// sent is a parcel that the broker has not acknowledged.
type sent struct {
	parcel
	token mqtt.Token
	at    time.Time
}

// serve empties the outbox until the session is lost or ctx ends. What was not acknowledged is put back.
func (s *session) serve(ctx context.Context) (err error) {
	var window []sent
	defer func() {
		for i := len(window) - 1; i >= 0; i-- {
			if !acknowledged(window[i].token) {
				s.box.back(window[i].parcel)
			}
		}
	}()
	var again <-chan time.Time // of the whole state
	birth := false
	for {
		for len(window) > 0 && done(window[0].token) {
			if err := window[0].token.Error(); err != nil {
				return fmt.Errorf("send: %w", err)
			}
			window = window[1:]
		}
		var first <-chan struct{} // wait for the oldest only
		if len(window) > 0 {
			if time.Since(window[0].at) > stuckAfter {
				return fmt.Errorf("the broker has acknowledged nothing for %v", stuckAfter)
			}
			first = window[0].token.Done()
		}
		if len(window) < windowMost {
			p, ok, err := s.box.next(s.hasPlatform(), func(t wire.Type, data any) ([]byte, error) { return envelope(t, "", data) })
			if err != nil {
				s.cfg.Log.Error("a message cannot be packed", "topic", p.below, "thing", p.key, "why", err)
				continue
			}
			if ok {
				window = append(window, sent{p, s.send(p), time.Now()})
				continue
			}
		}
		stuck := time.NewTimer(stuckAfter)
		select {
		case <-s.box.wake:
		case <-first:
		case <-stuck.C:
		case err := <-s.lost:
			stuck.Stop()
			return err
		case <-s.reborn:
			birth = true
			if again == nil {
				again = time.After(rand.N(wholeEvery / 2))
			}
		case <-s.resync:
			if again == nil {
				again = time.After(rand.N(wholeEvery / 2))
			}
		case <-again:
			again = nil
			if birth {
				birth = false
				if err := s.announce(wire.Online); err != nil {
					stuck.Stop()
					return err
				}
			}
			s.whole()
		case <-ctx.Done():
			stuck.Stop()
			return s.announce(wire.Offline)
		}
		stuck.Stop()
	}
}

func (s *session) send(p parcel) mqtt.Token {
	below := p.below
	if below == "" {
		return s.client.Publish(wire.StateTopic(s.cfg.Credentials.Controller, p.key.kind, p.key.id), p.qos, p.keep, p.bytes)
	}
	return s.client.Publish(wire.Topic(s.cfg.Credentials.Controller, below), p.qos, p.keep, p.bytes)
}

func done(t mqtt.Token) bool {
	select {
	case <-t.Done():
		return true
	default:
		return false
	}
}

func acknowledged(t mqtt.Token) bool { return done(t) && t.Error() == nil }
