// Package password makes and checks the stored form of passwords: argon2id in the PHC
// string format, $argon2id$v=19$m=19456,t=2,p=1$salt$key, salt and key in base64
// without padding. Each call of [Hash] or [Same] takes [Memory] and some 50 ms of a
// processor: callers bound how many run at a time.
package password

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
)

// Memory that a new hash costs, in KiB: argon2id as OWASP's password storage cheat sheet
// recommends for small machines.
const Memory = 19 * 1024

// The rest of its cost. Raising any makes older hashes weaker, see [Same].
const (
	passes  = 2
	threads = 1
	saltLen = 16 // bytes
	keyLen  = 32 // bytes
)

const (
	minLen = 10   // characters
	maxLen = 1024 // bytes
)

// Check says why a new password cannot be used; nil: it can.
func Check(password string) error {
	if !utf8.ValidString(password) {
		return errors.New("password is not UTF-8, the only encoding that a log-in can carry; give it in UTF-8 or in plain ASCII characters")
	}
	if n := utf8.RuneCountInString(password); n < minLen {
		return fmt.Errorf("password has %d characters, want at least %d", n, minLen)
	}
	if len(password) > maxLen {
		return fmt.Errorf("password has %d bytes, at most %d are possible", len(password), maxLen)
	}
	return nil
}

// Hash makes the stored form of a password.
func Hash(password string) string {
	salt := make([]byte, saltLen)
	rand.Read(salt) // never fails, see crypto/rand
	return phc(salt, argon2.IDKey([]byte(password), salt, passes, Memory, threads, keyLen))
}

// Decoy costs as much to check as somebody's stored password, and matches none.
func Decoy() string {
	random := make([]byte, saltLen+keyLen)
	rand.Read(random)
	return phc(random[:saltLen], random[saltLen:])
}

func phc(salt, key []byte) string {
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, Memory, passes, threads, b64(salt), b64(key))
}

// Same compares a password with a stored one, in the same time whatever was given. Weaker
// reports whether the stored form costs less to try than a new one would.
func Same(stored, password string) (same, weaker bool, err error) {
	part := strings.Split(stored, "$")
	if len(part) != 6 || part[0] != "" || part[1] != "argon2id" || part[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return false, false, errors.New("stored password is not of the form $argon2id$v=19$…")
	}
	var memory, time uint32
	var lanes uint8
	if _, err := fmt.Sscanf(part[3], "m=%d,t=%d,p=%d", &memory, &time, &lanes); err != nil {
		return false, false, fmt.Errorf("stored password: %w", err)
	}
	if memory > 1<<20 || time < 1 || time > 100 || lanes < 1 {
		return false, false, fmt.Errorf("stored password with m=%d,t=%d,p=%d is not usable", memory, time, lanes)
	}
	salt, err := base64.RawStdEncoding.DecodeString(part[4])
	if err != nil {
		return false, false, fmt.Errorf("salt of a stored password: %w", err)
	}
	want, err := base64.RawStdEncoding.DecodeString(part[5])
	if err != nil {
		return false, false, fmt.Errorf("key of a stored password: %w", err)
	}
	// What is longer than any password costs no more than the longest one.
	got := argon2.IDKey([]byte(password[:min(len(password), maxLen)]), salt, time, memory, lanes, keyLen)
	same = subtle.ConstantTimeCompare(got, want) == 1 && len(password) <= maxLen
	return same, memory < Memory || time < passes, nil
}
