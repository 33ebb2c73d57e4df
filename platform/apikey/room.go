package apikey

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/platform"
	"svc.internal/controller/shelf/web"
)

// Store keeps the records of keys. Each method but Add sees those of one owner only;
// any other ID is [platform.ErrNotFound].
type Store interface {
	// AddKey gives k an ID; value is the hash of what its holder sends.
	AddKey(ctx context.Context, k platform.Key, value [32]byte) (platform.Key, error)
	Keys(ctx context.Context, owner string) ([]platform.Key, error)
	Key(ctx context.Context, owner, id string) (platform.Key, error)
	// ChangeKey lets change work on a key and keeps the outcome, unless it is an error.
	ChangeKey(ctx context.Context, owner, id string, change func(*platform.Key) error) (platform.Key, error)
	RemoveKey(ctx context.Context, owner, id string) error
}

// Room answers below /api/api-keys.
type Room struct {
	store Store
	now   func() time.Time
}

// New makes the room.
func New(store Store) *Room { return &Room{store: store, now: time.Now} }

// Register adds the routes; person lets only those pass who logged in.
func (r *Room) Register(e *echo.Echo, person echo.MiddlewareFunc) {
	e.POST("/api/api-keys", r.create, person)
	e.GET("/api/api-keys", r.list, person)
	e.GET("/api/api-keys/:id", r.read, person)
	e.PUT("/api/api-keys/:id", r.update, person)
	e.DELETE("/api/api-keys/:id", r.remove, person)
}

// owner is who asks.
func owner(c echo.Context) string { return platform.IdentityOf(c.Request().Context()).User.ID }

func (r *Room) create(c echo.Context) error {
	in, err := readMembers(c)
	if err != nil {
		return err
	}
	k, err := in.newKey()
	if err != nil {
		return err
	}
	if err := platform.CheckNewKey(k, r.now()); err != nil {
		return err
	}
	value, prefix := platform.NewKeyValue()
	k.Owner, k.Prefix = owner(c), prefix
	if k, err = r.store.AddKey(c.Request().Context(), k, platform.HashKeyValue(value)); err != nil {
		return reworded(err)
	}
	rec := r.record(k)
	rec.Key = value
	return answer(c, http.StatusCreated, rec)
}

func (r *Room) list(c echo.Context) error {
	keys, err := r.store.Keys(c.Request().Context(), owner(c))
	if err != nil {
		return err
	}
	records := make([]record, len(keys))
	for i, k := range keys {
		records[i] = r.record(k)
	}
	return answer(c, http.StatusOK, records)
}

func (r *Room) read(c echo.Context) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	k, err := r.store.Key(c.Request().Context(), owner(c), id)
	return r.answerKey(c, k, err)
}

func (r *Room) update(c echo.Context) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	in, err := readMembers(c)
	if err != nil {
		return err
	}
	change, err := in.change()
	if err != nil {
		return err
	}
	k, err := r.store.ChangeKey(c.Request().Context(), owner(c), id, func(k *platform.Key) error { return k.Change(change, r.now()) })
	return r.answerKey(c, k, err)
}

func (r *Room) remove(c echo.Context) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	permanent, err := flagOf(c, "permanent")
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	if permanent {
		if err := r.store.RemoveKey(ctx, owner(c), id); err != nil {
			return reworded(err)
		}
		return c.NoContent(http.StatusNoContent)
	}
	k, err := r.store.ChangeKey(ctx, owner(c), id, func(k *platform.Key) error { k.Revoke(r.now()); return nil })
	return r.answerKey(c, k, err)
}

func (r *Room) answerKey(c echo.Context, k platform.Key, err error) error {
	if err != nil {
		return reworded(err)
	}
	return answer(c, http.StatusOK, r.record(k))
}

// answer sends what no cache may keep: whoever shares it has no right to the keys.
func answer(c echo.Context, status int, data any) error {
	h := c.Response().Header()
	h["Cache-Control"] = []string{"no-store"}
	h["Content-Type"] = web.JSONType
	return c.JSON(status, struct {
		Success bool `json:"success"`
		Data    any  `json:"data"`
	}{true, data})
}
