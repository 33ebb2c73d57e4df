package gate

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/platform"
	"svc.internal/controller/shelf/web"
)

// Keys knows API keys. It is asked on every request that has one.
type Keys interface {
	// KeyByValue finds a key and its owner by the SHA-256 of its value, whatever state
	// both are in; [platform.ErrNotFound] if there is none.
	KeyByValue(ctx context.Context, value [32]byte) (platform.Key, platform.User, error)
	// KeyUsed notes that a key was let in just now.
	KeyUsed(id string)
}

// Tokens knows the tokens of those who logged in.
type Tokens interface {
	// User tells whose token this is; [platform.ErrUnauthorized] if it is not good.
	User(ctx context.Context, token string) (platform.User, error)
}

// Browsers knows the sessions of browsers.
type Browsers interface {
	// BrowserUser tells whose session this is, by the SHA-256 of the cookie; [platform.ErrUnauthorized] if nobody's.
	BrowserUser(ctx context.Context, cookie [32]byte) (platform.User, error)
}

// Limiter counts.
type Limiter interface {
	// Take counts n requests, or none if the bucket has no room for all.
	Take(ctx context.Context, b platform.Bucket, n int) platform.Allowance
	// Show tells how full a bucket is.
	Show(ctx context.Context, b platform.Bucket) platform.Allowance
}

// Config of a gate.
type Config struct {
	Keys   Keys
	Tokens Tokens
	Limit  Limiter
	// Browsers know what browsers that logged in keep in [platform.SessionCookie].
	Browsers Browsers

	// KeyPaths are for keys: one that is sent counts there even if somebody sends a
	// token besides, and elsewhere the token does.
	KeyPaths []string
	// QueryPath is where a key may stand in the query.
	QueryPath string
	// AddressPaths count on the address whoever asks: there one becomes somebody.
	AddressPaths []string
	// RoomPaths begin paths whose rooms count by themselves with [Gate.Charge].
	RoomPaths []string
}

// Gate is the middleware that every request passes.
type Gate struct {
	cfg Config
	now func() time.Time

	crowd crowd // at the assistant
}

// New makes a gate.
func New(cfg Config) *Gate {
	return &Gate{cfg: cfg, now: time.Now, crowd: crowd{here: map[string]int{}}}
}

// visit is what the gate found out about a request.
type visit struct {
	who     platform.Identity
	key     bool // a key was sent
	token   bool // a token was sent
	trouble error
}

const visitKey = "gate.visit"

// Pass is the middleware; it goes before the rooms, behind the router.
func (g *Gate) Pass(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		v, bucket := g.look(r)
		c.Set(visitKey, v)
		// A client that is told to authenticate by this header looks for a way to do so
		// that there is not.
		c.Response().Before(func() { c.Response().Header().Del("Www-Authenticate") })
		path := r.URL.Path
		if !strings.HasPrefix(path, "/api/") || g.roomCounts(path) {
			show(c, g.cfg.Limit.Show(r.Context(), bucket))
		} else if err := g.Charge(c, bucket); err != nil {
			return err
		}
		if v.who.Known() {
			if v.who.KeyID != "" {
				g.cfg.Keys.KeyUsed(v.who.KeyID)
			}
			c.SetRequest(r.WithContext(platform.WithIdentity(r.Context(), v.who)))
			if !web.SetCaller(c, &web.Caller{Name: v.who.User.Name, Role: string(v.who.User.Role), Key: v.key}) {
				return web.ErrCrowded
			}
		}
		return next(c)
	}
}

func (g *Gate) roomCounts(path string) bool {
	return slices.ContainsFunc(g.cfg.RoomPaths, func(p string) bool { return strings.HasPrefix(path, p) })
}

// Charge counts a request in a bucket, or refuses it because that is full. The answer
// tells what is left of this bucket instead of another one.
func (g *Gate) Charge(c echo.Context, b platform.Bucket) error {
	a := g.cfg.Limit.Take(c.Request().Context(), b, 1)
	show(c, a)
	if a.OK {
		return nil
	}
	return TooMany(a.Limit, a.Window, a.Reset.Sub(g.now()))
}

// AddressBucket counts the requests of strangers from where r came. One host has a
// whole /64 of IPv6 to choose addresses from.
func AddressBucket(r *http.Request) platform.Bucket {
	from := web.Peer(r)
	name := from.String()
	if from.Is6() {
		if net, err := from.WithZone("").Prefix(64); err == nil {
			name = net.String()
		}
	}
	return platform.Bucket{ID: "ip:" + name, Limit: platform.AddressRateLimit, Window: platform.Window, Stranger: true}
}

