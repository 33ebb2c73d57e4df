package ratelimit

import (
	"errors"
	"log/slog"
	"net/url"
	"sync/atomic"
)

// Why one request was not counted on all instances.
var (
	errAway = errors.New("nobody is asked at present")
	errSlow = errors.New("no answer in time")
)

// breaker keeps requests from waiting for a Redis that does not answer. It is closed
// while all is well.
type breaker struct {
	log      *slog.Logger
	failures atomic.Int32 // in a row
	opened   atomic.Bool
}

func (b *breaker) open() bool { return b.opened.Load() }

// note takes the outcome of one call.
func (b *breaker) note(err error) {
	if err == nil {
		if b.failures.Load() != 0 {
			b.failures.Store(0)
		}
		return
	}
	if b.failures.Add(1) >= failuresMost && b.opened.CompareAndSwap(false, true) {
		b.log.Warn("Redis does not answer; each instance counts requests by itself", "error", err)
	}
}

func (b *breaker) close() {
	b.failures.Store(0)
	b.opened.Store(false)
	b.log.Info("Redis answers again; requests are counted on all instances together")
}

// withoutURL takes the text that could not be read, which may hold a password, out of
// an error.
func withoutURL(err error) error {
	if bad := new(url.Error); errors.As(err, &bad) {
		return bad.Err
	}
	return err
}
