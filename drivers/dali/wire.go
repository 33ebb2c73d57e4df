package dali

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
)

// Times on the DALI line (IEC 62386-101; the gaps are means of the permitted
// ranges, as the gateway keeps them).
const (
	forwardTime  = 15830 * time.Microsecond
	backwardTime = 9170 * time.Microsecond
	answerGap    = 8 * time.Millisecond     // 5.5 to 10.5 ms
	settleGap    = 16 * time.Millisecond    // 13.5 to 21.2 ms before a forward frame
	twiceGap     = 14 * time.Millisecond    // 13.5 to 14.7 ms between the two
	noAnswerTime = 19670 * time.Microsecond // after it nobody can be answering any more
)

const (
	// conflictMemory is how long a collision explains why a command came too late.
	conflictMemory = 3 * time.Second
	conflictTries  = 5
	conflictPause  = 100 * time.Millisecond
	// conflictGuard is the silence of the gateway after a collision before something
	// else is sent: the other sender's frame and the gateway's word of it, should it have
	// one. An inference; the public driver for the HAT waits for the whole pause.
	conflictGuard = forwardTime + 2*time.Millisecond
	// muteLimit is how often in a row the gateway may leave a frame unconfirmed
	// before the bus counts as down.
	muteLimit = 3
	// strayGuard keeps the port silent after a gateway that did not answer, since
	// its answer could still come. Where an answer does not tell to which frame it
	// belongs it would be taken for the next one's.
	strayGuard         = time.Second
	strayGuardNumbered = 50 * time.Millisecond
	reviveEach         = time.Second
)

// wire carries sequences of frames over the line, one at a time.
type wire struct {
	name    string
	line    *line.Line
	gw      gateway
	timeout time.Duration // for the gateway to confirm a frame
	window  time.Duration // for an answer after the confirmation, if silence must be waited for
	// heardGroups are those that other masters use.
	heardGroups *groupSet

	turn chan struct{} // held by the sequence under way; guards what follows
	// ready is when the port was opened at whose other end the gateway has its settings; zero: it
	// has none.
	ready time.Time
	mute  int
	stray bool
	// collided: the last frame did, and nobody waited after it.
	collided   bool
	conflictAt time.Time // of the last one
	// collisions of all frames so far.
	collisions atomic.Uint64
	// sick is why the gateway cannot be used; nil: it can.
	sick atomic.Pointer[error]
}

// setter is a gateway that wants settings before it can be used.
type setter interface {
	setup() []byte
	hello() []byte
}

// transmit sends a sequence that nothing else may come between, and returns the
// answer to each frame. sent is when the last frame that went out was confirmed;
// it is zero if none did. After a collision the whole sequence is sent again.
func (w *wire) transmit(ctx context.Context, y appliance.Yield, seq ...Send) (answers []Answer, sent time.Time, err error) {
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return nil, sent, fmt.Errorf("%w: bus %s was taken until the deadline", appliance.ErrExpired, w.name)
	}
	select {
	case <-y.Begin:
		return nil, sent, fmt.Errorf("%w on bus %s before anything was sent", appliance.ErrPreempted, w.name)
	default:
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < w.shortest(seq) {
		return nil, sent, w.why(fmt.Errorf("%w: %d frames cannot be out on bus %s before the deadline", appliance.ErrExpired, len(seq), w.name))
	}
	if err := w.prepare(ctx); err != nil {
		return nil, sent, err
	}
	for try := 1; ; try++ {
		answers, at, err := w.run(ctx, y.Begin, seq)
		if !at.IsZero() {
			sent = at
		}
		if !errors.Is(err, errConflict) {
			return answers, sent, w.why(err)
		}
		w.conflictAt = time.Now()
		w.collisions.Add(1)
		if try == conflictTries {
			return nil, sent, fmt.Errorf("%w on bus %s: %w, %d times in a row", appliance.ErrDamaged, w.name, err, try)
		}
		if err := w.afterConflict(ctx, y); err != nil {
			return nil, sent, err
		}
	}
}

// why adds to the error of a sequence that came too late what kept it.
func (w *wire) why(err error) error {
	if errors.Is(err, appliance.ErrExpired) && time.Since(w.conflictAt) < conflictMemory {
		return fmt.Errorf("%w, since what was sent before collided: %v", err, errConflict)
	}
	return err
}

