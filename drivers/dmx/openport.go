package dmx

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
)

// openPort is an Enttec Open DMX USB or any RS-485 adapter: a line driver without
// a processor. The universe is sent again and again by one goroutine of run, with
// a break that the serial port makes. Nobody answers; all that is known is that
// the port takes the bytes.
type openPort struct {
	where   string // "bus name (port)", for errors
	path    string
	ports   *line.Ports // nil: this machine's
	log     *slog.Logger
	options busOptions
	present func() (slots []byte, active bool)
	record  line.Recorder // every change, and one packet a second of those between
	wake    chan struct{} // something is to be sent

	mu     sync.Mutex
	why    error     // why the port is not open; nil: it is
	shown  []byte    // what was sent last and is repeated; nil: nothing yet
	sentAt time.Time // when
	given  time.Time // when the port was given the packet under way; zero: none is
	want   *showing  // waits for the next packet
}

// packetPort is an open port as packets need it.
type packetPort interface {
	Break(t time.Duration) error
	Write(b []byte, deadline time.Time) (int, error)
	Unsent() int
	Abort()
}

// showing is a change on its way into a packet.
type showing struct {
	slots []byte
	until time.Time     // the packet that carries it has to begin by then; zero: no matter when
	done  chan struct{} // closed when it is over; then:
	sent  time.Time
	err   error
}

const (
	reopenEvery = 500 * time.Millisecond
	slotTime    = 44 * time.Microsecond // 11 bits at 250000 baud
	// adapterLag is how much later than written the last slot leaves a USB adapter.
	adapterLag  = 2 * time.Millisecond
	takeLimit   = 500 * time.Millisecond // a port that takes no bytes this long is lost
	repeatLimit = time.Second            // DMX: fixtures may drop out after this
)

func newOpenPort(d *Driver, bus appliance.Bus, ports *line.Ports, log *slog.Logger) (*openPort, error) {
	if err := line.CheckPort(bus.Port); err != nil {
		return nil, err
	}
	return &openPort{
		where: fmt.Sprintf("bus %s (%s)", bus.Name, bus.Port), path: bus.Port, ports: ports, options: d.options, present: d.present,
		log: log.With("port", bus.Port), wake: make(chan struct{}, 1), why: appliance.ErrOpening,
	}, nil
}

func (p *openPort) recent() []appliance.Frame { return p.record.Recent() }
func (p *openPort) follow(ctx context.Context) <-chan appliance.Frame {
	return p.record.Follow(ctx)
}

// note records what was sent, as the widget frame that carries the same.
func (p *openPort) note(frame []byte, what string) {
	p.record.Add(time.Now(), appliance.FrameSent, frame, what)
}

func (p *openPort) link() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why == nil {
		return nil
	}
	return fmt.Errorf("%w: %s: %w", appliance.ErrBusDown, p.where, p.why)
}

func (p *openPort) run(ctx context.Context) error {
	opener := line.Opener{Ports: p.ports}
	for ctx.Err() == nil {
		port, err := opener.Open(p.path, dmxLine)
		if err == nil {
			p.opened(nil)
			err = p.feed(ctx, port)
			port.Abort()
		}
		if ctx.Err() != nil {
			break
		}
		p.opened(err)
		_ = line.Wait(ctx, reopenEvery) // the loop looks whether ctx has ended
	}
	p.opened(errors.New("the bus is not running"))
	return nil
}

// opened notes that the port is open, or why it is not, and tells changes.
func (p *openPort) opened(why error) {
	p.mu.Lock()
	old := p.why
	p.why = why
	lost := p.want
	if why != nil {
		// Whatever comes next begins with what is known to be wanted: what was shown
		// last may have been a lamp showing itself.
		p.want, p.shown = nil, nil
	}
	p.mu.Unlock()
	switch {
	case why == nil:
		p.note(nil, "port found")
		p.log.Info("port open")
	case lost != nil:
		lost.end(time.Time{}, p.link())
		fallthrough
	case old == nil || old.Error() != why.Error():
		p.note(nil, "port lost")
		p.log.Warn("port cannot be used", "reason", why)
	}
}

// late reports whether a packet that begins now would be out after the deadline.
func (s *showing) late() bool { return !s.until.IsZero() && time.Now().After(s.until) }

func (s *showing) end(sent time.Time, err error) {
	s.sent, s.err = sent, err
	close(s.done)
}

// feed sends packets until ctx ends or the port is lost.
func (p *openPort) feed(ctx context.Context, port packetPort) error {
	period := time.Second / time.Duration(p.options.rate)
	for ctx.Err() == nil {
		slots, change := p.next()
		if slots == nil {
			select {
			case <-ctx.Done():
			case <-p.wake:
			}
			continue
		}
		begun := time.Now()
		p.give(begun)
		sent, err := p.packet(ctx, port, slots, change)
		p.over(slots, change, sent, err)
		switch {
		case errors.Is(err, appliance.ErrExpired):
			continue // nothing but a break went out: what was shown follows at once
		case err != nil:
			return err
		}
		// A change does not wait for the period, only for the packet before it.
		if until := time.Until(begun.Add(period)); until > 0 {
			timer := time.NewTimer(until)
			select {
			case <-ctx.Done():
			case <-p.wake:
			case <-timer.C:
			}
			timer.Stop()
		}
	}
	return nil
}

