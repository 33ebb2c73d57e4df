package line

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
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

	rec    Recorder
	in     input
	heard  atomic.Bool  // something was received since the port was opened
	nods   atomic.Int32 // times in a row that this machine woke too late
	opener Opener

	turn  chan struct{} // held by the exchange under way
	tried chan struct{} // closed when the first attempt to open is over
	ended chan struct{} // closed when Run is over
	entry chan struct{} // held by an attempt to open the port

	pace pace        // held with turn
	runs atomic.Bool // Run was called

	mu   sync.Mutex
	link link
}

// pace is what the next frame has to keep clear of.
type pace struct {
	ownEnd    time.Time // when our last transmission was over
	notBefore time.Time // end of the last turnaround
	dirty     time.Time // when the line was left in the middle of something
}

// link is the port of a line, or what is known of its being away.
type link struct {
	port   port // nil: down
	state  linkState
	why    error           // why it is down
	told   map[string]bool // reasons that were logged since it was open last
	opened time.Time       // when the port was opened last
	lost   time.Time       // when it was lost last; zero: never
	echo   bool            // the adapter returns what is sent
}

// linkState tells who may open a port that is away.
type linkState uint8

const (
	linkFree   linkState = iota // whoever needs it
	linkFailed                  // Run only, since it failed just now
	linkOver                    // nobody: Run has ended
)

// port is what serial ports and sockets have in common. Both hand what they
// receive to Line.received.
type port interface {
	// start begins to receive, once the port is that of the line.
	start()
	// fresh takes in what has arrived already; its error says the port is dead.
	fresh() error
	write(frame []byte, deadline time.Time) (int, error)
	// await returns when bytes were received since the last call, or with
	// errTimeUp, appliance.ErrPreempted, the error of ctx or that of the port. What has come
	// by then was received, even if this machine was late: with errTimeUp, look once more.
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

// Link returns nil when the port is usable, else why it is not, wrapping
// [appliance.ErrBusDown]. A connection that is just being made again counts as
// usable until the first attempt has failed or lasted 1 s: an exchange would
// wait for it. Safe from any goroutine.
func (l *Line) Link() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	renewing := l.address != "" && l.link.state == linkFree && !l.link.lost.IsZero() && time.Since(l.link.lost) < dialLimit
	if l.link.port != nil || renewing {
		return nil
	}
	return l.down(l.link.why)
}

// Opened is when the port was opened last; zero: never. What was set up at its other end before
// need not be there any more. Safe from any goroutine.
func (l *Line) Opened() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.link.opened
}

func (l *Line) down(why error) error {
	return fmt.Errorf("%w: %s: %w", appliance.ErrBusDown, l.where, why)
}

// Run keeps the port open until ctx ends. A serial port that is gone is looked
// for every 500 ms, also under another name if it has one below
// /dev/serial; a connection is tried again as often, and given 1 s. One that
// hangs up at once is tried more rarely, down to every 5 s.
// It returns nil when ctx ended, and an error only if the line runs already.
func (l *Line) Run(ctx context.Context) error {
	if !l.runs.CompareAndSwap(false, true) {
		return fmt.Errorf("%s: runs already", l.where)
	}
	defer l.shut()

	refused := 0
	for first := true; ctx.Err() == nil; first = false {
		p, err := l.open(ctx, dialLimit)
		if first {
			close(l.tried)
		}
		if err == nil && l.watch(ctx, p) {
			refused = 0
			continue
		}
		if refused++; err != nil {
			refused = 0
		}
		if Wait(ctx, pauseAfter(refused)) != nil {
			return nil
		}
	}
	return nil
}

// pauseAfter is how long nobody tries again after a port that was gone, or one that was
// there and hung up at once, so often in a row: its place is somebody else's.
func pauseAfter(refused int) time.Duration {
	if refused <= refusedFew {
		return lookEvery
	}
	return min(lookEvery<<min(refused-refusedFew, 8), lastDelay)
}

// shut closes the port for good. What is stuck in it moves nothing afterwards.
func (l *Line) shut() {
	l.mu.Lock()
	p := l.link.port
	l.link.port, l.link.why, l.link.state = nil, errNotRun, linkOver
	l.mu.Unlock()
	switch {
	case p == nil:
	case p.unsent() > 0:
		p.abort()
	default:
		p.close()
	}
	l.in.pumps.Wait()
	close(l.ended)
}

