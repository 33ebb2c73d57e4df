package engine

import (
	"errors"
	"slices"
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
	// A device that failed is left alone for a while, from groupPause, doubling, to
	// groupPauseMost.
	groupPause     = time.Minute
	groupPauseMost = time.Hour
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
	bus    *State
	driver appliance.Grouper
	space  appliance.GroupSpace

	devices []*groupDevice // in the order of their nodes
	byName  map[string]*groupDevice
	claims  groupClaims
	survey  groupSurvey
	work    groupWork
	use     appliance.GroupUse
	shownAt time.Time
	dirty   bool // use and view are out of date
}

// groupClaims say who has which group, and whether the book knows that.
type groupClaims struct {
	sections []section
	list     []appliance.GroupClaim
	leaving  []string
	allotted bool // claims are in step with sections and what is known
	unsaved  bool // claims or tables are newer than the book
	savedAt  time.Time
	saveAt   time.Time // not before, since the disk failed
	saving   bool      // the disk has not said how that went
}

// groupSurvey is the look for devices outside the site.
type groupSurvey struct {
	done   bool      // since the bus was opened, its devices changed, or the last order
	looked bool      // ever since the bus was opened
	at     time.Time // not before
}

// groupWork is what is being done.
type groupWork struct {
	job    *tableJob
	order  *groupOrder
	turnAt time.Time     // of the last exchange
	took   time.Duration // it took so long, by its driver's account
}

