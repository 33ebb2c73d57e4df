package panel

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
	"svc.internal/controller/shelf/web"
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

// Config of the room.
type Config struct {
	Store Store
	Link  Link
	Send  Sender
	Board *Board
	// Provider of devices; nil: they are entered by hand, and macros look after their panels.
	Provider Provider
	// WebhookSecret is what the provider signs with; empty: there is no webhook.
	WebhookSecret string
	// Say does what is said at a device, and returns what to answer; nil: there is no voice here.
	Say func(ctx context.Context, device, text string) (any, error)
	// Charge counts a request in a bucket, or refuses it because that is full.
	Charge func(echo.Context, platform.Bucket) error
	// Stranger is the bucket of a request without a secret.
	Stranger func(*http.Request) platform.Bucket
	// Ending is closed when the program ends: streams end with it.
	Ending <-chan struct{}
	// Zones are the clusters that a controller reported last.
	Zones func(ctx context.Context, controller string) ([]platform.Zone, error)
	// Certificate is the chain that the platform shows, PEM; nil if something before it does.
	Certificate func() []byte
	// Installer speaks to devices themselves; nil: nobody does, and macros are put on by hand.
	Installer Installer
	// Devices are its lights and shades as they were reported last.
	Devices func(ctx context.Context, controller string) ([]platform.Device, error)
	Log     *slog.Logger
}

// Room answers below /api/conferencing/devices and /api/conferencing/panels, and takes the provider's notifications.
type Room struct {
	cfg     Config
	lanes   lanes
	queue   queue
	streams *web.Streams
	houses  houses
	began   time.Time
	rolling sync.Mutex // held by the roll-out that is under way
}

// New makes the room.
func New(cfg Config) *Room {
	r := &Room{cfg: cfg, streams: web.NewStreams(streamsPanel, streamsAddress, streamsMost), began: time.Now()}
	r.queue.deliver, r.houses.devices = r.deliver, cfg.Devices
	return r
}

// deliver puts a tap that nobody waits for to the controller.
func (r *Room) deliver(device string, t Tap) {
	life, cancel := context.WithDeadline(context.Background(), t.exp()) // whoever told of the tap is gone
	defer cancel()
	d, err := r.cfg.Store.RoomDevice(life, device)
	if err != nil {
		r.cfg.Log.Warn("a tap was not sent", "device", device, "why", err)
		return
	}
	ctx, cancel := context.WithTimeout(life, answerWithin)
	defer cancel()
	out := r.put(ctx, d, t)
	if !out.Success && out.Status != wire.Stale { // nobody waits to hear it, and the device shows what was tapped
		r.cfg.Board.tell(d.Controller, d.ID, about(t.Widget), out.Message)
		r.cfg.Board.again(d.Controller, d.ID)
	}
	r.cfg.Log.Info("tap", "device", d.ID, "widget", t.Widget, "type", string(t.Type), "success", out.Success, "message", out.Message)
}

// Run keeps panels on devices showing what is so until ctx ends, and then lets taps under way finish.
func (r *Room) Run(ctx context.Context) error {
	defer r.queue.end()
	if r.cfg.Provider == nil {
		<-ctx.Done()
		return nil
	}
	w := &writer{board: r.cfg.Board, provider: r.cfg.Provider, store: r.cfg.Store, log: r.cfg.Log, written: map[string]map[string]string{}, full: map[string]bool{}, said: map[string]time.Time{}, busy: map[string]bool{}}
	w.run(ctx)
	return nil
}

// Register adds the routes; admin lets only administrators pass who logged in.
func (r *Room) Register(e *echo.Echo, admin echo.MiddlewareFunc) {
	const devices = "/api/conferencing/devices"
	e.GET(devices, r.list, admin)
	e.POST(devices, r.enter, admin)
	e.POST(devices+"/refresh", r.refresh, admin)
	e.GET(devices+"/:id", r.read, admin)
	e.PUT(devices+"/:id", r.assign, admin)
	e.POST(devices+"/:id/deploy", r.deploy, admin)
	e.DELETE(devices+"/:id/deploy", r.withdraw, admin)
	e.POST(devices+"/:id/test", r.test, admin)
	e.GET(devices+"/:id/bundle", r.bundle, admin)
	e.DELETE(devices+"/:id", r.remove, admin)
	e.GET(RollOutPath, r.reach, admin)
	e.POST(RollOutPath, r.rollOut, admin)
	r.panels(e)
	if r.cfg.WebhookSecret != "" {
		e.POST(WebhookPath, r.webhook)
	}
}

