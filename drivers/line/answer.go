package line

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"svc.internal/controller/appliance"
)

// failure is an exchange that went wrong after its frame was sent, and what it
// leaves behind.
type failure struct {
	error
	resync bool // bytes of an answer may still be under way
	drop   bool // the connection, if it is one, cannot be trusted any more
}

func (f failure) Unwrap() error { return f.error }

// answer listens until Scan accepts.
func (l *Line) answer(ctx context.Context, p port, r Request, reply Reply) (Reply, error) {
	until := reply.Sent.Add(r.Timeout)
	if r.At == nil {
		l.in.mu.Lock()
		l.in.length = r.Length
		l.in.mu.Unlock()
	}
	for over := false; ; {
		frame, at, err := l.judge(r)
		if err != nil {
			return reply, err
		}
		if frame != nil {
			reply.Frame, reply.Done = frame, at
			l.transmissionOver(&reply, at)
			return reply, nil
		}
		if over {
			return reply, l.Overslept(until, l.timeUp(r))
		}
		stop, preempt := until, r.Yield.Answer
		if l.in.waiting() > 0 {
			preempt = nil
		} else if preempt != nil && time.Now().Before(reply.Sent) {
			stop, preempt = earliest(until, reply.Sent), nil
		}
		err = p.await(ctx, stop, preempt)
		switch {
		case err == nil:
		case errors.Is(err, appliance.ErrPreempted) && l.in.waiting() > 0: // too late: an answer has begun
		case !errors.Is(err, errTimeUp):
			return reply, err
		default:
			over = !time.Now().Before(until)
		}
	}
}

// transmissionOver notes that our transmission had ended by at, because bytes of
// an answer came then, whatever the computation says: virtual ports are faster
// than their settings.
func (l *Line) transmissionOver(reply *Reply, at time.Time) {
	l.pace.ownEnd = earliest(l.pace.ownEnd, at)
	reply.Sent = earliest(reply.Sent, at)
}

// judge shows Scan what has come. A nil frame without error means: not yet.
func (l *Line) judge(r Request) (frame []byte, at time.Time, err error) {
	in := &l.in
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(in.buf) > 0 {
		n, verdict := r.Scan(in.buf)
		n = max(0, min(n, len(in.buf)))
		switch verdict {
		case More:
			return nil, time.Time{}, nil
		case Accept:
			frame = append(make([]byte, 0, n), in.buf[:n]...)
			in.drop(n)
			l.rec.Add(in.at, appliance.FrameReceived, frame, "")
			return frame, in.at, nil
		case Skip:
			n = max(1, n) // a Skip of nothing would never end
			l.rec.Add(in.at, appliance.FrameDiscarded, in.buf[:n], NoteNotForUs)
			in.drop(n)
		default:
			if n == 0 || l.charBits > 0 {
				n = len(in.buf)
			}
			err = failure{
				error:  fmt.Errorf("%w on %s: % X", appliance.ErrDamaged, l.where, clip(in.buf[:n])),
				resync: true, drop: verdict == Broken,
			}
			l.rec.Add(in.at, appliance.FrameDiscarded, in.buf[:n], noteDamaged)
			in.drop(n)
			return nil, time.Time{}, err
		}
	}
	return nil, time.Time{}, nil
}

// clip bounds the bytes that go into an error message.
func clip(b []byte) []byte { return b[:min(len(b), 32)] }

// waiting counts the bytes that Scan wants more of.
func (in *input) waiting() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.buf)
}

// timeUp explains an answer that is missing or incomplete.
func (l *Line) timeUp(r Request) error {
	in := &l.in
	in.mu.Lock()
	defer in.mu.Unlock()
	if n := len(in.buf); n > 0 {
		err := fmt.Errorf("%w on %s: incomplete after %d bytes: % X", appliance.ErrDamaged, l.where, n, clip(in.buf))
		l.discard(noteIncomplete)
		return failure{error: err, resync: true, drop: true}
	}
	return fmt.Errorf("%w within %v on %s", appliance.ErrSilent, r.Timeout.Round(time.Millisecond), l.where)
}

// adapterLag is how much later than it was told an adapter may send a frame. Where nobody
// answered, the next frame leaves that much more silence: else devices may take both for one.
const adapterLag = 3 * time.Millisecond