// groupDevice is one device and what is known of its table.
type groupDevice struct {
	name    string
	held    []string
	table   tableState
	away    bool // it went offline: another one may come back in its place
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

// groupOrder is an installer's order to bring the tables in step now.
type groupOrder struct {
	since time.Time
	tried map[string]bool // devices that were written, or could not be read
}

func newGrouping(s *State) *grouping {
	driver, ok := s.driver().(appliance.Grouper)
	if !ok {
		return nil
	}
	g := &grouping{bus: s}
	g.place(driver, true)
	s.do(GroupsShown{appliance.Grouping{Mode: g.space.Mode}})
	return g
}

// place takes the devices of the bus; what is known of their tables holds on, unless they
// may be others.
func (g *grouping) place(driver appliance.Grouper, afresh bool) {
	old := g.byName
	g.driver, g.space, g.devices, g.byName, g.dirty = driver, driver.GroupSpace(), nil, map[string]*groupDevice{}, true
	w := g.bus.wiring
	for _, n := range w.Config.Nodes {
		name, ok := w.Opened.Device[n.ID]
		if !ok || g.byName[name] != nil {
			continue
		}
		d := old[name]
		if d == nil {
			d = &groupDevice{name: name}
			g.survey.done, g.claims.allotted = false, false
		}
		if afresh {
			d.doubted()
		}
		g.devices = append(g.devices, d)
		g.byName[name] = d
	}
	if len(g.devices) < len(old) {
		g.survey.done, g.claims.allotted = false, false // strangers now
	}
}

// configure takes the devices of another wiring of the bus.
func (g *grouping) configure(same bool) {
	if g == nil {
		return
	}
	g.place(g.bus.driver().(appliance.Grouper), !same)
	if j := g.work.job; j != nil && j.device != nil && g.byName[j.device.name] != j.device {
		g.drop()
	}
	g.show()
}

func (e Clusters) step(s *State) {
	if g := s.groups; g != nil && g.space.Mode != appliance.GroupsOff {
		g.claims.sections = g.sectionsOf(e.List)
		g.claims.allotted, g.dirty = false, true
	}
}

func (Order) step(s *State) {
	g := s.groups
	g.work.order = &groupOrder{since: s.now, tried: map[string]bool{}}
	g.survey.done, g.survey.at, g.claims.allotted = false, time.Time{}, false
}

func (e CountermandOrder) step(s *State) { s.groups.endOrder(e.Why) }

func (e Saved) step(s *State) {
	g := s.groups
	if g.claims.saving = false; e.Failed {
		g.claims.unsaved, g.claims.saveAt = true, s.now.Add(groupSaveEvery)
	}
}

func (e Recall) step(s *State) {
	g := s.groups
	if g == nil || g.space.Mode == appliance.GroupsOff {
		return
	}
	g.claims.list, g.claims.leaving = slices.Clone(e.Groups.Claims), slices.Clone(e.Groups.Leaving)
	for _, t := range e.Groups.Tables {
		if d := g.byName[t.Device]; d != nil {
			d.held, d.writes, d.since = t.Held, t.Writes, t.Since
			if t.Known {
				d.table = tableRecalled
			}
		}
	}
	g.show()
}

// cameBack notes that a device answers which was not online.
func (g *grouping) cameBack(device string) {
	if g == nil {
		return
	}
	if d := g.byName[device]; d != nil {
		if d.doubted(); d.away {
			d.table = tableUnknown
		}
		d.away, d.fails, d.due = false, 0, time.Time{}
		g.claims.allotted, g.dirty = false, true
		g.show()
	}
}

// wentAway notes that a device went offline.
func (g *grouping) wentAway(device string) {
	if g == nil {
		return
	}
	if d := g.byName[device]; d != nil {
		d.away, g.dirty = true, true
	}
}

// doubt notes that a member did not do what a group frame said.
func (g *grouping) doubt(p *piece, m *member) {
	if g == nil || !p.chain.Group || m.writes > 1 || len(m.command.Wants) < 2 {
		return
	}
	on := g.bus.deviceFor(m.target.Ref)
	if on == nil {
		return
	}
	d := g.byName[on.name]
	if d == nil || d.table == tableRefused || g.bus.now.Sub(d.readAt) < min(groupDoubt<<min(d.doubts, 12), groupPauseMost) {
		return
	}
	d.doubts++
	d.table, g.dirty = tableUnknown, true
	g.show()
}

// busDown ends what cannot go on.
func (g *grouping) busDown(why error) {
	if g == nil {
		return
	}
	g.drop()
	g.endOrder(why)
	g.dirty = true
}

// answers reports whether a device is there; judged, whether that is known.
func (g *grouping) answers(d *groupDevice) (answers, judged bool) {
	on := g.bus.device(d.name)
	return on.online && !on.suspect(), on.online || on.suspect()
}

// may reports whether tables may be written at all.
func (g *grouping) may() bool { return g.space.Mode == appliance.GroupsKept || g.work.order != nil }

// endOrder tells whoever waits.
func (g *grouping) endOrder(err error) {
	if g == nil || g.work.order == nil {
		return
	}
	g.work.order = nil
	g.bus.do(Ordered{err})
}

// progress tells who ordered it what is done.
func (g *grouping) progress(device, what string) {
	if g.work.order != nil {
		g.bus.do(Progress{appliance.GroupProgress{Device: device, What: what}})
	}
}

// next is what groups need next, if anything. idle says that nothing else is due.
func (g *grouping) next(idle bool) *task {
	if g == nil || g.space.Mode == appliance.GroupsOff {
		return nil
	}
	defer g.show()
	now, w := g.bus.now, &g.work
	if !idle && now.Sub(w.turnAt) < g.turn() {
		return nil
	}
	if w.job == nil {
		w.job = g.choose()
	}
	j := w.job
	if j == nil || j.step == nil || later(j.notBefore, g.bus.device(j.step.Device).restReads).After(now) {
		return nil
	}
	w.turnAt, w.took = now, j.step.Airtime
	return &task{exchange: j.step, table: j}
}

func (e Next) step(s *State) {
	g := s.groups
	switch j := g.work.job; {
	case e.Exchange != nil:
		j.step, j.tries = e.Exchange, 0
	default:
		j.whole, j.held = e.Whole, e.Held
		g.finish(j)
	}
}

// turn is how long after the last exchange the next may go before polls.
func (g *grouping) turn() time.Duration {
	for _, d := range g.devices {
		if there, _ := g.answers(d); there && !d.known() {
			return min(groupTurn, groupHurry*g.work.took)
		}
	}
	return groupTurn
}

// save writes down what must outlive a restart, if nothing is being written.
func (g *grouping) save() {
	if g.claims.saving {
		return
	}
	memory := appliance.BusGroups{Claims: slices.Clone(g.claims.list), Leaving: slices.Clone(g.claims.leaving)}
	for _, d := range g.devices {
		known := d.known() && !d.armed
		if known || d.writes > 0 {
			memory.Tables = append(memory.Tables, appliance.GroupTable{Device: d.name, Held: d.held, Known: known, Writes: d.writes, Since: d.since})
		}
	}
	g.claims.saving, g.claims.unsaved, g.claims.savedAt = true, false, g.bus.now
	g.bus.do(Save{memory})
}

// judge takes the outcome of an exchange.
func (g *grouping) judge(j *tableJob, res appliance.Result, err error) {
	switch {
	case g == nil || g.work.job != j:
		return // ended meanwhile
	case errors.Is(err, appliance.ErrPreempted) && res.Sent.IsZero():
		return // again later
	case err == nil:
		j.cost += j.step.Airtime
		j.goOn(g)
		return
	case j.kind == Surveying && !errors.Is(err, appliance.ErrBusDown):
		j.goOn(g) // who does not tell is not asked again
		return
	case errors.Is(err, appliance.ErrOverslept):
		return // it tells nothing of the device
	}
	wait, ok := ofTables.again(err, j.tries)
	if j.tries++; ok {
		j.notBefore = g.bus.now.Add(wait)
		return
	}
	g.drop()
	g.failed(j, err)
}
