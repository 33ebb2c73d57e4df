package store

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"runtime"
	"runtime/debug"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"svc.internal/controller/account"
	"svc.internal/controller/appliance"
)

// Cost of a password hash: argon2id as OWASP's password storage cheat sheet
// recommends for small machines. Raising them re-hashes each password at its
// next login.
const (
	argonMemory  = 19 * 1024 // KiB
	argonTime    = 2
	argonThreads = 1
	argonSalt    = 16 // bytes
	argonKey     = 32 // bytes
)

const (
	minPassword = 10   // characters
	maxPassword = 1024 // bytes

	// maxHashings at a time, each with 19 MiB that is given back before the next: a small
	// board has no more, and another processor for whoever gives commands meanwhile.
	maxHashings = 1
	// maxWaiting callers may wait for them, at some 50 ms each.
	maxWaiting = 64
)

// phc is a password hash in the PHC string format:
// $argon2id$v=19$m=19456,t=2,p=1$salt$key, both base64 without padding.
type phc struct {
	memory, time uint32
	threads      uint8
	salt, key    []byte
}

func (h phc) String() string {
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.memory, h.time, h.threads, b64(h.salt), b64(h.key))
}

func (h phc) derive(password string) []byte {
	return argon2.IDKey([]byte(password), h.salt, h.time, h.memory, h.threads, argonKey)
}

// weaker reports whether the hash costs less than a new one would.
func (h phc) weaker() bool {
	return h.memory < argonMemory || h.time < argonTime
}

func parsePHC(s string) (phc, error) {
	var h phc
	var version int
	var tail string
	if _, err := fmt.Sscanf(s, "$argon2id$v=%d$m=%d,t=%d,p=%d$%s", &version, &h.memory, &h.time, &h.threads, &tail); err != nil {
		return phc{}, fmt.Errorf("password hash: %w", err)
	}
	if version != argon2.Version || h.time < 1 || h.threads < 1 || h.memory > 1<<20 || h.time > 100 {
		return phc{}, fmt.Errorf("password hash of version %d with m=%d,t=%d,p=%d is not usable", version, h.memory, h.time, h.threads)
	}
	const salted = 22 // length of 16 bytes in base64
	if len(tail) < salted+2 || tail[salted] != '$' {
		return phc{}, fmt.Errorf("password hash: want salt and key")
	}
	var err error
	if h.salt, err = base64.RawStdEncoding.DecodeString(tail[:salted]); err != nil {
		return phc{}, fmt.Errorf("salt of a password hash: %w", err)
	}
	if h.key, err = base64.RawStdEncoding.DecodeString(tail[salted+1:]); err != nil {
		return phc{}, fmt.Errorf("key of a password hash: %w", err)
	}
	return h, nil
}

// hashPassword makes the stored form of a password.
func hashPassword(password string) string {
	h := newPHC()
	h.key = h.derive(password)
	return h.String()
}

// decoyHash costs as much to check as a user's and matches no password.
func decoyHash() string {
	h := newPHC()
	h.key = make([]byte, argonKey)
	rand.Read(h.key)
	return h.String()
}

func newPHC() phc {
	h := phc{memory: argonMemory, time: argonTime, threads: argonThreads, salt: make([]byte, argonSalt)}
	rand.Read(h.salt) // never fails, see crypto/rand
	return h
}

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

// checkNewPassword says why a password cannot be used.
func checkNewPassword(password string) error {
	if !utf8.ValidString(password) {
		return unusable("password is not UTF-8, the only encoding that a log-in can carry; give it in UTF-8 or in plain ASCII characters")
	}
	if n := utf8.RuneCountInString(password); n < minPassword {
		return unusable(fmt.Sprintf("password has %d characters, want at least %d", n, minPassword))
	}
	if len(password) > maxPassword {
		return unusable(fmt.Sprintf("password has %d bytes, at most %d are possible", len(password), maxPassword))
	}
	return nil
}

// CheckPassword returns the user who has this name and password, or
// [account.ErrAuthFailed]: no such user, a wrong password or a user without a
// role, after the same work in each case. [appliance.ErrOverloaded] means that
// too many others are being checked.
func (s *Store) CheckPassword(ctx context.Context, name, password string) (account.User, error) {
	a, exists := s.accounts.Load().users[name]
	stored := a.password
	if !exists {
		stored = s.decoy
	}
	h, err := parsePHC(stored)
	if err != nil {
		return account.User{}, fmt.Errorf("check the password of user %s: %w", name, err)
	}
	// What is longer than any password costs no more than the longest one.
	tooLong := len(password) > maxPassword
	var key []byte
	if err := s.hash(ctx, func() { key = h.derive(password[:min(len(password), maxPassword)]) }); err != nil {
		return account.User{}, err
	}
	same := subtle.ConstantTimeCompare(key, h.key) == 1
	if !same || !exists || tooLong || !a.Role.CanRead() {
		return account.User{}, account.ErrAuthFailed
	}
	if h.weaker() {
		s.rehash(ctx, a, password)
	}
	return a.User, nil
}

// rehash stores a stronger hash of the same password. It is no change of the
// password: tokens live on.
func (s *Store) rehash(ctx context.Context, a userEntry, password string) {
	var stored string
	if err := s.hash(ctx, func() { stored = hashPassword(password) }); err != nil {
		return // at the next login then
	}
	if err := s.replaceHash(ctx, a, stored); err != nil {
		s.log.Warn("store a stronger password hash", "user", a.Name, "error", err)
	}
}