// refresh enters the devices that the provider lists, and takes over new names. Nothing is removed.
func (r *Room) refresh(c echo.Context) error {
	if r.cfg.Provider == nil {
		return platform.Conflict("no integration is configured; enter devices by hand")
	}
	ctx := c.Request().Context()
	found, err := r.cfg.Provider.Devices(ctx)
	if err != nil {
		return unavailable(err)
	}
	for _, f := range found {
		name := strings.ToValidUTF8(f.Workspace, "")
		if len(name) > maxName {
			name = strings.ToValidUTF8(name[:maxName], "")
		}
		d := platform.RoomDevice{ID: f.ID, Workspace: name, Clusters: []int64{}}
		if err := d.Check(); err != nil {
			r.cfg.Log.Warn("a device of the integration was left out", "device", f.ID, "why", err)
			continue
		}
		err := r.cfg.Store.AddRoomDevice(ctx, d)
		if errors.Is(err, platform.ErrExists) {
			_, err = r.cfg.Store.ChangeRoomDevice(ctx, f.ID, func(old *platform.RoomDevice) error { old.Workspace = name; return nil })
		}
		if err != nil {
			return err
		}
	}
	return answer(c, http.StatusOK, map[string]int{"found": len(found)})
}

// maxName is the longest name of a workspace, in bytes.
const maxName = 200

// unavailable says that the provider did not do what was asked.
func unavailable(err error) error {
	return &web.Error{Status: http.StatusBadGateway, Message: "The integration did not do it: " + err.Error(), Cause: err}
}

// listed is a device as administrators see it.
type listed struct {
	platform.RoomDevice
	Newest int `json:"macroNewest"` // version of the macro in bundles
}

func (r *Room) list(c echo.Context) error {
	all, err := r.cfg.Store.RoomDevices(c.Request().Context())
	if err != nil {
		return err
	}
	shown := make([]listed, len(all))
	for i, d := range all {
		shown[i] = listed{d, MacroVersion}
	}
	return answer(c, http.StatusOK, shown)
}

func (r *Room) read(c echo.Context) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	d, err := r.cfg.Store.RoomDevice(c.Request().Context(), id)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, listed{d, MacroVersion})
}

// change is what a body may set; members left out stay as they are.
type change struct {
	ID         *string  `json:"deviceId"`
	Workspace  *string  `json:"workspaceName"`
	Controller *string  `json:"controllerId"`
	Clusters   *[]int64 `json:"clusterIds"`
	Address    *string  `json:"address"`
	// Fingerprint in any form that people write it in; a new address alone drops the one before.
	Fingerprint *string `json:"fingerprint"`
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
	if err := r.cfg.Store.AddRoomDevice(c.Request().Context(), d); err != nil {
		return err
	}
	return answer(c, http.StatusCreated, listed{d, MacroVersion})
}

