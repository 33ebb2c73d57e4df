package web

import (
	"context"
	"hash/maphash"
	"maps"
	"math/bits"
	"net/netip"
	"sync"
	"time"
)

const (
	// BrakeLimit failures of one address within BrakeWindow are allowed.
	BrakeLimit  = 10
	BrakeWindow = 5 * time.Minute
	// BrakeSuspect failures within BrakeWindow are allowed to an address where the account
	// has had BrakeLimit failures, whoever made them.
	BrakeSuspect = 3
	// brakeDelay is the longest that an attempt on such an account is put off.
	brakeDelay = 3 * time.Second

	// The table: brakeSets × brakeWays entries of about 100 bytes, whoever attacks.
	brakeSets = 256
	brakeWays = 8
	// brakeWelcome is how many pairs of account and address that got in are remembered.
	brakeWelcome = 1024
)

// Brake slows password guessing. It refuses an address, never an account:
//
//   - After 10 failures in 5 minutes an address is refused until the oldest of them is 5
//     minutes old. Refused attempts cost no hashing and do not prolong the time.
//   - While an account has had 10 failures in 5 minutes, of whomever, an address is refused
//     after 3 of its own. One that has not failed is never refused; it waits up to 3 s, the
//     longer the quicker those failures came, unless it got into this account before.
//
// Memory and work per attempt are constant. The table is a cache of sets: an
// entry belongs to one set by a hash that an outsider cannot foresee, and a new
// entry pushes out the one of its set with the fewest recent failures. Whoever
// floods it with names makes it forget other flooders first.
//
// Accounts that exist are never forgotten: their failures have a place of their own.
type Brake struct {
	clock  Clock
	exists func(account string) bool
	seed   maphash.Seed

	mu      sync.Mutex
	sets    [brakeSets][brakeWays]braked
	own     map[uint64]*braked       // of accounts that exist
	welcome map[uint64]time.Duration // when an address last got into an account
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
	return &Brake{clock: clock, exists: exists, seed: maphash.MakeSeed(), own: map[uint64]*braked{}, welcome: map[uint64]time.Duration{}}
}

// Attempt is one try to log in that was let through.
type Attempt struct {
	brake *Brake
	keys  [2]uint64 // of account and address
	at    time.Duration
	put   time.Duration // off
	// network tries, which got into this account before if it is known.
	network netip.Prefix
	known   bool
}

// Begin asks whether account may be tried from peer now. If not, wait is above
// zero. If so the attempt counts as a failure until [Attempt.Succeeded] or
// [Attempt.Void] is called, so that many attempts at once cannot slip through together.
func (b *Brake) Begin(account string, peer netip.Addr) (attempt Attempt, wait time.Duration) {
	now := b.clock.Mono()
	keys := b.keys(account, peer)
	exists := b.exists != nil && b.exists(account)
	b.mu.Lock()
	defer b.mu.Unlock()
	if wait = b.refused(keys, now); wait > 0 {
		return Attempt{}, wait
	}
	attempt = Attempt{brake: b, keys: keys, at: now, network: networkOf(peer)}
	if _, attempt.known = b.welcome[pair(keys)]; !attempt.known {
		attempt.put = b.delay(keys[0], now)
	}
	if exists {
		b.keep(keys[0], now)
	}
	for _, k := range keys {
		b.entry(k, now).add(now)
	}
	return attempt, 0
}

// Wait tells, without counting anything, how long account is refused to peer; zero if
// it is not.
func (b *Brake) Wait(account string, peer netip.Addr) (wait time.Duration) {
	now := b.clock.Mono()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refused(b.keys(account, peer), now)
}

// Delay puts the attempt off for as long as it has to be. If ctx ends before, the attempt
// is void and its error is returned.
func (a Attempt) Delay(ctx context.Context) error {
	if a.put <= 0 {
		return nil
	}
	timer := time.NewTimer(a.put)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		a.Void()
		return ctx.Err()
	}
}

// Enter delays the attempt and then waits for its turn; leave ends that. The attempt is
// void if it returns an error: [ErrTurnedAway] or that of ctx.
func (a Attempt) Enter(ctx context.Context, turns *Turns) (leave func(), err error) {
	if err := a.Delay(ctx); err != nil {
		return nil, err
	}
	if leave, err = turns.enter(ctx, a.network, a.known); err != nil {
		a.Void()
	}
	return leave, err
}

// Succeeded takes the attempt back, and remembers that the address knows the secret.
// Failures before it stay: an attacker with an account of his own must not be able to
// wipe his address clean.
func (a Attempt) Succeeded() {
	a.Void()
	b := a.brake
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.welcome[pair(a.keys)]; !known && len(b.welcome) == brakeWelcome {
		var oldest uint64
		for k, at := range b.welcome {
			if oldest == 0 || at < b.welcome[oldest] {
				oldest = k
			}
		}
		delete(b.welcome, oldest)
	}
	b.welcome[pair(a.keys)] = a.at
}

// Void takes back an attempt whose secret was not looked at.
func (a Attempt) Void() {
	a.brake.mu.Lock()
	defer a.brake.mu.Unlock()
	for _, k := range a.keys {
		if e := a.brake.find(k); e != nil {
			e.remove(a.at)
		}
	}
}

// refused is how long an address has to wait for an account; zero: it need not.
func (b *Brake) refused(keys [2]uint64, now time.Duration) time.Duration {
	address := b.recent(keys[1], now)
	if address == nil {
		return 0
	}
	wait := time.Duration(0)
	if address.n == BrakeLimit {
		wait = address.times[0] + BrakeWindow - now
	}
	account := b.recent(keys[0], now)
	if account == nil || account.n < BrakeLimit || address.n < BrakeSuspect {
		return wait
	}
	// Until the account is not guessed at any more, or the address has two failures left.
	return max(wait, min(account.times[0], address.times[address.n-BrakeSuspect])+BrakeWindow-now)
}

// delay is how long an attempt on an account that is guessed at is put off.
func (b *Brake) delay(key uint64, now time.Duration) time.Duration {
	account := b.recent(key, now)
	if account == nil || account.n < BrakeLimit {
		return 0
	}
	return time.Duration(float64(brakeDelay) * float64(account.times[0]+BrakeWindow-now) / float64(BrakeWindow))
}

// recent is the entry of a key with what still counts, nil if there is none.
func (b *Brake) recent(key uint64, now time.Duration) *braked {
	e := b.find(key)
	if e != nil {
		e.forget(now)
	}
	return e
}

func (b *Brake) keys(account string, peer netip.Addr) [2]uint64 {
	return [2]uint64{b.key('a', account), b.key('p', networkOf(peer).String())}
}

// pair is one key for an account together with an address.
func pair(keys [2]uint64) uint64 { return bits.RotateLeft64(keys[0], 31) ^ keys[1] | 1 }

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
