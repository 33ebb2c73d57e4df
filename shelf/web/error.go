package web

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
)

// Error is an answer that is not a success. Message is for whoever asked, Cause
// for the log only.
type Error struct {
	Status  int
	Message string
	Cause   error // may be nil
	// Body replaces what [Config.Refusal] makes of Status and Message. Empty but not nil
	// sends no body at all.
	Body []byte
	// RetryAfter, if above zero, becomes the header of that name, in whole seconds
	// rounded up.
	RetryAfter time.Duration
}

// Refuse makes the common error: a status and a sentence for whoever asked.
func Refuse(status int, message string) *Error { return &Error{Status: status, Message: message} }

// Error shows both sides; it goes to the log, never into an answer.
func (e *Error) Error() string {
	if e.Cause == nil {
		return e.Message
	}
	if e.Message == "" {
		return e.Cause.Error()
	}
	return e.Message + ": " + e.Cause.Error()
}

// Unwrap gives the private cause.
func (e *Error) Unwrap() error { return e.Cause }

// What [Require] refuses with.
var (
	// ErrUnauthorized: missing or invalid bearer token.
	ErrUnauthorized = Refuse(http.StatusUnauthorized, "Authentication required")
	// ErrForbidden: the permission does not suffice. Empty body.
	ErrForbidden = &Error{Status: http.StatusForbidden, Message: "permission insufficient", Body: []byte{}}
	// ErrCrowded: all places for connections of known ones are taken.
	ErrCrowded = &Error{Status: http.StatusServiceUnavailable, Message: "too many connections; close some that are not used", RetryAfter: time.Second}
)

// Table says what a program's own errors mean to whoever asked. Only errors in it
// show their text outside; all others are "internal error".
type Table []Row

// Row of a [Table]: what wraps Err is answered with Status.
type Row struct {
	Err    error
	Status int
}

// Of translates err into an answer. It never returns nil.
func (t Table) Of(err error) *Error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return &Error{Status: http.StatusRequestEntityTooLarge, Cause: err,
			Message: "body larger than " + strconv.FormatInt(tooLarge.Limit, 10) + " bytes"}
	}
	var he *echo.HTTPError
	if errors.As(err, &he) {
		return fromEcho(he)
	}
	for _, row := range t {
		if errors.Is(err, row.Err) {
			return &Error{Status: row.Status, Message: err.Error(), Cause: err}
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &Error{Status: http.StatusGatewayTimeout, Message: err.Error(), Cause: err}
	}
	return &Error{Status: http.StatusInternalServerError, Message: "internal error", Cause: err}
}

// fromEcho words the router's own refusals.
func fromEcho(he *echo.HTTPError) *Error {
	message := http.StatusText(he.Code)
	switch he.Code {
	case http.StatusNotFound:
		message = "no such endpoint"
	case http.StatusMethodNotAllowed:
		message = "method not allowed here; see the Allow header"
	}
	return &Error{Status: he.Code, Message: message, Cause: he.Internal}
}

// Refusal words an answer that is not a success, for a request to this path.
type Refusal func(path string, status int, message string) (contentType string, body []byte)

// plainRefusal is {"status":0,"message":…}, whatever was asked.
func plainRefusal(_ string, _ int, message string) (string, []byte) {
	body := append([]byte(nil), `{"status":0,"message":`...)
	return JSONType[0], append(AppendJSONString(body, message), '}')
}

// answer writes e in the shape that all errors have.
func (e *Error) answer(c echo.Context, word Refusal) error {
	h := c.Response().Header()
	if e.RetryAfter > 0 {
		h["Retry-After"] = []string{strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds())))}
	}
	if e.Status == http.StatusUnauthorized {
		h["Www-Authenticate"] = wwwAuthenticate
	}
	h["Cache-Control"] = noStore
	body, contentType := e.Body, JSONType[0]
	if body == nil {
		contentType, body = word(c.Request().URL.Path, e.Status, e.Message)
	}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	if len(body) > 0 {
		h["Content-Type"] = []string{contentType}
	}
	c.Response().WriteHeader(e.Status)
	_, err := c.Response().Write(body)
	return err
}

// Header values that are the same in every answer. They are shared between
// answers and must not be written to.
var (
	// JSONType is the Content-Type of all JSON answers.
	JSONType        = []string{"application/json; charset=utf-8"}
	noStore         = []string{"no-store"}
	wwwAuthenticate = []string{"Bearer"}
)
