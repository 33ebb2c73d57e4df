package engine

import (
	"fmt"
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

func (c Command) step(s *State) {
	late := !c.Ceiling.After(s.now)
	all := make([]member, len(c.Wants))
	members := make([]*member, 0, len(c.Wants))
	var joined []int
	due := s.now.Add(commandTime)
	if !late {
		var until time.Time
		joined, until = s.joinPieces(&c)
		due = later(due, until)
	}
	for i, want := range c.Wants {
		if slices.Contains(joined, i) {
			continue
		}
		m := &all[i]
		*m = member{command: &c, place: c.Places[i], target: want}
		motor := s.motors[want.Shade]
		switch {
		case s.wiring.channel(want.Ref).Abilities == 0:
			s.fail(m, errGone)
		case motor != nil:
			if s.command(motor, m) {
				members = append(members, m)
			}
		case !s.link.up() && !s.link.opening():
			s.fail(m, s.link.down)
		case late:
			s.fail(m, errTooLate) // nothing older gives way to what is not done any more
		default:
			members = append(members, m)
		}
	}
	due = later(due, s.enqueue(members, noDuty, time.Time{}))
	if slices.ContainsFunc(all, func(m member) bool { return m.open() }) {
		s.do(Due{c.ID, earlier(due, c.Ceiling)})
	}
}

// enqueue supersedes what members replace and appends their pieces. expiry is when they are
// worth nothing any more; zero: commandTime, and the bus time of the fan-out, from now on. It returns when the last of them is; zero:
// there is none.
func (s *State) enqueue(members []*member, owed duty, expiry time.Time) (due time.Time) {
	if len(members) == 0 {
		return due
	}
	for _, m := range members {
		s.overtake(m)
	}
	pieces := s.piecesOf(s.driver().Plan(targets(members)), members)
	var airtime time.Duration
	for _, p := range pieces {
		airtime += p.airtime()
	}
	for _, p := range pieces {
		p.duty, p.expires, p.ceiling = owed, expiry, members[0].command.Ceiling
		switch {
		case !p.expires.IsZero():
		case s.link.opening():
			p.expires = p.ceiling
		default:
			p.expires = earlier(s.now.Add(commandTime+airtime), p.ceiling)
		}
		for _, m := range p.open() { // it gets the frame, but nobody waits for it
			if s.absent[m.target.Node] && !m.command.Single {
				s.leaveOut(m)
			}
		}
		if len(p.open()) > 0 && !s.setAsideOffline(p) {
			s.pieces = append(s.pieces, p)
			due = later(due, p.expires)
		}
	}
	return due
}

// piecesOf wraps the chains that a driver made for members.
func (s *State) piecesOf(chains []appliance.Chain, members []*member) []*piece {
	by := make(map[appliance.Ref]*member, len(members))
	for _, m := range members {
		by[m.target.Ref] = m
	}
	pieces := make([]*piece, len(chains))
	for i, c := range chains {
		p := &piece{chain: c, members: make([]*member, len(c.Wants))}
		for k, w := range c.Wants {
			p.members[k] = by[w.Ref]
		}
		pieces[i] = p
	}
	return pieces
}

// again plans members of a piece anew; what else holds of it holds of the new ones.
func (s *State) again(p *piece, members []*member, plan func([]appliance.Want) []appliance.Chain) []*piece {
	pieces := s.piecesOf(plan(targets(members)), members)
	for _, n := range pieces {
		n.duty, n.expires, n.ceiling, n.offline, n.notBefore = p.duty, p.expires, p.ceiling, p.offline, p.notBefore
	}
	return pieces
}

// replace puts pieces in the place of one.
func (s *State) replace(p *piece, by []*piece) {
	if i := slices.Index(s.pieces, p); i >= 0 {
		s.pieces = slices.Replace(s.pieces, i, i+1, by...)
	}
}

// setAsideOffline handles pieces whose device is known not to answer: members of a
// set are named and not waited for; a single target is tried once, if the time
// spent on such devices allows. A stop is always tried once where something may be
// moving: it may hear, though it is not heard, and somebody is in the way.
func (s *State) setAsideOffline(p *piece) bool {
	if p.chain.Group || len(p.chain.Steps) == 0 {
		return false
	}
	d := s.devices[p.chain.Steps[0].Device]
	if d == nil || d.online || !d.suspect() || p.duty == mustStop {
		return false
	}
	switch {
	case p.stops() && s.mayMove(p):
		p.offline = true
		return false
	case !p.members[0].command.Single:
		for _, m := range p.open() {
			s.leaveOut(m)
		}
		return true
	case !s.accounts.attempts.allowed(s.now).IsZero():
		s.failPiece(p, fmt.Errorf("%w%s", appliance.ErrUnreachable, lastSeen(d, s.now)))
		return true
	}
	p.offline = true
	return false
}

// mayMove reports whether a shade of a piece moves as far as is known.
func (s *State) mayMove(p *piece) bool {
	return slices.ContainsFunc(p.chain.Wants, func(want appliance.Want) bool {
		m := s.motors[want.Shade]
		return m != nil && m.state.Watch()
	})
}

func lastSeen(d *device, now time.Time) string {
	if d.lastSeen.IsZero() {
		return ": it never answered; check wiring, address and line settings"
	}
	return fmt.Sprintf(": it last answered %s ago", now.Sub(d.lastSeen).Round(time.Second))
}

// overtake takes from older commands the parts of a thing that a newer one wants. They are superseded; what
// is left of them is done.
func (s *State) overtake(newer *member) {
	parts := aspectsOf(newer.target.Has)
	for _, p := range slices.Clone(s.pieces) {
		old := p.of(newer.target.Ref)
		if old == nil || !old.open() || parts&aspectsOf(old.target.Has) == 0 {
			continue
		}
		old.target.Has, old.taken = without(old.target.Has, parts), true
		if aspectsOf(old.target.Has) == 0 {
			s.fail(old, appliance.ErrSuperseded)
		}
		left := p.open()
		switch {
		case p.verifying() && len(left) == 0:
			if d := s.devices[p.exchange().Device]; d != nil && p.tries > 0 {
				d.rest(false, s.now.Add(p.exchange().Late)) // as if it had come to its end
			}
			s.replace(p, nil)
		case p.verifying():
		case len(left) == 0:
			s.replace(p, nil)
		case p.out():
			p.overtaken = true
		default:
			s.replace(p, s.again(p, left, s.driver().Plan))
		}
	}
}
