package api

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// Problem is the body of every error (RFC 9457).
type Problem struct {
	Title  string `json:"title" doc:"The HTTP status in words."`
	Status int    `json:"status" doc:"The HTTP status."`
	Detail string `json:"detail" doc:"What is wrong and what to do, for people."`
	// Request is what the log knows this request by.
	Request string       `json:"request,omitempty" doc:"What the log knows this request by."`
	Errors  []FieldError `json:"errors,omitempty" doc:"The fields that are wrong."`
	// Job is the one under way that stands in the way.
	Job string `json:"job,omitempty" doc:"The job under way that stands in the way."`
}

// FieldError is what is wrong with one field of a body.
type FieldError struct {
	Pointer string `json:"pointer" doc:"The field, as a JSON pointer."`
	Detail  string `json:"detail" doc:"What is wrong with it."`
}

// refusal is an error that says for itself how it is to be answered.
type refusal struct {
	status int
	detail string
	fields []FieldError
	job    string
	wait   time.Duration // for Retry-After
	cause  error
}

func (r *refusal) Error() string {
	if r.cause != nil && r.cause.Error() != r.detail {
		return r.detail + ": " + r.cause.Error()
	}
	return r.detail
}

func (r *refusal) Unwrap() error { return r.cause }

func refuse(status int, detail string) error { return &refusal{status: status, detail: detail} }

// malformed is the answer to a body that is not what was asked for: 400.
func malformed(pointer, detail string) error {
	return &refusal{status: http.StatusBadRequest, detail: "the body cannot be read", fields: []FieldError{{pointer, detail}}}
}

// meaningless is the answer to a body whose values make no sense: 422.
func meaningless(pointer, detail string) error {
	return &refusal{status: http.StatusUnprocessableEntity, detail: detail, fields: []FieldError{{pointer, detail}}}
}

// noKind is the answer to a kind that is missing, or is none of those there are: 422.
func noKind(what, given string, kinds ...string) error {
	want := "want one of " + strings.Join(kinds, ", ")
	if given == "" {
		return meaningless("/kind", "kind is missing; "+want)
	}
	return meaningless("/kind", "there is no "+what+" "+strconv.Quote(given)+"; "+want)
}

var (
	errUnauthorized = refuse(http.StatusUnauthorized, "Authentication required")
	errForbidden    = refuse(http.StatusForbidden, "your role does not permit this")
)

// problemOf words err for whoever asked. Only what is known to be fit for outside is
// shown of it.
func problemOf(err error) (Problem, time.Duration) {
	var own *refusal
	if errors.As(err, &own) {
		return Problem{Title: http.StatusText(own.status), Status: own.status, Detail: own.detail, Errors: own.fields, Job: own.job}, own.wait
	}
	e := Errors.Of(err)
	return Problem{Title: http.StatusText(e.Status), Status: e.Status, Detail: e.Message}, e.RetryAfter
}

// answerProblem writes err, unless the answer has begun already.
func answerProblem(c echo.Context, err error) {
	if c.Response().Committed {
		return
	}
	p, wait := problemOf(err)
	if p.Status == http.StatusInternalServerError && callerOf(c).local {
		p.Detail = err.Error() // to those who may read the log
	}
	h := c.Response().Header()
	if wait > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "application/problem+json")
	c.Response().Before(func() { p.Request = h.Get("X-Request-Id") })
	c.Response().WriteHeader(p.Status)
	_ = json.NewEncoder(c.Response()).Encode(p) // whoever asked may be gone
}
