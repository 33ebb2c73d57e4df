package login

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/platform"
	"svc.internal/controller/shelf/password"
	"svc.internal/controller/shelf/web"
)

// bodyLimit is the largest body: it is strangers who send them.
const bodyLimit = 8 << 10

// Store keeps people and their sessions.
type Store interface {
	// UserByName returns a user and the stored form of the password.
	UserByName(ctx context.Context, name string) (user platform.User, password string, err error)
	// StartSession begins a session with the hash of its first refresh token.
	StartSession(ctx context.Context, user platform.User, token [32]byte) (session string, err error)
	// TokenUser returns whose a refresh token is, [platform.ErrUnauthorized] if nobody's.
	TokenUser(ctx context.Context, token [32]byte) (platform.User, error)
	// Rotate exchanges a refresh token; [platform.ErrUnauthorized] if it is not good.
	Rotate(ctx context.Context, old, next [32]byte) (user platform.User, session string, err error)
	EndSession(ctx context.Context, token [32]byte) error
}

// Hall is what the room needs of the hall before it.
type Hall struct {
	// Person lets only those pass who logged in.
	Person echo.MiddlewareFunc
	// Charge counts a request in a bucket, or refuses it because that is full.
	Charge func(c echo.Context, b platform.Bucket) error
	// AddressBucket is where a stranger counts.
	AddressBucket func(r *http.Request) platform.Bucket
	// TooMany makes the refusal of whoever tried too often.
	TooMany func(limit int, window, wait time.Duration) error
}

// Room answers below /api/auth/.
type Room struct {
	store  Store
	tokens *Tokens
	hall   Hall
	brake  *web.Brake
	turns  *web.Turns // of passwords being hashed, whoever asks
	decoy  string
}

// New makes the room.
func New(store Store, tokens *Tokens, hall Hall) *Room {
	r := &Room{store: store, tokens: tokens, hall: hall, turns: web.NewTurns(maxHashings, maxWaiting), decoy: password.Decoy()}
	r.brake = web.NewBrake(web.SystemClock(), r.exists)
	return r
}

// exists reports whether there is a user of a name, whose failures the brake then never
// forgets, however many other names are tried.
func (r *Room) exists(name string) bool {
	if platform.CheckUserName(name) != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_, _, err := r.store.UserByName(ctx, name)
	return err == nil
}

// The paths whose requests count in another way than others.
const (
	LoginPath   = "/api/auth/login"   // on the address, whoever sends it
	RefreshPath = "/api/auth/refresh" // on the user whose token is sent; the room sees to it
)

// Paths that a browser takes to the identity provider and back.
const (
	SignOnPath   = "/api/auth/sso"
	CallbackPath = "/api/auth/sso/callback"
)

// Register adds the routes.
func (r *Room) Register(e *echo.Echo) {
	e.POST(LoginPath, r.login)
	e.POST(RefreshPath, r.refresh)
	e.POST("/api/auth/logout", r.logout)
	e.GET("/api/auth/me", r.me, r.hall.Person)
	e.GET("/api/auth/ways", r.ways)
	e.GET("/.well-known/jwks.json", r.keys)
	if r.tokens.signOn() != nil {
		e.GET(SignOnPath, r.begin)
		e.GET(CallbackPath, r.callback)
	}
}

// What the room refuses with.
var (
	errWrong = web.Refuse(http.StatusUnauthorized, "Wrong username or password")
	errStale = web.Refuse(http.StatusUnauthorized, "Refresh token invalid, expired or used before; log in again")
)

// session is what a login and a refresh answer.
type session struct {
	Token        string `json:"token"`
	ExpiresAt    string `json:"expiresAt"`
	RefreshToken string `json:"refreshToken"`
}

func (r *Room) login(c echo.Context) error {
	var in struct {
		Username string `json:"username"`
		Password string `json:"password"`
		// Browser asks for a cookie that no script can read, in place of tokens.
		Browser bool `json:"browser"`
	}
	if err := readBody(c, &in); err != nil {
		return err
	}
	if in.Browser && !web.FromOwnPage(c.Request()) {
		return web.ErrForeign
	}
	if in.Username == "" || in.Password == "" {
		return platform.Invalid("username and password are needed")
	}
	attempt, wait := r.brake.Begin(in.Username, web.Peer(c.Request()))
	if wait > 0 {
		return r.hall.TooMany(web.BrakeLimit, web.BrakeWindow, wait)
	}
	ctx := c.Request().Context()
	user, err := r.check(ctx, attempt, in.Username, in.Password)
	if err != nil {
		if !errors.Is(err, platform.ErrUnauthorized) {
			attempt.Void() // nothing was learned about the password
			return err
		}
		return errWrong
	}
	attempt.Succeeded()
	refresh := randomText()
	id, err := r.store.StartSession(ctx, user, hash(refresh))
	if errors.Is(err, platform.ErrUnauthorized) { // changed while the password was checked
		return errWrong
	}
	if err != nil {
		return err
	}
	if in.Browser {
		setCookie(c, refresh)
		return answerUser(c, user)
	}
	return r.answer(c, user, id, refresh)
}

// cookieLife is that of a session.
const cookieLife = 30 * 24 * time.Hour

