package link

import (
	"context"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
)

// CodeLife is how long an enrolment code is good for.
const CodeLife = 24 * time.Hour

// NewCode makes an enrolment code, of 100 bits: nobody guesses one in its day.
func NewCode() string {
	text := rand.Text()
	return text[:5] + "-" + text[5:10] + "-" + text[10:15] + "-" + text[15:20]
}

// HashCode is what is kept of a code. How people type it does not matter.
func HashCode(code string) [32]byte {
	return sha256.Sum256([]byte(strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(code))))
}

// NewControllerID makes an ID out of what somebody calls a controller.
func NewControllerID(label string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(label) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= 40 {
			break
		}
	}
	var tail [3]byte
	rand.Read(tail[:]) // never fails, see crypto/rand
	name := strings.Trim(b.String(), "-")
	if name == "" {
		name = "controller"
	}
	return name + "-" + hex.EncodeToString(tail[:])
}

// NewCredential makes a credential with a random password, which is returned this once.
func NewCredential(username, controller string, integration bool) (platform.Credential, string) {
	b := make([]byte, 32)
	rand.Read(b) // never fails, see crypto/rand
	password := hex.EncodeToString(b)
	c := CredentialOf(username, password)
	c.Controller, c.Integration = controller, integration
	return c, password
}

// CredentialOf a user name and a password that was made elsewhere, for no controller.
func CredentialOf(username, password string) platform.Credential {
	return platform.Credential{Username: username, Hash: sha256.Sum256([]byte(password)), Mosquitto: mosquittoHash(password)}
}

// mosquittoHash is a password as Mosquitto's password file has it: PBKDF2 with SHA-512. The rounds are those that
// mosquitto_passwd takes; a random password needs none.
func mosquittoHash(password string) string {
	const rounds = 101
	salt := make([]byte, 12)
	rand.Read(salt) // never fails, see crypto/rand
	key, err := pbkdf2.Key(sha512.New, password, salt, rounds, sha512.Size)
	if err != nil {
		panic(err) // lengths are constants
	}
	enc := base64.StdEncoding
	return fmt.Sprintf("$7$%d$%s$%s", rounds, enc.EncodeToString(salt), enc.EncodeToString(key))
}

// Enroller turns codes into credentials.
type Enroller interface {
	Enrol(ctx context.Context, code [32]byte, issue func(id string) platform.Credential) (id string, err error)
}

// Enrol uses up a code. An unknown, used or expired one is [platform.ErrUnauthorized].
func Enrol(ctx context.Context, store Enroller, code string) (wire.Credentials, error) {
	var password string
	id, err := store.Enrol(ctx, HashCode(code), func(id string) platform.Credential {
		var c platform.Credential
		c, password = NewCredential(id, id, false)
		return c
	})
	if errors.Is(err, platform.ErrNotFound) {
		return wire.Credentials{}, fmt.Errorf("enrolment code: %w", platform.ErrUnauthorized)
	}
	if err != nil {
		return wire.Credentials{}, err
	}
	return wire.Credentials{Controller: id, Username: id, Password: password}, nil
}
