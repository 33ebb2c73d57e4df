package control

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"svc.internal/controller/appliance"
)

// publishEvery is how often changes of values that nobody waits for become
// visible at most. Outcomes of commands are published at once.
const publishEvery = 50 * time.Millisecond

// state is what is known of the whole site. Buses write it under its lock;
// readers only ever see the published snapshot.
type state struct {
	current atomic.Pointer[appliance.Snapshot]
	kick    chan struct{} // something was learned that is not published yet
	begun   chan struct{} // a shade that was known to stand begins to move

	mu      sync.Mutex
	values  uint64
	site    *appliance.Site
	index   *appliance.Index
	nodes   []*appliance.NodeState  // parallel to site.Nodes
	shades  []*appliance.ShadeState // parallel to site.Shades
	buses   []*appliance.BusState   // parallel to site.Buses
	faults  []appliance.Fault
	hold    map[appliance.Ref]hold // fades under way
	fresh   map[any]bool           // states made since the last snapshot, still ours to change
	dirty   bool
	unsaved map[appliance.Ref]bool // things to write behind
	unheard map[appliance.ID]bool  // shades that may run by a frame that nobody acknowledged
}

// hold shows the level that a channel was ordered while its device fades.
type hold struct {
	until time.Time
	level appliance.Level
	read  appliance.Known[appliance.Level] // what it was really read to have
}

func newState() *state {
	s := &state{kick: make(chan struct{}, 1), begun: make(chan struct{}, 1), hold: map[appliance.Ref]hold{}, fresh: map[any]bool{}, unheard: map[appliance.ID]bool{}, unsaved: map[appliance.Ref]bool{}}
	s.replace(&appliance.Site{}, nil, nil, nil)
	return s
}

// replace puts another site in place of the present one, keeping what is known of
// things that both have.
func (s *state) replace(site *appliance.Site, nodes []*appliance.NodeState, shades []*appliance.ShadeState, faults []appliance.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.index
	for _, n := range nodes {
		if old == nil {
			break
		}
		if i, ok := old.Node[n.Node.ID]; ok {
			carryNode(n, s.nodes[i])
		}
	}
	for _, sh := range shades {
		if old == nil {
			break
		}
		if i, ok := old.Shade[sh.Shade.ID]; ok && s.shades[i].Shade.SameMotor(sh.Shade, s.site.Nodes, site.Nodes) {
			carryShade(sh, s.shades[i])
			if sh.Fault != "" && moves(sh) { // nobody watches it any more
				sh.Motion, sh.Position, sh.Uncertainty = appliance.MotionUnknown, appliance.Known[appliance.Position]{}, 0
			}
			if sh.Shade.Inverted != s.shades[i].Shade.Inverted {
				sh.Position.Value = 100 - sh.Position.Value // the same place, if it is known at all
				s.unsaved[appliance.Ref{Shade: sh.Shade.ID}] = true
			}
		}
	}
	s.site, s.index = site, appliance.NewIndex(site)
	s.nodes, s.shades, s.faults = nodes, shades, faults
	s.replaceBuses(site)
	for _, n := range nodes {
		n.Clusters = s.index.ClustersOfNode[n.Node.ID]
		summarise(n)
	}
	for _, sh := range shades {
		sh.Clusters = s.index.ClustersOfShade[sh.Shade.ID]
	}
	clear(s.fresh)
	clear(s.unheard)
	s.values++
	s.publishLocked()
}

// replaceBuses keeps the health of buses that go on.
func (s *state) replaceBuses(site *appliance.Site) {
	old := s.buses
	s.buses = make([]*appliance.BusState, len(site.Buses))
	for i := range site.Buses {
		bus := appliance.BusState{}
		for _, o := range old {
			if o.Bus.UUID == site.Buses[i].UUID {
				bus = *o
			}
		}
		bus.Bus = &site.Buses[i]
		s.buses[i] = &bus
	}
}

// certainty of the position of a shade that is shown, and of when that is.
func (s *state) certainty(shade appliance.ID) (uncertainty int, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i, ok := s.index.Shade[shade]; ok {
		return s.shades[i].Uncertainty, s.shades[i].Position.At
	}
	return 0, time.Time{}
}

