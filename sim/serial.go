package sim

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"svc.internal/controller/drivers/line/pty"
)

// burst is how many characters an adapter collects before it hands them over;
// the first character of an answer comes alone, so that a client sees when it
// begins.
const burst = 16

// runSerial plays a line on a pseudo-terminal until ctx ends. ready is called
// once the link at the site's path is there.
func (b *bus) runSerial(ctx context.Context, ready func()) error {
	spare, err := pty.Open()
	if err != nil {
		return fmt.Errorf("bus %s: %w", b.name, err)
	}
	defer func() { spare.Close() }()
	for ctx.Err() == nil {
		port := spare
		if err := port.Link(b.port); err != nil {
			return fmt.Errorf("bus %s: %w", b.name, err)
		}
		b.setUp(b.port)
		ready()
		if b.player != nil {
			err = b.playThrough(ctx, port.Master())
		} else {
			err = b.play(ctx, port)
		}
		os.Remove(b.port)
		// The next pair is made before this one goes, so that it has another name,
		// as a re-plugged adapter may have.
		fresh, oerr := pty.Open()
		port.Close()
		b.setUp("")
		if oerr != nil {
			return fmt.Errorf("bus %s: %w", b.name, oerr)
		}
		spare = fresh
		if err != nil {
			return fmt.Errorf("bus %s: %w", b.name, err)
		}
		b.waitPlugged(ctx)
	}
	return nil
}

// play runs the line in a thread of its own until ctx ends or it is unplugged.
func (b *bus) play(ctx context.Context, port *pty.Pty) error {
	waker, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return fmt.Errorf("event descriptor: %w", err)
	}
	raw, err := port.Master().SyscallConn()
	if err != nil {
		unix.Close(waker)
		return err
	}
	ended := make(chan struct{})
	watched := make(chan struct{})
	cuts := b.cutCount()
	over := func() bool { return ctx.Err() != nil || b.isPulled() || b.cutCount() != cuts }
	go func() { // turns a nudge into an event the line's thread can wait for
		defer close(watched)
		for done := ctx.Done(); ; {
			select {
			case <-done:
				done = nil
			case <-ended:
				return
			case <-b.wake:
			}
			unix.Write(waker, []byte{1, 0, 0, 0, 0, 0, 0, 0})
		}
	}()
	result := make(chan error, 1)
	go func() {
		// Not unlocked: the thread, with its timer slack, ends with the line.
		runtime.LockOSThread()
		unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
		var perr error
		err := raw.Control(func(fd uintptr) {
			w := &wire{bus: b, end: &ptyEnd{fd: int(fd), waker: waker}, over: over}
			perr = w.run()
		})
		if err == nil {
			err = perr
		}
		result <- err
	}()
	err = <-result
	close(ended)
	<-watched
	unix.Close(waker)
	return err
}

// wire is the state of a line: what is being heard and what is being said.
type wire struct {
	bus      *bus
	end      wireEnd
	over     func() bool // ends the line, after a nudge
	babbleAt time.Time   // when somebody talks without being asked; zero: nobody does

	heard   []byte    // request so far
	heardBy time.Time // when its last character is over
	spoilt  bool      // something was sent while it was heard

	queue   []sending // answers that wait for their time, earliest first
	current *sending
	last    time.Time // end of the last character on the wire, anybody's
}

// sending is an answer on its way.
type sending struct {
	bytes []byte
	begin time.Time // first bit
	done  int       // characters delivered
}

func (w *wire) run() error {
	for {
		w.plansBabble(time.Now())
		readable, woken, err := w.end.wait(w.next())
		if err != nil {
			return err
		}
		if woken && w.over() {
			return nil
		}
		if readable {
			if err := w.hear(time.Now()); err != nil {
				return err
			}
		}
		now := time.Now()
		if len(w.heard) > 0 && !now.Before(w.heardBy.Add(w.bus.line.silence)) {
			w.request()
		}
		if !w.babbleAt.IsZero() && !now.Before(w.babbleAt) {
			w.babble(now)
		}
		if w.current == nil && len(w.queue) > 0 && !now.Before(w.queue[0].begin) {
			w.begin()
		}
		if w.current != nil {
			if err := w.deliver(time.Now()); err != nil {
				return err
			}
		}
	}
}

