package store

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/password"
)

const (
	// maxHashings at a time, each with 19 MiB that is given back before the next: a small
	// board has no more, and another processor for whoever gives commands meanwhile.
	maxHashings = 1
	// maxWaiting callers may wait for them, at some 50 ms each.
	maxWaiting = 64
)

// hash waits for one of the few places where passwords are hashed.
func (s *Store) hash(ctx context.Context, fn func()) error {
	if s.waiting.Add(1) > maxWaiting {
		s.waiting.Add(-1)
		return fmt.Errorf("check a password: %w", appliance.ErrOverloaded)
	}
	defer func() {
		if s.waiting.Add(-1) == 0 {
			// The hash's memory is most of what this process ever uses; waiting for the
			// collector would hold it for minutes on a board with little.
			debug.FreeOSMemory()
		}
	}()
	select {
	case s.hashing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.hashing }()
	runAside(fn)
	// The collector would let the memory of several add up before it looked.
	runtime.GC()
	return nil
}

// CheckPassword returns the user who has this name and password, or
// [account.ErrAuthFailed]: no such user, a wrong password or a user without a
// role, after the same work in each case. [appliance.ErrOverloaded] means that
// too many others are being checked.
func (s *Store) CheckPassword(ctx context.Context, name, given string) (account.User, error) {
	a, exists := s.accounts.Load().users[name]
	stored := a.password
	if !exists {
		stored = s.decoy
	}
	var same, weaker bool
	var broken error
	if err := s.hash(ctx, func() { same, weaker, broken = password.Same(stored, given) }); err != nil {
		return account.User{}, err
	}
	if broken != nil {
		return account.User{}, fmt.Errorf("check the password of user %s: %w", name, broken)
	}
	if !same || !exists || !a.Role.CanRead() {
		return account.User{}, account.ErrAuthFailed
	}
	if weaker {
		s.rehash(ctx, a, given)
	}
	return a.User, nil
}

// rehash stores a stronger hash of the same password. It is no change of the
// password: tokens live on.
func (s *Store) rehash(ctx context.Context, a userEntry, given string) {
	var stored string
	if err := s.hash(ctx, func() { stored = password.Hash(given) }); err != nil {
		return // at the next login then
	}
	if err := s.replaceHash(ctx, a, stored); err != nil {
		s.log.Warn("store a stronger password hash", "user", a.Name, "error", err)
	}
}