// carryNode takes over what is known of a node. Of one that is somewhere else now,
// nothing is: its new device is asked first.
func carryNode(n, old *appliance.NodeState) {
	if !n.Node.SamePlace(old.Node) {
		return
	}
	n.LastSeen = old.LastSeen
	n.Online = old.Online && n.Fault == ""
	for i := range n.Channels {
		if i >= len(old.Channels) || n.Channels[i].Abilities != old.Channels[i].Abilities {
			break
		}
		profile := n.Channels[i].Channel
		n.Channels[i] = old.Channels[i]
		n.Channels[i].Channel = profile
	}
}

func carryShade(sh, old *appliance.ShadeState) {
	sh.LastSeen, sh.Position, sh.Uncertainty = old.LastSeen, old.Position, old.Uncertainty
	sh.Online = old.Online && sh.Fault == ""
	sh.Motion = old.Motion
}

// edit returns a node that may be changed until the next snapshot.
func (s *state) edit(i int) *appliance.NodeState {
	n := s.nodes[i]
	if s.fresh[n] {
		return n
	}
	c := *n
	c.Channels = slices.Clone(n.Channels)
	s.nodes[i] = &c
	s.fresh[&c] = true
	return &c
}

func (s *state) editShade(i int) *appliance.ShadeState {
	sh := s.shades[i]
	if s.fresh[sh] {
		return sh
	}
	c := *sh
	s.shades[i] = &c
	s.fresh[&c] = true
	return &c
}

// learn takes readings of any source; at a channel whose device is fading, a
// measured level between is seen but not shown.
func (s *state) learn(readings []appliance.Reading, source appliance.Source) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range readings {
		if r.Shade != 0 {
			continue // shades are learned through their mover, which models them
		}
		if i, ok := s.index.Node[r.Node]; ok && r.Channel >= 1 && r.Channel <= len(s.nodes[i].Channels) {
			s.learnChannel(i, r, source)
		}
	}
	s.markLocked()
}

func (s *state) learnChannel(i int, r appliance.Reading, source appliance.Source) {
	n := s.edit(i)
	c := &n.Channels[r.Channel-1]
	changed := false
	if r.SpeaksOfLevel() && !s.held(r.Ref, r.Level, r.At, source) {
		changed = set(&c.Level, r.Level, r.At, source) || changed
		if r.Level > 0 && c.LastLevel != r.Level {
			c.LastLevel = r.Level
			s.unsaved[r.Ref] = true
		}
	}
	if r.Has.Has(appliance.CanTune) {
		changed = set(&c.Kelvin, r.Kelvin, r.At, source) || changed
	}
	if r.Has.Has(appliance.CanColour) {
		changed = set(&c.RGBW, r.RGBW, r.At, source) || changed
	}
	if changed {
		s.unsaved[r.Ref] = true
	}
	if r.Has.Has(appliance.CanMeasure) {
		changed = set(&c.Power, r.Power, r.At, source) || changed
	}
	if source == appliance.Measured {
		n.LastSeen = newer(n.LastSeen, r.At)
	}
	summarise(n)
	if changed {
		s.values++
	}
}

// held reports whether a fade towards another level hides this measured one.
func (s *state) held(ref appliance.Ref, l appliance.Level, at time.Time, source appliance.Source) bool {
	h, ok := s.hold[ref]
	if !ok {
		return false
	}
	if source == appliance.Measured && l != h.level && time.Now().Before(h.until) {
		h.read = appliance.Known[appliance.Level]{Value: l, At: at, Source: source}
		s.hold[ref] = h
		return true
	}
	delete(s.hold, ref)
	return false
}

// expect shows the level that a channel was ordered instead of what its device reports,
// until it has had the time to fade there or its command has ended.
func (s *state) expect(ref appliance.Ref, target appliance.Level, fade time.Duration) {
	if fade <= 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.index.Node[ref.Node]
	if !ok || ref.Channel < 1 || ref.Channel > len(s.nodes[i].Channels) {
		return
	}
	n := s.edit(i)
	c := &n.Channels[ref.Channel-1]
	h, fading := s.hold[ref]
	if !fading {
		h.read = c.Level
	}
	h.until, h.level = time.Now().Add(fade), target
	s.hold[ref] = h
	s.showLevel(n, c, appliance.Known[appliance.Level]{Value: target, At: time.Now(), Source: appliance.Acknowledged})
}

