package web

import (
	"strings"

	"github.com/labstack/echo/v4"
)

// Caller is who sent a request.
type Caller struct {
	Name string // user or key name, for the ledger and the log
	Role string
	// Key is true when an API key was sent; Role is empty then. What roles there are is
	// the program's own business.
	Key         bool
	Read, Write bool // what the caller may do
}

// Permission that a route asks for.
type Permission uint8

// The permissions.
const (
	Read Permission = iota
	Write
)

// Where a request's context keeps its caller, and what it is while a stranger's.
const (
	callerKey  = "web.caller"
	requestKey = "web.request"
)

// CallerOf tells who was let in by [Require]; false if nobody asked.
func CallerOf(c echo.Context) (Caller, bool) {
	who, ok := c.Get(callerKey).(*Caller)
	if !ok {
		return Caller{}, false
	}
	return *who, true
}

// Authenticator knows who holds a bearer token. It is asked on every request and must
// answer from memory.
type Authenticator interface {
	// Caller tells who holds token, false if nobody does (any more). What it returns is
	// shared and must not be changed.
	Caller(token string) (*Caller, bool)
}

// SetCaller notes who was let in, for the access log and because whoever is known keeps
// his connection. False: there are so many that he cannot; refuse him with [ErrCrowded].
func SetCaller(c echo.Context, who *Caller) bool {
	c.Set(callerKey, who)
	q, ok := c.Get(requestKey).(*request)
	if !ok {
		return true
	}
	q.end()
	return q.visitor.crowd.recognise(q.visitor)
}

// Require lets a request pass only with a bearer token that has permission p:
// ErrUnauthorized without a valid token, ErrForbidden with one that is too weak.
func Require(a Authenticator, p Permission, next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		who, ok := Bearer(a, c)
		if !ok {
			return ErrUnauthorized
		}
		if !SetCaller(c, who) {
			return ErrCrowded
		}
		if p == Write && !who.Write || p == Read && !who.Read {
			return ErrForbidden
		}
		return next(c)
	}
}

// Bearer tells who sent a request; false without a valid bearer token. Two
// Authorization headers are none: nobody could say which one was meant.
func Bearer(a Authenticator, c echo.Context) (*Caller, bool) {
	v := c.Request().Header["Authorization"]
	if len(v) != 1 {
		return nil, false
	}
	scheme, token, ok := strings.Cut(v[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return nil, false
	}
	return a.Caller(strings.TrimSpace(token))
}
