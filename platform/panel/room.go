package panel

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/platform"
	"svc.internal/controller/web"
	"svc.internal/controller/wire"
)

// bodyLimit is the largest body.
const bodyLimit = 64 << 10

// Store keeps devices.
type Store interface {
	RoomDevices(ctx context.Context) ([]platform.RoomDevice, error)
	RoomDevice(ctx context.Context, id string) (platform.RoomDevice, error)
	AddRoomDevice(ctx context.Context, d platform.RoomDevice) error
	ChangeRoomDevice(ctx context.Context, id string, change func(*platform.RoomDevice) error) (platform.RoomDevice, error)
	RemoveRoomDevice(ctx context.Context, id string) error
	// Enrolment fails with [platform.ErrNotFound] for an unknown controller.
	Enrolment(ctx context.Context, id string) (platform.Enrolment, error)
}

// Link tells controllers which panels are theirs.
type Link interface {
	SetPanels(ctx context.Context, controller string, panels []wire.Panel) error
}

// Room answers below /api/conferencing/devices.
type Room struct {
	store Store
	link  Link
}

// New makes the room.
func New(store Store, link Link) *Room { return &Room{store, link} }

// Register adds the routes; admin lets only administrators pass who logged in.
func (r *Room) Register(e *echo.Echo, admin echo.MiddlewareFunc) {
	const devices = "/api/conferencing/devices"
	e.GET(devices, r.list, admin)
	e.POST(devices, r.enter, admin)
	e.GET(devices+"/:id", r.read, admin)
	e.PUT(devices+"/:id", r.assign, admin)
	e.POST(devices+"/:id/deploy", r.deploy, admin)
	e.DELETE(devices+"/:id/deploy", r.withdraw, admin)
	e.DELETE(devices+"/:id", r.remove, admin)
}

func (r *Room) list(c echo.Context) error {
	all, err := r.store.RoomDevices(c.Request().Context())
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, all)
}

func (r *Room) read(c echo.Context) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	d, err := r.store.RoomDevice(c.Request().Context(), id)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, d)
}

// change is what a body may set; members left out stay as they are.
type change struct {
	ID         *string  `json:"deviceId"`
	Workspace  *string  `json:"workspaceName"`
	Controller *string  `json:"controllerId"`
	Clusters   *[]int64 `json:"clusterIds"`
}

func (r *Room) enter(c echo.Context) error {
	in, err := body(c)
	if err != nil {
		return err
	}
	if in.ID == nil {
		return platform.Invalid("deviceId is missing")
	}
	d := platform.RoomDevice{ID: *in.ID, Clusters: []int64{}}
	if err := r.apply(c.Request().Context(), in, &d); err != nil {
		return err
	}
	if err := r.store.AddRoomDevice(c.Request().Context(), d); err != nil {
		return err
	}
	return answer(c, http.StatusCreated, d)
}

// apply sets what a body asks for.
func (r *Room) apply(ctx context.Context, in change, d *platform.RoomDevice) error {
	if in.Workspace != nil {
		d.Workspace = *in.Workspace
	}
	if in.Controller != nil {
		if *in.Controller != "" {
			if _, err := r.store.Enrolment(ctx, *in.Controller); errors.Is(err, platform.ErrNotFound) {
				return platform.Invalid("controllerId: there is no controller %q", *in.Controller)
			} else if err != nil {
				return err
			}
		}
		d.Controller = *in.Controller
	}
	if in.Clusters != nil {
		d.Clusters = slices.Compact(slices.Sorted(slices.Values(*in.Clusters)))
		if d.Clusters == nil {
			d.Clusters = []int64{}
		}
	}
	if d.Controller == "" || len(d.Clusters) == 0 {
		d.Deployed = false // there is nothing left for it to act on
	}
	return d.Check()
}

// assign says which controller and clusters a device stands for.
func (r *Room) assign(c echo.Context) error {
	in, err := body(c)
	if err != nil {
		return err
	}
	return r.change(c, func(d *platform.RoomDevice) error {
		if in.ID != nil && *in.ID != d.ID {
			return platform.Invalid("deviceId cannot be changed")
		}
		return r.apply(c.Request().Context(), in, d)
	})
}

func (r *Room) deploy(c echo.Context) error {
	return r.change(c, func(d *platform.RoomDevice) error {
		d.Deployed = true
		return d.Check()
	})
}

func (r *Room) withdraw(c echo.Context) error {
	return r.change(c, func(d *platform.RoomDevice) error {
		d.Deployed = false
		return nil
	})
}

// change changes a device and tells the controllers concerned, the one before too.
func (r *Room) change(c echo.Context, fn func(*platform.RoomDevice) error) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	var before string
	d, err := r.store.ChangeRoomDevice(ctx, id, func(d *platform.RoomDevice) error {
		before = d.Controller
		return fn(d)
	})
	if err != nil {
		return err
	}
	if err := r.tell(ctx, before, d.Controller); err != nil {
		return err
	}
	return answer(c, http.StatusOK, d)
}

func (r *Room) remove(c echo.Context) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	d, err := r.store.RoomDevice(ctx, id)
	if err != nil {
		return err
	}
	if err := r.store.RemoveRoomDevice(ctx, id); err != nil {
		return err
	}
	if err := r.tell(ctx, d.Controller); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// tell sends controllers the panels that are theirs now.
func (r *Room) tell(ctx context.Context, controllers ...string) error {
	all, err := r.store.RoomDevices(ctx)
	if err != nil {
		return err
	}
	slices.Sort(controllers)
	for _, cid := range slices.Compact(controllers) {
		if cid == "" {
			continue
		}
		var panels []wire.Panel
		for _, d := range all {
			if d.Controller == cid && d.Deployed {
				panels = append(panels, wire.Panel{DeviceID: d.ID, WorkspaceName: d.Workspace, PanelID: wire.ControlsPanel, Clusters: d.Clusters})
			}
		}
		if err := r.link.SetPanels(ctx, cid, panels); err != nil {
			return err
		}
	}
	return nil
}

func idOf(c echo.Context) (string, error) {
	id, err := url.PathUnescape(c.Param("id"))
	if err != nil {
		return "", platform.ErrNotFound
	}
	return id, nil
}

func body(c echo.Context) (change, error) {
	var in change
	data, err := web.ReadBody(c, bodyLimit)
	if err != nil {
		return in, err
	}
	if !utf8.Valid(data) {
		return in, platform.Invalid("body is not UTF-8")
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return in, platform.Invalid("body: %v", err)
	}
	return in, nil
}

func answer(c echo.Context, status int, data any) error {
	return c.JSON(status, struct {
		Success bool `json:"success"`
		Data    any  `json:"data"`
	}{true, data})
}
