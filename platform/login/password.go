package login

import (
	"context"
	"fmt"
	"sync/atomic"

	"svc.internal/controller/platform"
	"svc.internal/controller/shelf/password"
)

const (
	// maxHashings at a time keep the memory for hashing at 76 MiB.
	maxHashings = 4
	// maxWaiting callers may wait for them, at some 50 ms each.
	maxWaiting = 64
)

// hashing bounds how many passwords are hashed at a time, whoever asks.
type hashing struct {
	places  chan struct{}
	waiting atomic.Int32
}

func newHashing() *hashing { return &hashing{places: make(chan struct{}, maxHashings)} }

// do runs fn when there is a place for it.
func (h *hashing) do(ctx context.Context, fn func()) error {
	if h.waiting.Add(1) > maxWaiting {
		h.waiting.Add(-1)
		return fmt.Errorf("check a password: %w", platform.ErrOverloaded)
	}
	defer h.waiting.Add(-1)
	select {
	case h.places <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-h.places }()
	fn()
	return nil
}

// HashPassword makes the stored form of a new password. It returns [platform.ErrInvalid]
// for one that is too short, too long or not UTF-8.
func HashPassword(wanted string) (string, error) {
	if err := password.Check(wanted); err != nil {
		return "", platform.Invalid("%v", err)
	}
	return password.Hash(wanted), nil
}