// apply sets what a body asks for.
func (r *Room) apply(ctx context.Context, in change, d *platform.RoomDevice) error {
	if in.Workspace != nil {
		d.Workspace = *in.Workspace
	}
	if in.Controller != nil {
		if *in.Controller != "" {
			if _, err := r.cfg.Store.Enrolment(ctx, *in.Controller); errors.Is(err, platform.ErrNotFound) {
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
	if in.Address != nil {
		if address := strings.TrimSpace(*in.Address); address != d.Address {
			d.Address, d.Fingerprint = address, ""
		}
	}
	if in.Fingerprint != nil {
		d.Fingerprint = strings.ToLower(strings.Join(strings.FieldsFunc(*in.Fingerprint, func(r rune) bool { return r == ':' || unicode.IsSpace(r) }), ""))
	}
	if d.Controller == "" || len(d.Clusters) == 0 {
		d.Deploy(false) // there is nothing left for it to act on
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

// deploy puts the panel on the device, where the provider knows it; on others a macro has it.
func (r *Room) deploy(c echo.Context) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	d, err := r.cfg.Store.RoomDevice(ctx, id)
	if err != nil {
		return err
	}
	d.Deploy(true)
	if err := d.Check(); err != nil {
		return err
	}
	if r.cfg.Provider != nil {
		if err := r.cfg.Provider.SavePanel(ctx, d.ID, wire.ControlsPanel, Description); err != nil && !errors.Is(err, platform.ErrNotFound) {
			return unavailable(err)
		}
	}
	if err := r.change(c, func(d *platform.RoomDevice) error { d.Deploy(true); return d.Check() }); err != nil {
		return err
	}
	r.cfg.Board.again(d.Controller, d.ID)
	return nil
}

func (r *Room) withdraw(c echo.Context) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	if r.cfg.Provider != nil {
		if err := r.cfg.Provider.RemovePanel(c.Request().Context(), id, wire.ControlsPanel); err != nil && !errors.Is(err, platform.ErrNotFound) {
			r.cfg.Log.Warn("the panel is still on the device, but does nothing any more", "device", id, "why", err)
		}
	}
	return r.change(c, func(d *platform.RoomDevice) error { d.Deploy(false); return nil })
}

// test sees whether a tap on a device would reach its controller: a finger touches the switch and does no more.
func (r *Room) test(c echo.Context) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), answerWithin)
	defer cancel()
	d, err := r.cfg.Store.RoomDevice(ctx, id)
	if err != nil {
		return err
	}
	out := r.put(ctx, d, Tap{Widget: wire.LightPower, Type: wire.Pressed})
	switch {
	case out.Success && out.Status == wire.Applied:
		strange, err := r.strangeClusters(c.Request().Context(), d)
		if err != nil {
			return err
		}
		if strange != "" {
			out = outcome{Message: strange}
			break
		}
		out = outcome{Success: true, Message: "The controller answers: taps and sentences act."}
	case out.Success: // sent, and nothing heard
		out = outcome{Message: "The controller did not answer in time; try again."}
	}
	return c.JSON(http.StatusOK, out)
}

// mirrorLag is how long a cluster that is new on the controller may be unknown here.
const mirrorLag = time.Second

// strangeClusters says which clusters of a device its controller does not have; empty if it has all.
func (r *Room) strangeClusters(ctx context.Context, d platform.RoomDevice) (string, error) {
	for end := time.Now().Add(mirrorLag); ; {
		zones, err := r.cfg.Zones(ctx, d.Controller)
		if err != nil {
			return "", err
		}
		var strange []string
		for _, id := range d.Clusters {
			if !slices.ContainsFunc(zones, func(z platform.Zone) bool { return z.ID == id }) {
				strange = append(strange, strconv.FormatInt(id, 10))
			}
		}
		if len(strange) == 0 {
			return "", nil
		}
		if time.Now().After(end) {
			noun := "cluster "
			if len(strange) > 1 {
				noun = "clusters "
			}
			return "The controller answers, but it has no " + noun + strings.Join(strange, ", ") + ": taps and sentences fail there. Correct the clusters of this room.", nil
		}
		select {
		case <-time.After(mirrorLag / 10):
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// change changes a device and tells the controllers concerned, the one before too.
func (r *Room) change(c echo.Context, fn func(*platform.RoomDevice) error) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	var before string
	d, err := r.cfg.Store.ChangeRoomDevice(ctx, id, func(d *platform.RoomDevice) error {
		before = d.Controller
		return fn(d)
	})
	if err != nil {
		return err
	}
	if err := r.tell(ctx, before, d.Controller); err != nil {
		return err
	}
	return answer(c, http.StatusOK, listed{d, MacroVersion})
}

func (r *Room) remove(c echo.Context) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	if err := r.forget(c.Request().Context(), id); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// forget removes a device here, which ends its code.
func (r *Room) forget(ctx context.Context, id string) error {
	d, err := r.cfg.Store.RoomDevice(ctx, id)
	if err != nil {
		return err
	}
	if err := r.cfg.Store.RemoveRoomDevice(ctx, id); err != nil {
		return err
	}
	return r.tell(ctx, d.Controller)
}

// tell sends controllers the panels that are theirs now.
func (r *Room) tell(ctx context.Context, controllers ...string) error {
	all, err := r.cfg.Store.RoomDevices(ctx)
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
		if err := r.cfg.Link.SetPanels(ctx, cid, panels); err != nil {
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

func body(c echo.Context) (in change, err error) {
	return in, readBody(c, &in)
}

func answer(c echo.Context, status int, data any) error {
	return c.JSON(status, struct {
		Success bool `json:"success"`
		Data    any  `json:"data"`
	}{true, data})
}
