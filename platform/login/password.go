package login

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"svc.internal/controller/platform"
)

// Cost of a password hash: argon2id as OWASP's password storage cheat sheet
// recommends.
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

// HashPassword makes the stored form of a new password, in the PHC string format:
// $argon2id$v=19$m=19456,t=2,p=1$salt$key. It returns [platform.ErrInvalid] for one
// that is too short, too long or not UTF-8.
func HashPassword(password string) (string, error) {
	if !utf8.ValidString(password) {
		return "", platform.Invalid("password is not UTF-8, the only encoding that a login can carry")
	}
	if n := utf8.RuneCountInString(password); n < minPassword {
		return "", platform.Invalid("password has %d characters, want at least %d", n, minPassword)
	}
	if len(password) > maxPassword {
		return "", platform.Invalid("password has %d bytes, at most %d are possible", len(password), maxPassword)
	}
	salt := make([]byte, argonSalt)
	rand.Read(salt) // never fails, see crypto/rand
	return phc(salt, argon2.IDKey([]byte(password), salt, argonTime, argonMemory, argonThreads, argonKey)), nil
}

// decoy costs as much to check as a user's password and matches none.
func decoy() string {
	random := make([]byte, argonSalt+argonKey)
	rand.Read(random)
	return phc(random[:argonSalt], random[argonSalt:])
}

func phc(salt, key []byte) string {
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonThreads, b64(salt), b64(key))
}

// samePassword compares in the same time whatever was given.
func samePassword(stored, password string) (bool, error) {
	part := strings.Split(stored, "$")
	if len(part) != 6 || part[1] != "argon2id" || part[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return false, errors.New("stored password is not of the form $argon2id$v=19$…")
	}
	var memory, time uint32
	var threads uint8
	if _, err := fmt.Sscanf(part[3], "m=%d,t=%d,p=%d", &memory, &time, &threads); err != nil {
		return false, fmt.Errorf("stored password: %w", err)
	}
	if memory > 1<<20 || time < 1 || time > 100 || threads < 1 {
		return false, fmt.Errorf("stored password with m=%d,t=%d,p=%d is not usable", memory, time, threads)
	}
	salt, err := base64.RawStdEncoding.DecodeString(part[4])
	if err != nil {
		return false, fmt.Errorf("salt of a stored password: %w", err)
	}
	want, err := base64.RawStdEncoding.DecodeString(part[5])
	if err != nil {
		return false, fmt.Errorf("key of a stored password: %w", err)
	}
	// What is longer than any password costs no more than the longest one.
	got := argon2.IDKey([]byte(password[:min(len(password), maxPassword)]), salt, time, memory, threads, argonKey)
	return subtle.ConstantTimeCompare(got, want) == 1 && len(password) <= maxPassword, nil
}
