package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"svc.internal/controller/appliance"
)

const (
	// groupTurn is how often an exchange about groups may go before a poll that is
	// due. Otherwise they take the time that nobody wants, so that a start makes no
	// storm.
	groupTurn = time.Second
	// groupHurry is one part of the bus time that reading may take from polls while
	// tables are not known at all: on a bus that is never idle commands would go to
	// every device by itself for minutes.
	groupHurry = 5
	// Tables are read again after groupAge, but so rarely that it costs no more than
	// one part in groupShare of the bus.
	groupAge   = 5 * time.Minute
	groupShare = 100
	// groupDoubt is how old a table must be to be read again because a device missed
	// a group frame. It doubles each time that nothing was wrong with the table, to
	// groupPauseMost: on a bad line frames are missed often.
	groupDoubt = 5 * time.Second
	// groupTries of one exchange before the device is left alone for a while, from
	// groupPause, doubling, to groupPauseMost.
	groupTries     = 3
	groupPause     = time.Minute
	groupPauseMost = time.Hour
	groupBusyPause = 500 * time.Millisecond
	// Tables are kept in memory that wears out. Without an installer's order a
	// device gets no more than groupWrites entries written in groupDay, and after
	// groupFailures writes that it did not keep it is left alone for as long.
	groupWrites   = 32
	groupFailures = 3
	groupDay      = 24 * time.Hour
	// groupSaveEvery bounds how often tables that were only read are written down,
	// and how soon what could not be written is tried again.
	groupSaveEvery = 10 * time.Second
)

// grouping keeps the group tables of one bus. A nil *grouping does nothing: its
// driver knows no groups.
type grouping struct {
	bus    *bus
	driver appliance.Grouper
	space  appliance.GroupSpace
	book   *groupBook

	groupMail

	// What follows belongs to the bus's goroutine.
	groupTables
	groupClaims
	groupSurvey
	groupWork
	use     appliance.GroupUse
	shownAt time.Time
	dirty   bool // use and view are out of date
}

// groupMail is what other goroutines hand in and look at.
type groupMail struct {
	mu       sync.Mutex
	clusters []appliance.Cluster // of the site in force
	news     bool                // clusters are newer than parties
	incoming *groupOrder
	view     appliance.Grouping
}

// groupTables are the devices and their tables.
type groupTables struct {
	devices []*groupDevice // in the order of their nodes
	byName  map[string]*groupDevice
}

// groupClaims say who has which group, and whether the book knows that.
type groupClaims struct {
	parties  []party
	claims   []appliance.GroupClaim
	leaving  []string
	allotted bool // claims are in step with parties and what is known
	unsaved  bool // claims or tables are newer than the book
	savedAt  time.Time
	saveAt   time.Time // not before, since the disk failed
	saving   *groupSave
}

// groupSurvey is the look for devices outside the site.
type groupSurvey struct {
	surveyed bool      // since the bus was opened, its devices changed, or the last order
	looked   bool      // ever since the bus was opened
	surveyAt time.Time // not before
}

// groupWork is what is being done.
type groupWork struct {
	job    *groupJob
	order  *groupOrder
	turnAt time.Time     // of the last exchange
	took   time.Duration // it took so long, by its driver's account
}

// groupDevice is one device and what is known of its table.
type groupDevice struct {
	name    string
	held    []string
	table   tableState
	lost    bool // it went offline: another one may come back in its place
	armed   bool // the book says that its table is not known
	readAt  time.Time
	cost    time.Duration // bus time that reading took
	due     time.Time     // not asked before
	fails   int           // in a row, of reading
	missed  int           // writes in a row that it did not keep
	doubts  int           // how often it was read again in vain after a frame that it missed
	writes  int           // without an order, since
	since   time.Time
	trouble string
}

// tableState is what is known of a device's table.
type tableState uint8

const (
	tableUnknown  tableState = iota
	tableRecalled            // as it was before the bus was opened, or the device came back
	tableRead                // as it was read since
	tableRefused             // it keeps its table to itself; the declaration is all there is
)

func (d *groupDevice) known() bool { return d.table != tableUnknown }

// doubted: another device may be there, or this one was written by somebody else.
func (d *groupDevice) doubted() {
	if d.table == tableRead {
		d.table = tableRecalled
	}
}

// groupSave is a write of the book under way. The book's goroutine closes it.
type groupSave struct {
	done   atomic.Bool
	failed atomic.Bool
}

// groupOrder is an installer's order to bring the tables in step now.
type groupOrder struct {
	ctx   context.Context
	step  func(appliance.GroupProgress)
	done  chan error // holds one
	since time.Time
	tried map[string]bool // devices that were written, or could not be read
}

