package link

import (
	"context"
	"errors"
	"fmt"
	"time"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
)

// pendingMost bounds the commands that wait for an answer.
const pendingMost = 10000

// wayBack is how long the answer of a controller may be on its way.
const wayBack = 2 * time.Second

// resendAfter is when a command that nobody answered is sent again, with the same ID; at longer intervals it expires.
var resendAfter = []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}

// pending is a command that waits for its answer.
type pending struct {
	controller string
	action     wire.WidgetAction
	waiting    int           // for the answer
	received   chan struct{} // closed when the controller is known to have it
	accepted   chan struct{} // closed when within is there
	within     time.Duration // what the controller says that it has from then on
	done       chan struct{} // closed when ack is there
	ack        wire.Ack
	why        error // it was not sent; nil: it was
}

// Send sends a widget action to a controller and waits for what became of it: for patience, and if the controller says within that
// time how long its hardware takes, for that long and the way of the answer. It fails with [platform.ErrNotFound],
// [platform.ErrOffline], [platform.ErrOverloaded] if nothing was sent, and with [platform.ErrUnanswered] if that time, ctx or
// the link ended first.
func (l *Link) Send(ctx context.Context, cid string, action wire.WidgetAction, patience time.Duration) (wire.Ack, error) {
	action.Accept = true
	now := time.Now()
	return l.send(ctx, cid, newID(), now, now.Add(wire.Lifetime), action, patience)
}

// SendAs sends a widget action that was made at a time, and is worth nothing from another on, under an ID, and waits until ctx ends; the
// same ID again is the same action, which is done once. What is too old is not sent. That ctx ends only ends the wait for an answer: what was begun to be
// sent is, as long as it counts, and what comes of it goes to [Config.Late]. With [platform.ErrUnanswered] comes [wire.Accepted] if the
// controller said that it is under way there, and no status if nothing was heard of it.
func (l *Link) SendAs(ctx context.Context, cid, id string, made, exp time.Time, action wire.WidgetAction) (wire.Ack, error) {
	action.Accept = true
	return l.send(ctx, cid, id, made, exp, action, 2*wire.Lifetime) // longer than any answer takes
}

func (l *Link) send(ctx context.Context, cid, id string, made, exp time.Time, action wire.WidgetAction, patience time.Duration) (wire.Ack, error) {
	began := time.Now()
	fail := func(err error) (wire.Ack, error) {
		return wire.Ack{}, fmt.Errorf("send %s to controller %q: %w", action.WidgetID, cid, err)
	}
	exp = exp.UTC()
	if !time.Now().Before(exp) {
		return wire.Ack{Status: wire.Expired, Detail: "it came too late"}, nil
	}
	enough := time.NewTimer(patience)
	defer enough.Stop()
	p, first := l.expect(cid, id, action)
	switch {
	case p == nil:
		return fail(platform.ErrOverloaded)
	case first:
		sending, cancel := context.WithDeadline(context.WithoutCancel(ctx), exp)
		defer cancel()
		if err := l.start(sending, p, id, made, exp, action); err != nil {
			l.refuse(p, id, exp, err)
		}
	case p.controller != cid:
		return fail(platform.ErrConflict)
	}
	became := func() (wire.Ack, error) {
		if p.why != nil {
			return fail(p.why)
		}
		return p.ack, nil
	}
	for accepted := p.accepted; ; {
		select {
		case <-p.done:
			return became()
		case <-accepted:
			accepted = nil
			if until := p.within + wayBack; action.Accept && until > time.Until(began.Add(patience)) {
				enough.Reset(until)
			}
			continue
		case <-l.over:
		case <-ctx.Done():
		case <-enough.C:
		}
		if l.leave(p) {
			ack, err := fail(platform.ErrUnanswered)
			if closed(p.accepted) {
				ack.Status = wire.Accepted
			}
			return ack, err
		}
		<-p.done // it came just now
		return became()
	}
}

// refuse notes that a command was not sent. Who asks for the same again while it counts hears the same: one was told already that
// it will not be done.
func (l *Link) refuse(p *pending, id string, exp time.Time, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.why = why
	close(p.done)
	time.AfterFunc(time.Until(exp), func() { l.forget(id) })
}