// watch returns when p is gone or ctx ends; false means that it went before it
// was of any use, and that opening it again at once would be of none either.
// Meanwhile it looks at an idle socket, where nobody else reads.
func (l *Line) watch(ctx context.Context, p port) (useful bool) {
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
			return true
		case <-p.gone():
			l.mu.Lock()
			defer l.mu.Unlock()
			return l.link.state == linkFree
		case <-look:
			l.lookAt(p)
		}
	}
}

// lookAt takes in what came on a socket between exchanges.
func (l *Line) lookAt(p port) {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
		if err := p.fresh(); err != nil {
			l.lose(p, err)
		}
	default: // an exchange is under way and looks itself
	}
}

func (l *Line) current() port {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.link.port
}

// open opens the port unless it is open, and notes the outcome.
func (l *Line) open(ctx context.Context, limit time.Duration) (port, error) {
	select {
	case l.entry <- struct{}{}:
		defer func() { <-l.entry }()
	case <-ctx.Done():
		err := fmt.Errorf("connecting takes longer than %v", limit)
		l.noteDown(ctx, err)
		return nil, err
	}
	if p := l.current(); p != nil {
		return p, nil
	}
	l.heard.Store(false)
	var p port
	var err error
	if l.address != "" {
		p, err = l.connect(ctx, limit)
	} else {
		p, err = l.openSerial()
	}
	if err == nil {
		err = l.install(p)
	}
	if err != nil {
		l.noteDown(ctx, err)
		return nil, err
	}
	l.log.Info("port open")
	p.start()
	return p, nil
}

// install makes p the port of the line, unless the line has ended meanwhile.
func (l *Line) install(p port) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.link.state == linkOver {
		p.close()
		return errNotRun
	}
	l.in.mu.Lock()
	defer l.in.mu.Unlock()
	l.discard(noteIncomplete) // what the last port left
	now := time.Now()
	l.rec.Add(now, appliance.FrameReceived, nil, notePortFound) // before anybody can send
	l.link = link{port: p, opened: now, lost: l.link.lost, echo: l.cfg.Echo}
	return nil
}

// Echoes notes that the adapter returns what is sent, although [Config.Echo] does not say
// so: an answer to a read was a copy of the question. It is told once, and coped with
// until the port is opened anew.
func (l *Line) Echoes() {
	l.mu.Lock()
	news := !l.link.echo
	l.link.echo = true
	l.mu.Unlock()
	if news {
		l.log.Warn("the adapter returns what is sent, which is taken out from now on; set the bus option echo to true")
	}
}

// returns reports whether what is sent comes back.
func (l *Line) returns() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.link.echo
}

// noteDown keeps why the port could not be opened, and tells it once.
func (l *Line) noteDown(ctx context.Context, err error) {
	l.mu.Lock()
	// They may alternate: no answer, no route. Many are always the same in other words.
	k := &l.link
	news := k.state != linkOver && !k.told[err.Error()] && len(k.told) < reasonsMost
	if news && k.told == nil {
		k.told = make(map[string]bool)
	}
	if news {
		k.told[err.Error()] = true
	}
	if k.state != linkOver && k.port == nil {
		k.state, k.why = linkFailed, err
	}
	l.mu.Unlock()
	if news && ctx.Err() == nil {
		l.log.Warn("port cannot be opened", "reason", err)
	}
}

// lose closes p for the reason given. Of several calls for one port the first
// counts.
func (l *Line) lose(p port, why error) {
	if l.detach(p, why) {
		p.close()
	}
}

// withdraw closes p and throws away what it has not sent yet.
func (l *Line) withdraw(p port, why error) {
	if l.detach(p, why) {
		p.abort()
	}
}

// shortLife of a port that never said a word: the other side did not want us.
const shortLife = time.Second

func (l *Line) detach(p port, why error) bool {
	l.mu.Lock()
	if l.link.port != p {
		l.mu.Unlock()
		return false
	}
	l.link.port, l.link.why, l.link.lost = nil, why, time.Now()
	if !l.heard.Load() && time.Since(l.link.opened) < shortLife {
		l.link.state = linkFailed
	}
	l.rec.Add(time.Now(), appliance.FrameReceived, nil, notePortLost) // before it can be found again
	l.mu.Unlock()
	l.log.Warn("port lost", "reason", why)
	return true
}

// Notes of the flight recorder.
const (
	notePortFound  = "port found"
	notePortLost   = "port lost"
	noteIncomplete = "incomplete"
	noteDamaged    = "damaged"
	noteCollision  = "not what was sent: collision"
	noteOverflow   = "too many bytes without a frame"
)

// Notes that tell a protocol who talks.
const (
	NoteUnasked  = "came unasked"   // while nobody was asked
	NoteNotForUs = "not the answer" // while an answer was waited for
)
