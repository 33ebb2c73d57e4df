package appliance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"svc.internal/controller/appliance/shade"
)

// bus runs one driver. Whoever has its lead plans, sends and judges: its goroutine, or
// one that waits for a command. Others hand it jobs and read snapshots.
type bus struct {
	present atomic.Pointer[wiring]
	state   *state
	log     *slog.Logger
	begin   func(Command, Want) *record // a ledger entry for what the bus decides itself
	trials  *trials
	stopRun context.CancelFunc
	unplug  func()        // ends the driver, and returns when it has let go of the port
	closed  chan struct{} // when the goroutine has ended

	inbox

	// lead is held by whoever looks at what follows and sends: the bus's goroutine,
	// or a caller of drive; before the goroutine runs and afterwards it is taken.
	lead chan struct{}
	ctx  context.Context // ends with the bus
	beat heartbeat

	// What follows belongs to the leader.
	known
	port
	accounts
	behind
	flights
	pieces   []*piece
	schedule *schedule
	groups   *grouping // nil: the driver knows no groups
}

// known is what a bus knows of what hangs off it.
type known struct {
	beliefs  beliefs
	devices  map[string]*device
	deviceOf map[ID]*device
	absent   map[ID]bool // nodes that do not answer behind a gateway that does
	motors   map[ID]*motor
}

// port is what a bus knows of its driver's.
type port struct {
	link func() error // nil: it is always there
	up   bool
	why  error // why it is not up
}

// accounts are what a bus spends its time on, and when that was last shown.
type accounts struct {
	probes   budget // bus time for probes
	attempts budget // and for commands to devices that are offline
	use      use
	stats    BusStats
	shown    time.Time
}

// behind is what a bus does behind commands, besides polls and groups.
type behind struct {
	scan     *scanJob
	scanTurn bool // a poll was the last to go, so the scan may
	errands  []*errand
	found    bool // the last exchange was to find out who is gone
}

func newBus(cfg BusConfig, o Opened, st *state) *bus {
	b := &bus{
		state: st, inbox: inbox{wake: make(chan struct{}, 1)}, lead: make(chan struct{}, 1), closed: make(chan struct{}), beat: heartbeat{born: time.Now()},
		known:    known{beliefs: beliefs{}, devices: map[string]*device{}, deviceOf: map[ID]*device{}, absent: map[ID]bool{}, motors: map[ID]*motor{}},
		port:     port{why: ErrOpening},
		flights:  flights{out: map[*task]time.Time{}},
		accounts: accounts{probes: budget{share: probeShare}, attempts: budget{share: attemptShare}},
	}
	b.lead <- struct{}{}
	b.schedule = &schedule{motors: b.motors}
	b.configure(&wiring{cfg, o}, nil, time.Now())
	return b
}

// device returns the record of a device, made at its first mention. What addresses
// no device is not kept in the books.
func (b *bus) device(name string) *device {
	if name == "" {
		return &device{}
	}
	d := b.devices[name]
	if d == nil {
		d = &device{name: name}
		b.devices[name] = d
	}
	return d
}

// run serves the bus until ctx ends.
func (b *bus) run(ctx context.Context) {
	b.beat.looked(time.Now())
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer b.shutdown()
	b.groups.recall()
	<-b.lead
	for ctx.Err() == nil {
		b.lead <- struct{}{}
		now := time.Now()
		b.look(now)
		task, wait := b.next(now)
		if task != nil && b.most() > 1 {
			go b.fly(ctx, task)
			continue
		}
		if task != nil {
			b.do(ctx, task)
		}
		<-b.lead
		if task != nil {
			continue
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
		case <-b.wake:
		case <-timer.C:
		}
	}
}

// look takes note of what has happened meanwhile.
func (b *bus) look(now time.Time) {
	b.beat.looked(b.progress(now))
	b.checkLink(now)
	b.checkScan(now)
	b.takeInbox(now)
	b.dropExpired(now)
	b.showHealth(now)
}

// drive has whoever waits for run do what the bus has to do for commands, as long
// as nobody else leads it: an idle bus has a command on the wire without another
// goroutine to be woken for it, which takes longer than all the rest.
func (b *bus) drive(ctx context.Context, run *record) {
	for {
		select {
		case b.lead <- struct{}{}:
		default:
			b.poke()
			return
		}
		ready, idle := b.step(time.Now(), run)
		if !ready || run.over() || ctx.Err() != nil {
			// Its own goroutine has slept through it, and may go on sleeping if nothing
			// has become due earlier: waking a thread for nothing costs the next
			// command as much as its way to the wire.
			if !idle || b.asked() {
				b.poke()
			}
			return
		}
	}
}

// step does the next exchange for commands, if it is time. It lets go of the lead
// whatever happens: whoever serves requests survives a panic, and the bus must too.
func (b *bus) step(now time.Time, run *record) (ready, idle bool) {
	defer func() { <-b.lead }()
	b.look(now)
	p, _ := b.nextPiece(now)
	ready = p != nil && b.up && b.ctx.Err() == nil
	if ready && b.most() > 1 && p.members[0].record != run {
		return false, false // it would wait for somebody else's answer
	}
	if ready {
		b.do(b.ctx, b.pieceTask(p, now))
	}
	return ready, len(b.pieces) == 0 && len(b.motors) == 0
}

// shutdown fails what is still waiting.
func (b *bus) shutdown() {
	b.quiet(context.Background(), nil) // for good
	defer close(b.closed)
	b.close()
	b.up, b.why = false, errClosed
	b.takeInbox(time.Now())
	b.failAll(errClosed, func(*piece) bool { return false })
	b.breakOffScan()
	b.groups.busDown(errClosed)
}

