// Package bearer issues and judges the access tokens of a controller, and knows API keys
// when it sees one.
package bearer

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/web"
)

// Accounts is what tokens need to know of users and keys. Both methods are
// asked on every request and must answer from memory.
type Accounts interface {
	// User finds a user by name.
	User(name string) (account.User, bool)
	// KeyOf finds the API key whose secret this is.
	KeyOf(secret string) (account.Key, bool)
}

const (
	// KeyPrefix begins every API key of the controller.
	KeyPrefix = "ctl_"
	// longestToken bounds the work on a token that a stranger sent.
	longestToken = 2048
	// cachedTokens bounds the memory of verified tokens. Only valid tokens are
	// kept, so strangers cannot push others out.
	cachedTokens = 1024
	// clockSlack is how far in the future a token of an earlier process may have
	// been issued: more means that this clock has gone back, and nobody can say
	// how old the token is.
	clockSlack = time.Minute
)

// Tokens is a [web.Authenticator]. It issues and judges access tokens: JSON Web Tokens (RFC 7519) signed
// with HS256, and API keys.
//
// While the process that issued a token runs, the token's expiry is judged by
// the monotonic clock, so a wall clock that jumps neither kills nor prolongs
// it. A token of an earlier process is judged by wall time once, when it is first
// seen, and by the monotonic clock from then on. Revocation is immediate: each
// request looks the user up, and a token of another revision is void.
type Tokens struct {
	secret   []byte
	audience string
	lifetime time.Duration
	accounts Accounts
	clock    web.Clock
	boot     string // of this process
	parser   *jwt.Parser

	seed     maphash.Seed
	verified atomic.Pointer[map[uint64]*verified] // by the hash of the token
	mu       sync.Mutex                           // one writer at a time
}

// verified is what was learned from a token with a good signature.
type verified struct {
	token    string
	user     string
	uuid     appliance.UUID
	revision int64
	expires  time.Duration // monotonic

	// caller is made for one state of the account and replaced with it.
	caller atomic.Pointer[web.Caller]
}

// claims of an access token.
type claims struct {
	jwt.RegisteredClaims
	Role     account.Role `json:"role"`
	UUID     string       `json:"uid"`
	Revision int64        `json:"rev"`
	Boot     string       `json:"bid"`  // process that issued it
	Mono     int64        `json:"mono"` // expiry on its monotonic clock, ns
}

// New makes the tokens of one door. It needs a secret of at least 32 bytes that
// survives restarts. A token is good at doors of the same audience alone; that of the
// public API is empty.
func New(secret []byte, audience string, lifetime time.Duration, accounts Accounts, clock web.Clock) (*Tokens, error) {
	if len(secret) < 32 {
		return nil, fmt.Errorf("token secret of %d bytes: want at least 32", len(secret))
	}
	if lifetime <= 0 {
		return nil, fmt.Errorf("token lifetime %v: want more than 0", lifetime)
	}
	var boot [16]byte
	rand.Read(boot[:])
	t := &Tokens{
		secret: secret, audience: audience, lifetime: lifetime, accounts: accounts, clock: clock,
		boot: hex.EncodeToString(boot[:]), seed: maphash.MakeSeed(),
		// Times are judged by us, see Tokens.
		parser: jwt.NewParser(jwt.WithValidMethods([]string{"HS256"}), jwt.WithoutClaimsValidation(),
			jwt.WithStrictDecoding()),
	}
	t.verified.Store(&map[uint64]*verified{})
	return t, nil
}

// Issue makes an access token for user and tells when it ends.
func (t *Tokens) Issue(user account.User) (token string, expires time.Time, err error) {
	now := t.clock.Wall()
	expires = now.Add(t.lifetime)
	registered := jwt.RegisteredClaims{
		Subject:   user.Name,
		IssuedAt:  jwt.NewNumericDate(now),
		ExpiresAt: jwt.NewNumericDate(expires),
	}
	if t.audience != "" {
		registered.Audience = jwt.ClaimStrings{t.audience}
	}
	token, err = jwt.NewWithClaims(jwt.SigningMethodHS256, claims{
		RegisteredClaims: registered,
		Role:             user.Role, UUID: user.UUID.String(), Revision: user.Revision,
		Boot: t.boot, Mono: int64(t.clock.Mono() + t.lifetime),
	}).SignedString(t.secret)
	if err != nil {
		return "", time.Time{}, fmt.Errorf("sign token for %q: %w", user.Name, err)
	}
	return token, expires, nil
}

