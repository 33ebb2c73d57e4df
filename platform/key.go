package platform

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
)

// KeyPrefix begins the value of every key of the platform.
const KeyPrefix = "svc_"

const (
	keyBytes = 32
	// shownOfKey is how many characters after the prefix a record shows.
	shownOfKey = 8
)

// NewKeyValue makes what the holder of a key sends, and the part of it that its record
// shows.
func NewKeyValue() (value, prefix string) {
	b := make([]byte, keyBytes)
	rand.Read(b) // never fails, see crypto/rand
	digits := hex.EncodeToString(b)
	return KeyPrefix + digits, digits[:shownOfKey]
}

// IsKeyValue reports whether text has the form of a key's value.
func IsKeyValue(text string) bool {
	digits, ok := strings.CutPrefix(text, KeyPrefix)
	if !ok || len(digits) != 2*keyBytes {
		return false
	}
	for _, c := range []byte(digits) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// HashKeyValue is what is kept of a value. With 256 random bits in it, nothing slower
// than this would make it harder to guess.
func HashKeyValue(value string) [32]byte { return sha256.Sum256([]byte(value)) }

// Status of a key.
type Status string

// The states of a key.
const (
	Active  Status = "Active"
	Expired Status = "Expired"
	Revoked Status = "Revoked"
)

// Bounds of keys.
const (
	// DefaultRateLimit is how many requests a key may make in a window unless it says
	// otherwise.
	DefaultRateLimit = 100
	MaxRateLimit     = 100_000
	// MaxKeys is how many records one user may have, revoked ones too.
	MaxKeys    = 100
	maxKeyName = 100 // characters
)

// Permissions of a key. The zero value may read everything.
type Permissions struct {
	// Control allows to switch lights and move shades.
	Control bool `json:"control,omitempty"`
}

// Key is the record of an API key. Its value is known to its owner only.
type Key struct {
	ID          string // UUID
	Owner       string // ID of a user
	Name        string
	Prefix      string // first characters of the value, after "svc_"
	Permissions Permissions
	RateLimit   int       // requests per window
	ExpiresAt   time.Time // zero: never
	// RevokedAt is when the key was revoked; zero if it is not.
	RevokedAt time.Time
	// Ended keys were revoked for good.
	Ended      bool
	CreatedAt  time.Time
	LastUsedAt time.Time // zero: never used
}

// Status of the key at a moment. A revoked key stays so when its time passes.
func (k *Key) Status(now time.Time) Status {
	switch {
	case !k.RevokedAt.IsZero():
		return Revoked
	case !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt):
		return Expired
	}
	return Active
}

// Revoke ends a key for good.
func (k *Key) Revoke(now time.Time) {
	if k.RevokedAt.IsZero() {
		k.RevokedAt = now
	}
	k.Ended = true
}

// KeyChange is what an owner may change; nil leaves it as it is.
type KeyChange struct {
	Name      *string
	ExpiresAt *time.Time // the zero time: never
	RateLimit *int
	Active    *bool
}

// Change applies c as a whole or not at all. It returns [ErrInvalid] for a value out
// of bounds and [ErrConflict] for a change of state that there is not.
func (k *Key) Change(c KeyChange, now time.Time) error {
	next := *k
	if c.Name != nil {
		if err := checkName("name", *c.Name, maxKeyName); err != nil {
			return err
		}
		next.Name = *c.Name
	}
	if c.RateLimit != nil {
		if err := checkRateLimit(*c.RateLimit); err != nil {
			return err
		}
		next.RateLimit = *c.RateLimit
	}
	if c.ExpiresAt != nil {
		next.ExpiresAt = *c.ExpiresAt
	}
	if c.Active != nil {
		if err := next.setActive(*c.Active, now); err != nil {
			return err
		}
	}
	*k = next
	return nil
}

// setActive switches a key off or on again. What ended or expired is beyond that.
func (k *Key) setActive(active bool, now time.Time) error {
	switch status := k.Status(now); {
	case k.Ended:
		return Conflict("isActive cannot be set: the key was revoked for good")
	case status == Expired:
		return Conflict("isActive cannot be set: the key has expired; a later expiresAt makes it active")
	case active && !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt):
		return Conflict("isActive cannot be set: the key has expired meanwhile; set a later expiresAt first")
	case active:
		k.RevokedAt = time.Time{}
	case status == Active:
		k.RevokedAt = now
	}
	return nil
}

// CheckNewKey says why a key cannot be made as k says.
func CheckNewKey(k Key, now time.Time) error {
	if err := checkName("name", k.Name, maxKeyName); err != nil {
		return err
	}
	if err := checkRateLimit(k.RateLimit); err != nil {
		return err
	}
	if !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt) {
		return Invalid("expiresAt is in the past")
	}
	return nil
}

func checkRateLimit(n int) error {
	if n < 1 || n > MaxRateLimit {
		return Invalid("rateLimit is %d; want 1 to %d", n, MaxRateLimit)
	}
	return nil
}
