package platform

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"svc.internal/controller/shelf/lookalike"
)

// Role says what a user may do beside looking after what is their own.
type Role string

// The roles.
const (
	RoleUser  Role = "user"
	RoleAdmin Role = "admin"
)

// ParseRole reads the name of a role.
func ParseRole(name string) (Role, error) {
	switch r := Role(name); r {
	case RoleUser, RoleAdmin:
		return r, nil
	}
	return "", Invalid("there is no role %q; want %s or %s", name, RoleUser, RoleAdmin)
}

// User is somebody who may log in.
type User struct {
	ID   string // UUID
	Name string // unique
	Role Role
	// Disabled users cannot log in, and none of their keys and tokens works.
	Disabled bool
	// Issuer is the identity provider that vouches for the user; empty for one who
	// has a password here.
	Issuer    string
	CreatedAt time.Time
	// Revision is raised by whatever ends all tokens of the user.
	Revision int64
}

const maxUserName = 200 // characters; providers send e-mail addresses and longer

// CheckUserName says why a name cannot be used.
func CheckUserName(name string) error {
	if err := checkName("user name", name, maxUserName); err != nil {
		return err
	}
	if strings.ContainsFunc(name, lookalike.Invisible) {
		return Invalid("user name contains characters that nobody sees; leave them out")
	}
	return nil
}

// checkName says why what cannot be used: it is for people to read, so it has
// something to see, and nothing that would change how a line is shown.
func checkName(what, name string, most int) error {
	switch {
	case strings.TrimSpace(name) == "":
		return Invalid("%s is empty", what)
	case !utf8.ValidString(name):
		return Invalid("%s is not UTF-8", what)
	case strings.ContainsFunc(name, unshowable):
		return Invalid("%s contains a control character", what)
	}
	if n := utf8.RuneCountInString(name); n > most {
		return Invalid("%s has %d characters, at most %d are possible", what, n, most)
	}
	return nil
}

// unshowable characters are control characters and those that turn the direction
// of writing.
func unshowable(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == utf8.RuneError
}