// settle leaves the line fit for the next exchange after one that failed with err
// once its frame was sent, and returns the error for the caller.
func (l *Line) settle(p port, r Request, err error) error {
	l.abortUnsent(p, r) // before anything closes the port, which would deliver it
	var f failure
	switch {
	case errors.As(err, &f):
		if f.resync {
			l.pace.dirty = time.Now()
		}
		if f.drop && l.address != "" {
			l.lose(p, f.error)
		}
		err = f.error
	case errors.Is(err, appliance.ErrSilent), errors.Is(err, appliance.ErrOverslept):
	case errors.Is(err, appliance.ErrPreempted):
		if l.cfg.Silence > 0 { // no answer tells when our frame was over
			l.pace.ownEnd = l.pace.ownEnd.Add(adapterLag)
		}
		err = fmt.Errorf("%w on %s before an answer began", appliance.ErrPreempted, l.where)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		err = l.abandon(p, err)
	default:
		l.lose(p, err)
		if l.address == "" {
			return l.down(fmt.Errorf("lost while waiting for an answer: %w", err))
		}
		// Gateways that were restarted reset a connection at the first frame. The
		// next attempt has a new one.
		return fmt.Errorf("%w on %s: %w", appliance.ErrSilent, l.where, err)
	}
	return err
}

// abandon gives up listening because ctx ended.
func (l *Line) abandon(p port, err error) error {
	l.pace.dirty = time.Now()
	l.in.mu.Lock()
	partial := len(l.in.buf) > 0
	l.discard(noteIncomplete)
	l.in.mu.Unlock()
	if partial && l.address != "" {
		l.lose(p, errors.New("given up in the middle of an answer"))
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w on %s before the deadline: %w", appliance.ErrSilent, l.where, err)
	}
	return fmt.Errorf("%s: waiting for an answer: %w", l.where, err)
}

// abortUnsent makes sure that a frame that moves something is not delivered after
// its exchange was given up.
func (l *Line) abortUnsent(p port, r Request) {
	if !r.Actuates {
		return
	}
	if n := p.unsent(); n > 0 {
		l.withdraw(p, fmt.Errorf("%d bytes of a command were stuck and have been withdrawn", n))
	}
}

// ErrEcho: with [Config.Echo], what was sent did not come back.
var ErrEcho = errors.New("echo missing or wrong")

// readEcho reads back what was sent and compares it.
func (l *Line) readEcho(ctx context.Context, p port, r Request, reply Reply) (Reply, error) {
	until := reply.Sent.Add(echoLimit)
	for over := false; ; {
		done, err := l.compareEcho(r.Frame, &reply)
		if done || err != nil {
			return reply, err
		}
		if over {
			return reply, failure{
				error:  fmt.Errorf("%w on %s: %w: the adapter did not echo the request within %v; is it one that echoes?", appliance.ErrDamaged, l.where, ErrEcho, echoLimit),
				resync: true,
			}
		}
		err = p.await(ctx, until, nil)
		if over = errors.Is(err, errTimeUp); err != nil && !over {
			return reply, err
		}
	}
}

// echoLimit is how long after the end of transmission an echo may take: a USB
// adapter holds bytes back for 16 ms at most.
const echoLimit = 100 * time.Millisecond

func (l *Line) compareEcho(frame []byte, reply *Reply) (done bool, err error) {
	in := &l.in
	in.mu.Lock()
	defer in.mu.Unlock()
	n := min(len(frame), len(in.buf))
	if !bytes.Equal(in.buf[:n], frame[:n]) {
		err := fmt.Errorf("%w on %s: %w: the echo % X differs from the request: two senders at once, or no echo at all", appliance.ErrDamaged, l.where, ErrEcho, clip(in.buf))
		l.discard(noteCollision)
		return false, failure{error: err, resync: true, drop: true}
	}
	if n < len(frame) {
		return false, nil
	}
	in.drop(n)
	l.transmissionOver(reply, in.at)
	reply.Done = reply.Sent
	return true, nil
}

// turnaround keeps the line silent after a frame that nobody answers. The frame
// is out: the end of ctx shortens the wait, not the silence.
func (l *Line) turnaround(ctx context.Context, p port, r Request, reply Reply) error {
	l.pace.notBefore = reply.Sent.Add(r.Turnaround)
	if l.cfg.Ports.SleepUntil(ctx, l.pace.notBefore) != nil {
		l.cfg.Ports.linger(earliest(reply.Sent, time.Now().Add(sharpStretch)))
	}
	if !r.Actuates {
		return nil
	}
	// A peer may take its time to acknowledge, an adapter to empty its buffer; one that
	// never does must not deliver the frame when it is back.
	for until := latest(l.pace.notBefore, reply.Sent.Add(ackLimit)); p.unsent() > 0; {
		if !time.Now().Before(until) || Wait(ctx, ackLook) != nil {
			l.abortUnsent(p, r)
			return fmt.Errorf("%w on %s: the frame got stuck and has been withdrawn", appliance.ErrSilent, l.where)
		}
	}
	return nil
}

// A peer's kernel acknowledges within 40 ms, unless frames are lost.
const (
	ackLimit = 250 * time.Millisecond
	ackLook  = 2 * time.Millisecond
)
