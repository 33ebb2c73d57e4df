package web

import (
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

// hands is a clock that a test moves.
type hands struct{ mono atomic.Int64 }

func newHands() *hands { return &hands{} }

func (h *hands) clock() Clock {
	return Clock{Wall: time.Now, Mono: func() time.Duration { return time.Duration(h.mono.Load()) }}
}

func nobody(string) bool { return false }

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

func TestBrakeOfOneAccountFromManyAddresses(t *testing.T) {
	h := newHands()
	b := NewBrake(h.clock(), nobody)
	for i := range BrakeLimit {
		if _, wait := b.Begin("admin", addr(fmt.Sprintf("192.0.2.%d", i))); wait != 0 {
			t.Fatalf("attempt %d was refused", i+1)
		}
	}
	clean, wait := b.Begin("admin", addr("198.51.100.1"))
	if wait != 0 || clean.put != brakeDelay {
		t.Errorf("an address without failures: wait is %v, put off for %v; want 0 and %v", wait, clean.put, brakeDelay)
	}
	clean.Succeeded()
	if again, wait := b.Begin("admin", addr("198.51.100.1")); wait != 0 || again.put != 0 || !again.known {
		t.Errorf("an address that got in: wait is %v, put off for %v, known %v", wait, again.put, again.known)
	}
	for range BrakeSuspect - 1 {
		b.Begin("admin", addr("192.0.2.1"))
	}
	if _, wait := b.Begin("admin", addr("192.0.2.1")); wait != BrakeWindow {
		t.Errorf("an address with %d failures: wait is %v, want %v", BrakeSuspect, wait, BrakeWindow)
	}
	if b.Wait("other", addr("192.0.2.1")) != 0 {
		t.Error("another account is refused after as few failures")
	}
}

func TestBrakeOfOneAddressWithManyAccounts(t *testing.T) {
	for _, peers := range [][2]string{{"192.0.2.1", "192.0.2.2"}, {"2001:db8::1", "2001:db8:0:1::1"}} {
		h := newHands()
		b := NewBrake(h.clock(), nobody)
		for i := range BrakeLimit {
			peer := addr(peers[0])
			if peer.Is6() {
				peer = addr(fmt.Sprintf("2001:db8::%x", i+1)) // one host, many addresses
			}
			b.Begin(fmt.Sprint("user", i), peer)
		}
		if b.Wait("fresh", addr(peers[0])) == 0 {
			t.Errorf("%s goes on guessing", peers[0])
		}
		if b.Wait("fresh", addr(peers[1])) != 0 {
			t.Errorf("%s is refused for what %s did", peers[1], peers[0])
		}
	}
}

func TestBrakeWindowSlides(t *testing.T) {
	h := newHands()
	b := NewBrake(h.clock(), nobody)
	peer := addr("192.0.2.1")
	for range BrakeLimit {
		b.Begin("a", peer)
		h.mono.Add(int64(10 * time.Second))
	}
	if wait := b.Wait("a", peer); wait != BrakeWindow-100*time.Second {
		t.Errorf("wait is %v, want 200 s", wait)
	}
	h.mono.Add(int64(200 * time.Second)) // the first failure is forgotten, nine remain
	if _, wait := b.Begin("a", peer); wait != 0 {
		t.Errorf("refused for %v", wait)
	}
	if _, wait := b.Begin("a", peer); wait != 10*time.Second {
		t.Errorf("wait is %v, want 10 s until the second is forgotten", wait)
	}
}

func TestBrakeSuccessesDoNotCountAndDoNotForgive(t *testing.T) {
	h := newHands()
	b := NewBrake(h.clock(), nobody)
	peer := addr("192.0.2.1")
	for range 100 {
		attempt, wait := b.Begin("good", peer)
		if wait != 0 {
			t.Fatal("a user with the right password was refused")
		}
		attempt.Succeeded()
		h.mono.Add(1)
	}
	for range BrakeLimit - 1 {
		b.Begin("victim", peer)
		h.mono.Add(1)
		attempt, _ := b.Begin("good", peer)
		attempt.Succeeded()
	}
	b.Begin("victim", peer)
	if b.Wait("good", peer) == 0 {
		t.Error("own successes wiped the address clean")
	}
}

func TestBrakeAttemptsAtOnceCannotSlipThrough(t *testing.T) {
	b := NewBrake(newHands().clock(), nobody)
	var mu sync.Mutex
	through := 0
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			if _, wait := b.Begin("admin", addr("192.0.2.1")); wait == 0 {
				mu.Lock()
				through++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if through != BrakeLimit {
		t.Errorf("%d attempts got through at once, want %d", through, BrakeLimit)
	}
}

func TestBrakeUnderAFloodNeitherGrowsNorRefusesOthersNorForgetsTheGuessed(t *testing.T) {
	h := newHands()
	b := NewBrake(h.clock(), nobody)
	guesser := addr("203.0.113.9")
	for range BrakeLimit {
		b.Begin("admin", guesser)
	}
	refused := 0
	for i := range 200_000 {
		h.mono.Add(int64(time.Microsecond))
		peer := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		attempt, wait := b.Begin(fmt.Sprint("flood", i), peer)
		if wait != 0 {
			refused++
			continue
		}
		if i%1000 == 0 {
			attempt.Succeeded()
		}
	}
	if refused != 0 {
		t.Errorf("%d first attempts were refused for others' failures", refused)
	}
	if b.find(b.key('a', "admin")) == nil || b.Wait("x", guesser) == 0 {
		t.Error("a flood of single failures made the brake forget ten of one account or address")
	}
	if len(b.welcome) > brakeWelcome {
		t.Errorf("%d successes are remembered", len(b.welcome))
	}
	if size := unsafe.Sizeof(*b); size > 256<<10 {
		t.Errorf("the brake takes %d bytes, want at most 256 KiB", size)
	}
}

// Ten failures of one account from each of many networks push the ten of another one out
// of a table that is a cache, wherever its place is.
func TestBrakeOfAnAccountThatExistsCannotBeMadeToForget(t *testing.T) {
	h := newHands()
	b := NewBrake(h.clock(), func(name string) bool { return name == "admin" })
	for range BrakeLimit {
		b.Begin("admin", addr("203.0.113.9"))
	}
	for i := range 3 * brakeSets * brakeWays * BrakeLimit {
		h.mono.Add(int64(time.Microsecond))
		n := i / BrakeLimit
		b.Begin(fmt.Sprint("flood", n), netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}))
	}
	if a, _ := b.Begin("admin", addr("192.0.2.1")); a.put == 0 {
		t.Error("a flood made the brake forget ten failures of an account that exists")
	}
}

func TestBrakeKeepsNoMoreOfAccountsThanThereAre(t *testing.T) {
	h := newHands()
	b := NewBrake(h.clock(), func(string) bool { return true })
	for i := range 10 * ownSweep {
		h.mono.Add(int64(BrakeWindow / ownSweep))
		b.Begin(fmt.Sprint("user", i), netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}))
	}
	if n := len(b.own); n > 2*ownSweep {
		t.Errorf("%d accounts are kept", n)
	}
}

func BenchmarkBrakeUnderFlood(b *testing.B) {
	br := NewBrake(SystemClock(), nobody)
	peer := addr("192.0.2.1")
	i := 0
	for b.Loop() {
		i++
		br.Begin(fmt.Sprint(i), peer)
	}
}
