package ratelimit

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"svc.internal/controller/platform"
)

const (
	// A request waits for Redis for silentSteps × waitStep without a sign of life from it,
	// and longest for waitSteps while it answers others. Steps are counted, not time: on
	// a machine that is too busy they come late, and so would any answer, which is no
	// fault of Redis.
	waitStep    = 10 * time.Millisecond
	silentSteps = 9
	waitSteps   = 50
	// batchMost requests are sent together, and queueMost wait to be.
	batchMost = 256
	queueMost = 1024
	// batchTime is when a batch is given up, whose requests have gone on long before.
	batchTime = time.Second
	// failuresMost in a row, and Redis is left alone.
	failuresMost = 3
	probeEvery   = 500 * time.Millisecond
	// probeTime is longer: a connection may have to be made first.
	probeTime = 2 * time.Second
)

// script counts ARGV[1] requests in KEYS[1], which may hold ARGV[2] at most and lives
// until ARGV[3]. It returns the count, negative and one less if there is no room.
const script = `
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
local n, limit = tonumber(ARGV[1]), tonumber(ARGV[2])
if used + n > limit then return -used - 1 end
if n > 0 then redis.call('SET', KEYS[1], used + n, 'PXAT', ARGV[3]) end
return used + n
`

// Shared counts in Redis, for all instances together.
type Shared struct {
	own     *Local // what this instance let through
	client  *redis.Client
	queue   chan *question
	breaker breaker
	alive   atomic.Uint64 // signs of life
	alone   atomic.Uint64
}

// question is one request to be counted in Redis.
type question struct {
	bucket platform.Bucket
	window window
	n      int
	answer chan answer // has room for it, whether or not somebody still waits
}

type answer struct {
	used int
	err  error
}

// NewShared counts in the Redis at url, redis://… or rediss://…. It need not be there
// yet. [Shared.Run] has to run.
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
	s := &Shared{own: NewLocal(), queue: make(chan *question, queueMost), breaker: breaker{log: log}}
	opts.OnConnect = func(context.Context, *redis.Conn) error {
		s.alive.Add(1)
		return nil
	}
	s.client = redis.NewClient(opts)
	return s, nil
}

// quiet is the log of the client, which tells each failed attempt; the breaker tells
// once.
type quiet struct{ log *slog.Logger }

// Printf takes a line of it.
func (q quiet) Printf(ctx context.Context, format string, v ...any) {
	q.log.DebugContext(ctx, fmt.Sprintf(format, v...))
}

// Take counts n requests, or none if the bucket has no room for all.
func (s *Shared) Take(_ context.Context, b platform.Bucket, n int) platform.Allowance {
	w, a := s.own.take(b, n)
	if !a.OK { // all instances together let through at least as many
		return a
	}
	used, err := s.count(b, w, n)
	switch {
	case err != nil:
		return a
	case used < 0:
		s.own.giveBack(b, w, n)
		return allowance(b, w, -used-1, false)
	}
	return allowance(b, w, used, true)
}

// Show tells how full a bucket is.
func (s *Shared) Show(_ context.Context, b platform.Bucket) platform.Allowance {
	w, a := s.own.take(b, 0)
	used, err := s.count(b, w, 0)
	switch {
	case err != nil:
		return a
	case used < 0:
		return allowance(b, w, -used-1, false)
	}
	return allowance(b, w, used, true)
}

// Each is that of [Local]: what this instance counted.
func (s *Shared) Each(f func(id string, left int)) { s.own.Each(f) }

// Alone tells how many requests were counted by this instance alone, because Redis did
// not answer in time.
func (s *Shared) Alone() uint64 { return s.alone.Load() }

// count asks Redis. Whoever asked may hang up meanwhile; it is counted all the same.
func (s *Shared) count(b platform.Bucket, w window, n int) (used int, err error) {
	defer func() {
		if err != nil {
			s.alone.Add(1)
		}
	}()
	if s.breaker.open() {
		return 0, errAway
	}
	q := &question{bucket: b, window: w, n: n, answer: make(chan answer, 1)}
	select {
	case s.queue <- q:
	default:
		s.breaker.note(errSlow)
		return 0, errSlow
	}
	step := time.NewTicker(waitStep)
	defer step.Stop()
	alive, silent := s.alive.Load(), 0
	for waited := 0; waited < waitSteps && silent < silentSteps; waited++ {
		select {
		case a := <-q.answer:
			s.breaker.note(a.err)
			return a.used, a.err
		case <-step.C:
		}
		silent++
		if now := s.alive.Load(); now != alive {
			alive, silent = now, 0
		}
	}
	s.breaker.note(errSlow)
	return 0, errSlow
}

// Up reports whether Redis is asked at present.
func (s *Shared) Up() bool { return !s.breaker.open() }

// Run talks to Redis until ctx ends, and lets go of it then.
func (s *Shared) Run(ctx context.Context) error {
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		s.ask(ctx)
	}()
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			<-asked
			return s.client.Close()
		case <-tick.C:
		}
		if s.breaker.open() && s.probe(ctx) == nil {
			s.breaker.close()
		}
	}
}

// ask sends questions: all that have come while the last ones were under way go
// together.
func (s *Shared) ask(ctx context.Context) {
	for {
		batch := make([]*question, 0, batchMost)
		select {
		case <-ctx.Done():
			return
		case q := <-s.queue:
			batch = append(batch, q)
		}
		for len(batch) < batchMost && len(s.queue) > 0 {
			batch = append(batch, <-s.queue)
		}
		s.send(ctx, batch)
	}
}

func (s *Shared) send(ctx context.Context, batch []*question) {
	ctx, cancel := context.WithTimeout(ctx, batchTime)
	defer cancel()
	pipe := s.client.Pipeline()
	said := make([]*redis.Cmd, len(batch))
	for i, q := range batch {
		key := "limit:" + q.bucket.ID + ":" + strconv.FormatInt(q.window.start.UnixMilli(), 36)
		// Redis has a clock of its own: one window more makes sure that it is not ahead.
		until := q.window.end.Add(q.bucket.Window).UnixMilli()
		said[i] = pipe.Eval(ctx, script, []string{key}, q.n, q.bucket.Limit, until)
	}
	if _, err := pipe.Exec(ctx); err == nil {
		s.alive.Add(1)
	}
	for i, q := range batch {
		used, err := said[i].Int() // each has its own error
		q.answer <- answer{used, err}
	}
}

// probe counts something: a Redis that is full or a replica answers, but is of no use.
func (s *Shared) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	b := platform.Bucket{ID: "probe", Limit: math.MaxInt32, Window: platform.Window}
	q := &question{bucket: b, window: windowOf(b, time.Now()), n: 1, answer: make(chan answer, 1)}
	s.send(ctx, []*question{q})
	return (<-q.answer).err
}
