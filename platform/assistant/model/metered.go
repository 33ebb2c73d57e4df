package model

import (
	"context"
	"iter"
)

// Metered asks of as long as take has no error: a request to a language model costs money,
// on behalf of whoever ctx is about.
type Metered struct {
	Of   Model
	Take func(ctx context.Context) error
}

// Name implements [Model].
func (m Metered) Name() string { return m.Of.Name() }

// Stream implements [Model].
func (m Metered) Stream(ctx context.Context, r Request) iter.Seq2[Event, error] {
	if err := m.Take(ctx); err != nil {
		return func(yield func(Event, error) bool) { yield(Event{}, err) }
	}
	return m.Of.Stream(ctx, r)
}
