package link

import (
	"context"
	"fmt"
	"time"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
)

// partsMost is how many parts an answer has at most.
const partsMost = wire.TunnelAnswerMost/wire.TunnelPartMost + 2

// carried is a request to the public API of a controller that waits for its answer.
type carried struct {
	controller string
	parts      chan wire.TunnelPart // has room for all that there may be
}

// Carry brings a request to the public API of a controller and waits until ctx ends, at most wire.MaxLifetime, for its answer; nothing is
// done for it afterwards. It fails with [platform.ErrNotFound], [platform.ErrOffline] if nothing was sent or nobody is let
// in there, [platform.ErrUnanswered] if ctx ended first, and [platform.ErrOverloaded] if the answer cannot be carried.
func (l *Link) Carry(ctx context.Context, cid string, in wire.TunnelRequest) (platform.Carried, error) {
	id := newID()
	fail := func(err error) (platform.Carried, error) {
		return platform.Carried{ID: id}, fmt.Errorf("carry %s %s to controller %q: %w", in.Method, in.URI, cid, err)
	}
	e, err := l.cfg.Store.Enrolment(ctx, cid)
	if err != nil {
		return fail(err)
	}
	if e.Revoked || !platform.Reachable(e.Controller, time.Now()) {
		return fail(platform.ErrOffline)
	}
	ctx, cancel := context.WithTimeout(ctx, wire.MaxLifetime)
	defer cancel()
	exp, _ := ctx.Deadline()
	exp = exp.UTC()
	env := wire.Envelope{ID: id, Type: wire.TypeTunnel, TS: time.Now(), Exp: &exp}
	b, err := env.Seal(in)
	if err != nil {
		return fail(platform.Invalid("%v", err))
	}
	w := &carried{cid, make(chan wire.TunnelPart, partsMost)}
	l.mu.Lock()
	session := l.session
	l.carried[id] = w
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.carried, id)
		l.mu.Unlock()
	}()
	if session == nil {
		return fail(platform.ErrOffline)
	}
	// No broker is to keep what may hold a password.
	if err := within(session.Publish(wire.Topic(cid, wire.DownTunnel), 0, false, b)); err != nil {
		return fail(err)
	}
	return w.collect(ctx, id, fail)
}

// collect puts the parts of an answer together.
func (w *carried) collect(ctx context.Context, id string, fail func(error) (platform.Carried, error)) (platform.Carried, error) {
	out := platform.Carried{ID: id}
	for next := 0; ; next++ {
		select {
		case p := <-w.parts:
			switch {
			case p.Part != next || len(out.Body)+len(p.Body) > wire.TunnelAnswerMost:
				return fail(platform.ErrOverloaded)
			case next == 0 && p.Status == 0:
				return fail(platform.ErrOffline)
			case next == 0 && (p.Status < 200 || p.Status > 599):
				return fail(fmt.Errorf("it answered with status %d", p.Status))
			case next == 0:
				out.Status, out.Header = p.Status, p.Header
			}
			if out.Body = append(out.Body, p.Body...); p.Final {
				return out, nil
			}
		case <-ctx.Done():
			return fail(platform.ErrUnanswered)
		}
	}
}

// part takes a part of an answer to us, or to another instance.
func (l *Link) part(cid string, payload []byte) {
	var p wire.TunnelPart
	env, err := wire.Open(payload)
	if err == nil && !l.carries(env.Corr, cid) {
		return
	}
	if err == nil {
		err = env.Read(&p)
	}
	if err != nil {
		l.cfg.Log.Warn("a part of an answer through the tunnel cannot be read", "controller", cid, "why", err)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.carried[env.Corr]; w != nil {
		select {
		case w.parts <- p:
		default: // more than there may be: whoever collects them has found that out
		}
	}
}

// carries reports whether we wait for an answer of this controller; before its body is read.
func (l *Link) carries(id, cid string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.carried[id]
	return w != nil && w.controller == cid
}
