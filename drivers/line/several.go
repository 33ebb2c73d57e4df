package line

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

// talk is a request whose answer is awaited while others go out, on a connection where
// answers tell to what, see [Config.InFlight].
type talk struct {
	Request
	over  chan struct{} // closed when its frame is there, or err
	frame []byte
	at    time.Time
	err   error
}

// end notes how a talk ended. Called with in.mu held.
func (t *talk) end(frame []byte, at time.Time, err error) {
	if !closed(t.over) {
		t.frame, t.at, t.err = frame, at, err
		close(t.over)
	}
}

// errClosed is why an answer will not come that others were awaited with, see [Broken].
var errClosed = errors.New("the connection was closed")

// exchangeApart is an [Line.Exchange] that has its turn until its frame is out. Whoever
// awaits an answer and finds nobody reading reads for all.
func (l *Line) exchangeApart(ctx context.Context, r Request) (Reply, error) {
	t := &talk{Request: r, over: make(chan struct{})}
	p, sent, err := l.say(ctx, t)
	defer l.forget(t)
	if err != nil {
		return Reply{Sent: sent}, err
	}
	reply := Reply{Sent: sent, Done: sent}
	wait := func() { reply, err = l.hear(ctx, p, t, reply) }
	if r.Yield.Apart != nil {
		r.Yield.Apart(sent, wait)
	} else {
		wait()
	}
	return reply, err
}

// say sends the frame of a talk.
func (l *Line) say(ctx context.Context, t *talk) (port, time.Time, error) {
	if err := l.takeTurn(ctx); err != nil {
		return nil, time.Time{}, err
	}
	defer func() { <-l.turn }()
	deadline, bounded := ctx.Deadline()
	if !bounded {
		deadline = time.Now().Add(24 * time.Hour)
	}
	p, err := l.ready(ctx, t.Request, deadline)
	if err != nil {
		return nil, time.Time{}, err
	}
	t.Request = t.Request.patient()
	l.in.mu.Lock()
	l.in.talks = append(l.in.talks, t)
	l.in.mu.Unlock()
	return l.send(ctx, p, t.Request, deadline)
}

func (l *Line) forget(t *talk) {
	l.in.mu.Lock()
	defer l.in.mu.Unlock()
	l.in.talks = slices.DeleteFunc(l.in.talks, func(o *talk) bool { return o == t })
}

// hear awaits the answer to a talk.
func (l *Line) hear(ctx context.Context, p port, t *talk, reply Reply) (Reply, error) {
	until := reply.Sent.Add(t.Timeout)
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	var why error
	for why == nil && !closed(t.over) {
		select {
		case <-t.over:
		case l.in.reader <- struct{}{}:
			why = l.read(ctx, p, t, until)
			<-l.in.reader
		case <-timer.C:
			why = errTimeUp
		case <-ctx.Done():
			why = ctx.Err()
		case <-t.Yield.Answer:
			why = appliance.ErrPreempted
		case <-p.gone():
			why = errClosed
		}
	}
	l.in.mu.Lock()
	t.end(nil, time.Time{}, why)
	l.in.mu.Unlock()
	if t.frame != nil {
		reply.Frame, reply.Done = t.frame, t.at
		return reply, nil
	}
	return reply, l.unheard(p, t, reply.Sent)
}

// read reads for all until a talk is over.
func (l *Line) read(ctx context.Context, p port, t *talk, until time.Time) error {
	for over := false; ; {
		if err := l.deliver(); err != nil {
			l.lose(p, err)
			return errClosed // the damage is told to whose answer it was
		}
		if closed(t.over) {
			return nil
		}
		if over {
			return errTimeUp
		}
		err := p.await(ctx, until, t.Yield.Answer)
		if over = errors.Is(err, errTimeUp); err != nil && !over {
			return err
		}
	}
}

// deliver gives each talk the answer that has come. Its error says that the stream cannot
// be trusted any more.
func (l *Line) deliver() error {
	in := &l.in
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(in.buf) > 0 && len(in.talks) > 0 {
		k := max(0, slices.IndexFunc(in.talks, func(t *talk) bool { return t.Own(in.buf) }))
		t := in.talks[k] // of what nobody has asked, anyone can tell how long it is
		n, verdict := t.Scan(in.buf)
		n = max(0, min(n, len(in.buf)))
		switch verdict {
		case More:
			return nil
		case Accept:
			l.rec.Add(in.at, appliance.FrameReceived, in.buf[:n], "")
			t.end(slices.Clone(in.buf[:n]), in.at, nil)
		case Skip:
			n = max(1, n)
			l.rec.Add(in.at, appliance.FrameDiscarded, in.buf[:n], NoteNotForUs)
		default:
			if n == 0 {
				n = len(in.buf)
			}
			err := fmt.Errorf("%w on %s: % X", appliance.ErrDamaged, l.where, clip(in.buf[:n]))
			l.rec.Add(in.at, appliance.FrameDiscarded, in.buf[:n], noteDamaged)
			t.end(nil, time.Time{}, err)
			if verdict == Broken {
				in.drop(n)
				return err
			}
		}
		in.drop(n)
	}
	return nil
}

// unheard leaves the line fit for others after a talk that had no answer, and returns the
// error for the caller.
func (l *Line) unheard(p port, t *talk, sent time.Time) error {
	l.abortUnsent(p, t.Request)
	until := sent.Add(t.Timeout)
	switch err := t.err; {
	case errors.Is(err, errTimeUp):
		l.in.mu.Lock()
		stuck := len(l.in.buf)
		if time.Since(l.in.at) < PartialGap {
			stuck = 0 // it is somebody else's, and the rest is coming
		}
		l.in.mu.Unlock()
		if stuck > 0 {
			err = fmt.Errorf("%w on %s: incomplete after %d bytes", appliance.ErrDamaged, l.where, stuck)
			l.lose(p, err)
			return l.Overslept(until, err)
		}
		return l.Overslept(until, fmt.Errorf("%w within %v on %s", appliance.ErrSilent, t.Timeout.Round(time.Millisecond), l.where))
	case errors.Is(err, appliance.ErrDamaged):
		return err
	case errors.Is(err, appliance.ErrPreempted):
		return fmt.Errorf("%w on %s before an answer began", appliance.ErrPreempted, l.where)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w on %s before the deadline: %w", appliance.ErrSilent, l.where, err)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%s: waiting for an answer: %w", l.where, err)
	default:
		l.lose(p, err)
		return fmt.Errorf("%w on %s: %w", appliance.ErrSilent, l.where, err)
	}
}