// afterConflict waits before a sequence that collided is sent again. Whoever is more
// urgent goes first, as soon as the gateway can have nothing more to say of the frame
// that collided.
func (w *wire) afterConflict(ctx context.Context, y appliance.Yield) error {
	t := time.NewTimer(conflictPause)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-y.Begin:
		w.collided = true
		return fmt.Errorf("%w on bus %s after a collision", appliance.ErrPreempted, w.name)
	case <-ctx.Done():
		return fmt.Errorf("%w on bus %s: %w, and the bus is ended", appliance.ErrDamaged, w.name, errConflict)
	}
}

// run sends the frames of a sequence. Only the first may give way.
func (w *wire) run(ctx context.Context, begin <-chan struct{}, seq []Send) (answers []Answer, sent time.Time, err error) {
	for _, s := range seq {
		a, at, err := w.one(ctx, begin, s)
		begin = nil // what was begun is finished
		if !at.IsZero() {
			sent = at
		}
		if err != nil {
			return nil, sent, err
		}
		answers = append(answers, a)
	}
	return answers, sent, nil
}

// one sends a frame and waits for the gateway to say what became of it.
func (w *wire) one(ctx context.Context, begin <-chan struct{}, s Send) (Answer, time.Time, error) {
	h := &listening{hearing: hearing{gw: w.gw, send: s, groups: w.heardGroups}, window: w.window, closed: make(chan struct{})}
	h.onSent = h.startWindow
	defer h.stop()
	stray, collided := w.stray, w.collided
	reply, err := w.line.Exchange(ctx, line.Request{
		Frame: w.gw.encode(s), Scan: h.scan, Timeout: w.timeout, Guard: w.guard(), Yield: appliance.Yield{Begin: begin, Answer: h.closed}, Actuates: s.Level || s.Twice,
	})
	if err != nil && reply.Sent.IsZero() {
		w.stray, w.collided = stray, collided // the silence that was due has not been kept
	}
	switch {
	case err == nil && h.err == nil:
		w.heard()
		return h.answer, h.at, nil
	case err == nil:
		w.heard()
		return Answer{}, h.at, w.trouble(h.err)
	case h.out() && (errors.Is(err, appliance.ErrPreempted) || errors.Is(err, appliance.ErrSilent)):
		w.heard()
		if !h.until.IsZero() {
			err = w.line.Overslept(h.until, appliance.ErrSilent)
		}
		if errors.Is(err, appliance.ErrOverslept) {
			return Answer{}, h.at, err // it may have answered
		}
		return Answer{}, h.at, nil
	case errors.Is(err, appliance.ErrOverslept):
		w.stray = true // it may have answered
	case errors.Is(err, appliance.ErrSilent) && h.junk > 0:
		w.stray = true
		return Answer{}, reply.Sent, fmt.Errorf("%w on bus %s: the gateway sent %d bytes that are no message: check gateway type, baud rate and the serial cable", appliance.ErrDamaged, w.name, h.junk)
	case errors.Is(err, appliance.ErrSilent):
		return Answer{}, reply.Sent, w.muted(err)
	case errors.Is(err, appliance.ErrBusDown): // nothing is to come
	case !reply.Sent.IsZero():
		w.stray = true
	}
	return Answer{}, reply.Sent, err
}

// listening is a hearing with a window for the answer.
type listening struct {
	hearing
	window time.Duration
	closed chan struct{} // when the window is over
	until  time.Time     // when that should be
	timer  *time.Timer
	at     time.Time // of the last confirmation
	junk   int
}

func (l *listening) scan(b []byte) (int, line.Verdict) {
	before := l.sent
	n, v := l.hearing.scan(b)
	if l.sent > before {
		l.at = time.Now()
	}
	if v == line.Skip && n > 0 {
		if m, _ := l.gw.parse(b); m.said == saidJunk {
			l.junk += n
		}
	}
	return n, v
}

func (l *listening) startWindow() {
	if l.timer == nil {
		l.until = time.Now().Add(l.window)
		l.timer = time.AfterFunc(l.window, func() { close(l.closed) })
	}
}

func (l *listening) stop() {
	if l.timer != nil {
		l.timer.Stop()
	}
}

func (w *wire) guard() time.Duration {
	stray, collided := w.stray, w.collided
	w.stray, w.collided = false, false
	switch {
	case stray && w.gw.traits().has(ordered):
		return strayGuardNumbered
	case stray:
		return strayGuard
	case collided:
		return conflictGuard
	}
	return 0
}

