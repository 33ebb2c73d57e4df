package link

import (
	"context"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
	"svc.internal/controller/cloud/wire"
)

const (
	// followEvery is how often the core is looked at while it changes.
	followEvery = 500 * time.Millisecond
	// confirmEvery is how often what has not changed is confirmed.
	confirmEvery = 30 * time.Second
	// measureEvery is how often samples of power are taken along.
	measureEvery = 5 * time.Second
)

// follower knows what was last said of every thing.
type follower struct {
	core *control.Controller
	box  *outbox
	emit func(wire.Event)

	watch     *watch
	last      *appliance.Snapshot
	said      map[key]*wire.State
	sampled   map[appliance.ID]time.Time
	confirmed time.Time
	measured  time.Time
	whole     chan struct{} // ask for the whole state
}

func newFollower(core *control.Controller, box *outbox, emit func(wire.Event)) *follower {
	return &follower{
		core: core, box: box, emit: emit, watch: newWatch(time.Now()),
		said: map[key]*wire.State{}, sampled: map[appliance.ID]time.Time{}, whole: make(chan struct{}, 1),
	}
}

// all asks for the whole state to be sent.
func (f *follower) all() {
	select {
	case f.whole <- struct{}{}:
	default:
	}
}

// run follows the core until ctx ends.
func (f *follower) run(ctx context.Context) {
	pace := time.NewTicker(followEvery)
	defer pace.Stop()
	for {
		snap := f.core.Snapshot()
		f.look(snap, time.Now())
		select {
		case <-ctx.Done():
			return
		case <-f.whole:
			f.say(newPicture(f.core.Snapshot()), true)
			continue
		case <-pace.C:
		}
		select { // an idle house is looked at when something is to be confirmed
		case <-ctx.Done():
			return
		case <-f.whole:
			f.say(newPicture(f.core.Snapshot()), true)
		case <-snap.Superseded():
		case <-time.After(confirmEvery):
		}
	}
}

// look says what changed since the last look.
func (f *follower) look(snap *appliance.Snapshot, now time.Time) {
	if snap != f.last {
		p := newPicture(snap)
		f.say(p, false)
		for _, e := range f.watch.look(p, now) {
			f.emit(e)
		}
		f.last = snap
	}
	if now.Sub(f.measured) >= measureEvery {
		f.measured = now
		f.measure(snap)
	}
	if now.Sub(f.confirmed) >= confirmEvery {
		f.confirmed = now
		f.confirm()
	}
}

// say puts states into the outbox: all of them, or those that differ from what was last said.
func (f *follower) say(p *picture, all bool) {
	if all {
		f.box.forgetStates()
	}
	there := make(map[key]bool, len(f.said))
	tell := func(s *wire.State) {
		k := key{s.Kind, s.ID}
		there[k] = true
		old := f.said[k]
		f.said[k] = s // with the newest ages
		if all || old == nil || !same(old, s) {
			f.box.state(k, s)
		}
	}
	tell(p.site())
	for i := range p.snap.Buses {
		tell(p.bus(i))
	}
	for _, c := range p.snap.Clusters {
		tell(p.cluster(c))
	}
	for _, n := range p.snap.Nodes {
		tell(p.node(n))
	}
	for _, s := range p.snap.Shades {
		tell(p.shade(s))
	}
	for k := range f.said {
		if !there[k] {
			delete(f.said, k)
			f.box.state(k, nil)
		}
	}
}

// measure takes along every power that was read since the last time.
func (f *follower) measure(snap *appliance.Snapshot) {
	var samples []wire.Sample
	for _, n := range snap.Nodes {
		if p := n.Power; p.Source == appliance.Measured && p.At.After(f.sampled[n.Node.ID]) {
			f.sampled[n.Node.ID] = p.At
			samples = append(samples, wire.Sample{Node: int64(n.Node.ID), Power: p.Value, At: p.At.UTC()})
		}
	}
	for id := range f.sampled {
		if snap.Node(id) == nil {
			delete(f.sampled, id)
		}
	}
	if len(samples) > 0 {
		f.box.measure(samples)
	}
}

// confirm tells since when what was last said is known to hold.
func (f *follower) confirm() {
	seen := []wire.Seen{}
	for k, s := range f.said {
		if at := readAt(s); !at.IsZero() && s.Online != nil && *s.Online {
			seen = append(seen, wire.Seen{Kind: k.kind, ID: k.id, At: at})
		}
	}
	f.box.confirm(seen)
}
