package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/web"
)

// Login is a name and a password.
type Login struct {
	Username string `json:"username"`
	Password string `json:"password"`
	Browser  bool   `json:"browser,omitempty" doc:"Answer with a cookie that no script can read, and no tokens."`
}

// Session says who is logged in, and holds the tokens of a program that just did.
type Session struct {
	Username string `json:"username"`
	Role     string `json:"role" enum:"admin,operator,viewer"`
	// May is what the role permits.
	May          []string   `json:"may" doc:"read, operate, administer."`
	TokenType    string     `json:"token_type,omitempty" enum:"Bearer,Cookie"`
	AccessToken  string     `json:"access_token,omitempty"`
	ExpiresIn    int        `json:"expires_in,omitempty" doc:"Seconds."`
	RefreshToken string     `json:"refresh_token,omitempty" doc:"Good for one use."`
	Site         string     `json:"site" doc:"Name of the site."`
	Version      string     `json:"version" doc:"Of the program; pages reload when it changes."`
	Time         *time.Time `json:"time" doc:"The controller's clock."`
}

func (a *API) sessionOf(name string, role account.Role) Session {
	s := Session{Username: name, Role: string(role), Site: a.Core.Snapshot().Site.Name, Version: a.Version, Time: stampOf(time.Now()), May: []string{}}
	for _, p := range []struct {
		p    permission
		word string
	}{{reader, "read"}, {operator, "operate"}, {admin, "administer"}} {
		if (caller{role: role}).may(p.p) {
			s.May = append(s.May, p.word)
		}
	}
	return s
}

const (
	// loginsMost passwords are checked at a time, loginsWaiting wait to be.
	loginsMost, loginsWaiting = 2, 64
	// longest name and password that are looked at.
	longestName, longestPassword = 256, 1024
)

// login answers name and password with tokens, or with a cookie.
func (a *API) login(c echo.Context) error {
	var in Login
	if err := read(c, &in); err != nil {
		return err
	}
	if in.Browser {
		if err := sameOrigin(c.Request()); err != nil {
			return err
		}
	}
	user, err := a.checkPassword(c, in)
	if errors.Is(err, account.ErrAuthFailed) {
		name := in.Username
		if _, ok := a.Accounts.User(name); !ok {
			name = "(unknown)" // people type passwords there
		}
		if ok, left := a.failures.Allow(); ok {
			a.Log.Warn("login failed", "account", name, "peer", web.Peer(c.Request()).String(), "not_logged", left)
		}
		return refuse(http.StatusUnauthorized, "no user has this name and password")
	}
	if err != nil {
		return err
	}
	if !entersHere(user.Role) {
		return refuse(http.StatusForbidden, "this user has the role "+string(user.Role)+", which is for /svc/api only")
	}
	return a.begin(c, user, in.Browser)
}

// checkPassword checks a password, a few at a time and braked.
func (a *API) checkPassword(c echo.Context, in Login) (account.User, error) {
	peer := web.Peer(c.Request())
	attempt, wait := a.Brake.Begin(in.Username, peer)
	if wait > 0 {
		return account.User{}, tooMany(wait)
	}
	if len(in.Username) > longestName || len(in.Password) > longestPassword {
		return account.User{}, account.ErrAuthFailed
	}
	leave, err := attempt.Enter(c.Request().Context(), a.logins)
	if errors.Is(err, web.ErrTurnedAway) {
		return account.User{}, &refusal{status: http.StatusServiceUnavailable, detail: "too many people log in at once; try again", wait: time.Second}
	}
	if err != nil {
		return account.User{}, err
	}
	defer leave()
	user, err := a.Accounts.CheckPassword(c.Request().Context(), in.Username, in.Password)
	switch {
	case err == nil:
		attempt.Succeeded()
	case !errors.Is(err, account.ErrAuthFailed):
		attempt.Void() // a fault of ours
	}
	return user, err
}

func tooMany(wait time.Duration) error {
	return &refusal{status: http.StatusTooManyRequests, detail: "too many failed attempts; wait", wait: wait}
}

// begin opens a session of a user who has shown who he is.
func (a *API) begin(c echo.Context, user account.User, browser bool) error {
	out := a.sessionOf(user.Name, user.Role)
	if browser {
		token, err := a.Accounts.NewSession(c.Request().Context(), user)
		if err != nil {
			return unauthorized(err)
		}
		setCookie(c, token)
		out.TokenType = "Cookie"
		return answer(c, http.StatusOK, out)
	}
	token, err := a.Accounts.NewRotatingToken(c.Request().Context(), user)
	if err != nil {
		return unauthorized(err)
	}
	return a.issue(c, user, token, out)
}

// unauthorized is the answer to a token that is nobody's.
func unauthorized(err error) error {
	if errors.Is(err, account.ErrAuthFailed) {
		return errUnauthorized
	}
	return err
}

func (a *API) issue(c echo.Context, user account.User, refresh string, out Session) error {
	token, expires, err := a.Tokens.Issue(user)
	if err != nil {
		return err
	}
	out.TokenType, out.AccessToken, out.RefreshToken = "Bearer", token, refresh
	out.ExpiresIn = int(time.Until(expires).Round(time.Second) / time.Second)
	return answer(c, http.StatusOK, out)
}

// Refresh is the token to be replaced.
type Refresh struct {
	RefreshToken string `json:"refresh_token"`
}

// refresh replaces the tokens of a program. A browser, which has a cookie, need not
// come here: its session lasts.
func (a *API) refresh(c echo.Context) error {
	var in Refresh
	if err := read(c, &in); err != nil {
		return err
	}
	user, next, err := a.Accounts.Rotate(c.Request().Context(), in.RefreshToken)
	if err != nil {
		return unauthorized(err)
	}
	if !entersHere(user.Role) {
		return errUnauthorized
	}
	return a.issue(c, user, next, a.sessionOf(user.Name, user.Role))
}

// Logout may name the refresh token to be ended.
type Logout struct {
	RefreshToken string `json:"refresh_token,omitempty"`
}

// logout ends the session of the cookie, and the tokens of the log-in that a refresh
// token goes back to.
func (a *API) logout(c echo.Context) error {
	var in Logout
	if c.Request().ContentLength != 0 {
		if err := read(c, &in); err != nil {
			return err
		}
	}
	for _, token := range []string{cookieOf(c.Request()), in.RefreshToken} {
		if token == "" {
			continue
		}
		if token != in.RefreshToken {
			if err := sameOrigin(c.Request()); err != nil {
				return err
			}
		}
		if err := a.Accounts.EndSession(c.Request().Context(), token); err != nil {
			return err
		}
		a.sessions.forget(token)
	}
	setCookie(c, "")
	return c.NoContent(http.StatusNoContent)
}

// session tells who is logged in.
func (a *API) session(c echo.Context) error {
	who := callerOf(c)
	return answer(c, http.StatusOK, a.sessionOf(who.name, who.role))
}

// still reports whether the caller of a request would be let in now.
func (a *API) still(ctx context.Context, c echo.Context, p permission) bool {
	who, err := a.caller(c)
	return err == nil && who.may(p) && ctx.Err() == nil
}