// leave notes that one does not wait any longer; it returns false if the answer is there.
func (l *Link) leave(p *pending) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-p.done:
		return false
	default:
		p.waiting--
		return true
	}
}

// expect notes a command that will wait for its answer; first is false if it does so already. It returns nil when there are too
// many.
func (l *Link) expect(cid, id string, action wire.WidgetAction) (p *pending, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.pending[id]; p != nil {
		if p.controller == cid {
			p.waiting++
		}
		return p, false
	}
	if len(l.pending) >= pendingMost {
		return nil, false
	}
	p = &pending{
		controller: cid, action: action, waiting: 1,
		received: make(chan struct{}), accepted: make(chan struct{}), done: make(chan struct{}),
	}
	l.pending[id] = p
	return p, true
}

// start publishes a command and sees to it that it is repeated.
func (l *Link) start(ctx context.Context, p *pending, id string, made, exp time.Time, action wire.WidgetAction) error {
	e, err := l.cfg.Store.Enrolment(ctx, p.controller)
	if err != nil {
		return err
	}
	if !platform.Reachable(e.Controller, time.Now()) {
		return platform.ErrOffline
	}
	n, err := l.cfg.Store.NextNumber(ctx, p.controller)
	if err != nil {
		return err
	}
	env := wire.Envelope{ID: id, Type: wire.TypeWidget, TS: made, Seq: n.Seq, Epoch: n.Epoch, Exp: &exp}
	b, err := env.Seal(action)
	if err != nil {
		return err
	}
	if err := l.publish(wire.Topic(p.controller, wire.DownWidget), b, false); errors.Is(err, errNoBroker) {
		return errors.Join(platform.ErrOffline, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.over: // it was sent, and nobody is left to repeat it
	default:
		l.resends.Go(func() { l.resend(env, b, p) })
	}
	return nil
}

// resend repeats a command until it is answered or expires, or the link ends.
func (l *Link) resend(env wire.Envelope, b []byte, p *pending) {
	defer l.forget(env.ID)
	received := p.received
	expired := time.NewTimer(time.Until(*env.Exp) + wayBack)
	defer expired.Stop()
	for i := 0; ; i++ {
		var again <-chan time.Time
		if received != nil && i < len(resendAfter) {
			again = time.After(resendAfter[i])
		}
		select {
		case <-p.done:
			return
		case <-l.over:
			return
		case <-received:
			received = nil // its answer follows
		case <-expired.C:
			l.cfg.Log.Warn("a command was not answered before it expired", "id", env.ID, "controller", p.controller)
			return
		case <-again:
			if err := l.publish(wire.Topic(p.controller, wire.DownWidget), b, false); err != nil {
				l.cfg.Log.Debug("a command could not be sent again", "id", env.ID, "why", err)
			}
		}
	}
}

func (l *Link) forget(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.pending, id)
}

// acknowledged takes the answer of a controller to a command of ours, or of another instance.
func (l *Link) acknowledged(cid string, payload []byte) {
	env, err := wire.Open(payload)
	var ack wire.Ack
	if err == nil {
		err = env.Read(&ack)
	}
	if err != nil {
		l.cfg.Log.Warn("an acknowledgement cannot be read", "controller", cid, "why", err)
		return
	}
	if p := l.answered(cid, env.Corr, ack); p != nil && l.cfg.Late != nil {
		l.cfg.Late(cid, p.action, p.ack)
	}
}

// answered hands an answer to whoever waits for it; it returns a command whose outcome nobody waits for any more.
func (l *Link) answered(cid, id string, ack wire.Ack) *pending {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.pending[id]
	switch {
	case p == nil || p.controller != cid || closed(p.done):
		return nil
	case ack.Status == wire.Duplicate && ack.First == "", ack.Status == wire.Accepted: // its outcome follows
		if !closed(p.received) {
			close(p.received)
		}
		if ack.Status == wire.Accepted && !closed(p.accepted) {
			p.within = ack.Time()
			close(p.accepted)
		}
		return nil
	case ack.Status == wire.Duplicate: // the answer to the first one was lost
		ack.Status = ack.First
	}
	delete(l.pending, id)
	p.ack = ack
	close(p.done)
	if p.waiting > 0 {
		return nil
	}
	return p
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
