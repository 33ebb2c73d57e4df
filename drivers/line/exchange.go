package line

import (
	"context"
	"errors"
	"fmt"
	"time"

	"svc.internal/controller/appliance"
)

// Exchange sends a request and waits for its answer. One is under way at a time;
// a second caller waits. The frame is written in the caller's goroutine.
//
// Errors wrap, apart from those of a Request that makes no sense:
//
//   - [appliance.ErrSilent]: no byte of an answer came in time, or the connection
//     was closed before one did. If ctx's deadline cut the wait short,
//     context.DeadlineExceeded is wrapped too.
//   - [appliance.ErrDamaged]: Scan rejected the answer, it stayed incomplete, the
//     echo differs, or the line never falls silent.
//   - [appliance.ErrBusDown]: the port is not there. Reply.Sent is zero unless a
//     serial adapter was pulled after the frame went out.
//   - [appliance.ErrExpired]: the frame could not be out before ctx's deadline and
//     was not begun.
//   - [appliance.ErrPreempted]: given up for the sake of Request.Yield.
//   - context.Canceled, when ctx was cancelled.
//
// Reply.Sent is zero if and only if nothing was written. It is set with an error
// too.
func (l *Line) Exchange(ctx context.Context, r Request) (Reply, error) {
	if len(r.Frame) == 0 {
		return Reply{}, fmt.Errorf("%s: request without a frame", l.where)
	}
	if r.Scan != nil && r.Timeout <= 0 {
		return Reply{}, fmt.Errorf("%s: request without a time-out", l.where)
	}
	if err := l.checkSettings(r); err != nil {
		return Reply{}, err
	}
	if l.in.reader != nil && r.Scan != nil {
		return l.exchangeApart(ctx, r)
	}
	if err := l.takeTurn(ctx); err != nil {
		return Reply{}, err
	}
	defer func() { <-l.turn }()

	deadline, bounded := ctx.Deadline()
	if !bounded {
		deadline = time.Now().Add(24 * time.Hour)
	}
	p, err := l.ready(ctx, r, deadline)
	if err != nil {
		return Reply{}, err
	}
	r = r.patient()
	back, err := l.retune(p, r)
	if err != nil {
		return Reply{}, err
	}
	defer back()
	l.begin()
	defer l.end()
	p, sent, err := l.send(ctx, p, r, deadline)
	if err != nil {
		return Reply{Sent: sent}, err
	}
	reply := Reply{Sent: sent, Done: sent}
	if l.returns() {
		if reply, err = l.readEcho(ctx, p, r, reply); err != nil {
			return reply, l.settle(p, r, err)
		}
	}
	if r.Scan == nil {
		return reply, l.turnaround(ctx, p, r, reply)
	}
	reply, err = l.answer(ctx, p, r, reply)
	if err != nil {
		return reply, l.settle(p, r, err)
	}
	return reply, nil
}

// ErrBabble: the line never falls silent, so that nothing can be sent.
var ErrBabble = errors.New("a device talks without being asked, or the wires are picking up noise")

// takeTurn waits for the exchange under way to end.
func (l *Line) takeTurn(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return l.unbegun(err)
	}
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return l.unbegun(ctx.Err())
	}
}

// unbegun explains the end of ctx before anything was sent.
func (l *Line) unbegun(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: the deadline passed before the frame could go out on %s", appliance.ErrExpired, l.where)
	}
	return fmt.Errorf("%s: request given up before it was sent: %w", l.where, err)
}

