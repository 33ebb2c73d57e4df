package control

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/shade"
)

// wiring is what a bus drives: its part of the site, and what the driver makes of that.
// One that is in force does not change: another takes its place, between two frames.
type wiring struct {
	config appliance.BusConfig
	opened appliance.Opened
}

func (b *bus) config() *appliance.BusConfig { return &b.present.Load().config }

func (b *bus) driver() appliance.Driver { return b.present.Load().opened.Driver }

// atBoundary does something between two frames, when no answer is awaited, unless ctx or
// the bus has ended.
func (b *bus) atBoundary(ctx context.Context, do func()) error {
	if err := b.quiet(ctx, b.closed); err != nil {
		return err
	}
	defer func() { <-b.lead; b.poke() }()
	do()
	return nil
}

// park leaves the wire alone until the bus is configured anew. Commands wait meanwhile,
// but for runs of shades whose time counts already: they end as ordered.
func (b *bus) park() {
	b.up, b.why = false, appliance.ErrOpening
	b.link = func() error { return appliance.ErrOpening }
	b.groups.drop()
	for _, p := range b.pieces {
		b.prolong(p, p.members[0].record.ceiling())
	}
	for _, p := range slices.Clone(b.pieces) {
		if p.verifying() && slices.ContainsFunc(p.open(), func(m *member) bool { return b.motors[m.target.Shade].timed(m.target.Motion) }) {
			b.replace(p, nil)
			b.fail(p, errReopened)
		}
	}
}

var errReopened = fmt.Errorf("%w: the bus was opened anew", appliance.ErrBusDown)

// configure puts a wiring in force. What is the same in it as in before keeps what is
// known of it, and its work; with before nil, nothing is.
func (b *bus) configure(w, before *wiring, now time.Time) {
	kept := w.kept(before)
	opened := b.present.Load()
	b.present.Store(w)
	b.log = w.config.Log.With("bus", w.config.Bus.Name)
	b.freeMotors(func(m *motor) bool { return opened != nil && w.drives(opened, m.shade) })
	maps.DeleteFunc(b.absent, func(id appliance.ID, _ bool) bool { return !kept[id] })
	polls := b.driver().Polls()
	b.placeDevices(w, polls, before != nil)
	b.schedule.adopt(w.config.Freshness, polls, func(refs []appliance.Ref) bool {
		return !slices.ContainsFunc(refs, func(r appliance.Ref) bool { return !kept[w.nodeOf(r)] })
	})
	b.placeThings(w, kept)
	reopened := b.opening()
	if reopened {
		b.link = nil
		if l, ok := b.driver().(appliance.Linker); ok {
			b.link = l.Link
		}
	}
	if opened == nil {
		return
	}
	b.groups.configure(before != nil)
	b.planAnew(kept, reopened)
	for _, m := range b.motors {
		b.tell(m, now, shade.Configure{Settings: m.settings(m.shade, w.config.Freshness)})
	}
	b.shown = time.Time{}
}

// kept lists the nodes that are the same outputs of the same devices in two wirings.
func (w *wiring) kept(before *wiring) map[appliance.ID]bool {
	kept := map[appliance.ID]bool{}
	if before == nil {
		return kept
	}
	for i := range w.config.Nodes {
		n := &w.config.Nodes[i]
		old := nodeOf(before.config.Nodes, n.ID)
		same := old != nil && samePlace(old, n) && slices.Equal(old.Outputs, n.Outputs) && maps.Equal(old.Options, n.Options)
		if same && w.opened.Device[n.ID] == before.opened.Device[n.ID] && reflect.DeepEqual(w.opened.Channels[n.ID], before.opened.Channels[n.ID]) {
			kept[n.ID] = true
		}
	}
	return kept
}

// nodeOf is the node that a thing is, or hangs off.
func (w *wiring) nodeOf(r appliance.Ref) appliance.ID {
	if i := slices.IndexFunc(w.config.Shades, func(s appliance.Shade) bool { return r.Shade != 0 && s.ID == r.Shade }); i >= 0 {
		return w.config.Shades[i].Node
	}
	return r.Node
}

// drives reports whether a shade of another wiring is the same motor here.
func (w *wiring) drives(other *wiring, s appliance.Shade) bool {
	_, ok := w.opened.Shades[s.ID]
	return ok && slices.ContainsFunc(w.config.Shades, func(n appliance.Shade) bool {
		return n.ID == s.ID && sameMotor(&s, &n, other.config.Nodes, w.config.Nodes)
	})
}

