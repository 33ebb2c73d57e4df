package shade

import (
	"cmp"
	"time"
)

// Most relays stay on at the end of the travel, where the motor's limit switch has long
// cut it off: a wall switch would find them so, and a motor without one would burn. Those
// that we switched on are released. What somebody does at the wall is his, and after a
// restart nothing is sent that nobody asked for.
const (
	// releaseAfter is how long a shade has been at its end when its relay is released,
	// unless its profile says otherwise. A guess: limit switches that were read late.
	releaseAfter = 5 * time.Second
	// releaseAgain is between two tries to release one.
	releaseAgain = time.Minute
)

// release is when the relay is to be switched off that holds a shade at its end, or that has
// been on for longer than any travel takes; zero: none is on, or it may stay so.
func (s *State) release() time.Time {
	p, set := &s.Pose, &s.Settings
	if s.Holds == 0 || s.Phase != Idle || s.Down || set.Measures || set.Unreadable || set.Release < 0 {
		return time.Time{}
	}
	at := time.Time{}
	switch {
	case p.atEnd():
		at = p.Since.Add(cmp.Or(set.Release, releaseAfter))
		if whole := p.MovedAt.Add(set.takes(100+runMargin, s.Holds)); set.timed() && whole.After(at) {
			at = whole // somebody may have moved it unseen, and then its way is longer than reckoned
		}
	case p.Dir != 0 && p.Seen && !set.timed():
		at = p.Since.Add(lostAfter)
	default:
		return at
	}
	if again := s.Unreleased.Add(releaseAgain); again.After(at) {
		return again
	}
	return at
}

// sendRelease switches the relay off.
func (m *machine) sendRelease() {
	m.Phase = Asked
	m.send(Order{Kind: Stop, Releases: true, Expires: m.now.Add(releaseAgain / 2)})
}

// unreleased reports whether a relay that is read on may be so because it was not released yet.
func (m *machine) unreleased(r Read) bool {
	return m.Order.Releases && m.Order.out() && r.Motion.dirs() == m.Holds
}
