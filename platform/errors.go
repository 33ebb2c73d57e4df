package platform

import (
	"errors"
	"fmt"
)

// What callers branch on. Errors that wrap one of these may be shown to whoever
// asked; all others are for the log.
var (
	ErrNotFound     = errors.New("not found")
	ErrOffline      = errors.New("the controller is offline")
	ErrExists       = errors.New("exists already")
	ErrInvalid      = errors.New("not usable")
	ErrConflict     = errors.New("not possible in this state")
	ErrUnauthorized = errors.New("not logged in")
	ErrOverloaded   = errors.New("too much to do")
	// ErrUnanswered says that a command was sent and not answered yet; it may still be carried out, until it expires.
	ErrUnanswered = errors.New("sent, and not answered yet")
)

// Invalid makes an error for a value that cannot be taken. It is [ErrInvalid],
// whose text would add nothing.
func Invalid(format string, values ...any) error {
	return &reason{fmt.Sprintf(format, values...), ErrInvalid}
}

// Conflict makes an error for a change that is not possible now. It is
// [ErrConflict].
func Conflict(format string, values ...any) error {
	return &reason{fmt.Sprintf(format, values...), ErrConflict}
}

type reason struct {
	text string
	kind error
}

func (r *reason) Error() string        { return r.text }
func (r *reason) Is(target error) bool { return target == r.kind }
