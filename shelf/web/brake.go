package web

import (
	"hash/maphash"
	"maps"
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
//
// Accounts that exist are never forgotten: their failures have a place of their own.
type Brake struct {
	clock  Clock
	exists func(account string) bool
	seed   maphash.Seed

	mu   sync.Mutex
	sets [brakeSets][brakeWays]braked
	own  map[uint64]*braked // of accounts that exist
}

// ownSweep is how many accounts with failures there are before old ones are cleared.
const ownSweep = 256

// braked are the last failures of one account or address.
type braked struct {
	key   uint64 // 0: free
	times [BrakeLimit]time.Duration
	n     int // how many of times are set, oldest first
}

// NewBrake returns a brake that has seen nothing. exists tells whether there is an
// account of that name, and is asked once an attempt; nil remembers all alike.
func NewBrake(clock Clock, exists func(account string) bool) *Brake {
	return &Brake{clock: clock, exists: exists, seed: maphash.MakeSeed(), own: map[uint64]*braked{}}
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
	keys := [2]uint64{b.key('a', account), b.key('p', networkOf(peer).String())}
	exists := b.exists != nil && b.exists(account)
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
	if exists {
		b.keep(keys[0], now)
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
	for _, k := range [2]uint64{b.key('a', account), b.key('p', networkOf(peer).String())} {
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

func (b *Brake) key(kind byte, s string) uint64 {
	var h maphash.Hash
	h.SetSeed(b.seed)
	h.WriteByte(kind)
	h.WriteString(s)
	return h.Sum64() | 1 // never 0, which means free
}

func (b *Brake) set(key uint64) *[brakeWays]braked { return &b.sets[key>>1%brakeSets] }

func (b *Brake) find(key uint64) *braked {
	if e := b.own[key]; e != nil {
		return e
	}
	set := b.set(key)
	for i := range set {
		if set[i].key == key {
			return &set[i]
		}
	}
	return nil
}

// keep gives an account that exists its own place.
func (b *Brake) keep(key uint64, now time.Duration) {
	if b.own[key] != nil {
		return
	}
	if len(b.own) >= ownSweep {
		maps.DeleteFunc(b.own, func(_ uint64, e *braked) bool { e.forget(now); return e.n == 0 })
	}
	e := &braked{key: key}
	if old := b.find(key); old != nil { // from before it existed
		*e, *old = *old, braked{}
	}
	b.own[key] = e
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
