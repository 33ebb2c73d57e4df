package engine

import (
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

// idleMost is how long the bus sleeps at most, to keep its health current.
const idleMost = time.Second

// How long until it looks again whether the port is there: before the first attempt to
// open it has ended, which takes milliseconds, and afterwards.
const (
	lookOpening = 5 * time.Millisecond
	lookDown    = 100 * time.Millisecond
)

// next picks the most urgent exchange: of commands by rank, then of jobs, then whether
// somebody who fell silent is gone, then whether somebody is back, then polls, a scan and
// group tables in turn. Without one it says how long to wait.
//
// Probes go before polls, since they are few: a bus that cannot meet its freshness
// targets always has a poll that is due, and would never find out who is gone and
// who is back. A scan takes turns with polls for the same reason.
func (s *State) next() (*task, time.Time) {
	now := s.now
	switch {
	case s.link.opening():
		return nil, now.Add(lookOpening)
	case !s.link.up():
		return nil, now.Add(lookDown)
	case !s.room(false):
		return nil, now.Add(idleMost) // until one is back
	}
	wake := now.Add(idleMost)
	sooner := func(at time.Time) {
		if !at.IsZero() {
			wake = earlier(wake, at)
		}
	}
	p, rank, at := s.nextPiece()
	if p != nil {
		s.behind.looked = rank >= rankStopRetry && !s.behind.looked // at most every other exchange
		if watched := s.nextWatched(); watched != nil {
			return s.pollTask(watched, taskRead), time.Time{}
		}
		return s.pieceTask(p), time.Time{}
	}
	sooner(at)
	if !s.room(true) {
		return nil, wake
	}
	tick, stop := s.nextTick()
	sooner(tick)
	fits := func(took time.Duration) bool { return stop.IsZero() || now.Add(took).Before(stop) }

	if p := s.nextHearing(); p != nil {
		return s.pollTask(p, taskFinding), time.Time{}
	}
	if t := s.nextJob(false, fits); t != nil {
		return t, time.Time{}
	}
	finding, at := s.nextFinding(fits)
	if finding != nil && !s.behind.found {
		s.behind.found = true // at most every other exchange
		return s.pollTask(finding, taskFinding), time.Time{}
	}
	s.behind.found = false
	if finding == nil {
		sooner(at)
	}
	probe, at := s.nextProbe(fits)
	if probe != nil {
		return s.pollTask(probe, taskProbe), time.Time{}
	}
	sooner(at)
	mayScan := stop.IsZero() || stop.Sub(now) > time.Second // longer than any probe of a scan
	if s.behind.scanTurn && mayScan {
		if t := s.nextInTurn(fits, false); t != nil {
			s.behind.scanTurn = false
			return t, time.Time{}
		}
	}
	poll, at := s.schedule.pick(now, func(p *pollState) bool {
		d := s.device(p.Device)
		return !d.suspect() && !d.asked && !d.restReads.After(now)
	})
	if poll != nil && fits(poll.Airtime) {
		s.behind.scanTurn = true
		return s.pollTask(poll, taskRead), time.Time{}
	}
	sooner(at)
	if mayScan {
		if t := s.nextInTurn(fits, true); t != nil {
			return t, time.Time{}
		}
	}
	if finding != nil {
		return s.pollTask(finding, taskFinding), time.Time{}
	}
	return nil, wake
}

// nextInTurn is what takes turns with polls: a scan, then the group tables. idle says that
// nothing else is due.
func (s *State) nextInTurn(fits func(time.Duration) bool, idle bool) *task {
	if t := s.nextJob(true, fits); t != nil {
		return t
	}
	return s.groups.next(idle)
}

// nextWatched is a read that is due of a shade which moves, if it is its turn: whatever is repeated to others, it has to be
// seen to arrive.
func (s *State) nextWatched() *pollState {
	if !s.behind.looked {
		return nil
	}
	p, _ := s.schedule.pick(s.now, func(p *pollState) bool {
		d := s.device(p.Device)
		moves := slices.ContainsFunc(p.Refs, func(r appliance.Ref) bool { m := s.motors[r.Shade]; return m != nil && m.state.Pose.Dir != 0 })
		return moves && !d.suspect() && !d.asked && !d.restReads.After(s.now)
	})
	return p
}

// nextPiece picks the first ready piece of the lowest rank, and tells that; without one it says when the
// first becomes ready or expires.
func (s *State) nextPiece() (*piece, rank, time.Time) {
	var best *piece
	bestRank := ranks
	var soonest time.Time
	for _, p := range s.pieces {
		d := s.devices[p.exchange().Device]
		r := s.rankOf(p, d != nil && d.silent())
		if r >= bestRank || d != nil && d.asked || !s.room(r >= rankRetry) {
			continue
		}
		if s.link.doubt && !p.verifying() {
			soonest = earliest(soonest, p.deadline())
			continue
		}
		if at := s.readyAt(p, r, d); at.After(s.now) {
			soonest = earliest(soonest, earlier(at, p.deadline()))
			continue
		}
		best, bestRank = p, r
	}
	return best, bestRank, soonest
}

// readyAt is when a piece may go on. A write does not wait for a late answer to an
// earlier one: while one could come, its acknowledgement is not believed before it was
// confirmed by reading. A read waits, since nothing else would confirm it, and so does a
// write that nothing confirms but its acknowledgement.
func (s *State) readyAt(p *piece, r rank, d *device) time.Time {
	switch {
	case d == nil:
	case p.verifying():
		return later(p.notBefore, d.restReads)
	case r == rankStopBehind && d.suspect() && !d.online:
		return later(p.notBefore, s.accounts.probes.allowed(s.now)) // it costs what a probe costs
	case len(p.chain.Verify) == 0 && !p.chain.Unverifiable && !p.stops():
		return later(p.notBefore, d.restWrites)
	}
	return p.notBefore
}

// nextFinding asks a device that counts as online and did not answer when it was last
// asked, until it is known whether it is gone. That is not throttled.
func (s *State) nextFinding(fits func(time.Duration) bool) (*pollState, time.Time) {
	p, at := s.dueProbe(func(d *device) bool { return d.suspect() && d.online && !d.asked })
	if p == nil || !fits(p.Worst) { // it will hardly answer now
		return nil, at
	}
	return p, time.Time{}
}

// nextProbe asks one device that is offline, within the bus time allowed for that.
func (s *State) nextProbe(fits func(time.Duration) bool) (*pollState, time.Time) {
	p, at := s.dueProbe(func(d *device) bool { return d.suspect() && !d.online && !d.asked })
	if p == nil {
		return nil, at
	}
	if at := s.accounts.probes.allowed(s.now); !at.IsZero() {
		return nil, at
	}
	if !fits(p.Worst) {
		return nil, time.Time{}
	}
	return p, time.Time{}
}

// dueProbe returns a read of the device that has waited longest to be asked whether it
// answers; without one, when the first is due.
func (s *State) dueProbe(of func(*device) bool) (*pollState, time.Time) {
	var best *pollState
	var due, soonest time.Time
	for _, p := range s.schedule.polls {
		d := s.device(p.Device)
		if !of(d) {
			continue
		}
		at := later(d.probeAt, d.restReads)
		if at.After(s.now) {
			soonest = earliest(soonest, at)
			continue
		}
		if best == nil || at.Before(due) {
			best, due = p, at
		}
	}
	return best, soonest
}
