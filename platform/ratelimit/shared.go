package ratelimit

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"svc.internal/controller/platform"
)

const (
	// budget is how long a request may wait for Redis.
	budget = 80 * time.Millisecond
	// failuresMost in a row, and Redis is left alone.
	failuresMost = 3
	probeEvery   = 500 * time.Millisecond
	// probeTime is longer than budget: a connection may have to be made first.
	probeTime = 2 * time.Second
)

// script counts ARGV[1] requests in KEYS[1], which may hold ARGV[2] at most and lives
// until ARGV[3]. It returns the count, negative and one less if there is no room.
var script = redis.NewScript(`
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
local n, limit = tonumber(ARGV[1]), tonumber(ARGV[2])
if used + n > limit then return -used - 1 end
if n > 0 then redis.call('SET', KEYS[1], used + n, 'PXAT', ARGV[3]) end
return used + n
`)

// Shared counts in Redis, for all instances together.
type Shared struct {
	own     *Local // what this instance let through
	client  *redis.Client
	breaker breaker
}

// NewShared counts in the Redis at url, redis://… or rediss://…. It need not be there
// yet. Run probes it.
func NewShared(url string, log *slog.Logger) (*Shared, error) {
	opts, err := redis.ParseURL(url)
	if err != nil {
		return nil, fmt.Errorf("read REDIS_URL: %w", withoutURL(err))
	}
	opts.ContextTimeoutEnabled = true // else a server that hangs costs seconds
	opts.DialerRetries = 1            // else a refused connection costs 400 ms
	opts.MaxRetries = -1
	opts.DialTimeout = probeTime
	redis.SetLogger(quiet{log})
	return &Shared{own: NewLocal(), client: redis.NewClient(opts), breaker: breaker{log: log}}, nil
}

// quiet is the log of the client, which tells each failed attempt; the breaker tells
// once.
type quiet struct{ log *slog.Logger }

// Printf takes a line of it.
func (q quiet) Printf(ctx context.Context, format string, v ...any) {
	q.log.DebugContext(ctx, fmt.Sprintf(format, v...))
}

// Take counts one request, unless the bucket is full.
func (s *Shared) Take(ctx context.Context, b platform.Bucket) platform.Allowance {
	w, a := s.own.take(b, 1)
	if !a.OK { // all instances together let through at least as many
		return a
	}
	used, err := s.count(ctx, b, w, 1)
	switch {
	case err != nil:
		return a
	case used < 0:
		s.own.giveBack(b, w)
		return allowance(b, w, -used-1, false)
	}
	return allowance(b, w, used, true)
}

// Show tells how full a bucket is.
func (s *Shared) Show(ctx context.Context, b platform.Bucket) platform.Allowance {
	w, a := s.own.take(b, 0)
	used, err := s.count(ctx, b, w, 0)
	switch {
	case err != nil:
		return a
	case used < 0:
		return allowance(b, w, -used-1, false)
	}
	return allowance(b, w, used, true)
}

func (s *Shared) count(ctx context.Context, b platform.Bucket, w window, n int) (int, error) {
	if s.breaker.open() {
		return 0, errAway
	}
	// Whoever asked may hang up; that says nothing about Redis.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), budget)
	defer cancel()
	used, err := s.run(ctx, b, w, n)
	s.breaker.note(err)
	return used, err
}

func (s *Shared) run(ctx context.Context, b platform.Bucket, w window, n int) (int, error) {
	key := "limit:" + b.ID + ":" + strconv.FormatInt(w.start.UnixMilli(), 36)
	// Redis has a clock of its own: one window more makes sure that it is not ahead.
	until := w.end.Add(b.Window).UnixMilli()
	return script.Run(ctx, s.client, []string{key}, n, b.Limit, until).Int()
}

// Up reports whether Redis is asked at present.
func (s *Shared) Up() bool { return !s.breaker.open() }

// Run looks after Redis until ctx ends, and lets go of it then.
func (s *Shared) Run(ctx context.Context) error {
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return s.client.Close()
		case <-tick.C:
		}
		if s.breaker.open() && s.probe(ctx) == nil {
			s.breaker.close()
		}
	}
}

// probe counts something: a Redis that is full or a replica answers, but is of no use.
func (s *Shared) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	b := platform.Bucket{ID: "probe", Limit: math.MaxInt32, Window: platform.Window}
	_, err := s.run(ctx, b, windowOf(b, time.Now()), 1)
	return err
}