// asRead ends what expect began: what was read is shown, and nothing else.
func (s *state) asRead(ref appliance.Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, ok := s.hold[ref]
	delete(s.hold, ref)
	i, known := s.index.Node[ref.Node]
	if !ok || !known || ref.Channel < 1 || ref.Channel > len(s.nodes[i].Channels) {
		return
	}
	n := s.edit(i)
	s.showLevel(n, &n.Channels[ref.Channel-1], h.read)
}

func (s *state) showLevel(n *appliance.NodeState, c *appliance.ChannelState, l appliance.Known[appliance.Level]) {
	if c.Level.OK() != l.OK() || c.Level.Value != l.Value {
		s.values++
	}
	c.Level = l
	summarise(n)
	s.markLocked()
}

// set stores a value with its age and reports whether a reader could see the
// difference.
func set[T comparable](k *appliance.Known[T], v T, at time.Time, source appliance.Source) bool {
	changed := !k.OK() || k.Value != v
	*k = appliance.Known[T]{Value: v, At: at, Source: source}
	return changed
}

// learnShade stores what a mover knows of its shade.
func (s *state) learnShade(id appliance.ID, unheard bool, update func(*appliance.ShadeState)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.index.Shade[id]
	if !ok {
		return
	}
	before := *s.shades[i]
	sh := s.editShade(i)
	update(sh)
	if before.Position.Value != sh.Position.Value || before.Position.OK() != sh.Position.OK() || before.Motion != sh.Motion {
		s.values++
		if before.Motion != sh.Motion || !moves(sh) {
			s.unsaved[appliance.Ref{Shade: id}] = true
		}
	}
	if moves(sh) && !moves(&before) {
		select {
		case s.begun <- struct{}{}:
		default:
		}
	}
	if s.unheard[id] != unheard {
		s.unheard[id] = unheard
		s.unsaved[appliance.Ref{Shade: id}] = true
	}
	s.markLocked()
}

// setOnline marks nodes, and the shades on them, as answering or not.
func (s *state) setOnline(nodes []appliance.ID, online bool, seen time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	on := make(map[appliance.ID]bool, len(nodes))
	for _, id := range nodes {
		on[id] = true
		i, ok := s.index.Node[id]
		if !ok || s.nodes[i].Fault != "" {
			continue
		}
		n := s.edit(i)
		if n.Online != online {
			n.Online = online
			s.values++
		}
		n.LastSeen = newer(n.LastSeen, seen)
	}
	for i, sh := range s.shades {
		if !on[sh.Shade.Node] || sh.Fault != "" {
			continue
		}
		e := s.editShade(i)
		if e.Online != online {
			e.Online = online
			s.values++
		}
		e.LastSeen = newer(e.LastSeen, seen)
	}
	s.markLocked()
}

// setBus stores the health of a bus. It counts as a visible change only when the
// bus goes up or down.
func (s *state) setBus(b *appliance.BusState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, old := range s.buses {
		if old.Bus.UUID == b.Bus.UUID {
			if old.Up != b.Up || old.Fault != b.Fault {
				s.values++
			}
			b.Bus = old.Bus
			s.buses[i] = b
			s.markLocked()
		}
	}
}

// markLocked asks for a new snapshot before long.
func (s *state) markLocked() {
	s.dirty = true
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// publish makes everything learned so far visible.
func (s *state) publish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dirty {
		s.publishLocked()
	}
}

func (s *state) publishLocked() {
	old := s.current.Load()
	next := appliance.NewSnapshot(appliance.Snapshot{
		At: time.Now(), Values: s.values, Site: s.site,
		Nodes: slices.Clone(s.nodes), Shades: slices.Clone(s.shades), Buses: slices.Clone(s.buses),
		Faults: s.faults, Index: s.index,
	}, old)
	next.Clusters = s.clusterStates(next, old)
	clear(s.fresh)
	s.dirty = false
	s.current.Store(next)
	if old != nil {
		old.Supersede()
	}
}

// moves reports whether a shade is, as far as is known, on its way.
func moves(sh *appliance.ShadeState) bool {
	return sh.Motion == appliance.Opening || sh.Motion == appliance.Closing || sh.Motion == appliance.Moving
}

// newer is when something was last seen: before a restart, by a clock that may have been
// ahead of the present one, or since.
func newer(before, since time.Time) time.Time {
	if !since.IsZero() && before.After(time.Now()) {
		return since
	}
	return later(before, since)
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
