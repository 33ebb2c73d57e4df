package dalisim

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// Serve plays the gateway at its serial port until ctx ends or the port fails;
// rw is the devices' end of a pseudo-terminal. If it takes deadlines, the end of
// ctx ends a pending read. The state of the gear outlives Serve.
func (l *Line) Serve(ctx context.Context, rw io.ReadWriter) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &session{line: l, rw: rw, orders: make(chan order, 64)}
	if d, ok := rw.(interface{ SetReadDeadline(time.Time) error }); ok {
		// A deadline left by an earlier session would end this one at once.
		if err := d.SetReadDeadline(time.Time{}); err != nil {
			return err
		}
		defer context.AfterFunc(ctx, func() { d.SetReadDeadline(time.Now()) })()
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		defer cancel()
		s.readErr = s.read(ctx)
	})
	s.work(ctx)
	wg.Wait()
	if errors.Is(s.readErr, io.EOF) || ctx.Err() != nil && s.writeErr == nil {
		return nil
	}
	return errors.Join(s.readErr, s.writeErr)
}

// session is the gateway at one port.
type session struct {
	line   *Line
	rw     io.ReadWriter
	orders chan order

	readErr  error // of the reader, until it has ended
	mu       sync.Mutex
	writeErr error
}

// read takes orders off the port. Bytes come at once on a pseudo-terminal; they
// are taken to need the time they need on a wire.
func (s *session) read(ctx context.Context) error {
	var heard []byte
	var buf [512]byte
	for ctx.Err() == nil {
		n, err := s.rw.Read(buf[:])
		if err != nil {
			return err
		}
		s.line.clock.sleep(ctx, s.line.clock.now()+s.line.serial(n))
		heard = append(heard, buf[:n]...)
		for len(heard) > 0 {
			o, used, ok := s.line.model.take(heard)
			if used == 0 {
				break
			}
			heard = heard[used:]
			s.take(o, ok)
		}
		if len(heard) > 4096 {
			heard = nil
		}
	}
	return nil
}

func (s *session) take(o order, ok bool) {
	l := s.line
	if !ok {
		l.mu.Lock()
		l.counts.Nonsense++
		l.mu.Unlock()
		return
	}
	if l.gatewayFault(FaultMute) != nil {
		return
	}
	if o.kind == orderReply {
		s.say(o.reply)
		return
	}
	select {
	case s.orders <- o:
	default: // its queue is full
	}
}

// work carries out orders one after the other.
func (s *session) work(ctx context.Context) {
	for {
		if o, ok := s.line.takeForeign(); ok {
			s.transmit(ctx, o)
			continue
		}
		if s.babbled(ctx) {
			continue
		}
		var burst <-chan time.Time
		if d, ok := s.line.untilBurst(); ok {
			burst = time.After(d)
		}
		select {
		case <-ctx.Done():
			return
		case <-burst:
		case <-s.line.poke:
		case o := <-s.orders:
			s.transmit(ctx, o)
		}
	}
}

// serial is how long n bytes take on the port, ten bits each.
func (l *Line) serial(n int) time.Duration {
	return time.Duration(n) * 10 * time.Second / time.Duration(l.cfg.BaudRate)
}

// transmit puts a frame on the line, once or twice.
func (s *session) transmit(ctx context.Context, o order) {
	l := s.line
	l.mu.Lock()
	l.nextID++
	id := l.nextID
	low, high := l.model.gap(o)
	begin := max(l.clock.now(), l.busyTill+l.between(low, high))
	l.mu.Unlock()
	if o.kind != orderForeign {
		if no := l.model.refused(); no != nil && l.gatewayFault(FaultRefuse) != nil {
			s.say(no)
			return
		}
		s.say(l.model.accepted(id))
	}
	if f := l.gatewayFault(FaultSlow); f != nil {
		begin = max(begin, l.clock.now()+moment(f.DelayMs)*moment(time.Millisecond))
	}
	begin, collided := s.findGap(ctx, o, begin)
	if collided {
		return
	}
	if o.kind != orderForeign && l.gatewayFault(FaultConflict) != nil {
		s.conflict(ctx, begin+forward)
		return
	}
	over := s.once(ctx, o, id, begin)
	if o.twice {
		l.mu.Lock()
		begin = over + l.between(13500*time.Microsecond, 14700*time.Microsecond)
		l.mu.Unlock()
		s.once(ctx, o, id, begin)
	}
}

// conflict tells of a frame that was in another one's way until a moment.
func (s *session) conflict(ctx context.Context, until moment) {
	l := s.line
	l.mu.Lock()
	l.counts.Conflicts++
	l.busyTill = until
	l.mu.Unlock()
	l.clock.sleep(ctx, until)
	s.say(l.model.outcome(resultConflict, 0, until))
}

// once puts one forward frame on the line at begin, and tells what came of it. It
// returns when the line was free again.
func (s *session) once(ctx context.Context, o order, id byte, begin moment) moment {
	l := s.line
	end := begin + forward
	l.clock.sleep(ctx, end)
	r, value, at, late := l.hear(o.frame, end, o.kind == orderForeign)
	free := end
	if r != resultNone {
		free = at
	}
	if o.kind != orderForeign {
		if over, hit := l.burstIn(end, at); hit {
			r, at, free = resultGarbled, max(at, over), max(free, over)
		}
	}
	l.mu.Lock()
	l.busyTill = free
	l.mu.Unlock()
	if o.kind == orderForeign {
		if told := l.model.heard(o.frame, end); told != nil {
			s.say(told)
			if r != resultNone { // the gateway tells of all it hears
				l.clock.sleep(ctx, at)
				s.say(l.model.outcome(r, value, at))
			}
		}
		return free
	}
	s.say(l.model.sent(id, o.frame, end))
	if late { // nobody counts it as an answer any more
		at, r = end+answerWindow, resultNone
	}
	if l.model.outcome(r, value, at) != nil {
		l.clock.sleep(ctx, at)
		s.say(l.model.outcome(r, value, at))
	}
	return free
}

// say writes to the port what has been on the serial wire by then.
func (s *session) say(b []byte) {
	if len(b) == 0 {
		return
	}
	l := s.line
	l.clock.sleep(context.Background(), l.clock.now()+l.serial(len(b)))
	if l.gatewayFault(FaultDamage) != nil {
		b = append([]byte(nil), b...)
		l.mu.Lock()
		b[l.rng.IntN(len(b))] ^= 1 << l.rng.IntN(8)
		l.mu.Unlock()
	}
	if l.gatewayFault(FaultNoise) != nil {
		b = append([]byte{0x00, 0xA5}, b...)
	}
	if l.gatewayFault(FaultDuplicate) != nil {
		b = append(append([]byte(nil), b...), b...)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.rw.Write(b); err != nil && s.writeErr == nil {
		s.writeErr = err
	}
}
