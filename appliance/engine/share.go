package engine

import (
	"errors"
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

// shared turns a task that reads back one piece into one that reads back others of the same device with it, where a poll of
// that device reads the things of all and takes no longer than asking for each: many who command neighbouring outputs at
// once wait for one read together.
func (s *State) shared(t *task) {
	if !s.shares(t.piece) {
		return
	}
	for _, poll := range s.schedule.polls {
		if poll.Device != t.exchange.Device || poll.refusals > 0 || !covers(poll.Refs, t.piece) {
			continue
		}
		var mates []*piece
		apart := t.exchange.Airtime
		for _, p := range s.pieces {
			if p != t.piece && p.exchange().Device == poll.Device && s.shares(p) && covers(poll.Refs, p) {
				mates, apart = append(mates, p), apart+p.exchange().Airtime
			}
		}
		if len(mates) > 0 && poll.Airtime < apart {
			t.exchange, t.mates = &poll.Exchange, mates
			return
		}
	}
}

// shares reports whether a piece waits for its first and only read, of nothing but levels.
func (s *State) shares(p *piece) bool {
	return p.verifying() && !p.over() && !p.chain.Group && !p.out() && !p.notBefore.After(s.now) &&
		p.tries == 0 && p.looks == 0 && len(p.chain.Verify) == 1 &&
		!slices.ContainsFunc(p.members, func(m *member) bool { return m.target.Shade != 0 || aspectsOf(m.target.Has) != aspectLight })
}

// covers reports whether a read tells about everything that a piece is about.
func covers(refs []appliance.Ref, p *piece) bool {
	return !slices.ContainsFunc(p.members, func(m *member) bool { return !slices.Contains(refs, m.target.Ref) })
}

// judgeShared takes the outcome of a read that was for several pieces. One that failed was for nobody but the first: the
// others ask for themselves.
func (s *State) judgeShared(t *task, res appliance.Result, err error) {
	if errors.Is(err, appliance.ErrRefused) { // it may refuse this one only
		t.piece.tries++
		return
	}
	if err != nil {
		s.judge(t.piece, res, err)
		return
	}
	readings := s.learn(res.Readings, res.Sent)
	for _, p := range append([]*piece{t.piece}, t.mates...) {
		p.outAt = time.Time{}
		if slices.Contains(s.pieces, p) && p.verifying() { // not taken over by a newer command meanwhile
			s.readBack(p, readings, nil)
		}
	}
}