// heard notes that the gateway lives.
func (w *wire) heard() {
	w.mute = 0
	w.sick.Store(nil)
}

// muted notes that the gateway said nothing.
func (w *wire) muted(err error) error {
	w.mute++
	w.stray, w.ready = true, time.Time{}
	err = fmt.Errorf("%w: the gateway does not confirm frames: check its power, its type in the bus options, the DALI supply, and that nobody on the line talks without a pause", err)
	if w.mute >= muteLimit {
		w.sick.Store(&err)
	}
	return err
}

// trouble is the error for what a gateway complained of.
func (w *wire) trouble(err error) error {
	if errors.Is(err, errConflict) {
		return err
	}
	return fmt.Errorf("%w on bus %s: %w", appliance.ErrDamaged, w.name, err)
}

// prepare gives the gateway its settings, once, and again after it was unplugged or fell silent.
func (w *wire) prepare(ctx context.Context) error {
	s, ok := w.gw.(setter)
	if !ok || !w.ready.IsZero() && w.ready.Equal(w.line.Opened()) {
		return nil
	}
	if err := w.converse(ctx, s.setup(), saidSettings); err != nil {
		return fmt.Errorf("set up the gateway: %w", err)
	}
	w.ready = w.line.Opened()
	return nil
}

// converse sends something that is for the gateway alone, and waits for a message
// of the given kind.
func (w *wire) converse(ctx context.Context, frame []byte, want said) error {
	scan := func(b []byte) (int, line.Verdict) {
		m, n := w.gw.parse(b)
		switch {
		case n == 0:
			return 0, line.More
		case m.said == want:
			return n, line.Accept
		}
		return n, line.Skip
	}
	stray, collided := w.stray, w.collided
	reply, err := w.line.Exchange(ctx, line.Request{Frame: frame, Scan: scan, Timeout: w.timeout, Guard: w.guard()})
	if err != nil && reply.Sent.IsZero() {
		w.stray, w.collided = stray, collided // the silence that was due has not been kept
	}
	switch {
	case err == nil:
		w.heard()
	case errors.Is(err, appliance.ErrOverslept):
		w.stray = true // it may have answered
	case errors.Is(err, appliance.ErrSilent):
		err = w.muted(err)
	}
	return err
}

// revive tries once a second whether a gateway that fell silent is back, until
// ctx ends.
func (w *wire) revive(ctx context.Context) {
	for line.Wait(ctx, reviveEach) == nil {
		if w.sick.Load() == nil || w.line.Link() != nil {
			continue
		}
		select {
		case w.turn <- struct{}{}:
		case <-ctx.Done():
			return
		}
		// Who still does not answer has said why; the bus shows it.
		if s, ok := w.gw.(setter); ok {
			_ = w.converse(ctx, s.hello(), saidInfo)
		} else {
			_, _, _ = w.one(ctx, nil, Command(Broadcast, OpQueryPresent))
		}
		<-w.turn
	}
}

// link is why the bus cannot be used, or nil.
func (w *wire) link() error {
	if err := w.line.Link(); err != nil {
		return err
	}
	if err := w.sick.Load(); err != nil {
		return *err
	}
	return nil
}

// airtime is how long a sequence takes when the gear answers, with the serial port
// on either side.
func (w *wire) airtime(seq ...Send) time.Duration {
	var t time.Duration
	for _, s := range seq {
		t += w.line.Airtime(len(w.gw.encode(s))) + settleGap + forwardTime
		if s.Twice {
			t += twiceGap + forwardTime
		}
		switch {
		case s.Asks:
			t += answerGap + backwardTime
		case w.gw.traits().has(explicit):
			t += noAnswerTime // the gateway says "nobody" only then
		}
		t += w.line.Airtime(10)
	}
	return t
}

// worst is the same when nobody answers.
func (w *wire) worst(seq ...Send) time.Duration {
	t := w.airtime(seq...)
	for _, s := range seq {
		if s.Asks {
			t += max(w.window, noAnswerTime) - answerGap - backwardTime
		}
	}
	return t
}

// shortest is the time without which the last frame of a sequence cannot be out.
func (w *wire) shortest(seq []Send) time.Duration {
	t := time.Duration(len(seq)) * forwardTime
	if len(seq) > 1 {
		t += time.Duration(len(seq)-1) * twiceGap
	}
	return t
}
