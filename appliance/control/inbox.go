package control

import (
	"sync"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/engine"
)

// inbox is what others hand to a bus. Its methods are safe from any goroutine, and wait
// for nobody.
type inbox struct {
	mu      sync.Mutex
	list    []mail
	reports int           // readings in it
	giveWay chan struct{} // open while something that gives way is under way
	unused  chan struct{} // an open one that nobody waits for any more; nil: none
	writing bool          // it is a command's write, which gives way to a STOP only
	over    bool          // the bus takes nothing more
	wake    chan struct{}
}

// mail is an event, and whom it concerns.
type mail struct {
	event  engine.Event
	record *record                       // of a command
	answer func(appliance.Result, error) // of a job's exchange
	rests  chan struct{}                 // closed when the shade of the event rests
}

// maxReports bounds what devices say unasked and was not looked at yet; more is
// dropped, polling will find it.
const maxReports = 1024

// put hands something to the bus; false: that takes nothing more.
func (b *inbox) put(m mail) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return false
	}
	b.list = append(b.list, m)
	if c, ok := m.event.(engine.Command); ok && b.giveWay != nil && (!b.writing || c.Stops()) {
		close(b.giveWay)
		b.giveWay = nil
	}
	select {
	case b.wake <- struct{}{}:
	default:
	}
	return true
}

// beginExchange returns a channel that is closed when a command comes in that goes
// before what is about to be done; false if such a one is there already.
func (b *inbox) beginExchange(writing bool) (<-chan struct{}, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.list {
		if c, ok := m.event.(engine.Command); ok && (!writing || c.Stops()) {
			return nil, false
		}
	}
	if b.unused == nil {
		b.unused = make(chan struct{})
	}
	b.giveWay, b.unused, b.writing = b.unused, nil, writing
	return b.giveWay, true
}

// interrupt has the exchange give way that was given that channel, if it still runs.
func (b *inbox) interrupt(way <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.giveWay != nil && b.giveWay == way {
		close(b.giveWay)
		b.giveWay = nil
	}
}

func (b *inbox) endExchange() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.giveWay != nil {
		b.giveWay, b.unused = nil, b.giveWay
	}
}

// report takes what devices said unasked.
func (b *inbox) report(r []appliance.Reading) {
	b.mu.Lock()
	if b.reports+len(r) <= maxReports && !b.over {
		b.reports += len(r)
		b.list = append(b.list, mail{event: engine.Reported{Readings: r}})
	}
	b.mu.Unlock()
	b.poke()
}

func (b *inbox) poke() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// empty gives what was handed in, in its order.
func (b *inbox) empty() []mail {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.list
	b.list, b.reports = nil, 0
	return list
}

// close lets nothing more in.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
}
