package web

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
)

// Error is an answer that is not a success. Message is for whoever asked, Cause
// for the log only.
type Error struct {
	Status  int
	Message string
	Cause   error // may be nil
	// Body replaces the usual {"status":0,"message":…}. Empty but not nil sends no
	// body at all.
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

// The two answers that the public contract fixes to the letter.
var (
	// ErrUnauthorized: missing or invalid bearer token.
	ErrUnauthorized = Refuse(http.StatusUnauthorized, "Authentication required")
	// ErrForbidden: the permission does not suffice. Empty body.
	ErrForbidden = &Error{Status: http.StatusForbidden, Message: "permission insufficient", Body: []byte{}}
)

// statuses is the one table from errors to HTTP. Only these errors may show
// their text outside; all others are "internal error".
var statuses = []struct {
	err    error
	status int
}{
	{appliance.ErrNotFound, http.StatusNotFound},
	{appliance.ErrOutOfRange, http.StatusBadRequest},
	{appliance.ErrExists, http.StatusConflict},
	{appliance.ErrUnable, http.StatusConflict},
	{appliance.ErrSuperseded, http.StatusConflict},
	{appliance.ErrAuthFailed, http.StatusUnauthorized},
	{appliance.ErrOverloaded, http.StatusServiceUnavailable},
	{appliance.ErrBusDown, http.StatusServiceUnavailable},
	{appliance.ErrUnreachable, http.StatusBadGateway},
	{appliance.ErrSilent, http.StatusBadGateway},
	{appliance.ErrDamaged, http.StatusBadGateway},
	{appliance.ErrRefused, http.StatusBadGateway},
	{appliance.ErrBusy, http.StatusBadGateway},
	{appliance.ErrMismatch, http.StatusBadGateway},
	{appliance.ErrExpired, http.StatusGatewayTimeout},
	{context.DeadlineExceeded, http.StatusGatewayTimeout},
}

// StatusOf translates err into an answer. It never returns nil.
func StatusOf(err error) *Error {
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
	for _, row := range statuses {
		if errors.Is(err, row.err) {
			return &Error{Status: row.status, Message: err.Error(), Cause: err}
		}
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

// answer writes e in the shape all errors have.
func (e *Error) answer(c echo.Context) error {
	h := c.Response().Header()
	if e.RetryAfter > 0 {
		h["Retry-After"] = []string{strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds())))}
	}
	if e.Status == http.StatusUnauthorized {
		h["Www-Authenticate"] = wwwAuthenticate
	}
	h["Cache-Control"] = noStore
	body := e.Body
	if body == nil {
		body = append(body, `{"status":0,"message":`...)
		body = AppendJSONString(body, e.Message)
		body = append(body, '}')
	}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	if len(body) > 0 {
		h["Content-Type"] = JSONType
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
