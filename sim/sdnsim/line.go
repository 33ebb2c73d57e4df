package sdnsim

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// line is what is on the wire at a moment.
type line struct {
	heard   []byte    // of the client, not taken apart yet
	heardBy time.Time // when the last of it is over
	queue   []*sending
	current *sending
	last    time.Time // end of the last character, anybody's
}

// sending is somebody's frame on its way to the client.
type sending struct {
	bytes   []byte
	begin   time.Time
	done    int     // characters delivered
	foreign bool    // by a master: the motors hear it, too
	again   int     // by a master: how often it may say it again if it collides
	own     bool    // the adapter's echo of what the client sends
	message Message // of a master
	babble  bool    // by a device that does not listen
}

// masterWaits is the silence that a second master waits for (integration guide 2019:
// at least 10 ms before a request).
const masterWaits = 10 * time.Millisecond

// burst is how many characters an adapter hands over at once; the first comes
// alone.
const burst = 8

// partialGap is the silence after which half a frame is forgotten.
const partialGap = 20 * time.Millisecond

// clearWire forgets what was on the wire, and what was to be by now.
func (b *Bus) clearWire() {
	b.mu.Lock()
	defer b.mu.Unlock()
	passed := time.Now().Add(-partialGap)
	b.wire = line{queue: slices.DeleteFunc(b.wire.queue, func(s *sending) bool { return s.begin.Before(passed) })}
}

// queueMost bounds what waits to be said, as by a second master while nobody serves
// the bus.
const queueMost = 64

func (l *line) enqueue(s *sending) {
	if len(l.queue) == queueMost {
		return
	}
	i := len(l.queue)
	for i > 0 && l.queue[i-1].begin.After(s.begin) {
		i--
	}
	l.queue = append(l.queue[:i], append([]*sending{s}, l.queue[i:]...)...)
}

type chunk struct {
	bytes []byte
	at    time.Time
}

// Serve plays the bus on a port until ctx ends or the port is closed. What is read
// from rw is what the client sends. rw should have SetReadDeadline, so that ctx can
// end a read.
//
// It begins with an empty wire: what was under way when an adapter was pulled is
// over when it is back.
func (b *Bus) Serve(ctx context.Context, rw io.ReadWriter) error {
	b.clearWire()
	chunks := make(chan chunk, 64)
	failed := make(chan error, 1)
	ended := make(chan struct{})
	go b.listen(rw, chunks, failed, ended)
	defer func() {
		close(ended)
		if d, ok := rw.(interface{ SetReadDeadline(time.Time) error }); ok {
			d.SetReadDeadline(time.Unix(1, 0))
			for err := range failed { // the reader has gone
				_ = err
			}
			d.SetReadDeadline(time.Time{})
		}
	}()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		next := b.next()
		if !next.IsZero() {
			wait := time.Until(next)
			switch {
			case b.virtual: // a timer comes when it is due
			case wait < sharp:
				sleepUntil(next)
				wait = 0
			default:
				wait -= sharp / 2
			}
			timer.Reset(max(0, wait))
		} else {
			timer.Stop()
		}
		select {
		case <-ctx.Done():
			return nil
		case err, ok := <-failed:
			if !ok || errors.Is(err, os.ErrClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) {
				return nil
			}
			return err
		case c := <-chunks:
			b.hear(c)
		case <-b.poke:
		case <-timer.C:
		}
		if err := b.turn(time.Now(), rw); err != nil {
			return err
		}
	}
}

// listen reads from the client.
func (b *Bus) listen(r io.Reader, chunks chan<- chunk, failed chan<- error, ended <-chan struct{}) {
	defer close(failed)
	buf := make([]byte, 1024)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			select {
			case chunks <- chunk{append([]byte(nil), buf[:n]...), time.Now()}:
			case <-ended:
				return
			}
		}
		if err != nil {
			select {
			case <-ended:
			default:
				failed <- err
			}
			return
		}
	}
}

// sharp is the last stretch of a wait, slept in the kernel: Go's timers count whole
// milliseconds.
const sharp = 3 * time.Millisecond

func sleepUntil(t time.Time) {
	var now unix.Timespec
	d := time.Until(t)
	if d <= 0 || unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return
	}
	until := unix.NsecToTimespec(now.Nano() + int64(d))
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &until, nil) == unix.EINTR {
	}
}

// next is when something is due; zero: not before somebody speaks.
func (b *Bus) next() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	var t time.Time
	sooner := func(c time.Time) {
		if t.IsZero() || c.Before(t) {
			t = c
		}
	}
	l := &b.wire
	now := time.Now()
	if len(l.heard) > 0 {
		if l.heardBy.After(now) {
			sooner(l.heardBy)
		} else {
			sooner(l.heardBy.Add(partialGap))
		}
	}
	if l.current != nil {
		sooner(l.current.begin.Add(time.Duration(l.current.upTo()) * b.char))
	}
	if len(l.queue) > 0 {
		sooner(l.queue[0].begin)
	}
	if b.babbleUntil.After(now) && l.current == nil && len(l.queue) == 0 {
		sooner(now)
	}
	if b.babbler != nil {
		sooner(b.babbler.next)
	}
	return t
}

func (s *sending) upTo() int {
	if s.done == 0 {
		return 1
	}
	return min(len(s.bytes), s.done+burst)
}

