package web

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

const (
	// BrakeLimit failures of one account or address within BrakeWindow are allowed.
	BrakeLimit  = 10
	BrakeWindow = 5 * time.Minute

	// The table: brakeSets × brakeWays entries of about 100 bytes, whoever attacks.
	brakeSets = 256
	brakeWays = 8
)

// Brake slows password guessing: after 10 failures in 5 minutes for one account
// or from one address, further attempts are refused until the oldest of them is
// 5 minutes old. Refused attempts cost no hashing and do not prolong the time.
//
// Memory and work per attempt are constant. The table is a cache of sets: an
// entry belongs to one set by a hash that an outsider cannot foresee, and a new
// entry pushes out the one of its set with the fewest recent failures. Whoever
// floods it with names makes it forget other flooders first; no account or address
// is refused for the failures of another account or address.
type Brake struct {
	clock Clock
	seed  maphash.Seed

	mu   sync.Mutex
	sets [brakeSets][brakeWays]braked
}

// braked are the last failures of one account or address.
type braked struct {
	key   uint64 // 0: free
	times [BrakeLimit]time.Duration
	n     int // how many of times are set, oldest first
}

// NewBrake returns a brake that has seen nothing.
func NewBrake(clock Clock) *Brake {
	return &Brake{clock: clock, seed: maphash.MakeSeed()}
}

// Attempt is one try to log in that was let through.
type Attempt struct {
	brake *Brake
	keys  [2]uint64
	at    time.Duration
}

// Begin asks whether account may be tried from peer now. If not, wait is above
// zero. If so the attempt counts as a failure until [Attempt.Succeeded] is
// called, so that many attempts at once cannot slip through together.
func (b *Brake) Begin(account string, peer netip.Addr) (attempt Attempt, wait time.Duration) {
	now := b.clock.Mono()
	keys := [2]uint64{b.key('a', account), b.key('p', network(peer))}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, k := range keys {
		if e := b.find(k); e != nil {
			e.forget(now)
			if e.n == BrakeLimit {
				wait = max(wait, e.times[0]+BrakeWindow-now)
			}
		}
	}
	if wait > 0 {
		return Attempt{}, wait
	}
	for _, k := range keys {
		b.entry(k, now).add(now)
	}
	return Attempt{brake: b, keys: keys, at: now}, 0
}

// Wait tells, without counting anything, how long account and peer are refused;
// zero if they are not.
func (b *Brake) Wait(account string, peer netip.Addr) (wait time.Duration) {
	now := b.clock.Mono()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, k := range [2]uint64{b.key('a', account), b.key('p', network(peer))} {
		if e := b.find(k); e != nil {
			e.forget(now)
			if e.n == BrakeLimit {
				wait = max(wait, e.times[0]+BrakeWindow-now)
			}
		}
	}
	return wait
}

// Succeeded takes the attempt back. Failures before it stay: an attacker with an
// account of his own must not be able to wipe his address clean.
func (a Attempt) Succeeded() {
	a.brake.mu.Lock()
	defer a.brake.mu.Unlock()
	for _, k := range a.keys {
		if e := a.brake.find(k); e != nil {
			e.remove(a.at)
		}
	}
}

// network is what counts as one address: a whole /64 of IPv6, since one host
// has as many addresses in it as it likes.
func network(peer netip.Addr) string {
	if peer.Is6() {
		if p, err := peer.WithZone("").Prefix(64); err == nil {
			return p.String()
		}
	}
	return peer.String()
}

func (b *Brake) key(kind byte, s string) uint64 {
	var h maphash.Hash
	h.SetSeed(b.seed)
	h.WriteByte(kind)
	h.WriteString(s)
	return h.Sum64() | 1 // never 0, which means free
}

func (b *Brake) set(key uint64) *[brakeWays]braked { return &b.sets[key>>1%brakeSets] }

func (b *Brake) find(key uint64) *braked {
	set := b.set(key)
	for i := range set {
		if set[i].key == key {
			return &set[i]
		}
	}
	return nil
}

// entry finds or makes the entry of key.
func (b *Brake) entry(key uint64, now time.Duration) *braked {
	if e := b.find(key); e != nil {
		return e
	}
	set := b.set(key)
	victim := &set[0]
	for i := range set {
		e := &set[i]
		e.forget(now)
		if e.key == 0 || e.n == 0 {
			victim = e
			break
		}
		if e.n < victim.n || e.n == victim.n && e.times[e.n-1] < victim.times[victim.n-1] {
			victim = e
		}
	}
	*victim = braked{key: key}
	return victim
}

// forget drops failures that are too old to count.
func (e *braked) forget(now time.Duration) {
	old := 0
	for old < e.n && e.times[old]+BrakeWindow <= now {
		old++
	}
	copy(e.times[:], e.times[old:e.n])
	e.n -= old
}

func (e *braked) add(at time.Duration) {
	if e.n == BrakeLimit {
		copy(e.times[:], e.times[1:])
		e.n--
	}
	e.times[e.n] = at
	e.n++
}

// remove takes back one failure noted at that moment.
func (e *braked) remove(at time.Duration) {
	for i := range e.n {
		if e.times[i] == at {
			copy(e.times[i:], e.times[i+1:e.n])
			e.n--
			return
		}
	}
}
