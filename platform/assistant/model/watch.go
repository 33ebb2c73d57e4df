package model

import (
	"context"
	"errors"
	"time"
)

// Patience bounds the waiting for a stream. Local servers load a model before the first word, and are quick then.
type Patience struct {
	First   time.Duration // to the first event; 0: one minute
	Between time.Duration // from one to the next; 0: half a minute
}

// Watch ends the context that it returns with [ErrSilent] as its cause when nothing is heard for too long. heard is told
// of every sign of life; stop has to be called at the end.
func (p Patience) Watch(ctx context.Context) (watched context.Context, heard, stop func()) {
	first, between := p.First, p.Between
	if first == 0 {
		first = time.Minute
	}
	if between == 0 {
		between = 30 * time.Second
	}
	watched, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(first, func() { cancel(ErrSilent) })
	return watched, func() { timer.Reset(between) }, func() { timer.Stop(); cancel(nil) }
}

// Because tells the reason of an error of a watched stream: silence rather than a cancelled request.
func Because(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), ErrSilent) {
		return ErrSilent
	}
	return err
}
