package control

import (
	"fmt"
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

// plan takes a new job: it takes the place of older commands for the same things, and
// becomes pieces.
func (b *bus) plan(j job, now time.Time) {
	down := !b.up && !b.opening()
	late := !j.ceiling.IsZero() && !j.ceiling.After(now)
	members := j.members[:0]
	for _, m := range j.members {
		motor := b.motors[m.target.Shade]
		switch {
		case b.channel(m.target.Ref).Abilities == 0:
			m.fail(errGone)
		case motor != nil:
			if b.command(motor, m, j.ceiling, now) {
				members = append(members, m)
			}
		case down:
			m.fail(b.why)
		case late:
			m.fail(errTooLate) // nothing older gives way to what is not done any more
		default:
			members = append(members, m)
		}
	}
	j.members = members
	b.enqueue(j, now)
}

// enqueue supersedes what the job replaces and appends its pieces.
func (b *bus) enqueue(j job, now time.Time) {
	if len(j.members) == 0 {
		return
	}
	for _, m := range j.members {
		b.overtake(m, now)
	}
	pieces := b.piecesOf(b.driver().Plan(targets(j.members)), j.members)
	var airtime time.Duration
	for _, p := range pieces {
		airtime += p.airtime()
	}
	for _, p := range pieces {
		p.duty, p.expires = j.duty, j.expiry
		switch {
		case !p.expires.IsZero():
		case b.opening():
			p.expires = j.ceiling
		default:
			p.expires = earlier(now.Add(commandTime+airtime), j.ceiling)
		}
		for _, m := range p.open() { // it gets the frame, but nobody waits for it
			if b.absent[m.target.Node] && !m.record.single() {
				b.leaveOut(m)
			}
		}
		if len(p.open()) > 0 && !b.setAsideOffline(p, now) {
			b.pieces = append(b.pieces, p)
		}
	}
}

// piecesOf wraps the chains that a driver made for members.
func (b *bus) piecesOf(chains []appliance.Chain, members []*member) []*piece {
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
func (b *bus) again(p *piece, members []*member, plan func([]appliance.Want) []appliance.Chain) []*piece {
	pieces := b.piecesOf(plan(targets(members)), members)
	for _, n := range pieces {
		n.duty, n.expires, n.offline, n.notBefore = p.duty, p.expires, p.offline, p.notBefore
	}
	return pieces
}

// replace puts pieces in the place of one.
func (b *bus) replace(p *piece, by []*piece) {
	if i := slices.Index(b.pieces, p); i >= 0 {
		b.pieces = slices.Replace(b.pieces, i, i+1, by...)
	}
}

// setAsideOffline handles pieces whose device is known not to answer: members of a
// set are named and not waited for; a single target is tried once, if the time
// spent on such devices allows. A stop is always tried once where something may be
// moving: it may hear, though it is not heard, and somebody is in the way.
func (b *bus) setAsideOffline(p *piece, now time.Time) bool {
	if p.chain.Group || len(p.chain.Steps) == 0 {
		return false
	}
	d := b.devices[p.chain.Steps[0].Device]
	if d == nil || d.online || !d.suspect() || p.duty == mustStop {
		return false
	}
	switch {
	case p.stops() && b.mayMove(p):
		p.offline = true
		return false
	case !p.members[0].record.single():
		for _, m := range p.open() {
			b.leaveOut(m)
		}
		return true
	case !b.attempts.allowed(now).IsZero():
		b.fail(p, fmt.Errorf("%w%s", appliance.ErrUnreachable, lastSeen(d, now)))
		return true
	}
	p.offline = true
	return false
}

// mayMove reports whether a shade of a piece moves as far as is known.
func (b *bus) mayMove(p *piece) bool {
	return slices.ContainsFunc(p.chain.Wants, func(want appliance.Want) bool {
		m := b.motors[want.Shade]
		return m != nil && m.state.Watch()
	})
}

func lastSeen(d *device, now time.Time) string {
	if d.lastSeen.IsZero() {
		return ": it never answered; check wiring, address and line settings"
	}
	return fmt.Sprintf(": it last answered %s ago", now.Sub(d.lastSeen).Round(time.Second))
}

// overtake takes from older commands the parts of a thing that a newer one wants. Who
// has none left is superseded; the rest goes on.
func (b *bus) overtake(newer *member, now time.Time) {
	parts := aspectsOf(newer.target.Has)
	for _, p := range slices.Clone(b.pieces) {
		old := p.of(newer.target.Ref)
		if old == nil || !old.open() || parts&aspectsOf(old.target.Has) == 0 {
			continue
		}
		old.target.Has = without(old.target.Has, parts)
		if aspectsOf(old.target.Has) == 0 {
			old.fail(appliance.ErrSuperseded)
		}
		left := p.open()
		switch {
		case p.verifying() && len(left) == 0:
			if d := b.devices[p.exchange().Device]; d != nil && p.tries > 0 {
				d.rest(false, now.Add(p.exchange().Late)) // as if it had come to its end
			}
			b.replace(p, nil)
		case p.verifying():
		case len(left) == 0:
			b.replace(p, nil)
		case p.out():
			p.overtaken = true
		default:
			b.replace(p, b.again(p, left, b.driver().Plan))
		}
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
