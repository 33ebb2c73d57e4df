package engine

import (
	"cmp"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/shade"
)

// State is all that a bus knows: what hangs off it, who answers, and what has to be done.
type State struct {
	now      time.Time // of the event that is taken
	actions  []Action
	outcomes []Action // go behind the others

	wiring   *Wiring // nil: not configured yet
	link     link
	beliefs  beliefs
	motors   map[appliance.ID]*motor
	order    []*motor // by ID
	devices  map[string]*device
	deviceOf map[appliance.ID]*device
	absent   map[appliance.ID]bool // nodes that do not answer behind a gateway that does

	pieces   []*piece
	begun    uint64           // commands that the engine gave itself
	tasks    map[uint64]*task // that were given out
	number   uint64           // of the last of them
	schedule *schedule
	behind   behind
	groups   *grouping // nil: the driver knows no groups
	accounts accounts
}

// accounts are what a bus spends its time on, and when that was last shown.
type accounts struct {
	probes   budget // bus time for probes
	attempts budget // and for commands to devices that are offline
	use      use
	stats    appliance.BusStats
	shown    time.Time
}

// behind is what a bus does behind commands, besides polls and groups.
type behind struct {
	jobs     []*job
	scanTurn bool            // a poll was the last to go, so a scan may
	found    bool            // the last exchange was to find out who is gone
	looked   bool            // it was the turn of a shade that moves
	wrote    []appliance.Ref // what the last exchange of a command ordered something
}

// New is the state of a bus of which nothing is known. Its first event is [Configure].
func New() *State {
	s := &State{
		link: link{down: appliance.ErrOpening}, beliefs: beliefs{}, motors: map[appliance.ID]*motor{}, devices: map[string]*device{},
		deviceOf: map[appliance.ID]*device{}, absent: map[appliance.ID]bool{}, tasks: map[uint64]*task{},
		accounts: accounts{probes: budget{share: probeShare}, attempts: budget{share: attemptShare}},
	}
	s.schedule = &schedule{motors: s.motors}
	return s
}

// Step takes what happened at a moment, and returns what has to be done, in order. Outcomes come last: whoever is told
// that a shade stands may look at once, and has to see it standing.
func (s *State) Step(now time.Time, e Event) []Action {
	s.now, s.actions, s.outcomes = now, nil, nil
	e.step(s)
	return append(s.actions, s.outcomes...)
}

func (s *State) do(a Action) { s.actions = append(s.actions, a) }

func (s *State) info(text string, args ...any) { s.do(Log{slog.LevelInfo, text, args}) }
func (s *State) warn(text string, args ...any) { s.do(Log{slog.LevelWarn, text, args}) }

func (s *State) driver() appliance.Driver { return s.wiring.Opened.Driver }

// device returns the record of a device, made at its first mention. What addresses
// no device is not kept in the books.
func (s *State) device(name string) *device {
	if name == "" {
		return &device{}
	}
	d := s.devices[name]
	if d == nil {
		d = &device{name: name}
		s.devices[name] = d
	}
	return d
}

// inTurn are the devices by name.
func (s *State) inTurn() []*device { return sorted(s.devices) }

func sorted[K cmp.Ordered, V any](of map[K]V) []V {
	out := make([]V, 0, len(of))
	for _, k := range slices.Sorted(maps.Keys(of)) {
		out = append(out, of[k])
	}
	return out
}

func (e Look) step(s *State) {
	s.checkLink(e.Down)
	s.ticks()
	s.dropExpired()
	s.showHealth()
	if e.Wait {
		s.do(Wake{s.now.Add(idleMost)})
	} else if t, at := s.next(); t != nil {
		s.perform(t)
	} else {
		s.do(Wake{at})
	}
}

// checkLink notices that the port went or came.
func (s *State) checkLink(why error) {
	switch {
	case errors.Is(why, appliance.ErrOpening), s.link.closed: // nothing to tell before the first attempt has ended
	case why == nil && !s.link.up():
		s.link.down = nil
		s.handAll(shade.Back{})
		s.schedule.renew()
		for _, d := range s.inTurn() {
			// Whoever had the port before, such as this program, may have asked something.
			d.fails, d.backoff = 0, 0
			d.restReads, d.restWrites = s.now.Add(d.late), s.now.Add(d.late)
		}
		s.accounts.shown = time.Time{}
		s.info("bus is up")
	case why != nil && (s.link.down == nil || s.link.opening() || s.link.down.Error() != why.Error()):
		s.link.down = why
		s.handAll(shade.Lost{})
		// Whatever moves must be stopped as soon as the bus is back.
		s.failAll(why, func(p *piece) bool { return p.stops() })
		s.groups.busDown(why)
		for _, d := range s.inTurn() {
			d.online = false
			s.do(Standing{Nodes: d.nodes})
		}
		s.accounts.shown = time.Time{}
		s.warn("bus is down", "why", why)
	}
}

// failAll ends everything that waits but what is kept.
func (s *State) failAll(err error, keep func(*piece) bool) {
	pieces := s.pieces
	s.pieces = nil
	for _, p := range pieces {
		if keep(p) || p.out() {
			s.pieces = append(s.pieces, p)
			continue
		}
		s.failPiece(p, err)
	}
}

func (e Reported) step(s *State) { s.learn(e.Readings, time.Time{}) }

// learn takes what devices said; asked is when the question was on the wire, zero: they
// said it unasked. It returns what is believed of that.
func (s *State) learn(readings []appliance.Reading, asked time.Time) []appliance.Reading {
	readings = slices.Clone(readings)
	s.beliefs.saw(readings)
	s.sawAbsent(readings)
	s.do(Learned{readings, appliance.Measured})
	for _, r := range readings {
		if m := s.motors[r.Shade]; r.Shade != 0 && m != nil {
			s.saw(m, r, asked)
		}
	}
	return readings
}

// sawAbsent takes what gateways say of who does not answer behind them, by node: all its
// channels hang together.
func (s *State) sawAbsent(readings []appliance.Reading) {
	for _, r := range readings {
		if s.deviceOf[r.Node] == nil || r.Absent == s.absent[r.Node] || !r.Absent && !r.SpeaksOfLevel() {
			continue
		}
		if r.Absent {
			s.absent[r.Node] = true
			s.warn("node does not answer behind its gateway", "node", r.Node)
		} else {
			delete(s.absent, r.Node)
			s.info("node answers behind its gateway", "node", r.Node)
		}
		s.do(Standing{Nodes: []appliance.ID{r.Node}, Online: !r.Absent})
	}
}

// showHealth tells how the bus is, once a second. A bus that is opened anew looks as it did
// before until it is known how that ends.
func (s *State) showHealth() {
	if s.now.Sub(s.accounts.shown) < time.Second || s.link.opening() {
		return
	}
	s.accounts.shown = s.now
	typical, worst := s.schedule.bounds()
	busy, dead := s.accounts.use.shares(s.now)
	st := appliance.BusState{
		Bus: &s.wiring.Config.Bus, Up: s.link.up(), Bound: worst, Typical: typical, Use: busy, DeadUse: dead,
		Demand: s.schedule.demand(), Queue: len(s.pieces), Stats: s.accounts.stats, Devices: s.deviceStates(),
	}
	if s.link.down != nil {
		st.Fault = s.link.down.Error()
	}
	s.do(Health{st})
	for _, m := range s.order {
		if d := s.deviceOf[m.shade.Node]; m.state.Watch() && (!s.link.up() || d != nil && !d.online) {
			s.show(m) // nobody else does while it cannot be read
		}
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// earliest of moments, of which zero is none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
