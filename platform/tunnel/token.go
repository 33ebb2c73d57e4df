package tunnel

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"sync"
	"time"
)

// token is what is remembered of a bearer token and the controller that it was sent to. The zero token is none.
type token [sha256.Size]byte

// tokenOf a request; two Authorization headers are none, as for the controller.
func tokenOf(r *http.Request, controller string) token {
	v := r.Header["Authorization"]
	if len(v) != 1 {
		return token{}
	}
	scheme, text, ok := strings.Cut(v[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return token{}
	}
	return sha256.Sum256([]byte(controller + " " + strings.TrimSpace(text)))
}

func (t token) hex() string { return hex.EncodeToString(t[:]) }

// String tells one token from another in a log, and nothing about it.
func (t token) String() string { return t.hex()[:12] }

const (
	// knownMost tokens are remembered, for knownLast after their last use: as long as an access token lasts.
	knownMost = 4096
	knownLast = time.Hour
)

// known are the tokens that their controllers accepted.
type known struct {
	now func() time.Time

	mu   sync.Mutex
	used map[token]time.Time
}

func newKnown(now func() time.Time) *known { return &known{now: now, used: map[token]time.Time{}} }

func (k *known) has(t token) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	at, ok := k.used[t]
	return ok && k.now().Sub(at) < knownLast
}

// add remembers a token. When there are too many, those that were not used for longest go: they count as strangers' once.
func (k *known) add(t token) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	if _, ok := k.used[t]; !ok && len(k.used) >= knownMost {
		oldest, at := token{}, now
		for other, used := range k.used {
			if !used.After(at) {
				oldest, at = other, used
			}
		}
		delete(k.used, oldest)
	}
	k.used[t] = now
}

func (k *known) forget(t token) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.used, t)
}