// Caller tells who holds token, false if nobody does (any more). What it returns
// is shared and must not be changed.
func (t *Tokens) Caller(token string) (*web.Caller, bool) {
	if token == "" || len(token) > longestToken {
		return nil, false
	}
	if strings.HasPrefix(token, KeyPrefix) {
		return t.keyCaller(token)
	}
	// Nobody knows the seed, so nobody can come near a token that he does not have:
	// how long the comparison takes tells him nothing.
	hash := maphash.String(t.seed, token)
	v := (*t.verified.Load())[hash]
	seen := v != nil && v.token == token
	if !seen {
		var err error
		if v, err = t.verify(token); err != nil {
			return nil, false
		}
	}
	if t.clock.Mono() >= v.expires {
		return nil, false
	}
	user, ok := t.accounts.User(v.user)
	if !ok || user.Revision != v.revision || user.UUID != v.uuid {
		return nil, false
	}
	if !seen {
		t.keep(hash, v)
	}
	who := v.caller.Load()
	if who == nil || who.Role != string(user.Role) {
		who = &web.Caller{Name: user.Name, Role: string(user.Role), Read: user.Role.CanRead(), Write: user.Role.CanWrite()}
		v.caller.Store(who)
	}
	return who, true
}

func (t *Tokens) keyCaller(secret string) (*web.Caller, bool) {
	key, ok := t.accounts.KeyOf(secret)
	if !ok {
		return nil, false
	}
	return &web.Caller{Name: "key " + key.Name, Key: true, Read: true, Write: key.Write}, true
}

var errToken = errors.New("token not valid")

// verify checks signature and form, and puts the expiry on our monotonic clock.
func (t *Tokens) verify(token string) (*verified, error) {
	if strings.ContainsAny(token, "\r\n") { // base64 skips them
		return nil, errToken
	}
	var cl claims
	_, err := t.parser.ParseWithClaims(token, &cl, func(*jwt.Token) (any, error) { return t.secret, nil })
	if err != nil {
		return nil, err
	}
	if cl.Subject == "" || cl.ExpiresAt == nil || cl.IssuedAt == nil || !t.meant(cl.Audience) {
		return nil, errToken
	}
	uuid, err := appliance.ParseUUID(cl.UUID)
	if err != nil {
		return nil, err
	}
	v := &verified{token: strings.Clone(token), user: cl.Subject, uuid: uuid, revision: cl.Revision, expires: time.Duration(cl.Mono)}
	if cl.Boot != t.boot {
		now := t.clock.Wall()
		if cl.IssuedAt.Time.After(now.Add(clockSlack)) {
			return nil, errToken
		}
		v.expires = t.clock.Mono() + cl.ExpiresAt.Time.Sub(now)
	}
	return v, nil
}

// meant reports whether a token of this audience is for this door.
func (t *Tokens) meant(audience jwt.ClaimStrings) bool {
	if t.audience == "" {
		return len(audience) == 0
	}
	return len(audience) == 1 && audience[0] == t.audience
}

// keep remembers a verified token. The map is copied, so readers need no lock;
// that happens once per login, not per request.
func (t *Tokens) keep(hash uint64, v *verified) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := maps.Clone(*t.verified.Load())
	if len(next) >= cachedTokens {
		now := t.clock.Mono()
		maps.DeleteFunc(next, func(_ uint64, v *verified) bool { return now >= v.expires })
	}
	for old := range next {
		if len(next) < cachedTokens {
			break
		}
		delete(next, old) // any: it is verified again when it comes back
	}
	next[hash] = v
	t.verified.Store(&next)
}