// setCookie hands a session to a browser; an empty one takes it back.
func setCookie(c echo.Context, token string) {
	cookie := &http.Cookie{Name: platform.SessionCookie, Value: token, Path: "/", Secure: true, HttpOnly: true,
		SameSite: http.SameSiteStrictMode, MaxAge: int(cookieLife / time.Second)}
	if token == "" {
		cookie.MaxAge = -1
	}
	c.SetCookie(cookie)
}

// check returns the user who has this name and password, or
// [platform.ErrUnauthorized] after the same work.
func (r *Room) check(ctx context.Context, attempt web.Attempt, name, given string) (platform.User, error) {
	user, stored, err := platform.User{}, "", error(platform.ErrNotFound)
	if platform.CheckUserName(name) == nil {
		user, stored, err = r.store.UserByName(ctx, name)
	}
	if err != nil && !errors.Is(err, platform.ErrNotFound) {
		return platform.User{}, err
	}
	if stored == "" { // nobody, or one whom a provider vouches for
		stored = r.decoy
	}
	leave, err := attempt.Enter(ctx, r.turns)
	if errors.Is(err, web.ErrTurnedAway) {
		return platform.User{}, fmt.Errorf("check a password: %w", platform.ErrOverloaded)
	}
	if err != nil {
		return platform.User{}, err
	}
	defer leave()
	same, _, broken := password.Same(stored, given)
	if broken != nil {
		return platform.User{}, fmt.Errorf("check the password of %q: %w", name, broken)
	}
	if !same || user.Disabled || user.ID == "" {
		return platform.User{}, platform.ErrUnauthorized
	}
	return user, nil
}

func (r *Room) refresh(c echo.Context) error {
	old, err := refreshToken(c)
	if err != nil {
		return r.stranger(c, err)
	}
	ctx := c.Request().Context()
	user, err := r.store.TokenUser(ctx, hash(old))
	switch {
	case errors.Is(err, platform.ErrUnauthorized):
		return r.stranger(c, errStale)
	case err != nil:
		return err
	}
	if err := r.hall.Charge(c, platform.UserBucket(user)); err != nil {
		return err
	}
	next := randomText()
	user, id, err := r.store.Rotate(ctx, hash(old), hash(next))
	if errors.Is(err, platform.ErrUnauthorized) {
		return errStale
	}
	if err != nil {
		return err
	}
	return r.answer(c, user, id, next)
}

// stranger refuses a request for a reason, unless it is one too many from its address.
func (r *Room) stranger(c echo.Context, reason error) error {
	if err := r.hall.Charge(c, r.hall.AddressBucket(c.Request())); err != nil {
		return err
	}
	return reason
}

func (r *Room) logout(c echo.Context) error {
	if cookie, err := c.Cookie(platform.SessionCookie); err == nil {
		return r.leave(c, cookie.Value)
	}
	token, err := refreshToken(c)
	if err != nil {
		return err
	}
	if err := r.store.EndSession(c.Request().Context(), hash(token)); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// leave ends the session of a browser.
func (r *Room) leave(c echo.Context, cookie string) error {
	if !web.FromOwnPage(c.Request()) {
		return web.ErrForeign
	}
	if err := r.store.EndSession(c.Request().Context(), hash(cookie)); err != nil {
		return err
	}
	setCookie(c, "")
	return c.NoContent(http.StatusNoContent)
}

// me tells a page who is logged in.
func (r *Room) me(c echo.Context) error {
	return answerUser(c, platform.IdentityOf(c.Request().Context()).User)
}

func answerUser(c echo.Context, u platform.User) error {
	return send(c, map[string]any{"success": true, "data": map[string]any{"id": u.ID, "username": u.Name, "role": u.Role}})
}

func (r *Room) keys(c echo.Context) error {
	keys, err := r.tokens.ring.at(c.Request().Context(), r.tokens.now())
	if err != nil {
		return err
	}
	set := struct {
		Keys []jwk `json:"keys"`
	}{}
	for _, k := range keys {
		set.Keys = append(set.Keys, k.public())
	}
	c.Response().Header()["Cache-Control"] = []string{"public, max-age=3600"}
	return c.JSON(http.StatusOK, set)
}

func (r *Room) answer(c echo.Context, user platform.User, id, refresh string) error {
	token, expires, err := r.tokens.Issue(c.Request().Context(), user, id)
	if err != nil {
		return err
	}
	return send(c, session{Token: token, ExpiresAt: expires.UTC().Format(time.RFC3339), RefreshToken: refresh})
}

// send answers what no cache may keep.
func send(c echo.Context, v any) error {
	c.Response().Header()["Cache-Control"] = []string{"no-store"}
	return c.JSON(http.StatusOK, v)
}

func refreshToken(c echo.Context) (string, error) {
	var in struct {
		RefreshToken string `json:"refreshToken"`
	}
	if err := readBody(c, &in); err != nil {
		return "", err
	}
	if in.RefreshToken == "" {
		return "", platform.Invalid("refreshToken is missing")
	}
	return in.RefreshToken, nil
}

func readBody(c echo.Context, into any) error {
	data, err := web.ReadBody(c, bodyLimit)
	if err != nil {
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			return err
		}
		return &web.Error{Status: http.StatusBadRequest, Message: "body could not be read", Cause: err}
	}
	if web.Decode(data, into) != nil {
		return platform.Invalid("body is not a JSON object with strings in it, each named once")
	}
	return nil
}

func hash(token string) [32]byte { return sha256.Sum256([]byte(token)) }
