package login

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"sync"
	"time"
)

// slotLength is how long one key signs.
const slotLength = 90 * 24 * time.Hour

// signingKey signs the tokens of one slot.
type signingKey struct {
	slot    int64
	id      string
	private ed25519.PrivateKey
}

// ring holds the keys of the last slot, of this one and of the next.
type ring struct {
	secrets Secrets

	mu   sync.Mutex
	keys []signingKey // oldest first
}

// Secrets keeps what every instance must know.
type Secrets interface {
	// Secret returns what is kept under name; the first time ever, create makes it.
	Secret(ctx context.Context, name string, create func() ([]byte, error)) ([]byte, error)
}

// at returns the three keys that matter at a moment.
func (r *ring) at(ctx context.Context, now time.Time) ([]signingKey, error) {
	slot := now.Unix() / int64(slotLength.Seconds())
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.keys) == 3 && r.keys[1].slot == slot {
		return r.keys, nil
	}
	var keys []signingKey
	for s := slot - 1; s <= slot+1; s++ {
		k, err := r.load(ctx, s)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	r.keys = keys
	return keys, nil
}

func (r *ring) load(ctx context.Context, slot int64) (signingKey, error) {
	seed, err := r.secrets.Secret(ctx, fmt.Sprintf("signing-key-%d", slot), func() ([]byte, error) {
		_, private, err := ed25519.GenerateKey(nil)
		if err != nil {
			return nil, err
		}
		return private.Seed(), nil
	})
	if err != nil {
		return signingKey{}, err
	}
	if len(seed) != ed25519.SeedSize {
		return signingKey{}, fmt.Errorf("signing key of slot %d has %d bytes, want %d", slot, len(seed), ed25519.SeedSize)
	}
	k := signingKey{slot: slot, private: ed25519.NewKeyFromSeed(seed)}
	// RFC 8037, appendix A.3: the thumbprint is that of the members in this order.
	sum := sha256.Sum256(fmt.Appendf(nil, `{"crv":"Ed25519","kty":"OKP","x":"%s"}`, k.x()))
	k.id = base64.RawURLEncoding.EncodeToString(sum[:])
	return k, nil
}

// x is the public key as a JWK has it.
func (k signingKey) x() string {
	return base64.RawURLEncoding.EncodeToString(k.private.Public().(ed25519.PublicKey))
}

// jwk is a public key as RFC 7517 and RFC 8037 write it.
type jwk struct {
	Type      string `json:"kty"`
	Curve     string `json:"crv"`
	Use       string `json:"use"`
	Algorithm string `json:"alg"`
	ID        string `json:"kid"`
	X         string `json:"x"`
}

func (k signingKey) public() jwk {
	return jwk{Type: "OKP", Curve: "Ed25519", Use: "sig", Algorithm: "EdDSA", ID: k.id, X: k.x()}
}
