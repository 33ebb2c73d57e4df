package engine

import (
	"errors"
	"time"

	"svc.internal/controller/appliance"
)

// patience says how often something is tried, by what went wrong, and how long a busy device
// is left alone, doubling. This is the one place where a retry is decided; a refusal is final.
type patience struct {
	silent, damaged  int
	busy             int // 0: as long as it is worth anything
	pause, pauseMost time.Duration
}

var (
	// ofCommands: silence costs a time-out, damage little.
	ofCommands = patience{silent: 3, damaged: 6, pause: 50 * time.Millisecond, pauseMost: 800 * time.Millisecond}
	// ofTables: nobody waits.
	ofTables = patience{silent: 3, damaged: 3, busy: 6, pause: 500 * time.Millisecond, pauseMost: 500 * time.Millisecond}
)

// again reports whether what has failed is tried again, after so many tries before this one, and
// how long that is to wait.
func (p patience) again(err error, tries int) (wait time.Duration, ok bool) {
	switch {
	case errors.Is(err, appliance.ErrBusy), errors.Is(err, appliance.ErrAccepted):
		return min(p.pause<<min(tries, 8), p.pauseMost), p.busy == 0 || tries < p.busy
	case errors.Is(err, appliance.ErrDamaged):
		return 0, tries+1 < p.damaged
	case errors.Is(err, appliance.ErrSilent), errors.Is(err, appliance.ErrPreempted):
		return 0, tries+1 < p.silent
	}
	return 0, false
}

// tryAgain decides about a repetition of a command's exchange, and when.
func (s *State) tryAgain(p *piece, err error) bool {
	if errors.Is(err, appliance.ErrPreempted) || errors.Is(err, appliance.ErrOverslept) {
		return s.now.Before(p.deadline()) || errors.Is(err, appliance.ErrPreempted)
	}
	silent := errors.Is(err, appliance.ErrSilent)
	wait, ok := ofCommands.again(err, p.tries)
	if silent && (p.offline || s.isGone(p.exchange().Device)) || p.duty == mayStop && !p.verifying() {
		ok = false
	}
	if !ok && p.duty == mustStop && !p.verifying() {
		wait, ok = stopPause, true
	}
	if !ok {
		return false
	}
	p.tries++
	for _, m := range p.open() {
		m.tried = err
		s.pending(m)
	}
	if wait > 0 {
		p.notBefore = s.now.Add(wait)
	}
	return s.now.Before(p.deadline())
}

// isGone reports whether a device is known to be offline.
func (s *State) isGone(name string) bool {
	d := s.devices[name]
	return d != nil && !d.online && d.suspect() && !d.lastSeen.IsZero()
}
