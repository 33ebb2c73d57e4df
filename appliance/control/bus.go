package control

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/engine"
)

// bus runs one driver: its engine decides, whoever has its lead sends. Others hand it
// events and read snapshots.
type bus struct {
	present atomic.Pointer[engine.Wiring]
	state   *state
	log     *slog.Logger
	begin   func(appliance.Command, appliance.Want) *record // a ledger entry for what the engine decides itself
	trials  *trials
	book    *groupBook
	stop    context.CancelFunc // ends its goroutine; nil: it does not run yet
	unplug  func()             // ends the driver, and returns when it has let go of the port
	closed  chan struct{}      // when the goroutine has ended
	mail    inbox
	beat    heartbeat
	groups  groupDesk

	// lead is held by whoever sends; before the goroutine runs and afterwards it is taken.
	lead chan struct{}

	// What follows belongs to the leader.
	engine  *engine.State
	link    func() error // nil: the port is always there
	flights flights
	desk    desk
	todo    *engine.Perform // what a look found to do
	wakeAt  time.Time       // when to look again, if nothing
}

// desk is whom a bus has to tell what.
type desk struct {
	records map[uint64]*part
	asked   map[uint64]func(appliance.Result, error) // exchanges of jobs
	resting map[appliance.ID][]chan struct{}         // closed when nothing is under way with a shade
	scan    *scanJob
	table   *tableTalk
	next    []engine.Event // that follow from what the engine wanted
}

// part is what a bus has of a record.
type part struct {
	*record
	open int // members on this bus
}

func newBus(w *engine.Wiring, c *Controller) *bus {
	b := &bus{
		state: c.state, begin: c.beginInternal, trials: &c.trials, book: c.book, mail: inbox{wake: make(chan struct{}, 1)},
		lead: make(chan struct{}, 1), closed: make(chan struct{}), beat: heartbeat{born: time.Now()}, engine: engine.New(),
		flights: flights{out: map[uint64]time.Time{}},
		desk: desk{
			records: map[uint64]*part{}, asked: map[uint64]func(appliance.Result, error){}, resting: map[appliance.ID][]chan struct{}{},
		},
	}
	b.lead <- struct{}{}
	b.configure(w, true)
	for _, s := range w.Config.Shades {
		if c.trials.find(s.ID) != nil {
			b.feed(engine.Watch{Shade: s.ID, Often: true})
		}
	}
	return b
}

// run serves the bus until ctx ends.
func (b *bus) run(ctx context.Context) {
	b.beat.looked(time.Now())
	timer := time.NewTimer(0)
	defer timer.Stop()
	b.feed(engine.Recall{Groups: b.book.of(b.config().Bus.UUID)})
	<-b.lead
	for ctx.Err() == nil {
		b.lead <- struct{}{}
		task := b.look()
		if task != nil && b.most() > 1 {
			go b.fly(ctx, task)
			continue
		}
		if task != nil {
			b.perform(ctx, task)
		}
		wait := time.Until(b.wakeAt)
		<-b.lead
		if task != nil {
			continue
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
		case <-b.mail.wake:
		case <-timer.C:
		}
	}
	b.shutdown() // not deferred: a defect of a driver ends the program, and does not leave it half alive
}

// look has the engine take note of what has happened meanwhile, and returns what it wants
// done next; nil: nothing before wakeAt.
func (b *bus) look() *engine.Perform {
	now := time.Now()
	b.beat.looked(b.progress(now))
	b.checkScan(now)
	b.feed(engine.Link{Down: b.down()})
	b.takeMail()
	b.todo = nil
	b.feed(engine.Look{Down: b.down(), Wait: b.flights.holds.Load() > 0})
	return b.todo
}

// takeMail hands the engine what was handed in.
func (b *bus) takeMail() {
	for _, m := range b.mail.empty() {
		switch e := m.event.(type) {
		case engine.Command:
			b.desk.records[e.ID] = &part{m.record, len(e.Wants)}
		case engine.Ask:
			b.desk.asked[e.Job] = m.answer
		case engine.Withdraw:
			delete(b.desk.asked, e.Job)
		case engine.ForShade:
			b.desk.resting[e.Shade] = append(b.desk.resting[e.Shade], m.rests)
		}
		b.feed(m.event)
	}
}

// feed hands the engine an event, and whatever follows from what it wants done.
func (b *bus) feed(e engine.Event) {
	b.carryOut(b.engine.Step(time.Now(), e))
	for len(b.desk.next) > 0 {
		e := b.desk.next[0]
		b.desk.next = b.desk.next[1:]
		b.carryOut(b.engine.Step(time.Now(), e))
		b.wakeAt = time.Time{} // there may be something to do
	}
	for id, all := range b.desk.resting {
		if b.engine.Rests(id) {
			for _, done := range all {
				close(done)
			}
			delete(b.desk.resting, id)
		}
	}
}

// down tells why the port cannot be used; nil: it can.
func (b *bus) down() error {
	if b.link == nil {
		return nil
	}
	return b.link()
}

// linkDown tells why the port cannot be used, if so; one that is still being opened
// can be waited for. Safe from any goroutine.
func (b *bus) linkDown() error {
	if l, ok := b.driver().(appliance.Linker); ok {
		if err := l.Link(); !errors.Is(err, appliance.ErrOpening) {
			return err
		}
	}
	return nil
}

// shutdown fails what is still waiting.
func (b *bus) shutdown() {
	b.quiet(context.Background(), nil) // for good
	defer close(b.closed)
	b.mail.close()
	b.takeMail()
	b.feed(engine.Close{})
	b.breakOffScan()
}

// underway reports whether a shade is to be stopped some time.
func (b *bus) underway() bool {
	for _, s := range b.config().Shades {
		if !b.engine.Rests(s.ID) {
			return true
		}
	}
	return false
}
