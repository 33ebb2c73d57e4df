//go:build peers

package ratelimit

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/peertest"
)

// slow is what a request may take more with Redis than without, with room for a busy
// machine: a bound that fails means seconds.
const slow = 100 * time.Millisecond

// instance counts in the Redis of the test until it ends.
func instance(t *testing.T, redis *peertest.RedisServer) *Shared {
	t.Helper()
	s, err := NewShared(redis.URL, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Run(t.Context()) }()
	t.Cleanup(func() {
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

// fresh is a bucket whose window does not end during the test.
func fresh(t *testing.T, limit int) platform.Bucket {
	t.Helper()
	for {
		b := named("key:"+rand.Text(), limit)
		if time.Until(windowOf(b, time.Now()).end) > 5*time.Minute {
			return b
		}
	}
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("still not: " + what)
		}
	}
}

// answered tries until Redis has answered all in time, and looks at what was wrong then. What it did not answer in time was
// counted alone, and is no measure: a machine that is busy with other things may need several tries.
func answered(t *testing.T, instances []*Shared, try func() (wrong string)) {
	t.Helper()
	alone := func() (n uint64) {
		for _, s := range instances {
			n += s.Alone()
		}
		return n
	}
	for range 20 {
		for _, s := range instances {
			until(t, "Redis answers", s.Up)
			s.Show(t.Context(), fresh(t, 1)) // connects
		}
		before := alone()
		if wrong := try(); alone() == before {
			if wrong != "" {
				t.Error(wrong)
			}
			return
		}
		t.Log("Redis was too slow for some")
	}
	t.Fatal("in none of 20 tries did Redis answer all in time")
}

func TestExactlyTheLimitPassesAThousandAtOnceOverTwoInstances(t *testing.T) {
	redis := peertest.Redis(t)
	one, two := instance(t, redis), instance(t, redis)
	answered(t, []*Shared{one, two}, func() (wrong string) {
		b := fresh(t, 100)
		got := takeAtOnce(1000, func(i int) platform.Allowance {
			return []*Shared{one, two}[i%2].Take(t.Context(), b, 1)
		})
		if got != 100 {
			wrong += fmt.Sprintf("%d passed, want 100\n", got)
		}
		if a := two.Show(t.Context(), b); a.Remaining != 0 {
			wrong += fmt.Sprintf("left: %+v\n", a)
		}
		b.Limit = 101
		if a := one.Take(t.Context(), b, 1); !a.OK {
			wrong += fmt.Sprintf("raised limit: %+v\n", a)
		}
		return wrong
	})
}

func TestWhatOneInstanceTookTheOtherKnows(t *testing.T) {
	redis := peertest.Redis(t)
	one, two := instance(t, redis), instance(t, redis)
	answered(t, []*Shared{one, two}, func() (wrong string) {
		b := fresh(t, 10)
		for i := range 10 {
			s := []*Shared{one, two}[i%2]
			if a := s.Take(t.Context(), b, 1); !a.OK || a.Remaining != 9-i {
				wrong += fmt.Sprintf("request %d: %+v\n", i+1, a)
			}
		}
		for _, s := range []*Shared{one, two} {
			if a := s.Take(t.Context(), b, 1); a.OK || a.Remaining != 0 {
				wrong += fmt.Sprintf("request 11: %+v\n", a)
			}
		}
		return wrong
	})
}

func TestACountDoesNotLiveForEver(t *testing.T) {
	redis := peertest.Redis(t)
	s := instance(t, redis)
	answered(t, []*Shared{s}, func() string { s.Take(t.Context(), fresh(t, 10), 1); return "" })
	keys := s.client.Keys(t.Context(), "limit:*").Val()
	if len(keys) == 0 { // more than one if there were several tries
		t.Fatal("no key")
	}
	if left := s.client.TTL(t.Context(), keys[0]).Val(); left <= 0 || left > 2*platform.Window {
		t.Errorf("lives for %v", left)
	}
}

// pressed asks without pause while something happens to Redis, and tells how many
// requests passed and how long the slowest took.
func pressed(t *testing.T, instances []*Shared, b platform.Bucket, happen func()) (passed int, slowest time.Duration) {
	t.Helper()
	var ok atomic.Int32
	var worst atomic.Int64
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				start := time.Now()
				if instances[i%len(instances)].Take(t.Context(), b, 1).OK {
					ok.Add(1)
				}
				took := int64(time.Since(start))
				for old := worst.Load(); took > old && !worst.CompareAndSwap(old, took); old = worst.Load() {
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	happen()
	close(stop)
	wg.Wait()
	return int(ok.Load()), time.Duration(worst.Load())
}

func TestRedisStoppedAndStarted(t *testing.T) {
	for name, c := range map[string]struct {
		away, back func(*testing.T, *peertest.RedisServer)
	}{
		"killed and started empty": {
			func(t *testing.T, r *peertest.RedisServer) { r.Stop(t) },
			func(t *testing.T, r *peertest.RedisServer) { r.Start(t) },
		},
		"hung": {
			func(t *testing.T, r *peertest.RedisServer) { r.Signal(t, syscall.SIGSTOP) },
			func(t *testing.T, r *peertest.RedisServer) { r.Signal(t, syscall.SIGCONT) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			redis := peertest.Redis(t)
			instances := []*Shared{instance(t, redis), instance(t, redis)}
			b := fresh(t, 200)
			for _, s := range instances {
				until(t, "Redis answers", func() bool { s.Show(t.Context(), b); return s.Up() })
			}
			late := drivertest.Watch(t)
			passed, slowest := pressed(t, instances, b, func() {
				c.away(t, redis)
				until(t, "both instances count alone", func() bool { return !instances[0].Up() && !instances[1].Up() })
				c.back(t, redis)
				until(t, "both instances ask Redis again", func() bool { return instances[0].Up() && instances[1].Up() })
			})
			if passed < 200 || passed > 400 {
				t.Errorf("%d passed, want 200 to 400: never more than limit × instances, never fewer than the limit", passed)
			}
			t.Logf("%d passed; the slowest request took %v", passed, slowest)
			// The wait is of many short ones.
			if most := slow + 400*time.Millisecond + late.Steps(50); slowest > most {
				t.Errorf("a request waited %v for Redis", slowest)
			}
			if a := instances[0].Take(t.Context(), b, 1); a.OK {
				t.Errorf("a full bucket takes more: %+v", a)
			}
			other := named(b.ID+" other", 2)
			instances[0].Take(t.Context(), other, 1)
			instances[1].Take(t.Context(), other, 1)
			if a := instances[0].Take(t.Context(), other, 1); a.OK {
				t.Error("the instances do not count together again")
			}
		})
	}
}

func TestARedisThatIsFullIsNotAskedAgainAndAgain(t *testing.T) {
	redis := peertest.Redis(t)
	s := instance(t, redis)
	if err := s.client.ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
	b := fresh(t, 5)
	if got := takeAtOnce(50, func(int) platform.Allowance { return s.Take(t.Context(), b, 1) }); got != 5 {
		t.Errorf("%d passed, want 5", got)
	}
	if s.Up() {
		t.Error("a Redis that cannot keep anything is thought well")
	}
	if err := s.probe(t.Context()); err == nil {
		t.Error("the probe is content with it")
	}
}

func TestAWrongURLIsToldWithoutThePassword(t *testing.T) {
	for _, url := range []string{"redis://user:geheim@host:port", "http://user:geheim@host", "\x7f://geheim"} {
		_, err := NewShared(url, slog.New(slog.DiscardHandler))
		if err == nil || len(err.Error()) < 20 {
			t.Errorf("%q: %v", url, err)
			continue
		}
		for i := 0; i+6 <= len(err.Error()); i++ {
			if err.Error()[i:i+6] == "geheim" {
				t.Errorf("the password is told: %v", err)
			}
		}
	}
}
