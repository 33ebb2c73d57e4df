package broker

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
	"svc.internal/controller/shelf/web"
)

const (
	// knockMost is how long somebody may take from the first byte of the connection to the last of CONNECT, and
	// waitingMost how many may be at it at once.
	knockMost   = 10 * time.Second
	waitingMost = 512
	// guestsMost bounds the connections of all controllers.
	guestsMost = 20000
	// writeMost is how long somebody may not read what the broker sends.
	writeMost = 30 * time.Second
)

// door is what stands between the network and nats-server.
type door struct {
	broker  *Broker
	waiting knocking
	say     web.Sparse // of those who are not let in

	mu   sync.Mutex
	held map[*guest]struct{}
	shut bool
}

// guest is a connection that was let in.
type guest struct {
	credential platform.Credential
	conn       net.Conn
}

// open serves one connection to its end.
func (d *door) open(ctx context.Context, raw net.Conn) {
	defer raw.Close()
	n, ok := d.waiting.enter(raw)
	if !ok {
		return // a flood: whoever belongs here comes again
	}
	defer d.waiting.leave(n)

	_ = raw.SetDeadline(time.Now().Add(knockMost))
	conn := raw
	if d.broker.cfg.TLS != nil {
		conn = tls.Server(raw, d.broker.cfg.TLS)
	}
	packet, err := readConnect(conn)
	if err != nil {
		if errors.Is(err, errVersion) {
			_, _ = conn.Write(refusal(codeVersion))
		}
		return
	}
	credential, code := d.judge(ctx, packet)
	if code != 0 {
		if ok, left := d.say.Allow(); ok {
			d.broker.cfg.Log.Warn("somebody was not let in to the broker", "user", clip(packet.username), "client", clip(packet.clientID),
				"peer", raw.RemoteAddr().String(), "code", code, "not_logged", left)
		}
		_, _ = conn.Write(refusal(code))
		return
	}
	g := &guest{credential, raw}
	if !d.admit(g) {
		_, _ = conn.Write(refusal(codeUnavailable))
		return
	}
	defer d.leave(g)
	d.waiting.leave(n)
	_ = raw.SetDeadline(time.Time{})
	d.pass(conn, packet, credential)
}

// judge says whether a CONNECT is somebody's who may come in, with which return code if not.
func (d *door) judge(ctx context.Context, p connect) (platform.Credential, byte) {
	c, err := d.broker.cfg.Credentials.Credential(ctx, p.username)
	if err != nil && !errors.Is(err, platform.ErrNotFound) {
		d.broker.cfg.Log.Error("a credential of the broker could not be looked up", "why", err)
		return c, codeUnavailable
	}
	hash := sha256.Sum256([]byte(p.password))
	if good := subtle.ConstantTimeCompare(hash[:], c.Hash[:]) == 1; !good || err != nil {
		return c, codeCredentials
	}
	own := wire.Topic(c.Controller, "up/")
	if c.Integration {
		own = wire.Topic(c.Controller, "down/")
	}
	switch {
	case !c.Integration && p.clientID != wire.ClientID(c.Controller):
		return c, codeClientID
	case c.Integration && (strings.HasPrefix(p.clientID, wire.ClientID("")) || strings.HasPrefix(p.clientID, platformClient)):
		return c, codeClientID // the session of somebody else
	case p.flags&flagWill != 0 && (!strings.HasPrefix(p.willTopic, own) || strings.ContainsAny(p.willTopic, "+#")):
		return c, codeUnauthorised
	case p.flags&flagWill != 0 && p.flags&flagWillOnce != 0:
		return c, codeUnauthorised // as [errOnce]
	case p.flags&flagClean == 0:
		return c, codeUnauthorised // queues of those who are away are not kept
	}
	return c, 0
}

// platformClient begins the client IDs of the platform's own sessions.
const platformClient = "platform-"

// pass carries bytes between a guest and nats-server until one of them ends.
func (d *door) pass(conn net.Conn, p connect, c platform.Credential) {
	inside, err := d.broker.Dial()
	if err != nil {
		d.broker.cfg.Log.Error("the broker does not answer its own door", "why", err)
		_, _ = conn.Write(refusal(codeUnavailable))
		return
	}
	defer inside.Close()
	b := badge{roleController, c.Controller}
	if c.Integration {
		b.role = roleIntegration
	}
	if p.flags&flagWill != 0 && p.flags&flagWillKept != 0 {
		if _, below, ok := wire.SplitTopic(p.willTopic); ok && !d.broker.cfg.Shares.Hold(c.Controller, below, len(p.will)) {
			p.flags &^= flagWillKept
		}
	}
	p.flags |= flagUsername | flagPassword
	p.username, p.password = b.name(), b.proof(d.broker.secret)
	if _, err := inside.Write(p.bytes()); err != nil {
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = d.carry(inside, conn, c) // one that ends is no news
		inside.Close()
	})
	_, _ = io.Copy(patient{conn}, inside)
	conn.Close()
	wg.Wait()
}

// patient gives up on a peer that does not read.
type patient struct{ net.Conn }

func (p patient) Write(b []byte) (int, error) {
	_ = p.SetWriteDeadline(time.Now().Add(writeMost))
	return p.Conn.Write(b)
}

func (d *door) admit(g *guest) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shut || len(d.held) >= guestsMost {
		return false
	}
	d.held[g] = struct{}{}
	return true
}

func (d *door) leave(g *guest) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.held, g)
}

// drop ends the connections of those whom gone tells.
func (d *door) drop(gone func(platform.Credential) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for g := range d.held {
		if gone(g.credential) {
			d.broker.cfg.Log.Info("connection ended: its credential was revoked", "user", g.credential.Username)
			g.conn.Close()
		}
	}
}

// empty ends all connections and lets nobody in any more.
func (d *door) empty() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shut = true
	for g := range d.held {
		g.conn.Close()
	}
}

// clip keeps strangers' text short in the log.
func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}
