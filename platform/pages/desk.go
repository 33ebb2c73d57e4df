package pages

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/platform"
	"svc.internal/controller/shelf/web"
)

// bodyLimit is the largest body.
const bodyLimit = 16 << 10

// Store keeps controllers and keys.
type Store interface {
	Enrolments(ctx context.Context) ([]platform.Enrolment, error)
	Enrolment(ctx context.Context, id string) (platform.Enrolment, error)
	RevokeController(ctx context.Context, id string) error
	Keys(ctx context.Context, owner string) ([]platform.Key, error)
}

// Invitation is a one-time code with which a controller enrols.
type Invitation struct {
	Controller string    `json:"controllerId"`
	Code       string    `json:"code"`
	ValidUntil time.Time `json:"validUntil"`
}

// Config of a desk.
type Config struct {
	Store Store
	Sites platform.SiteReader
	// Answering counts the devices of controllers, by ID.
	Answering func(ctx context.Context) (map[string]platform.Answering, error)
	// Show tells how full a bucket is.
	Show func(ctx context.Context, b platform.Bucket) platform.Allowance
	// LeftOut tells what was left out of what a controller sent, as it is shown; nil: nothing.
	LeftOut func(controller string) any
	// AtOnce tells how many requests of a bucket are with the assistant now, of AtOnceMost.
	AtOnce     func(platform.Bucket) int
	AtOnceMost int
	// Model: the assistant asks a language model.
	Model bool
	// Invite makes a controller and its code, Renew another code for one that there is.
	Invite func(ctx context.Context, name string) (Invitation, error)
	Renew  func(ctx context.Context, id string) (Invitation, error)
	// Still reports whether whoever sent a request would be let in now.
	Still func(*http.Request) bool
	// Ending is closed when the program ends: streams end with it.
	Ending <-chan struct{}
}

// Desk answers what only pages ask.
type Desk struct {
	cfg     Config
	news    news
	streams *web.Streams
	readers *web.Readers
}

// NewDesk makes the desk.
func NewDesk(cfg Config) *Desk {
	d := &Desk{cfg: cfg, streams: web.NewStreams(streamsUser, streamsAddress, streamsMost), readers: web.NewReaders(readersUser, readersMost, readersWaiting)}
	d.news.load = d.sites
	return d
}

// Register adds the routes: person lets those pass who logged in, admin only administrators.
func (d *Desk) Register(e *echo.Echo, person, admin echo.MiddlewareFunc) {
	e.GET("/api/sites", d.list, person, d.inTurn)
	e.GET("/api/sites/:id", d.read, person, d.inTurn)
	e.GET("/api/sites/:id/energy", d.energy, person, d.inTurn)
	e.GET("/api/usage", d.usage, person, d.inTurn)
	e.GET("/api/events", d.events, person)
	e.POST("/api/controllers", d.invite, admin)
	e.POST("/api/controllers/:id/code", d.renew, admin)
	e.DELETE("/api/controllers/:id", d.revoke, admin)
}

// How many of these answers are made and sent at the same time, of a user and in all: the page of a large building has a
// megabyte, made of several.
const readersUser, readersMost, readersWaiting = 4, 16, 32

// inTurn has a request wait for its place among the answers.
func (d *Desk) inTurn(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		who, _ := web.CallerOf(c)
		leave, err := d.readers.Enter(c, who.Name)
		if errors.Is(err, web.ErrUnread) {
			return fmt.Errorf("%w: %w", platform.ErrOverloaded, err)
		}
		if err != nil {
			return err
		}
		defer leave()
		return next(c)
	}
}

func (d *Desk) invite(c echo.Context) error {
	data, err := web.ReadBody(c, bodyLimit)
	if err != nil {
		return err
	}
	var in struct {
		Name string `json:"name"`
	}
	if web.Decode(data, &in) != nil {
		return platform.Invalid("body: want {\"name\":\"…\"}")
	}
	name := strings.TrimSpace(in.Name)
	if name == "" || len(name) > 200 {
		return platform.Invalid("name: want 1 to 200 characters")
	}
	made, err := d.cfg.Invite(c.Request().Context(), name)
	if err != nil {
		return err
	}
	return answer(c, http.StatusCreated, made)
}

func (d *Desk) renew(c echo.Context) error {
	made, err := d.cfg.Renew(c.Request().Context(), c.Param("id"))
	if err != nil {
		return unnamed(err)
	}
	return answer(c, http.StatusCreated, made)
}

func (d *Desk) revoke(c echo.Context) error {
	if err := d.cfg.Store.RevokeController(c.Request().Context(), c.Param("id")); err != nil {
		return unnamed(err)
	}
	return c.NoContent(http.StatusNoContent)
}

// unnamed says of what is not there no more than that.
func unnamed(err error) error {
	if errors.Is(err, platform.ErrNotFound) {
		return web.Refuse(http.StatusNotFound, "There is no such controller")
	}
	return err
}

// limit is how much of what may be asked in a window was asked.
type limit struct {
	Limit    int       `json:"limit"`
	Used     int       `json:"used"`
	ResetsAt time.Time `json:"resetsAt"`
}

// budget is what somebody has of the platform: requests, and what the assistant spends.
type budget struct {
	limit
	Answers limit  `json:"answerBytes"`
	Model   *limit `json:"modelRequests"` // null: there is no model
	Tokens  *limit `json:"modelTokens"`   // of a day; null likewise
	AtOnce  struct {
		Limit int `json:"limit"`
		Used  int `json:"used"`
	} `json:"atOnce"`
}

func (d *Desk) budgetOf(ctx context.Context, b platform.Bucket) (out budget) {
	out.limit, out.Answers = d.limitOf(ctx, b), d.limitOf(ctx, b.Answers())
	if d.cfg.Model {
		out.Model, out.Tokens = new(d.limitOf(ctx, b.Model())), new(d.limitOf(ctx, b.Tokens()))
	}
	out.AtOnce.Limit, out.AtOnce.Used = d.cfg.AtOnceMost, d.cfg.AtOnce(b)
	return out
}

func (d *Desk) limitOf(ctx context.Context, b platform.Bucket) limit {
	a := d.cfg.Show(ctx, b)
	return limit{a.Limit, a.Limit - a.Remaining, a.Reset.UTC()}
}

// usage tells people how near to their limits they and their keys are.
func (d *Desk) usage(c echo.Context) error {
	ctx := c.Request().Context()
	who := platform.IdentityOf(ctx).User
	keys, err := d.cfg.Store.Keys(ctx, who.ID)
	if err != nil {
		return err
	}
	type keyLimit struct {
		ID     string          `json:"id"`
		Name   string          `json:"name"`
		Prefix string          `json:"prefix"`
		Status platform.Status `json:"status"`
		budget
	}
	out := struct {
		Person budget     `json:"person"`
		Keys   []keyLimit `json:"keys"`
	}{d.budgetOf(ctx, platform.UserBucket(who)), []keyLimit{}}
	for _, k := range keys {
		out.Keys = append(out.Keys, keyLimit{k.ID, k.Name, k.Prefix, k.Status(time.Now()), d.budgetOf(ctx, platform.KeyBucket(k))})
	}
	return answer(c, http.StatusOK, out)
}

// answer sends what no cache may keep.
func answer(c echo.Context, status int, data any) error {
	h := c.Response().Header()
	h["Cache-Control"] = []string{"no-store"}
	return c.JSON(status, struct {
		Success bool `json:"success"`
		Data    any  `json:"data"`
	}{true, data})
}
