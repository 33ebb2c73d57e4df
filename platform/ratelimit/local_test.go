package ratelimit

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.internal/controller/platform"
)

// hand is a clock that is set by hand.
type hand struct{ us atomic.Int64 }

func newHand() *hand {
	h := &hand{}
	h.us.Store(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC).UnixMicro())
	return h
}

func (h *hand) now() time.Time         { return time.UnixMicro(h.us.Load()) }
func (h *hand) turn(d time.Duration)   { h.us.Add(d.Microseconds()) }
func bucket(limit int) platform.Bucket { return named("key:1", limit) }
func named(id string, n int) platform.Bucket {
	return platform.Bucket{ID: id, Limit: n, Window: platform.Window}
}

// takeAtOnce counts n requests from many goroutines and returns how many passed.
func takeAtOnce(n int, take func(i int) platform.Allowance) int {
	var passed atomic.Int32
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			if take(i).OK {
				passed.Add(1)
			}
		})
	}
	close(start)
	wg.Wait()
	return int(passed.Load())
}

func TestExactlyTheLimitPassesAThousandAtOnce(t *testing.T) {
	l := newLocal(newHand().now)
	if got := takeAtOnce(1000, func(int) platform.Allowance { return l.Take(t.Context(), bucket(100), 1) }); got != 100 {
		t.Errorf("%d passed, want 100", got)
	}
	if a := l.Show(t.Context(), bucket(100)); a.Remaining != 0 || a.Limit != 100 {
		t.Errorf("left: %+v", a)
	}
}

func TestAWindowEndsWhenItSaidAndTheNextIsEmpty(t *testing.T) {
	h := newHand()
	l := newLocal(h.now)
	first := l.Take(t.Context(), bucket(1), 1)
	if until := first.Reset.Sub(h.now()); until <= 0 || until > platform.Window {
		t.Fatalf("the window ends in %v", until)
	}
	h.turn(first.Reset.Sub(h.now()) - time.Millisecond)
	if a := l.Take(t.Context(), bucket(1), 1); a.OK || !a.Reset.Equal(first.Reset) {
		t.Errorf("just before its end: %+v", a)
	}
	h.turn(time.Millisecond)
	if a := l.Take(t.Context(), bucket(1), 1); !a.OK || !a.Reset.Equal(first.Reset.Add(platform.Window)) {
		t.Errorf("in the next one: %+v", a)
	}
}

func TestWindowsAreTheSameEverywhereAndNotAllAtOnce(t *testing.T) {
	h := newHand()
	one, two := newLocal(h.now), newLocal(h.now)
	ends := map[time.Time]bool{}
	for i := range 50 {
		b := named(fmt.Sprint("key:", i), 1)
		a := one.Show(t.Context(), b)
		if !a.Reset.Equal(two.Show(t.Context(), b).Reset) {
			t.Errorf("%s: the instances disagree", b.ID)
		}
		ends[a.Reset] = true
	}
	if len(ends) < 45 {
		t.Errorf("50 windows end at %d moments", len(ends))
	}
}

func TestRefusedRequestsAreNotCountedAndAnotherLimitHoldsAtOnce(t *testing.T) {
	l := newLocal(newHand().now)
	for range 10 {
		l.Take(t.Context(), bucket(2), 1)
	}
	if a := l.Take(t.Context(), bucket(3), 1); !a.OK || a.Remaining != 0 {
		t.Errorf("raised from 2 to 3 after 2 passed: %+v", a)
	}
	if a := l.Take(t.Context(), bucket(1), 1); a.OK || a.Remaining != 0 {
		t.Errorf("lowered to 1 after 3 passed: %+v", a)
	}
	if a := l.Take(t.Context(), bucket(5), 1); !a.OK || a.Remaining != 1 {
		t.Errorf("raised to 5 after 3 passed: %+v", a)
	}
}

func TestAClockThatIsSetBackEmptiesNoBucket(t *testing.T) {
	h := newHand()
	l := newLocal(h.now)
	l.Take(t.Context(), bucket(1), 1)
	h.turn(-time.Hour)
	if a := l.Take(t.Context(), bucket(1), 1); a.OK {
		t.Errorf("an hour back: %+v", a)
	}
}

func TestStrangersAreForgottenFirst(t *testing.T) {
	h := newHand()
	l := newLocal(h.now)
	l.Take(t.Context(), bucket(1), 1)
	for i := range 2 * shards * strangersMost {
		b := named(fmt.Sprint("ip:", i), 20)
		b.Stranger = true
		l.Take(t.Context(), b, 1)
	}
	kept := 0
	for i := range l.shard {
		if n := len(l.shard[i].strangers); n > strangersMost {
			t.Fatalf("a shard remembers %d strangers", n)
		}
		kept += len(l.shard[i].strangers)
	}
	if a := l.Take(t.Context(), bucket(1), 1); a.OK {
		t.Errorf("%d strangers made it forget a key", kept)
	}
	h.turn(2 * platform.Window)
	for i := range 100 * shards { // enough that each shard looks
		l.Take(t.Context(), named(fmt.Sprint("key:", i), 1), 1)
	}
	for i := range l.shard {
		if n := len(l.shard[i].strangers); n != 0 {
			t.Fatalf("%d strangers are remembered two windows later", n)
		}
	}
}

func BenchmarkTake(b *testing.B) {
	l := NewLocal()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			l.Take(b.Context(), named("key:01a203f4-eafa-7cb1-a294-6cb1144a50a9", 1<<30), 1)
		}
	})
}