// show tells what is left. The names are written as the contract does.
func show(c echo.Context, a platform.Allowance) {
	h := c.Response().Header()
	h["X-RateLimit-Limit"] = []string{strconv.Itoa(a.Limit)}
	h["X-RateLimit-Remaining"] = []string{strconv.Itoa(a.Remaining)}
	h["X-RateLimit-Reset"] = []string{a.Reset.UTC().Format("2006-01-02T15:04:05.000Z")}
}

// look finds out who sent r, and where it counts.
func (g *Gate) look(r *http.Request) (*visit, platform.Bucket) {
	v, bucket := g.recognise(r)
	if v.who.Known() {
		v.who.Bucket, v.who.Lang = bucket, platform.PreferredLanguage(r.Header.Get("Accept-Language"))
	}
	return v, bucket
}

// recognise finds out whose credential was sent.
func (g *Gate) recognise(r *http.Request) (*visit, platform.Bucket) {
	v := &visit{}
	key, token := g.credentials(r)
	v.key, v.token = key != "", token != ""
	switch {
	case v.key:
		k, owner, err := g.key(r.Context(), key)
		if err == nil {
			v.who = platform.Identity{User: owner, KeyID: k.ID, KeyName: k.Name, Permissions: k.Permissions}
			if !slices.Contains(g.cfg.AddressPaths, r.URL.Path) {
				return v, platform.KeyBucket(k)
			}
		}
		v.trouble = err
	case v.token:
		user, err := g.cfg.Tokens.User(r.Context(), token)
		if err == nil {
			v.who = platform.Identity{User: user}
			if !slices.Contains(g.cfg.AddressPaths, r.URL.Path) {
				return v, platform.UserBucket(user)
			}
		}
		v.trouble = err
	default:
		if user, ok := g.browser(r, v); ok && !slices.Contains(g.cfg.AddressPaths, r.URL.Path) {
			return v, platform.UserBucket(user)
		}
	}
	return v, AddressBucket(r)
}

// browser finds out whose browser sent r. A session counts like a token that was sent.
func (g *Gate) browser(r *http.Request, v *visit) (platform.User, bool) {
	cookie, err := r.Cookie(platform.SessionCookie)
	if err != nil || cookie.Value == "" {
		return platform.User{}, false
	}
	v.token = true
	user, err := g.cfg.Browsers.BrowserUser(r.Context(), sha256.Sum256([]byte(cookie.Value)))
	switch {
	case err == nil && user.Disabled:
		err = platform.ErrUnauthorized
	case err == nil && !web.FromOwnPage(r):
		err = web.ErrForeign
	}
	if v.trouble = err; err != nil {
		return platform.User{}, false
	}
	v.who = platform.Identity{User: user}
	return user, true
}

// Still reports whether whoever sent r a while ago would be let in now.
func (g *Gate) Still(r *http.Request) bool {
	v, _ := g.look(r)
	return v.trouble == nil && v.who.Known()
}

// credentials returns the one key or token that counts.
func (g *Gate) credentials(r *http.Request) (key, token string) {
	bearer := bearerOf(r)
	if strings.HasPrefix(bearer, platform.KeyPrefix) {
		key, bearer = bearer, ""
	}
	if header := r.Header["X-Api-Key"]; len(header) > 0 && header[0] != "" {
		key = header[0]
		if len(header) > 1 { // nobody could say which one was meant
			key = "more than one"
		}
	}
	path := r.URL.Path
	if key == "" && path == g.cfg.QueryPath {
		key = r.URL.Query().Get("apiKey")
	}
	if bearer != "" && (key == "" || !slices.Contains(g.cfg.KeyPaths, path)) {
		return "", bearer
	}
	return key, ""
}

// bearerOf returns what stands in the Authorization header; two of them are none.
func bearerOf(r *http.Request) string {
	v := r.Header["Authorization"]
	if len(v) != 1 {
		return ""
	}
	scheme, token, ok := strings.Cut(v[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// key finds a key that is good now, else [platform.ErrUnauthorized].
func (g *Gate) key(ctx context.Context, value string) (platform.Key, platform.User, error) {
	if !platform.IsKeyValue(value) {
		return platform.Key{}, platform.User{}, platform.ErrUnauthorized
	}
	k, owner, err := g.cfg.Keys.KeyByValue(ctx, platform.HashKeyValue(value))
	switch {
	case errors.Is(err, platform.ErrNotFound):
		return k, owner, platform.ErrUnauthorized
	case err != nil:
		return k, owner, err
	case owner.Disabled, k.Status(g.now()) != platform.Active:
		return k, owner, platform.ErrUnauthorized
	}
	return k, owner, nil
}
