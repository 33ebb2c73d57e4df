package control

import (
	"sync"

	"svc.internal/controller/appliance"
)

// inbox is what others hand to a bus. Its methods are safe from any goroutine, and wait
// for nobody.
type inbox struct {
	mu      sync.Mutex
	jobs    []job
	reports []appliance.Reading
	handed  []handed
	giveWay chan struct{} // open while something that gives way is under way
	unused  chan struct{} // an open one that nobody waits for any more; nil: none
	writing bool          // it is a command's write, which gives way to a STOP only
	over    bool          // the bus takes no more jobs
	wake    chan struct{}
}

// maxReports bounds what devices say unasked and was not looked at yet; more is
// dropped, polling will find it.
const maxReports = 1024

// submit hands a job to the bus. It never waits. Somebody must poke or drive the
// bus then.
func (b *inbox) submit(j job) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		for _, m := range j.members {
			m.fail(errClosed)
		}
		return
	}
	b.jobs = append(b.jobs, j)
	if b.giveWay != nil && (!b.writing || j.stops()) {
		close(b.giveWay)
		b.giveWay = nil
	}
}

// beginExchange returns a channel that is closed when a job comes in that goes
// before what is about to be done; false if such a job is there already.
func (b *inbox) beginExchange(writing bool) (<-chan struct{}, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, j := range b.jobs {
		if !writing || j.stops() {
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

// report takes what devices said unasked; safe from any goroutine.
func (b *inbox) report(r []appliance.Reading) {
	b.mu.Lock()
	if len(b.reports)+len(r) <= maxReports {
		b.reports = append(b.reports, r...)
	}
	b.mu.Unlock()
	b.poke()
}

// asked reports whether something waits in the inbox.
func (b *inbox) asked() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.jobs) > 0 || len(b.reports) > 0 || len(b.handed) > 0
}

func (b *inbox) poke() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// empty gives what was handed in.
func (b *inbox) empty() ([]job, []appliance.Reading, []handed) {
	b.mu.Lock()
	defer b.mu.Unlock()
	jobs, reports, handed := b.jobs, b.reports, b.handed
	b.jobs, b.reports, b.handed = nil, nil, nil
	return jobs, reports, handed
}

// close lets no more jobs in.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
}
