package login

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"svc.internal/controller/platform"
)

const (
	// issuer and audience of our own tokens.
	issuer   = "platformd"
	audience = "platform"

	tokenLife = 15 * time.Minute
	// longestToken bounds the work on a token that a stranger sent.
	longestToken = 8192
)

// Sessions knows who is logged in.
type Sessions interface {
	// SessionUser returns whose session this is; [platform.ErrNotFound] if it is over.
	SessionUser(ctx context.Context, session string) (platform.User, error)
}

// Tokens issues and judges tokens.
type Tokens struct {
	ring     ring
	sessions Sessions
	provider *Provider // nil: none
	now      func() time.Time
	parser   *jwt.Parser
	peek     *jwt.Parser
}

// NewTokens needs no provider.
func NewTokens(secrets Secrets, sessions Sessions, provider *Provider) *Tokens {
	return newTokens(secrets, sessions, provider, time.Now)
}

func newTokens(secrets Secrets, sessions Sessions, provider *Provider, now func() time.Time) *Tokens {
	return &Tokens{
		ring: ring{secrets: secrets}, sessions: sessions, provider: provider, now: now,
		parser: jwt.NewParser(jwt.WithValidMethods([]string{"EdDSA"}), jwt.WithIssuer(issuer), jwt.WithAudience(audience),
			jwt.WithExpirationRequired(), jwt.WithStrictDecoding(), jwt.WithTimeFunc(now)),
		peek: jwt.NewParser(jwt.WithoutClaimsValidation()),
	}
}

// signOn is how browsers log in at the provider; nil: they do not.
func (t *Tokens) signOn() *signOn {
	if t == nil || t.provider == nil {
		return nil
	}
	return t.provider.signOn
}

// claims of our own tokens.
type claims struct {
	jwt.RegisteredClaims
	Session string        `json:"sid"`
	Name    string        `json:"name"`
	Role    platform.Role `json:"role"`
}

// Issue makes a token for a session.
func (t *Tokens) Issue(ctx context.Context, user platform.User, session string) (token string, expires time.Time, err error) {
	now := t.now()
	keys, err := t.ring.at(ctx, now)
	if err != nil {
		return "", time.Time{}, fmt.Errorf("issue a token: %w", err)
	}
	key := keys[1]
	// A token tells whole seconds.
	now = now.Truncate(time.Second)
	expires = now.Add(tokenLife)
	unsigned := jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: issuer, Audience: jwt.ClaimStrings{audience}, Subject: user.ID,
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(expires), ID: randomText(),
		},
		Session: session, Name: user.Name, Role: user.Role,
	})
	unsigned.Header["kid"] = key.id
	if token, err = unsigned.SignedString(key.private); err != nil {
		return "", time.Time{}, fmt.Errorf("issue a token: %w", err)
	}
	return token, expires, nil
}

// User tells whose token this is, or [platform.ErrUnauthorized]. Other errors mean
// that it could not be checked.
func (t *Tokens) User(ctx context.Context, token string) (platform.User, error) {
	if len(token) > longestToken {
		return platform.User{}, platform.ErrUnauthorized
	}
	// Only the issuer's name is believed so far: it tells whose rules to check by.
	var unchecked jwt.RegisteredClaims
	if _, _, err := t.peek.ParseUnverified(token, &unchecked); err != nil {
		return platform.User{}, platform.ErrUnauthorized
	}
	switch {
	case unchecked.Issuer == issuer:
		return t.ownUser(ctx, token)
	case t.provider != nil && unchecked.Issuer == t.provider.cfg.Issuer:
		return t.provider.user(ctx, token)
	}
	return platform.User{}, platform.ErrUnauthorized
}

func (t *Tokens) ownUser(ctx context.Context, token string) (platform.User, error) {
	keys, err := t.ring.at(ctx, t.now())
	if err != nil {
		return platform.User{}, err
	}
	var c claims
	_, err = t.parser.ParseWithClaims(token, &c, func(parsed *jwt.Token) (any, error) {
		for _, k := range keys {
			if parsed.Header["kid"] == k.id {
				return k.private.Public(), nil
			}
		}
		return nil, errors.New("signed with no key of ours")
	})
	if err != nil {
		return platform.User{}, platform.ErrUnauthorized
	}
	user, err := t.sessions.SessionUser(ctx, c.Session)
	switch {
	case errors.Is(err, platform.ErrNotFound):
		return platform.User{}, platform.ErrUnauthorized
	case err != nil:
		return platform.User{}, err
	case user.ID != c.Subject || user.Disabled:
		return platform.User{}, platform.ErrUnauthorized
	}
	return user, nil
}

// randomText is 256 random bits in URL-safe base64.
func randomText() string {
	b := make([]byte, 32)
	rand.Read(b) // never fails, see crypto/rand
	return base64.RawURLEncoding.EncodeToString(b)
}
