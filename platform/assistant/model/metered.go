package model

import (
	"context"
	"iter"
)

// Metered asks of as long as take has no error: a request to a language model costs money, on behalf of whoever ctx is about.
type Metered struct {
	Of   Model
	Take func(ctx context.Context) error
	// Cost is told what a request cost, in tokens; of a server that does not count, what four bytes a token make.
	Cost func(ctx context.Context, tokens int)
}

// bytesPerToken of a request and its answer, where a server does not count.
const bytesPerToken = 4

// Name implements [Model].
func (m Metered) Name() string { return m.Of.Name() }

// Stream implements [Model].
func (m Metered) Stream(ctx context.Context, r Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if err := m.Take(ctx); err != nil {
			yield(Event{}, err)
			return
		}
		tokens, bytes := 0, len(r.System)+len(r.Text)+len(r.Form.Description)+len(r.Form.Schema)
		defer func() {
			if tokens == 0 {
				tokens = (bytes + bytesPerToken - 1) / bytesPerToken
			}
			m.Cost(ctx, tokens)
		}()
		for e, err := range m.Of.Stream(ctx, r) {
			tokens += e.Tokens
			bytes += len(e.Text)
			if !yield(e, err) {
				return
			}
		}
	}
}