// ready returns the port when the line is silent and a frame may begin.
func (l *Line) ready(ctx context.Context, r Request, deadline time.Time) (port, error) {
	p, err := l.usable(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.fresh(); err != nil {
		l.lose(p, err)
		if p, err = l.usable(ctx); err != nil {
			return nil, err
		}
	}
	if err := l.silence(ctx, p, r, deadline); err != nil {
		return nil, err
	}
	return p, nil
}

// usable returns the port. A socket that was lost and not tried since is
// connected by the caller; the first attempt of Run is waited for.
func (l *Line) usable(ctx context.Context) (port, error) {
	p, why, failed := l.state()
	if p != nil {
		return p, nil
	}
	if failed {
		return nil, l.down(why)
	}
	wait, cancel := context.WithTimeout(noDeadline{ctx}, dialLimit)
	defer cancel()
	select {
	case <-l.tried:
	case <-l.ended:
	case <-wait.Done():
	}
	if p, why, failed = l.state(); p != nil {
		return p, nil
	}
	if wait.Err() != nil {
		l.mu.Lock()
		if l.link.port == nil && l.link.state == linkFree {
			l.link.state = linkFailed // the next one need not wait as long
		}
		l.mu.Unlock()
	}
	if l.address == "" || failed || wait.Err() != nil {
		return nil, l.down(why)
	}
	p, err := l.open(wait, dialLimit)
	if err != nil {
		return nil, l.down(err)
	}
	return p, nil
}

// noDeadline is a context without its deadline, which need not end it: derived from
// one that is due sooner, a time-out would be none.
type noDeadline struct{ context.Context }

// Deadline tells of none.
func (noDeadline) Deadline() (time.Time, bool) { return time.Time{}, false }

func (l *Line) state() (p port, why error, failed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.link.port, l.link.why, l.link.state != linkFree
}

// silence waits until the line has been silent as long as the request asks for.
func (l *Line) silence(ctx context.Context, p port, r Request, deadline time.Time) error {
	gap := max(l.cfg.Silence, r.Guard)
	if gap > 0 {
		gap += silenceMargin
	}
	airtime := l.airtimeAt(r.At, len(r.Frame))
	if !l.pace.dirty.IsZero() {
		l.setDeaf(true)
		defer l.setDeaf(false)
	}
	begun := time.Now()
	l.mu.Lock()
	calm := l.link.opened.Add(l.cfg.OpenSilence)
	l.mu.Unlock()
	news, last := 0, begun
	for now := begun; ; now = time.Now() {
		heard := l.in.lastByte()
		if heard.After(last) {
			news, last = news+1, heard
		}
		start := latest(heard.Add(gap), l.pace.ownEnd.Add(gap), l.pace.notBefore, calm)
		if !l.pace.dirty.IsZero() {
			start = latest(start, l.pace.dirty.Add(gap))
		}
		if latest(start, now).Add(airtime).After(deadline) {
			return fmt.Errorf("%w: %d bytes cannot be out on %s before the deadline", appliance.ErrExpired, len(r.Frame), l.where)
		}
		if closed(r.Yield.Begin) {
			return fmt.Errorf("%w on %s before anything was sent", appliance.ErrPreempted, l.where)
		}
		if start.Sub(now) <= 0 {
			l.pace.dirty = time.Time{}
			return nil
		}
		if news >= babbleLeast && now.Sub(begun) > BabbleLimit {
			return fmt.Errorf("%w: %s has not been silent for %v: %w", appliance.ErrDamaged, l.where, now.Sub(begun).Round(time.Millisecond), ErrBabble)
		}
		if err := l.cfg.Ports.SleepUntil(ctx, start); err != nil {
			return l.unbegun(err)
		}
		if err := p.fresh(); err != nil {
			l.lose(p, err)
			return l.down(err)
		}
	}
}

func (l *Line) setDeaf(deaf bool) {
	l.in.mu.Lock()
	defer l.in.mu.Unlock()
	l.in.deaf = deaf && !l.framed // a stream that frames itself must not be cut in two
	if deaf && !l.framed {
		l.discard(noteDamaged)
	}
}

func latest(t time.Time, others ...time.Time) time.Time {
	for _, o := range others {
		if o.After(t) {
			t = o
		}
	}
	return t
}

func closed(ch <-chan struct{}) bool {
	select {
	case <-ch: // never, if nil
		return true
	default:
		return false
	}
}

// send writes the frame. A connection that turns out dead before it took a
// single byte is made again once.
func (l *Line) send(ctx context.Context, p port, r Request, deadline time.Time) (port, time.Time, error) {
	for again := l.address != ""; ; again = false {
		n, err := p.write(r.Frame, earliest(deadline, time.Now().Add(l.airtimeAt(r.At, len(r.Frame))+writeLimit)))
		now := time.Now()
		if err == nil {
			sent := now.Add(l.airtimeAt(r.At, n))
			l.pace.ownEnd = sent
			l.rec.Add(now, appliance.FrameSent, r.Frame, "")
			return p, sent, nil
		}
		l.withdraw(p, err)
		if n > 0 {
			l.rec.Add(now, appliance.FrameSent, r.Frame[:n], noteIncomplete)
			return p, now, l.down(fmt.Errorf("only %d of %d bytes went out: %w", n, len(r.Frame), err))
		}
		if !again {
			return p, time.Time{}, l.down(err)
		}
		if p, err = l.usable(ctx); err != nil {
			return p, time.Time{}, err
		}
	}
}

// writeLimit is how long a port may refuse to take a frame.
const writeLimit = 250 * time.Millisecond

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
