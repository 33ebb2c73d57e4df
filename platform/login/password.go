// Package login knows people by their password.
package login

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
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
)

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

func phc(salt, key []byte) string {
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonThreads, b64(salt), b64(key))
}
