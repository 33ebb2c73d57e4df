package publicapi

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/web"
)

const (
	// hashing passwords at once: each takes memory and a core for its time.
	hashing = 2
	// loginsWaiting behind them.
	loginsWaiting = 64
	// longest name and password that are looked at.
	longestName     = 256
	longestPassword = 1024
)

// authFailed is the contract's answer to bad credentials. The status is 200: a 1.0
// client reads the body.
var authFailed = []byte(`{"responseCode":0,"errorCode":"AuthFailed"}`)

// authenticate answers name and password with tokens.
func (a *API) authenticate(c echo.Context) error {
	// A page of somebody else could lock an account by failures in its visitors' names.
	if web.CrossSite(c.Request()) {
		return errCrossSite
	}
	in, err := readBody(c, strangerLimit)
	if err != nil {
		return err
	}
	name, err := in.text("username")
	if err != nil {
		return err
	}
	password, err := in.text("password")
	if err != nil {
		return err
	}
	user, err := a.login(c, name, password)
	if errors.Is(err, account.ErrAuthFailed) {
		a.logFailure(c, name)
		return sendFresh(c, http.StatusOK, authFailed)
	}
	if err != nil {
		return err
	}
	refresh, err := a.accounts.NewRefreshToken(c.Request().Context(), user)
	if errors.Is(err, account.ErrAuthFailed) { // removed or changed since a moment ago
		return sendFresh(c, http.StatusOK, authFailed)
	}
	if err != nil {
		// A disk that is full or worn out must not keep people from the lights. There is
		// no refresh token then: an empty one is refused, and its owner logs in again.
		a.log.Error("log-in without a refresh token, since none could be written", "account", user.Name, "why", err)
		refresh = ""
	}
	token, expires, err := a.tokens.Issue(user)
	if err != nil {
		return err
	}
	b := append([]byte(nil), `{"responseCode":1,"auth_token":`...)
	b = web.AppendJSONString(b, token)
	b = append(b, `,"refresh_token":`...)
	b = web.AppendJSONString(b, refresh)
	b = append(b, `,"tokenExpiresOn":`...)
	b = appendTime(b, expires)
	b = append(b, '}')
	return sendFresh(c, http.StatusOK, b)
}

var errCrossSite = web.Refuse(http.StatusForbidden, "pages of other sites cannot log in here")

// login checks a password, a few at a time and braked.
func (a *API) login(c echo.Context, name, password string) (account.User, error) {
	// Before the brake, whose table has no room for what cannot be right.
	if len(name) > longestName || len(password) > longestPassword {
		return account.User{}, account.ErrAuthFailed
	}
	peer := web.Peer(c.Request())
	attempt, wait := a.brake.Begin(name, peer)
	if wait > 0 {
		return account.User{}, tooManyFailures(wait)
	}
	leave, err := attempt.Enter(c.Request().Context(), a.logins)
	if errors.Is(err, web.ErrTurnedAway) {
		return account.User{}, errQueueFull
	}
	if err != nil {
		return account.User{}, err
	}
	defer leave()
	user, err := a.accounts.CheckPassword(c.Request().Context(), name, password)
	if err == nil && !user.Role.CanRead() {
		err = account.ErrAuthFailed
	}
	if errors.Is(err, account.ErrAuthFailed) {
		return account.User{}, err
	}
	if err != nil {
		attempt.Void() // a fault of ours is no failure of his
		return account.User{}, err
	}
	attempt.Succeeded()
	return user, nil
}

// logFailure notes who could not log in, a few times a minute at most. A name that is no account's is not told: people type passwords there.
func (a *API) logFailure(c echo.Context, name string) {
	if _, ok := a.accounts.User(name); !ok {
		name = "(unknown)"
	}
	if ok, left := a.failures.Allow(); ok {
		a.log.Warn("login failed", "account", name, "peer", web.Peer(c.Request()).String(), "not_logged", left)
	}
}

func tooManyFailures(wait time.Duration) error {
	return &web.Error{Status: http.StatusTooManyRequests, Message: "too many failed logins",
		Body: authFailed, RetryAfter: wait}
}

var refreshFailed = &web.Error{Status: http.StatusUnauthorized, Message: "refresh token invalid",
	Body: []byte(`{"status":false,"message":"Token invalid or expired"}`)}

// refreshToken answers a refresh token with a new access token. The refresh
// token is the credential: a bearer token beside it is not needed and may be
// expired, which is when a client comes here. Only a request that carries neither
// is "Authentication required".
func (a *API) refreshToken(c echo.Context) error {
	var refresh string
	in, err := readBody(c, strangerLimit)
	if err == nil {
		refresh, err = in.text("refresh_token")
	}
	if err != nil {
		if _, ok := web.Bearer(a.tokens, c); !ok {
			return web.ErrUnauthorized
		}
		return err
	}
	user, err := a.accounts.UseRefreshToken(c.Request().Context(), refresh)
	if errors.Is(err, account.ErrAuthFailed) || err == nil && !user.Role.CanRead() {
		return refreshFailed
	}
	if err != nil {
		return err
	}
	token, _, err := a.tokens.Issue(user)
	if err != nil {
		return err
	}
	b := append([]byte(nil), `{"status":true,"message":"Token valid","auth_token":`...)
	b = web.AppendJSONString(b, token)
	b = append(b, '}')
	return sendFresh(c, http.StatusOK, b)
}

var noStore = []string{"no-store"}

// sendFresh sends an answer that nobody may keep.
func sendFresh(c echo.Context, status int, body []byte) error {
	h := c.Response().Header()
	h["Content-Type"] = web.JSONType
	h["Cache-Control"] = noStore
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	c.Response().WriteHeader(status)
	_, err := c.Response().Write(body)
	return err
}