// next is what the next packet carries: a change that is not too late, or what was
// shown before.
func (p *openPort) next() ([]byte, *showing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if change := p.want; change != nil {
		p.want = nil
		if !change.late() {
			return change.slots, change
		}
		change.end(time.Time{}, p.expired())
	}
	if p.shown == nil {
		if slots, active := p.present(); active {
			p.shown = slots
		}
	}
	return p.shown, nil
}

// give notes that the port has a packet.
func (p *openPort) give(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.given = at
}

// over keeps what was sent, and tells who waits for it.
func (p *openPort) over(slots []byte, change *showing, sent time.Time, err error) {
	p.mu.Lock()
	p.given = time.Time{}
	if err == nil {
		if !slices.Equal(p.shown, slots) || time.Since(p.sentAt) > repeatLimit || change != nil {
			p.note(outputFrame(nil, slots), "")
		}
		p.shown, p.sentAt = slots, sent
	}
	p.mu.Unlock()
	if change == nil {
		return
	}
	if err != nil && !errors.Is(err, appliance.ErrExpired) {
		err = fmt.Errorf("%w: %s: %w", appliance.ErrBusDown, p.where, err)
	}
	change.end(sent, err)
}

// expired says that a command was not sent, being too late.
func (p *openPort) expired() error {
	return fmt.Errorf("%s: %w: the packet could not be out before the deadline", p.where, appliance.ErrExpired)
}

// packet sends one packet and returns when its last slot is on the wire. change is
// what the slots are sent for; nil: they were shown before.
func (p *openPort) packet(ctx context.Context, port packetPort, slots []byte, change *showing) (time.Time, error) {
	if err := port.Break(p.options.breakTime); err != nil {
		return time.Time{}, fmt.Errorf("the port cannot make a break: %w", err)
	}
	mark := time.Now().Add(p.options.markTime)
	if err := p.ports.SleepUntil(ctx, mark); err != nil {
		return time.Time{}, err
	}
	if change != nil && change.late() { // the adapter was slow with the break
		return time.Time{}, p.expired()
	}
	begun := time.Now()
	bytes := append([]byte{0}, slots...)
	if _, err := port.Write(bytes, begun.Add(takeLimit)); err != nil {
		return time.Time{}, err
	}
	sent := begun.Add(time.Duration(len(bytes)) * slotTime)
	for port.Unsent() > 0 {
		if time.Since(begun) > takeLimit {
			return time.Time{}, errors.New("the adapter sends no more bytes")
		}
		if err := p.ports.SleepUntil(ctx, time.Now().Add(time.Millisecond)); err != nil {
			return sent, nil // the end of the run; the packet is on its way
		}
	}
	if err := p.ports.SleepUntil(ctx, sent.Add(adapterLag)); err != nil {
		return sent, nil
	}
	return sent, nil
}

// show hands a change to the next packet and waits until that is on the wire. The
// deadline of ctx is watched apart from its end, which need not come with it.
func (p *openPort) show(ctx context.Context, y appliance.Yield, slots []byte) (time.Time, error) {
	change := &showing{slots: slots, done: make(chan struct{})}
	var tooLate <-chan time.Time // never, without a deadline
	if deadline, ok := ctx.Deadline(); ok {
		packet, _ := p.busy(len(slots))
		change.until = deadline.Add(-packet)
		if change.late() {
			return time.Time{}, p.expired()
		}
		timer := time.NewTimer(time.Until(change.until))
		defer timer.Stop()
		tooLate = timer.C
	}
	p.mu.Lock()
	up := p.why == nil
	if up {
		p.want = change
	}
	p.mu.Unlock()
	if !up {
		return time.Time{}, p.link()
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
	why := p.expired()
	select {
	case <-change.done:
		return change.sent, change.err
	case <-y.Begin:
		why = fmt.Errorf("%s: %w before the packet began", p.where, appliance.ErrPreempted)
	case <-tooLate:
	case <-ctx.Done():
	}
	p.mu.Lock()
	withdrawn := p.want == change
	if withdrawn {
		p.want = nil
	}
	p.mu.Unlock()
	if withdrawn {
		return time.Time{}, why
	}
	<-change.done // the packet is being sent; takeLimit bounds that
	return change.sent, change.err
}

// check tells whether packets go out. If none does although the port has taken all that it was given, it is us who
// came too late, which proves nothing.
func (p *openPort) check(context.Context, appliance.Yield) (time.Time, error) {
	if err := p.link(); err != nil {
		return time.Time{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown != nil && !p.sentAt.IsZero() && time.Since(p.sentAt) > repeatLimit {
		err := fmt.Errorf("%w: %s: no packet went out for %v", appliance.ErrSilent, p.where, time.Since(p.sentAt).Round(time.Millisecond))
		if p.given.IsZero() || time.Since(p.given) < takeLimit {
			err = fmt.Errorf("%w; %w", appliance.ErrOverslept, err)
		}
		return p.sentAt, err
	}
	return p.sentAt, nil
}

func (p *openPort) busy(slots int) (typical, worst time.Duration) {
	packet := p.options.breakTime + p.options.markTime + time.Duration(slots+1)*slotTime + adapterLag
	return packet, packet + takeLimit
}
