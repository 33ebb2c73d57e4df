package api

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/web"
)

// permission that a route asks for.
type permission uint8

const (
	anyone   permission = iota // also who is not logged in
	reader                     // viewer, operator, admin
	operator                   // operator, admin
	admin
)

var permissionWords = map[permission]string{
	anyone: "anyone, without logging in", reader: "viewer, operator, admin", operator: "operator, admin", admin: "admin",
}

// caller is who sent a request.
type caller struct {
	name  string
	role  account.Role
	from  string // where the request came from, for the audit log
	local bool   // through the socket in the data directory
}

func (w caller) may(p permission) bool {
	switch w.role {
	case account.RoleAdmin:
		return true
	case account.RoleOperator:
		return p <= operator
	case account.RoleViewer:
		return p <= reader
	}
	return p == anyone
}

// entersHere reports whether a role has anything to do at this door.
func entersHere(r account.Role) bool { return caller{role: r}.may(reader) }

const callerKey = "api.caller"

// callerOf tells who was let in.
func callerOf(c echo.Context) caller {
	who, _ := c.Get(callerKey).(caller)
	return who
}

// origin of what somebody does through this door.
func (w caller) origin(why string) appliance.Origin {
	via := "admin-api"
	if w.local {
		via = "console"
	}
	return appliance.Origin{Who: w.name, Via: via, Why: why}
}

// caller finds out who sends a request: whoever has the socket of the data directory
// may do everything, the others show a token or a cookie.
func (a *API) caller(c echo.Context) (caller, error) {
	r := c.Request()
	if who, ok := r.Context().Value(localKey{}).(caller); ok {
		return who, nil
	}
	from := c.RealIP()
	if len(r.Header["Authorization"]) > 0 {
		who, ok := web.Bearer(a.Tokens, c)
		if !ok || who.Key {
			return caller{}, errUnauthorized
		}
		return caller{name: who.Name, role: account.Role(who.Role), from: from}, nil
	}
	token := cookieOf(r)
	if token == "" {
		return caller{}, errUnauthorized
	}
	if err := sameOrigin(r); err != nil {
		return caller{}, err
	}
	user, err := a.sessions.user(r.Context(), a.Accounts, token)
	if err != nil {
		if errors.Is(err, account.ErrAuthFailed) {
			return caller{}, errUnauthorized
		}
		return caller{}, err
	}
	if !entersHere(user.Role) {
		return caller{}, errUnauthorized
	}
	return caller{name: user.Name, role: user.Role, from: from}, nil
}

// localKey marks the context of requests that came through the socket.
type localKey struct{}

// Local marks ctx as that of a connection through the socket in the data directory,
// which only those can open who may read the database as well. Who opened it is an
// account of the operating system.
func Local(ctx context.Context, who string) context.Context {
	return context.WithValue(ctx, localKey{}, caller{name: who, role: account.RoleAdmin, from: "console", local: true})
}

// cookieName begins with __Host-: browsers take it over TLS only, for this host only.
const cookieName = "__Host-ctl"

func cookieOf(r *http.Request) string {
	c, err := r.Cookie(cookieName)
	if err != nil || len(c.Value) > 128 {
		return ""
	}
	return c.Value
}

// setCookie hands a session's token to a browser; an empty one takes it back.
func setCookie(c echo.Context, token string) {
	cookie := &http.Cookie{Name: cookieName, Value: token, Path: "/", Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode, MaxAge: 30 * 24 * 3600}
	if token == "" {
		cookie.MaxAge = -1
	}
	c.SetCookie(cookie)
}

func sameOrigin(r *http.Request) error {
	if !web.FromOwnPage(r) {
		return refuse(http.StatusForbidden, "this request comes from a page of another origin")
	}
	return nil
}

// sessions remembers whose session a token is, so that a request needs no disk. An
// entry is good for the very state of the account that it was looked up for.
type sessions struct {
	mu sync.Mutex
	of map[[sha256.Size]byte]known
}

type known struct {
	user  account.User
	until time.Time
}

const (
	// sessionsKept bounds the memory; who is pushed out is looked up again.
	sessionsKept = 256
	// sessionLook is how long an entry is believed: sessions end by age, too.
	sessionLook = 10 * time.Minute
)

func newSessions() sessions { return sessions{of: map[[sha256.Size]byte]known{}} }

func (s *sessions) user(ctx context.Context, accounts Accounts, token string) (account.User, error) {
	hash := sha256.Sum256([]byte(token))
	now := time.Now()
	s.mu.Lock()
	k, ok := s.of[hash]
	s.mu.Unlock()
	if ok && now.Before(k.until) {
		if user, there := accounts.User(k.user.Name); there && user.UUID == k.user.UUID && user.Revision == k.user.Revision {
			return user, nil
		}
	}
	user, err := accounts.UseSession(ctx, token)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		delete(s.of, hash)
		return user, err
	}
	for old := range s.of {
		if len(s.of) < sessionsKept {
			break
		}
		delete(s.of, old)
	}
	s.of[hash] = known{user, now.Add(sessionLook)}
	return user, nil
}

func (s *sessions) forget(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of, sha256.Sum256([]byte(token)))
}