func newGrouping(b *bus, book *groupBook) *grouping {
	driver, ok := b.driver().(appliance.Grouper)
	if !ok {
		return nil
	}
	g := &grouping{bus: b, book: book}
	g.place(driver, true)
	g.view.Mode = g.space.Mode
	return g
}

// place takes the devices of the bus; what is known of their tables holds on, unless they
// may be others.
func (g *grouping) place(driver appliance.Grouper, afresh bool) {
	old := g.byName
	g.driver, g.space, g.devices, g.byName, g.dirty = driver, driver.GroupSpace(), nil, map[string]*groupDevice{}, true
	w := g.bus.present.Load()
	for _, n := range w.config.Nodes {
		name, ok := w.opened.Device[n.ID]
		if !ok || g.byName[name] != nil {
			continue
		}
		d := old[name]
		if d == nil {
			d = &groupDevice{name: name}
			g.surveyed, g.allotted = false, false
		}
		if afresh {
			d.doubted()
		}
		g.devices = append(g.devices, d)
		g.byName[name] = d
	}
	if len(g.devices) < len(old) {
		g.surveyed, g.allotted = false, false // strangers now
	}
}

// configure takes the devices of another wiring of the bus.
func (g *grouping) configure(same bool) {
	if g == nil {
		return
	}
	g.place(g.bus.driver().(appliance.Grouper), !same)
	if g.job != nil && g.job.device != nil && g.byName[g.job.device.name] != g.job.device {
		g.drop()
	}
	g.show(time.Now())
}

// heed takes the clusters of a site that is put in force. Safe from any goroutine.
func (g *grouping) heed(clusters []appliance.Cluster) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.clusters, g.news = clusters, true
}

// submit hands over an installer's order, one at a time.
func (g *grouping) submit(o *groupOrder) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.incoming != nil && g.incoming.ctx.Err() == nil {
		return fmt.Errorf("%w: its groups are being written already", appliance.ErrBusy)
	}
	g.incoming = o
	return nil
}

// shown is how things stood when they were last looked at.
func (g *grouping) shown() appliance.Grouping {
	g.mu.Lock()
	defer g.mu.Unlock()
	v := g.view
	v.Clusters, v.Devices = slices.Clone(v.Clusters), slices.Clone(v.Devices)
	return v
}

// recall takes over what was known before the restart.
func (g *grouping) recall() {
	if g == nil || g.space.Mode == appliance.GroupsOff {
		return
	}
	memory := g.book.of(g.bus.config().Bus.UUID)
	g.claims, g.leaving = slices.Clone(memory.Claims), slices.Clone(memory.Leaving)
	for _, t := range memory.Tables {
		if d := g.byName[t.Device]; d != nil {
			d.held, d.writes, d.since = t.Held, t.Writes, t.Since
			if t.Known {
				d.table = tableRecalled
			}
		}
	}
	g.show(time.Now())
}

// cameBack is told that a device answers which was not online.
func (g *grouping) cameBack(device string) {
	if g == nil {
		return
	}
	if d := g.byName[device]; d != nil {
		if d.doubted(); d.lost {
			d.table = tableUnknown
		}
		d.lost, d.fails, d.due = false, 0, time.Time{}
		g.allotted, g.dirty = false, true
		g.show(time.Now())
	}
}

// lostDevice is told that a device went offline.
func (g *grouping) lostDevice(device string) {
	if g == nil {
		return
	}
	if d := g.byName[device]; d != nil {
		d.lost, g.dirty = true, true
	}
}

// doubt is told that a member did not do what a group frame said.
func (g *grouping) doubt(p *piece, m *member) {
	if g == nil || !p.chain.Group || m.writes > 1 || len(m.record.members) < 2 {
		return
	}
	on := g.bus.deviceFor(m.target.Ref)
	if on == nil {
		return
	}
	d := g.byName[on.name]
	if d == nil || d.table == tableRefused || time.Since(d.readAt) < min(groupDoubt<<min(d.doubts, 12), groupPauseMost) {
		return
	}
	d.doubts++
	d.table, g.dirty = tableUnknown, true
	g.show(time.Now())
}

// busDown ends what cannot go on.
func (g *grouping) busDown(why error) {
	if g == nil {
		return
	}
	g.drop()
	g.takeNews(time.Now())
	g.endOrder(why)
	g.dirty = true
}

// answers reports whether a device is there; judged, whether that is known.
func (g *grouping) answers(d *groupDevice) (answers, judged bool) {
	on := g.bus.device(d.name)
	return on.online && !on.suspect(), on.online || on.suspect()
}