// next is when something is due; zero: not before somebody speaks.
func (w *wire) next() time.Time {
	var t time.Time
	sooner := func(c time.Time) {
		if t.IsZero() || c.Before(t) {
			t = c
		}
	}
	if len(w.heard) > 0 {
		sooner(w.heardBy.Add(w.bus.line.silence))
	}
	if !w.babbleAt.IsZero() {
		sooner(w.babbleAt)
	}
	if w.current != nil {
		sooner(w.current.begin.Add(w.bus.line.airtime(w.current.upTo())))
	} else if len(w.queue) > 0 {
		sooner(w.queue[0].begin)
	}
	return t
}

// upTo is how many characters will be there after the next delivery.
func (s *sending) upTo() int {
	if s.done == 0 {
		return 1
	}
	return min(len(s.bytes), s.done+burst)
}

// hear takes what a client wrote. Characters written at once go over the line one
// after another from now.
func (w *wire) hear(now time.Time) error {
	var buf [1024]byte
	n, err := w.end.read(buf[:])
	if err != nil {
		return fmt.Errorf("read from the line: %w", err)
	}
	if n == 0 {
		return nil
	}
	b := w.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts.bytesIn += uint64(n)
	b.counts.busy += b.line.airtime(n)
	if len(w.heard) == 0 {
		w.spoilt = false
		w.heardBy = now
		if !w.last.IsZero() && now.Before(w.last.Add(b.line.silence)) {
			b.counts.silenceViolations++
		}
	} else if _, _, err := parseRTU(w.heard); err == nil {
		b.counts.silenceViolations++ // a whole request is still on the wire, and this is the next
	}
	if w.current != nil {
		w.collide(now)
	}
	if len(w.heard)+n <= 2*maxRTUFrame { // more is no frame anyway
		w.heard = append(w.heard, buf[:n]...)
	}
	if w.heardBy.Before(now) {
		w.heardBy = now
	}
	w.heardBy = w.heardBy.Add(b.line.airtime(n))
	w.last = later(w.last, w.heardBy)
	return nil
}

// collide garbles what both sides are sending.
func (w *wire) collide(now time.Time) {
	b := w.bus
	b.counts.collisions++
	b.log(now, Event, nil, "collision: request while an answer is on the wire", nil)
	w.spoilt = true
	for i := w.current.done; i < len(w.current.bytes); i++ {
		w.current.bytes[i] ^= byte(1 + b.rng.IntN(255))
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// request takes what was heard before the silence as one frame.
func (w *wire) request() {
	b := w.bus
	at := w.heardBy.Add(b.line.silence)
	raw := w.heard
	w.heard = nil
	unit, pdu, err := parseRTU(raw)
	if err == nil && w.spoilt {
		err = fmt.Errorf("collided with an answer")
	}
	if err == nil && !w.understands(unit) {
		err = fmt.Errorf("sent at other line settings than unit %d has", unit)
	}
	if err != nil {
		b.mu.Lock()
		b.counts.garbled++
		b.log(at, Discarded, raw, err.Error(), nil)
		b.mu.Unlock()
		return
	}
	rep := b.handle(at, raw, unit, pdu, rtuFrame)
	if rep.bytes == nil {
		return
	}
	s := sending{bytes: rep.bytes, begin: at.Add(rep.delay)}
	i := len(w.queue)
	for i > 0 && w.queue[i-1].begin.After(s.begin) {
		i--
	}
	w.queue = append(w.queue[:i], append([]sending{s}, w.queue[i:]...)...)
}

// begin starts the first answer of the queue. Its schedule counts from when it
// was due, unless another answer was in the way.
func (w *wire) begin() {
	s := w.queue[0]
	w.queue = w.queue[1:]
	b := w.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	if w.last.After(s.begin) { // the wire was taken: a late answer
		s.begin = time.Now()
	}
	w.current = &s
	if len(w.heard) > 0 {
		w.collide(time.Now())
	}
	b.counts.busy += b.line.airtime(len(s.bytes))
	w.last = later(w.last, s.begin.Add(b.line.airtime(len(s.bytes))))
}

// deliver hands over the characters whose time has come.
func (w *wire) deliver(now time.Time) error {
	b, s := w.bus, w.current
	n := s.upTo()
	if now.Before(s.begin.Add(b.line.airtime(n))) {
		return nil
	}
	if err := w.end.write(s.bytes[s.done:n]); err != nil {
		return fmt.Errorf("write to the line: %w", err)
	}
	s.done = n
	if n < len(s.bytes) {
		return nil
	}
	end := s.begin.Add(b.line.airtime(n))
	w.current = nil
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts.bytesOut += uint64(n)
	b.log(end, Answer, s.bytes, "", nil)
	return nil
}