// errClosed: the site changed, or the program ends.
var errClosed = fmt.Errorf("%w: the bus was closed", ErrBusDown)

// opening: it is not known yet whether the bus will be there.
func (b *bus) opening() bool { return !b.up && b.why == ErrOpening }

// linkDown tells why the port cannot be used, if so; one that is still being opened
// can be waited for. Safe from any goroutine.
func (b *bus) linkDown() error {
	if l, ok := b.driver().(Linker); ok {
		if err := l.Link(); !errors.Is(err, ErrOpening) {
			return err
		}
	}
	return nil
}

// checkLink notices that the port went or came.
func (b *bus) checkLink(now time.Time) {
	var why error
	if b.link != nil {
		why = b.link()
	}
	switch {
	case errors.Is(why, ErrOpening): // nothing to tell before the first attempt has ended
	case why == nil && !b.up:
		b.up, b.why = true, nil
		b.tellAll(now, shade.Back{})
		b.schedule.renew()
		for _, d := range b.devices {
			// Whoever had the port before, such as this program, may have asked something.
			d.fails, d.backoff = 0, 0
			d.restReads, d.restWrites = now.Add(d.late), now.Add(d.late)
		}
		b.shown = time.Time{}
		b.log.Info("bus is up")
	case why != nil && (b.up || b.why == nil || b.why.Error() != why.Error()):
		b.up, b.why = false, why
		b.tellAll(now, shade.Lost{})
		// Whatever moves must be stopped as soon as the bus is back.
		b.failAll(why, func(p *piece) bool { return p.stops() })
		b.groups.busDown(why)
		for _, d := range b.devices {
			d.online = false
			b.state.setOnline(d.nodes, false, time.Time{})
		}
		b.shown = time.Time{}
		b.log.Warn("bus is down", "why", why)
	}
}

// failAll ends everything that waits but what is kept.
func (b *bus) failAll(err error, keep func(*piece) bool) {
	pieces := b.pieces
	b.pieces = nil
	for _, p := range pieces {
		if keep(p) || p.out() {
			b.pieces = append(b.pieces, p)
			continue
		}
		b.fail(p, err)
	}
}

// takeInbox plans new jobs and takes reports.
func (b *bus) takeInbox(now time.Time) {
	jobs, reports, handed := b.empty()
	b.take(handed, now)
	for _, j := range jobs {
		b.plan(j, now)
	}
	if len(reports) > 0 {
		b.learn(reports, time.Time{})
	}
	b.ticks(now)
}

// showHealth updates what readers see of the bus, once a second. A bus that is opened
// anew looks as it did before until it is known how that ends, one that waits for an answer
// for ever as whoever noticed that has shown it.
func (b *bus) showHealth(now time.Time) {
	if now.Sub(b.shown) < time.Second || b.opening() || b.beat.missing(now) > 0 {
		return
	}
	b.shown = now
	typical, worst := b.schedule.bounds()
	busy, dead := b.use.shares(now)
	st := &BusState{
		Bus: &b.config().Bus, Up: b.up, Bound: worst, Typical: typical, Use: busy, DeadUse: dead,
		Demand: b.schedule.demand(), Queue: len(b.pieces), LookedAt: now, Stats: b.stats,
	}
	if b.why != nil {
		st.Fault = b.why.Error()
	} else if d, ok := b.driver().(Troubled); ok {
		st.Fault = brief(d.Troubles()[""])
	}
	b.beat.bound.Store(int64(worst))
	st.Devices = b.deviceStates()
	for _, m := range b.motors {
		if d := b.deviceOf[m.shade.Node]; m.state.Watch() && (!b.up || d != nil && !d.online) {
			b.show(m) // nobody else does while it cannot be read
		}
	}
	b.state.setBus(st)
}

// learn takes what devices said; asked is when the question was on the wire, zero: they
// said it unasked.
func (b *bus) learn(readings []Reading, asked time.Time) {
	b.beliefs.saw(readings)
	b.sawAbsent(readings)
	b.state.learn(readings, Measured)
	for _, r := range readings {
		if m := b.motors[r.Shade]; r.Shade != 0 && m != nil {
			b.saw(m, r, asked)
		}
	}
}

// sawAbsent takes what gateways say of who does not answer behind them, by node: all its
// channels hang together.
func (b *bus) sawAbsent(readings []Reading) {
	for _, r := range readings {
		if b.deviceOf[r.Node] == nil || r.Absent == b.absent[r.Node] || !r.Absent && !speaksOfLevel(r.Values) {
			continue
		}
		if r.Absent {
			b.absent[r.Node] = true
			b.log.Warn("node does not answer behind its gateway", "node", r.Node)
		} else {
			delete(b.absent, r.Node)
			b.log.Info("node answers behind its gateway", "node", r.Node)
		}
		b.state.setOnline([]ID{r.Node}, !r.Absent, time.Time{})
	}
}

// channel returns what is known of a thing's abilities.
func (b *bus) channel(r Ref) Channel {
	return b.present.Load().opened.channel(r)
}

// channel returns what a driver made of an entry; of none, nothing can be done with it.
func (o *Opened) channel(r Ref) Channel {
	if r.Shade != 0 {
		return o.Shades[r.Shade]
	}
	if chs := o.Channels[r.Node]; r.Channel >= 1 && r.Channel <= len(chs) {
		return chs[r.Channel-1]
	}
	return Channel{}
}
