package engine

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/shade"
)

// Configure puts a wiring in force. What is the same in it as before keeps what is known of
// it, and its work; unless it is Afresh: then nothing is believed that was heard before.
type Configure struct {
	Wiring *Wiring
	Afresh bool
	Places map[appliance.ID]shade.Restored // where shades stood when that was last known
}

func (e Configure) step(s *State) {
	w, before := e.Wiring, s.wiring
	if e.Afresh {
		before = nil
	}
	kept, first := w.Kept(before), s.wiring == nil
	s.freeMotors(func(m *motor) bool { return !first && w.Drives(s.wiring, m.shade) })
	s.wiring = w
	maps.DeleteFunc(s.absent, func(id appliance.ID, _ bool) bool { return !kept[id] })
	polls := w.Opened.Driver.Polls()
	s.placeDevices(polls, before != nil)
	s.schedule.adopt(w.Config.Freshness, polls, func(refs []appliance.Ref) bool {
		return !slices.ContainsFunc(refs, func(r appliance.Ref) bool { return !kept[w.nodeOf(r)] })
	})
	s.placeThings(kept, e.Places)
	reopened := s.link.opening()
	if first {
		s.groups = newGrouping(s)
		return
	}
	s.groups.configure(before != nil)
	s.planAnew(kept, reopened)
	for _, m := range s.order {
		s.hand(m, s.now, shade.Configure{Settings: m.settings(m.shade, w.Config.Freshness)})
	}
	s.accounts.shown = time.Time{}
}

func (Park) step(s *State) {
	s.link.down = appliance.ErrOpening
	s.groups.drop()
	for _, p := range s.pieces {
		s.prolong(p, p.ceiling)
	}
	for _, p := range slices.Clone(s.pieces) {
		if p.verifying() && slices.ContainsFunc(p.open(), func(m *member) bool { return s.motors[m.target.Shade].timed(m.target.Motion) }) {
			s.replace(p, nil)
			s.failPiece(p, errReopened)
		}
	}
}

var errReopened = fmt.Errorf("%w: the bus was opened anew", appliance.ErrBusDown)

// ErrClosed: the site changed, or the program ends.
var ErrClosed = fmt.Errorf("%w: the bus was closed", appliance.ErrBusDown)

func (Close) step(s *State) {
	s.link.down, s.link.closed = ErrClosed, true
	s.failAll(ErrClosed, func(*piece) bool { return false })
	s.groups.busDown(ErrClosed)
}

// errGone wraps [appliance.ErrNotFound], whose text would not say what happened.
var errGone = fmt.Errorf("%w on its bus any more: the site was changed", appliance.ErrNotFound)

// freeMotors drops the shades that are not driven any more, with their work.
func (s *State) freeMotors(stays func(*motor) bool) {
	for _, m := range s.order {
		if stays(m) {
			continue
		}
		id := m.shade.ID
		for _, p := range slices.Clone(s.pieces) {
			if of := p.of(appliance.Ref{Shade: id}); of != nil {
				s.fail(of, errGone)
				s.drop(p, of)
			}
		}
		delete(s.motors, id)
		delete(s.beliefs, appliance.Ref{Shade: id})
	}
}

// placeDevices takes the devices of the wiring; of those that were there it is known
// whether they answer, if keep is true.
func (s *State) placeDevices(polls []appliance.Poll, keep bool) {
	old := s.devices
	s.devices, s.deviceOf = map[string]*device{}, map[appliance.ID]*device{}
	place := func(name string) *device {
		if s.devices[name] == nil && old[name] != nil && keep {
			old[name].nodes, old[name].polled, old[name].late = nil, false, 0
			s.devices[name] = old[name]
		}
		return s.device(name)
	}
	for _, n := range s.wiring.Config.Nodes {
		if name, ok := s.wiring.Opened.Device[n.ID]; ok {
			d := place(name)
			d.nodes = append(d.nodes, n.ID)
			s.deviceOf[n.ID] = d
		}
	}
	for _, p := range polls {
		d := place(p.Device)
		d.polled, d.late = true, max(d.late, p.Late)
	}
}

// placeThings takes the channels and shades of the wiring.
func (s *State) placeThings(kept map[appliance.ID]bool, places map[appliance.ID]shade.Restored) {
	old := s.beliefs
	s.beliefs = beliefs{}
	for id, channels := range s.wiring.Opened.Channels {
		for i, ch := range channels {
			r := appliance.Ref{Node: id, Channel: i + 1}
			if s.beliefs[r] = old[r]; !kept[id] || old[r] == nil {
				s.beliefs[r] = &belief{clips: ch.Clips}
			}
		}
	}
	for _, sh := range s.wiring.Config.Shades {
		ch, ok := s.wiring.Opened.Shades[sh.ID]
		if !ok {
			continue
		}
		r := appliance.Ref{Shade: sh.ID}
		if m := s.motors[sh.ID]; m != nil {
			m.shade, m.channel, s.beliefs[r] = sh, ch, old[r]
			continue
		}
		m := newMotor(sh, ch, s.wiring.Config.Freshness, s.now)
		if place, known := places[sh.ID]; known {
			m.state, _ = shade.Step(m.state, s.now, place)
		}
		s.motors[sh.ID], s.beliefs[r] = m, &belief{}
	}
	s.order = sorted(s.motors)
}

// planAnew plans the work that waits with what is known now. What was begun with things
// that are as they were goes on, if the port is the same.
func (s *State) planAnew(kept map[appliance.ID]bool, reopened bool) {
	for _, p := range slices.Clone(s.pieces) {
		begun, same, plan := p.begun(), !reopened, s.driver().Plan
		for _, m := range p.open() {
			if s.wiring.channel(m.target.Ref).Abilities == 0 {
				s.failMember(m, errGone)
				continue
			}
			same = same && kept[s.wiring.nodeOf(m.target.Ref)]
		}
		if p.repairs() {
			plan = s.driver().Repair
		}
		switch left := p.open(); {
		case len(left) == 0:
			s.replace(p, nil)
		case !begun || !same:
			s.replace(p, s.again(p, left, plan))
		}
	}
}

func (e Show) step(s *State) {
	for _, d := range s.inTurn() {
		s.do(Standing{Nodes: s.present(d), Online: d.online})
	}
	for _, p := range s.schedule.polls {
		if slices.ContainsFunc(p.Refs, func(r appliance.Ref) bool { return !e.Kept[s.wiring.nodeOf(r)] }) {
			p.last = time.Time{}
		}
	}
}

// present lists the nodes of a device that are there, as far as their gateway says.
func (s *State) present(d *device) []appliance.ID {
	return slices.DeleteFunc(slices.Clone(d.nodes), func(id appliance.ID) bool { return s.absent[id] })
}
