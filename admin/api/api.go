package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/account/bearer"
	"svc.internal/controller/shelf/web"
)

// Core is what this door needs of the controller.
type Core interface {
	// Snapshot is the newest state. It never blocks.
	Snapshot() *appliance.Snapshot
	// Rehearse tells what would become of a site, which is not put in force.
	Rehearse(site appliance.Site) *appliance.Snapshot
	// Do performs cmd and returns when its outcome is known.
	Do(ctx context.Context, cmd appliance.Command) (appliance.Entry, error)
	// Entries is where finished commands can be followed.
	Entries() *appliance.Feed[appliance.Entry]
	// RecentEntries are those in memory; Entry finds one of them.
	RecentEntries() []appliance.Entry
	Entry(id string) (appliance.Entry, bool)
	// Recorder is the flight recorder of a bus.
	Recorder(bus string) (appliance.Recorder, error)
	// Services are what the driver of a bus does for an installer.
	Services(bus string) ([]appliance.Service, error)
	// Groups is how the group tables of a bus stand.
	Groups(bus string) (appliance.Grouping, error)
}

// Accounts is what this door needs of users and keys.
type Accounts interface {
	bearer.Accounts
	Users() []account.User
	AddUser(ctx context.Context, name, password string, role account.Role) (account.User, error)
	// CheckPassword takes the same time whether or not the user exists.
	CheckPassword(ctx context.Context, name, password string) (account.User, error)

	// A browser's session, and the refresh tokens of programs, which are replaced at
	// each use. All fail with account.ErrAuthFailed where nobody is known.
	NewSession(ctx context.Context, user account.User) (string, error)
	UseSession(ctx context.Context, token string) (account.User, error)
	NewRotatingToken(ctx context.Context, user account.User) (string, error)
	Rotate(ctx context.Context, token string) (user account.User, next string, err error)
	EndSession(ctx context.Context, token string) error

	// TakeOver makes known here what another process committed.
	TakeOver(ctx context.Context) error
}

// Config of the door. All fields but the last are needed.
type Config struct {
	Core     Core
	Jobs     Jobs
	Accounts Accounts
	Keeper   Keeper
	Editor   Editor
	Auditor  Auditor
	History  History
	Rules    Rules
	Houses   Houses
	Tokens   *bearer.Tokens // with a secret of their own: no other door's tokens are good here
	Brake    *web.Brake
	Claim    *Claim
	Version  string
	TLS      TLS
	// Within is how the program looks from within.
	Within    Within
	Backups   Backups
	SiteFiles SiteFiles
	// Profiles are the built-in ones.
	Profiles func() []Profile
	Log      *slog.Logger
	// System is the one below the daemon; the zero value: it is updated by others.
	System System
}

// API is the door.
type API struct {
	Config

	sessions sessions
	logins   *web.Turns // passwords being checked
	streams  streams
	readers  *web.Readers
	failures web.Sparse // lines about failed logins
	// accountsMu keeps two from making the first user, and the last admin from going.
	accountsMu sync.Mutex
	receiving  sync.Mutex    // one update bundle at a time: it fills the card
	unpacking  chan struct{} // one backup or site file at a time: each takes several times its size of memory
	rested     time.Time     // no file is read before; whoever is unpacking has it
	other      readHouse     // that may be taken over
	desk       *desk
}

// New makes the door.
func New(cfg Config) *API {
	return &API{Config: cfg, logins: web.NewTurns(loginsMost, loginsWaiting), sessions: newSessions(), streams: newStreams(), readers: web.NewReaders(readersUser, readersMost, readersWaiting), unpacking: make(chan struct{}, 1), desk: newDesk()}
}

// How many answers to GET are made and sent at the same time, of a user and in all: some
// megabytes each, where a building has thousands of lights.
const readersUser, readersMost, readersWaiting = 4, 12, 32

// Run follows what needs somebody, and ends the event streams when ctx ends, so that the server need not wait for them.
func (a *API) Run(ctx context.Context) error {
	a.attend(ctx)
	a.streams.close()
	return nil
}

// Register adds all routes of the door to e.
func (a *API) Register(e *echo.Echo) {
	methods := map[string][]string{}
	for _, r := range a.routes() {
		path := prefix + r.path
		e.Add(r.method, path, a.enter(r))
		methods[path] = append(methods[path], r.method)
		if r.method == http.MethodGet {
			e.HEAD(path, a.enter(r))
			methods[path] = append(methods[path], http.MethodHead)
		}
	}
	for path, known := range methods {
		known = append(known, http.MethodOptions)
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions} {
			if !contains(known[:len(known)-1], method) {
				e.Add(method, path, notHere(strings.Join(known, ", ")))
			}
		}
	}
	e.Any(prefix+"/*", problems(func(echo.Context) error {
		return refuse(http.StatusNotFound, "there is no such endpoint; "+prefix+"/openapi.json lists them")
	}))
}

// prefix of every path.
const prefix = "/api/v1"

// notHere answers what a path does not do.
func notHere(allow string) echo.HandlerFunc {
	return problems(func(c echo.Context) error {
		c.Response().Header().Set("Allow", allow)
		if c.Request().Method == http.MethodOptions {
			return c.NoContent(http.StatusNoContent)
		}
		return refuse(http.StatusMethodNotAllowed, "this path takes "+allow)
	})
}

// problems answers the errors of a handler. They go on to the access log.
func problems(h echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := h(c)
		if err != nil {
			answerProblem(c, err)
		}
		return err
	}
}

// enter lets in who may use a route.
func (a *API) enter(r route) echo.HandlerFunc {
	return problems(func(c echo.Context) error {
		if r.needs == anyone {
			return r.handle(c)
		}
		who, err := a.caller(c)
		if err != nil {
			return err
		}
		c.Set(callerKey, who)
		if !web.SetCaller(c, &web.Caller{Name: who.name, Role: string(who.role)}) {
			return web.ErrCrowded
		}
		if !who.may(r.needs) {
			return errForbidden
		}
		if r.method == http.MethodGet && !r.goesOn() {
			leave, err := a.readers.Enter(c, who.name)
			if errors.Is(err, web.ErrUnread) {
				return &refusal{status: http.StatusServiceUnavailable, detail: web.ErrUnread.Message, wait: web.ErrUnread.RetryAfter}
			}
			if err != nil {
				return err
			}
			defer leave()
		}
		return r.handle(c)
	})
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}
