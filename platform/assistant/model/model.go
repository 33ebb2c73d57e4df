// Package model is what the assistant wants of a language model: it reads what somebody said into a form. Nothing else that
// it says is passed on. Adapters for vendors are packages of their own, so that a program carries only those it uses.
package model

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
)

// Model is a language model behind some vendor's protocol.
type Model interface {
	// Name for status and logs.
	Name() string
	// Stream asks for a form and yields what is filled in, in pieces, until a [Stop] or an error; either ends the stream. A
	// stream that ends without a stop reason yields [ErrCut].
	Stream(ctx context.Context, r Request) iter.Seq2[Event, error]
}

// Request asks for one form.
type Request struct {
	System    string // what to do; nothing in it is of a device, an installer or the asker
	Text      string // what was said
	Form      Form
	MaxTokens int // of the answer
}

// Form is a JSON object that the model has to fill in.
type Form struct {
	Name        string
	Description string
	Schema      []byte // JSON schema of an object: all members required, no others possible
}

// Event of a stream: exactly one of the fields is set.
type Event struct {
	Text   string // the next piece of the form
	Tokens int    // that the request cost, read and written together, as the server counts; at most once
	Stop   Stop
}

// Stop is why the model ended.
type Stop string

// The reasons.
const (
	End     Stop = "end"
	Length  Stop = "length"
	Refused Stop = "refused"
)

// MaxAnswer bounds a form, in bytes. Adapters count everything that a server sends of an answer.
const MaxAnswer = 64 << 10

// What callers tell apart.
var (
	ErrCut     = errors.New("the stream ended without a stop reason")
	ErrSilent  = errors.New("nothing arrived in time")
	ErrBusy    = errors.New("overloaded or rate limited")
	ErrRefused = errors.New("the credential was refused")
	ErrSpent   = errors.New("what the model may cost on behalf of whoever asks is used up for now")
	ErrEndless = errors.New("its answer has no end")
	ErrUseless = errors.New("its answer is not what was asked for")
	ErrDenied  = errors.New("the model refused to answer")
)

// Drain reads a stream to its end, and tells the form that was filled in, as bytes that nobody has checked yet.
func Drain(events iter.Seq2[Event, error]) (form []byte, err error) {
	var text strings.Builder
	stop := Stop("")
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		if text.WriteString(e.Text); text.Len() > MaxAnswer {
			return nil, ErrEndless
		}
		if e.Stop != "" {
			stop = e.Stop
		}
	}
	switch stop {
	case "":
		return nil, ErrCut
	case Refused:
		return nil, ErrDenied
	case Length:
		return nil, ErrEndless
	}
	return []byte(text.String()), nil
}

// HTTPError is an answer with a status that is not 200. Its text is for the log; [Reason] is for people.
type HTTPError struct {
	Status int
	Body   string
}

func (e *HTTPError) Error() string {
	return fmt.Sprintf("language model answered %d: %s", e.Status, e.Body)
}

// Is maps statuses to what callers tell apart.
func (e *HTTPError) Is(target error) bool {
	switch target {
	case ErrBusy:
		return e.Status == 429 || e.Status == 529 || e.Status == 503
	case ErrRefused:
		return e.Status == 401 || e.Status == 403
	}
	return false
}

// Reason says in a few words, without secrets or a vendor's text, why a model did not answer.
func Reason(err error) string {
	var h *HTTPError
	switch {
	case errors.Is(err, ErrCut):
		return "its answer was cut off"
	case errors.Is(err, ErrSilent), errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.Is(err, ErrBusy):
		return "it is overloaded"
	case errors.Is(err, ErrSpent):
		return "what you may ask of it is used up for now"
	case errors.Is(err, ErrEndless):
		return "its answer had no end"
	case errors.Is(err, ErrDenied):
		return "it refused to answer"
	case errors.Is(err, ErrUseless):
		return "its answer was of no use"
	case errors.Is(err, ErrRefused):
		return "it refused our credential"
	case errors.As(err, &h):
		return fmt.Sprintf("it answered with status %d", h.Status)
	}
	return "it could not be reached"
}
