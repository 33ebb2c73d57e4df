package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/platform"
	"svc.internal/controller/shelf/web"
)

// The two sentences that the contract fixes.
var (
	errKeyRequired = web.Refuse(http.StatusUnauthorized, "API key required")
	errKeyInvalid  = web.Refuse(http.StatusUnauthorized, "Invalid or inactive API key")
)

// Others that guards refuse with.
var (
	errLoginRequired = web.Refuse(http.StatusUnauthorized, "Login required: send the token of a login as 'Authorization: Bearer …'")
	errTokenInvalid  = web.Refuse(http.StatusUnauthorized, "Token invalid or expired")
	errAdminsOnly    = web.Refuse(http.StatusForbidden, "This is for administrators")
)

// Key lets a request pass only with an API key that is good.
func (g *Gate) Key(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		v := visitOf(c)
		switch {
		case !v.key:
			return errKeyRequired
		case v.trouble != nil:
			return refused(v.trouble, errKeyInvalid)
		}
		return next(c)
	}
}

// Person lets a request pass only with the token of somebody who logged in.
func (g *Gate) Person(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		v := visitOf(c)
		switch {
		case !v.token:
			return errLoginRequired
		case v.trouble != nil:
			return refused(v.trouble, errTokenInvalid)
		}
		return next(c)
	}
}

// Admin lets a request pass only with the token of an administrator.
func (g *Gate) Admin(next echo.HandlerFunc) echo.HandlerFunc {
	return g.Person(func(c echo.Context) error {
		if !visitOf(c).who.Admin() {
			return errAdminsOnly
		}
		return next(c)
	})
}

// Watcher lets a request pass with the token of an administrator, or with a key of
// one: programs that watch the platform cannot log in.
func (g *Gate) Watcher(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		v := visitOf(c)
		switch {
		case v.trouble != nil:
			return refused(v.trouble, errTokenInvalid)
		case !v.who.Known():
			return errLoginRequired
		case v.who.User.Role != platform.RoleAdmin:
			return errAdminsOnly
		}
		return next(c)
	}
}

func visitOf(c echo.Context) *visit {
	v, ok := c.Get(visitKey).(*visit)
	if !ok {
		return &visit{}
	}
	return v
}

// refused tells a credential that is not good from one that could not be checked.
func refused(trouble error, answer *web.Error) error {
	switch {
	case errors.Is(trouble, platform.ErrUnauthorized):
		return answer
	case errors.Is(trouble, web.ErrForeign):
		return web.ErrForeign
	}
	return &web.Error{Status: http.StatusServiceUnavailable, Message: "Credentials cannot be checked at present; try again",
		Cause: trouble, RetryAfter: 5 * time.Second}
}

// TooMany is the one refusal of whoever asked too often; wait is until the next try.
func TooMany(limit int, window, wait time.Duration) error {
	seconds := max(1, int(math.Ceil(wait.Seconds())))
	body, err := json.Marshal(struct {
		Success    bool   `json:"success"`
		Error      string `json:"error"`
		Message    string `json:"message"`
		RetryAfter int    `json:"retryAfter"`
		Limit      int    `json:"limit"`
		WindowMs   int64  `json:"windowMs"`
	}{false, "Rate limit exceeded", fmt.Sprintf("Too many requests; try again in %d s", seconds), seconds, limit, window.Milliseconds()})
	if err != nil {
		return err
	}
	return &web.Error{Status: http.StatusTooManyRequests, Message: "rate limit exceeded", Body: body,
		RetryAfter: time.Duration(seconds) * time.Second}
}
