package line

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"svc.internal/controller/appliance"
)

// Line is one serial port or one connection, and the rules of talking over it.
type Line struct {
	cfg      Config
	where    string // "bus name (port)", for errors
	log      *slog.Logger
	address  string // of a socket; empty: serial
	framed   bool   // the stream frames itself, see Config.Port
	charBits int    // 0 on sockets
	known    identity

	rec recorder
	in  input

	turn  chan struct{} // held by the exchange under way
	tried chan struct{} // closed when the first attempt to open is over
	ended chan struct{} // closed when Run is over

	// Held with turn.
	ownEnd    time.Time // when our last transmission was over
	notBefore time.Time // end of the last turnaround
	dirty     time.Time // when the line was left in the middle of something

	mu      sync.Mutex
	port    port  // nil: down
	why     error // why it is down
	failed  bool  // the last attempt to open failed
	running bool

	dialing sync.Mutex // one attempt to connect at a time
}

// port is what serial ports and sockets have in common. Both hand what they
// receive to Line.received.
type port interface {
	// fresh takes in what has arrived already; its error says the port is dead.
	fresh() error
	write(frame []byte, deadline time.Time) (int, error)
	// await returns when bytes were received since the last call, or with
	// errTimeUp, appliance.ErrPreempted, the error of ctx or that of the port.
	await(ctx context.Context, until time.Time, preempt <-chan struct{}) error
	// unsent counts bytes that may not have left this machine.
	unsent() int
	// abort closes the port and throws away what is unsent.
	abort()
	close()
	// gone is closed when the port was lost or closed.
	gone() <-chan struct{}
}

var (
	errTimeUp = errors.New("time is up")
	errNotRun = errors.New("the bus is not running")
)

// Link returns nil when the port is open, else why it is not, wrapping
// [appliance.ErrBusDown]. Safe from any goroutine.
func (l *Line) Link() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.port != nil {
		return nil
	}
	return l.down(l.why)
}

func (l *Line) down(why error) error {
	return fmt.Errorf("%w: %s: %w", appliance.ErrBusDown, l.where, why)
}

// Run keeps the port open until ctx ends. A serial port that is gone is looked
// for every 500 ms, also under another name if it has one below
// /dev/serial; a connection is made again with pauses of 0.5 s doubling to 5 s.
// It returns nil when ctx ended, and an error only if the line runs already.
func (l *Line) Run(ctx context.Context) error {
	l.mu.Lock()
	if l.running {
		l.mu.Unlock()
		return fmt.Errorf("%s: runs already", l.where)
	}
	l.running = true
	l.mu.Unlock()
	defer close(l.ended)
	defer func() {
		if p := l.current(); p != nil {
			l.lose(p, errNotRun)
		}
		l.mu.Lock()
		l.why, l.failed = errNotRun, true
		l.mu.Unlock()
		l.in.wait()
	}()

	delay := firstDelay
	for first := true; ctx.Err() == nil; first = false {
		p := l.current()
		if p == nil {
			var err error
			p, err = l.open(ctx, dialTimeout)
			if first {
				close(l.tried)
			}
			if err != nil {
				if !pause(ctx, delay) {
					break
				}
				delay = l.nextDelay(delay)
				continue
			}
		}
		delay = firstDelay
		l.watch(ctx, p)
	}
	return nil
}

func (l *Line) nextDelay(d time.Duration) time.Duration {
	if l.address == "" {
		return lookEvery
	}
	return min(2*d, lastDelay)
}

// pause waits for d, or returns false when ctx ends before.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// watch returns when p is gone or ctx ends. Meanwhile it looks at an idle socket,
// where nobody else reads.
func (l *Line) watch(ctx context.Context, p port) {
	var look <-chan time.Time
	if l.address != "" {
		every := 250 * time.Millisecond
		if l.cfg.Overheard != nil {
			every = 20 * time.Millisecond
		}
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		look = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.gone():
			return
		case <-look:
			select {
			case l.turn <- struct{}{}:
				if err := p.fresh(); err != nil {
					l.lose(p, err)
				}
				<-l.turn
			default: // an exchange is under way and looks itself
			}
		}
	}
}

func (l *Line) current() port {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.port
}

// open opens the port unless it is open, and notes the outcome.
func (l *Line) open(ctx context.Context, limit time.Duration) (port, error) {
	l.dialing.Lock()
	defer l.dialing.Unlock()
	if p := l.current(); p != nil {
		return p, nil
	}
	var p port
	var err error
	if l.address != "" {
		p, err = l.connect(ctx, limit)
	} else {
		p, err = l.openSerial()
	}
	l.mu.Lock()
	if err == nil {
		l.port, l.failed, l.why = p, false, nil
		l.mu.Unlock()
		l.rec.add(time.Now(), appliance.FrameReceived, nil, notePortFound)
		l.log.Info("port open")
		return p, nil
	}
	news := l.why == nil || l.why.Error() != err.Error()
	l.failed, l.why = true, err
	l.mu.Unlock()
	if news && ctx.Err() == nil {
		l.log.Warn("port cannot be opened", "reason", err)
	}
	return nil, err
}

// lose closes p for the reason given. Of several calls for one port the first
// counts.
func (l *Line) lose(p port, why error) {
	l.mu.Lock()
	if l.port != p {
		l.mu.Unlock()
		return
	}
	l.port, l.why, l.failed = nil, why, false
	l.mu.Unlock()
	p.close()
	l.rec.add(time.Now(), appliance.FrameReceived, nil, notePortLost)
	l.log.Warn("port lost", "reason", why)
}

// Notes of the flight recorder.
const (
	notePortFound  = "port found"
	notePortLost   = "port lost"
	noteUnasked    = "came unasked"
	noteNotForUs   = "not the answer"
	noteIncomplete = "incomplete"
	noteDamaged    = "damaged"
	noteCollision  = "not what was sent: collision"
	noteOverflow   = "too many bytes without a frame"
)