// may reports whether tables may be written at all.
func (g *grouping) may() bool { return g.space.Mode == appliance.GroupsKept || g.order != nil }

// takeNews takes what other goroutines handed over.
func (g *grouping) takeNews(now time.Time) {
	g.mu.Lock()
	clusters, news, order := g.clusters, g.news, g.incoming
	g.news = false
	g.mu.Unlock()
	if news {
		g.parties = g.partiesOf(clusters)
		g.allotted, g.dirty = false, true
	}
	if order != nil && g.order == nil {
		order.since, order.tried = now, map[string]bool{}
		g.order, g.surveyed, g.surveyAt, g.allotted = order, false, time.Time{}, false
	}
	if g.order != nil && g.order.ctx.Err() != nil {
		g.endOrder(g.order.ctx.Err())
	}
	if s := g.saving; s != nil && s.done.Load() {
		if g.saving = nil; s.failed.Load() {
			g.unsaved, g.saveAt = true, now.Add(groupSaveEvery)
		}
	}
}

// endOrder tells whoever waits.
func (g *grouping) endOrder(err error) {
	if g.order == nil {
		return
	}
	g.mu.Lock()
	if g.incoming == g.order {
		g.incoming = nil
	}
	g.mu.Unlock()
	g.order.done <- err // who waits may order anew at once
	g.order = nil
}

func (g *grouping) tell(device, what string) {
	if g.order != nil {
		g.order.step(appliance.GroupProgress{Device: device, What: what})
	}
}

// next is what groups need next, if anything. idle says that nothing else is due.
func (g *grouping) next(now time.Time, idle bool) *task {
	if g == nil || g.space.Mode == appliance.GroupsOff {
		return nil
	}
	g.takeNews(now)
	defer g.show(now)
	if !idle && now.Sub(g.turnAt) < g.turn() {
		return nil
	}
	for {
		if g.job == nil {
			if g.job = g.choose(now); g.job == nil {
				return nil
			}
		}
		j := g.job
		if j.step == nil {
			step, ok := j.next()
			if !ok {
				g.finish(j, now)
				continue
			}
			j.step, j.tries = &step, 0
		}
		if later(j.notBefore, g.bus.device(j.step.Device).restReads).After(now) {
			return nil
		}
		g.turnAt, g.took = now, j.step.Airtime
		return &task{exchange: j.step, settle: func(res appliance.Result, err error, now time.Time) { g.settle(j, res, err, now) }}
	}
}

// turn is how long after the last exchange the next may go before polls.
func (g *grouping) turn() time.Duration {
	for _, d := range g.devices {
		if there, _ := g.answers(d); there && !d.known() {
			return min(groupTurn, groupHurry*g.took)
		}
	}
	return groupTurn
}

// save writes down what must outlive a restart, if nothing is being written.
func (g *grouping) save(now time.Time) {
	if g.saving != nil {
		return
	}
	memory := appliance.BusGroups{Claims: slices.Clone(g.claims), Leaving: slices.Clone(g.leaving)}
	for _, d := range g.devices {
		known := d.known() && !d.armed
		if known || d.writes > 0 {
			memory.Tables = append(memory.Tables, appliance.GroupTable{Device: d.name, Held: d.held, Known: known, Writes: d.writes, Since: d.since})
		}
	}
	s := &groupSave{}
	g.saving, g.unsaved, g.savedAt = s, false, now
	g.book.put(g.bus.config().Bus.UUID, memory, func(err error) {
		s.failed.Store(err != nil)
		s.done.Store(true)
		g.bus.poke()
	})
}

// settle judges an exchange.
func (g *grouping) settle(j *groupJob, res appliance.Result, err error, now time.Time) {
	switch {
	case g.job != j:
		return // ended meanwhile
	case errors.Is(err, appliance.ErrPreempted) && res.Sent.IsZero():
		return // again later
	case err == nil:
		j.cost += j.step.Airtime
		j.step = nil
		return
	case j.kind == surveying && !errors.Is(err, appliance.ErrBusDown):
		j.step = nil // who does not tell is not asked again
		return
	case errors.Is(err, appliance.ErrBusy) && j.tries < 2*groupTries:
		j.tries++
		j.notBefore = now.Add(groupBusyPause)
		return
	case errors.Is(err, appliance.ErrSilent) || errors.Is(err, appliance.ErrDamaged) || errors.Is(err, appliance.ErrPreempted):
		if j.tries++; j.tries < groupTries {
			return
		}
	}
	g.drop()
	g.failed(j, err, now)
}
