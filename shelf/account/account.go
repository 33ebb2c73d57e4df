// Package account says who may use a controller: users with their roles, and API keys.
package account

import (
	"errors"
	"time"

	"svc.internal/controller/appliance"
)

// Role of a user.
type Role string

// The roles. RoleNone may log in nowhere; it keeps a name and its history.
const (
	RoleAdmin      Role = "admin"
	RoleOperator   Role = "operator"
	RoleAPIService Role = "api_service"
	RoleViewer     Role = "viewer"
	RoleNone       Role = "none"
)

// Roles lists all roles, most powerful first.
func Roles() []Role {
	return []Role{RoleAdmin, RoleOperator, RoleAPIService, RoleViewer, RoleNone}
}

// CanRead reports whether the role may read state.
func (r Role) CanRead() bool { return r.CanWrite() || r == RoleViewer }

// CanWrite reports whether the role may command lights and shades.
func (r Role) CanWrite() bool {
	return r == RoleAdmin || r == RoleOperator || r == RoleAPIService
}

// User is somebody who may log in.
type User struct {
	UUID      appliance.UUID
	ID        int64  // never changed, never reused
	Name      string // unique, case-sensitive
	Role      Role
	CreatedAt time.Time
	// Revision changes with the password and the role: access tokens issued for an older
	// one are void.
	Revision int64
}

// Key is a controller API key: "ctl_" and 64 hexadecimal digits, known in full
// only to whom it was given.
type Key struct {
	UUID      appliance.UUID
	ID        int64 // never changed, never reused
	Name      string
	Prefix    string // first 8 digits, to recognise it by
	Write     bool   // may command; otherwise read only
	CreatedAt time.Time
	LastUsed  time.Time // zero: never
}

// What callers of accounts branch on.
var (
	// ErrAuthFailed: no such user, wrong password, or a user without a role; which
	// one is not told.
	ErrAuthFailed = errors.New("authentication failed")
	// ErrExists: the name is taken.
	ErrExists = errors.New("exists already")
	// ErrNotKept: the disk is full or cannot be written, so that nothing is changed.
	ErrNotKept = errors.New("nothing can be kept at the moment: the disk is full or cannot be written")
)
