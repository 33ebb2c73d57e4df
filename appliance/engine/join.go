package engine

import (
	"slices"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/shade"
)

// A command that wants of things what is under way for them already is not carried out a
// second time: it joins, and has the same outcome.

// joinPieces lets a command join the pieces of which it wants the same of everything that is
// open, and returns the places that have joined, and until when their pieces live.
func (s *State) joinPieces(c *Command) (joined []int, until time.Time) {
	for _, p := range s.pieces {
		list := p.open()
		places := make([]int, 0, len(list))
		for _, m := range list {
			i := slices.IndexFunc(c.Wants, func(w appliance.Want) bool { return w == m.target })
			if i < 0 || m.taken || m.target.Shade != 0 || p.overtaken {
				break
			}
			places = append(places, i)
		}
		if len(places) < len(list) {
			continue
		}
		for k, i := range places {
			s.alsoTell(list[k], Member{c.ID, c.Places[i]})
		}
		joined = append(joined, places...)
		s.giveTime(p, c)
		until = later(until, p.expires)
	}
	return joined, until
}

// join lets a shade's command have the outcome of an order that is out.
func (s *State) join(m *motor, of *member, order uint64) {
	p, old := s.carries(m, order)
	if old == nil && m.begun != nil && m.begun.order.ID == order { // its next run confirms it
		s.alsoTell(m.begun, Member{of.command.ID, of.place})
		return
	}
	if old == nil {
		s.fail(of, appliance.ErrSuperseded)
		return
	}
	s.alsoTell(old, Member{of.command.ID, of.place})
	if len(p.open()) == 1 {
		s.giveTime(p, of.command)
	}
}

func (s *State) alsoTell(m *member, name Member) {
	m.also = append(m.also, name)
	s.pending(m)
}

// giveTime lets a piece live as long as if it had begun with a command that joined it.
func (s *State) giveTime(p *piece, c *Command) {
	p.ceiling = later(p.ceiling, c.Ceiling)
	until := c.Ceiling
	if !s.link.opening() {
		until = earlier(s.now.Add(commandTime+p.airtime()), until)
	}
	p.expires = later(p.expires, until)
}

// repeats reports whether a piece orders nothing but things that the last frame of a command
// ordered something. Behind what others want it is as good, and whoever keeps doing so takes
// half of the bus.
func (s *State) repeats(p *piece) bool {
	return len(s.behind.wrote) > 0 && !slices.ContainsFunc(p.chain.Wants, func(w appliance.Want) bool { return !slices.Contains(s.behind.wrote, w.Ref) })
}

// stoppedBefore reports whether a piece stops shades that were ordered to stop already.
func (s *State) stoppedBefore(p *piece) bool {
	return !slices.ContainsFunc(p.chain.Wants, func(w appliance.Want) bool {
		m := s.motors[w.Shade]
		return m == nil || m.state.Last.Frame != shade.Stop
	})
}

// rankOf a piece among the others.
func (s *State) rankOf(p *piece, silent bool) rank {
	r := p.rankOf(silent)
	switch {
	case r != rankStop && r != rankWrite:
	case s.repeats(p) && p.begun():
		return rankRepair // its own last frame was the one before; it goes on, behind what others want
	case s.repeats(p):
		return rankAgain
	case r == rankStop && s.stoppedBefore(p):
		return rankStopRetry
	}
	return r
}