// hear takes what the client wrote. Written at once, it goes over the wire one
// character after another from then.
func (b *Bus) hear(c chunk) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := &b.wire
	lasts := time.Duration(len(c.bytes)) * b.char
	b.counts.BytesIn += uint64(len(c.bytes))
	b.counts.Busy += lasts
	if len(l.heard) == 0 && !l.last.IsZero() && c.at.Before(l.last.Add(b.quiet)) {
		b.counts.ShortQuiet++
	}
	if l.heardBy.Before(c.at) {
		l.heardBy = c.at
	}
	l.heardBy = l.heardBy.Add(lasts)
	l.last = latest(l.last, l.heardBy)
	bytes := c.bytes
	if b.echo {
		l.enqueue(&sending{bytes: append([]byte(nil), bytes...), begin: c.at, own: true})
		b.poking()
	} else if l.current != nil || b.babbleUntil.After(c.at) {
		bytes = append([]byte(nil), bytes...)
		b.collide(bytes)
	}
	if len(l.heard) < 4096 {
		l.heard = append(l.heard, bytes...)
	}
}

// collide spoils bytes that the client sends, and those that it hears.
func (b *Bus) collide(bytes []byte) {
	b.counts.Collisions++
	b.spoil(bytes)
	if b.wire.current != nil {
		b.spoil(b.wire.current.bytes[b.wire.current.done:])
	}
}

func (b *Bus) spoil(bytes []byte) {
	for i := range bytes {
		bytes[i] ^= byte(1 + b.rng.IntN(255))
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// turn does what is due.
func (b *Bus) turn(now time.Time, w io.Writer) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := &b.wire
	if len(l.heard) > 0 && !now.Before(l.heardBy) {
		b.takeApart(now)
	}
	if b.babbleUntil.After(now) && l.current == nil && len(l.queue) == 0 {
		noise := make([]byte, burst)
		b.spoil(noise)
		l.enqueue(&sending{bytes: noise, begin: now})
	}
	b.babbleOn(now)
	for len(l.queue) > 0 && !now.Before(l.queue[0].begin) {
		if b.defers() {
			continue
		}
		b.begin()
	}
	for l.current != nil {
		n := l.current.upTo()
		end := l.current.begin.Add(time.Duration(n) * b.char)
		if now.Before(end) {
			return nil
		}
		if err := b.deliver(n, end, w); err != nil {
			return err
		}
	}
	return nil
}

// defers puts off the first of the queue if it is a second master's and the line is
// taken: by somebody who talks, by an answer that is due, or since its silence has not
// been long enough.
func (b *Bus) defers() bool {
	l := &b.wire
	s := l.queue[0]
	if !s.foreign {
		return false
	}
	free := l.last
	for _, other := range l.queue[1:] {
		if !other.foreign && !other.babble {
			free = latest(free, other.begin.Add(time.Duration(len(other.bytes))*b.char))
		}
	}
	if free = free.Add(masterWaits); !s.begin.Before(free) {
		return false
	}
	l.queue = l.queue[1:]
	s.begin = free
	l.enqueue(s)
	return true
}

// takeApart finds the frames in what the client sent.
func (b *Bus) takeApart(now time.Time) {
	l := &b.wire
	for len(l.heard) > 0 {
		f, used, junk, ok := take(l.heard)
		b.counts.Garbled += uint64(junk)
		l.heard = l.heard[:copy(l.heard, l.heard[used:])]
		if !ok {
			break
		}
		b.receive(l.heardBy, f, false)
	}
	if len(l.heard) > 0 && !now.Before(l.heardBy.Add(partialGap)) {
		b.counts.Garbled += uint64(len(l.heard))
		l.heard = l.heard[:0]
	}
}

// begin puts the first of the queue on the wire. If somebody is talking already,
// both are spoilt.
func (b *Bus) begin() {
	l := &b.wire
	s := l.queue[0]
	l.queue = l.queue[1:]
	if s.babble {
		b.note(Heard{At: s.begin.Add(time.Duration(len(s.bytes)) * b.char), Babble: slices.Clone(s.bytes)})
	}
	if left := l.heardBy.Sub(s.begin); left > 0 && !s.own { // into what the client is sending
		b.counts.Collisions++
		b.spoil(l.heard[max(0, len(l.heard)-1-int(left/b.char)):])
		b.sayAgain(s)
		b.spoil(s.bytes)
	}
	b.counts.Busy += time.Duration(len(s.bytes)) * b.char
	l.last = latest(l.last, s.begin.Add(time.Duration(len(s.bytes))*b.char))
	if l.current == nil {
		l.current = s
		return
	}
	b.counts.Collisions++
	c := l.current
	b.sayAgain(c)
	b.sayAgain(s)
	b.spoil(c.bytes[c.done:])
	ends := int(s.begin.Sub(c.begin)/b.char) + len(s.bytes)
	for len(c.bytes) < ends {
		c.bytes = append(c.bytes, byte(b.rng.Uint32()))
	}
}

// sayAgain lets a master that hears its frame collide repeat it a little later.
func (b *Bus) sayAgain(s *sending) {
	if s.foreign && s.again > 0 {
		pause := masterWaits + time.Duration(b.rng.Int64N(int64(5*masterWaits)))
		b.wire.enqueue(&sending{bytes: s.message.Pack(), begin: time.Now().Add(pause), foreign: true, again: s.again - 1, message: s.message})
	}
	s.foreign = false
}

// deliver hands over the characters up to n.
func (b *Bus) deliver(n int, end time.Time, w io.Writer) error {
	l := &b.wire
	c := l.current
	b.counts.BytesOut += uint64(n - c.done)
	if _, err := w.Write(c.bytes[c.done:n]); err != nil && !errors.Is(err, unix.EAGAIN) {
		return err
	}
	c.done = n
	if n < len(c.bytes) {
		return nil
	}
	l.current = nil
	if f, ok := unpack(c.bytes); c.foreign && ok {
		b.receive(end, f, true)
	}
	return nil
}

func (b *Bus) poking() {
	select {
	case b.poke <- struct{}{}:
	default:
	}
}
