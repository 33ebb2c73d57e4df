package platform

import "context"

// Identity is who sent a request. The zero value is nobody.
type Identity struct {
	// User who logged in, or whose key was sent; the ID is empty for nobody.
	User User
	// KeyID is the ID of the key that was sent; empty for a user who logged in.
	KeyID string
	// KeyName is what its owner calls that key.
	KeyName string
	// Permissions are those of the key. A user who logged in has none: actuation is
	// a matter of keys.
	Permissions Permissions
	// Bucket is what requests of this user or key are counted in.
	Bucket Bucket
	// Lang is the language that they prefer, [English] or [German]; empty: they did not say.
	Lang string
}

// Known reports whether somebody was recognised at all.
func (i Identity) Known() bool { return i.User.ID != "" }

// String says who it is, for people: ada, or key "BMS". Nobody is empty.
func (i Identity) String() string {
	if i.KeyName != "" {
		return `key "` + i.KeyName + `"`
	}
	return i.User.Name
}

// Admin reports whether a person logged in who looks after all others. Keys never
// are: they are for reading and controlling sites.
func (i Identity) Admin() bool { return i.Known() && i.KeyID == "" && i.User.Role == RoleAdmin }

type identityKey struct{}

// WithIdentity returns a context that knows who asks.
func WithIdentity(ctx context.Context, i Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, i)
}

// IdentityOf tells who asks; nobody if that was not found out.
func IdentityOf(ctx context.Context) Identity {
	i, _ := ctx.Value(identityKey{}).(Identity)
	return i
}

// SessionCookie is where a browser keeps its session: over TLS only, for this host only, and for no script to read.
const SessionCookie = "__Host-plat"