// freeMotors drops the shades that are not driven any more, with their work.
func (b *bus) freeMotors(stays func(*motor) bool) {
	for id, m := range b.motors {
		if stays(m) {
			continue
		}
		for _, p := range slices.Clone(b.pieces) {
			if of := p.of(appliance.Ref{Shade: id}); of != nil {
				of.fail(errGone)
				b.drop(p, of)
			}
		}
		for _, done := range m.waiting {
			close(done)
		}
		delete(b.motors, id)
		delete(b.beliefs, appliance.Ref{Shade: id})
	}
}

var errGone = fmt.Errorf("%w on its bus any more: the site was changed", appliance.ErrNotFound)

// placeDevices takes the devices of a wiring; of those that were there it is known
// whether they answer, if keep is true.
func (b *bus) placeDevices(w *wiring, polls []appliance.Poll, keep bool) {
	old := b.devices
	b.devices, b.deviceOf = map[string]*device{}, map[appliance.ID]*device{}
	place := func(name string) *device {
		if b.devices[name] == nil && old[name] != nil && keep {
			old[name].nodes, old[name].polled, old[name].late = nil, false, 0
			b.devices[name] = old[name]
		}
		return b.device(name)
	}
	for _, n := range w.config.Nodes {
		if name, ok := w.opened.Device[n.ID]; ok {
			d := place(name)
			d.nodes = append(d.nodes, n.ID)
			b.deviceOf[n.ID] = d
		}
	}
	for _, p := range polls {
		d := place(p.Device)
		d.polled, d.late = true, max(d.late, p.Late)
	}
}

// placeThings takes the channels and shades of a wiring.
func (b *bus) placeThings(w *wiring, kept map[appliance.ID]bool) {
	old := b.beliefs
	b.beliefs = beliefs{}
	for id, channels := range w.opened.Channels {
		for i, ch := range channels {
			r := appliance.Ref{Node: id, Channel: i + 1}
			if b.beliefs[r] = old[r]; !kept[id] || old[r] == nil {
				b.beliefs[r] = &belief{clips: ch.Clips}
			}
		}
	}
	for _, s := range w.config.Shades {
		ch, ok := w.opened.Shades[s.ID]
		if !ok {
			continue
		}
		r := appliance.Ref{Shade: s.ID}
		if m := b.motors[s.ID]; m != nil {
			m.shade, m.channel, b.beliefs[r] = s, ch, old[r]
			continue
		}
		m := newMotor(s, ch, w.config.Freshness, time.Now())
		if v, ok := w.config.Last(r); ok && v.Has.Has(appliance.CanPosition) {
			uncertainty, at := b.state.certainty(s.ID)
			m.restore(v.Position, uncertainty, at)
		}
		b.motors[s.ID], b.beliefs[r] = m, &belief{}
	}
}

// planAnew plans the work that waits with what is known now. What was begun with things
// that are as they were goes on, if the port is the same.
func (b *bus) planAnew(kept map[appliance.ID]bool, reopened bool) {
	for _, p := range slices.Clone(b.pieces) {
		begun, same, plan := p.begun(), !reopened, b.driver().Plan
		for _, m := range p.open() {
			if b.channel(m.target.Ref).Abilities == 0 {
				b.failMember(m, errGone)
				continue
			}
			same = same && kept[b.present.Load().nodeOf(m.target.Ref)]
		}
		if p.repairs() {
			plan = b.driver().Repair
		}
		switch left := p.open(); {
		case len(left) == 0:
			b.replace(p, nil)
		case !begun || !same:
			b.replace(p, b.again(p, left, plan))
		}
	}
}

// looked shows what is known of devices, once the site is in force that a configuration
// belongs to, and has what is new in it read again: it may have been read too soon.
func (b *bus) looked(kept map[appliance.ID]bool) {
	for _, d := range b.devices {
		b.state.setOnline(slices.DeleteFunc(slices.Clone(d.nodes), func(id appliance.ID) bool { return b.absent[id] }), d.online, time.Time{})
	}
	w := b.present.Load()
	for _, p := range b.schedule.polls {
		if slices.ContainsFunc(p.Refs, func(r appliance.Ref) bool { return !kept[w.nodeOf(r)] }) {
			p.last = time.Time{}
		}
	}
}
