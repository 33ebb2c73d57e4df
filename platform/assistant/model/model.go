// Package model is what the assistant wants of a language model: messages and tools in, a stream of typed events out.
// Adapters for vendors are packages of their own, so that a program carries only those it uses.
package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
)

// Model is a language model behind some vendor's protocol.
type Model interface {
	// Name for status and logs.
	Name() string
	// Stream sends a request and yields events until a [Stop] or an error; either ends the stream. A stream that ends
	// without a stop reason yields [ErrCut].
	Stream(ctx context.Context, r Request) iter.Seq2[Event, error]
}

// Request is one turn.
type Request struct {
	System    string
	Messages  []Message
	Tools     []Tool
	Choose    string // "": the model decides; [NoTool]; else the name of the tool it must call
	MaxTokens int
}

// NoTool forbids tools for a turn.
const NoTool = "none"

// Role of a message.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one side's say. Tool results come from the user's side.
type Message struct {
	Role    Role
	Text    string
	Calls   []Call
	Results []Result
}

// Tool the model may call.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON schema of an object
}

// Call of a tool.
type Call struct {
	ID        string
	Name      string
	Arguments json.RawMessage
}

// Result of a call.
type Result struct {
	ID      string
	Content string
	Failed  bool
}

// Event of a stream: exactly one of the fields is set.
type Event struct {
	Text string // the next piece
	Call *Call  // complete
	Stop Stop
}

// Stop is why the model ended.
type Stop string

// The reasons.
const (
	End     Stop = "end"
	ForTool Stop = "tool"
	Length  Stop = "length"
	Refused Stop = "refused"
)

// What callers tell apart.
var (
	ErrCut     = errors.New("the stream ended without a stop reason")
	ErrSilent  = errors.New("nothing arrived in time")
	ErrBusy    = errors.New("overloaded or rate limited")
	ErrRefused = errors.New("the credential was refused")
	ErrSpent   = errors.New("the requests to the model of whoever asks are used up for now")
)

// Answer is a whole stream.
type Answer struct {
	Text  string
	Calls []Call
	Stop  Stop
}

// Drain reads a stream to its end; delta is told every piece of text and may be nil. There is a tool call if calls are
// present, whatever the stop reason says.
func Drain(events iter.Seq2[Event, error], delta func(string)) (Answer, error) {
	var a Answer
	var text strings.Builder
	for e, err := range events {
		if err != nil {
			a.Text = text.String()
			return a, err
		}
		switch {
		case e.Text != "":
			text.WriteString(e.Text)
			if delta != nil {
				delta(e.Text)
			}
		case e.Call != nil:
			a.Calls = append(a.Calls, *e.Call)
		case e.Stop != "":
			a.Stop = e.Stop
		}
	}
	a.Text = text.String()
	if a.Stop == "" {
		return a, ErrCut
	}
	if len(a.Calls) > 0 && a.Stop != Refused {
		a.Stop = ForTool
	}
	return a, nil
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
		return "your requests to it are used up for now"
	case errors.Is(err, ErrRefused):
		return "it refused our credential"
	case errors.As(err, &h):
		return fmt.Sprintf("it answered with status %d", h.Status)
	}
	return "it could not be reached or its answer was of no use"
}
